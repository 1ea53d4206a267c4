//! One drawing: size, colours, text, and the words that stand for it where it cannot be seen.

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width of every drawing, in its own pixels; the page scales it.
pub const WIDTH: u32 = 760;
/// Height of the text, as plotters counts it (1.24 times the size that is written).
const TEXT: u32 = 16;

/// Text and axes. The style sheet finds these colours by value and replaces them in the dark.
pub const INK: RGBColor = RGBColor(0x1F, 0x29, 0x33);
/// What matters less.
pub const MUTED: RGBColor = RGBColor(0x6B, 0x77, 0x85);
/// Lines of the grid.
pub const GRID: RGBColor = RGBColor(0xE1, 0xE6, 0xEB);
/// What the chart is about.
pub const ACCENT: RGBColor = RGBColor(0x1F, 0x5F, 0xA8);
/// The rest of it.
pub const SOFT: RGBColor = RGBColor(0x9C, 0xB9, 0xDB);
/// Goals and limits.
pub const LIMIT: RGBColor = RGBColor(0xB4, 0x53, 0x09);

/// Where a chart is painted.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Why it could not be.
pub type DrawError = DrawingAreaErrorKind<std::io::Error>;

/// What is said about a chart.
pub struct Words {
    /// Names its parts inside the page; each chart has its own.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// What is seen, for who cannot see it; also printed under the heading.
    pub description: String,
}

/// A chart with its heading, as a figure of the page.
pub fn figure(
    words: &Words,
    height: u32,
    paint: impl FnOnce(&Area<'_>) -> Result<(), DrawError>,
) -> Result<Markup, DrawError> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        paint(&area)?;
        area.present()?;
    }
    // The outer element is written anew, with what screen readers need.
    let inner = svg.split_once('>').map_or("", |(_, inner)| inner).trim_end().trim_end_matches("</svg>");
    let (title, description) = (format!("{}-title", words.id), format!("{}-text", words.id));
    Ok(html! {
        figure {
            figcaption { h3 { (words.title) } p { (words.description) } }
            div.scroll tabindex="0" {
                svg role="img" viewBox={ "0 0 " (WIDTH) " " (height) } aria-labelledby={ (title) " " (description) } {
                    title id=(title) { (words.title) }
                    desc id=(description) { (words.description) }
                    (PreEscaped(inner))
                }
            }
        }
    })
}

/// Writes text; `across` and `up` say which of its points lies at `at`.
pub fn write(
    area: &Area<'_>,
    text: &str,
    at: (i32, i32),
    colour: RGBColor,
    across: HPos,
    up: VPos,
) -> Result<(), DrawError> {
    area.draw(&Text::new(text.to_owned(), at, style(colour).pos(Pos::new(across, up))))
}

/// Style of all text.
pub fn style(colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", TEXT).into_font().color(&colour)
}

/// Width of a text in pixels, near enough to keep labels apart: a Chinese letter is as wide as two Latin ones.
pub fn width(text: &str) -> i32 {
    const LATIN_LETTER: f64 = 7.8;
    (textwrap::core::display_width(text) as f64 * LATIN_LETTER).ceil() as i32
}

/// The text, cut to a width.
pub fn cut(text: &str, pixels: i32) -> String {
    if width(text) <= pixels {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if width(&short) > pixels - width("…") {
            short.pop();
            break;
        }
    }
    short + "…"
}
