//! CRDs that are older than the manager: it waits, tells what to run, and goes on by itself.

use std::net::SocketAddr;

use capt_api::WorkspaceTemplateApply;
use capt_api::crd::Foreign;
use capt_api::names::MANAGER_LEASE;
use capt_controller::install::{Kinds, Outcome, install};
use capt_controller::options::{LeaderElection, Options};
use capt_testkit::{DEADLINE, TestCluster, eventually};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, ResourceExt};
use serde_json::json;

use super::crds::{NEXT, current, newer, of_kind, older};
use crate::managers::{free_address, get};
use crate::stage::{Manager, Stage, module, permit};

/// Waits until the probe answers like this.
async fn probe(address: SocketAddr, status: &str, text: &str) -> String {
    eventually(&format!("the probe to say {status}: {text}"), async || match get(address, "/readyz").await {
        Ok(answer) if answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(text) => {
            Ok(answer)
        }
        other => Err(format!("{other:?}")),
    })
    .await
}

fn options(namespace: &str, address: SocketAddr) -> Options {
    let leader_election = LeaderElection {
        namespace: namespace.to_owned(),
        name: MANAGER_LEASE.to_owned(),
        identity: "only".to_owned(),
        lease_duration: DEADLINE,
    };
    Options {
        leader_election: Some(leader_election),
        diagnostics_address: Some(address),
        ..Options::default()
    }
}

#[tokio::test]
async fn a_manager_waits_for_the_crds_that_it_needs_and_goes_on_by_itself() {
    let cluster = TestCluster::start().await;
    permit(&cluster).await;
    cluster.apply_crds(&current()).await;
    cluster.apply_crds(&[older()]).await;
    let namespace = cluster.namespace("older").await;
    let stage = Stage::on(&cluster, &namespace);
    let address = free_address();
    let manager = Manager::start(&cluster, options(&namespace, address)).await;

    let told = probe(address, "503", "workspacetemplateapplies").await;
    assert!(told.contains("is older than this capt: it is of CAPT 0.0.1"), "{told}");
    assert!(told.contains("it has no field status.pendingDigest"), "{told}");
    assert!(told.contains("do: capt crds | kubectl apply --server-side"), "{told}");
    assert!(get(address, "/healthz").await.unwrap().starts_with("HTTP/1.1 200"));
    let metrics = get(address, "/metrics").await.unwrap();
    assert!(metrics.contains("capt_unfit_kinds 1\n") && metrics.contains("capt_leader 0\n"), "{metrics}");
    let leases: Api<Lease> = stage.api();
    assert!(leases.get_opt(MANAGER_LEASE).await.unwrap().is_none(), "it stood for election");
    stage.put_template("t", &module(&[])).await;
    stage.put_apply("x", json!({ "templateRef": { "name": "t" } })).await;

    cluster.apply_crds(&[of_kind("WorkspaceTemplateApply")]).await;
    stage.condition("x", "Applied", "True", "UpToDate").await;
    probe(address, "200", "ok").await;

    // Somebody puts the old ones back while it runs.
    cluster.apply_crds(&[older()]).await;
    probe(address, "503", "is older than this capt").await;
    eventually("the Lease to be free for a manager that fits", async || {
        let lease = leases.get(MANAGER_LEASE).await.unwrap();
        lease.spec.unwrap().holder_identity.is_none()
    })
    .await;
    let before = stage.applies().get("x").await.unwrap();
    stage.put_apply("y", json!({ "templateRef": { "name": "t" } })).await;
    assert!(get(address, "/metrics").await.unwrap().contains("capt_leader 0\n"));
    cluster.apply_crds(&[of_kind("WorkspaceTemplateApply")]).await;
    stage.condition("y", "Applied", "True", "UpToDate").await;
    let after = stage.applies().get("x").await.unwrap();
    assert_eq!((after.uid(), after.metadata.finalizers), (before.uid(), before.metadata.finalizers));
    manager.stop().await;
}

#[tokio::test]
async fn a_version_of_the_api_that_is_not_served_any_more_is_told() {
    let cluster = TestCluster::start().await;
    permit(&cluster).await;
    let mut crds = current();
    let next = crds.iter_mut().find(|crd| crd.spec.names.kind == "WorkspaceTemplateApply").unwrap();
    next.spec.versions[0].name = "v1".to_owned();
    next.annotations_mut().insert(capt_api::names::annotation::VERSION.to_owned(), NEXT.to_owned());
    cluster.apply_crds(&crds).await;
    let address = free_address();
    let options = Options { diagnostics_address: Some(address), ..Options::default() };
    let _manager = Manager::start(&cluster, options).await;
    let told = probe(address, "503", "is not served in version v1beta1").await;
    assert!(told.contains("but in v1 (it is of CAPT 99.0.0"), "{told}");
    assert!(told.contains("do: use capt 99.0.0"), "{told}");
}

/// What another CAPT may have brought for kinds of others holds up the manager too, since it is CAPT's.
#[tokio::test]
async fn an_older_compatible_kind_is_waited_for_unless_it_is_somebody_elses() {
    let cluster = TestCluster::start().await;
    permit(&cluster).await;
    let mut crds = current();
    let workspaces = crds.iter_mut().find(|crd| crd.spec.names.kind == "Workspace").unwrap();
    let status = super::crds::schema(workspaces, &["status"]);
    status.properties.as_mut().unwrap().remove("lastHandledReconcileAt").unwrap();
    cluster.apply_crds(&crds).await;
    let address = free_address();
    let options = Options { diagnostics_address: Some(address), ..Options::default() };
    let _manager = Manager::start(&cluster, options).await;
    let told = probe(address, "503", "workspaces.tf.upbound.io is older").await;
    assert!(told.contains("capt crds --include terraform |"), "{told}");

    let mut theirs = capt_api::crd::foreign(Foreign::Terraform)
        .into_iter()
        .find(|crd| crd.spec.names.kind == "Workspace")
        .unwrap();
    let status = super::crds::schema(&mut theirs, &["status"]);
    status.properties.as_mut().unwrap().remove("lastHandledReconcileAt").unwrap();
    theirs.labels_mut().insert(capt_api::names::label::PROVIDER.to_owned(), "somebody".to_owned());
    cluster.apply_crds(&[theirs]).await;
    probe(address, "200", "ok").await;
}

#[tokio::test]
async fn the_crds_of_a_newer_capt_are_not_overwritten() {
    let cluster = TestCluster::start().await;
    cluster.apply_crds(&newer()).await;
    let outcomes = install(&cluster.client(), Kinds::Own, &capt_api::crd::own()).await.unwrap();
    for (name, outcome) in outcomes {
        assert!(matches!(outcome, Outcome::Newer(ref skew) if !skew.holds_up(None)), "{name}: {outcome:?}");
    }
    let applies: Api<WorkspaceTemplateApply> = Api::all(cluster.client());
    assert!(applies.list(&kube::api::ListParams::default()).await.is_ok());
    cluster.apply_crds(&[older()]).await;
    let outcomes =
        install(&cluster.client(), Kinds::Own, &[of_kind("WorkspaceTemplateApply")]).await.unwrap();
    assert_eq!(outcomes[0].1, Outcome::Installed);
}
