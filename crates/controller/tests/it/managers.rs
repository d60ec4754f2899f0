//! The manager itself: kinds that come later, leadership, probes, permissions.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use capt_controller::options::{LeaderElection, Options};
use capt_testkit::{TestCluster, eventually, watch_until};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::stage::{Manager, Stage, cluster, message, module, permit};

pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Result<String, std::io::Error> {
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nhost: capt\r\nconnection: close\r\n\r\n").as_bytes())
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn kinds_that_are_installed_later_are_waited_for() {
    let cluster = TestCluster::start().await;
    permit(&cluster).await;
    let address = free_address();
    let options = Options { diagnostics_address: Some(address), ..Options::default() };
    let manager = Manager::start(&cluster, options).await;
    eventually("the probe to say ok", async || {
        get(address, "/readyz").await.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    })
    .await;

    cluster.apply_crds(&capt_api::crd::own()).await;
    let namespace = cluster.namespace("late").await;
    let stage = Stage::on(&cluster, &namespace);
    stage.put_template("t", &module(&[])).await;
    stage.put_apply("x", json!({ "templateRef": { "name": "t" } })).await;
    let apply = stage.condition("x", "Ready", "False", "WorkspaceKindMissing").await;
    assert!(message(&apply, "Ready").contains("tf.upbound.io"));
    cluster.apply_crds(&capt_api::crd::foreign(capt_api::crd::Foreign::Terraform)).await;
    stage.condition("x", "Applied", "True", "UpToDate").await;

    let metrics = get(address, "/metrics").await.unwrap();
    assert!(metrics.contains(r#"capt_watched_objects{kind="WorkspaceTemplateApply"} 1"#), "{metrics}");
    assert!(get(address, "/healthz").await.unwrap().contains("ok"));
    manager.stop().await;
    assert!(get(address, "/healthz").await.is_err());
}

/// Two contracts for one version make Cluster API's choice between them a matter of luck.
#[tokio::test]
async fn the_contract_label_of_the_earlier_implementation_is_taken_away() {
    use capt_controller::install::{Kinds, install};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use kube::api::{Patch, PatchParams};
    let cluster = cluster().await;
    let crds: Api<CustomResourceDefinition> = Api::all(cluster.client());
    let name = "captclusters.infrastructure.cluster.x-k8s.io";
    let old = json!({ "metadata": { "labels": { "cluster.x-k8s.io/v1beta1": "v1beta1" } } });
    crds.patch(name, &PatchParams::default(), &Patch::Merge(old)).await.unwrap();
    install(&cluster.client(), Kinds::Own, &capt_api::crd::own()).await.unwrap();
    let labels = crds.get(name).await.unwrap().metadata.labels.unwrap();
    assert!(!labels.contains_key("cluster.x-k8s.io/v1beta1"));
    assert_eq!(labels.get("cluster.x-k8s.io/v1beta2").map(String::as_str), Some("v1beta1"));
}

/// An older Cluster API serves Clusters in another version only: the manager goes on without, and notices the newer one.
#[tokio::test]
async fn a_kind_that_is_served_in_another_version_only_is_waited_for() {
    use capt_api::crd::{Foreign, foreign, own};
    let cluster = TestCluster::start().await;
    permit(&cluster).await;
    cluster.apply_crds(&[own(), foreign(Foreign::Terraform)].concat()).await;
    let mut newer = foreign(Foreign::ClusterApi).remove(0);
    newer.spec.versions.truncate(1);
    let mut older = newer.clone();
    older.spec.versions[0].name = "v1beta1".to_owned();
    cluster.apply_crds(&[older.clone()]).await;
    let _manager = Manager::start(&cluster, Options::default()).await;
    let namespace = cluster.namespace("versions").await;
    let stage = Stage::on(&cluster, &namespace);
    stage.put_template("t", &module(&[])).await;
    stage.put_apply("before", json!({ "templateRef": { "name": "t" } })).await;
    stage.condition("before", "Applied", "True", "UpToDate").await;

    let mut both = newer;
    older.spec.versions[0].storage = false;
    both.spec.versions.push(older.spec.versions.remove(0));
    cluster.apply_crds(&[both]).await;
    let clusters: Api<capt_api::Cluster> = stage.api();
    eventually("the newer version to be served", async || {
        clusters.list(&kube::api::ListParams::default()).await
    })
    .await;
    stage
        .put::<capt_api::Cluster>(json!({ "metadata": { "name": "demo" }, "spec": { "paused": true } }))
        .await;
    let metadata = json!({ "name": "before", "labels": { "cluster.x-k8s.io/cluster-name": "demo" } });
    let spec = json!({ "templateRef": { "name": "t" } });
    stage.put::<capt_api::WorkspaceTemplateApply>(json!({ "metadata": metadata, "spec": spec })).await;
    stage.condition("before", "Paused", "True", "Paused").await;
}

fn election(namespace: &str, identity: &str) -> Options {
    let leader_election = LeaderElection {
        namespace: namespace.to_owned(),
        name: "capt".to_owned(),
        identity: identity.to_owned(),
        lease_duration: Duration::from_secs(600),
    };
    Options {
        namespace: Some(namespace.to_owned()),
        leader_election: Some(leader_election),
        ..Options::default()
    }
}

#[tokio::test]
async fn one_manager_leads_and_hands_over_when_it_stops() {
    let stage = Stage::without_manager().await;
    let leases: Api<Lease> = stage.api();
    let holder = |lease: &Lease| lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone());
    let first = Manager::start(cluster().await, election(&stage.namespace, "first")).await;
    watch_until("the first to lead", &leases, "capt", |lease: &Lease| {
        holder(lease).as_deref() == Some("first")
    })
    .await;

    let address = free_address();
    let options = Options { diagnostics_address: Some(address), ..election(&stage.namespace, "second") };
    let second = Manager::start(cluster().await, options).await;
    eventually("the second to stand by", async || {
        get(address, "/readyz").await.is_ok_and(|answer| answer.contains("standing by"))
    })
    .await;
    assert_eq!(holder(&leases.get("capt").await.unwrap()).as_deref(), Some("first"));

    // The Lease would last ten minutes; released, it passes on at once.
    first.stop().await;
    watch_until("the second to lead", &leases, "capt", |lease: &Lease| {
        holder(lease).as_deref() == Some("second")
    })
    .await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
    second.stop().await;
    assert_eq!(holder(&leases.get("capt").await.unwrap()), None);
}

#[tokio::test]
async fn a_filtered_manager_leaves_others_alone() {
    let stage = Stage::without_manager().await;
    let options = Options {
        namespace: Some(stage.namespace.clone()),
        watch_filter: Some("mine".to_owned()),
        ..Options::default()
    };
    let _manager = Manager::start(cluster().await, options).await;
    stage.put_template("t", &module(&[])).await;
    let (mine, other) = (stage.unique("mine"), stage.unique("other"));
    let spec = json!({ "templateRef": { "name": "t" } });
    stage.put_apply(&other, spec.clone()).await;
    let labels = json!({ "cluster.x-k8s.io/watch-filter": "mine" });
    stage
        .put::<capt_api::WorkspaceTemplateApply>(
            json!({ "metadata": { "name": mine, "labels": labels }, "spec": spec }),
        )
        .await;
    stage.condition(&mine, "Applied", "True", "UpToDate").await;
    assert!(stage.applies().get(&other).await.unwrap().status.is_none());
}
