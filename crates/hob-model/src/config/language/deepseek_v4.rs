//! DeepSeek V4: one head of keys that are values too, a window in every layer, and beside it earlier tokens compressed by
//! 4 (chosen by an indexer) or by 128 (all seen); several residual streams mixed by hyper-connections; experts in all layers.
//!
//! The compressors' open windows, at most 127 tokens of a layer, are no part of the cache that is counted here.

use crate::build::{block, linear, op, parameter};
use crate::config::fields::Fields;
use crate::config::language::attention::rms;
use crate::config::language::decoder::{Decoder, Defaults, size_or, width};
use crate::config::language::deepseek;
use crate::config::language::feed_forward::Experts;
use crate::config::language::latent::Indexer;
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Attention, Extent, KvCache, ModelGraph, NormKind, OpKind, Operator, Site, Span};

/// Compression of the layers with an indexer, whose windows overlap so that each token makes two entries, and of the others.
const CHOSEN: u64 = 4;
const HEAVY: u64 = 128;

/// Reads a `deepseek_v4` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let mut decoder = Decoder::read(fields, "deepseek_v4", Defaults::PLAIN)?;
    // Routed by a table of tokens in place of the router's choice; the router's matrix weighs the experts all the same.
    fields.written("num_hash_layers");
    let compressions = compressions(fields, &mut decoder)?;
    let attention = CompressedAttention::read(fields, &decoder)?;
    let experts = deepseek::experts(fields)?;
    let streams = Streams::read(fields, &decoder)?;
    let mut blocks = decoder.blocks(
        fields,
        |index| compressions.get(index as usize).copied().unwrap_or(0),
        |compression| {
            let name = match compression {
                0 => "sliding-window layer".to_owned(),
                factor => format!("layer compressed by {factor}"),
            };
            Ok((name, layer(&decoder, &streams, &attention, &experts, *compression)))
        },
    )?;
    blocks.push(block("streams", 1, streams.collapse()));
    Ok(decoder.graph(name, blocks))
}

fn layer(
    decoder: &Decoder,
    streams: &Streams,
    attention: &CompressedAttention,
    experts: &Experts,
    compression: u64,
) -> Vec<Operator> {
    let mut ops = streams.before("attn_hc");
    ops.push(decoder.norm("input_layernorm"));
    ops.extend(attention.ops(compression));
    ops.push(streams.after());
    ops.extend(streams.before("ffn_hc"));
    ops.push(decoder.norm("post_attention_layernorm"));
    ops.extend(experts.ops(decoder));
    ops.push(streams.after());
    ops
}

/// Compression of each layer; 0 is a window alone. `compress_ratios`, else `layer_types`, else the rule of
/// `DeepseekV4Config`. There is one compression with an indexer; any other is read as one without, and noted.
fn compressions(fields: &Fields<'_>, decoder: &mut Decoder) -> Result<Vec<u64>, ModelError> {
    let layers = decoder.layers as usize;
    let words = fields.texts("layer_types");
    let compressions: Vec<u64> = match (fields.sizes("compress_ratios"), words) {
        (Some(ratios), _) => ratios,
        (None, Some(words)) => words.into_iter().map(compression).collect(),
        (None, None) => (0..layers).map(|index| if index >= 2 && index % 2 == 1 { CHOSEN } else { HEAVY }).collect(),
    };
    if compressions.len() < layers {
        let why = format!("has {} entries; one for each of {layers} layers was expected", compressions.len());
        return Err(fields.bad("compress_ratios", why));
    }
    if let Some(other) = compressions.iter().find(|factor| ![0, CHOSEN, HEAVY].contains(factor)) {
        let consequence = format!("a compression by {other} is taken as one without an indexer");
        decoder.notes.push(fields.unknown("compress_ratios", consequence));
    }
    Ok(compressions)
}

fn compression(layer_type: &str) -> u64 {
    match layer_type {
        "compressed_sparse_attention" => CHOSEN,
        "heavily_compressed_attention" => HEAVY,
        _ => 0,
    }
}

/// The attention of all layers; what compresses differs.
struct CompressedAttention {
    dtype: Dtype,
    hidden: u64,
    heads: u64,
    head_dim: u64,
    query_rank: u64,
    output_groups: u64,
    output_rank: u64,
    window: u64,
    indexer: Indexer,
}

impl CompressedAttention {
    /// `DeepseekV4Config`'s values stand for absent keys.
    fn read(fields: &Fields<'_>, decoder: &Decoder) -> Result<Self, ModelError> {
        fields.written("num_key_value_heads");
        let heads = fields.size(&["num_attention_heads"])?;
        let head_dim = size_or(fields, &["head_dim"], Some(512))?;
        let output_groups = size_or(fields, &["o_groups"], Some(8))?;
        let values = width(fields, "head_dim", heads, head_dim)?;
        if !values.is_multiple_of(output_groups) {
            return Err(fields.bad("o_groups", format!("is {output_groups}; a divisor of {values} was expected")));
        }
        Ok(Self {
            dtype: decoder.dtype,
            hidden: decoder.hidden,
            heads,
            head_dim,
            query_rank: size_or(fields, &["q_lora_rank"], Some(1024))?,
            output_groups,
            output_rank: size_or(fields, &["o_lora_rank"], Some(1024))?,
            window: size_or(fields, &["sliding_window"], Some(128))?,
            indexer: Indexer { top_k: size_or(fields, &["index_topk"], Some(512))?, ..Indexer::read(fields)? },
        })
    }

    fn project(&self, name: &str, site: Site, inputs: u64, outputs: u64) -> Operator {
        linear(&format!("self_attn.{name}"), site, self.dtype, inputs, outputs, false)
    }

    fn ops(&self, compression: u64) -> Vec<Operator> {
        let queries = self.heads.saturating_mul(self.head_dim);
        let unweighted = OpKind::Norm { norm: NormKind::Rms, width: queries, parameters: 0 };
        let mut ops = vec![
            self.project("q_a_proj", Site::AttentionInput, self.hidden, self.query_rank),
            rms("self_attn.q_a_norm", self.dtype, self.query_rank),
            self.project("q_b_proj", Site::AttentionInput, self.query_rank, queries),
            op("self_attn.q_b_norm", Site::Norm, self.dtype, unweighted),
            self.project("kv_proj", Site::AttentionInput, self.hidden, self.head_dim),
            rms("self_attn.kv_norm", self.dtype, self.head_dim),
        ];
        if compression > 0 {
            ops.extend(self.compressor("compressor", Site::AttentionInput, self.head_dim, compression));
        }
        if compression == CHOSEN {
            ops.extend(self.indexer_ops(compression));
        }
        let span = match compression {
            0 => Span::Sliding { window: self.window },
            CHOSEN => Span::Sparse { window: self.window, compression, top_k: Some(self.indexer.top_k) },
            _ => Span::Sparse { window: self.window, compression, top_k: None },
        };
        let core = Attention {
            heads: self.heads,
            kv_heads: 1,
            qk_dim: self.head_dim,
            v_dim: self.head_dim,
            span,
            cache: KvCache::Latent { width: self.head_dim },
        };
        ops.push(op("attention", Site::AttentionCore, self.dtype, OpKind::Attention(core)));
        let sinks = parameter("self_attn.sinks", Site::Other, Dtype::F32, self.heads);
        ops.push(sinks.over(Extent::Sample { positions: 1 }));
        // Each group of heads has a matrix of its own into its share of the middle.
        let middle = self.output_groups.saturating_mul(self.output_rank);
        ops.push(self.project("o_a_proj", Site::AttentionOutput, queries / self.output_groups.max(1), middle));
        ops.push(self.project("o_b_proj", Site::AttentionOutput, middle, self.hidden));
        ops
    }

    /// What makes one entry of `width` out of `compression` tokens: values, gates, a bias for each place, and a norm.
    fn compressor(&self, name: &str, site: Site, width: u64, compression: u64) -> Vec<Operator> {
        let each = if compression == CHOSEN { width.saturating_mul(2) } else { width };
        let biases = compression.saturating_mul(each);
        let bias = format!("self_attn.{name}.position_bias");
        vec![
            self.project(&format!("{name}.kv_proj"), site, self.hidden, each),
            self.project(&format!("{name}.gate_proj"), site, self.hidden, each),
            parameter(&bias, Site::Other, Dtype::F32, biases).over(Extent::Sample { positions: 1 }),
            rms(&format!("self_attn.{name}.kv_norm"), self.dtype, width),
        ]
    }

    fn indexer_ops(&self, compression: u64) -> Vec<Operator> {
        let queries = self.indexer.heads.saturating_mul(self.indexer.head_dim);
        let mut ops = self.compressor("indexer", Site::Indexer, self.indexer.head_dim, compression);
        ops.extend([
            self.project("indexer.q_b_proj", Site::Indexer, self.query_rank, queries),
            self.project("indexer.weights_proj", Site::Indexer, self.hidden, self.indexer.heads),
            self.indexer.scores(self.dtype, compression),
        ]);
        ops
    }
}

/// Residual streams and the hyper-connections that mix them (in float32).
struct Streams {
    dtype: Dtype,
    count: u64,
    width: u64,
}

impl Streams {
    fn read(fields: &Fields<'_>, decoder: &Decoder) -> Result<Self, ModelError> {
        let count = size_or(fields, &["hc_mult"], Some(4))?;
        Ok(Self { dtype: decoder.dtype, count, width: width(fields, "hc_mult", count, decoder.hidden)? })
    }

    /// The weights that join the streams before a branch, spread its result, and mix the streams: a matrix, a bias for each
    /// of its outputs, and a scale for each of `scales` kinds.
    fn weights(&self, name: &str, outputs: u64, scales: u64) -> Vec<Operator> {
        let biases = parameter(&format!("{name}.base"), Site::Other, Dtype::F32, outputs.saturating_add(scales));
        vec![
            op(format!("{name}.norm"), Site::Norm, self.dtype, self.unweighted_norm()),
            linear(&format!("{name}.fn"), Site::Other, Dtype::F32, self.width, outputs, false),
            biases.over(Extent::Sample { positions: 1 }),
            op(format!("{name}.collapse"), Site::Other, self.dtype, OpKind::Elementwise { width: self.width }),
        ]
    }

    const fn unweighted_norm(&self) -> OpKind {
        OpKind::Norm { norm: NormKind::Rms, width: self.width, parameters: 0 }
    }

    fn before(&self, name: &str) -> Vec<Operator> {
        self.weights(name, self.count.saturating_mul(self.count.saturating_add(2)), 3)
    }

    fn after(&self) -> Operator {
        op("streams", Site::Other, self.dtype, OpKind::Elementwise { width: self.width })
    }

    fn collapse(&self) -> Vec<Operator> {
        self.weights("hc_head", self.count, 1)
    }
}
