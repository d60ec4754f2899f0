use proptest::prelude::*;
use rstest::rstest;

use super::*;

#[rstest]
#[case::nothing("")]
#[case::a_word("latest")]
#[case::only_a_v("v")]
#[case::one_number("1")]
#[case::four_numbers("1.34.2.1")]
#[case::no_minor("1.")]
#[case::no_patch("1.34.")]
#[case::negative("1.-34")]
#[case::signed("1.+34")]
#[case::leading_zero("1.034")]
#[case::two_vs("vv1.34")]
#[case::huge_number("1.99999999999")]
#[case::huge_text(&format!("1.34.2-{}", "a".repeat(10_000)))]
#[case::empty_suffix("1.34.2-")]
#[case::empty_build("1.34.2+")]
#[case::empty_identifier("1.34.2-rc..1")]
#[case::blank_inside("1.34 .2")]
#[case::markup("1.34.2-<b>")]
#[case::quoted("\"1.34\"")]
fn what_is_no_version_is_not_reported(#[case] running: &str) {
    assert_eq!(KubernetesVersion::parse(running), None);
    assert_eq!(reported("v1.34.2", running), None);
    assert!(!is_rolling_out("v1.34.2", running));
}

#[rstest]
#[case::eks_tells_no_patch("v1.34.2", "1.34", "v1.34.2")]
#[case::neither_has_a_patch("1.34", "1.34", "v1.34.0")]
#[case::another_minor("v1.35.1", "1.34", "v1.34.0")]
#[case::a_patch_of_its_own("v1.34.2", "v1.34.1", "v1.34.1")]
#[case::a_patch_where_the_spec_has_none("1.34", "1.34.5", "v1.34.5")]
#[case::equal("v1.34.2", "v1.34.2", "v1.34.2")]
#[case::what_eks_adds("v1.34.2", "v1.34.2-eks-3abbec1", "v1.34.2")]
#[case::what_eks_adds_to_another_patch("v1.34.2", "v1.34.3-eks-abc", "v1.34.3-eks-abc")]
#[case::build_that_was_not_asked_for("v1.34.2", "v1.34.2+k3s1", "v1.34.2")]
#[case::build_that_is_not_told("v1.34.2+k3s1", "1.34", "v1.34.2+k3s1")]
#[case::another_build("v1.34.2+k3s2", "v1.34.2+k3s1", "v1.34.2+k3s1")]
#[case::before_the_release("v1.35.0", "v1.35.0-rc.1", "v1.35.0-rc.1")]
#[case::blanks_around("v1.34.2", " 1.34\n", "v1.34.2")]
#[case::spec_is_no_version("latest", "1.34", "v1.34.0")]
fn the_version_that_was_asked_for_is_reported_where_it_fits(
    #[case] spec: &str,
    #[case] running: &str,
    #[case] expected: &str,
) {
    assert_eq!(reported(spec, running).as_deref(), Some(expected));
}

#[rstest]
#[case::minor_to_come("v1.35.0", "1.34", true)]
#[case::patch_to_come("v1.34.2", "v1.34.1-eks-abc", true)]
#[case::build_to_come("v1.34.2+k3s2", "v1.34.2+k3s1", true)]
#[case::release_to_come("v1.35.0", "v1.35.0-rc.1", true)]
#[case::there_as_far_as_eks_tells("v1.34.2", "1.34", false)]
#[case::there("v1.34.2", "v1.34.2-eks-abc", false)]
#[case::newer_than_asked_for("v1.33.4", "1.34", false)]
#[case::spec_is_no_version("latest", "1.34", false)]
fn a_version_rolls_out_until_it_is_reached(
    #[case] spec: &str,
    #[case] running: &str,
    #[case] expected: bool,
) {
    assert_eq!(is_rolling_out(spec, running), expected);
}

#[test]
fn versions_are_sorted_from_old_to_new() {
    let sorted = [
        "v1.9.9",
        "v1.34.0",
        "v1.34.2-eks-abc",
        "v1.34.2",
        "v1.34.2+k3s1",
        "v1.34.2+k3s2",
        "v1.34.10",
        "v1.35.0-alpha.1",
        "v1.35.0-rc.2",
        "v1.35.0-rc.10",
        "v1.35.0",
    ];
    let mut versions: Vec<_> =
        sorted.iter().rev().filter_map(|text| KubernetesVersion::parse(text)).collect();
    versions.sort();
    assert_eq!(versions.iter().map(ToString::to_string).collect::<Vec<_>>(), sorted);
}

#[rstest]
#[case::patch("v1.34.2", "1.34.2", Some("1.34"))]
#[case::minor_only("1.34", "1.34", Some("1.34"))]
#[case::build("v1.34.2+k3s1", "1.34.2+k3s1", Some("1.34"))]
#[case::no_version("latest", "latest", None)]
fn modules_get_both_forms(#[case] spec: &str, #[case] whole: &str, #[case] expected_minor: Option<&str>) {
    assert_eq!(for_module(spec), whole);
    assert_eq!(minor(spec).as_deref(), expected_minor);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_reported_satisfies_cluster_api(
        spec in "v1\\.3[0-5]\\.[0-3]",
        running in "v?1\\.3[0-5](\\.[0-3])?(-eks-a|\\+k3s1)?",
    ) {
        let version = |text: &str| KubernetesVersion::parse(text).unwrap();
        let reported = version(&reported(&spec, &running).unwrap());
        prop_assert!(reported.patch.is_some());
        prop_assert_eq!(reported < version(&spec), is_rolling_out(&spec, &running));
    }

    #[test]
    fn any_text_is_read_or_refused(spec in any::<String>(), running in any::<String>()) {
        let _ = (reported(&spec, &running), is_rolling_out(&spec, &running), for_module(&spec), minor(&spec));
    }
}
