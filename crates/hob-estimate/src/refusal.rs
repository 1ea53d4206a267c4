//! Why no estimate can be given. The words are in the message catalogue (`estimate.ftl`).

hob_units::sentences! {
    /// Why no estimate can be given.
    pub enum EstimateError {
        /// The catalog lacks a figure of the card or the machine.
        UnknownHardware { gpu: String, what: Fact } = "estimate-unknown-hardware",
        /// The card cannot do this number format.
        UnsupportedFormat { gpu: String, format: &'static str } = "estimate-unsupported-format",
        /// The card cannot read a KV cache of this number format.
        UnsupportedKv { gpu: String, format: &'static str } = "estimate-unsupported-kv",
        /// Nobody trains in this number format.
        UnsupportedTraining { format: &'static str } = "estimate-unsupported-training",
        /// The layout does not divide the model or the machines.
        BadLayout { why: LayoutFault } = "estimate-bad-layout",
        /// A table has no row for this, at any scope.
        MissingCoefficient { name: &'static str } = "estimate-missing-coefficient",
        /// Only a language model answers token by token.
        NotALanguageModel { model: String } = "estimate-not-a-language-model",
        /// Nobody has measured what this engine takes beside the model.
        UnmeasuredEngine { model: String } = "estimate-unmeasured-engine",
        /// Neither the model nor the caller says how large an item is.
        NoItemSize { model: String } = "estimate-no-item-size",
        /// The reader found nothing that computes.
        NoOperator { model: String } = "estimate-no-operator",
        /// A limit on the time of a token, for a model that answers whole requests.
        NotTokens { model: String } = "estimate-not-tokens",
        /// A codec, preset, renderer, format or card that no table has.
        UnknownWord { what: &'static str, name: String, known: String } = "estimate-unknown-word",
        /// The same, and one known word is near.
        MisspeltWord { what: &'static str, name: String, known: String, near: String } = "estimate-misspelt-word",
        /// A size or rate that no work has.
        OutOfRange { field: &'static str, value: String, low: String, high: String } = "estimate-out-of-range",
        /// The card has no engine for it.
        NoEngine { gpu: String, what: MediaTask } = "estimate-no-engine",
        /// Possible, but nobody has published how fast.
        NoRate { what: MediaTask, measurement: String } = "estimate-no-rate",
        /// The same, where no command measures it.
        NoRateByHand { what: MediaTask } = "estimate-no-rate-by-hand",
    }

    /// What the catalog does not know of a card or a machine.
    pub enum Fact {
        MemoryBandwidth {} = "estimate-fact-memory-bandwidth",
        HalfRate {} = "estimate-fact-half-rate",
        SingleRate {} = "estimate-fact-single-rate",
        Vcpus {} = "estimate-fact-vcpus",
        EncodeEngines {} = "estimate-fact-encode-engines",
        DecodeEngines {} = "estimate-fact-decode-engines",
    }

    /// Work on video or pictures.
    pub enum MediaTask {
        EncodeVideo {} = "estimate-task-encode-video",
        DecodeVideo {} = "estimate-task-decode-video",
        Encode { codec: String } = "estimate-task-encode",
        EncodeOnCard { codec: String, gpu: String, preset: String } = "estimate-task-encode-on-card",
        EncodeOnCore { codec: String } = "estimate-task-encode-on-core",
        DecodeOnCore { codec: String } = "estimate-task-decode-on-core",
        Render { renderer: &'static str, gpu: String } = "estimate-task-render",
        RenderAgainst { renderer: &'static str, gpu: String, measured: String } = "estimate-task-render-against",
    }

    /// What of a layout does not divide the model or the machines.
    pub enum LayoutFault {
        NoRank {} = "estimate-layout-no-rank",
        NoItem {} = "estimate-layout-no-item",
        LayersInTurn {} = "estimate-layout-layers-in-turn",
        ZeroSize { name: &'static str } = "estimate-layout-zero-size",
        TensorOverMachine { ranks: u32, gpus: u32 } = "estimate-layout-tensor-over-machine",
        SequenceOverMachine { ranks: u32, gpus: u32 } = "estimate-layout-sequence-over-machine",
        RanksOverGpus { tensor: u32, pipeline: u32, gpus: u32 } = "estimate-layout-ranks-over-gpus",
        RanksAgainstGpus { data: u32, tensor: u32, pipeline: u32, context: u32, ranks: u128, gpus: u32 }
            = "estimate-layout-ranks-against-gpus",
        StagesOverLayers { stages: u64, layers: String } = "estimate-layout-stages-over-layers",
        InterleaveAlone { interleave: u32 } = "estimate-layout-interleave-alone",
        HeadsByTensor { heads: u64, ranks: u64 } = "estimate-layout-heads-by-tensor",
        HeadsBySequence { heads: u64, ranks: u32 } = "estimate-layout-heads-by-sequence",
        KvHeadsByTensor { heads: u64, ranks: u64 } = "estimate-layout-kv-heads-by-tensor",
        NoHeads { model: String } = "estimate-layout-no-heads",
        NoExperts { model: String, ranks: u32 } = "estimate-layout-no-experts",
        ExpertsByRanks { experts: u32, ranks: u32 } = "estimate-layout-experts-by-ranks",
        ExpertRanksByGroup { expert: u32, ranks: u64 } = "estimate-layout-expert-ranks-by-group",
        EmptySample { model: String } = "estimate-layout-empty-sample",
        NotSplit { model: String } = "estimate-layout-not-split",
        TensorrtElsewhere { gpu: String } = "estimate-layout-tensorrt-elsewhere",
    }
}
