//! The arithmetic of one optimizer step, line by line. It only reads what the estimate computed.

use crate::arithmetic::{Amount, ArithmeticBlock, ArithmeticStep, Source};
use crate::efficiency::{Coefficient, Efficiencies};
use crate::hardware::Hardware;
use crate::refusal::EstimateError;
use crate::strategy::{AttentionKernel, Recompute, TrainMethod, TrainStrategy};
use crate::train::compute::{HALF_WIDTH, MOST, Product, kinds, passes};
use crate::train::network::{Exchange, When, exchanges};
use crate::train::profile::TrainProfile;
use crate::train::rates::TrainRates;
use crate::train::step::{Step, band};

use Amount::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Number, PerSecond, Seconds, Share};

fn sources(rows: &[&Coefficient]) -> Vec<Source> {
    rows.iter().map(|row| Source::from(*row)).collect()
}

impl TrainProfile {
    /// The whole arithmetic of the step of [`TrainProfile::estimate`].
    ///
    /// # Errors
    /// As [`TrainProfile::estimate`].
    pub fn arithmetic(
        &self,
        hardware: &Hardware<'_>,
        strategy: &TrainStrategy,
        framework: &str,
        table: &Efficiencies,
    ) -> Result<Vec<ArithmeticBlock>, EstimateError> {
        let rates = TrainRates::new(self, hardware, strategy.precision, strategy.method, framework, table)?;
        let step = Step::of(self, hardware, strategy, &rates);
        let mut all = Vec::new();
        exchanges(self, hardware, strategy, &rates, |exchange| all.push(exchange));
        let explain = Explain { profile: self, strategy, rates: &rates, step: &step };
        Ok(vec![
            explain.computing(),
            ArithmeticBlock::new("network", all.iter().map(|exchange| explain.exchange(exchange)).collect()),
            explain.optimizer_step(hardware),
        ])
    }
}

struct Explain<'a> {
    profile: &'a TrainProfile,
    strategy: &'a TrainStrategy,
    rates: &'a TrainRates<'a>,
    step: &'a Step,
}

impl Explain<'_> {
    /// One sample's work is split over context, tensor and pipeline ranks.
    fn samples(&self) -> (f64, [(&'static str, Amount); 2]) {
        let strategy = self.strategy;
        let ranks = f64::from(strategy.context) * f64::from(strategy.tensor) * f64::from(strategy.pipeline);
        let batch = f64::from(strategy.micro_batch);
        (batch / ranks, [("micro_batch", Number(batch)), ("ranks", Number(ranks))])
    }

    fn computing(&self) -> ArithmeticBlock {
        let (rates, compute) = (self.rates, &self.step.compute);
        let mut steps: Vec<ArithmeticStep> = Vec::new();
        let all = kinds(self.profile, self.strategy, rates, passes(self.strategy, rates));
        for step in all.iter().filter(|kind| kind.flops > 0.0).flat_map(|kind| self.product(kind)) {
            // Two kinds of one width reach the same share.
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        let again = if self.strategy.recompute == Recompute::None { 0.0 } else { 1.0 };
        let (_, [batch, ranks]) = self.samples();
        let moved = compute.elementwise * rates.bandwidth;
        let bandwidth = ("bandwidth", BytesPerSecond(rates.bandwidth));
        steps.extend([
            ArithmeticStep::new(
                "attention",
                Seconds(compute.attention),
                "flops * (3.5 + again) * micro_batch / ranks / (peak * share * min(asymptote, 1))",
                &[
                    ("flops", Flops(self.profile.work.attention)),
                    ("again", Number(again)),
                    batch,
                    ranks,
                    ("peak", FlopsPerSecond(rates.peaks.plain)),
                    ("share", Number(rates.attention_efficiency.value)),
                    ("asymptote", Number(rates.gemm_asymptote.value)),
                ],
            )
            .by(sources(&[rates.attention_efficiency, rates.gemm_asymptote])),
            ArithmeticStep::new(
                "elementwise",
                Seconds(compute.elementwise),
                "bytes / bandwidth",
                &[("bytes", Bytes(moved)), bandwidth],
            )
            .by(sources(&[rates.elementwise_factor])),
        ]);
        if self.strategy.attention == AttentionKernel::Eager {
            steps.push(
                ArithmeticStep::new(
                    "scores",
                    Seconds(compute.scores),
                    "bytes / bandwidth",
                    &[("bytes", Bytes(compute.scores * rates.bandwidth)), bandwidth],
                )
                .by(sources(&[rates.score_bytes])),
            );
        }
        steps.push(
            ArithmeticStep::new(
                "dequantisation",
                Seconds(compute.dequantisation),
                "bytes / bandwidth",
                &[("bytes", Bytes(compute.dequantisation * rates.bandwidth)), bandwidth],
            )
            .by(sources(&[rates.dequantise_bytes])),
        );
        steps.push(self.launches());
        steps.push(ArithmeticStep::new(
            "computing",
            Seconds(compute.micro_step()),
            "((products + attention + elementwise + scores + dequantisation) ^ 3 + launches ^ 3) ^ (1 / 3)",
            &[
                ("products", Seconds(compute.matrix_products)),
                ("attention", Seconds(compute.attention)),
                ("elementwise", Seconds(compute.elementwise)),
                ("scores", Seconds(compute.scores)),
                ("dequantisation", Seconds(compute.dequantisation)),
                ("launches", Seconds(compute.launches)),
            ],
        ));
        ArithmeticBlock::new("computing", steps)
    }

    fn product(&self, kind: &Product) -> Vec<ArithmeticStep> {
        let rates = self.rates;
        let asymptote = ("asymptote", Number(rates.gemm_asymptote.value));
        let format = ("format", Number(rates.format_efficiency.value));
        let most = ("most", Number(MOST));
        let (expression, figures) = if kind.width > 0.0 {
            (
                "min(asymptote * format / (1 + half_width * sqrt(tensor) / width), most)",
                vec![
                    asymptote,
                    format,
                    ("half_width", Number(HALF_WIDTH)),
                    ("tensor", Number(f64::from(self.strategy.tensor))),
                    ("width", Number(kind.width)),
                    most,
                ],
            )
        } else {
            ("min(asymptote, most) * format", vec![asymptote, most, format])
        };
        let reached = ArithmeticStep::new("reached", Number(kind.reached), expression, &figures)
            .by(sources(&[rates.gemm_asymptote, rates.format_efficiency]));
        let (share, [batch, ranks]) = self.samples();
        let seconds = kind.flops * kind.passes / (rates.peaks.products * kind.reached * kind.filled) * share;
        let mut figures = vec![
            ("flops", Flops(kind.flops)),
            ("passes", Number(kind.passes)),
            batch,
            ranks,
            ("peak", FlopsPerSecond(rates.peaks.products)),
            ("share", Number(kind.reached)),
        ];
        let mut expression = "flops * passes * micro_batch / ranks / (peak * share)";
        if kind.filled < 1.0 {
            expression = "flops * passes * micro_batch / ranks / (peak * share * filled)";
            figures.push(("filled", Number(kind.filled)));
        }
        vec![reached, ArithmeticStep::new(kind.what, Seconds(seconds), expression, &figures)]
    }

    fn launches(&self) -> ArithmeticStep {
        let (rates, strategy) = (self.rates, self.strategy);
        let by_operator = self.profile.convolutional || self.profile.layers == 0;
        let row = if by_operator { rates.operator_seconds } else { rates.layer_seconds };
        let seconds = self.step.compute.launches;
        let times = seconds / row.value.max(f64::MIN_POSITIVE);
        let passes = if strategy.recompute == Recompute::Full { 3.0 } else { 2.0 };
        let count = if by_operator { "operators" } else { "layers" };
        let stages = f64::from(strategy.pipeline);
        let adapters = if by_operator || strategy.method == TrainMethod::Full { 1.0 } else { 0.7 };
        let expression = format!("{count} / stages * passes * adapters * launch");
        ArithmeticStep::new(
            "launches",
            Seconds(seconds),
            &expression,
            &[
                (count, Number(times * stages / passes / adapters)),
                ("stages", Number(stages)),
                ("passes", Number(passes)),
                ("adapters", Number(adapters)),
                ("launch", Seconds(row.value)),
            ],
        )
        .by(sources(&[row]))
    }

    fn exchange(&self, exchange: &Exchange) -> ArithmeticStep {
        let mut figures = vec![("bytes", Bytes(exchange.bytes)), ("link", BytesPerSecond(exchange.rate))];
        let mut expression = "bytes / link".to_owned();
        if exchange.ranks > 1.0 {
            expression = "bytes * (ranks - 1) / ranks / link".to_owned();
            figures.push(("ranks", Number(exchange.ranks)));
        }
        let mut source = vec![Source::paper(match exchange.what {
            "tensor" | "pipeline" => "arXiv 1909.08053, 2104.04473",
            "context-parallel" => "arXiv 2310.01889",
            _ => "arXiv 1910.02054",
        })];
        if exchange.exposure != 1.0 {
            expression.push_str(" * exposed");
            figures.push(("exposed", Number(exchange.exposure)));
            let row = match exchange.when {
                When::Hidden | When::AtEnd => self.rates.shard_exposure,
                When::Exposed => self.rates.tensor_exposure[0],
            };
            source.push(Source::from(row));
        }
        ArithmeticStep::new(exchange.what, Seconds(exchange.seconds()), &expression, &figures).by(source)
    }

    fn optimizer_step(&self, hardware: &Hardware<'_>) -> ArithmeticBlock {
        let (step, rates, strategy) = (self.step, self.rates, self.strategy);
        let (hidden, exposed) = (step.network.hidden_in_step, step.network.exposed_in_step);
        let micro_steps = f64::from(strategy.accumulation);
        let samples = f64::from(strategy.data) * f64::from(strategy.micro_batch) * micro_steps;
        let useful = if strategy.method == TrainMethod::Full { 3.0 } else { 2.0 };
        let steps = vec![
            ArithmeticStep::new(
                "micro-step",
                Seconds(step.micro),
                "(computing ^ 4 + overlapped ^ 4) ^ (1 / 4) + exposed",
                &[
                    ("computing", Seconds(step.compute.micro_step())),
                    ("overlapped", Seconds(hidden)),
                    ("exposed", Seconds(exposed)),
                ],
            ),
            ArithmeticStep::new(
                "bubble",
                Share(step.bubble),
                "factor * (stages - 1) / (chunks * micro_steps)",
                &[
                    ("factor", Number(rates.bubble_factor.value)),
                    ("stages", Number(f64::from(strategy.pipeline))),
                    ("chunks", Number(f64::from(strategy.interleave))),
                    ("micro_steps", Number(micro_steps)),
                ],
            )
            .by(vec![Source::paper("arXiv 2104.04473"), Source::from(rates.bubble_factor)]),
            ArithmeticStep::new(
                "end",
                Seconds(step.end),
                "(micro ^ 4 + at_end ^ 4) ^ (1 / 4) - micro",
                &[("micro", Seconds(step.micro)), ("at_end", Seconds(step.network.at_end))],
            ),
            ArithmeticStep::new(
                "optimizer",
                Seconds(step.compute.optimizer),
                "bytes / bandwidth",
                &[
                    ("bytes", Bytes(step.compute.optimizer * rates.bandwidth)),
                    ("bandwidth", BytesPerSecond(rates.bandwidth)),
                ],
            ),
            ArithmeticStep::new(
                "step",
                Seconds(step.seconds),
                "(micro * micro_steps * (1 + bubble) + exposed_end) / speed + optimizer",
                &[
                    ("micro", Seconds(step.micro)),
                    ("micro_steps", Number(micro_steps)),
                    ("bubble", Share(step.bubble)),
                    ("exposed_end", Seconds(step.end)),
                    ("speed", Number(rates.family_speed.value)),
                    ("optimizer", Seconds(step.compute.optimizer)),
                ],
            )
            .by(sources(&[rates.family_speed])),
            ArithmeticStep::new("band-step", Number(band(self.profile, rates)), "", &[])
                .by(sources(&[rates.time_band])),
            ArithmeticStep::new(
                "samples-rate",
                PerSecond(samples / step.seconds),
                "data * micro_batch * micro_steps / optimizer_step",
                &[
                    ("data", Number(f64::from(strategy.data))),
                    ("micro_batch", Number(f64::from(strategy.micro_batch))),
                    ("micro_steps", Number(micro_steps)),
                    ("optimizer_step", Seconds(step.seconds)),
                ],
            ),
            ArithmeticStep::new(
                "mfu",
                Share(
                    self.profile.forward_flops() * useful * samples
                        / (step.seconds * f64::from(hardware.gpus()) * rates.peaks.plain),
                ),
                "flops * passes * samples / (optimizer_step * gpus * peak)",
                &[
                    ("flops", Flops(self.profile.forward_flops())),
                    ("passes", Number(useful)),
                    ("samples", Number(samples)),
                    ("optimizer_step", Seconds(step.seconds)),
                    ("gpus", Number(f64::from(hardware.gpus()))),
                    ("peak", FlopsPerSecond(rates.peaks.plain)),
                ],
            ),
        ];
        ArithmeticBlock::new("step", steps)
    }
}
