//! The arithmetic of one replica under a load, line by line. It only reads what the estimate computed.

mod latency;

use super::load::Arrival;
use super::queue::{Point, Replica};
use super::step::{DecodeStep, Prefill};
use crate::arithmetic::{Amount, ArithmeticBlock, ArithmeticStep, Rows, Source, explained};
use crate::efficiency::{Efficiencies, Scope};
use crate::hardware::Hardware;
use crate::limit::Limit;
use crate::refusal::EstimateError;
use crate::serve::load::ServeLoad;
use crate::serve::profile::ServeProfile;
use crate::strategy::ServeStrategy;

use Amount::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Number, PerSecond, Seconds, Share};

/// Two overlapping times, and what overlaps with nothing.
const OVERLAP: &str = "arXiv 2402.16363 (roofline of serving); a norm of about 3 lets two times overlap almost wholly";

impl ServeProfile {
    /// The whole arithmetic of [`ServeProfile::estimate`] under the same load, with the percentiles of `limits`.
    ///
    /// # Errors
    /// As [`ServeProfile::estimate`].
    pub fn arithmetic(
        &self,
        hardware: &Hardware<'_>,
        strategy: &ServeStrategy,
        load: &ServeLoad,
        limits: &[Limit],
        table: &Efficiencies,
    ) -> Result<Vec<ArithmeticBlock>, EstimateError> {
        let replica = Replica::new(self, hardware, strategy, load, table)?;
        let engine = strategy.engine.serving_id().unwrap_or_default();
        let gpu = hardware.gpu;
        let here = Scope::any().engine(engine).architecture(gpu.architecture).card(&gpu.id).model(&self.model);
        let explain = Explain { replica: &replica, rows: Rows { table, here } };
        let point = replica.at(replica.load.arrival);
        Ok(vec![
            explain.prefill(),
            explain.decode(point.running),
            explain.queue(&point),
            explain.latency(&point, &explained(limits)),
        ])
    }
}

struct Explain<'a> {
    replica: &'a Replica<'a>,
    rows: Rows<'a>,
}

impl Explain<'_> {
    fn prefill(&self) -> ArithmeticBlock {
        let (replica, machine) = (self.replica, &self.replica.machine);
        let (profile, load, time) = (replica.profile, &replica.load, &replica.prefill);
        let past = load.prompt * load.prefix_hit;
        let tokens = (load.prompt - past).max(1.0);
        let chunks = (tokens / machine.tokens_max).ceil().max(1.0);
        let ranks = ("ranks", Number(machine.tensor));
        let bandwidth = ("bandwidth", BytesPerSecond(machine.bandwidth));
        let touched: f64 =
            profile.matrices.iter().map(|group| profile.touched(group, tokens / chunks, machine.expert_spread)).sum();
        let mut steps = vec![
            ArithmeticStep::new(
                "new-tokens",
                Number(tokens),
                "max(1, prompt * (1 - cached_share))",
                &[("prompt", Number(load.prompt)), ("cached_share", Share(load.prefix_hit))],
            ),
            ArithmeticStep::new(
                "chunks",
                Number(chunks),
                "ceil(tokens / chunk)",
                &[("tokens", Number(tokens)), ("chunk", Number(machine.tokens_max))],
            ),
        ];
        for (what, positions, flops, peak, share) in self.products(tokens) {
            steps.push(
                ArithmeticStep::new(
                    what,
                    Seconds(positions * flops / (machine.tensor * peak * share)),
                    "tokens * flops_token / (ranks * peak * share)",
                    &[
                        ("tokens", Number(positions)),
                        ("flops_token", Flops(flops)),
                        ranks,
                        ("peak", FlopsPerSecond(peak)),
                        ("share", Number(share)),
                    ],
                )
                .by(self.rows.sources(&[("serve.prefill_gemm", ""), ("serve.prefill_moe", "")])),
            );
        }
        steps.extend([
            ArithmeticStep::new(
                "attention",
                Seconds(time.attention),
                "flops / (ranks * peak * share)",
                &[
                    ("flops", Flops(profile.prefill_attention_flops(tokens, past))),
                    ranks,
                    ("peak", FlopsPerSecond(machine.half_peak)),
                    ("share", Number(machine.prefill_attention)),
                ],
            )
            .by(self.rows.sources(&[("serve.prefill_attention", "")])),
            ArithmeticStep::new(
                "elementwise",
                Seconds(time.elementwise),
                "passes * layers * tokens * row / (ranks * bandwidth)",
                &[
                    ("passes", Number(machine.prefill_passes)),
                    ("layers", Number(profile.layers)),
                    ("tokens", Number(tokens)),
                    ("row", Bytes(profile.hidden * 2.0)),
                    ranks,
                    bandwidth,
                ],
            )
            .by(self.rows.sources(&[("serve.prefill_passes", "")])),
            ArithmeticStep::new(
                "weights-read",
                Seconds(time.weights_read),
                "chunks * weights / (ranks * bandwidth)",
                &[("chunks", Number(chunks)), ("weights", Bytes(touched)), ranks, bandwidth],
            ),
            self.launches(time.launches, chunks),
            self.communication(time.communication, chunks, tokens),
            prefill_total(time),
        ]);
        ArithmeticBlock::new("prefill", steps)
    }

    /// Matrix products of a prompt, those that reach the same rate together: id, positions, FLOPs of one, peak, share.
    fn products(&self, tokens: f64) -> Vec<(&'static str, f64, f64, f64, f64)> {
        let machine = &self.replica.machine;
        let mut found: Vec<(&'static str, f64, f64, f64, f64)> = Vec::new();
        for (group, rate) in self.replica.profile.matrices.iter().zip(&machine.matrices) {
            let (what, share) = match group.active < group.copies {
                true => ("experts", machine.prefill_gemm * machine.prefill_moe),
                false if group.output_only => ("head", machine.prefill_gemm),
                false => ("matrix-products", machine.prefill_gemm),
            };
            let positions = if group.output_only { 1.0 } else { tokens };
            match found.iter_mut().find(|known| (known.0, known.3) == (what, rate.peak)) {
                Some(known) => known.2 += group.flops,
                None => found.push((what, positions, group.flops, rate.peak, share)),
            }
        }
        found.retain(|(_, _, flops, _, _)| *flops > 0.0);
        found
    }

    fn decode(&self, running: f64) -> ArithmeticBlock {
        let (replica, machine) = (self.replica, &self.replica.machine);
        let (profile, load) = (replica.profile, &replica.load);
        let batch = running.max(1.0);
        let micro = (batch / machine.pipeline).max(batch.min(1.0));
        let time = profile.decode(machine, batch, replica.context);
        let ranks = ("ranks", Number(machine.tensor));
        let sequences = ("sequences", Number(micro));
        let mut steps = vec![
            ArithmeticStep::new(
                "context",
                Number(replica.context),
                "prompt + output / 2",
                &[("prompt", Number(load.prompt)), ("output", Number(load.output))],
            ),
            ArithmeticStep::new(
                "micro-batch",
                Number(micro),
                "max(batch / stages, min(batch, 1))",
                &[("batch", Number(batch)), ("stages", Number(machine.pipeline))],
            ),
        ];
        let mut reads: Vec<(f64, f64)> = Vec::new();
        let mut stored: Vec<&'static str> = Vec::new();
        let mut products: Vec<((f64, f64), f64)> = Vec::new();
        for (group, rate) in profile.matrices.iter().zip(&machine.matrices) {
            if !reads.iter().any(|(known, _)| *known == rate.bandwidth) {
                stored.push(group.class.id());
            }
            add(&mut reads, rate.bandwidth, profile.touched(group, micro, machine.expert_spread));
            add(&mut products, (rate.peak, rate.tile), group.flops);
        }
        let weights = reads.into_iter().zip(stored).map(|((bandwidth, bytes), format)| {
            ArithmeticStep::new(
                "weights-read",
                Seconds(bytes / (machine.tensor * bandwidth)),
                "weights / (ranks * bandwidth)",
                &[("weights", Bytes(bytes)), ranks, ("bandwidth", BytesPerSecond(bandwidth))],
            )
            .by(self.rows.of_format(format).sources(&[("serve.weight_bandwidth", "")]))
        });
        steps.extend(weights);
        let kv = profile.kv_bytes_read(replica.context, machine.tensor);
        steps.push(
            ArithmeticStep::new(
                "kv-read",
                Seconds(time.kv_read),
                "sequences * kv / bandwidth",
                &[sequences, ("kv", Bytes(kv)), ("bandwidth", BytesPerSecond(machine.kv_bandwidth))],
            )
            .by(self.rows.sources(&[("serve.kv_bandwidth", "")])),
        );
        let share = ("share", Number(machine.decode_gemm));
        steps.extend(products.into_iter().map(|((peak, tile), flops)| {
            ArithmeticStep::new(
                "matrix-products",
                Seconds(micro.max(tile) * flops / (machine.tensor * peak * machine.decode_gemm)),
                "max(sequences, tile) * flops_token / (ranks * peak * share)",
                &[
                    sequences,
                    ("tile", Number(tile)),
                    ("flops_token", Flops(flops)),
                    ranks,
                    ("peak", FlopsPerSecond(peak)),
                    share,
                ],
            )
            .by(self.rows.sources(&[("serve.decode_gemm", ""), ("serve.tile_rows", "")]))
        }));
        steps.extend([
            ArithmeticStep::new(
                "attention",
                Seconds(time.attention),
                "sequences * flops_token / (ranks * peak * share)",
                &[
                    sequences,
                    ("flops_token", Flops(profile.decode_attention_flops(replica.context))),
                    ranks,
                    ("peak", FlopsPerSecond(machine.half_peak)),
                    ("share", Number(machine.prefill_attention)),
                ],
            )
            .by(self.rows.sources(&[("serve.prefill_attention", "")])),
            self.launches(time.launches, 1.0),
            self.communication(time.communication, 1.0, micro),
            ArithmeticStep::new(
                "host",
                Seconds(time.host),
                "batch * host + step_constant",
                &[
                    ("batch", Number(batch)),
                    ("host", Seconds(machine.host_seconds)),
                    ("step_constant", Seconds(machine.step_seconds)),
                ],
            )
            .by(self.rows.sources(&[("serve.host_seconds", ""), ("serve.step_seconds", "")])),
            decode_total(&time),
        ]);
        ArithmeticBlock::new("decode", steps)
    }

    fn launches(&self, seconds: f64, chunks: f64) -> ArithmeticStep {
        let machine = &self.replica.machine;
        let each = machine.kernel_seconds;
        ArithmeticStep::new(
            "launches",
            Seconds(seconds),
            "chunks * kernels * launch",
            &[
                ("chunks", Number(chunks)),
                ("kernels", Number((machine.launches / each.max(f64::MIN_POSITIVE)).round())),
                ("launch", Seconds(each)),
            ],
        )
        .by(self.rows.sources(&[("serve.kernel_seconds", "")]))
    }

    fn communication(&self, seconds: f64, chunks: f64, rows: f64) -> ArithmeticStep {
        let machine = &self.replica.machine;
        let vector = rows * self.replica.profile.hidden * 2.0;
        ArithmeticStep::new(
            "communication",
            Seconds(seconds),
            "2 * layers * (chunks * reduce + vector * reduce_byte) + chunks * send + vector * send_byte",
            &[
                ("layers", Number(self.replica.profile.layers)),
                ("chunks", Number(chunks)),
                ("reduce", Seconds(machine.allreduce_latency)),
                ("vector", Bytes(vector)),
                ("reduce_byte", Seconds(machine.allreduce_byte)),
                ("send", Seconds(machine.send_latency)),
                ("send_byte", Seconds(machine.send_byte)),
            ],
        )
        .by(self.rows.sources(&[("serve.allreduce_seconds", "nvlink"), ("serve.link_bandwidth", "")]))
    }

    fn queue(&self, point: &Point) -> ArithmeticBlock {
        let replica = self.replica;
        let (load, share) = (&replica.load, Seconds(replica.prefill_share));
        let full = replica.step(replica.slots);
        let mut steps = vec![
            ArithmeticStep::new(
                "slots",
                Number(replica.slots),
                "max(1, min(floor(room / sequence), batch_max))",
                &[
                    ("room", Bytes(replica.room.bytes)),
                    ("sequence", Bytes(replica.room.sequence)),
                    ("batch_max", Number(replica.machine.batch_max)),
                ],
            ),
            ArithmeticStep::new(
                "prefill-share",
                share,
                "prefill / stages",
                &[("prefill", Seconds(replica.prefill.total())), ("stages", Number(replica.machine.pipeline))],
            ),
            ArithmeticStep::new("full-step", Seconds(full), "", &[]),
            ArithmeticStep::new(
                "rate-max",
                PerSecond(point.rate_max),
                "slots / (slots * prefill + output * step)",
                &[
                    ("slots", Number(replica.slots)),
                    ("prefill", share),
                    ("output", Number(load.output)),
                    ("step", Seconds(full)),
                ],
            ),
        ];
        match load.arrival {
            Arrival::Open(_) => steps.extend(self.open(point)),
            Arrival::Closed(in_flight) => steps.extend(self.closed(point, f64::from(in_flight.max(1)))),
        }
        ArithmeticBlock::new("queue", steps)
    }

    fn open(&self, point: &Point) -> Vec<ArithmeticStep> {
        let replica = self.replica;
        let step = replica.step(point.running);
        let (rate, busy) = (PerSecond(point.served), Share(point.busy));
        let load = point.served / point.rate_max;
        let [behind, full] = point.waits;
        let little = Source::paper("Little 1961");
        vec![
            ArithmeticStep::new(
                "busy",
                busy,
                "rate * prefill",
                &[("rate", rate), ("prefill", Seconds(replica.prefill_share))],
            ),
            ArithmeticStep::new(
                "running",
                Number(point.running),
                "min(slots, rate * output * step / (1 - busy))",
                &[
                    ("slots", Number(replica.slots)),
                    ("rate", rate),
                    ("output", Number(replica.load.output)),
                    ("step", Seconds(step)),
                    ("busy", busy),
                ],
            )
            .by(vec![little]),
            ArithmeticStep::new(
                "load",
                Share(load),
                "rate / rate_max",
                &[("rate", rate), ("rate_max", PerSecond(point.rate_max))],
            ),
            ArithmeticStep::new(
                "wait-behind",
                Seconds(behind.mean),
                "prefill / (1 - busy)",
                &[("prefill", Seconds(replica.prefill_share)), ("busy", busy)],
            )
            .by(vec![Source::paper("M/M/1")]),
            ArithmeticStep::new(
                "chance-full",
                Share(full.chance),
                "load ^ (sqrt(2 * (slots + 1)) - 1)",
                &[("load", Share(load)), ("slots", Number(replica.slots))],
            )
            .by(vec![Source::paper("Sakasegawa 1977")]),
            ArithmeticStep::new(
                "wait-full",
                Seconds(full.mean),
                "(prefill + steps * tpot) / slots / (1 - load)",
                &[
                    ("prefill", Seconds(replica.prefill.total())),
                    ("steps", Number(point.output)),
                    ("tpot", Seconds(point.tpot)),
                    ("slots", Number(replica.slots)),
                    ("load", Share(load)),
                ],
            ),
        ]
    }

    fn closed(&self, point: &Point, in_flight: f64) -> Vec<ArithmeticStep> {
        let (replica, machine) = (self.replica, &self.replica.machine);
        let places = in_flight.min(replica.slots);
        let step = replica.step(point.running);
        let prefill = replica.prefill.total();
        let others = replica.prefill_share * (places - 1.0);
        let together = (machine.tokens_max / replica.load.prompt).clamp(1.0, places);
        let wait = (machine.wait_weight * prefill * (places - 1.0).powf(machine.wait_exponent)
            + machine.prompt_batch * prefill * (together - 1.0))
            .min(others);
        let life = point.fixed + others + point.output.max(1.0) * step;
        vec![
            ArithmeticStep::new(
                "places",
                Number(places),
                "min(in_flight, slots)",
                &[("in_flight", Number(in_flight)), ("slots", Number(replica.slots))],
            ),
            ArithmeticStep::new(
                "wait-middle",
                Seconds(wait),
                "min(weight * prefill * (places - 1) ^ exponent + batched * prefill * (together - 1), \
                 (places - 1) * prefill_share)",
                &[
                    ("weight", Number(machine.wait_weight)),
                    ("prefill", Seconds(prefill)),
                    ("places", Number(places)),
                    ("exponent", Number(machine.wait_exponent)),
                    ("batched", Number(machine.prompt_batch)),
                    ("together", Number(together)),
                    ("prefill_share", Seconds(replica.prefill_share)),
                ],
            )
            .by(self.rows.sources(&[("serve.wait_weight", ""), ("serve.wait_exponent", "")])),
            ArithmeticStep::new(
                "life",
                Seconds(life),
                "fixed + (places - 1) * prefill_share + steps * step",
                &[
                    ("fixed", Seconds(point.fixed)),
                    ("places", Number(places)),
                    ("prefill_share", Seconds(replica.prefill_share)),
                    ("steps", Number(point.output)),
                    ("step", Seconds(step)),
                ],
            ),
            ArithmeticStep::new(
                "running",
                Number(point.running),
                "places * (1 - (fixed + wait) / life)",
                &[
                    ("places", Number(places)),
                    ("fixed", Seconds(point.fixed)),
                    ("wait", Seconds(wait)),
                    ("life", Seconds(life)),
                ],
            )
            .by(vec![Source::paper("Little 1961")]),
            ArithmeticStep::new(
                "queue-wait",
                Seconds(point.queue),
                "(in_flight - places) / places * life",
                &[("in_flight", Number(in_flight)), ("places", Number(places)), ("life", Seconds(life))],
            ),
            ArithmeticStep::new(
                "rate",
                PerSecond(point.rate),
                "places / life",
                &[("places", Number(places)), ("life", Seconds(life))],
            ),
        ]
    }
}

fn prefill_total(time: &Prefill) -> ArithmeticStep {
    ArithmeticStep::new(
        "prefill",
        Seconds(time.total()),
        "((products + attention + elementwise) ^ overlap + (weights + launches) ^ overlap) ^ (1 / overlap) + communication",
        &[
            ("products", Seconds(time.matrix_products)),
            ("attention", Seconds(time.attention)),
            ("elementwise", Seconds(time.elementwise)),
            ("weights", Seconds(time.weights_read)),
            ("launches", Seconds(time.launches)),
            ("communication", Seconds(time.communication)),
            ("overlap", Number(time.overlap)),
        ],
    )
    .by(vec![Source::paper(OVERLAP)])
}

fn decode_total(time: &DecodeStep) -> ArithmeticStep {
    ArithmeticStep::new(
        "decode-step",
        Seconds(time.total()),
        "(((weights + kv) ^ overlap + (products + attention) ^ overlap) ^ (launch_overlap / overlap) \
         + launches ^ launch_overlap) ^ (1 / launch_overlap) + communication + host",
        &[
            ("weights", Seconds(time.weights_read)),
            ("kv", Seconds(time.kv_read)),
            ("products", Seconds(time.matrix_products)),
            ("attention", Seconds(time.attention)),
            ("launches", Seconds(time.launches)),
            ("communication", Seconds(time.communication)),
            ("host", Seconds(time.host)),
            ("overlap", Number(time.overlap)),
            ("launch_overlap", Number(time.launch_overlap)),
        ],
    )
    .by(vec![Source::paper(OVERLAP)])
}

/// Adds to the sum of what has the same rate.
fn add<R: PartialEq>(sums: &mut Vec<(R, f64)>, rate: R, amount: f64) {
    match sums.iter_mut().find(|(known, _)| *known == rate) {
        Some((_, sum)) => *sum += amount,
        None => sums.push((rate, amount)),
    }
}
