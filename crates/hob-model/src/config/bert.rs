//! BERT and the encoders built like it (RoBERTa, XLM-RoBERTa, CamemBERT): text in, embeddings or labels out.

use crate::build::{block, embedding, linear, parameter, part};
use crate::config::fields::Fields;
use crate::config::media::{
    AttentionLayer, Biases, elementwise, encoder_layer, head_width, layer_norm, model, stored_dtype,
};
use crate::dtype::Dtype;
use crate::error::ModelError;
use crate::graph::{Extent, KvCache, ModelGraph, ModelKind, Operator, Part, PartRole, Shape, Site, Span};

/// Reads a `bert`, `roberta`, `xlm-roberta` or `camembert` config.
pub(super) fn graph(fields: &Fields<'_>, name: &str) -> Result<ModelGraph, ModelError> {
    let hidden = fields.size(&["hidden_size"])?;
    let heads = fields.size(&["num_attention_heads"])?;
    let inner = fields.size(&["intermediate_size"])?;
    let layers = fields.count(&["num_hidden_layers"])?;
    let vocabulary = fields.size(&["vocab_size"])?;
    let positions = fields.size(&["max_position_embeddings"])?;
    let types = fields.size_opt("type_vocab_size")?.unwrap_or(2);
    let dtype = stored_dtype(fields, Dtype::F32);
    let layer = AttentionLayer {
        dtype,
        hidden,
        heads,
        head_width: head_width(fields, "num_attention_heads", hidden, heads)?,
        source: None,
        biases: Biases::ALL,
        extent: Extent::Tokens,
        span: Span::Bidirectional,
        cache: KvCache::None,
    };
    let embeddings = vec![
        embedding("word_embeddings", Site::Embedding, dtype, vocabulary, hidden),
        embedding("position_embeddings", Site::PositionEmbedding, dtype, positions, hidden),
        embedding("token_type_embeddings", Site::PositionEmbedding, dtype, types, hidden),
        elementwise("sum", dtype, hidden, Extent::Tokens),
        layer_norm("embeddings.norm", dtype, hidden, Extent::Tokens),
    ];
    let mut parts = vec![
        part("embeddings", PartRole::Embedding, vec![block("embeddings", 1, embeddings)]),
        part("encoder", PartRole::Encoder, vec![block("layer", layers, encoder_layer(&layer, inner))]),
    ];
    parts.extend(head(fields, dtype, hidden, vocabulary)?);
    let family = fields.text("model_type").unwrap_or("bert");
    // RoBERTa's table holds two rows that no token uses (positions start after the padding index).
    let context = if family == "bert" { positions } else { positions.saturating_sub(2) };
    let shape = Shape { tokens: context, outputs: 0, ..Shape::default() };
    let mut graph = model(name, family, ModelKind::TextEncoder, hidden, shape, parts);
    graph.vocabulary = Some(vocabulary);
    graph.context_max = Some(context);
    Ok(graph)
}

/// The layers after the encoder, by the task that the architecture's name states.
fn head(fields: &Fields<'_>, dtype: Dtype, hidden: u64, vocabulary: u64) -> Result<Option<Part>, ModelError> {
    let architecture = fields.texts("architectures").and_then(|names| names.first().copied()).unwrap_or("BertModel");
    let labels = labels(fields, 2)?;
    let pooled = Extent::Sample { positions: 1 };
    let pooler = || linear("pooler", Site::Head, dtype, hidden, hidden, true).over(pooled);
    let masked = || -> Vec<Operator> {
        vec![
            linear("predictions.transform", Site::Head, dtype, hidden, hidden, true).over(Extent::OutputTokens),
            layer_norm("predictions.norm", dtype, hidden, Extent::OutputTokens),
            linear("predictions.decoder", Site::Head, dtype, hidden, vocabulary, false)
                .tied(true)
                .over(Extent::OutputTokens),
            parameter("predictions.bias", Site::Head, dtype, vocabulary).over(Extent::OutputTokens),
        ]
    };
    let task = architecture.split_once("For").map_or("", |(_, task)| task);
    let ops = match task {
        "MaskedLM" => masked(),
        "PreTraining" => {
            let mut ops = vec![pooler(), linear("seq_relationship", Site::Head, dtype, hidden, 2, true).over(pooled)];
            ops.extend(masked());
            ops
        }
        "TokenClassification" => vec![linear("classifier", Site::Head, dtype, hidden, labels, true)],
        "QuestionAnswering" => vec![linear("qa_outputs", Site::Head, dtype, hidden, 2, true)],
        "SequenceClassification" => {
            vec![pooler(), linear("classifier", Site::Head, dtype, hidden, labels, true).over(pooled)]
        }
        _ => vec![pooler()],
    };
    Ok(Some(part("head", PartRole::Head, vec![block("head", 1, ops)])))
}

/// Number of labels: stated, or counted from the label names.
pub(super) fn labels(fields: &Fields<'_>, default: u64) -> Result<u64, ModelError> {
    let named = fields.nested("id2label").map(|names| names.keys().count() as u64);
    Ok(fields.size_opt("num_labels")?.or(named).unwrap_or(default))
}
