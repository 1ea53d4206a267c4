//! GPT-2, GPT-J, GPT-NeoX, OPT, BLOOM, Phi-2 and Falcon: layer norms, plain MLPs, biases in most places. They differ in
//! what stands for positions (a learned table, rotation, ALiBi; only the table has parameters) and in whether attention
//! and MLP read the same normed input.

use crate::build::{embedding, linear, op};
use crate::config::fields::Fields;
use crate::config::language::attention::{HeadDefaults, Projections, SelfAttention};
use crate::config::language::decoder::{Decoder, Defaults, NormStyle};
use crate::config::language::feed_forward::plain;
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Block, Extent, ModelGraph, OpKind, Operator, Part, PartRole, Site};

/// Rows that OPT's table of positions has before the first one (`OPTLearnedPositionalEmbedding`).
const OPT_POSITION_OFFSET: u64 = 2;

/// What stands around the layers: the checkpoint's names, and what the first and last parts hold beside the usual.
struct Frame {
    embedding: &'static str,
    after_embedding: Vec<Operator>,
    final_norm: &'static str,
    head: &'static str,
    head_bias: bool,
}

impl Frame {
    fn graph(self, decoder: Decoder, name: &str, blocks: Vec<Block>) -> ModelGraph {
        let parts = vec![
            decoder.embedding(self.embedding, self.after_embedding),
            decoder.body(blocks, self.final_norm),
            decoder.head(self.head, self.head_bias),
        ];
        decoder.finish(name, parts)
    }
}

/// Layers that are all alike.
fn alike(decoder: &Decoder, fields: &Fields<'_>, ops: &[Operator]) -> Result<Vec<Block>, ModelError> {
    decoder.blocks(fields, |_| (), |()| Ok(("layer".to_owned(), ops.to_vec())))
}

/// A learned table of positions, added to the embedding.
fn positions(decoder: &Decoder, name: &str, rows: u64) -> Vec<Operator> {
    vec![embedding(name, Site::PositionEmbedding, decoder.dtype, rows, decoder.hidden), decoder.residual()]
}

/// The MLP's width in the file, else four times the hidden width.
fn inner(fields: &Fields<'_>, decoder: &Decoder, key: &str) -> Result<u64, ModelError> {
    Ok(fields.size_opt(key)?.filter(|width| *width > 0).unwrap_or_else(|| decoder.hidden.saturating_mul(4)))
}

/// Reads a `gpt2` config. Published in float32; the file names no type.
pub(super) fn gpt2(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder =
        Decoder::read(fields, "gpt2", Defaults { dtype: Dtype::F32, ..Defaults::TIED })?.with_norm(NormStyle::LAYER);
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(true);
    attention.projections = Projections::Fused("attn.c_attn");
    attention.output = "attn.c_proj";
    let mlp = plain(&decoder, ["mlp.c_fc", "mlp.c_proj"], inner(fields, &decoder, "n_inner")?, true);
    let ops = decoder.layer_named(["ln_1", "ln_2"], attention.ops(), mlp);
    let blocks = alike(&decoder, fields, &ops)?;
    let frame = Frame {
        embedding: "wte",
        // `GPT2Config`: 1,024 positions.
        after_embedding: positions(&decoder, "wpe", decoder.context.unwrap_or(1024)),
        final_norm: "ln_f",
        head: "lm_head",
        head_bias: false,
    };
    Ok(frame.graph(decoder, name, blocks))
}

/// Reads a `gptj` config: one norm for attention and MLP together, biases in the MLP and the head alone. Published in
/// float32; the file names no type.
pub(super) fn gptj(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder =
        Decoder::read(fields, "gptj", Defaults { dtype: Dtype::F32, ..Defaults::PLAIN })?.with_norm(NormStyle::LAYER);
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?;
    attention.projections = Projections::Apart(["attn.q_proj", "attn.k_proj", "attn.v_proj"]);
    attention.output = "attn.out_proj";
    let mlp = plain(&decoder, ["mlp.fc_in", "mlp.fc_out"], inner(fields, &decoder, "n_inner")?, true);
    let ops = decoder.parallel_layer(&["ln_1"], attention.ops(), mlp);
    let blocks = alike(&decoder, fields, &ops)?;
    let frame =
        Frame { embedding: "wte", after_embedding: Vec::new(), final_norm: "ln_f", head: "lm_head", head_bias: true };
    Ok(frame.graph(decoder, name, blocks))
}

/// Reads a `gpt_neox` config: two norms, in parallel unless `use_parallel_residual` is false.
pub(super) fn gpt_neox(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let defaults = Defaults { dtype: Dtype::F16, ..Defaults::PLAIN };
    let decoder = Decoder::read(fields, "gpt_neox", defaults)?.with_norm(NormStyle::LAYER);
    let mut attention =
        SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(fields.flag("attention_bias", true));
    attention.projections = Projections::Fused("attention.query_key_value");
    attention.output = "attention.dense";
    let width = fields.size(&["intermediate_size"])?;
    let mlp = plain(&decoder, ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"], width, true);
    let norms = ["input_layernorm", "post_attention_layernorm"];
    let ops = if fields.flag("use_parallel_residual", true) {
        decoder.parallel_layer(&norms, attention.ops(), mlp)
    } else {
        decoder.layer_named(norms, attention.ops(), mlp)
    };
    let blocks = alike(&decoder, fields, &ops)?;
    let frame = Frame {
        embedding: "embed_in",
        after_embedding: Vec::new(),
        final_norm: "final_layer_norm",
        head: "embed_out",
        head_bias: false,
    };
    Ok(frame.graph(decoder, name, blocks))
}

/// Reads a `phi` config (Phi-1, Phi-1.5, Phi-2): one norm, biases everywhere, also in the head.
pub(super) fn phi(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let defaults = Defaults { dtype: Dtype::F16, ..Defaults::PLAIN };
    let mut decoder = Decoder::read(fields, "phi", defaults)?.with_norm(NormStyle::LAYER);
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(true);
    attention.output = "self_attn.dense";
    if fields.flag("qk_layernorm", false) {
        decoder.notes.push(fields.unknown("qk_layernorm", "norms on queries and keys are left out"));
    }
    let mlp = plain(&decoder, ["mlp.fc1", "mlp.fc2"], fields.size(&["intermediate_size"])?, true);
    let ops = decoder.parallel_layer(&["input_layernorm"], attention.ops(), mlp);
    let blocks = alike(&decoder, fields, &ops)?;
    let frame = Frame {
        embedding: "embed_tokens",
        after_embedding: Vec::new(),
        final_norm: "final_layernorm",
        head: "lm_head",
        head_bias: true,
    };
    Ok(frame.graph(decoder, name, blocks))
}

/// Reads a `bloom` config: ALiBi, so no table of positions; a norm after the embedding.
pub(super) fn bloom(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let decoder = Decoder::read(fields, "bloom", Defaults::TIED)?.with_norm(NormStyle::LAYER);
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(true);
    attention.projections = Projections::Fused("self_attention.query_key_value");
    attention.output = "self_attention.dense";
    let width = decoder.hidden.saturating_mul(4);
    let mlp = plain(&decoder, ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"], width, true);
    let ops = decoder.layer(attention.ops(), mlp);
    let blocks = alike(&decoder, fields, &ops)?;
    let frame = Frame {
        embedding: "word_embeddings",
        after_embedding: vec![decoder.norm("word_embeddings_layernorm")],
        final_norm: "ln_f",
        head: "lm_head",
        head_bias: false,
    };
    Ok(frame.graph(decoder, name, blocks))
}

/// Reads a `falcon` config. With `new_decoder_architecture` (40B, 180B) `num_kv_heads` counts and there are two norms; else
/// `multi_query` means one key/value head (7B), whatever `num_kv_heads` says.
pub(super) fn falcon(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let mut decoder = Decoder::read(fields, "falcon", Defaults::TIED)?.with_norm(NormStyle::LAYER);
    // `FalconConfig`: 2,048 positions.
    decoder.context = decoder.context.or(Some(2048));
    let is_new = fields.flag("new_decoder_architecture", false);
    let bias = fields.flag("bias", false);
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(bias);
    if !is_new {
        let kv_heads = if fields.flag("multi_query", true) { 1 } else { attention.heads };
        let head_dim = attention.head_dim;
        attention = attention.reshaped(fields, kv_heads, head_dim)?;
    }
    attention.projections = Projections::Fused("self_attention.query_key_value");
    attention.output = "self_attention.dense";
    let width = inner(fields, &decoder, "ffn_hidden_size")?;
    let mlp = plain(&decoder, ["mlp.dense_h_to_4h", "mlp.dense_4h_to_h"], width, bias);
    let default_norms = if is_new { 2 } else { 1 };
    let norms: &[&str] = match fields.size_opt("num_ln_in_parallel_attn")?.unwrap_or(default_norms) {
        2 => &["ln_attn", "ln_mlp"],
        _ => &["input_layernorm"],
    };
    // `FalconModel` takes the parallel layer for the new architecture in any case.
    let ops = if is_new || fields.flag("parallel_attn", true) {
        decoder.parallel_layer(norms, attention.ops(), mlp)
    } else {
        decoder.layer(attention.ops(), mlp)
    };
    let blocks = alike(&decoder, fields, &ops)?;
    let frame = Frame {
        embedding: "word_embeddings",
        after_embedding: Vec::new(),
        final_norm: "ln_f",
        head: "lm_head",
        head_bias: false,
    };
    Ok(frame.graph(decoder, name, blocks))
}

/// Reads an `opt` config. OPT-350M embeds in a narrower width than its layers have and projects in and out; it also norms
/// after each branch, which changes no count, and has no norm at the end.
pub(super) fn opt(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let defaults = Defaults { dtype: Dtype::F16, ..Defaults::TIED };
    let decoder = Decoder::read(fields, "opt", defaults)?.with_norm(NormStyle::LAYER);
    let bias = fields.flag("enable_bias", true);
    let mut attention = SelfAttention::read(fields, &decoder, HeadDefaults::default())?.biased(bias);
    attention.output = "self_attn.out_proj";
    let mlp = plain(&decoder, ["fc1", "fc2"], fields.size(&["ffn_dim"])?, bias);
    let ops = decoder.layer_named(["self_attn_layer_norm", "final_layer_norm"], attention.ops(), mlp);
    let blocks = alike(&decoder, fields, &ops)?;
    let embedded = fields.size_opt("word_embed_proj_dim")?.filter(|width| *width > 0).unwrap_or(decoder.hidden);
    // `OPTConfig`: 2,048 positions.
    let rows = decoder.context.unwrap_or(2048).saturating_add(OPT_POSITION_OFFSET);
    let has_final_norm = fields.flag("do_layer_norm_before", true) && !fields.flag("_remove_final_layer_norm", false);
    let parts = opt_parts(&decoder, blocks, embedded, rows, has_final_norm);
    Ok(decoder.finish(name, parts))
}

fn opt_parts(decoder: &Decoder, blocks: Vec<Block>, embedded: u64, rows: u64, has_final_norm: bool) -> Vec<Part> {
    let Decoder { dtype, hidden, vocabulary, .. } = *decoder;
    let is_narrow = embedded != hidden;
    let mut first = vec![embedding("embed_tokens", Site::Embedding, dtype, vocabulary, embedded)];
    if is_narrow {
        first.push(linear("project_in", Site::Other, dtype, embedded, hidden, false));
    }
    first.extend(positions(decoder, "embed_positions", rows));
    let mut last = Vec::new();
    if is_narrow {
        last.push(linear("project_out", Site::Other, dtype, hidden, embedded, false).over(Extent::OutputTokens));
    }
    let head = op("lm_head", Site::Head, dtype, OpKind::Linear { inputs: embedded, outputs: vocabulary, bias: false });
    last.push(head.over(Extent::OutputTokens).tied(decoder.tied));
    let mut layers = decoder.body(blocks, "final_layer_norm");
    if !has_final_norm {
        layers.blocks.pop();
    }
    vec![
        crate::build::part("embedding", PartRole::Embedding, vec![crate::build::block("embedding", 1, first)]),
        layers,
        crate::build::part("head", PartRole::Head, vec![crate::build::block("head", 1, last)]),
    ]
}
