//! What is looked at before anything is brought: versions, and where values go.

use capt_api::AddonStack;
use capt_api::addon_stack::StepState;
use capt_testkit::eventually;
use serde_json::json;

use super::bad_input::{map, one_addon, set, workload};

/// A source of Karpenter, in a version that its own project says to avoid.
const AVOIDED: &str = r#"apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: { name: karpenter, namespace: kube-system }
spec: { interval: 12h, url: "oci://public.ecr.aws/karpenter/karpenter", ref: { tag: "1.8.4" } }
"#;

fn release(target_path: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{ name: karpenter, namespace: kube-system }}\nspec:\n  interval: 1h\n  chartRef: {{ kind: OCIRepository, name: karpenter }}\n  valuesFrom:\n  - {{ kind: Secret, name: values, valuesKey: cluster_name, targetPath: '{target_path}' }}\n"
    )
}

#[tokio::test]
async fn versions_that_do_not_go_together_are_refused_before_anything_is_brought() {
    let (scene, namespace) = set().await;
    scene.put_manifests("manifests", &format!("{}---\n{AVOIDED}", map("a", &namespace))).await;
    scene.put_stack("base", one_addon()).await;
    let refuse = json!({ "spec": { "compatibility": "Refuse" } });
    scene.stage.change::<AddonStack>("base", refuse).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Blocked, "Incompatible").await;
    assert!(step.message.contains("1.8.4"), "{}", step.message);
    let maps: kube::Api<k8s_openapi::api::core::v1::ConfigMap> =
        kube::Api::namespaced(workload().await.client(), &namespace);
    assert!(maps.get_opt("a").await.unwrap().is_none(), "nothing was brought");

    // Then it is only told, and goes on to what this cluster does not serve.
    scene.stage.change::<AddonStack>("base", json!({ "spec": { "compatibility": "Warn" } })).await;
    scene.step("base", "demo", "one", StepState::Failed, "KindNotServed").await;
    eventually("an Event about the versions", async || {
        let events = scene.stage.events("base.demo").await;
        events.iter().any(|event| {
            event.reason.as_deref() == Some("Incompatible") && event.type_.as_deref() == Some("Warning")
        })
    })
    .await;
}

#[tokio::test]
async fn a_release_that_would_not_get_its_values_is_refused_with_what_to_write() {
    let (scene, _) = set().await;
    scene.put_manifests("manifests", &release("settings.clusterName=")).await;
    let addon = json!([{
        "name": "one", "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "manifests" }],
        "values": [{ "name": "values", "namespace": "kube-system", "keys": [{ "output": "cluster_name" }] }],
    }]);
    scene.put_stack("base", addon).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Blocked, "ValuesMisplaced").await;
    assert!(step.message.contains("spec.valuesFrom[0].targetPath"), "{}", step.message);
    scene.put_manifests("manifests", &release("settings.clusterName")).await;
    scene.step("base", "demo", "one", StepState::Failed, "KindNotServed").await;
}
