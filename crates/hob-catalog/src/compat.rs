//! Which software runs on which GPU, with the row that says so. Read only when asked for.

use std::sync::OnceLock;

use serde::Serialize;

use crate::embedded;
use crate::error::CatalogError;
use crate::gpu::{ComputeType, Gpu, GpuArchitecture, Vendor};
use crate::provenance::Provenance;
use crate::read::instances::provenance;
use crate::table::Table;

/// One row: `subject` `subject_version` `op` `object` `object_version`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompatFact {
    /// Kind of fact: `precision_floor`, `torch_arch_list`, `cuda_compute_capability`...
    pub kind: String,
    /// What the fact is about.
    pub subject: String,
    /// Its version or part.
    pub subject_version: String,
    /// `>=`, `<=`, `==`, `range`, `supports`, `needs`...
    pub op: String,
    /// What it relates to.
    pub object: String,
    /// Version, floor or list.
    pub object_version: String,
    /// Operating system or build.
    pub platform: String,
    /// Source, date, confidence and note.
    pub provenance: Provenance,
}

/// Something that needs a certain GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// fp16 on matrix units.
    Fp16,
    /// bf16 on matrix units.
    Bf16,
    /// TF32 on matrix units.
    Tf32,
    /// fp8 on matrix units.
    Fp8,
    /// fp4 on matrix units.
    Fp4,
    /// int8 on matrix units.
    Int8,
    /// FlashAttention 2 kernels.
    FlashAttention2,
    /// vLLM wheels built for CUDA 12.
    VllmCuda12,
    /// vLLM wheels built for CUDA 13.
    VllmCuda13,
    /// TensorRT-LLM.
    TensorRtLlm,
    /// The newest PyTorch wheels built for CUDA 12.
    TorchCuda12,
    /// The newest PyTorch wheels built for CUDA 13.
    TorchCuda13,
}

impl Feature {
    /// All features, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::Fp16,
        Self::Bf16,
        Self::Tf32,
        Self::Fp8,
        Self::Fp4,
        Self::Int8,
        Self::FlashAttention2,
        Self::VllmCuda12,
        Self::VllmCuda13,
        Self::TensorRtLlm,
        Self::TorchCuda12,
        Self::TorchCuda13,
    ];

    /// Plain name for tables; names of formats and products are the same in every language.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Tf32 => "tf32",
            Self::Fp8 => "fp8",
            Self::Fp4 => "fp4",
            Self::Int8 => "int8",
            Self::FlashAttention2 => "FlashAttention 2",
            Self::VllmCuda12 => "vLLM (CUDA 12)",
            Self::VllmCuda13 => "vLLM (CUDA 13)",
            Self::TensorRtLlm => "TensorRT-LLM",
            Self::TorchCuda12 => "PyTorch (CUDA 12)",
            Self::TorchCuda13 => "PyTorch (CUDA 13)",
        }
    }

    /// Its name as a word for filters: `flash-attention-2`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::FlashAttention2 => "flash-attention-2",
            Self::VllmCuda12 => "vllm-cuda-12",
            Self::VllmCuda13 => "vllm-cuda-13",
            Self::TensorRtLlm => "tensorrt-llm",
            Self::TorchCuda12 => "torch-cuda-12",
            Self::TorchCuda13 => "torch-cuda-13",
            format => format.name(),
        }
    }

    fn compute(self) -> Option<ComputeType> {
        Some(match self {
            Self::Fp16 => ComputeType::Fp16,
            Self::Bf16 => ComputeType::Bf16,
            Self::Tf32 => ComputeType::Tf32,
            Self::Fp8 => ComputeType::Fp8,
            Self::Fp4 => ComputeType::Fp4,
            Self::Int8 => ComputeType::Int8,
            _ => return None,
        })
    }
}

/// Whether something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// No row says.
    Unknown,
}

/// An answer with the row behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Support<'c> {
    /// The answer.
    pub answer: Answer,
    /// The row that decides; `None` when the GPU's own row does, or nothing.
    pub fact: Option<&'c CompatFact>,
}

/// All compatibility rows.
#[derive(Debug, Clone, Default)]
pub struct Compat {
    facts: Vec<CompatFact>,
    problem: Option<CatalogError>,
}

impl Compat {
    /// The rows that are compiled in, read on first use.
    #[must_use]
    pub fn embedded() -> &'static Self {
        static EMBEDDED: OnceLock<Compat> = OnceLock::new();
        EMBEDDED.get_or_init(|| {
            let (file, text) = embedded::COMPAT;
            match read(file, text) {
                Ok(facts) => Self { facts, problem: None },
                Err(problem) => Self { facts: Vec::new(), problem: Some(problem) },
            }
        })
    }

    /// Why the embedded file could not be read. Always `None`: a test says so.
    #[must_use]
    pub fn problem(&self) -> Option<&CatalogError> {
        self.problem.as_ref()
    }

    /// All rows.
    pub fn facts(&self) -> impl Iterator<Item = &CompatFact> {
        self.facts.iter()
    }

    /// Rows of one kind, in file order.
    pub fn of_kind<'c>(&'c self, kind: &'c str) -> impl Iterator<Item = &'c CompatFact> {
        self.facts.iter().filter(move |fact| fact.kind == kind)
    }

    /// Whether a GPU supports a feature. For NVIDIA the compute capability decides against the floor in the rows; for
    /// others, and for number formats only, whether the GPU's row states a rate.
    #[must_use]
    pub fn support(&self, gpu: &Gpu, feature: Feature) -> Support<'_> {
        let Some(capability) = gpu.compute_capability.filter(|_| gpu.vendor == Vendor::Nvidia) else {
            return Support { answer: self.by_rate(gpu, feature), fact: None };
        };
        let fact = self.fact_of(feature);
        let answer = match (feature, fact) {
            (_, None) => Answer::Unknown,
            (Feature::TensorRtLlm, Some(fact)) => named_architecture(&fact.object_version, gpu),
            (Feature::TorchCuda12 | Feature::TorchCuda13, Some(fact)) => in_arch_list(&fact.object_version, capability),
            (_, Some(fact)) => match version_of(&fact.object_version) {
                Some(floor) if capability >= floor => Answer::Yes,
                Some(_) => Answer::No,
                None => Answer::Unknown,
            },
        };
        Support { answer, fact }
    }

    fn by_rate(&self, gpu: &Gpu, feature: Feature) -> Answer {
        match feature.compute() {
            Some(compute) if gpu.peak(compute).is_some() => Answer::Yes,
            _ => Answer::Unknown,
        }
    }

    fn fact_of(&self, feature: Feature) -> Option<&CompatFact> {
        let floor = |subject: &str| {
            self.of_kind("precision_floor").find(|f| f.subject == subject && f.subject_version == "tensor core")
        };
        let vllm = |version: &str| self.of_kind("vllm_arch").find(|fact| fact.subject_version == version);
        let torch =
            |cuda: &str| self.of_kind("torch_arch_list").filter(|fact| fact.subject_version.contains(cuda)).last();
        match feature {
            Feature::Fp16 => floor("fp16"),
            Feature::Bf16 => floor("bf16"),
            Feature::Tf32 => floor("tf32"),
            Feature::Fp8 => floor("fp8"),
            Feature::Fp4 => floor("fp4"),
            Feature::Int8 => floor("int8"),
            Feature::FlashAttention2 => {
                self.of_kind("engine_feature_floor").find(|fact| fact.subject == "flash_attention_2")
            }
            Feature::VllmCuda12 => vllm("V1 engine"),
            Feature::VllmCuda13 => vllm("wheels built for CUDA 13"),
            Feature::TensorRtLlm => self.of_kind("tensorrt_llm_arch").next(),
            Feature::TorchCuda12 => torch("CUDA 12"),
            Feature::TorchCuda13 => torch("CUDA 13"),
        }
    }

    /// First and last CUDA toolkit whose compiler targets a compute capability, with their rows.
    #[must_use]
    pub fn cuda_range(&self, capability: (u8, u8)) -> Option<(&CompatFact, &CompatFact)> {
        let holds = |fact: &&CompatFact| {
            let ends = fact.object_version.split_once("..");
            let ends = ends.and_then(|(low, high)| Some((version_of(low)?, version_of(high)?)));
            ends.is_some_and(|(low, high)| low <= capability && capability <= high)
        };
        let mut fitting: Vec<&CompatFact> = self.of_kind("cuda_compute_capability").filter(holds).collect();
        fitting.sort_by_key(|fact| version_of(&fact.subject_version));
        Some((*fitting.first()?, *fitting.last()?))
    }

    /// The driver that a CUDA toolkit series (`12.8`) needs for full use: the row of its newest release.
    #[must_use]
    pub fn driver_for_cuda(&self, series: &str) -> Option<&CompatFact> {
        let of_series = |fact: &&CompatFact| {
            let rest = fact.subject_version.strip_prefix(series);
            fact.platform.starts_with("linux") && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.of_kind("cuda_toolkit_driver").filter(of_series).max_by_key(|fact| numbers(&fact.object_version))
    }

    /// The last driver branch that supports a generation, when support has ended.
    #[must_use]
    pub fn last_driver(&self, architecture: GpuArchitecture) -> Option<&CompatFact> {
        let name = format!("{architecture:?}");
        self.of_kind("rule").find(|fact| fact.subject == "last_driver_branch" && fact.subject_version.contains(&name))
    }
}

fn read(file: &str, text: &str) -> Result<Vec<CompatFact>, CatalogError> {
    let table = Table::open(file, text)?;
    table.require(&["kind", "subject", "op", "source"])?;
    let mut facts = Vec::new();
    table.each_row(|row| {
        let text = |column| row.text(column).unwrap_or_default().to_owned();
        facts.push(CompatFact {
            kind: row.required("kind", "precision_floor")?.to_owned(),
            subject: row.required("subject", "bf16")?.to_owned(),
            subject_version: text("subject_version"),
            op: text("op"),
            object: text("object"),
            object_version: text("object_version"),
            platform: text("platform"),
            provenance: provenance(row)?,
        });
        Ok(())
    })?;
    Ok(facts)
}

/// `8.9` -> (8, 9); what follows is ignored.
fn version_of(text: &str) -> Option<(u8, u8)> {
    let (major, rest) = text.trim().split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `580.65.06` -> [580, 65, 6], for comparing driver versions.
fn numbers(text: &str) -> Vec<u32> {
    text.split('.').map_while(|part| part.parse().ok()).collect()
}

/// Code for one minor version runs on later minors of the same major; `+PTX` on everything later.
fn in_arch_list(list: &str, capability: (u8, u8)) -> Answer {
    let fits = |word: &str| {
        version_of(word).is_some_and(|built| {
            let same_major = built.0 == capability.0 && built.1 <= capability.1;
            same_major || (word.ends_with("+PTX") && built <= capability)
        })
    };
    if list.split_whitespace().any(fits) { Answer::Yes } else { Answer::No }
}

fn named_architecture(list: &str, gpu: &Gpu) -> Answer {
    let name = format!("{:?}", gpu.architecture);
    if list.split('|').any(|word| word.eq_ignore_ascii_case(&name)) { Answer::Yes } else { Answer::No }
}
