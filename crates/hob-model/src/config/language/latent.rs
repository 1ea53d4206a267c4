//! Multi-head latent attention (DeepSeek V2, arXiv 2405.04434): keys and values of all heads come from one latent, which
//! is what the cache holds; with the indexer of DeepSeek V3.2 that chooses the positions to look at.

use crate::build::{linear, norm, op};
use crate::config::fields::Fields;
use crate::config::language::attention::rms;
use crate::config::language::decoder::{Decoder, size_or, width};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Attention, KvCache, NormKind, OpKind, Operator, Site, Span};

/// One latent attention.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LatentAttention {
    dtype: Dtype,
    hidden: u64,
    heads: u64,
    /// Rank of the query's factors; `None` when the query projection is one matrix.
    query_rank: Option<u64>,
    latent: u64,
    /// Width of a query or key head without and with rotated positions; the rotated key is shared by the heads.
    plain: u64,
    rotary: u64,
    value: u64,
    bias: bool,
    indexer: Option<Indexer>,
}

/// Scores every earlier position with a few small heads and keeps the best ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Indexer {
    pub(super) heads: u64,
    pub(super) head_dim: u64,
    pub(super) top_k: u64,
}

impl Indexer {
    /// Reads an indexer, with the sizes of DeepSeek V3.2 (`DeepseekV32Config`) for absent keys.
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, ModelError> {
        let heads = size_or(fields, &["index_n_heads"], Some(64))?;
        let head_dim = size_or(fields, &["index_head_dim"], Some(128))?;
        width(fields, "index_head_dim", heads, head_dim)?;
        Ok(Self { heads, head_dim, top_k: size_or(fields, &["index_topk"], Some(2048))? })
    }

    /// The scores: every head against one key for each position or compressed entry, which has a cache of its own.
    pub(super) fn scores(&self, dtype: Dtype, compression: u64) -> Operator {
        let attention = Attention {
            heads: self.heads,
            kv_heads: 1,
            qk_dim: self.head_dim,
            v_dim: 0,
            span: Span::Sparse { window: 0, compression, top_k: None },
            cache: KvCache::KeyValue,
        };
        op("self_attn.indexer", Site::Indexer, dtype, OpKind::Attention(attention))
    }
}

impl LatentAttention {
    /// Reads the sizes. `query_rank` is the family's for files that leave the key out; null means one matrix.
    pub(super) fn read(
        fields: &Fields<'_>,
        decoder: &Decoder,
        query_rank: Option<u64>,
        indexer: Option<Indexer>,
    ) -> Result<Self, ModelError> {
        let heads = fields.size(&["num_attention_heads"])?;
        // Every head has a key and a value of its own; files state the count all the same, and the width of the rotated part.
        fields.written("num_key_value_heads");
        fields.written("head_dim");
        let plain = size_or(fields, &["qk_nope_head_dim"], Some(128))?;
        let rotary = size_or(fields, &["qk_rope_head_dim"], Some(64))?;
        let value = size_or(fields, &["v_head_dim"], Some(128))?;
        width(fields, "qk_nope_head_dim", heads, plain.saturating_add(rotary))?;
        width(fields, "v_head_dim", heads, plain.saturating_add(value))?;
        let query_rank = if fields.written("q_lora_rank") { fields.size_opt("q_lora_rank")? } else { query_rank };
        Ok(Self {
            dtype: decoder.dtype,
            hidden: decoder.hidden,
            heads,
            query_rank: query_rank.filter(|rank| *rank > 0),
            latent: fields.size(&["kv_lora_rank"])?,
            plain,
            rotary,
            value,
            bias: fields.flag("attention_bias", false),
            indexer,
        })
    }

    /// Projections, core and output; a layer without an indexer of its own (`has_indexer`) looks where the layer before
    /// it did.
    pub(super) fn ops(&self, has_indexer: bool) -> Vec<Operator> {
        let key = self.plain.saturating_add(self.rotary);
        let project = |name: &str, inputs: u64, outputs: u64, bias: bool| {
            linear(name, Site::AttentionInput, self.dtype, inputs, outputs, bias)
        };
        let queries = self.heads.saturating_mul(key);
        let mut ops = match self.query_rank {
            Some(rank) => vec![
                project("self_attn.q_a_proj", self.hidden, rank, self.bias),
                rms("self_attn.q_a_layernorm", self.dtype, rank),
                project("self_attn.q_b_proj", rank, queries, false),
            ],
            None => vec![project("self_attn.q_proj", self.hidden, queries, false)],
        };
        let cached = self.latent.saturating_add(self.rotary);
        let heads = self.heads.saturating_mul(self.plain.saturating_add(self.value));
        ops.extend([
            project("self_attn.kv_a_proj_with_mqa", self.hidden, cached, self.bias),
            rms("self_attn.kv_a_layernorm", self.dtype, self.latent),
            project("self_attn.kv_b_proj", self.latent, heads, false),
        ]);
        if let Some(indexer) = self.indexer.filter(|_| has_indexer) {
            ops.extend(self.indexer_ops(&indexer));
        }
        let attention = Attention {
            heads: self.heads,
            kv_heads: self.heads,
            qk_dim: key,
            v_dim: self.value,
            span: match self.indexer {
                Some(indexer) => Span::Sparse { window: 0, compression: 1, top_k: Some(indexer.top_k) },
                None => Span::Causal,
            },
            cache: KvCache::Latent { width: cached },
        };
        ops.push(op("attention", Site::AttentionCore, self.dtype, OpKind::Attention(attention)));
        let values = self.heads.saturating_mul(self.value);
        ops.push(linear("self_attn.o_proj", Site::AttentionOutput, self.dtype, values, self.hidden, self.bias));
        ops
    }

    fn indexer_ops(&self, indexer: &Indexer) -> Vec<Operator> {
        let project =
            |name: &str, inputs: u64, outputs: u64| linear(name, Site::Indexer, self.dtype, inputs, outputs, false);
        let queries = indexer.heads.saturating_mul(indexer.head_dim);
        vec![
            project("self_attn.indexer.wq_b", self.query_rank.unwrap_or(self.hidden), queries),
            project("self_attn.indexer.wk", self.hidden, indexer.head_dim),
            norm("self_attn.indexer.k_norm", self.dtype, NormKind::Layer, indexer.head_dim, true),
            project("self_attn.indexer.weights_proj", self.hidden, indexer.heads),
            indexer.scores(self.dtype, 1),
        ]
    }
}
