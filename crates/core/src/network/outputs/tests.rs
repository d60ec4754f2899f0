use rstest::rstest;
use serde_json::json;

use super::*;

fn of(value: &Value) -> Outputs {
    read(&serde_json::from_value(value.clone()).unwrap())
}

/// Each zone in a line: `*` for control planes, then what is known of it.
fn zones(found: &Outputs) -> Vec<String> {
    let line = |zone: &FailureDomain| {
        let attributes: Vec<_> =
            zone.attributes.iter().map(|(key, value)| format!(" {key}={value}")).collect();
        format!("{}{}{}", zone.name, if zone.control_plane { "*" } else { "" }, attributes.concat())
    };
    found.failure_domains.iter().map(line).collect()
}

#[rstest]
#[case::nothing(json!({}), "no output `vpc_id` was found")]
#[case::null(json!({ "vpc_id": null }), "no output `vpc_id` was found")]
#[case::a_number(json!({ "vpc_id": 7 }), "output `vpc_id` is a number and not a text")]
#[case::a_list(json!({ "vpc_id": ["vpc-1"] }), "output `vpc_id` is a list and not a text")]
#[case::a_map(json!({ "vpc_id": { "value": "vpc-1" } }), "output `vpc_id` is a map and not a text")]
#[case::empty(json!({ "vpc_id": "" }), "output `vpc_id` is empty, too long or has spaces in it")]
#[case::a_sentence(json!({ "vpc_id": "not made yet" }), "output `vpc_id` is empty, too long or has spaces in it")]
#[case::a_control_character(json!({ "vpc_id": "vpc\u{0}1" }), "output `vpc_id` is empty, too long or has spaces in it")]
#[case::too_long(json!({ "vpc_id": "v".repeat(513) }), "output `vpc_id` is empty, too long or has spaces in it")]
fn an_identifier_that_cannot_be_used_is_passed_over_and_told(#[case] outputs: Value, #[case] problem: &str) {
    let found = of(&outputs);
    assert_eq!((found.vpc, found.problems), (None, vec![problem.to_owned()]));
}

#[rstest]
#[case::of_aws("vpc-0abc1234")]
#[case::of_azure("/subscriptions/1/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v")]
fn an_identifier_of_any_cloud_is_taken(#[case] vpc: &str) {
    let found = of(&json!({ "vpc_id": vpc }));
    assert_eq!(found, Outputs { vpc: Some(vpc.to_owned()), ..Outputs::default() });
}

#[rstest]
#[case::a_text(json!("a,b"), "output `failure_domains` is a text and not a list of zones")]
#[case::a_number(json!(3), "output `failure_domains` is a number and not a list of zones")]
#[case::a_flag(json!(true), "output `failure_domains` is true or false and not a list of zones")]
#[case::numbers(json!([1, 2]), "2 entries of output `failure_domains` are not zones")]
#[case::nested_lists(json!([["a"]]), "1 entries of output `failure_domains` are not zones")]
#[case::without_a_name(json!([{ "controlPlane": true }]), "1 entries of output `failure_domains` are not zones")]
#[case::name_is_no_text(json!([{ "name": 1 }]), "1 entries of output `failure_domains` are not zones")]
#[case::name_is_empty(json!(["", "  "]), "2 entries of output `failure_domains` are not zones")]
#[case::name_is_too_long(json!(["a".repeat(257)]), "1 entries of output `failure_domains` are not zones")]
#[case::flag_is_no_flag(json!([{ "name": "a", "controlPlane": "perhaps" }]), "1 entries of output `failure_domains` are not zones")]
#[case::flag_is_a_number(json!({ "a": { "controlPlane": 1 } }), "1 entries of output `failure_domains` are not zones")]
#[case::attributes_are_a_list(json!([{ "name": "a", "attributes": ["x"] }]), "1 entries of output `failure_domains` are not zones")]
#[case::attributes_are_nested(json!([{ "name": "a", "attributes": { "x": {} } }]), "1 entries of output `failure_domains` are not zones")]
#[case::a_map_of_texts(json!({ "a": "b" }), "1 entries of output `failure_domains` are not zones")]
fn zones_that_cannot_be_used_are_passed_over_and_told(#[case] value: Value, #[case] problem: &str) {
    let found = of(&json!({ "vpc_id": "v", "failure_domains": value }));
    assert_eq!((zones(&found), found.problems), (Vec::new(), vec![problem.to_owned()]));
}

#[rstest]
#[case::names(json!({ "failure_domains": ["b", "a"] }), &["a*", "b*"])]
#[case::each_once(json!({ "failure_domains": ["b", "a", "b"] }), &["a*", "b*"])]
#[case::objects(
    json!({ "failure_domains": [{ "name": "b", "controlPlane": true, "attributes": { "id": 3, "spot": true, "x": "y" } }, { "name": "a" }] }),
    &["a", "b* id=3 spot=true x=y"]
)]
#[case::the_first_of_two_counts(
    json!({ "failure_domains": [{ "name": "a", "controlPlane": true }, { "name": "a" }] }), &["a*"]
)]
#[case::a_map(json!({ "failure_domains": { "b": { "controlPlane": true }, "a": {}, "c": null } }), &["a", "b*", "c*"])]
#[case::flags_as_texts(json!({ "failure_domains": [{ "name": "a", "control_plane": "true" }] }), &["a*"])]
#[case::availability_zones(json!({ "availability_zones": ["a"] }), &["a*"])]
#[case::azs(json!({ "azs": ["a"] }), &["a*"])]
#[case::the_most_telling_output(json!({ "azs": ["c"], "availability_zones": ["b"], "failure_domains": ["a"] }), &["a*"])]
#[case::an_output_without_zones_hides_no_other(
    json!({ "failure_domains": [], "availability_zones": null, "azs": ["a"] }), &["a*"]
)]
#[case::none(json!({}), &[])]
fn zones_are_read_in_order_and_each_once(#[case] mut outputs: Value, #[case] expected: &[&str]) {
    outputs["vpc_id"] = json!("v");
    let found = of(&outputs);
    assert_eq!(zones(&found), expected);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn usable_zones_count_beside_unusable_ones() {
    let found = of(&json!({ "vpc_id": "v", "failure_domains": ["a", 1], "azs": ["b"] }));
    assert_eq!(zones(&found), ["a*"]);
    assert_eq!(found.problems, ["1 entries of output `failure_domains` are not zones"]);
}

#[test]
fn an_unusable_output_hides_no_other() {
    let found = of(&json!({ "vpc_id": "v", "failure_domains": 1, "azs": ["b"] }));
    assert_eq!(zones(&found), ["b*"]);
    assert_eq!(found.problems.len(), 1);
}

#[test]
fn no_more_zones_are_taken_than_the_status_holds() {
    let names: Vec<_> = (0..101).map(|number| format!("zone-{number:03}")).collect();
    let found = of(&json!({ "vpc_id": "v", "azs": names }));
    assert_eq!(found.failure_domains.len(), 100);
    assert_eq!(found.problems, ["output `azs` has more than 100 zones"]);
}
