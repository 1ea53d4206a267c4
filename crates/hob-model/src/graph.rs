//! The operator graph: one list of operators with shapes, grouped into repeated blocks and named parts.

use std::collections::BTreeMap;

use hob_units::Bytes;
use serde::Serialize;

use crate::dtype::Dtype;

/// What the model is for, which decides how its speed is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// Decoder that generates tokens (with or without a vision or audio tower).
    CausalLm,
    /// Encoder over text: embeddings, classification.
    TextEncoder,
    /// Image classifier, detector or backbone.
    Vision,
    /// Image and text towers (CLIP).
    ImageText,
    /// Audio encoder with a token decoder (Whisper).
    Speech,
    /// Image denoiser.
    DiffusionImage,
    /// Video denoiser.
    DiffusionVideo,
    /// Embedding tables and small MLPs that score one row of features (DLRM).
    Recommender,
    /// Nothing above is known to hold.
    Unknown,
}

/// Where the graph was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A Hugging Face `config.json`.
    HfConfig,
    /// safetensors headers, with or without a config beside them.
    Safetensors,
    /// GGUF header.
    Gguf,
    /// ONNX graph.
    Onnx,
    /// A config that ships with Hob.
    Preset,
    /// Only a parameter count was given.
    ParameterCount,
}

/// How well the graph is known; estimates widen with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Every operator is understood; parameters are exact.
    Exact,
    /// Some part was read from tensor shapes or from a family resemblance.
    Inferred,
    /// Little more than the parameter count is known.
    Rough,
}

/// Something in the files that was not understood. Listed for the user, never a crash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unknown {
    /// Where: a config key, tensor name or ONNX node.
    pub what: String,
    /// What was done about it.
    pub consequence: String,
}

/// Exact stored bytes and element counts by type, when weight headers were read. Extra modules for multi-token prediction
/// are left out, as from every count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StoredBytes {
    /// Type name as stored -> bytes.
    pub bytes: BTreeMap<Dtype, Bytes>,
    /// Type name as stored -> number of elements as stored (packed integers count as stored).
    pub elements: BTreeMap<Dtype, u64>,
    /// Number of tensors.
    pub tensors: u64,
}

/// How the checkpoint is quantised, as its config says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quantization {
    /// `fp8`, `gptq`, `awq`, `mxfp4`, `bitsandbytes`, `compressed-tensors`...
    pub method: String,
    /// Storage of the quantised weights.
    pub dtype: Dtype,
    /// Name patterns of the modules that stay at their 16-bit type.
    pub excluded: Vec<String>,
    /// Whether activations are quantised too (which costs kernels on the fly).
    pub quantised_activations: bool,
    /// Rows and columns of a matrix that share a scale, where squares do (block-wise 8-bit floats): what a GPU holds of a
    /// matrix must be whole ones.
    pub block: Option<u64>,
}

/// The whole model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelGraph {
    /// Name for people: the hub id, the file stem, or what the user wrote.
    pub name: String,
    /// Architecture family: the config's `model_type` or `_class_name`, the GGUF `general.architecture`, `onnx`.
    pub family: String,
    /// What it is for.
    pub kind: ModelKind,
    /// Where it was read from.
    pub origin: Origin,
    /// How well it is known.
    pub certainty: Certainty,
    /// Width of the residual stream of the main part, when there is one.
    pub hidden: Option<u64>,
    /// Tokens in the vocabulary.
    pub vocabulary: Option<u64>,
    /// Longest context that the config allows.
    pub context_max: Option<u64>,
    /// Checkpoint quantisation, when there is one.
    pub quantization: Option<Quantization>,
    /// Exact stored bytes, when weight headers were read.
    pub stored: Option<StoredBytes>,
    /// The operators.
    pub parts: Vec<Part>,
    /// What was not understood.
    pub unknowns: Vec<Unknown>,
    /// Input size that the model was made for, used when the user states none.
    pub native_shape: Shape,
}

/// What a part of the model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum PartRole {
    Embedding,
    Decoder,
    Encoder,
    Head,
    VisionTower,
    AudioEncoder,
    Projector,
    Denoiser,
    TextEncoder,
    Vae,
    /// Extra multi-token-prediction modules; not run in plain decoding, and in no count but their own.
    MultiTokenPrediction,
    Other,
}

/// A named part: `decoder`, `vision tower`, `head`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// Name for people.
    pub name: String,
    /// What it does.
    pub role: PartRole,
    /// Its blocks in order.
    pub blocks: Vec<Block>,
}

/// A group of operators that is repeated as it is (`repeat` identical layers).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    /// Name for people: `layer`, `full-attention layer`, `moe layer`.
    pub name: String,
    /// How often it occurs.
    pub repeat: u32,
    /// Operators in order.
    pub ops: Vec<Operator>,
}

/// One operator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Operator {
    /// Name, in the checkpoint's spelling where there is one (`self_attn.q_proj`).
    pub name: String,
    /// Kind and shape.
    pub kind: OpKind,
    /// Role in the layer: decides tensor-parallel split, LoRA targets, quantisation and the operator class.
    pub site: Site,
    /// To how many positions it is applied.
    pub extent: Extent,
    /// Storage type of its weights.
    pub dtype: Dtype,
    /// Independent copies of the weights (experts); 1 for dense operators.
    pub copies: u32,
    /// Copies that one position passes through (top-k); equals `copies` for dense operators.
    pub active: u32,
    /// The weights are another operator's (tied embeddings): computed, but not counted again.
    pub tied: bool,
}

/// Role of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum Site {
    Embedding,
    PositionEmbedding,
    Norm,
    /// Query, key, value projections (or their latent down/up projections in MLA).
    AttentionInput,
    AttentionCore,
    AttentionOutput,
    /// Gate and up projections.
    MlpInput,
    MlpActivation,
    MlpOutput,
    Router,
    /// Sparse-attention indexer.
    Indexer,
    Head,
    Convolution,
    /// Time-step and conditioning modulation of a denoiser.
    Modulation,
    Other,
}

/// Norm family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NormKind {
    /// Mean and variance.
    Layer,
    /// Root mean square.
    Rms,
    /// Over channel groups of an image.
    Group,
    /// Batch statistics, folded at inference.
    Batch,
}

/// Kind and shape of an operator. Sizes are elements; a FLOP count takes a multiply-add as two.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum OpKind {
    /// `outputs x inputs` matrix applied to each position.
    Linear {
        /// Input width.
        inputs: u64,
        /// Output width.
        outputs: u64,
        /// Whether a bias of `outputs` is added.
        bias: bool,
    },
    /// Table lookup; no FLOPs.
    Embedding {
        /// Rows.
        rows: u64,
        /// Width of a row.
        width: u64,
    },
    /// Normalisation over `width` elements with `parameters` learned numbers.
    Norm {
        /// Family.
        norm: NormKind,
        /// Elements normalised at each position.
        width: u64,
        /// Learned parameters (0, width, or 2 x width).
        parameters: u64,
    },
    /// Convolution at each output position.
    Conv {
        /// Input channels.
        inputs: u64,
        /// Output channels.
        outputs: u64,
        /// Product of the kernel's sizes (9 for 3x3, 3 for a 1-D kernel of 3).
        kernel_elements: u64,
        /// Channel groups.
        groups: u64,
        /// Whether a bias of `outputs` is added.
        bias: bool,
    },
    /// Scores and weighted sum; no parameters.
    Attention(Attention),
    /// Gated delta / SSM style attention with a state of constant size.
    LinearAttention {
        /// Value heads.
        heads: u64,
        /// Key width of a head.
        key_dim: u64,
        /// Value width of a head.
        value_dim: u64,
        /// State kept for each sequence (recurrent state and short convolution), in elements of 16 bits; one of 32 bits
        /// counts as two.
        state_elements: u64,
        /// Learned parameters beside its projections (decay, dt bias, short convolution).
        parameters: u64,
    },
    /// Elementwise non-linearity; `gated` multiplies two inputs of `width`.
    Activation {
        /// Output width.
        width: u64,
        /// Whether it multiplies a gate with an up projection.
        gated: bool,
    },
    /// Other elementwise or data-movement work over `width` elements (residual add, pooling, up-sampling, softmax).
    Elementwise {
        /// Elements at each position.
        width: u64,
    },
    /// A contraction without weights, as found in ONNX graphs.
    MatMul {
        /// Multiply-adds at each position.
        multiply_adds: u64,
    },
    /// Bare learned numbers (position tables, scales, class tokens).
    Parameter {
        /// How many.
        elements: u64,
    },
    /// Work that is not known: an operator of somebody's own, or a body that runs as often as the data say.
    Opaque,
}

/// Attention without its projections.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attention {
    /// Query heads.
    pub heads: u64,
    /// Key/value heads.
    pub kv_heads: u64,
    /// Width of a query/key head as multiplied in the scores (MLA decode uses the latent form, see `cache`).
    pub qk_dim: u64,
    /// Width of a value head.
    pub v_dim: u64,
    /// What a position may look at.
    pub span: Span,
    /// What is kept for later tokens.
    pub cache: KvCache,
}

/// What a position attends to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Span {
    /// All earlier positions.
    Causal,
    /// Every position of its own extent (encoders, denoisers).
    Bidirectional,
    /// The last `window` positions.
    Sliding {
        /// Window in tokens.
        window: u64,
    },
    /// The current chunk of `chunk` positions.
    Chunked {
        /// Chunk in tokens.
        chunk: u64,
    },
    /// `positions` of another part (encoder output, text conditioning).
    Cross {
        /// Positions attended to, for each sample.
        positions: u64,
    },
    /// Some of all earlier positions (DeepSeek V3.2 and V4): the last `window`, and of the others, which are stored
    /// compressed, those that an indexer chooses.
    Sparse {
        /// Last positions that are always seen, uncompressed; 0 when there is no such window.
        window: u64,
        /// Earlier positions behind one stored entry (1 = not compressed).
        compression: u64,
        /// Entries that the indexer chooses; all of them when there is no indexer.
        top_k: Option<u64>,
    },
}

/// What attention stores for later tokens, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum KvCache {
    /// Keys and values of every token in the span: `kv_heads * (qk_dim + v_dim)` elements a token.
    KeyValue,
    /// One latent of `width` elements a token, not split by tensor parallelism (MLA; keys equal to values).
    Latent {
        /// Elements for each token.
        width: u64,
    },
    /// The cache of an earlier layer is read; nothing of its own is stored.
    Shared,
    /// Nothing is stored.
    None,
}

/// To how many positions of one sample an operator is applied.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Extent {
    /// Each text token of the sequence.
    Tokens,
    /// Only positions whose next token is asked for: all in training, the last in prefill, one in decode.
    OutputTokens,
    /// A fixed number of positions for each sample (whisper frames, pooled vector, patches of a fixed-size image).
    Sample {
        /// Positions.
        positions: u64,
    },
    /// Positions that grow with the picture: `height * width / pixels_per_position` for each of
    /// `ceil(frames / frames_per_position)` time steps, plus `fixed` (text tokens of joint attention, a class token).
    Grid {
        /// Pixels of one frame behind one position.
        pixels_per_position: f64,
        /// Frames behind one position in time (1 for images).
        frames_per_position: f64,
        /// Positions that do not depend on the picture.
        fixed: u64,
    },
}

/// The size of one sample as the user asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
pub struct Shape {
    /// Text tokens in the sequence (prompt, or training sequence).
    pub tokens: u64,
    /// Tokens already in the KV cache before them.
    pub past: u64,
    /// Positions whose logits are asked for.
    pub outputs: u64,
    /// Picture height in pixels (0 when there is none).
    pub height: u64,
    /// Picture width in pixels.
    pub width: u64,
    /// Video frames (1 for images, 0 when there is no picture).
    pub frames: u64,
}
