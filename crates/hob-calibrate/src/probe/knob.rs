//! What measurements of a user's own machine can turn: groups of coefficients that scale one time, or one kind of memory,
//! as a whole.

use hob_estimate::Efficiencies;

use crate::target::Target;

/// A group of coefficients that one factor scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Knob {
    /// What a decode step reads and multiplies.
    Decode,
    /// What a decode step launches and waits for, whatever it computes.
    Launch,
    /// The arithmetic of a prompt.
    Prefill,
    /// What a first token waits for beside its prompt.
    FirstToken,
    /// A training step but its optimizer.
    TrainTime,
    /// Training memory but the exact states.
    TrainMemory,
    /// A whole pass of a model without tokens.
    ForwardTime,
}

impl Knob {
    pub(super) const ALL: [Self; 7] = [
        Self::Decode,
        Self::Launch,
        Self::Prefill,
        Self::FirstToken,
        Self::TrainTime,
        Self::TrainMemory,
        Self::ForwardTime,
    ];

    /// Coefficients that grow with the knob (seconds, bytes), and those that it divides (shares of a peak).
    fn coefficients(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Decode => (&[], &["serve.weight_bandwidth", "serve.kv_bandwidth", "serve.decode_gemm"]),
            Self::Launch => (
                &[
                    "serve.kernel_seconds",
                    "serve.host_seconds",
                    "serve.step_seconds",
                    "serve.allreduce_seconds",
                    "serve.send_seconds",
                ],
                &["serve.link_bandwidth"],
            ),
            Self::Prefill => (&["serve.prefill_passes"], &["serve.prefill_gemm", "serve.prefill_attention"]),
            Self::FirstToken => (&["serve.request_seconds", "serve.first_steps", "serve.wait_weight"], &[]),
            Self::TrainTime => (&[], &["train.family_speed"]),
            Self::TrainMemory => (&["train.activation_factor", "train.logit_bytes", "train.workspace_gib"], &[]),
            Self::ForwardTime => (
                &["media.kernel_seconds", "media.host_seconds", "media.batch_seconds", "media.exchange_seconds"],
                &["media.compute", "media.bandwidth", "media.link_bandwidth"],
            ),
        }
    }

    /// The exponent with which the knob moves a coefficient; `None` where it does not.
    pub(super) fn exponent(self, name: &str) -> Option<f64> {
        let (times, shares) = self.coefficients();
        match () {
            () if times.contains(&name) => Some(1.0),
            () if shares.contains(&name) => Some(-1.0),
            () => None,
        }
    }

    /// Standard deviations of the log of the knob before anything is measured: of a card, of an engine on it, of a model
    /// under both. Errors of groups that a fit never saw are 0.35 (first tokens 0.5) in all; of what a probe repairs about
    /// half carries over to other models (feasibility study on the published serving rows, section 7).
    pub(super) fn spreads(self) -> [f64; 3] {
        match self {
            Self::Decode | Self::Prefill => [0.15, 0.15, 0.2],
            Self::Launch => [0.2, 0.3, 0.2],
            Self::FirstToken => [0.3, 0.3, 0.3],
            Self::TrainTime | Self::ForwardTime => [0.15, 0.1, 0.15],
            Self::TrainMemory => [0.05, 0.15, 0.25],
        }
    }
}

/// `table` with every coefficient of a knob scaled, in every scope.
pub(super) fn scaled(table: &Efficiencies, logs: &[(Knob, f64)]) -> Efficiencies {
    let mut table = table.clone();
    for index in 0..table.rows().len() {
        let Some(row) = table.rows().get(index) else { continue };
        let log: f64 = logs.iter().filter_map(|(knob, log)| Some(knob.exponent(&row.name)? * log)).sum();
        let value = row.value * log.exp();
        table.set(index, value);
    }
    table
}

/// Scatter of log errors inside a published group whose level is known: set so that about 80 % of the rest of a group lies
/// inside the band after three to five of its rows (`tests/probe.rs`).
pub(super) fn scatter(target: Target) -> f64 {
    match target {
        Target::TrainMemory | Target::ServeWeights | Target::ServeKv | Target::ServeTotal => 0.06,
        Target::TrainSpeed | Target::VisionThroughput | Target::VisionLatency | Target::DiffusionLatency => 0.11,
        Target::ServeTpot | Target::ServeRequestTime | Target::DecodeSpeed => 0.09,
        Target::ServeThroughput => 0.12,
        Target::ServeTtft => 0.3,
    }
}

/// The row that is a target's band: name, and class where one name holds several.
pub(super) fn band(target: Target) -> Option<(&'static str, Option<&'static str>)> {
    match target {
        Target::ServeTpot | Target::DecodeSpeed => Some(("serve.half_width", Some("tpot"))),
        Target::ServeTtft => Some(("serve.half_width", Some("ttft"))),
        Target::ServeRequestTime | Target::ServeThroughput => Some(("serve.half_width", Some("end_to_end"))),
        Target::TrainSpeed => Some(("train.time_band", None)),
        Target::TrainMemory => Some(("train.memory_band", None)),
        Target::VisionThroughput | Target::VisionLatency | Target::DiffusionLatency => Some(("media.half_width", None)),
        Target::ServeWeights | Target::ServeKv | Target::ServeTotal => None,
    }
}

/// Classes of a band row that widen for another reason than the scatter of measurements.
pub(super) const WIDENS: [&str; 6] = ["no_rows", "no_engine_rows", "no_format_rows", "inferred", "rough", "tail"];
