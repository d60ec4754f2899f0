//! The objects of `examples/proposals`, as they are written.

use capt_api::addon_stack::StepState;
use capt_api::{ClusterResourceSet, ClusterResourceSetBinding};
use capt_testkit::{TestCluster, watch_until};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use kube::{Api, ResourceExt};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::flow::{release_karpenter, run_flux, text};
use super::manifests::FLUX;
use super::scene::{Scene, objects, outputs};

const FLUXCD: &str = include_str!("../../../../../examples/proposals/fluxcd.yaml");
const READINESS_CHECK: &str = include_str!("../../../../../examples/proposals/fluxcd-readiness-check.yaml");
const KARPENTER: &str = include_str!("../../../../../examples/proposals/karpenter.yaml");
const KARPENTER_CONFIG: &str = include_str!("../../../../../examples/proposals/karpenter-config.yaml");
const STACK: &str = include_str!("../../../../../examples/proposals/stack.yaml");

/// Applies every object of a file, in the scene's own namespace.
async fn apply(scene: &Scene, file: &str) {
    for mut object in documents(file) {
        object["metadata"]["namespace"] = json!(scene.stage.namespace);
        let (api_version, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
        let objects = objects(scene.stage.client.clone(), api_version, kind, &scene.stage.namespace);
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        objects.patch(&name, &PatchParams::apply("somebody").force(), &Patch::Apply(object)).await.unwrap();
    }
}

fn documents(file: &str) -> Vec<Value> {
    file.split("\n---\n").map(|document| serde_saphyr::from_str(document).unwrap()).collect()
}

/// Does in a cluster what the Job of the proposal does there: nodes are played.
async fn install_flux(workload: &TestCluster) {
    let manifests = FLUX.split("\n---\n").map(|document| serde_saphyr::from_str::<Value>(document).unwrap());
    let mut manifests: Vec<_> = manifests.collect();
    manifests.sort_by_key(|manifest| manifest["kind"] != "Namespace");
    for manifest in manifests {
        let (api_version, kind) =
            (manifest["apiVersion"].as_str().unwrap(), manifest["kind"].as_str().unwrap());
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api: Api<kube::api::DynamicObject> = match manifest["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(workload.client(), namespace, &resource),
            None => Api::all_with(workload.client(), &resource),
        };
        let name = manifest["metadata"]["name"].as_str().unwrap().to_owned();
        api.patch(&name, &PatchParams::apply("flux").force(), &Patch::Apply(manifest)).await.unwrap();
    }
}

#[tokio::test]
async fn the_proposals_objects_bring_flux_and_then_karpenter() {
    let scene = Scene::set().await;
    let workload = TestCluster::start().await;
    for file in [FLUXCD, KARPENTER, STACK] {
        apply(&scene, file).await;
    }
    scene.put_cluster("demo", &workload, json!({ "addons": "base" })).await;
    // The user's own sets bring them: CAPT makes none.
    let jobs: Api<Job> = Api::namespaced(workload.client(), "flux-system");
    watch_until("the installer", &jobs, "flux-installer", |_| true).await;
    let step = scene.step("base", "demo", "flux", StepState::WaitingForReady, "AddonNotReady").await;
    assert!(step.message.contains("helmreleases.helm.toolkit.fluxcd.io"), "{}", step.message);
    let sets: Vec<ClusterResourceSet> = scene.stage.api().list(&ListParams::default()).await.unwrap().items;
    let names: Vec<_> = sets.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, ["fluxcd-installer", "karpenter-installer"]);

    install_flux(&workload).await;
    run_flux(&workload).await;
    scene.step("base", "demo", "karpenter", StepState::WaitingForReady, "AddonNotReady").await;
    let secrets: Api<Secret> = Api::namespaced(workload.client(), "karpenter");
    let secret = secrets.get("eks-connection").await.unwrap();
    for (key, value) in outputs("demo").into_iter().filter(|(key, _)| *key != "kubeconfig") {
        assert_eq!(text(&secret, key), value);
    }
    release_karpenter(&workload).await;
    scene.cluster_condition("demo", "AddonsReady", "True", "AddonsReady").await;

    // What was brought is written down with the hash that Cluster API has.
    let bindings: Api<ClusterResourceSetBinding> = scene.stage.api();
    let binding = bindings.get("demo").await.unwrap();
    let brought = &binding
        .spec
        .bindings
        .iter()
        .find(|one| one.cluster_resource_set_name == "karpenter-installer")
        .unwrap()
        .resources[0];
    let maps: Api<ConfigMap> = scene.stage.api();
    let data = maps.get("karpenter-resources").await.unwrap().data.unwrap();
    assert!(brought.applied);
    assert_eq!(brought.hash.as_deref(), Some(capt_core::manifest::hash(&data).as_str()));
}

#[tokio::test]
async fn the_values_of_one_cluster_can_be_brought_by_hand_to_that_cluster_alone() {
    let scene = Scene::set().await;
    let (one, two) = tokio::join!(TestCluster::start(), TestCluster::start());
    apply(&scene, KARPENTER_CONFIG).await;
    let enabled = "karpenter.sh/enabled";
    scene.put_cluster("demo", &one, json!({ enabled: "true", "example.com/values-of": "demo" })).await;
    scene.put_cluster("other", &two, json!({ enabled: "true" })).await;
    let secrets = |workload: &TestCluster| Api::<Secret>::namespaced(workload.client(), "karpenter");
    let secret = watch_until("the values", &secrets(&one), "eks-connection", |_| true).await;
    assert_eq!(text(&secret, "karpenter_queue_name"), "demo-karpenter");
    let sets: Api<ClusterResourceSet> = scene.stage.api();
    watch_until("everything to be brought", &sets, "karpenter-config", |set| {
        let conditions = set.status.iter().flat_map(|status| &status.conditions);
        conditions.filter(|one| one.type_ == "ResourcesApplied").any(|one| one.status == "True")
    })
    .await;
    assert!(secrets(&two).get_opt("eks-connection").await.unwrap().is_none());
}

/// A Job that must be complete is one more kind of readiness.
#[tokio::test]
async fn the_readiness_job_is_waited_for_where_it_is_used() {
    let scene = Scene::set().await;
    let workload = TestCluster::start().await;
    apply(&scene, READINESS_CHECK).await;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "flux-system" } });
    let namespace = k8s_openapi::api::core::v1::Namespace::deserialize(namespace).unwrap();
    Api::all(workload.client()).create(&PostParams::default(), &namespace).await.unwrap();
    let addons = json!([{
        "name": "check", "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "fluxcd-readiness-check" }],
    }]);
    scene.put_stack("base", addons).await;
    scene.put_cluster("demo", &workload, json!({ "addons": "base" })).await;
    scene.step("base", "demo", "check", StepState::WaitingForReady, "AddonNotReady").await;
    let jobs: Api<Job> = Api::namespaced(workload.client(), "flux-system");
    let complete = |type_: &str| {
        json!({
            "type": type_, "status": "True", "reason": "CompletionsReached", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let status = json!({
        "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:01Z", "succeeded": 1,
        "uncountedTerminatedPods": {},
        "conditions": [complete("SuccessCriteriaMet"), complete("Complete")],
    });
    super::scene::play(&jobs, "fluxcd-readiness-check", status).await;
    scene.step("base", "demo", "check", StepState::Ready, "AddonReady").await;
}
