//! Labelled horizontal bars: the shape of the memory stack, the bills and the intervals.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{
    ACCENT, Area, DrawError, GRID, INK, LIMIT, MUTED, SOFT, WIDTH, Words, cut, figure, style, width, write,
};

/// Room for the names, left.
const NAMES: u32 = 245;
/// Room for the values, right.
const VALUES: u32 = 105;
/// Room for the name of the limit, above.
const ABOVE: u32 = 24;
/// Room for the axis, below.
const BELOW: u32 = 28;
/// Height of a row.
const ROW: u32 = 25;
/// Half the thickness of a bar, as a share of a row.
const BAR_HALF: f64 = 0.3;

/// How a row is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A bar that belongs to the whole.
    Part,
    /// The bar that the chart is about.
    Whole,
    /// A dot in its interval.
    Dot,
}

/// One row.
pub struct Row {
    /// Its name.
    pub name: String,
    /// Where the bar begins.
    pub from: f64,
    /// Where the bar ends, or where the dot is.
    pub to: f64,
    /// Its 80 % interval.
    pub band: Option<(f64, f64)>,
    /// The value in words.
    pub value: String,
    /// How it is drawn.
    pub mark: Mark,
}

/// The whole chart.
pub struct Rows<'a> {
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// A goal or limit, in words.
    pub limit: Option<(f64, String)>,
    /// Label of a value on the axis.
    pub label: &'a dyn Fn(f64) -> String,
}

impl Rows<'_> {
    /// Draws it.
    pub fn figure(&self, words: &Words) -> Result<Markup, DrawError> {
        let count = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        figure(words, ABOVE + BELOW + ROW.saturating_mul(count), |area| self.paint(area))
    }

    fn paint(&self, area: &Area<'_>) -> Result<(), DrawError> {
        let count = self.rows.len() as f64;
        let mut chart = ChartBuilder::on(area)
            .margin_left(NAMES)
            .margin_right(VALUES)
            .margin_top(ABOVE)
            .x_label_area_size(BELOW)
            .build_cartesian_2d(0.0..self.end(), 0.0..count)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .x_labels(5)
            .x_max_light_lines(1)
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(GRID)
            .x_label_style(style(MUTED))
            .x_label_formatter(&|value| (self.label)(*value))
            .draw()?;
        for (index, row) in self.rows.iter().enumerate() {
            let middle = count - index as f64 - 0.5;
            let (down, up) = (middle - BAR_HALF, middle + BAR_HALF);
            let (fill, line) = if row.mark == Mark::Part { (SOFT, MUTED) } else { (ACCENT, INK) };
            if row.mark != Mark::Dot {
                chart.draw_series([Rectangle::new([(row.from, down), (row.to, up)], fill.filled())])?;
            }
            if let Some((low, high)) = row.band {
                let thick = if row.mark == Mark::Dot { SOFT.stroke_width(8) } else { line.stroke_width(2) };
                chart.draw_series([PathElement::new([(low, middle), (high, middle)], thick)])?;
            }
            if row.mark == Mark::Dot {
                chart.draw_series([Circle::new((row.to, middle), 5, ACCENT.filled())])?;
            }
            let y = chart.backend_coord(&(0.0, middle)).1;
            let (left, right) = (NAMES as i32 - 10, (WIDTH - VALUES) as i32 + 10);
            write(area, &cut(&row.name, left), (left, y), INK, HPos::Right, VPos::Center)?;
            write(area, &row.value, (right, y), INK, HPos::Left, VPos::Center)?;
        }
        if let Some((at, words)) = &self.limit {
            chart.draw_series([PathElement::new([(*at, 0.0), (*at, count)], LIMIT.stroke_width(2))])?;
            let half = width(words) / 2;
            let x = chart.backend_coord(&(*at, 0.0)).0.clamp(half, (WIDTH as i32 - half).max(half));
            write(area, words, (x, ABOVE as i32 - 6), LIMIT, HPos::Center, VPos::Bottom)?;
        }
        Ok(())
    }

    /// End of the axis, a little past everything.
    fn end(&self) -> f64 {
        let ends = self.rows.iter().flat_map(|row| [row.to, row.band.map_or(0.0, |(_, high)| high)]);
        let all = ends.chain(self.limit.iter().map(|(at, _)| *at)).filter(|end| end.is_finite());
        all.fold(f64::MIN_POSITIVE, f64::max) * 1.02
    }
}
