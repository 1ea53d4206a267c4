//! Models and machines of the tests.

use hob_catalog::{Availability, Catalog, Confidence, Gpu, InstanceType, Provenance};
use hob_model::{
    Attention, Block, Certainty, Dtype, Extent, KvCache, ModelGraph, ModelKind, NormKind, OpKind, Operator, Origin,
    Part, PartRole, Shape, Site, Span,
};
use hob_units::BytesPerSec;

use crate::hardware::Hardware;
use crate::strategy::{AttentionKernel, NumberFormat, OptimizerKind, Recompute, Sharding, TrainMethod, TrainStrategy};

/// Sizes of a decoder, from its published config.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub hidden: u64,
    pub layers: u32,
    pub heads: u64,
    pub kv_heads: u64,
    pub ffn: u64,
    pub vocabulary: u64,
    /// A gated MLP and RMS norms, or a plain MLP and layer norms.
    pub gated: bool,
    pub tied: bool,
    pub experts: (u32, u32),
}

pub(super) const LLAMA2_7B: Sizes = Sizes {
    hidden: 4096,
    layers: 32,
    heads: 32,
    kv_heads: 32,
    ffn: 11008,
    vocabulary: 32_000,
    gated: true,
    tied: false,
    experts: (1, 1),
};
pub(super) const MIXTRAL: Sizes = Sizes { kv_heads: 8, ffn: 14336, experts: (8, 2), ..LLAMA2_7B };

fn op(name: &str, site: Site, kind: OpKind) -> Operator {
    let name = name.to_owned();
    Operator { name, kind, site, extent: Extent::Tokens, dtype: Dtype::Bf16, copies: 1, active: 1, tied: false }
}

/// The graph of a decoder.
pub(super) fn decoder(sizes: Sizes) -> ModelGraph {
    let h = sizes.hidden;
    let head = h / sizes.heads;
    let linear = |site, inputs, outputs| op("linear", site, OpKind::Linear { inputs, outputs, bias: false });
    let family = if sizes.gated { NormKind::Rms } else { NormKind::Layer };
    let norm = || op("norm", Site::Norm, OpKind::Norm { norm: family, width: h, parameters: h });
    let attention = Attention {
        heads: sizes.heads,
        kv_heads: sizes.kv_heads,
        qk_dim: head,
        v_dim: head,
        span: Span::Causal,
        cache: KvCache::KeyValue,
    };
    let mut layer = vec![
        norm(),
        linear(Site::AttentionInput, h, h),
        linear(Site::AttentionInput, h, sizes.kv_heads * head),
        linear(Site::AttentionInput, h, sizes.kv_heads * head),
        op("core", Site::AttentionCore, OpKind::Attention(attention)),
        linear(Site::AttentionOutput, h, h),
        norm(),
    ];
    let mut mlp = vec![linear(Site::MlpInput, h, sizes.ffn)];
    if sizes.gated {
        mlp.push(linear(Site::MlpInput, h, sizes.ffn));
    }
    mlp.push(op("act", Site::MlpActivation, OpKind::Activation { width: sizes.ffn, gated: sizes.gated }));
    mlp.push(linear(Site::MlpOutput, sizes.ffn, h));
    layer.extend(mlp.into_iter().map(|mut op| {
        (op.copies, op.active) = sizes.experts;
        op
    }));
    let part = |name: &str, role, repeat, ops| Part {
        name: name.to_owned(),
        role,
        blocks: vec![Block { name: name.to_owned(), repeat, ops }],
    };
    let mut output = linear(Site::Head, h, sizes.vocabulary);
    output.extent = Extent::OutputTokens;
    output.tied = sizes.tied;
    let table = op("embed", Site::Embedding, OpKind::Embedding { rows: sizes.vocabulary, width: h });
    ModelGraph {
        name: "decoder".to_owned(),
        family: "llama".to_owned(),
        kind: ModelKind::CausalLm,
        origin: Origin::HfConfig,
        certainty: Certainty::Exact,
        hidden: Some(h),
        vocabulary: Some(sizes.vocabulary),
        context_max: None,
        quantization: None,
        stored: None,
        parts: vec![
            part("embedding", PartRole::Embedding, 1, vec![table]),
            part("decoder", PartRole::Decoder, sizes.layers, layer),
            part("final norm", PartRole::Decoder, 1, vec![norm()]),
            part("head", PartRole::Head, 1, vec![output]),
        ],
        unknowns: Vec::new(),
        native_shape: Shape::default(),
    }
}

/// A card of the catalog in equal machines with 1.6 Tbit/s of RDMA.
pub(super) struct World {
    pub gpu: Gpu,
    pub instance: InstanceType,
    pub nodes: u32,
}

impl World {
    pub(super) fn new(gpu: &str, gpus: u32, nodes: u32) -> Self {
        Self::try_new(gpu, gpus, nodes).unwrap_or_else(|| panic!("no {gpu} in the catalog"))
    }

    pub(super) fn try_new(gpu: &str, gpus: u32, nodes: u32) -> Option<Self> {
        let gpu = Catalog::embedded().gpu(gpu)?.clone();
        let provenance =
            Provenance { source: "test".to_owned(), date: "2026".to_owned(), confidence: Confidence::High, note: None };
        let instance = InstanceType {
            cloud: "own".to_owned(),
            name: "machine".to_owned(),
            family: "machine".to_owned(),
            availability: Availability::Owned,
            gpu: gpu.id.clone(),
            gpu_count: gpus,
            vcpus: None,
            memory: None,
            local_disk: None,
            network: Some(BytesPerSec(3e9)),
            rdma: Some(BytesPerSec(200e9)),
            gpu_link: None,
            regions: Vec::new(),
            provenance,
            gpu_share: None,
        };
        Some(Self { gpu, instance, nodes })
    }

    pub(super) fn hardware(&self) -> Hardware<'_> {
        Hardware { gpu: &self.gpu, instance: &self.instance, nodes: self.nodes }
    }
}

/// Data parallelism alone, one sample at a time, in bf16 with AdamW.
pub(super) fn plain(data: u32) -> TrainStrategy {
    TrainStrategy {
        data,
        tensor: 1,
        pipeline: 1,
        interleave: 1,
        context: 1,
        expert: 1,
        sequence_parallel: false,
        sharding: Sharding::None,
        micro_batch: 1,
        accumulation: 1,
        precision: NumberFormat::Bf16,
        optimizer: OptimizerKind::AdamW,
        recompute: Recompute::None,
        attention: AttentionKernel::Fused,
        method: TrainMethod::Full,
    }
}
