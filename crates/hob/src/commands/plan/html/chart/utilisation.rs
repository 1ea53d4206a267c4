//! What a month of a service costs under each billing mode, from no use to full use.

use hob_catalog::ChargeType;
use hob_plan::{Bill, Choice};
use hob_text::Message;
use hob_units::Share;
use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::super::super::words as plan_words;
use super::canvas::{ACCENT, Area, DrawError, GRID, INK, LIMIT, MUTED, WIDTH, Words, cut, figure, style, width, write};
use super::scale::money;
use crate::printer::Printer;

const HEIGHT: u32 = 340;
/// Room for the names of the modes, right.
const NAMES: u32 = 165;
const ABOVE: u32 = 28;
/// Distance that keeps two names apart.
const NAME_HEIGHT: i32 = 17;

/// Draws it; the share that this load uses is marked.
pub fn chart(choice: &Choice, printer: &Printer) -> Result<Option<Markup>, DrawError> {
    let Some(first) = choice.bills.first() else { return Ok(None) };
    let bills: Vec<&Bill> = choice.bills.iter().filter(|bill| bill.cost.currency == first.cost.currency).collect();
    let words = Words {
        id: "utilisation",
        title: printer.get("report-use-title"),
        description: printer.get("report-use-text"),
    };
    figure(&words, HEIGHT, |area| paint(area, &bills, printer)).map(Some)
}

/// A commitment costs the same whether used or not.
fn is_flat(charge: ChargeType) -> bool {
    match charge {
        ChargeType::PayAsYouGo | ChargeType::Spot => false,
        ChargeType::Monthly | ChargeType::Reserved { .. } | ChargeType::Owned => true,
    }
}

fn paint(area: &Area<'_>, bills: &[&Bill], printer: &Printer) -> Result<(), DrawError> {
    let Some(first) = bills.first() else { return Ok(()) };
    let month = |bill: &Bill| bill.month.as_f64_for_score();
    let top = bills.iter().map(|bill| month(bill)).fold(f64::MIN_POSITIVE, f64::max) * 1.05;
    let mut chart = ChartBuilder::on(area)
        .margin_right(NAMES)
        .margin_top(ABOVE)
        .x_label_area_size(28)
        .y_label_area_size(105)
        .build_cartesian_2d(0.0..1.0, 0.0..top)?;
    chart
        .configure_mesh()
        .x_max_light_lines(1)
        .y_max_light_lines(1)
        .bold_line_style(GRID)
        .light_line_style(GRID)
        .axis_style(GRID)
        .x_labels(6)
        .y_labels(6)
        .label_style(style(MUTED))
        .x_label_formatter(&|share| Share(*share).to_string())
        .y_label_formatter(&|value| money(*value, first.cost.currency))
        .draw()?;
    if let Some(share) = share_in_use(bills) {
        chart.draw_series([PathElement::new([(share, 0.0), (share, top)], LIMIT.stroke_width(1))])?;
        let words = printer.text(&Message::new("report-use-here").with("share", Share(share)));
        let x = chart.backend_coord(&(share, top)).0;
        let at = x.min(WIDTH as i32 - width(&words) / 2);
        write(area, &words, (at, ABOVE as i32 - 6), LIMIT, HPos::Center, VPos::Bottom)?;
    }
    let mut names = Vec::new();
    for (index, bill) in bills.iter().enumerate() {
        let (colour, wide) = if index == 0 { (ACCENT, 3) } else { (MUTED, 2) };
        let start = if is_flat(bill.charge) { month(bill) } else { 0.0 };
        chart.draw_series([PathElement::new([(0.0, start), (1.0, month(bill))], colour.stroke_width(wide))])?;
        let (x, y) = chart.backend_coord(&(1.0, month(bill)));
        names.push((y, x + 8, plan_words::charge(bill.charge, printer), if index == 0 { ACCENT } else { INK }));
    }
    for bill in bills {
        let Some(share) = bill.break_even else { continue };
        chart.draw_series([Circle::new((share.0, month(bill)), 5, INK.filled())])?;
        let (x, y) = chart.backend_coord(&(share.0, month(bill)));
        write(area, &share.to_string(), (x + 8, y + 6), INK, HPos::Left, VPos::Top)?;
    }
    // From the bottom up, each name keeps its distance from the one below it.
    names.sort_by_key(|(y, ..)| std::cmp::Reverse(*y));
    let mut below = i32::MAX;
    for (y, x, name, colour) in names {
        let y = y.min(below.saturating_sub(NAME_HEIGHT));
        below = y;
        write(area, &cut(&name, NAMES as i32 - 8), (x, y), colour, HPos::Left, VPos::Center)?;
    }
    Ok(())
}

/// Share of the machine hours that this load uses, as the mode that is billed by use counts it.
fn share_in_use(bills: &[&Bill]) -> Option<f64> {
    let bill = bills.iter().find(|bill| !is_flat(bill.charge))?;
    let share = bill.cost.as_f64_for_score() / bill.month.as_f64_for_score();
    (0.0..=1.0).contains(&share).then_some(share)
}
