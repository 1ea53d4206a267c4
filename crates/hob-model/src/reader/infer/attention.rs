//! The attention core between the projections, guessed from their widths.

use crate::build::{attention, op};
use crate::graph::{Attention, Extent, KvCache, OpKind, Operator, Site, Span, Unknown};
use crate::reader::infer::Hints;

/// Head width of nearly all decoders published since 2023.
const HEAD_DIM_USUAL: u64 = 128;
/// Head width of BERT, GPT-2, ViT and small models.
const HEAD_DIM_SMALL: u64 = 64;
/// Below this width models use the small head (Qwen 0.5B, GPT-2, BERT; larger decoders use 128).
const WIDTH_SMALL_MAX: u64 = 1024;

/// What had to be guessed.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    head_dim: Option<u64>,
    experts_active: Option<u32>,
    experts: u32,
}

impl Guesses {
    /// Experts that a token passes through: published models use 2 of 8, 4 to 8 of 16 to 384.
    pub(super) fn experts_active(&mut self, experts: u32) -> u32 {
        let active = if experts <= 16 { 2.min(experts) } else { 8 };
        self.experts_active = Some(active);
        self.experts = experts;
        active
    }

    /// The list for the user.
    pub(super) fn notes(&self) -> Vec<Unknown> {
        let mut notes = Vec::new();
        if let Some(head_dim) = self.head_dim {
            notes.push(Unknown {
                what: "number of attention heads".to_owned(),
                consequence: format!("heads of {head_dim} assumed"),
            });
        }
        if let Some(active) = self.experts_active {
            notes.push(Unknown {
                what: "experts that a token passes through".to_owned(),
                consequence: format!("{active} of {} assumed", self.experts),
            });
        }
        notes
    }
}

/// The core and the place where it belongs: before the output projection.
pub(super) fn core(
    ops: &[Operator],
    is_causal: bool,
    extent: Extent,
    hints: &Hints,
    guesses: &mut Guesses,
) -> Option<(usize, Operator)> {
    let at = ops.iter().position(|op| op.site == Site::AttentionOutput)?;
    let output = ops.get(at)?;
    let OpKind::Linear { inputs: query_width, outputs: hidden, .. } = output.kind else { return None };
    let width = |words: &[&str]| {
        ops.iter().filter(|op| op.site == Site::AttentionInput).find_map(|op| match op.kind {
            OpKind::Linear { outputs, .. } if words.iter().any(|word| op.name.contains(word)) => Some(outputs),
            _ => None,
        })
    };
    let span = if is_causal { Span::Causal } else { Span::Bidirectional };
    if let Some(latent) = width(&["kv_a_"]) {
        return Some((at, latent_core(query_width, latent, output, extent, hints, guesses)));
    }
    let key_width = width(&["k_proj", "attn_k", ".wk", "key", "to_k"]).or_else(|| {
        // Fused: queries, keys and values of equal head width follow each other.
        let fused = width(&["qkv", "query_key_value", "c_attn", "W_pack", "in_proj"])?;
        Some(fused.checked_sub(query_width)? / 2)
    })?;
    let from_norm = ops.iter().find_map(|op| match op.kind {
        OpKind::Norm { width, .. } if op.name.ends_with("q_norm") => Some(width).filter(|width| *width < query_width),
        _ => None,
    });
    let from_heads = hints.heads.filter(|heads| *heads > 0).map(|heads| query_width / heads);
    let head_dim = hints.head_dim.or(from_heads).or(from_norm).filter(|dim| *dim > 0).unwrap_or_else(|| {
        let usual = if hidden <= WIDTH_SMALL_MAX { HEAD_DIM_SMALL } else { HEAD_DIM_USUAL };
        let fits = |dim: &u64| query_width % dim == 0 && key_width % dim == 0;
        let dim = Some(usual).filter(fits).or(Some(HEAD_DIM_SMALL).filter(fits)).unwrap_or(key_width.max(1));
        guesses.head_dim = Some(dim);
        dim
    });
    let (heads, kv_heads) = ((query_width / head_dim).max(1), (key_width / head_dim).max(1));
    let cache = if is_causal { KvCache::KeyValue } else { KvCache::None };
    Some((at, attention(output.dtype, heads, kv_heads, head_dim, span, cache).over(extent)))
}

/// DeepSeek's latent attention: heads of 128 values and 128 + 64 keys read one latent.
fn latent_core(
    value_width: u64,
    latent: u64,
    output: &Operator,
    extent: Extent,
    hints: &Hints,
    guesses: &mut Guesses,
) -> Operator {
    let heads = hints.heads.filter(|heads| *heads > 0).unwrap_or_else(|| {
        guesses.head_dim = Some(HEAD_DIM_USUAL);
        (value_width / HEAD_DIM_USUAL).max(1)
    });
    let v_dim = (value_width / heads).max(1);
    let core = Attention {
        heads,
        kv_heads: 1,
        qk_dim: v_dim.saturating_add(64),
        v_dim,
        span: Span::Causal,
        cache: KvCache::Latent { width: latent },
    };
    op("attention", Site::AttentionCore, output.dtype, OpKind::Attention(core)).over(extent)
}
