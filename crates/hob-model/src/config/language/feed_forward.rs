//! Feed-forward blocks: gated, plain, and mixtures of experts with shared experts.

use crate::build::{activation, linear};
use crate::config::fields::Fields;
use crate::config::language::decoder::Decoder;
use crate::error::ModelError;
use crate::graph::{Operator, Site};

/// A gated MLP: `down(act(gate(x)) * up(x))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gated {
    pub(super) width: u64,
    pub(super) bias: bool,
    /// Gate, up and down; an empty gate name means that gate and up are one matrix under the second name.
    pub(super) names: [&'static str; 3],
}

/// The usual names.
pub(super) const GATED: [&str; 3] = ["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"];
/// Gate and up in one matrix (Phi-3, GLM).
pub(super) const GATED_FUSED: [&str; 3] = ["", "mlp.gate_up_proj", "mlp.down_proj"];

impl Gated {
    /// Without biases, in the usual names.
    pub(super) const fn plain(width: u64) -> Self {
        Self { width, bias: false, names: GATED }
    }

    /// The operators.
    pub(super) fn ops(&self, decoder: &Decoder) -> Vec<Operator> {
        let [gate, up, down] = self.names;
        let dtype = decoder.dtype;
        let input = |name: &str, width| linear(name, Site::MlpInput, dtype, decoder.hidden, width, self.bias);
        let mut ops = if gate.is_empty() {
            vec![input(up, self.width.saturating_mul(2))]
        } else {
            vec![input(gate, self.width), input(up, self.width)]
        };
        ops.push(activation(dtype, self.width, true));
        ops.push(linear(down, Site::MlpOutput, dtype, self.width, decoder.hidden, self.bias));
        ops
    }
}

/// A plain MLP: `down(act(up(x)))`.
pub(super) fn plain(decoder: &Decoder, names: [&str; 2], width: u64, bias: bool) -> Vec<Operator> {
    let [up, down] = names;
    vec![
        linear(up, Site::MlpInput, decoder.dtype, decoder.hidden, width, bias),
        activation(decoder.dtype, width, false),
        linear(down, Site::MlpOutput, decoder.dtype, width, decoder.hidden, bias),
    ]
}

/// A mixture of gated experts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Experts {
    pub(super) count: u32,
    pub(super) active: u32,
    pub(super) width: u64,
    /// Width of the experts that every token passes through, 0 when there are none.
    pub(super) shared_width: u64,
    /// The shared experts' output is scaled by a learned gate (Qwen).
    pub(super) shared_gate: bool,
    /// Experts and router carry biases (gpt-oss).
    pub(super) bias: bool,
    pub(super) names: ExpertNames,
}

/// The checkpoint's names of a mixture's operators.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ExpertNames {
    pub(super) router: &'static str,
    pub(super) experts: [&'static str; 3],
    pub(super) shared: [&'static str; 3],
}

impl ExpertNames {
    /// Qwen, DeepSeek, GLM.
    pub(super) const USUAL: Self = Self {
        router: "mlp.gate",
        experts: ["mlp.experts.gate_proj", "mlp.experts.up_proj", "mlp.experts.down_proj"],
        shared: ["mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj", "mlp.shared_experts.down_proj"],
    };
    /// Mixtral and MiniMax.
    pub(super) const MIXTRAL: Self = Self {
        router: "block_sparse_moe.gate",
        experts: ["block_sparse_moe.experts.w1", "block_sparse_moe.experts.w3", "block_sparse_moe.experts.w2"],
        shared: Self::USUAL.shared,
    };
}

impl Experts {
    /// Reads counts and the width of one expert; no shared experts, no biases, the usual names.
    pub(super) fn read(
        fields: &Fields<'_>,
        count: &[&str],
        active: &[&str],
        width: &[&str],
    ) -> Result<Self, ModelError> {
        Self::new(fields, fields.count(count)?, active, fields.size(width)?)
    }

    /// As [`Experts::read`], with what is known already.
    pub(super) fn new(fields: &Fields<'_>, count: u32, active_keys: &[&str], width: u64) -> Result<Self, ModelError> {
        Self::known(fields, count, fields.count(active_keys)?, width)
    }

    /// As [`Experts::read`], with everything known already.
    pub(super) fn known(fields: &Fields<'_>, count: u32, active: u32, width: u64) -> Result<Self, ModelError> {
        if active == 0 || active > count {
            let why = format!("is {active}; 1 to {count} experts were expected");
            return Err(fields.bad("num_experts_per_tok", why));
        }
        let names = ExpertNames::USUAL;
        Ok(Self { count, active, width, shared_width: 0, shared_gate: false, bias: false, names })
    }

    /// Router, experts, shared experts. The router's correction bias of DeepSeek and MiniMax is a buffer in float32 that
    /// published counts include or not; it is left out here.
    pub(super) fn ops(&self, decoder: &Decoder) -> Vec<Operator> {
        let mut ops = vec![linear(
            self.names.router,
            Site::Router,
            decoder.dtype,
            decoder.hidden,
            u64::from(self.count),
            self.bias,
        )];
        let routed = Gated { width: self.width, bias: self.bias, names: self.names.experts };
        ops.extend(routed.ops(decoder).into_iter().map(|op| self.of_experts(op)));
        if self.shared_width > 0 {
            ops.extend(Gated { width: self.shared_width, bias: false, names: self.names.shared }.ops(decoder));
            if self.shared_gate {
                ops.push(linear("mlp.shared_expert_gate", Site::Router, decoder.dtype, decoder.hidden, 1, false));
            }
        }
        ops
    }

    /// Experts' matrices exist `count` times; an activation has no copies, but runs for each active expert.
    fn of_experts(&self, op: Operator) -> Operator {
        op.experts(self.count, self.active)
    }
}

/// The feed-forward parts of a decoder's layers: experts in those that hold them, a dense MLP in the others.
#[derive(Debug, Clone)]
pub(super) struct FeedForward {
    experts: Option<Experts>,
    dense: Option<Gated>,
    /// Whether each layer holds experts; beyond the end all do.
    holds: Vec<bool>,
}

impl FeedForward {
    /// The same dense MLP in every layer.
    pub(super) const fn dense(dense: Gated) -> Self {
        Self { experts: None, dense: Some(dense), holds: Vec::new() }
    }

    /// Experts in every layer.
    pub(super) const fn experts(experts: Experts) -> Self {
        Self { experts: Some(experts), dense: None, holds: Vec::new() }
    }

    /// Experts where `holds` says, and in the other layers a dense MLP of the width in the file. Files state that width
    /// also when no layer is dense.
    pub(super) fn mixed(fields: &Fields<'_>, experts: Experts, holds: Vec<bool>) -> Result<Self, ModelError> {
        fields.written("intermediate_size");
        let dense = match holds.contains(&false) {
            true => Some(Gated::plain(fields.size(&["intermediate_size"])?)),
            false => None,
        };
        Ok(Self { experts: Some(experts), dense, holds })
    }

    /// Whether layer `index` holds experts.
    pub(super) fn has_experts(&self, index: u32) -> bool {
        self.experts.is_some() && self.holds.get(index as usize).copied().unwrap_or(true)
    }

    /// The operators of a layer with or without experts.
    pub(super) fn ops(&self, has_experts: bool, decoder: &Decoder) -> Vec<Operator> {
        match (self.experts.filter(|_| has_experts), self.dense) {
            (Some(experts), _) => experts.ops(decoder),
            (None, Some(dense)) => dense.ops(decoder),
            (None, None) => Vec::new(),
        }
    }
}

/// Name of a layer with or without experts, for people.
pub(super) const fn layer_prefix(has_experts: bool) -> &'static str {
    if has_experts { "moe " } else { "dense " }
}
