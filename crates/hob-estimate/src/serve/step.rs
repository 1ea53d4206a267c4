//! Seconds of one decode step and of one prompt's prefill.
//!
//! Decode: `(memory^n + compute^n)^(1/n) + kernels * launch + 2 all-reduces a layer + host * sequences + constant`.
//! Prefill: the same with matrix products, attention and elementwise passes as compute. A norm of about 3 lets the two overlap
//! almost fully. Pipeline stages run in turn: a token passes all of them, each with its share of the batch.

use hob_units::{Interval, Seconds};

use super::machine::Machine;
use super::profile::ServeProfile;
use crate::outcome::TimeTerm;

/// Seconds of one decode step by cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecodeStep {
    pub(super) weights_read: f64,
    pub(super) kv_read: f64,
    pub(super) matrix_products: f64,
    pub(super) attention: f64,
    pub(super) launches: f64,
    pub(super) communication: f64,
    pub(super) host: f64,
    pub(super) overlap: f64,
    pub(super) launch_overlap: f64,
}

/// Seconds of one prompt's prefill by cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefill {
    pub(super) matrix_products: f64,
    pub(super) attention: f64,
    pub(super) elementwise: f64,
    pub(super) weights_read: f64,
    pub(super) launches: f64,
    pub(super) communication: f64,
    pub(super) overlap: f64,
}

/// Joins two times that overlap: their sum at exponent 1, the longer one as it grows.
fn overlapped(a: f64, b: f64, exponent: f64) -> f64 {
    let longer = a.max(b);
    if longer <= 0.0 {
        return 0.0;
    }
    longer * ((a / longer).powf(exponent) + (b / longer).powf(exponent)).powf(exponent.recip())
}

impl DecodeStep {
    pub(super) fn total(&self) -> f64 {
        let work = overlapped(self.weights_read + self.kv_read, self.matrix_products + self.attention, self.overlap);
        overlapped(work, self.launches, self.launch_overlap) + self.communication + self.host
    }

    pub(super) fn terms(&self, factor: f64) -> Vec<TimeTerm> {
        let term = |what, seconds: f64| TimeTerm {
            what,
            time: Interval::within_factor(Seconds(seconds), factor),
            formula: None,
        };
        vec![
            term("weights_read", self.weights_read),
            term("kv_read", self.kv_read),
            term("matrix_products", self.matrix_products),
            term("attention", self.attention),
            term("launches", self.launches),
            term("communication", self.communication),
            term("host", self.host),
        ]
    }
}

impl Prefill {
    pub(super) fn total(&self) -> f64 {
        overlapped(
            self.matrix_products + self.attention + self.elementwise,
            self.weights_read + self.launches,
            self.overlap,
        ) + self.communication
    }

    pub(super) fn terms(&self, factor: f64) -> Vec<TimeTerm> {
        let term = |what, seconds: f64| TimeTerm {
            what,
            time: Interval::within_factor(Seconds(seconds), factor),
            formula: None,
        };
        vec![
            term("matrix_products", self.matrix_products),
            term("attention", self.attention),
            term("elementwise", self.elementwise),
            term("weights_read", self.weights_read),
            term("launches", self.launches),
            term("communication", self.communication),
        ]
    }
}

impl ServeProfile {
    /// One decode step of `batch` sequences that stand at `context` tokens on average.
    pub(super) fn decode(&self, machine: &Machine, batch: f64, context: f64) -> DecodeStep {
        // Micro-batches fill the stages: each stage works on its share of the running sequences.
        let micro = (batch / machine.pipeline).max(batch.min(1.0));
        let (mut weights_read, mut matrix_products) = (0.0, 0.0);
        for (group, rate) in self.matrices.iter().zip(&machine.matrices) {
            weights_read += self.touched(group, micro, machine.expert_spread) / (machine.tensor * rate.bandwidth);
            matrix_products += micro.max(rate.tile) * group.flops / (machine.tensor * rate.peak * machine.decode_gemm);
        }
        let attention = micro * self.decode_attention_flops(context)
            / (machine.tensor * machine.half_peak * machine.prefill_attention);
        let vector = micro * self.hidden * 2.0;
        DecodeStep {
            weights_read,
            kv_read: micro * self.kv_bytes_read(context, machine.tensor) / machine.kv_bandwidth,
            matrix_products,
            attention,
            launches: machine.launches,
            communication: 2.0 * self.layers * (machine.allreduce_latency + vector * machine.allreduce_byte)
                + machine.send_latency
                + vector * machine.send_byte,
            host: machine.host_seconds * batch + machine.step_seconds,
            overlap: machine.overlap,
            launch_overlap: machine.launch_overlap,
        }
    }

    /// The prefill of one prompt of `prompt` tokens, `hit` of which (0 to 1) are cached.
    pub(super) fn prefill(&self, machine: &Machine, prompt: f64, hit: f64) -> Prefill {
        let past = prompt * hit;
        let tokens = (prompt - past).max(1.0);
        let chunks = (tokens / machine.tokens_max).ceil().max(1.0);
        let (mut products, mut weights_read) = (0.0, 0.0);
        for (group, rate) in self.matrices.iter().zip(&machine.matrices) {
            let positions = if group.output_only { 1.0 } else { tokens };
            let share = if group.active < group.copies {
                machine.prefill_gemm * machine.prefill_moe
            } else {
                machine.prefill_gemm
            };
            products += positions * group.flops / (machine.tensor * rate.peak * share);
            weights_read += chunks * self.touched(group, tokens / chunks, machine.expert_spread)
                / (machine.tensor * machine.bandwidth);
        }
        let vector = tokens * self.hidden * 2.0;
        Prefill {
            matrix_products: products,
            attention: self.prefill_attention_flops(tokens, past)
                / (machine.tensor * machine.half_peak * machine.prefill_attention),
            elementwise: machine.prefill_passes * self.layers * vector / (machine.tensor * machine.bandwidth),
            weights_read,
            launches: chunks * machine.launches,
            communication: 2.0 * self.layers * (chunks * machine.allreduce_latency + vector * machine.allreduce_byte)
                + chunks * machine.send_latency
                + vector * machine.send_byte,
            overlap: machine.overlap,
        }
    }
}
