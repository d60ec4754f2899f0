use serde_json::{Value, json};

use super::*;

fn stack(addons: &Value) -> AddonStack {
    serde_json::from_value(json!({
        "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStack",
        "metadata": { "name": "base", "namespace": "default", "uid": "s" },
        "spec": { "clusterSelector": { "matchLabels": { "addons": "base" } }, "addons": addons },
    }))
    .unwrap()
}

fn cluster(name: &str, label: &str, deleted: bool) -> Cluster {
    let deletion = deleted.then_some("2026-01-01T00:00:00Z");
    serde_json::from_value(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": { "name": name, "namespace": "default", "labels": { "addons": label }, "deletionTimestamp": deletion },
        "spec": {},
    }))
    .unwrap()
}

fn binding(stack: &str, cluster: &str) -> AddonStackBinding {
    serde_json::from_value(json!({
        "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStackBinding",
        "metadata": { "name": names::binding(stack, cluster), "namespace": "default" },
        "spec": { "clusterName": cluster, "stackName": stack },
    }))
    .unwrap()
}

fn set(name: &str, stack_label: &str, owner_uid: &str) -> ClusterResourceSet {
    serde_json::from_value(json!({
        "apiVersion": "addons.cluster.x-k8s.io/v1beta2", "kind": "ClusterResourceSet",
        "metadata": {
            "name": name, "namespace": "default", "labels": { label::STACK: stack_label },
            "ownerReferences": [{
                "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStack", "name": "base", "uid": owner_uid,
            }],
        },
        "spec": {
            "clusterSelector": { "matchLabels": { "x": "true" } }, "resources": [{ "kind": "ConfigMap", "name": "x" }],
        },
    }))
    .unwrap()
}

fn one_addon() -> Value {
    json!([{ "name": "flux", "gateLabel": "fluxcd.io/enabled", "resources": [{ "kind": "ConfigMap", "name": "flux" }] }])
}

#[test]
fn selected_clusters_are_bound_and_others_are_let_go() {
    let clusters = [
        cluster("new", "base", false),
        cluster("known", "base", false),
        cluster("deselected", "other", false),
        cluster("leaving", "base", true),
    ];
    let bindings = [
        binding("base", "known"),
        binding("base", "deselected"),
        binding("base", "leaving"),
        binding("base", "gone"),
        binding("other", "new"),
    ];
    let plan = plan(&stack(&one_addon()), &clusters.each_ref(), &bindings.each_ref(), &[]);
    assert_eq!(plan.bind, ["new"]);
    assert_eq!(plan.unbind, ["base.deselected"], "what is not seen may only come later");
}

#[test]
fn a_set_is_made_for_what_nobody_else_brings_and_taken_away_when_it_is_not_needed() {
    let sets =
        [set("base.old", "base", "s"), set("base.foreign", "base", "someone"), set("other.x", "other", "s")];
    let plan = plan(&stack(&one_addon()), &[], &[], &sets.each_ref());
    let made: Vec<_> = plan
        .sets
        .iter()
        .map(|(name, spec)| {
            let labels = spec.cluster_selector.match_labels.clone().unwrap();
            format!("{name} {labels:?} {:?} {}", spec.strategy, spec.resources[0].name)
        })
        .collect();
    assert_eq!(made, ["base.flux {\"fluxcd.io/enabled\": \"true\"} ApplyOnce flux"]);
    assert_eq!(plan.surplus, ["base.old"]);
}

#[test]
fn a_stack_that_cannot_be_used_changes_nothing() {
    let circle = json!([{ "name": "a", "dependsOn": ["a"], "gateLabel": "x" }]);
    let clusters = [cluster("new", "base", false)];
    let bindings = [binding("base", "deselected")];
    assert_eq!(plan(&stack(&circle), &clusters.each_ref(), &bindings.each_ref(), &[]), Plan::default());
}
