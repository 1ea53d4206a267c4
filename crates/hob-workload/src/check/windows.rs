//! Parts of the day with a rate of their own.

use hob_text::Message;

use crate::problem::{Code, Problem};
use crate::raw;
use crate::work::RateWindow;

use super::Check;

/// The windows of a file; reports hours that two of them claim, and hours that have no rate at all.
pub(crate) fn windows(raw: &raw::Traffic, check: &mut Check<'_>) -> Vec<RateWindow> {
    let Some(list) = &raw.window else { return Vec::new() };
    let mut windows = Vec::new();
    let mut taken = [false; 24];
    for item in &list.value.0 {
        let window = &item.value;
        for (is_absent, key) in [(window.hours.is_none(), "hours"), (window.rate.is_none(), "rate")] {
            let field = format!("{}.{key}", item.field);
            let was_reported = check.reader.problems.iter().any(|problem| problem.field == field);
            if is_absent && !was_reported {
                let problem = Problem::new(Code::Missing, item.span.clone(), field).with("kind", check.kind);
                check.absent(problem.expected(Message::new("workload-expected-window")));
            }
        }
        let (Some(hours), Some(rate)) = (&window.hours, &window.rate) else { continue };
        let (from_hour, to_hour) = hours.value.value;
        for hour in hours_of(from_hour, to_hour) {
            if std::mem::replace(&mut taken[usize::from(hour)], true) {
                let problem = Problem::new(Code::WindowsOverlap, hours.span.clone(), hours.field.clone());
                check.reader.report(problem.with("hour", format!("{hour:02}:00")));
                break;
            }
        }
        windows.push(RateWindow { from_hour, to_hour, rate: rate.value.value });
    }
    let gap = taken.iter().position(|taken| !taken);
    let has_rest = raw.rate.is_some() || raw.concurrency.is_some();
    if let Some(hour) = gap.filter(|_| !has_rest && windows.len() == list.value.0.len() && !windows.is_empty()) {
        let problem = Problem::new(Code::WindowsGap, list.span.clone(), "traffic.rate");
        let expected = Message::new("workload-expected-rate").with("example", "12 req/s");
        check.absent(problem.with("hour", format!("{hour:02}:00")).expected(expected));
    }
    windows
}

/// The hours from one to another, past midnight when the second is smaller; each below 24.
fn hours_of(from: u8, to: u8) -> impl Iterator<Item = u8> {
    let length = if to > from { to - from } else { 24 - from + to };
    (0..length.min(24)).map(move |step| (from + step) % 24)
}
