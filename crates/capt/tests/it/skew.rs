//! CRDs of another version, and managers at once, with real processes.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::annotation;
use capt_testkit::TestCluster;
use capt_testkit::home::{processes_in, signal, wait};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::up::{CAPT, Place, STOPPED_WITHIN};
use crate::{capt, told};

const APPLIES: &str = "workspacetemplateapplies.infrastructure.cluster.x-k8s.io";
const NEXT: &str = "99.0.0";
/// What stopping a manager may take on a busy machine.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// A manager of an installation, and what it logs.
struct Manager {
    process: Child,
    log: Lines<BufReader<ChildStderr>>,
}

impl Manager {
    fn start(kubeconfig: &Path, namespace: &str) -> Self {
        let mut command = Command::new(CAPT);
        command.args(["--log-format", "json", "manager", "--engine", "crossplane"]);
        command.args(["--diagnostics-address", "none", "--leader-election-namespace", namespace]);
        let mut process = command.arg("--kubeconfig").arg(kubeconfig).stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(process.stderr.take().unwrap()).lines();
        Self { process, log }
    }

    /// Reads on until a line says this. A process that ends ends its log.
    fn says(&mut self, message: &str) -> Value {
        let lines = self.log.by_ref().map_while(Result::ok);
        let mut lines = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let found = lines.find(|line| line["message"].as_str().is_some_and(|said| said.contains(message)));
        assert!(found.is_some(), "nothing in the log says: {message}");
        found.unwrap()
    }

    fn stop(mut self) {
        signal(&self.process, Signal::TERM).unwrap();
        self.says("the manager has stopped");
        assert_eq!(wait(&mut self.process, ENDS_WITHIN).unwrap().code(), Some(0));
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn current() -> Vec<CustomResourceDefinition> {
    [own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat()
}

fn older() -> CustomResourceDefinition {
    let mut crd = own().into_iter().find(|crd| crd.name_any() == APPLIES).unwrap();
    let root = crd.spec.versions[0].schema.as_mut().unwrap().open_api_v3_schema.as_mut().unwrap();
    let status = root.properties.as_mut().unwrap().get_mut("status").unwrap();
    status.properties.as_mut().unwrap().remove("pendingDigest").unwrap();
    crd.annotations_mut().remove(annotation::VERSION);
    crd
}

#[tokio::test(flavor = "multi_thread")]
async fn managers_tell_what_they_wait_for_and_one_of_them_acts() {
    let cluster = TestCluster::start().await;
    cluster.apply_crds(&current()).await;
    cluster.apply_crds(&[older()]).await;
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = directory.path().join("kubeconfig");
    std::fs::write(&kubeconfig, cluster.control_plane().kubeconfig()).unwrap();
    let (one, other) = (cluster.namespace("one").await, cluster.namespace("other").await);

    let mut first = Manager::start(&kubeconfig, &one);
    let line = first.says("is older than this capt");
    assert_eq!(line["level"], "WARN");
    assert_eq!(line["crd"], APPLIES);
    assert_eq!(line["fix"], "capt crds | kubectl apply --server-side --force-conflicts -f -");
    let doctor = capt().env("KUBECONFIG", &kubeconfig).arg("doctor").output().unwrap();
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(report.contains("it has no field status.pendingDigest"), "{report}");

    // As the fix says, while the manager runs.
    let crds = capt().args(["crds", "--output", "json"]).output().unwrap().stdout;
    let crds: Value = serde_json::from_slice(&crds).unwrap();
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client());
    for crd in crds["items"].as_array().unwrap() {
        let name = crd["metadata"]["name"].as_str().unwrap();
        api.patch(name, &PatchParams::apply("kubectl").force(), &Patch::Apply(crd)).await.unwrap();
    }
    first.says("leading");
    first.says("watching and reconciling");

    let mut second = Manager::start(&kubeconfig, &other);
    let line = second.says("another manager looks at the same objects; standing by until it stops");
    let managers = line["managers"].as_str().unwrap();
    let expected = format!("(namespace {one}, CAPT {})", env!("CARGO_PKG_VERSION"));
    assert!(managers.ends_with(&expected), "{managers}");
    first.stop();
    second.says("watching and reconciling");
    second.stop();
}

#[tokio::test]
async fn up_leaves_the_kinds_of_a_newer_capt_as_they_are() {
    let place = Place::new();
    let mut home = place.up();
    let api: Api<CustomResourceDefinition> = Api::all(home.client().await.unwrap());
    let newer = json!({ "metadata": { "annotations": { annotation::VERSION: NEXT } } });
    api.patch(APPLIES, &PatchParams::default(), &Patch::Merge(newer)).await.unwrap();
    home.signal(Signal::TERM).unwrap();
    home.wait(STOPPED_WITHIN).unwrap();

    let mut home = place.up();
    let told_of = format!("{APPLIES} is newer than this capt: it is of CAPT {NEXT}");
    assert!(place.messages().contains(&told_of), "{}", place.messages());
    let api: Api<CustomResourceDefinition> = Api::all(home.client().await.unwrap());
    assert_eq!(api.get(APPLIES).await.unwrap().annotations()[annotation::VERSION], NEXT);
    let mut too_new = older();
    too_new.annotations_mut().insert(annotation::VERSION.to_owned(), NEXT.to_owned());
    api.patch(APPLIES, &PatchParams::apply("capt").force(), &Patch::Apply(too_new)).await.unwrap();
    home.signal(Signal::TERM).unwrap();
    home.wait(STOPPED_WITHIN).unwrap();

    let refused = told(capt().args(["up", "--dir"]).arg(place.directory()), 1);
    assert!(refused.contains("it has no field status.pendingDigest any more"), "{refused}");
    assert!(refused.contains(&format!("use capt {NEXT}")), "{refused}");
    assert_eq!(processes_in(&place.directory()).unwrap(), []);
}
