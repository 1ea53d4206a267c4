//! Whisper: an encoder over a fixed window of sound, and a token decoder that attends to it.

use crate::build::activation;
use crate::build::{block, embedding, linear, parameter, part};
use crate::config::fields::Fields;
use crate::config::media::{
    AttentionLayer, Biases, conv, elementwise, encoder_layer, head_width, layer_norm, mlp, model, stored_dtype,
};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, KvCache, ModelGraph, ModelKind, Operator, Part, PartRole, Shape, Site, Span};

/// Whisper leaves the bias of the key projection out.
const BIASES: Biases = Biases { query: true, key: false, value: true, output: true };

/// Reads a `whisper` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let hidden = fields.size(&["d_model"])?;
    let dtype = stored_dtype(fields, Dtype::F32);
    let frames = fields.size(&["max_source_positions"])?;
    let vocabulary = fields.size(&["vocab_size"])?;
    let context = fields.size(&["max_target_positions"])?;
    let parts = vec![
        encoder(fields, dtype, hidden, frames)?,
        decoder(fields, dtype, hidden, frames, vocabulary, context)?,
        part(
            "head",
            PartRole::Head,
            vec![block(
                "head",
                1,
                vec![
                    linear("proj_out", Site::Head, dtype, hidden, vocabulary, false)
                        .tied(true)
                        .over(Extent::OutputTokens),
                ],
            )],
        ),
    ];
    // One window: half of the decoder's positions are for the previous window's text.
    let text = context / 2;
    let shape = Shape { tokens: text, outputs: text, ..Shape::default() };
    let mut graph = model(name, "whisper", ModelKind::Speech, hidden, shape, parts);
    graph.vocabulary = Some(vocabulary);
    graph.context_max = Some(context);
    Ok(graph)
}

fn encoder(fields: &Fields<'_>, dtype: Dtype, hidden: u64, frames: u64) -> Result<Part, ModelError> {
    let heads = fields.size(&["encoder_attention_heads"])?;
    let mel = fields.size(&["num_mel_bins"])?;
    let window = Extent::Sample { positions: frames };
    // The second convolution halves the rate: the first runs over twice as many frames of the spectrogram.
    let spectrogram = Extent::Sample { positions: frames.saturating_mul(2) };
    let layer = AttentionLayer {
        dtype,
        hidden,
        heads,
        head_width: head_width(fields, "encoder_attention_heads", hidden, heads)?,
        source: None,
        biases: BIASES,
        extent: window,
        span: Span::Bidirectional,
        cache: KvCache::None,
    };
    let stem = vec![
        conv("conv1", dtype, mel, hidden, 3, true, spectrogram),
        activation(dtype, hidden, false).over(spectrogram),
        conv("conv2", dtype, hidden, hidden, 3, true, window),
        activation(dtype, hidden, false).over(window),
        parameter("embed_positions", Site::PositionEmbedding, dtype, frames.saturating_mul(hidden)).over(window),
        elementwise("sum", dtype, hidden, window),
    ];
    let blocks = vec![
        block("stem", 1, stem),
        block("layer", fields.count(&["encoder_layers"])?, encoder_layer(&layer, fields.size(&["encoder_ffn_dim"])?)),
        block("norm", 1, vec![layer_norm("layer_norm", dtype, hidden, window)]),
    ];
    Ok(part("audio encoder", PartRole::AudioEncoder, blocks))
}

fn decoder(
    fields: &Fields<'_>,
    dtype: Dtype,
    hidden: u64,
    frames: u64,
    vocabulary: u64,
    context: u64,
) -> Result<Part, ModelError> {
    let heads = fields.size(&["decoder_attention_heads"])?;
    let inner = fields.size(&["decoder_ffn_dim"])?;
    let own = AttentionLayer {
        dtype,
        hidden,
        heads,
        head_width: head_width(fields, "decoder_attention_heads", hidden, heads)?,
        source: None,
        biases: BIASES,
        extent: Extent::Tokens,
        span: Span::Causal,
        cache: KvCache::KeyValue,
    };
    // Keys and values of the encoder's output are computed once for each window and kept.
    let cross = AttentionLayer { source: Some((hidden, frames)), span: Span::Cross { positions: frames }, ..own };
    let tokens = Extent::Tokens;
    let mut ops: Vec<Operator> = vec![layer_norm("self_attn_layer_norm", dtype, hidden, tokens)];
    ops.extend(own.ops("self_attn"));
    ops.push(elementwise("residual", dtype, hidden, tokens));
    ops.push(layer_norm("encoder_attn_layer_norm", dtype, hidden, tokens));
    ops.extend(cross.ops("encoder_attn"));
    ops.push(elementwise("residual", dtype, hidden, tokens));
    ops.push(layer_norm("final_layer_norm", dtype, hidden, tokens));
    ops.extend(mlp("mlp", dtype, hidden, inner, tokens));
    ops.push(elementwise("residual", dtype, hidden, tokens));
    let embeddings = vec![
        embedding("embed_tokens", Site::Embedding, dtype, vocabulary, hidden),
        embedding("embed_positions", Site::PositionEmbedding, dtype, context, hidden),
        elementwise("sum", dtype, hidden, tokens),
    ];
    let blocks = vec![
        block("embeddings", 1, embeddings),
        block("layer", fields.count(&["decoder_layers"])?, ops),
        block("norm", 1, vec![layer_norm("layer_norm", dtype, hidden, tokens)]),
    ];
    Ok(part("decoder", PartRole::Decoder, blocks))
}
