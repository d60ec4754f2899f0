//! Real clusters that a Terraform module makes on this machine, and that a home looks after.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_testkit::home::{Home, processes_in, wait_until_empty};
use capt_testkit::{eventually, terraform, watch_until};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt};
use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::examples::{NAMESPACE, api, apply, example, is_applied, outputs};
use crate::up::{CAPT, STOPPED_WITHIN};
use crate::{capt, told};

/// What stopping and deleting may take on a busy machine.
const GONE_WITHIN: Duration = Duration::from_secs(60);

/// A place for homes that come and go.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Not every shell takes such a name as one word.
    fn directory(&self) -> PathBuf {
        self.0.path().join("it's my \"$HOME\"")
    }

    fn workload(&self, name: &str) -> PathBuf {
        self.directory().join("workloads").join(name)
    }

    fn up(&self) -> Home {
        let binary = terraform::binary();
        let arguments = ["--terraform-binary", binary.to_str().unwrap()];
        Home::start_with(Path::new(CAPT), &self.directory(), &self.messages(), &arguments).unwrap()
    }

    fn messages(&self) -> PathBuf {
        self.0.path().join("messages")
    }

    /// A run of `capt workload`, with what it printed and told.
    fn ask(&self, verb: &str, name: &str) -> (bool, Value, String) {
        let mut command = capt();
        command.args(["--output", "json", "workload", verb, "--name", name, "--home"]);
        let output = command.arg(self.directory()).output().unwrap();
        let printed = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.success(), printed, String::from_utf8(output.stderr).unwrap())
    }
}

/// The templates of `examples/demo`, which know where this home is, and an apply of each.
fn manifests(home: &Path) -> Vec<DynamicObject> {
    let mut objects = example("demo/template.yaml");
    for template in objects.iter_mut().filter(|object| object.name_any() == "demo-control-plane") {
        let module = &mut template.data["spec"]["template"]["spec"]["forProvider"];
        module["vars"] = json!([{ "key": "home", "value": home }, { "key": "capt_binary", "value": CAPT }]);
    }
    let use_of = |name: &str, template: &str, variables: Value| {
        let object = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
            "metadata": { "name": format!("{name}-apply"), "namespace": NAMESPACE },
            "spec": { "templateRef": { "name": template }, "variables": variables },
        });
        serde_json::from_value(object).unwrap()
    };
    let control_plane = json!({ "cluster_name": "demo", "kubernetes_version": "1.30", "region": "here" });
    objects.push(use_of("network", "demo-network", json!({ "region": "here" })));
    objects.push(use_of("control-plane", "demo-control-plane", control_plane));
    objects
}

async fn client_of(kubeconfig: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

async fn namespaces(kubeconfig: &str) -> Result<Vec<String>, kube::Error> {
    let namespaces: Api<Namespace> = Api::all(client_of(kubeconfig).await);
    Ok(namespaces.list(&ListParams::default()).await?.iter().map(ResourceExt::name_any).collect())
}

#[rstest]
#[case("start")]
#[case("stop")]
#[case("status")]
fn a_home_that_does_not_run_is_named_with_what_to_do(#[case] verb: &str) {
    let place = Place::new();
    let home = place.directory();

    let told = told(capt().args(["workload", verb, "--name", "demo", "--home"]).arg(&home), 1);

    let home = home.display();
    assert_eq!(
        told,
        format!("error: the home in {home} does not run: start it with `capt up --dir {home}`\n")
    );
}

#[tokio::test]
async fn a_module_makes_a_real_cluster_that_the_home_looks_after() {
    let place = Place::new();
    let home = place.up();
    let (_, status, _) = place.ask("status", "demo");
    assert_eq!(status, json!({ "state": "absent" }));
    let (stopped, _, messages) = place.ask("stop", "nobody");
    assert!(stopped, "{messages}");

    let home = begin_and_interrupt(home, &place).await;
    let outputs = assert_that_the_cluster_is_there(&home, &place).await;
    let home = assert_that_a_killed_home_brings_it_back(home, &place, &outputs).await;
    assert_that_it_can_be_taken_away(home, &place).await;
}

/// The home is told to stop while the module runs: what was begun must neither be lost nor be in the way.
async fn begin_and_interrupt(mut home: Home, place: &Place) -> Home {
    apply(&home.client().await.unwrap(), &manifests(&place.directory())).await;
    let begun = async || place.workload("demo").is_dir();
    eventually("the control plane is being started", begun).await;

    home.signal(Signal::TERM).unwrap();

    assert_eq!(home.wait(STOPPED_WITHIN).unwrap().code(), Some(0));
    assert_eq!(processes_in(&place.directory()).unwrap(), []);
    place.up()
}

async fn assert_that_the_cluster_is_there(home: &Home, place: &Place) -> BTreeMap<String, String> {
    let client = home.client().await.unwrap();
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), NAMESPACE);
    for name in ["network-apply", "control-plane-apply"] {
        watch_until("the apply is Ready", &applies, name, is_applied).await;
    }
    let network: BTreeMap<_, _> = outputs(&client, "network-connection").await.into_iter().collect();
    assert_eq!(network["vpc_id"], "vpc-demo");
    assert_eq!(network["availability_zones"], r#"["herea","hereb","herec"]"#);
    let outputs: BTreeMap<_, _> = outputs(&client, "control-plane-connection").await.into_iter().collect();
    assert!(namespaces(&outputs["kubeconfig"]).await.unwrap().contains(&"kube-system".to_owned()));

    let (_, status, _) = place.ask("status", "demo");
    assert_eq!(status["state"], "ready");
    assert_eq!(outputs["cluster_name"], "demo");
    assert_eq!(outputs["cluster_endpoint"], status["server"]);
    assert_eq!(outputs["cluster_certificate_authority_data"], status["certificateAuthorityData"]);
    assert_eq!(outputs["kubernetes_version"], status["kubernetesVersion"]);
    assert_eq!(outputs["kubeconfig"], fs::read_to_string(place.workload("demo").join("kubeconfig")).unwrap());
    let workspace = Api::<Workspace>::all(client).get("control-plane").await.unwrap();
    let shown = serde_json::to_string(&workspace).unwrap();
    assert!(shown.contains(&outputs["cluster_endpoint"]) && !shown.contains("client-key-data"), "{shown}");
    outputs
}

async fn connection_secret(home: &Home) -> Secret {
    let secrets: Api<Secret> = Api::namespaced(home.client().await.unwrap(), NAMESPACE);
    secrets.get("control-plane-connection").await.unwrap()
}

async fn assert_that_a_killed_home_brings_it_back(
    mut home: Home,
    place: &Place,
    outputs: &BTreeMap<String, String>,
) -> Home {
    let before = connection_secret(&home).await;
    home.signal(Signal::KILL).unwrap();
    home.wait(STOPPED_WITHIN).unwrap();
    wait_until_empty(&place.directory(), STOPPED_WITHIN).unwrap();

    let home = place.up();

    // No run of Terraform is needed for it: the home knows what it looks after.
    eventually("the cluster answers", async || namespaces(&outputs["kubeconfig"]).await).await;
    let kubeconfig = fs::read_to_string(place.workload("demo").join("kubeconfig")).unwrap();
    assert_eq!(kubeconfig, outputs["kubeconfig"]);
    assert_eq!(connection_secret(&home).await, before);
    home
}

async fn assert_that_it_can_be_taken_away(mut home: Home, place: &Place) {
    let client = home.client().await.unwrap();
    for object in manifests(&place.directory()) {
        api(&client, &object).delete(&object.name_any(), &DeleteParams::default()).await.unwrap();
    }
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), NAMESPACE);
    let left = async || match applies.list(&ListParams::default()).await {
        Ok(left) if left.items.is_empty() => Ok(()),
        Ok(left) => Err(format!("{left:#?}")),
        Err(error) => Err(error.to_string()),
    };
    eventually("the applies are gone", left).await;
    assert!(!place.workload("demo").exists());
    wait_until_empty(&place.workload("demo"), GONE_WITHIN).unwrap();
    assert_eq!(place.ask("status", "demo").1, json!({ "state": "absent" }));

    home.signal(Signal::TERM).unwrap();
    assert_eq!(home.wait(STOPPED_WITHIN).unwrap().code(), Some(0));
    assert_eq!(processes_in(&place.directory()).unwrap(), []);
    assert!(!place.directory().join("home.sock").exists());
}

#[test]
fn several_may_ask_for_the_same_cluster_and_go_away() {
    let place = Place::new();
    let _home = place.up();
    let start = || {
        let mut command = std::process::Command::new(CAPT);
        command.args(["--output", "json", "workload", "start", "--name", "shared", "--home"]);
        command.arg(place.directory()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut impatient = start();
    let others = [start(), start()];
    impatient.kill().unwrap();
    impatient.wait().unwrap();

    let [one, other] = others.map(|child| child.wait_with_output().unwrap());

    assert!(one.status.success(), "{}", String::from_utf8_lossy(&one.stderr));
    assert_eq!(one.stdout, other.stdout);
    let (stopped, gone, messages) = place.ask("stop", "shared");
    assert!(stopped, "{messages}");
    assert_eq!(gone, json!({ "state": "absent" }));
    assert!(!place.workload("shared").exists());
}
