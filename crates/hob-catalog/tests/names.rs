//! Names that people, drivers and other catalogs write find their GPU.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use hob_catalog::Catalog;

#[test]
fn written_names_find_their_gpu() {
    let check = |name: &str, id: &str| match Catalog::embedded().resolve_gpu(name) {
        Ok(gpu) => assert_eq!(gpu.id, id, "{name}"),
        Err(error) => panic!("{name}: {error}, {:?}", error.did_you_mean),
    };
    for (name, id) in [
        ("a10", "a10"),
        ("A100-80GB", "a100-sxm-80"),
        ("A100", "a100-sxm-40"),
        ("A100-80-?", "a100-sxm-80"),
        ("A100-40-?", "a100-sxm-40"),
        ("A100-?-SXM", "a100-sxm-40"),
        ("A100-?-PCIe", "a100-pcie-40"),
        ("A100-?-?", "a100-sxm-40"),
        ("A100-80-PCIe", "a100-pcie-80"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm-80"),
        ("A100 80GB PCIe", "a100-pcie-80"),
        ("A100_PCIe_80GB", "a100-pcie-80"),
        ("A100-SXM (size not stated)", "a100-sxm-40"),
        ("A100-SXM-80GB-500W", "a100-sxm-80"),
        ("A100-40GB SXM (NVSwitch)", "a100-sxm-40"),
        ("A800-80", "a800-sxm-80"),
        ("A800-80GB SXM (believed)", "a800-sxm-80"),
        ("H100 SXM", "h100-sxm"),
        ("H100-80-SXM", "h100-sxm"),
        ("H100-80-?", "h100-sxm"),
        ("H100-80-PCIe", "h100-pcie"),
        ("H100-94-NVL", "h100-nvl"),
        ("H100-NVL", "h100-nvl"),
        ("H100-MEGA", "h100-sxm"),
        ("H100-96-SXM(500W)", "h100-sxm-96"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("H800-80", "h800-sxm"),
        ("H200-141-SXM", "h200-sxm"),
        ("H200", "h200-sxm"),
        ("H200-141-NVL", "h200-nvl"),
        ("H20-96GB", "h20"),
        ("H20-96", "h20"),
        ("H20-141", "h20-3e"),
        ("H20-3e (141GB)", "h20-3e"),
        ("B200-180", "b200"),
        ("B300", "b300"),
        ("GB200", "gb200"),
        ("GB300", "gb300"),
        ("GH200", "gh200-96"),
        ("V100-32GB SXM2 (NVLink)", "v100-sxm2-32"),
        ("V100-16", "v100-sxm2-16"),
        ("V100-32", "v100-sxm2-32"),
        ("V100-32S", "v100s-pcie"),
        ("Tesla V100S-PCIE-32GB", "v100s-pcie"),
        ("Tesla T4", "t4"),
        ("T4 (vDWS/vWS)", "t4"),
        ("T4G", "t4g"),
        ("GRID T4-16Q", "t4"),
        ("A10G", "a10g"),
        ("A10G-24", "a10g"),
        ("A10-24GB", "a10"),
        ("A2", "a2"),
        ("A16", "a16"),
        ("A30-PCIe-24GB", "a30"),
        ("A40", "a40"),
        ("L20-48GB", "l20"),
        ("L40S-48GB (runner not verified)", "l40s"),
        ("L40", "l40"),
        ("RTX 4090", "rtx4090"),
        ("RTX4090-24GB", "rtx4090"),
        ("NVIDIA GeForce RTX 4090 D", "rtx4090d"),
        ("RTX-4090-D", "rtx4090d"),
        ("4090 24GB", "rtx4090"),
        ("RTX-A6000", "rtxa6000"),
        ("A6000", "rtxa6000"),
        ("RTX A6000 48GB", "rtxa6000"),
        ("RTX-6000-ADA", "rtx6000ada"),
        ("RTX 6000 Ada Generation", "rtx6000ada"),
        ("RTX-5000-ADA", "rtx5000ada"),
        ("RTX 4000 Ada 20GB", "rtx4000ada"),
        ("RTX-3090", "rtx3090"),
        ("RTX-3080", "rtx3080"),
        ("RTX-3070", "rtx3070"),
        ("RTX-4080", "rtx4080"),
        ("RTX4080-16GB", "rtx4080"),
        ("4070 Ti 12GB", "rtx4070ti"),
        ("RTX-4070-TI", "rtx4070ti"),
        ("RTX-5090", "rtx5090"),
        ("RTX 2080 Ti", "rtx2080ti"),
        ("RTX-8000", "rtx8000"),
        ("RTX-PRO-6000", "rtxpro6000-server"),
        ("RTX PRO 6000 Blackwell Server Edition", "rtxpro6000-server"),
        ("RTX PRO 6000 Server", "rtxpro6000-server"),
        ("rtx-pro-4500", "rtxpro4500-server"),
        ("P40-24GB", "p40"),
        ("P100", "p100-pcie"),
        ("M60", "m60"),
        ("MI300X", "mi300x"),
        ("Radeon Pro V520", "v520"),
        ("Intel SG1 (H3C XG310, 4 chips a card)", "sg1"),
        ("t4-1of4", "t4-1of4"),
        ("a100-sxm-80-mig-3g.40gb", "a100-sxm-80-mig-3g.40gb"),
    ] {
        check(name, id);
    }
}

#[test]
fn a_name_with_a_qualifier_that_no_card_has_is_unknown() {
    for name in ["", "?", "A100-96GB", "H100 Ultra", "80GB-class", "T4 SXM 80GB", "B9000", &"A".repeat(10_000)] {
        let found = Catalog::embedded().resolve_gpu(name);
        assert!(found.is_err(), "{name}: {found:?}");
    }
}

#[test]
fn an_unknown_name_has_neighbours() {
    let error = Catalog::embedded().resolve_gpu("A1OO").unwrap_err();
    assert!(error.did_you_mean.iter().any(|name| name.starts_with("a10")), "{error:?}");
    let error = Catalog::embedded().resolve_instance("GN7.2XLARGE33").unwrap_err();
    assert_eq!(error.did_you_mean[0], "GN7.2XLARGE32");
    assert!(error.hint().unwrap().starts_with("did you mean `GN7.2XLARGE32`"));
    let error = Catalog::embedded().resolve_region("ap-guangzou").unwrap_err();
    assert_eq!(error.did_you_mean[0], "ap-guangzhou");
    assert!(Catalog::embedded().resolve_cloud("tencnt").unwrap_err().did_you_mean.contains(&"tencent".to_owned()));
}

#[test]
fn instances_are_found_with_and_without_their_cloud() {
    let catalog = Catalog::embedded();
    assert_eq!(catalog.resolve_instance("gn7.2xlarge32").unwrap().cloud, "tencent");
    assert_eq!(catalog.resolve_instance("tencent-intl/GN7.2XLARGE32").unwrap().cloud, "tencent-intl");
    assert_eq!(catalog.resolve_instance("p5.48xlarge").unwrap().gpu, "h100-sxm");
}
