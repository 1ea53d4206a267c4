//! What runs on which card, against the known answers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hob_catalog::{Answer, Catalog, Compat, Feature, GpuArchitecture};

#[test]
fn every_compat_row_parses() {
    assert_eq!(Compat::embedded().problem(), None);
    assert!(Compat::embedded().facts().count() > 890);
}

#[test]
fn each_card_supports_what_its_generation_does() {
    let check = |gpu: &str, feature: Feature, answer: Answer| {
        let gpu = Catalog::embedded().gpu(gpu).unwrap();
        let support = Compat::embedded().support(gpu, feature);
        assert_eq!(support.answer, answer, "{} {feature:?} {:?}", gpu.id, support.fact);
        assert!(support.fact.is_some() || gpu.compute_capability.is_none(), "{} {feature:?}: no source", gpu.id);
    };
    use Answer::{No, Unknown, Yes};
    use Feature::*;
    for (gpu, feature, answer) in [
        ("v100-sxm2-32", Bf16, No),
        ("v100-sxm2-32", Fp16, Yes),
        ("t4", Bf16, No),
        ("t4", FlashAttention2, No),
        ("t4-1of4", FlashAttention2, No),
        ("t4", VllmCuda13, Yes),
        ("v100-sxm2-32", VllmCuda12, Yes),
        ("v100-sxm2-32", VllmCuda13, No),
        ("p40", VllmCuda12, No),
        ("a10", Bf16, Yes),
        ("a10", Fp8, No),
        ("a10", FlashAttention2, Yes),
        ("l20", Fp8, Yes),
        ("l20", Fp4, No),
        ("l20", TorchCuda13, Yes),
        ("h20", Fp8, Yes),
        ("b200", Fp4, Yes),
        ("b300", TorchCuda13, Yes),
        ("b200", TorchCuda12, No),
        ("v100-sxm2-16", TorchCuda13, No),
        ("v100-sxm2-16", TorchCuda12, Yes),
        ("t4", TensorRtLlm, No),
        ("h100-sxm", TensorRtLlm, Yes),
        ("mi300x", Fp8, Yes),
        ("mi300x", FlashAttention2, Unknown),
    ] {
        check(gpu, feature, answer);
    }
}

#[test]
fn cuda_and_driver_of_a_card() {
    let compat = Compat::embedded();
    let (first, last) = compat.cuda_range((7, 0)).unwrap();
    assert_eq!((first.subject_version.as_str(), last.subject_version.as_str()), ("10.2", "12.9"));
    let (_, last) = compat.cuda_range((9, 0)).unwrap();
    assert_eq!(last.subject_version, "13.2");
    assert!(compat.cuda_range((99, 0)).is_none());
    let driver = compat.driver_for_cuda("12.8").unwrap();
    assert!(driver.object_version.starts_with("570."), "{driver:?}");
    assert_eq!(compat.last_driver(GpuArchitecture::Volta).unwrap().object_version, "580");
    assert!(compat.last_driver(GpuArchitecture::Hopper).is_none());
}
