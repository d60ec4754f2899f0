//! `capt up` with real parts. Each start takes seconds, so a test tells a whole story of one home.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use capt_testkit::home::{Home, processes_in, signal, wait, wait_until_empty};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams, PostParams};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use crate::{capt, told};

pub(crate) const CAPT: &str = env!("CARGO_BIN_EXE_capt");
/// What stopping a whole control plane may take on a busy machine.
pub(crate) const STOPPED_WITHIN: Duration = Duration::from_secs(40);
/// What `capt manager` promises.
const MANAGER_ENDS_WITHIN: Duration = Duration::from_secs(5);

/// A place for homes that come and go.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn messages(&self) -> String {
        fs::read_to_string(self.root.path().join("messages")).unwrap()
    }

    pub(crate) fn up(&self) -> Home {
        Home::start(Path::new(CAPT), &self.directory(), &self.root.path().join("messages")).unwrap()
    }
}

fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

const MANAGER: [&str; 7] = [
    "--log-format",
    "json",
    "manager",
    "--leader-elect=false",
    "--diagnostics-address",
    "none",
    "--kubeconfig",
];

/// A manager in a pod without Terraform.
fn manager(home: &Home, nowhere: &Path) -> Child {
    let mut command = Command::new(CAPT);
    command.args(MANAGER).arg(&home.announcement().kubeconfig).envs(pod(nowhere));
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// The variables of a pod in which nothing is found.
fn pod(nowhere: &Path) -> [(&'static str, &Path); 5] {
    ["KUBERNETES_SERVICE_HOST", "PATH", "CAPT_ASSETS", "KUBEBUILDER_ASSETS", "XDG_CACHE_HOME"]
        .map(|variable| (variable, nowhere))
}

fn wait_until_connected(manager: &mut Child) {
    let lines = BufReader::new(manager.stderr.take().unwrap()).lines().map_while(Result::ok);
    let connected = lines.into_iter().any(|line| line.contains("connected to the API server"));
    assert!(connected, "the manager connects");
}

#[test]
fn up_serves_one_directory_until_it_is_told_to_stop() {
    let place = Place::new();
    let mut home = place.up();

    let announcement = home.announcement().clone();
    assert_eq!(announcement.directory, place.directory());
    assert_eq!(announcement.kubeconfig, place.directory().join("kubeconfig"));
    assert!(announcement.server.starts_with("https://127.0.0.1:"), "{announcement:?}");
    assert!(fs::read_to_string(&announcement.kubeconfig).unwrap().contains(&announcement.server));

    let refused = told(capt().args(["up", "--dir"]).arg(place.directory()), 1);
    assert!(refused.contains("is in use by another capt"), "{refused}");

    let nowhere = place.root.path().join("nowhere");
    let without = told(capt().args(MANAGER).arg(&announcement.kubeconfig).envs(pod(&nowhere)), 1);
    assert!(without.contains("there is no Terraform to run Workspaces with"), "{without}");

    home.signal(Signal::TERM).unwrap();
    assert_eq!(home.wait(STOPPED_WITHIN).unwrap().code(), Some(0), "{}", place.messages());
    assert_eq!(processes_in(&place.directory()).unwrap(), []);
}

#[tokio::test]
async fn a_killed_up_leaves_nothing_running_and_comes_back_as_it_was() {
    let place = Place::new();
    let mut home = place.up();
    let before = home.announcement().clone();
    let made = remember(&home).await;
    take_over_workspaces(&home).await;

    home.signal(Signal::KILL).unwrap();
    home.wait(STOPPED_WITHIN).unwrap();
    wait_until_empty(&place.directory(), STOPPED_WITHIN).unwrap();

    let mut home = place.up();
    assert_eq!(home.announcement(), &before);
    assert_eq!(recall(&home).await, made);
    assert_that_workspaces_were_left_alone(&home, &place).await;

    // Crossplane runs Workspaces, so that no Terraform is needed.
    let mut manager = manager(&home, &place.root.path().join("nowhere"));
    wait_until_connected(&mut manager);
    // From here on nobody reads its log any more, which must not matter.
    signal(&manager, Signal::TERM).unwrap();
    assert_eq!(wait(&mut manager, MANAGER_ENDS_WITHIN).unwrap().code(), Some(0));

    let etcd = processes_in(&place.directory()).unwrap();
    let (etcd, _) = etcd.iter().find(|(_, command)| command.contains("--data-dir=")).unwrap();
    send(*etcd, Signal::KILL);
    assert_eq!(home.wait(STOPPED_WITHIN).unwrap().code(), Some(1));
    assert!(place.messages().contains("error: etcd ended unexpectedly (signal: 9"), "{}", place.messages());
    wait_until_empty(&place.directory(), STOPPED_WITHIN).unwrap();
}

async fn config_maps(home: &Home) -> Api<ConfigMap> {
    Api::namespaced(home.client().await.unwrap(), "default")
}

async fn remember(home: &Home) -> ConfigMap {
    let config_map = json!({ "metadata": { "name": "memory" }, "data": { "was": "here" } });
    let config_map = serde_json::from_value(config_map).unwrap();
    config_maps(home).await.create(&PostParams::default(), &config_map).await.unwrap()
}

async fn recall(home: &Home) -> ConfigMap {
    config_maps(home).await.get("memory").await.unwrap()
}

const WORKSPACES: &str = "workspaces.tf.upbound.io";

async fn definitions(home: &Home) -> Api<CustomResourceDefinition> {
    Api::all(home.client().await.unwrap())
}

/// What Crossplane does when it arrives: the CRD gets an owner, and a form of its own.
async fn take_over_workspaces(home: &Home) {
    let owner = json!({
        "apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision", "name": "provider-terraform", "uid": "1",
    });
    let names = json!({ "shortNames": ["theirs"] });
    let patch = json!({ "metadata": { "ownerReferences": [owner] }, "spec": { "names": names } });
    let parameters = PatchParams::default();
    definitions(home).await.patch(WORKSPACES, &parameters, &Patch::Merge(patch)).await.unwrap();
}

async fn assert_that_workspaces_were_left_alone(home: &Home, place: &Place) {
    let crd = definitions(home).await.get(WORKSPACES).await.unwrap();
    assert_eq!(crd.spec.names.short_names, Some(vec!["theirs".to_owned()]));
    let message =
        format!("{WORKSPACES} was left as it is: it belongs to the Crossplane package provider-terraform");
    assert!(place.messages().contains(&message), "{}", place.messages());
}
