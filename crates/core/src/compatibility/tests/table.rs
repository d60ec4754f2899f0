use rstest::rstest;

use super::*;

const TEXT: &str = include_str!("../table.yaml");

#[test]
fn the_table_is_well_formed() {
    let table = Table::parse(TEXT).unwrap();

    assert_eq!(table, *Table::embedded());
}

/// Changes the first place that says `old`.
fn changed(old: &str, new: &str) -> String {
    assert!(TEXT.contains(old), "{old}");
    TEXT.replacen(old, new, 1)
}

#[rstest]
#[case::no_yaml(":\n  - [".to_owned(), "reading the table of versions")]
#[case::unknown_field(changed("date:", "day: x\ndate:"), "reading the table of versions")]
#[case::no_date(changed("date: 2026-11-15", ""), "reading the table of versions")]
#[case::no_day(changed("date: 2026-11-15", "date: 2026-11-31"), "reading the table of versions")]
#[case::no_version(changed("minor: \"1.30\"", "minor: banana"), "reading the table of versions")]
#[case::minor_with_a_patch(changed("minor: \"1.30\"", "minor: \"1.30.0\""), "reading the table of versions")]
#[case::unknown_feature(changed("name: literal", "name: figurative"), "reading the table of versions")]
#[case::no_source(changed("sources: [eks]", "sources: []"), "Kubernetes 1.30 names no source")]
#[case::unknown_source(
    changed("sources: [eks]", "sources: [hearsay]"),
    "Kubernetes 1.30 names the source `hearsay`"
)]
#[case::idle_source(
    changed("sources:\n", "sources:\n  idle: { document: x, version: y }\n"),
    "the source `idle`"
)]
#[case::empty_source(changed("version: late 2025", "version: \"\""), "the source `eks`")]
#[case::a_gap(
    changed("minor: \"1.33\"", "minor: \"1.37\""),
    "Kubernetes 1.37 does not follow Kubernetes 1.32"
)]
#[case::a_gap_in_flux(changed("minor: \"2.5\"", "minor: \"2.3\""), "Flux 2.3 does not follow Flux 2.4")]
#[case::a_gap_in_karpenter(
    changed("from: \"1.3.0\"", "from: \"1.3.1\""),
    "Karpenter 1.3.1 does not follow Karpenter 1.2.0"
)]
#[case::twice(
    changed("from: \"1.0.5\"", "from: \"1.0.0\""),
    "Karpenter 1.0.0 does not follow Karpenter 1.0.0"
)]
#[case::no_order_in_a_range(
    changed("first: \"1.28\", last: \"1.30\"", "first: \"1.30\", last: \"1.28\""),
    "Flux 2.3 has the range 1.30 to 1.28"
)]
#[case::a_range_that_goes_back(
    changed("first: \"1.29\", last: \"1.31\"", "first: \"1.27\", last: \"1.31\""),
    "Flux 2.4 has the range"
)]
#[case::a_range_beyond_the_table(
    changed("first: \"1.34\", last: \"1.36\"", "first: \"1.34\", last: \"1.40\""),
    "Flux 2.9 has the range 1.34 to 1.40"
)]
#[case::nobody_supports_it(TEXT.replace("last: \"1.36\"", "last: \"1.35\""), "Kubernetes 1.36: no version of an add-on supports it")]
#[case::dates(
    changed("standardSupportEnds: 2025-07-23", "standardSupportEnds: 2026-07-23"),
    "Kubernetes 1.30: the dates of EKS have no order"
)]
#[case::check(changed("checkMinimum: \"1.28\"", "checkMinimum: \"1.29\""), "Flux 2.3: `flux check` refuses")]
#[case::seen(changed("seen: \"2.3.0\"", "seen: \"2.4.0\""), "Flux 2.3: `seen` is of another minor version")]
#[case::ended_by_itself(changed("endedBy: \"2.6\"", "endedBy: \"2.3\""), "Flux 2.3: `endedBy`")]
#[case::ended_by_nobody(changed("endedBy: \"2.6\"", "endedBy: \"2.12\""), "Flux 2.3: `endedBy`")]
#[case::served_nowhere(
    changed("ociRepository: [v1beta2]", "ociRepository: []"),
    "Flux 2.3: it serves a kind in no version"
)]
#[case::feature_twice(
    changed("name: literal", "name: watch-label"),
    "feature watch-label: it is not there exactly once"
)]
#[case::avoids_the_unknown(changed("version: \"1.8.4\"", "version: \"1.99.4\""), "avoid 1.99.4")]
#[case::avoids_without_a_reason(
    changed("reason: it has a regression in scheduling", "reason: \"\""),
    "avoid 1.8.4"
)]
fn a_table_that_cannot_be_relied_on_is_refused(#[case] text: String, #[case] expected: &str) {
    let told = Table::parse(&text).unwrap_err().to_string();

    assert!(told.contains(expected), "{told}");
}

#[test]
fn flux_looks_after_its_last_three_minor_versions() {
    let table = Table::embedded();
    let ended: Vec<_> = table.flux.iter().map(|row| row.ended_by).collect();

    let successors = table.flux.iter().skip(3).map(|row| Some(row.minor));
    let expected: Vec<_> = successors.chain([None; 3]).collect();
    assert_eq!(ended, expected);
}

#[rstest]
#[case("0.37.0", Err(Beyond::Older))]
#[case("1.0", Ok("1.0.0"))]
#[case("1.0.4", Ok("1.0.0"))]
#[case("1.0.5", Ok("1.0.5"))]
#[case("1.0.99", Ok("1.0.5"))]
#[case("1.1", Ok("1.1.0"))]
#[case("1.14.1", Ok("1.14.0"))]
#[case("1.15.0", Err(Beyond::Newer))]
#[case("2.0.0", Err(Beyond::Newer))]
fn a_version_of_karpenter_finds_its_row(#[case] text: &str, #[case] expected: Result<&str, Beyond>) {
    let found = Table::embedded().karpenter(version(text)).map(|row| row.from);

    assert_eq!(found, expected.map(version));
}

#[rstest]
#[case("2.2.3", FeatureName::WatchLabel, Some(false))]
#[case("2.6.4", FeatureName::WatchLabel, Some(false))]
#[case("2.7", FeatureName::WatchLabel, Some(true))]
#[case("2.7.5", FeatureName::RetryOnFailure, Some(true))]
#[case("2.8.8", FeatureName::Literal, Some(false))]
#[case("2.9.0", FeatureName::Literal, Some(true))]
#[case("2.10.0", FeatureName::Literal, None)]
fn what_flux_has_is_known_as_far_as_the_table_goes(
    #[case] flux: &str,
    #[case] feature: FeatureName,
    #[case] expected: Option<bool>,
) {
    assert_eq!(Table::embedded().has(version(flux), feature), expected);
}

#[test]
fn every_sheet_is_a_rectangle() {
    for sheet in sheets(Table::embedded()) {
        assert!(!sheet.rows.is_empty(), "{}", sheet.title);
        assert!(sheet.rows.iter().all(|row| row.len() == sheet.columns.len()), "{}", sheet.title);
        assert!(sheet.rows.iter().flatten().all(|text| !text.is_empty()), "{}", sheet.title);
    }
}
