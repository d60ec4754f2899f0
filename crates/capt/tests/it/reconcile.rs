//! `capt reconcile` against a real API server. The test plays the manager.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use capt_api::AddonStackBinding;
use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::{annotation, label};
use capt_testkit::{TestCluster, watch_until};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::{CustomResourceExt, ResourceExt};
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::up::CAPT;
use crate::{capt, told};

/// A namespace with bindings, and the way there.
struct Stage {
    namespace: String,
    bindings: Api<AddonStackBinding>,
    directory: TempDir,
}

impl Stage {
    async fn set(bound: &[(&str, &str)]) -> Self {
        let cluster = TestCluster::shared().await;
        let mut definitions = own();
        definitions.extend(foreign(Foreign::ClusterApi));
        let kinds =
            [AddonStackBinding::crd_name(), capt_api::AddonStack::crd_name(), capt_api::Cluster::crd_name()];
        definitions.retain(|definition| kinds.contains(&definition.name_any().as_str()));
        cluster.apply_crds(&definitions).await;
        let namespace = cluster.namespace("reconcile").await;
        let bindings = Api::namespaced(cluster.client(), &namespace);
        for (stack, cluster) in bound {
            let binding = json!({
                "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStackBinding",
                "metadata": {
                    "name": format!("{stack}.{cluster}"),
                    "labels": { label::STACK: stack, label::CLUSTER_NAME: cluster },
                },
                "spec": { "clusterName": cluster, "stackName": stack },
            });
            let binding = serde_json::from_value(binding).unwrap();
            bindings.create(&PostParams::default(), &binding).await.unwrap();
        }
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("kubeconfig"), cluster.control_plane().kubeconfig()).unwrap();
        Self { namespace, bindings, directory }
    }

    fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("kubeconfig")
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(CAPT);
        command.args(["--output", "json", "reconcile"]).args(arguments);
        command.args(["--namespace", &self.namespace, "--kubeconfig"]).arg(self.kubeconfig());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Which bindings were asked for, and by which request.
    async fn requests(&self) -> BTreeMap<String, String> {
        let listed = self.bindings.list(&ListParams::default()).await.unwrap();
        let asked = listed.into_iter().filter_map(|binding| {
            let request = binding.annotations().get(annotation::REQUESTED_AT)?.clone();
            Some((binding.name_any(), request))
        });
        asked.collect()
    }

    /// Does what the manager does when it is asked.
    async fn handle(&self, name: &str, state: &str, reason: &str) {
        let is_asked =
            |binding: &AddonStackBinding| binding.annotations().contains_key(annotation::REQUESTED_AT);
        let asked = watch_until("the request", &self.bindings, name, is_asked).await;
        let step =
            json!({ "name": "flux", "state": state, "reason": reason, "since": "2026-01-02T03:04:05Z" });
        let request = &asked.annotations()[annotation::REQUESTED_AT];
        let patch = json!({ "status": { "lastHandledRequest": request, "addons": [step] } });
        self.bindings.patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }
}

async fn ended(child: Child) -> (Option<i32>, Value, String) {
    let Output { status, stdout, stderr } =
        tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
    let printed = serde_json::from_slice(&stdout).unwrap_or_default();
    (status.code(), printed, String::from_utf8(stderr).unwrap())
}

fn names(printed: &Value) -> Vec<&str> {
    printed["bindings"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[rstest]
#[case::a_cluster(&["cluster", "prod"], &["base.prod", "more.prod"])]
#[case::a_stack(&["addonstack", "base"], &["base.prod", "base.test"])]
#[case::a_stack_in_a_cluster(&["addonstack", "base", "--cluster", "test"], &["base.test"])]
#[tokio::test]
async fn what_is_meant_is_asked_for_and_nothing_else(#[case] arguments: &[&str], #[case] expected: &[&str]) {
    let stage = Stage::set(&[("base", "prod"), ("more", "prod"), ("base", "test"), ("other", "x")]).await;

    let (code, printed, told) = ended(stage.start(arguments)).await;

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(names(&printed), expected);
    let requests = stage.requests().await;
    assert_eq!(requests.keys().collect::<Vec<_>>(), expected);
    assert!(requests.values().all(|request| *request == printed["requestedAt"]), "{requests:?} {printed}");
    let fraction = printed["requestedAt"].as_str().unwrap().split_once('.').unwrap().1;
    assert_eq!(fraction.len(), "123456789Z".len(), "to the nanosecond");
}

#[tokio::test]
async fn whoever_waits_is_told_what_came_of_it() {
    let stage = Stage::set(&[("base", "prod"), ("base", "test")]).await;

    let good = stage.start(&["cluster", "test", "--wait"]);
    stage.handle("base.test", "Ready", "AddonReady").await;
    let (code, printed, told) = ended(good).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(printed["bindings"][0]["addons"][0]["state"], "Ready");

    let bad = stage.start(&["addonstack", "base", "--cluster", "prod", "--wait"]);
    stage.handle("base.prod", "Failed", "ObjectRefused").await;
    let (code, printed, told) = ended(bad).await;
    assert_eq!(code, Some(1), "{told}");
    assert_eq!(printed["bindings"][0]["result"], "Failed");
    assert!(told.contains("error: not everything goes well: see AddonStackBinding `base.prod`"), "{told}");
}

#[tokio::test]
async fn a_manager_that_does_not_answer_is_told_in_the_end() {
    let stage = Stage::set(&[("base", "prod")]).await;

    let (code, printed, told) = ended(stage.start(&["cluster", "prod", "--wait", "--timeout", "0s"])).await;

    assert_eq!(code, Some(1), "{told}");
    assert_eq!(printed["bindings"][0]["result"], "Unanswered");
    assert!(told.contains("error: CAPT has not come to AddonStackBinding `base.prod` within 0 s"), "{told}");
}

#[tokio::test]
async fn where_nothing_is_bound_it_is_said_what_to_do() {
    let stage = Stage::set(&[("base", "prod")]).await;

    let (code, _, told) = ended(stage.start(&["cluster", "nowhere"])).await;

    assert_eq!(code, Some(1));
    assert_eq!(told, format!("error: there is no Cluster `nowhere` in the namespace {}\n", stage.namespace));
    assert_eq!(stage.requests().await, BTreeMap::new());
}

#[test]
fn a_context_that_is_not_there_is_named() {
    let (_directory, path) = crate::manager::file(crate::manager::NOBODY_THERE);
    let arguments = ["reconcile", "cluster", "x", "--context", "elsewhere", "--kubeconfig"];

    let told = told(capt().args(arguments).arg(&path), 1);

    let expected = format!("error: the kubeconfig {} has no context `elsewhere`: ", path.display());
    assert!(told.starts_with(&expected), "{told}");
}

#[test]
fn without_a_kubeconfig_the_home_of_capt_up_is_meant() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("capt");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("kubeconfig"), "apiVersion: v1\nkind: Config\n").unwrap();
    let mut command = capt();
    command.args(["reconcile", "cluster", "x"]).env("HOME", directory.path());

    let told = told(command.env("XDG_DATA_HOME", directory.path()), 1);

    let expected =
        format!("error: the kubeconfig {} has no current-context", home.join("kubeconfig").display());
    assert!(told.starts_with(&expected), "{told}");
}
