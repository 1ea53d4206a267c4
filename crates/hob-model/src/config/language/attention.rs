//! Self-attention with its projections: multi-head, grouped-query and multi-query, fused or separate, with biases, query
//! and key norms, output gates and windows. Latent attention is in `latent`.

use crate::build::{attention, linear, norm, op};
use crate::config::fields::Fields;
use crate::config::language::decoder::{Decoder, size_or, width};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{KvCache, NormKind, OpKind, Operator, Site, Span};

/// How the input projections are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Projections {
    /// Query, key and value apart, under these names.
    Apart([&'static str; 3]),
    /// One matrix.
    Fused(&'static str),
    /// Query alone, and one matrix whose result is both key and value.
    KeyIsValue([&'static str; 2]),
    /// Query alone; keys and values are read from an earlier layer's cache.
    QueryOnly(&'static str),
}

/// The usual names.
pub(super) const APART: Projections = Projections::Apart(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]);

/// Norms on queries and keys before the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum QueryKeyNorm {
    None,
    /// One vector of a head's width, shared by the heads.
    Head,
    /// One vector over all heads together.
    All,
    /// Without learned numbers.
    Unweighted,
}

/// One self-attention.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SelfAttention {
    pub(super) dtype: Dtype,
    pub(super) hidden: u64,
    pub(super) heads: u64,
    pub(super) kv_heads: u64,
    pub(super) head_dim: u64,
    pub(super) input_bias: bool,
    pub(super) output_bias: bool,
    pub(super) projections: Projections,
    pub(super) output: &'static str,
    pub(super) query_key_norm: QueryKeyNorm,
    /// The query projection also makes a gate for the output, of the same width.
    pub(super) gate: bool,
    pub(super) span: Span,
    pub(super) cache: KvCache,
}

/// Head counts that a family's config class takes when the file leaves them out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HeadDefaults {
    pub(super) heads: Option<u64>,
    pub(super) kv_heads: Option<u64>,
    pub(super) head_dim: Option<u64>,
}

const HEADS: [&str; 3] = ["num_attention_heads", "n_head", "n_heads"];

/// Checks that `kv_heads` divides `heads`.
fn grouped(fields: &Fields<'_>, heads: u64, kv_heads: u64) -> Result<(), ModelError> {
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
        return Err(
            fields.bad("num_key_value_heads", format!("is {kv_heads}; a divisor of {heads} heads was expected"))
        );
    }
    Ok(())
}

impl SelfAttention {
    /// Reads head counts and widths; the rest is the plain causal attention without biases, which families change.
    ///
    /// `head_dim` comes from the file when it is there; else hidden width over heads, which must divide.
    pub(super) fn read(fields: &Fields<'_>, decoder: &Decoder, defaults: HeadDefaults) -> Result<Self, ModelError> {
        let heads = size_or(fields, &HEADS, defaults.heads)?;
        let kv_heads =
            fields.size_any(&["num_key_value_heads", "num_kv_heads"])?.or(defaults.kv_heads).unwrap_or(heads);
        grouped(fields, heads, kv_heads)?;
        let head_dim = match fields.size_any(&["head_dim", "kv_channels"])?.or(defaults.head_dim) {
            Some(0) => return Err(fields.bad("head_dim", "is 0; at least 1 was expected")),
            Some(head_dim) => head_dim,
            None if decoder.hidden.is_multiple_of(heads) => decoder.hidden / heads,
            None => {
                let why = format!("is {heads}; a divisor of the hidden size {} was expected", decoder.hidden);
                return Err(fields.bad("num_attention_heads", why));
            }
        };
        width(fields, "head_dim", heads, head_dim)?;
        Ok(Self {
            dtype: decoder.dtype,
            hidden: decoder.hidden,
            heads,
            kv_heads,
            head_dim,
            input_bias: false,
            output_bias: false,
            projections: APART,
            output: "self_attn.o_proj",
            query_key_norm: QueryKeyNorm::None,
            gate: false,
            span: Span::Causal,
            cache: KvCache::KeyValue,
        })
    }

    /// The same attention with biases on all four projections or none.
    pub(super) fn biased(mut self, bias: bool) -> Self {
        self.input_bias = bias;
        self.output_bias = bias;
        self
    }

    /// The same attention over another span.
    pub(super) fn over(mut self, span: Span) -> Self {
        self.span = span;
        self
    }

    /// The same attention with other head counts for this kind of layer.
    pub(super) fn reshaped(mut self, fields: &Fields<'_>, kv_heads: u64, head_dim: u64) -> Result<Self, ModelError> {
        grouped(fields, self.heads, kv_heads)?;
        width(fields, "head_dim", self.heads, head_dim)?;
        self.kv_heads = kv_heads;
        self.head_dim = head_dim;
        Ok(self)
    }

    /// Projections, norms, core and output.
    pub(super) fn ops(&self) -> Vec<Operator> {
        let query = self.heads.saturating_mul(self.head_dim);
        let key = self.kv_heads.saturating_mul(self.head_dim);
        let project = |name: &str, outputs: u64| {
            linear(name, Site::AttentionInput, self.dtype, self.hidden, outputs, self.input_bias)
        };
        let query_width = if self.gate { query.saturating_mul(2) } else { query };
        let mut ops = match self.projections {
            Projections::Apart([q, k, v]) => vec![project(q, query_width), project(k, key), project(v, key)],
            Projections::Fused(name) => vec![project(name, query_width.saturating_add(key.saturating_mul(2)))],
            Projections::KeyIsValue([q, k]) => vec![project(q, query_width), project(k, key)],
            Projections::QueryOnly(q) => vec![project(q, query_width)],
        };
        ops.extend(self.norms(query, key));
        ops.push(attention(self.dtype, self.heads, self.kv_heads, self.head_dim, self.span, self.cache));
        if self.gate {
            ops.push(op("self_attn.gate", Site::Other, self.dtype, OpKind::Elementwise { width: query }));
        }
        ops.push(linear(self.output, Site::AttentionOutput, self.dtype, query, self.hidden, self.output_bias));
        ops
    }

    fn norms(&self, query: u64, key: u64) -> Vec<Operator> {
        let has_key = !matches!(self.projections, Projections::QueryOnly(_));
        let learned = |name: &str, width: u64, parameters: u64| {
            op(name, Site::Norm, self.dtype, OpKind::Norm { norm: NormKind::Rms, width, parameters })
        };
        let pair = |query_parameters: u64, key_parameters: u64| {
            let mut norms = vec![learned("self_attn.q_norm", query, query_parameters)];
            if has_key {
                norms.push(learned("self_attn.k_norm", key, key_parameters));
            }
            norms
        };
        match self.query_key_norm {
            QueryKeyNorm::None => Vec::new(),
            QueryKeyNorm::Head => pair(self.head_dim, self.head_dim),
            QueryKeyNorm::All => pair(query, key),
            QueryKeyNorm::Unweighted => pair(0, 0),
        }
    }
}

/// A norm over part of a token's numbers (a latent), RMS.
pub(super) fn rms(name: &str, dtype: Dtype, width: u64) -> Operator {
    norm(name, dtype, NormKind::Rms, width, false)
}
