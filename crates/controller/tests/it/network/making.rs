//! From template to VPC, and the VPC follows.

use std::collections::BTreeSet;

use capt_api::CAPTCluster;
use capt_api::names::{finalizer, label};
use capt_testkit::{eventually, watch_until};
use futures::StreamExt;
use kube::ResourceExt;
use kube::api::WatchParams;
use kube::core::WatchEvent;
use serde_json::json;
use tokio::sync::watch;

use super::stage::{Scene, message};
use crate::stage::{condition, var};

/// Collects every version of the network from now on.
async fn versions(scene: &Scene) -> watch::Receiver<BTreeSet<u64>> {
    let (sender, seen) = watch::channel(BTreeSet::new());
    let networks = scene.networks();
    let start =
        networks.list(&kube::api::ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    tokio::spawn(async move {
        let events = networks.watch(&WatchParams::default(), &start).await.unwrap();
        let mut events = std::pin::pin!(events);
        while let Some(Ok(event)) = events.next().await {
            if let WatchEvent::Added(network) | WatchEvent::Modified(network) = event {
                sender.send_if_modified(|seen| seen.insert(version(&network)));
            }
        }
    });
    seen
}

fn version(network: &CAPTCluster) -> u64 {
    network.resource_version().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_network_is_made_by_its_apply_and_told_when_it_is_ready() {
    let scene = Scene::set().await;
    let network = scene.put(json!({ "retainVpcOnDelete": true })).await;
    let apply = scene.apply("the apply to be made", |_| true).await;
    assert_eq!(apply.owner_references()[0].uid, network.uid().unwrap());
    assert_eq!(apply.labels().get(label::CLUSTER_NAME), Some(&scene.cluster));
    assert!(apply.spec.retain_workspace_on_delete);
    let expected = [
        ("cluster_name", &scene.cluster),
        ("name", &scene.vpc),
        ("region", &"r".to_owned()),
        ("vpc_name", &scene.vpc),
    ];
    assert_eq!(apply.spec.variables, expected.map(|(key, value)| (key.to_owned(), value.clone())).into());
    assert_eq!(apply.spec.template_ref.namespace.as_ref(), Some(&scene.stage.namespace));
    let waiting = scene.condition("Ready", "False", "NetworkNotReady").await;
    assert_eq!(waiting.finalizers(), [finalizer::NETWORK]);
    assert_eq!(waiting.spec.workspace_template_apply_name.as_ref(), Some(&scene.vpc));
    assert!(!waiting.status.unwrap().initialization.unwrap().provisioned);

    let network = scene.provision().await;
    let status = network.status.clone().unwrap();
    assert!(status.ready && status.initialization.unwrap().provisioned);
    assert_eq!(
        (status.vpc_id.as_deref(), status.vpc_workspace_name.as_ref()),
        (Some("vpc-1"), Some(&scene.vpc))
    );
    let zones: Vec<_> = status.failure_domains.iter().map(|zone| zone.name.as_str()).collect();
    assert_eq!(zones, ["a", "b"]);
    assert_eq!(status.observed_generation, network.metadata.generation);
    let applied = status.workspace_template_status.unwrap();
    assert!(applied.ready && applied.last_applied_time.is_some());
    assert_eq!(applied.last_applied_revision.as_deref(), Some("1"));
    scene.condition("VPCReady", "True", "NetworkReady").await;
    let reasons: Vec<_> =
        scene.stage.events("net").await.into_iter().filter_map(|event| event.reason).collect();
    assert!(reasons.contains(&"ApplyCreated".to_owned()), "{reasons:?}");
    eventually("the Event about the network", async || {
        scene.stage.events("net").await.iter().any(|event| event.reason.as_deref() == Some("NetworkReady"))
    })
    .await;
}

/// Created, claimed, told that it is on its way, told that it is ready: nothing else is written.
#[tokio::test]
async fn a_network_costs_three_writes_and_one_of_its_apply() {
    let scene = Scene::set().await;
    let mut seen = versions(&scene).await;
    scene.put(json!({})).await;
    scene.condition("Ready", "False", "NetworkNotReady").await;
    // Progress of Terraform is the Workspace's to tell.
    scene.stage.workspace(&scene.vpc, "the Workspace to be made", |_| true).await;
    for count in 1..4 {
        let progress = json!({ "type": "Ready", "status": "False", "reason": "Creating", "message": format!("{count} of 9"),
            "lastTransitionTime": "2026-01-01T00:00:00Z" });
        scene.stage.report(&scene.vpc, json!({ "conditions": [progress] })).await;
        scene
            .apply("the apply to tell the progress", |apply| {
                crate::stage::message(apply, "Ready").contains(&format!("{count} of 9"))
            })
            .await;
    }
    let network = scene.provision().await;
    // The apply tells it too, and brings the network up once more.
    scene.stage.condition(&scene.vpc, "Ready", "True", "WorkspaceReady").await;
    let all = seen.wait_for(|seen| seen.contains(&version(&network))).await.unwrap().clone();
    assert_eq!(all.len(), 4, "{all:?}");
    let apply = scene.stage.applies().get(&scene.vpc).await.unwrap();
    assert_eq!(apply.metadata.generation, Some(1));
}

#[tokio::test]
async fn an_existing_network_is_used_as_it_is_with_one_write() {
    let scene = Scene::set().await;
    let mut seen = versions(&scene).await;
    scene.put_exactly(json!({ "region": "r", "existingVpcId": "vpc-9" })).await;
    let network = scene.condition("Ready", "True", "NetworkReady").await;
    let status = network.status.clone().unwrap();
    assert_eq!((status.ready, status.vpc_id.as_deref()), (true, Some("vpc-9")));
    assert!(status.initialization.unwrap().provisioned);
    assert!(network.finalizers().is_empty());
    assert!(scene.stage.applies().get_opt(&scene.vpc).await.unwrap().is_none());
    let all = seen.wait_for(|seen| seen.contains(&version(&network))).await.unwrap().clone();
    assert_eq!(all.len(), 2, "{all:?}");
    scene.delete().await;
    scene.gone().await;
}

#[tokio::test]
async fn a_network_waits_for_its_cluster() {
    let scene = Scene::set().await;
    let spec = json!({ "region": "r", "vpcTemplateRef": { "name": "vpc" } });
    scene.stage.put::<CAPTCluster>(json!({ "metadata": { "name": "net" }, "spec": spec })).await;
    let network = scene.condition("Ready", "False", "WaitingForCluster").await;
    assert!(message(&network, "Ready").contains("spec.infrastructureRef"), "{}", message(&network, "Ready"));
    assert!(network.finalizers().is_empty());
    let cluster = scene
        .stage
        .put::<capt_api::Cluster>(json!({ "metadata": { "name": scene.cluster }, "spec": {} }))
        .await;
    let owner = json!({ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": scene.cluster, "uid": cluster.uid() });
    scene.change(json!({ "metadata": { "ownerReferences": [owner] } })).await;
    scene.provision().await;
}

#[tokio::test]
async fn what_holds_the_apply_up_is_seen_on_the_network() {
    let scene = Scene::set().await;
    scene.put(json!({ "vpcTemplateRef": { "name": "missing" } })).await;
    let network = scene.condition("Ready", "False", "TemplateNotFound").await;
    assert!(message(&network, "Ready").contains("missing"), "{}", message(&network, "Ready"));
    scene.change(json!({ "spec": { "vpcTemplateRef": { "name": "vpc" } } })).await;
    scene.provision().await;
}

#[tokio::test]
async fn changes_of_the_network_are_carried_on() {
    let scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.provision().await;
    scene.stage.put_template("other", &(crate::stage::module(&["name"]) + "# other\n")).await;
    scene
        .change(json!({ "spec": {
            "vpcTemplateRef": { "name": "other" }, "vpcConfig": { "name": "mine" }, "retainVpcOnDelete": true,
        } }))
        .await;
    let workspace = scene
        .stage
        .workspace(&scene.vpc, "the Workspace to follow", |workspace| {
            workspace.spec.for_provider.module.contains("# other")
        })
        .await;
    assert_eq!(var(&workspace, "name"), Some("mine"));
    let apply = scene.stage.applies().get(&scene.vpc).await.unwrap();
    assert!(apply.spec.retain_workspace_on_delete);
    scene.change(json!({ "spec": { "retainVpcOnDelete": false } })).await;
    scene.apply("the retention to be taken back", |apply| !apply.spec.retain_workspace_on_delete).await;
    let network = scene.condition("Ready", "True", "NetworkReady").await;
    assert_eq!(network.spec.workspace_template_apply_name.as_ref(), Some(&scene.vpc));
}

#[tokio::test]
async fn a_workspace_that_turns_unready_later_is_noticed() {
    let scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.provision().await;
    let broken = json!({ "type": "Synced", "status": "False", "reason": "ReconcileError", "message": "no quota",
        "lastTransitionTime": "2026-01-01T00:00:00Z" });
    scene
        .stage
        .report(&scene.vpc, json!({ "conditions": [condition("Ready", "False", "Unavailable"), broken] }))
        .await;
    let network = scene.condition("Ready", "False", "NetworkNotReady").await;
    assert!(message(&network, "Ready").contains("no quota"), "{}", message(&network, "Ready"));
    let status = network.status.unwrap();
    assert!(!status.ready && status.initialization.unwrap().provisioned);
    assert_eq!(status.vpc_id.as_deref(), Some("vpc-1"));
    scene.provision().await;
}

#[tokio::test]
async fn a_network_of_another_cloud_is_ready_without_an_identifier() {
    let scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.stage.workspace(&scene.vpc, "the Workspace to be made", |_| true).await;
    scene.finish(json!({ "network": "n", "failure_domains": { "z": { "controlPlane": true, "attributes": { "rack": 4 } } } })).await;
    let network = scene.condition("Ready", "True", "NetworkReady").await;
    assert!(message(&network, "Ready").contains("no output `vpc_id`"), "{}", message(&network, "Ready"));
    let status = network.status.unwrap();
    assert_eq!(status.failure_domains[0].attributes.get("rack").map(String::as_str), Some("4"));
    // The status is still taken when the outputs make no sense at all.
    scene.finish(json!({ "vpc_id": ["x"], "failure_domains": [1, {}, null], "azs": "a" })).await;
    watch_until("the outputs to be passed over", &scene.networks(), "net", |network: &CAPTCluster| {
        message(network, "Ready").contains("3 entries of output `failure_domains` are not zones")
    })
    .await;
}

#[tokio::test]
async fn an_apply_that_is_deleted_by_others_is_made_again() {
    let scene = Scene::set().await;
    scene.put(json!({})).await;
    scene.provision().await;
    let first = scene.stage.applies().get(&scene.vpc).await.unwrap();
    scene.stage.applies().delete(&scene.vpc, &kube::api::DeleteParams::default()).await.unwrap();
    eventually("another apply", async || {
        scene
            .stage
            .applies()
            .get_opt(&scene.vpc)
            .await
            .unwrap()
            .is_some_and(|apply| apply.uid() != first.uid())
    })
    .await;
    scene.provision().await;
}
