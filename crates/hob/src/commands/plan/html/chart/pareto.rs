//! Every ranked offer of one currency by cost and time; what none beats in both is joined and named.

use hob_plan::{Choice, PriceGroup, Speed};
use hob_text::Message;
use hob_units::Seconds;
use maud::Markup;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{ACCENT, Area, DrawError, GRID, INK, MUTED, SOFT, WIDTH, Words, figure, style, width, write};
use super::scale::{log_ticks, money, time, time_ticks};
use crate::printer::Printer;

const HEIGHT: u32 = 400;
const ABOVE: u32 = 30;
/// Half the height of a name.
const NAME_HALF: i32 = 9;
/// Room on both ends of an axis, as a factor.
const AROUND: f64 = 1.25;

struct Point<'a> {
    cost: f64,
    time: f64,
    number: usize,
    choice: &'a Choice,
}

/// Draws it. A place in the ranking precedes each name.
pub fn chart(group: &PriceGroup, printer: &Printer) -> Result<Option<Markup>, DrawError> {
    let points: Vec<Point<'_>> = group
        .choices
        .iter()
        .enumerate()
        .filter_map(|(index, choice)| {
            let waiting = choice.delay_cost.filter(|cost| cost.currency == group.currency);
            let cost =
                choice.bills.first()?.cost.as_f64_for_score() + waiting.map_or(0.0, |cost| cost.as_f64_for_score());
            let time = choice.solution.speed.time().mid.0;
            let can_be_drawn = cost > 0.0 && time > 0.0 && cost.is_finite() && time.is_finite();
            can_be_drawn.then_some(Point { cost, time, number: index + 1, choice })
        })
        .collect();
    let place = |point: &Point<'_>| (point.cost, point.time);
    // Offers that are all at one place need no plot.
    if points.iter().all(|point| points.first().is_none_or(|first| place(first) == place(point))) {
        return Ok(None);
    }
    let waits = group.choices.iter().any(|choice| choice.delay_cost.is_some());
    let is_job = group.choices.iter().flat_map(|choice| choice.bills.first()).any(|bill| bill.for_whole_job);
    let front = points.iter().filter(|point| point.choice.is_pareto).count();
    let words = Words {
        id: "pareto",
        title: printer.get("report-pareto-title"),
        description: printer.text(&Message::new("report-pareto-text").with("count", points.len()).with("front", front)),
    };
    let axes = [
        printer.get(if waits {
            "report-axis-cost-waiting"
        } else if is_job {
            "report-axis-cost-job"
        } else {
            "report-axis-cost-month"
        }),
        printer.get(match group.choices.first().map(|choice| choice.solution.speed) {
            Some(Speed::Service { .. }) => "report-axis-time-request",
            Some(Speed::Stream { .. }) => "report-axis-time-stream",
            Some(Speed::Job { .. }) | None => "report-axis-time-job",
        }),
    ];
    figure(&words, HEIGHT, |area| paint(area, &points, group, &axes)).map(Some)
}

/// Ends of an axis.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    (low / AROUND, high * AROUND)
}

fn paint(area: &Area<'_>, points: &[Point<'_>], group: &PriceGroup, axes: &[String; 2]) -> Result<(), DrawError> {
    let (cost_low, cost_high) = ends(points.iter().map(|point| point.cost));
    let (time_low, time_high) = ends(points.iter().map(|point| point.time));
    let costs = (cost_low..cost_high).log_scale().with_key_points(log_ticks(cost_low, cost_high));
    let times = (time_low..time_high).log_scale().with_key_points(time_ticks(Seconds(time_low), Seconds(time_high)));
    let mut chart = ChartBuilder::on(area)
        .margin_right(46)
        .margin_top(ABOVE)
        .x_label_area_size(52)
        .y_label_area_size(80)
        .build_cartesian_2d(costs, times)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(GRID)
        .axis_style(GRID)
        .label_style(style(MUTED))
        .x_label_formatter(&|value| money(*value, group.currency))
        .y_label_formatter(&|value| time(Seconds(*value)))
        .draw()?;
    let [cost_name, time_name] = axes;
    write(area, time_name, (8, ABOVE as i32 - 10), INK, HPos::Left, VPos::Bottom)?;
    write(area, cost_name, (WIDTH as i32 - 16, HEIGHT as i32 - 6), INK, HPos::Right, VPos::Bottom)?;

    let at = |point: &Point<'_>| (point.cost, point.time);
    let mut front: Vec<&Point<'_>> = points.iter().filter(|point| point.choice.is_pareto).collect();
    front.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.number.cmp(&b.number)));
    let others = points.iter().filter(|point| !point.choice.is_pareto);
    chart.draw_series(others.map(|point| Circle::new(at(point), 3, SOFT.filled())))?;
    chart.draw_series([PathElement::new(steps(&front), ACCENT.stroke_width(2))])?;
    chart.draw_series(front.iter().map(|point| Circle::new(at(point), 5, ACCENT.filled())))?;

    let mut taken: Vec<Frame> = front.iter().map(|point| Frame::around(chart.backend_coord(&at(point)), 6)).collect();
    let (across, down) = chart.plotting_area().get_pixel_range();
    let inside = Frame { left: across.start, right: across.end, top: down.start, bottom: down.end };
    // The best places in the ranking are named first; a name that finds no room is left to the table.
    front.sort_by_key(|point| point.number);
    for point in front {
        let name = format!("{}. {} x {}", point.number, point.choice.solution.machines, point.choice.instance);
        let place = chart.backend_coord(&at(point));
        let free = |frame: &Frame| inside.holds(frame) && !taken.iter().any(|other| other.meets(frame));
        if let Some(frame) = Frame::beside(place, width(&name)).into_iter().find(free) {
            write(area, &name, (frame.left, (frame.top + frame.bottom) / 2), INK, HPos::Left, VPos::Center)?;
            taken.push(frame);
        }
    }
    Ok(())
}

/// The edge of what is reachable: each offer is the fastest until one that costs more is faster.
fn steps(front: &[&Point<'_>]) -> Vec<(f64, f64)> {
    let mut steps = Vec::new();
    let mut fastest = None;
    for point in front {
        if let Some(time) = fastest {
            steps.push((point.cost, time));
        }
        steps.push((point.cost, point.time));
        fastest = Some(point.time);
    }
    steps
}

/// Room that something takes.
struct Frame {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl Frame {
    fn around((x, y): (i32, i32), half: i32) -> Self {
        Self { left: x - half, right: x + half, top: y - half, bottom: y + half }
    }

    /// Places for a name at a point, the most readable first. The line of the front runs to the left and down.
    fn beside((x, y): (i32, i32), width: i32) -> [Self; 4] {
        let place = |left: i32, middle: i32| Self {
            left,
            right: left + width,
            top: middle - NAME_HALF,
            bottom: middle + NAME_HALF,
        };
        [place(x + 10, y - 12), place(x - 10 - width, y + 12), place(x + 10, y + 14), place(x - 10 - width, y - 12)]
    }

    fn holds(&self, other: &Self) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}
