//! The arithmetic of one batch, and of a replica under a load, line by line. It only reads what the estimate computed.

use hob_units::PerSecond as Rate;

use super::machine::Machine;
use super::pass::Pass;
use super::phases::{Phase, PhaseKind};
use super::profile::ForwardProfile;
use super::service::{Curve, OVERSHOOT, Point};
use super::strategy::ForwardStrategy;
use crate::arithmetic::{Amount, ArithmeticBlock, ArithmeticStep, Rows, Source, explained};
use crate::efficiency::{Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::limit::Limit;
use crate::percentile::Percentile4;
use crate::refusal::EstimateError;

use Amount::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Number, PerSecond, Seconds, Share};

/// Operators of a pass that take less than this share of it are summed into one line.
const LINE_SHARE: f64 = 0.02;

impl ForwardProfile {
    /// The whole arithmetic of [`ForwardProfile::estimate`], and of [`ForwardProfile::service`] when items arrive at
    /// `rate`.
    ///
    /// # Errors
    /// As [`ForwardProfile::estimate`].
    pub fn arithmetic(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ForwardStrategy,
        rate: Option<Rate>,
        limits: &[Limit],
        table: &Efficiencies,
    ) -> Result<Vec<ArithmeticBlock>, EstimateError> {
        let machine = Machine::new(self, hardware, strategy, table)?;
        let here = Scope::any().engine(strategy.engine.id()).architecture(hardware.gpu.architecture);
        let here = here.card(&hardware.gpu.id).model(&self.model);
        let explain = Explain { profile: self, machine: &machine, rows: Rows { table, here } };
        let batch = f64::from(strategy.batch);
        let mut blocks: Vec<ArithmeticBlock> = self.phases.iter().map(|phase| explain.pass(phase, batch)).collect();
        blocks.push(explain.batch(batch));
        if let Some(rate) = rate {
            let curve = Curve::new(self, &machine, strategy.batch);
            let point = curve.point(rate.0.max(0.0), 1.0);
            blocks.push(explain.queue(&curve, &point));
            blocks.push(explain.latency(&point, &explained(limits)));
        }
        Ok(blocks)
    }
}

struct Explain<'a> {
    profile: &'a ForwardProfile,
    machine: &'a Machine,
    rows: Rows<'a>,
}

impl Explain<'_> {
    fn pass(&self, phase: &Phase, batch: f64) -> ArithmeticBlock {
        let machine = self.machine;
        let pass = Pass::of(phase, machine, batch);
        let mut steps = self.operators(phase, batch);
        let all: f64 = pass.classes.iter().sum();
        let shown: f64 = steps.iter().map(|step| step.value.base()).sum();
        if all - shown > all * 1e-9 {
            steps.push(ArithmeticStep::new("other-operators", Seconds(all - shown), "", &[]));
        }
        let kernels = pass.kernels / machine.kernel_seconds.max(f64::MIN_POSITIVE);
        let count = ("kernels", Number(kernels.round()));
        steps.extend([
            ArithmeticStep::new("operators", Seconds(all), "", &[]),
            ArithmeticStep::new(
                "kernels",
                Seconds(pass.kernels),
                "kernels * drain",
                &[count, ("drain", Seconds(machine.kernel_seconds))],
            )
            .by(self.rows.sources(&[("media.kernel_seconds", "")])),
            ArithmeticStep::new(
                "launches",
                Seconds(pass.host),
                "kernels * launch",
                &[count, ("launch", Seconds(machine.host_seconds))],
            )
            .by(self.rows.sources(&[("media.host_seconds", "one_gpu")])),
            ArithmeticStep::new("communication", Seconds(pass.exchange), "", &[])
                .by(self.rows.sources(&[("media.exchange_seconds", ""), ("media.link_bandwidth", "")])),
            ArithmeticStep::new(
                pass_name(phase.kind),
                Seconds(pass.total()),
                "((operators + kernels_time + communication) ^ 3 + launches ^ 3) ^ (1 / 3)",
                &[
                    ("operators", Seconds(all)),
                    ("kernels_time", Seconds(pass.kernels)),
                    ("communication", Seconds(pass.exchange)),
                    ("launches", Seconds(pass.host)),
                ],
            ),
        ]);
        ArithmeticBlock::new(pass_name(phase.kind), steps)
    }

    /// The operators that take most of a pass, each with the longer of computing and moving, rounded off.
    fn operators(&self, phase: &Phase, batch: f64) -> Vec<ArithmeticStep> {
        let machine = self.machine;
        let samples = batch * phase.samples;
        let ranks = if phase.kind == PhaseKind::Denoise { machine.ranks } else { 1.0 };
        let all: f64 = Pass::of(phase, machine, batch).classes.iter().sum();
        let mut lines: Vec<ArithmeticStep> = Vec::new();
        for work in phase.works.iter().filter(|work| !machine.engine.fuses(work.fusion)) {
            let lane = machine.lane(work.quantised);
            let rate = lane.rates.get(work.class as usize).copied().unwrap_or(f64::INFINITY);
            let flops = work.flops * samples / ranks;
            let bytes = work.elements * samples / ranks * lane.activation_bytes
                + work.touched(samples / ranks) * lane.weight_bytes;
            let seconds = ((flops / rate).powi(3) + (bytes / machine.bandwidth).powi(3)).cbrt() * work.repeat;
            if seconds < all * LINE_SHARE {
                continue;
            }
            let moved = ("bytes", Bytes(bytes));
            let bandwidth = ("bandwidth", BytesPerSecond(machine.bandwidth));
            let times = ("times", Number(work.repeat));
            let computes = flops > 0.0 && rate.is_finite();
            let (expression, figures) = if computes {
                (
                    "times * ((flops / reached) ^ 3 + (bytes / bandwidth) ^ 3) ^ (1 / 3)",
                    vec![times, ("flops", Flops(flops)), ("reached", FlopsPerSecond(rate)), moved, bandwidth],
                )
            } else {
                ("times * bytes / bandwidth", vec![times, moved, bandwidth])
            };
            let rows = [("media.compute", work.class.id()), ("media.bandwidth", "")];
            lines.push(
                ArithmeticStep::new(work.class.time(), Seconds(seconds), expression, &figures)
                    .by(self.rows.sources(rows.get(usize::from(!computes)..).unwrap_or_default())),
            );
        }
        lines.sort_by(|a, b| b.value.base().total_cmp(&a.value.base()));
        lines
    }

    fn batch(&self, batch: f64) -> ArithmeticBlock {
        let machine = self.machine;
        let passes: Vec<(&'static str, f64, f64)> = self
            .profile
            .phases
            .iter()
            .map(|phase| (pass_name(phase.kind), phase.runs, Pass::of(phase, machine, batch).total()))
            .collect();
        let mut steps: Vec<ArithmeticStep> = passes
            .iter()
            .map(|&(name, runs, pass)| {
                let figures = [("runs", Number(runs)), ("pass", Seconds(pass))];
                ArithmeticStep::new(name, Seconds(runs * pass), "runs * pass", &figures)
            })
            .collect();
        let sum: f64 = passes.iter().map(|(_, runs, pass)| runs * pass).sum();
        let total = sum + machine.batch_seconds;
        steps.extend([
            ArithmeticStep::new(
                "batch",
                Seconds(total),
                "passes + constant",
                &[("passes", Seconds(sum)), ("constant", Seconds(machine.batch_seconds))],
            )
            .by(self.rows.sources(&[("media.batch_seconds", "")])),
            ArithmeticStep::new("band-batch", Number(machine.factor), "", &[])
                .by(self.rows.sources(&[("media.half_width", "")])),
            ArithmeticStep::new(
                "items-rate",
                PerSecond(batch / total),
                "batch / time",
                &[("batch", Number(batch)), ("time", Seconds(total))],
            ),
        ]);
        ArithmeticBlock::new("batch", steps)
    }

    fn queue(&self, curve: &Curve, point: &Point) -> ArithmeticBlock {
        let most = ("batch_max", Number(curve.most()));
        let rate = ("rate", PerSecond(point.rate));
        let full = curve.seconds(curve.most());
        let time = curve.seconds(point.batch);
        let load = point.rate / curve.rate_max();
        let kept = point.rate * point.item;
        let batch = ("batch", Number(point.batch));
        let siegmund = || vec![Source::paper("Siegmund, Sequential Analysis, 1985, ch. 8")];
        ArithmeticBlock::new(
            "queue",
            vec![
                ArithmeticStep::new(
                    "rate-max",
                    PerSecond(curve.rate_max()),
                    "batch_max / time",
                    &[most, ("time", Seconds(full))],
                ),
                ArithmeticStep::new(
                    "load",
                    Share(load),
                    "rate / rate_max",
                    &[rate, ("rate_max", PerSecond(curve.rate_max()))],
                ),
                ArithmeticStep::new("batch-time", Seconds(time), "", &[]),
                ArithmeticStep::new(
                    "mean-batch",
                    Number(point.batch),
                    "max(1, min(batch_max, rate * time + exp(-(rate * time))))",
                    &[most, rate, ("time", Seconds(time))],
                ),
                ArithmeticStep::new(
                    "busy",
                    Share(point.busy),
                    "min(1, rate * time / batch)",
                    &[rate, ("time", Seconds(time)), batch],
                ),
                ArithmeticStep::new("item-time", Seconds(point.item), "", &[]),
                ArithmeticStep::new(
                    "variance",
                    Number(point.variance),
                    "min(rate * time / (1 - kept ^ 2), (batch_max - batch) ^ 2)",
                    &[rate, ("time", Seconds(time)), ("kept", Number(kept)), most, batch],
                ),
                ArithmeticStep::new(
                    "seen-batch",
                    Number(point.seen),
                    "min(batch_max, batch + variance / batch)",
                    &[most, batch, ("variance", Number(point.variance))],
                ),
                ArithmeticStep::new("seen-time", Seconds(point.service), "", &[]),
                ArithmeticStep::new(
                    "chance-full",
                    Share(point.overflow.chance),
                    "load * exp(-2 * (1 - load) / load * overshoot * sqrt(load * batch_max))",
                    &[("load", Share(load)), ("overshoot", Number(OVERSHOOT)), most],
                )
                .by(siegmund()),
                ArithmeticStep::new(
                    "wait-full",
                    Seconds(point.overflow.mean),
                    "load / (2 * (1 - load)) / rate",
                    &[("load", Share(load)), rate],
                )
                .by(siegmund()),
            ],
        )
    }

    fn latency(&self, point: &Point, percentiles: &[Percentile4]) -> ArithmeticBlock {
        let rest = |percentile| point.rest(percentile);
        let middle = rest(Percentile4::P50);
        let spread = ArithmeticStep::new(
            "spread",
            Seconds(point.spread),
            "1.5 * item * sqrt(variance)",
            &[("item", Seconds(point.item)), ("variance", Number(point.variance))],
        );
        let mut steps = vec![spread];
        for percentile in percentiles.iter().copied() {
            let above = ("above", Share(percentile.above()));
            steps.push(
                ArithmeticStep::new(
                    "rest",
                    Seconds(rest(percentile)),
                    "max(0, service * (1 - above / busy))",
                    &[("service", Seconds(point.service)), above, ("busy", Share(point.busy))],
                )
                .at(percentile),
            );
            steps.push(
                ArithmeticStep::new(
                    "waits-full",
                    Seconds(point.overflow.at(percentile)),
                    "max(0, mean * ln(chance / above))",
                    &[("mean", Seconds(point.overflow.mean)), ("chance", Share(point.overflow.chance)), above],
                )
                .at(percentile),
            );
            steps.push(
                ArithmeticStep::new(
                    "request",
                    Seconds(point.latency(percentile)),
                    "service + rest_middle + sqrt((rest - rest_middle) ^ 2 + (z * spread) ^ 2) + place",
                    &[
                        ("service", Seconds(point.service)),
                        ("rest_middle", Seconds(middle)),
                        ("rest", Seconds(rest(percentile))),
                        ("z", Number(percentile.z())),
                        ("spread", Seconds(point.spread)),
                        ("place", Seconds(point.overflow.at(percentile))),
                    ],
                )
                .at(percentile),
            );
        }
        steps.push(ArithmeticStep::new("band-service", Number(self.machine.factor), "", &[]));
        steps.push(
            ArithmeticStep::new("band-tail", Number(self.machine.factor_tail), "", &[])
                .by(self.rows.sources(&[("media.half_width", "tail")])),
        );
        ArithmeticBlock::new("latency", steps)
    }
}

/// Stable id of a pass.
fn pass_name(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Forward => "forward-pass",
        PhaseKind::TextEncoders => "text-encoders",
        PhaseKind::Denoise => "denoising-step",
        PhaseKind::Autoencoder => "autoencoder",
        PhaseKind::Encode => "sound-window",
        PhaseKind::Decode => "token-step",
    }
}
