//! First token, token and request: the lines of a reply's latency.

use super::Explain;
use crate::arithmetic::Amount::{Number, Seconds, Share};
use crate::arithmetic::{ArithmeticBlock, ArithmeticStep};
use crate::percentile::{Percentile4, Wait};
use crate::serve::load::Arrival;
use crate::serve::queue::Point;

impl Explain<'_> {
    pub(super) fn latency(&self, point: &Point, percentiles: &[Percentile4]) -> ArithmeticBlock {
        let (replica, machine) = (self.replica, &self.replica.machine);
        let step = replica.step(point.running);
        let spread = self.rows.sources(&[("serve.tpot_spread", "idle"), ("serve.tpot_spread", "busy")]);
        let mut steps = vec![
            ArithmeticStep::new(
                "fixed",
                Seconds(point.fixed),
                "request + prefill + first * step",
                &[
                    ("request", Seconds(machine.request_seconds)),
                    ("prefill", Seconds(replica.prefill.total())),
                    ("first", Number(point.first)),
                    ("step", Seconds(step)),
                ],
            )
            .by(self.rows.sources(&[("serve.request_seconds", ""), ("serve.first_steps", "")])),
            self.tpot_middle(point, step),
            ArithmeticStep::new(
                "spread",
                Number(point.spread),
                "spread_idle + (spread_busy - spread_idle) * busy",
                &[
                    ("spread_idle", Number(machine.spread_idle)),
                    ("spread_busy", Number(machine.spread_busy)),
                    ("busy", Share(point.busy.clamp(0.0, 1.0))),
                ],
            )
            .by(spread),
        ];
        for percentile in percentiles.iter().copied() {
            steps.extend(self.ttft(point, percentile));
        }
        for percentile in percentiles.iter().copied() {
            let figures =
                [("tpot", Seconds(point.tpot)), ("z", Number(percentile.z())), ("spread", Number(point.spread))];
            let value = Seconds(point.tpot(percentile));
            steps.push(ArithmeticStep::new("tpot", value, "tpot * exp(z * spread)", &figures).at(percentile));
        }
        steps.extend(percentiles.iter().copied().map(|percentile| end_to_end(point, percentile)));
        for (what, factor, class) in [
            ("band-ttft", machine.factor_ttft, "ttft"),
            ("band-tpot", machine.factor_tpot, "tpot"),
            ("band-request", machine.factor_end_to_end, "end_to_end"),
        ] {
            let rows = self.rows.sources(&[("serve.half_width", class)]);
            steps.push(ArithmeticStep::new(what, Number(factor), "", &[]).by(rows));
        }
        steps.push(
            ArithmeticStep::new("band-tail", Number(machine.factor_tail), "", &[])
                .by(self.rows.sources(&[("serve.half_width", "tail")])),
        );
        ArithmeticBlock::new("latency", steps)
    }

    fn tpot_middle(&self, point: &Point, step: f64) -> ArithmeticStep {
        match self.replica.load.arrival {
            Arrival::Open(_) => ArithmeticStep::new(
                "tpot-middle",
                Seconds(point.tpot),
                "min(step / (1 - busy), full)",
                &[
                    ("step", Seconds(step)),
                    ("busy", Share(point.busy)),
                    ("full", Seconds(self.replica.closed(self.replica.slots).tpot)),
                ],
            ),
            Arrival::Closed(_) => {
                let [first, _] = point.waits;
                let wait = first.mean * std::f64::consts::LN_2;
                ArithmeticStep::new(
                    "tpot-middle",
                    Seconds(point.tpot),
                    "(life - fixed - wait) / steps",
                    &[
                        ("life", Seconds(point.tpot * point.output + point.fixed + wait)),
                        ("fixed", Seconds(point.fixed)),
                        ("wait", Seconds(wait)),
                        ("steps", Number(point.output)),
                    ],
                )
            }
        }
    }

    fn ttft(&self, point: &Point, percentile: Percentile4) -> Vec<ArithmeticStep> {
        let [behind, full] = point.waits;
        let wait = |what, wait: Wait| {
            let figures =
                [("mean", Seconds(wait.mean)), ("chance", Share(wait.chance)), ("above", Share(percentile.above()))];
            let value = Seconds(wait.at(percentile));
            ArithmeticStep::new(what, value, "max(0, mean * ln(chance / above))", &figures).at(percentile)
        };
        let total = ArithmeticStep::new(
            "ttft",
            Seconds(point.ttft(percentile)),
            "fixed + queue + behind + place",
            &[
                ("fixed", Seconds(point.fixed)),
                ("queue", Seconds(point.queue)),
                ("behind", Seconds(behind.at(percentile))),
                ("place", Seconds(full.at(percentile))),
            ],
        );
        let waits = [wait("waits-behind", behind), wait("waits-full", full)];
        waits.into_iter().filter(|step| step.value.base() > 0.0).chain([total.at(percentile)]).collect()
    }
}

fn end_to_end(point: &Point, percentile: Percentile4) -> ArithmeticStep {
    let middle = Percentile4::P50;
    let figures = [
        ("ttft_middle", Seconds(point.ttft(middle))),
        ("steps", Number(point.output)),
        ("tpot_middle", Seconds(point.tpot(middle))),
        ("ttft", Seconds(point.ttft(percentile))),
        ("tpot", Seconds(point.tpot(percentile))),
    ];
    let (expression, used) = if percentile == middle {
        ("ttft_middle + steps * tpot_middle", 3)
    } else {
        (
            "ttft_middle + steps * tpot_middle + sqrt((ttft - ttft_middle) ^ 2 + (steps * (tpot - tpot_middle)) ^ 2)",
            figures.len(),
        )
    };
    let used = figures.get(..used).unwrap_or_default();
    ArithmeticStep::new("request", Seconds(point.end_to_end(percentile)), expression, used).at(percentile)
}
