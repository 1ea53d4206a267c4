//! Axes: their unit, and round values on a logarithmic one.

use hob_units::{Currency, Money, Seconds};

use super::super::super::show::amount;

/// The unit in which an axis of times is labelled: that in which its longest time is printed elsewhere.
pub struct TimeUnit {
    seconds: f64,
    name: String,
}

impl TimeUnit {
    /// For times up to `longest`.
    pub fn of(longest: Seconds) -> Self {
        let printed = longest.to_string();
        let name = printed.rsplit_once(' ').map_or("s", |(_, unit)| unit);
        match format!("1 {name}").parse::<Seconds>() {
            Ok(one) => Self { seconds: one.0, name: name.to_owned() },
            Err(_) => Self { seconds: 1.0, name: "s".to_owned() },
        }
    }

    /// So many of this unit.
    pub fn count(&self, time: Seconds) -> f64 {
        time.0 / self.seconds
    }

    /// Label of a value on the axis.
    pub fn label(&self, value: f64) -> String {
        format!("{} {}", plain(value), self.name)
    }
}

/// Label of a time in its own unit.
pub fn time(time: Seconds) -> String {
    let unit = TimeUnit::of(time);
    unit.label(unit.count(time))
}

/// Label of an amount on an axis.
pub fn money(value: f64, currency: Currency) -> String {
    match format!("{currency} {value:.4}").parse::<Money>() {
        Ok(money) => format!("{currency} {}", amount(money).trim_end_matches(".00")),
        Err(_) => format!("{currency} {}", plain(value)),
    }
}

/// A value without the dust of its arithmetic: three decimals at most, and none that says nothing.
pub fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Round values inside a range that is divided by factors.
pub fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    const LADDERS: [&[f64]; 4] = [
        &[1.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        &[1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0],
    ];
    const WANTED: usize = 3;
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let mut ticks = Vec::new();
    for ladder in LADDERS {
        let all = decades.clone().flat_map(|decade| ladder.iter().map(move |step| step * 10_f64.powi(decade)));
        ticks = all.filter(|tick| (low..=high).contains(tick)).collect();
        if ticks.len() >= WANTED {
            break;
        }
    }
    ticks
}

/// Times that people count in, inside a range that is divided by factors; round values of its unit where these are too few.
pub fn time_ticks(low: Seconds, high: Seconds) -> Vec<f64> {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 3600.0;
    const DAY: f64 = 24.0 * HOUR;
    const COARSE: &[f64] = &[1.0, 10.0, MINUTE, 10.0 * MINUTE, HOUR, 6.0 * HOUR, DAY, 7.0 * DAY, 30.0 * DAY];
    const FINE: &[f64] = &[
        1.0,
        2.0,
        5.0,
        10.0,
        20.0,
        30.0,
        MINUTE,
        2.0 * MINUTE,
        5.0 * MINUTE,
        10.0 * MINUTE,
        20.0 * MINUTE,
        30.0 * MINUTE,
        HOUR,
        2.0 * HOUR,
        4.0 * HOUR,
        8.0 * HOUR,
        12.0 * HOUR,
        DAY,
        2.0 * DAY,
        4.0 * DAY,
        7.0 * DAY,
        14.0 * DAY,
        30.0 * DAY,
        60.0 * DAY,
    ];
    const WANTED: usize = 4;
    for ladder in [COARSE, FINE] {
        let ticks: Vec<f64> = ladder.iter().copied().filter(|tick| (low.0..=high.0).contains(tick)).collect();
        if ticks.len() >= WANTED {
            return ticks;
        }
    }
    let unit = TimeUnit::of(high);
    log_ticks(unit.count(low), unit.count(high)).into_iter().map(|count| count * unit.seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enough() {
        for (low, high, expected) in [
            (1.0, 1000.0, vec![1.0, 10.0, 100.0, 1000.0]),
            (3.0, 60.0, vec![5.0, 10.0, 20.0, 50.0]),
            (1000.0, 1700.0, vec![1000.0, 1200.0, 1400.0, 1600.0]),
        ] {
            assert_eq!(log_ticks(low, high), expected, "{low} to {high}");
        }
    }

    #[test]
    fn times_are_counted_as_people_count_them() {
        let hours = |hours: f64| Seconds(hours * 3600.0);
        let ticks = |low, high| time_ticks(low, high).into_iter().map(|tick| tick / 3600.0).collect::<Vec<_>>();
        assert_eq!(ticks(hours(0.9), hours(26.0)), [1.0, 2.0, 4.0, 8.0, 12.0, 24.0]);
        assert_eq!(ticks(hours(6.9), hours(19.0)), [7.0, 10.0, 15.0]);
    }

    #[test]
    fn an_axis_has_the_unit_of_its_longest_time() {
        for (longest, counted, label) in [(90.0, 90.0, "90 s"), (86_400.0, 24.0, "24 h"), (0.25, 250.0, "250 ms")] {
            let unit = TimeUnit::of(Seconds(longest));
            assert!((unit.count(Seconds(longest)) - counted).abs() < 1e-9);
            assert_eq!(unit.label(counted), label);
        }
    }
}
