use std::collections::BTreeSet;

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::{Forgotten, Inventory, Problem, forget, inventory};
use crate::migration::Releases;

/// A state as Terraform writes it: numbers that no machine number holds, keys in Terraform's order.
const STATE: &str = r#"{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 9,
  "lineage": "3e9d1c5a",
  "outputs": {
    "big": { "value": 12345678901234567890.10, "type": "number" }
  },
  "resources": [
    {
      "mode": "managed",
      "type": "helm_release",
      "name": "karpenter",
      "provider": "provider[\"registry.terraform.io/hashicorp/helm\"]",
      "instances": [
        { "schema_version": 1, "attributes": { "id": "karpenter", "values": ["]}\"\\"] }, "private": "eA==" }
      ]
    },
    {
      "mode": "data",
      "type": "helm_release",
      "name": "karpenter",
      "provider": "provider[\"registry.terraform.io/hashicorp/helm\"]",
      "instances": [{}]
    },
    {
      "module": "module.addons[\"a.b\"]",
      "mode": "managed",
      "type": "helm_release",
      "name": "karpenter",
      "each": "list",
      "provider": "module.addons.provider[\"registry.opentofu.org/hashicorp/helm\"]",
      "instances": [{ "index_key": 0 }, { "index_key": 1 }]
    },
    {
      "mode": "managed",
      "type": "helm_release",
      "name": "many",
      "each": "map",
      "provider": "provider[\"registry.terraform.io/hashicorp/helm\"]",
      "instances": [
        { "index_key": "a", "attributes": {} },
        { "index_key": "b \"${x}\"", "attributes": {} },
        { "index_key": "b \"${x}\"", "deposed": "0123abcd", "attributes": {} }
      ]
    },
    {
      "mode": "managed",
      "type": "terraform_data",
      "name": "helm_release",
      "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": [{ "attributes": { "id": "1e400", "n": 1.0 }, "dependencies": ["helm_release.karpenter"] }]
    }
  ],
  "check_results": null
}
"#;

fn named(names: &[&str]) -> Releases {
    Releases::Named(names.iter().map(|&name| name.to_owned()).collect())
}

fn forgotten(state: &str, addresses: &[&str]) -> Forgotten {
    let addresses: BTreeSet<String> = addresses.iter().map(|&address| address.to_owned()).collect();
    let forgotten = forget(state.as_bytes(), &addresses).unwrap();
    let again = forget(&forgotten.text, &addresses).unwrap();
    assert_eq!((again.text, again.addresses), (forgotten.text.clone(), Vec::new()));
    assert_eq!(again.serial, forgotten.serial);
    forgotten
}

fn tree(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

#[rstest]
#[case::nothing("", "line 1, column 0")]
#[case::no_json("helm_release", "line 1, column 1")]
#[case::cut_off("{\"version\": 4,", "no state of Terraform's")]
#[case::two("{\"version\":4,\"serial\":1,\"resources\":[]}{}", "no state of Terraform's")]
#[case::a_list("[]", "no state of Terraform's")]
#[case::not_text("{\"version\":4,\"serial\":1,\"resources\":[{\"mode\":1}]}", "no state of Terraform's")]
#[case::a_serial_below_zero("{\"version\":4,\"serial\":-1,\"resources\":[]}", "no state of Terraform's")]
#[case::without_a_serial("{\"version\":4,\"resources\":[]}", "no state of Terraform's")]
#[case::a_key_twice("{\"version\":4,\"serial\":1,\"serial\":2,\"resources\":[]}", "no state of Terraform's")]
#[case::of_an_old_version("{\"version\":3,\"serial\":3,\"lineage\":\"l\",\"modules\":[]}", "has version 3")]
#[case::of_a_later_version("{\"version\":5,\"serial\":3,\"resources\":[]}", "has version 5")]
#[case::encrypted("{\"serial\":3,\"lineage\":\"l\",\"meta\":{},\"encrypted_data\":\"YQ==\"}", "is encrypted")]
#[case::nested_without_end(&format!("{{\"version\":4,\"serial\":1,\"x\":{}", "[".repeat(100_000)), "no state")]
#[case::secret("{\"version\":4,\"serial\":\"hunter2\"}", "no state")]
fn what_is_no_state_is_refused_without_its_content(#[case] text: &str, #[case] expected: &str) {
    let problem = forget(text.as_bytes(), &BTreeSet::new()).err().unwrap();
    assert!(problem.to_string().contains(expected), "{problem}");
    assert!(!format!("{problem} {problem:?}").contains("hunter2"));
    assert!(inventory(text.as_bytes(), &Releases::All).is_err());
}

#[test]
fn what_is_no_text_is_refused() {
    assert!(matches!(forget(b"\x1f\x8b\x08", &BTreeSet::new()), Err(Problem::NotAState { .. })));
}

#[test]
fn a_huge_state_is_refused_before_it_is_read() {
    assert!(matches!(forget(&vec![b' '; 65 << 20], &BTreeSet::new()), Err(Problem::TooLarge(_))));
}

#[test]
fn a_serial_that_is_at_its_end_is_refused() {
    let state = STATE.replace("\"serial\": 9", &format!("\"serial\": {}", u64::MAX));
    let addresses = BTreeSet::from(["helm_release.karpenter".to_owned()]);
    assert!(matches!(forget(state.as_bytes(), &addresses), Err(Problem::Serial)));
}

#[test]
fn releases_are_found_wherever_they_are() {
    let found = inventory(STATE.as_bytes(), &named(&["karpenter"])).unwrap();
    let expected = Inventory {
        releases: vec!["helm_release.karpenter".to_owned()],
        nested: vec![
            "module.addons[\"a.b\"].helm_release.karpenter[0]".to_owned(),
            "module.addons[\"a.b\"].helm_release.karpenter[1]".to_owned(),
        ],
        others: vec![
            "data.helm_release.karpenter".to_owned(),
            "helm_release.many[\"a\"]".to_owned(),
            "helm_release.many[\"b \\\"$${x}\\\"\"]".to_owned(),
        ],
    };
    assert_eq!(found, expected);
    assert_eq!(inventory(STATE.as_bytes(), &Releases::All).unwrap().releases.len(), 3);
}

#[rstest]
#[case::the_first(&["helm_release.karpenter"], &[0], &["helm_release.karpenter"])]
#[case::all_instances(&["helm_release.many"], &[3],
    &["helm_release.many[\"a\"]", "helm_release.many[\"b \\\"$${x}\\\"\"]"])]
#[case::in_a_module(&["module.addons[\"a.b\"].helm_release.karpenter"], &[2],
    &["module.addons[\"a.b\"].helm_release.karpenter[0]", "module.addons[\"a.b\"].helm_release.karpenter[1]"])]
#[case::several(&["helm_release.karpenter", "helm_release.many", "terraform_data.helm_release"], &[0, 3, 4],
    &["helm_release.karpenter", "helm_release.many[\"a\"]", "helm_release.many[\"b \\\"$${x}\\\"\"]", "terraform_data.helm_release"])]
#[case::one_that_is_not_there(&["helm_release.other", "helm_release.karpenter[0]"], &[], &[])]
fn what_is_forgotten_is_gone_and_all_else_is_there(
    #[case] addresses: &[&str],
    #[case] gone: &[usize],
    #[case] expected: &[&str],
) {
    let result = forgotten(STATE, addresses);
    assert_eq!(result.addresses, expected);
    let mut wanted = tree(STATE.as_bytes());
    if let Some(resources) = wanted["resources"].as_array_mut() {
        let mut at = 0;
        resources.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
    }
    let serial = if gone.is_empty() { 9 } else { 10 };
    wanted["serial"] = json!(serial);
    assert_eq!((tree(&result.text), result.serial), (wanted, serial));
    let text = String::from_utf8(result.text).unwrap();
    assert!(text.contains("12345678901234567890.10") && text.contains("\"lineage\": \"3e9d1c5a\""), "{text}");
}

#[rstest]
#[case::the_first("module.addons[\"a.b\"].helm_release.karpenter[0]", json!([{ "index_key": 1 }]))]
#[case::the_last("module.addons[\"a.b\"].helm_release.karpenter[1]", json!([{ "index_key": 0 }]))]
fn of_several_instances_one_can_go(#[case] address: &str, #[case] left: Value) {
    let result = forgotten(STATE, &[address]);
    assert_eq!(tree(&result.text)["resources"][2]["instances"], left);
    assert_eq!(result.addresses, [address]);
}

#[test]
fn a_state_in_which_nothing_is_left_is_one() {
    let state = r#"{"version":4,"serial":99,"lineage":"l","outputs":{},"resources":[ {"mode":"managed","type":"helm_release","name":"a","instances":[{}]} ]}"#;
    let result = forgotten(state, &["helm_release.a"]);
    let expected = r#"{"version":4,"serial":100,"lineage":"l","outputs":{},"resources":[]}"#;
    assert_eq!(String::from_utf8(result.text).unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_leaves_the_rest_is_the_same_in_its_order(
        resources in prop::collection::vec((0_usize..4, "[a-z\\\\\"{}\\[\\], :é]{0,12}"), 0..8),
        leaving in prop::collection::btree_set(0_usize..4, 0..3),
        pretty in any::<bool>(),
    ) {
        let list: Vec<Value> = resources.iter().map(|(kind, text)| json!({
            "mode": "managed", "type": "helm_release", "name": format!("r{kind}"),
            "instances": [{ "attributes": { "text": text, "list": [text, { text: text }] } }],
        })).collect();
        let state = json!({ "zeta": "resources", "version": 4, "serial": 99, "lineage": "l", "outputs": {}, "resources": list });
        let text = if pretty { serde_json::to_string_pretty(&state).unwrap() } else { state.to_string() };
        let addresses: Vec<String> = leaving.iter().map(|kind| format!("helm_release.r{kind}")).collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let result = forgotten(&text, &addresses);
        let mut wanted = state.clone();
        let kept = list.iter().zip(&resources).filter(|(_, (kind, _))| !leaving.contains(kind));
        wanted["resources"] = kept.map(|(resource, _)| resource.clone()).collect();
        wanted["serial"] = json!(if wanted["resources"] == state["resources"] { 99 } else { 100 });
        prop_assert_eq!(tree(&result.text), wanted);
    }
}
