//! A manager needs its own namespace: it makes it where it may, and otherwise says what to run.

use std::path::PathBuf;

use capt_api::crd::own;
use capt_controller::rbac;
use capt_testkit::{TestCluster, eventually, watch_until};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::process::Manager;

static CLUSTER: OnceCell<TestCluster> = OnceCell::const_new();

/// An API server with CAPT's kinds and nothing else: as after `capt crds | kubectl apply`.
async fn cluster() -> &'static TestCluster {
    let start = async || {
        let cluster = TestCluster::start().await;
        cluster.apply_crds(&own()).await;
        cluster
    };
    CLUSTER.get_or_init(start).await
}

fn file(kubeconfig: &str) -> (TempDir, PathBuf) {
    super::file(kubeconfig)
}

fn made<K: serde::de::DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

fn namespace(name: &str) -> Namespace {
    made(json!({ "metadata": { "name": name } }))
}

/// A user with the rights of an installed manager, in every namespace: it may read namespaces and make none.
async fn installed_manager(cluster: &TestCluster) -> String {
    const NAME: &str = "installed-manager";
    let rules = [rbac::rules(), rbac::own_namespace_rules()].concat();
    let cluster_roles: Api<ClusterRole> = Api::all(cluster.client());
    let bindings: Api<ClusterRoleBinding> = Api::all(cluster.client());
    let role: ClusterRole = made(json!({ "metadata": { "name": NAME }, "rules": rules }));
    let binding: ClusterRoleBinding = made(json!({
        "metadata": { "name": NAME },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": NAME }],
    }));
    cluster_roles.create(&PostParams::default(), &role).await.unwrap();
    bindings.create(&PostParams::default(), &binding).await.unwrap();
    cluster.control_plane().kubeconfig_for(NAME, &[]).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_is_missing_is_made() {
    let cluster = cluster().await;
    let (_directory, kubeconfig) = file(&cluster.control_plane().kubeconfig());

    // As in the help, but for what other tests would see.
    let manager = Manager::start(&kubeconfig, &["--namespace", "made"]);

    manager.says(&["watching and reconciling"]).await;
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    assert!(namespaces.get_opt("capt-system").await.unwrap().is_some());
    manager.says(&["created the namespace", "capt-system"]).await;
    manager.speaks_to_people();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_not_make_it_is_told_what_to_run_and_goes_on_when_it_is_there() {
    let cluster = cluster().await;
    let (_directory, kubeconfig) = file(&installed_manager(cluster).await);

    let arguments = ["--namespace", "told", "--leader-election-namespace", "not-yet"];
    let manager = Manager::start(&kubeconfig, &arguments);

    let line = manager.says(&["kubectl create namespace not-yet"]).await;
    assert!(line.contains("WARN") && line.contains("namespace `not-yet` does not exist"), "{line}");
    eventually("readiness says it too", async || {
        let readiness = manager.readiness();
        let said = readiness.contains("503") && readiness.contains("run `kubectl create namespace not-yet`");
        if said { Ok(()) } else { Err(readiness) }
    })
    .await;

    let namespaces: Api<Namespace> = Api::all(cluster.client());
    namespaces.create(&PostParams::default(), &namespace("not-yet")).await.unwrap();
    manager.says(&["leading"]).await;
    eventually("readiness has forgotten it", async || !manager.readiness().contains("not-yet")).await;
    manager.speaks_to_people();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_is_being_deleted_is_waited_for_and_made_again() {
    let cluster = cluster().await;
    let (_directory, kubeconfig) = file(&cluster.control_plane().kubeconfig());
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    namespaces.create(&PostParams::default(), &namespace("ending")).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), "ending");
    let held = made(json!({ "metadata": { "name": "held", "finalizers": ["test.capt/held"] } }));
    maps.create(&PostParams::default(), &held).await.unwrap();
    let old = namespaces.delete("ending", &DeleteParams::default()).await.unwrap();
    let old = old.left().and_then(|namespace| namespace.metadata.uid);

    let arguments = ["--namespace", "ended", "--leader-election-namespace", "ending"];
    let manager = Manager::start(&kubeconfig, &arguments);

    manager.says(&["namespace `ending` is being deleted"]).await;
    let free = json!({ "metadata": { "finalizers": null } });
    maps.patch("held", &PatchParams::default(), &Patch::Merge(free)).await.unwrap();
    manager.says(&["leading"]).await;
    watch_until("it is a new one", &namespaces, "ending", |namespace| namespace.metadata.uid != old).await;
    manager.speaks_to_people();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_goes_away_under_a_leader_is_made_again() {
    let cluster = cluster().await;
    let (_directory, kubeconfig) = file(&cluster.control_plane().kubeconfig());
    let arguments = ["--namespace", "under", "--leader-election-namespace", "going"];
    let manager = Manager::start(&kubeconfig, &arguments);
    manager.says(&["watching and reconciling"]).await;
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    let old = namespaces.get("going").await.unwrap().metadata.uid;

    namespaces.delete("going", &DeleteParams::default()).await.unwrap();

    watch_until("it is a new one", &namespaces, "going", |namespace| namespace.metadata.uid != old).await;
    eventually("it leads again", async || {
        let leads = |log: &[String]| log.iter().filter(|line| line.contains("\"leading\"")).count() == 2;
        if leads(&manager.log()) { Ok(()) } else { Err(manager.log().join("\n")) }
    })
    .await;
    manager.speaks_to_people();
}

/// States of Workspaces that nobody derived, and the accounts of runs, are in the manager's own namespace.
#[tokio::test(flavor = "multi_thread")]
async fn what_runs_of_terraform_need_is_made_without_any_election_too() {
    let cluster = cluster().await;
    let (directory, kubeconfig) = file(&cluster.control_plane().kubeconfig());
    capt_testkit::terraform::binary();

    let work = directory.path().join("terraform").display().to_string();
    let arguments = ["--leader-elect=false", "--namespace", "engine", "--terraform-directory", &work];
    let manager = Manager::start_with_engine(&kubeconfig, "for-the-engine", &arguments);

    manager.says(&["watching and reconciling"]).await;
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    assert!(namespaces.get_opt("for-the-engine").await.unwrap().is_some());
    manager.speaks_to_people();
}
