//! Flux, then Karpenter, in two clusters: in order, each with its own values.

use capt_api::Cluster;
use capt_api::addon_stack::StepState;
use capt_testkit::{TestCluster, eventually, watch_until};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Secret;
use kube::api::DynamicObject;
use kube::{Api, ResourceExt};
use rstest::rstest;
use serde_json::{Value, json};

use super::manifests::{FLUX, KARPENTER};
use super::scene::{Scene, objects, outputs, play};

fn addons(delivery: &str) -> Value {
    json!([
        {
            "name": "karpenter", "dependsOn": ["flux"], "gateLabel": "karpenter.sh/enabled", "delivery": delivery,
            "resources": [{ "kind": "ConfigMap", "name": "karpenter-resources" }],
            "values": [{
                "name": "connection", "namespace": "karpenter",
                "keys": [
                    { "output": "cluster_name" },
                    { "output": "cluster_endpoint" },
                    { "output": "karpenter_queue_name", "key": "queue" },
                    { "output": "nobody_gives_this", "default": "fallback" },
                ],
            }],
        },
        {
            "name": "flux", "gateLabel": "fluxcd.io/enabled", "delivery": delivery,
            "resources": [{ "kind": "ConfigMap", "name": "fluxcd-install" }],
        },
    ])
}

/// The nodes of a cluster run what they are told to.
pub(super) async fn run_flux(workload: &TestCluster) {
    let deployments: Api<Deployment> = Api::namespaced(workload.client(), "flux-system");
    for name in ["source-controller", "helm-controller"] {
        let generation = deployments.get(name).await.unwrap().metadata.generation;
        let status = json!({
            "observedGeneration": generation,
            "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
            "conditions": [
                { "type": "Available", "status": "True", "reason": "MinimumReplicasAvailable" },
                { "type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable" },
            ],
        });
        play(&deployments, name, status).await;
    }
}

fn releases(workload: &TestCluster) -> Api<DynamicObject> {
    objects(workload.client(), "helm.toolkit.fluxcd.io/v2", "HelmRelease", "karpenter")
}

/// Flux does what it is asked for.
pub(super) async fn release_karpenter(workload: &TestCluster) {
    let ready = |object: &DynamicObject| {
        let generation = object.metadata.generation;
        json!({
            "observedGeneration": generation,
            "lastHandledReconcileAt": object.annotations().get("reconcile.fluxcd.io/requestedAt"),
            "lastAttemptedConfigDigest": "sha256:values",
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "InstallSucceeded", "observedGeneration": generation,
                "lastTransitionTime": "2026-01-01T00:00:00Z", "message": "",
            }],
        })
    };
    let releases = releases(workload);
    let release = watch_until("Flux to be asked", &releases, "karpenter", |release| {
        release.annotations().contains_key("reconcile.fluxcd.io/requestedAt")
    })
    .await;
    play(&releases, "karpenter", ready(&release)).await;
    let charts = objects(workload.client(), "source.toolkit.fluxcd.io/v1", "OCIRepository", "karpenter");
    play(&charts, "karpenter", ready(&charts.get("karpenter").await.unwrap())).await;
}

fn values(workload: &TestCluster) -> Api<Secret> {
    Api::namespaced(workload.client(), "karpenter")
}

pub(super) fn text(secret: &Secret, key: &str) -> String {
    String::from_utf8(secret.data.as_ref().unwrap()[key].0.clone()).unwrap()
}

fn version(object: &impl ResourceExt) -> u64 {
    object.resource_version().unwrap().parse().unwrap()
}

fn has_label(cluster: &Cluster, key: &str) -> bool {
    cluster.labels().get(key).is_some_and(|value| value == "true")
}

#[rstest]
#[case::by_capt_itself("Direct")]
#[case::by_sets_of_capt("ClusterResourceSet")]
#[tokio::test]
async fn flux_comes_first_then_karpenter_with_the_values_of_its_own_cluster(#[case] delivery: &str) {
    let scene = Scene::set().await;
    let (one, two) = tokio::join!(TestCluster::start(), TestCluster::start());
    scene.put_manifests("fluxcd-install", FLUX).await;
    scene.put_manifests("karpenter-resources", KARPENTER).await;
    scene.put_stack("base", addons(delivery)).await;
    scene.put_cluster("one", &one, json!({ "addons": "base" })).await;
    scene.put_cluster("two", &two, json!({ "addons": "base" })).await;

    // Flux is in both clusters, and nothing runs there yet.
    for cluster in ["one", "two"] {
        scene.step("base", cluster, "flux", StepState::WaitingForReady, "AddonNotReady").await;
        scene.step("base", cluster, "karpenter", StepState::Pending, "WaitingForAddons").await;
        let found = scene.clusters().get(cluster).await.unwrap();
        assert!(has_label(&found, "fluxcd.io/enabled"));
        assert!(!has_label(&found, "karpenter.sh/enabled"));
    }
    assert!(values(&one).get_opt("connection").await.unwrap().is_none());

    // Karpenter comes to the cluster in which Flux runs, and to no other.
    run_flux(&one).await;
    scene.step("base", "one", "flux", StepState::Ready, "AddonReady").await;
    scene.step("base", "one", "karpenter", StepState::WaitingForReady, "AddonNotReady").await;
    assert!(has_label(&scene.clusters().get("one").await.unwrap(), "karpenter.sh/enabled"));
    assert!(!has_label(&scene.clusters().get("two").await.unwrap(), "karpenter.sh/enabled"));
    let secret = values(&one).get("connection").await.unwrap();
    let deployments: Api<Deployment> = Api::namespaced(one.client(), "flux-system");
    let flux = deployments.get("helm-controller").await.unwrap();
    let release = releases(&one).get("karpenter").await.unwrap();
    assert!(version(&flux) < version(&secret), "values come after Flux");
    assert!(version(&secret) < version(&release), "the release comes after its values");
    assert_eq!(secret.labels()["reconcile.fluxcd.io/watch"], "Enabled");
    let keys: Vec<_> = secret.data.as_ref().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["cluster_endpoint", "cluster_name", "nobody_gives_this", "queue"]);
    assert_eq!(text(&secret, "cluster_name"), "one");
    assert_eq!(text(&secret, "queue"), "one-queue");
    assert_eq!(text(&secret, "nobody_gives_this"), "fallback");

    // Delivered is not consumed: that is for Flux to say.
    release_karpenter(&one).await;
    let karpenter = scene.step("base", "one", "karpenter", StepState::Ready, "AddonReady").await;
    let consumer = &karpenter.values[0].consumers[0];
    assert!(consumer.consumed);
    assert_eq!(consumer.config_digest.as_deref(), Some("sha256:values"));
    scene.cluster_condition("one", "AddonsReady", "True", "AddonsReady").await;
    scene.cluster_condition("two", "AddonsReady", "False", "AddonNotReady").await;

    // The other cluster has its own values.
    run_flux(&two).await;
    scene.step("base", "two", "karpenter", StepState::WaitingForReady, "AddonNotReady").await;
    release_karpenter(&two).await;
    scene.cluster_condition("two", "AddonsReady", "True", "AddonsReady").await;
    assert_eq!(text(&values(&two).get("connection").await.unwrap(), "cluster_name"), "two");

    // A changed output follows, and Flux is asked again.
    let mut changed = outputs("one");
    changed.retain(|(key, _)| *key != "karpenter_queue_name");
    changed.push(("karpenter_queue_name", "another-queue".to_owned()));
    scene.put_outputs("one", &changed).await;
    watch_until("the changed value", &values(&one), "connection", |secret| {
        text(secret, "queue") == "another-queue"
    })
    .await;
    let karpenter = scene.step("base", "one", "karpenter", StepState::WaitingForReady, "AddonNotReady").await;
    assert!(!karpenter.values[0].consumers[0].consumed);
    eventually("Flux to take the change", async || {
        release_karpenter(&one).await;
        let binding = scene.bindings().get("base.one").await.unwrap();
        binding.status.unwrap().state == Some(StepState::Ready)
    })
    .await;
    assert_eq!(text(&values(&two).get("connection").await.unwrap(), "queue"), "two-queue");
}
