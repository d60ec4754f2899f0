use std::collections::BTreeMap;

use capt_api::resource_set::ResourceKind;
use serde_json::{Value, json};

use super::*;
use crate::manifest::parse;

fn manifests(text: &str) -> Vec<Manifest> {
    let data = BTreeMap::from([("m.yaml".to_owned(), text.as_bytes().to_vec())]);
    parse(ResourceKind::ConfigMap, "m", &data).unwrap()
}

fn release(target_path: &str) -> Vec<Manifest> {
    manifests(&format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{ name: karpenter, namespace: kube-system }}\nspec:\n  interval: 1h\n  valuesFrom:\n  - {{ kind: Secret, name: c, valuesKey: role, targetPath: '{target_path}' }}\n"
    ))
}

fn flux(version: &str) -> Vec<Manifest> {
    manifests(&format!(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n  labels: {{ app.kubernetes.io/part-of: flux, app.kubernetes.io/version: v{version} }}\n"
    ))
}

fn values() -> Vec<ValuesSecret> {
    let secret: Value = json!({ "namespace": "kube-system", "keys": [{ "output": "role" }] });
    vec![serde_json::from_value(secret).unwrap()]
}

fn looked_at(own: &[Manifest], others: &[Manifest], kubernetes: &str, policy: Compatibility) -> Scrutiny {
    let beside = Beside {
        others,
        values: &values(),
        default_name: "c",
        outputs: Outputs::Unknown,
        kubernetes: Some(kubernetes),
        policy,
    };
    scrutinize(own, &beside)
}

#[test]
fn values_that_would_not_arrive_as_they_are_meant_are_refused_with_what_to_write() {
    let found = looked_at(
        &release("serviceAccount.annotations.eks.amazonaws.com/role-arn"),
        &[],
        "1.34",
        Compatibility::Ignore,
    );
    let refused = found.refused.clone().map(|blocked| blocked.message);
    let told = refused
        .iter()
        .cloned()
        .chain(found.remarks.iter().map(|note| note.message.clone()))
        .collect::<String>();
    assert!(told.contains(r"serviceAccount.annotations.eks\.amazonaws\.com/role-arn"), "{told}");
    assert!(told.starts_with("HelmRelease"), "{told}");
}

#[test]
fn values_in_their_places_are_no_matter() {
    let path = r"serviceAccount.annotations.eks\.amazonaws\.com/role-arn";
    assert_eq!(looked_at(&release(path), &[], "1.34", Compatibility::Refuse), Scrutiny::default());
}

#[test]
fn the_policy_decides_about_versions_that_do_not_go_together() {
    let old = flux("2.3.0");
    assert_eq!(looked_at(&old, &[], "1.35", Compatibility::Ignore), Scrutiny::default());
    let warned = looked_at(&old, &[], "1.35", Compatibility::Warn);
    assert_eq!(warned.refused, None);
    assert!(warned.remarks.iter().all(|note| note.reason == Reason::Incompatible), "{warned:?}");
    assert!(!warned.remarks.is_empty());
    let refused = looked_at(&old, &[], "1.35", Compatibility::Refuse);
    assert_eq!(refused.refused.as_ref().map(|blocked| blocked.reason), Some(Reason::Incompatible));
    assert!(!refused.tolerated().is_empty(), "what is there already is told");
}

#[test]
fn an_add_on_without_a_version_is_not_blamed_for_that_of_another() {
    let plain = manifests("apiVersion: v1\nkind: Namespace\nmetadata: { name: plain }\n");
    assert_eq!(looked_at(&plain, &flux("2.3.0"), "1.35", Compatibility::Refuse), Scrutiny::default());
}
