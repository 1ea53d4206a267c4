//! One operator, folded for one shape: what it costs for each sample and for each pass.

use hob_model::{Attention, Extent, NormKind, OpKind, Operator, Shape, Site, Span};

/// Operators that reach a like share of the peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Matrix products.
    Matrix,
    /// Convolutions over all channels.
    Convolution,
    /// Convolutions in channel groups: few multiply-adds for each byte.
    Grouped,
    /// Scores and weighted sums.
    Attention,
    /// Everything that only moves bytes.
    Elementwise,
    /// An autoencoder's decoder, of which only the sum is known.
    Autoencoder,
}

impl Class {
    pub(super) const ALL: [Self; 6] =
        [Self::Matrix, Self::Convolution, Self::Grouped, Self::Attention, Self::Elementwise, Self::Autoencoder];

    /// Spelling in the table of efficiencies.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Matrix => "matrix",
            Self::Convolution => "convolution",
            Self::Grouped => "grouped",
            Self::Attention => "attention",
            Self::Elementwise => "elementwise",
            Self::Autoencoder => "autoencoder",
        }
    }

    /// Stable id of what the time is for.
    pub(super) fn time(self) -> &'static str {
        match self {
            Self::Matrix => "matrix_products",
            Self::Convolution => "convolutions",
            Self::Grouped => "grouped_convolutions",
            Self::Attention => "attention",
            Self::Elementwise => "elementwise",
            Self::Autoencoder => "autoencoder",
        }
    }
}

/// Which number formats reach an operator's weights and products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quantised {
    /// None: 16 bits in a quantised model (embeddings, heads, attention, norms, companions).
    Never,
    /// 8-bit formats (convolutions).
    Eight,
    /// 8- and 4-bit formats (matrix products).
    EightAndFour,
}

/// What an engine can make part of the operator before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fusion {
    /// Not this.
    Never,
    /// Batch norms: their numbers are multiplied into the weights.
    Folded,
    /// Non-linearities, adds and other elementwise work.
    Pointwise,
}

/// One operator, or several equal ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Work {
    pub(super) class: Class,
    pub(super) quantised: Quantised,
    pub(super) fusion: Fusion,
    /// How often it runs in one pass.
    pub(super) repeat: f64,
    /// Kernels of one run.
    pub(super) kernels: f64,
    /// FLOPs of one sample.
    pub(super) flops: f64,
    /// Elements that one sample reads and writes.
    pub(super) elements: f64,
    /// Weights, read once in a pass.
    pub(super) weights: f64,
    /// Share of the weights that one position reads (experts), and positions of one sample; 1 for dense operators.
    pub(super) active: f64,
    pub(super) positions: f64,
    /// Elements of one sample that sequence parallelism exchanges between GPUs.
    pub(super) exchanged: f64,
}

impl Work {
    /// The operator over one sample of `shape`; `None` when it does nothing in a forward pass.
    pub(super) fn of(op: &Operator, repeat: f64, shape: &Shape) -> Option<Self> {
        let positions = op.extent.positions(shape);
        if positions <= 0.0 || repeat <= 0.0 {
            return None;
        }
        let width = |width: u64| positions * width as f64;
        let active = f64::from(op.active.max(1));
        let (class, quantised, elements) = match &op.kind {
            OpKind::Linear { inputs, outputs, .. } => {
                let edge = matches!(op.site, Site::Embedding | Site::PositionEmbedding | Site::Head);
                let quantised = if edge { Quantised::Never } else { Quantised::EightAndFour };
                (Class::Matrix, quantised, active * (width(*inputs) + width(*outputs)))
            }
            OpKind::Conv { inputs, outputs, groups, .. } => {
                let class = if *groups > 1 { Class::Grouped } else { Class::Convolution };
                (class, Quantised::Eight, width(*inputs) + width(*outputs))
            }
            OpKind::Attention(attention) => {
                (Class::Attention, Quantised::Never, attention_elements(attention, op.extent, positions, shape))
            }
            OpKind::LinearAttention { heads, key_dim, value_dim, .. } => {
                let row = key_dim.saturating_add(*value_dim).saturating_mul(2).saturating_mul(*heads);
                (Class::Attention, Quantised::Never, width(row))
            }
            // Read and write; a table adds the row that it looks up.
            OpKind::Norm { width: row, .. } | OpKind::Embedding { width: row, .. } => {
                (Class::Elementwise, Quantised::Never, 2.0 * width(*row))
            }
            OpKind::Activation { width: row, gated } => {
                (Class::Elementwise, Quantised::Never, if *gated { 3.0 } else { 2.0 } * width(*row))
            }
            // Two operands and a result.
            OpKind::Elementwise { width: row } => (Class::Elementwise, Quantised::Never, 3.0 * width(*row)),
            OpKind::MatMul { .. } => (Class::Matrix, Quantised::Never, 0.0),
            OpKind::Parameter { .. } | OpKind::Opaque => return None,
        };
        let fusion = match op.kind {
            OpKind::Norm { norm: NormKind::Batch, .. } => Fusion::Folded,
            OpKind::Activation { .. } | OpKind::Elementwise { .. } => Fusion::Pointwise,
            _ => Fusion::Never,
        };
        let table = matches!(op.kind, OpKind::Embedding { .. });
        Some(Self {
            class,
            quantised,
            fusion,
            repeat,
            kernels: 1.0,
            flops: op.flops(shape),
            elements,
            weights: if table { 0.0 } else { op.weights() as f64 },
            active: active / f64::from(op.copies.max(1)),
            positions,
            exchanged: exchanged(op, elements),
        })
    }

    /// Something of which only the sums are known: `flops` in `kernels` kernels that read `weights` once.
    pub(super) fn sum(class: Class, kernels: f64, flops: f64, weights: f64) -> Self {
        Self {
            class,
            quantised: Quantised::Never,
            fusion: Fusion::Never,
            repeat: 1.0,
            kernels,
            flops,
            elements: 0.0,
            weights,
            active: 1.0,
            positions: 1.0,
            exchanged: 0.0,
        }
    }

    /// Weights that `samples` read together: all dense ones, and the experts that some position chose,
    /// `E * (1 - (1 - k/E)^n)`.
    pub(super) fn touched(&self, samples: f64) -> f64 {
        if self.active >= 1.0 {
            return self.weights;
        }
        self.weights * (1.0 - (1.0 - self.active).powf((self.positions * samples).max(1.0)))
    }

    /// Whether the two differ in `repeat` only.
    pub(super) fn same(&self, other: &Self) -> bool {
        Self { repeat: other.repeat, ..*self } == *other
    }
}

/// Queries, results, and the keys and values of every position that is looked at.
fn attention_elements(attention: &Attention, extent: Extent, positions: f64, shape: &Shape) -> f64 {
    let row = (attention.qk_dim as f64) + (attention.v_dim as f64);
    let past = if matches!(extent, Extent::Tokens) { shape.past as f64 } else { 0.0 };
    let sources = match attention.span {
        Span::Cross { positions } => positions as f64,
        _ => positions + past,
    };
    row * (attention.heads as f64 * positions + attention.kv_heads as f64 * sources)
}

/// Attention over the picture is exchanged head by head: queries, keys, values and results once each.
fn exchanged(op: &Operator, elements: f64) -> f64 {
    match (&op.kind, op.extent) {
        (OpKind::Attention(attention), Extent::Grid { .. }) if attention.span == Span::Bidirectional => elements,
        _ => 0.0,
    }
}
