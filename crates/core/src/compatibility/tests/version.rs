use rstest::rstest;

use super::*;

#[rstest]
#[case::nothing("")]
#[case::a_word("banana")]
#[case::one_number("1")]
#[case::four_numbers("1.2.3.4")]
#[case::a_range("1.x")]
#[case::an_operator(">=1.34")]
#[case::a_placeholder("${KARPENTER_VERSION}")]
#[case::a_digest("sha256:0123456789abcdef")]
#[case::huge_number("1.99999999999999999999")]
#[case::huge_text(&format!("1.{}", "3".repeat(100_000)))]
#[case::control_characters("1.\u{1b}[31m")]
fn what_is_no_version_is_refused_in_a_short_sentence(#[case] text: &str) {
    let told = Version::parse(text).unwrap_err().to_string();

    assert!(told.contains("is no version: write it as for example 1.34"), "{told}");
    assert!(told.len() < 200 && !told.contains('\u{1b}'), "{told}");
}

#[rstest]
#[case("1.34", "1.34")]
#[case("v1.34.2", "1.34.2")]
#[case(" v1.34.0-eks-abc\n", "1.34.0")]
#[case("1.34.2+k3s1", "1.34.2")]
#[case("2.9.0-rc.1", "2.9.0")]
fn only_the_numbers_count(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(version(text).to_string(), expected);
}

#[test]
fn versions_are_ordered_by_their_numbers() {
    let ordered = ["1.0", "1.0.0", "1.0.4", "1.0.5", "1.1", "1.2", "1.9", "1.10", "2.0"].map(version);
    assert!(ordered.is_sorted());
    assert!(ordered.windows(2).all(|pair| pair[0] != pair[1]));
}

#[rstest]
#[case("4", Some("4.0"))]
#[case("v3", Some("3.0"))]
#[case("4.2.2", Some("4.2.2"))]
#[case("", None)]
#[case("99999", None)]
fn of_helm_the_major_version_is_enough(#[case] text: &str, #[case] expected: Option<&str>) {
    assert_eq!(Product::Helm.version(text).ok(), expected.map(version));
}

#[test]
fn of_all_others_it_is_not() {
    for product in [Product::Kubernetes, Product::Flux, Product::Karpenter] {
        assert!(product.version("2").is_err(), "{product}");
    }
}

#[test]
fn a_minor_version_of_the_table_has_no_patch() {
    for text in ["1.34.1", "v1.34", "1.34-rc"] {
        assert!(Minor::try_from(text.to_owned()).is_err(), "{text}");
    }
}
