//! The rate of requests over a day, and the machines that it needs hour by hour.

use hob_units::{HOURS_PER_MONTH, PerSecond, Seconds, Share};
use hob_workload::{RateWindow, Traffic};

/// Hours of a day.
const HOURS: u8 = 24;

/// Rate in each hour of the day, in requests per second; a window's rate replaces the usual one.
fn hourly(traffic: &Traffic) -> [f64; HOURS as usize] {
    let usual = traffic.rate.map_or(0.0, |rate| rate.0);
    let mut rates = [usual; HOURS as usize];
    for (hour, rate) in (0..HOURS).zip(&mut rates) {
        for window in traffic.windows.iter().filter(|window| holds(window, hour)) {
            *rate = window.rate.0;
        }
    }
    rates
}

fn holds(window: &RateWindow, hour: u8) -> bool {
    if window.from_hour < window.to_hour {
        (window.from_hour..window.to_hour).contains(&hour)
    } else {
        hour >= window.from_hour || hour < window.to_hour
    }
}

/// Highest rate of the day.
pub(crate) fn peak(traffic: &Traffic) -> PerSecond {
    PerSecond(hourly(traffic).into_iter().fold(0.0, f64::max))
}

/// Mean rate of the day.
pub(crate) fn mean(traffic: &Traffic) -> PerSecond {
    PerSecond(hourly(traffic).into_iter().sum::<f64>() / f64::from(HOURS))
}

/// Requests in an average month. Outside the stated share of the time nothing is served.
pub(crate) fn in_a_month(traffic: &Traffic, utilisation: Option<Share>) -> f64 {
    let serving = utilisation.map_or(1.0, |share| share.0);
    mean(traffic).0 * Seconds::from_hours(HOURS_PER_MONTH).0 * serving
}

/// Share of the machine hours that are in use when the machines which an hour does not need are stopped. `least` machines
/// always run, and `machines` carry the peak.
pub(crate) fn machine_hours(traffic: &Traffic, machines: u32, least: u32) -> Share {
    let peak = peak(traffic).0;
    if peak <= 0.0 || machines == 0 {
        return Share(1.0);
    }
    let needed = |rate: f64| (rate / peak * f64::from(machines)).ceil().max(f64::from(least.min(machines)));
    let used: f64 = hourly(traffic).into_iter().map(needed).sum();
    Share(used / (f64::from(HOURS) * f64::from(machines)))
}

#[cfg(test)]
mod tests {
    use hob_units::Tokens;
    use hob_workload::{DiffusionInput, LlmTraffic};

    use super::*;

    fn check(windows: &[(u8, u8, f64)], mean_rate: f64, machines: u32, least: u32, share: f64) {
        let traffic = Traffic {
            rate: Some(PerSecond(6.0)),
            concurrency: None,
            windows: windows
                .iter()
                .map(|&(from_hour, to_hour, rate)| RateWindow { from_hour, to_hour, rate: PerSecond(rate) })
                .collect(),
            llm: LlmTraffic { prompt: Tokens(1), output: Tokens(1), prefix_hit: Share(0.0), context_max: None },
            resolution: None,
            diffusion: DiffusionInput { steps: 1, guidance: false, frames: 1 },
            clip: None,
        };
        assert!((mean(&traffic).0 - mean_rate).abs() < 1e-9, "{windows:?}");
        assert!((machine_hours(&traffic, machines, least).0 - share).abs() < 1e-9, "{windows:?}");
    }

    #[test]
    fn machines_follow_the_day() {
        check(&[], 6.0, 4, 1, 1.0);
        check(&[(22, 8, 0.0)], 3.5, 4, 1, (14.0 * 4.0 + 10.0) / 96.0);
        check(&[(22, 8, 3.0)], (14.0 * 6.0 + 30.0) / 24.0, 4, 1, (14.0 * 4.0 + 20.0) / 96.0);
        check(&[(0, 24, 12.0)], 12.0, 4, 1, 1.0);
        check(&[(22, 8, 0.0)], 3.5, 2, 2, 1.0);
    }
}
