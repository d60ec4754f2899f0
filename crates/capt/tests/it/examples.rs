//! What the README promises: the examples become infrastructure with outputs, and go away again.

mod files;

use std::fs;
use std::path::Path;

use capt_api::names::condition;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_testkit::home::{Home, processes_in};
use capt_testkit::{eventually, watch_until};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::{Client, ResourceExt};
use rustix::process::Signal;

use crate::up::{Place, STOPPED_WITHIN};

pub(crate) const NAMESPACE: &str = "default";
const WORKSPACES: [&str; 2] = ["demo-network", "demo-cluster"];

/// All objects of `examples/local`.
fn examples() -> Vec<DynamicObject> {
    ["local/template.yaml", "local/apply.yaml"].into_iter().flat_map(example).collect()
}

/// The objects of a file in `examples`.
pub(crate) fn example(name: &str) -> Vec<DynamicObject> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = fs::read_to_string(directory.join(name)).unwrap();
    serde_saphyr::from_multiple(&text).unwrap()
}

/// Objects of this kind, in the namespace of the examples.
pub(crate) fn api(client: &Client, object: &DynamicObject) -> Api<DynamicObject> {
    let kind = GroupVersionKind::try_from(object.types.as_ref().unwrap()).unwrap();
    Api::namespaced_with(client.clone(), NAMESPACE, &ApiResource::from_gvk(&kind))
}

fn is_ready(workspace: &Workspace) -> bool {
    let conditions = workspace.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|found| found.type_ == condition::READY && found.status == "True")
}

pub(crate) fn is_applied(apply: &WorkspaceTemplateApply) -> bool {
    let conditions = apply.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|found| found.type_ == condition::READY && found.status == "True")
}

/// A Secret of outputs, as text.
pub(crate) async fn outputs(client: &Client, name: &str) -> Vec<(String, String)> {
    let secret = Api::<Secret>::namespaced(client.clone(), NAMESPACE).get(name).await.unwrap();
    let text = |(key, value): (String, k8s_openapi::ByteString)| (key, String::from_utf8(value.0).unwrap());
    secret.data.unwrap_or_default().into_iter().map(text).collect()
}

fn pairs<const COUNT: usize>(pairs: [(&str, &str); COUNT]) -> Vec<(String, String)> {
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec()
}

#[tokio::test]
async fn the_examples_become_infrastructure_with_outputs_and_go_away_again() {
    let place = Place::new();
    let mut home = place.up();
    let client = home.client().await.unwrap();

    apply(&client, &examples()).await;
    assert_that_outputs_are_published(&client).await;

    for object in examples() {
        api(&client, &object).delete(&object.name_any(), &DeleteParams::default()).await.unwrap();
    }
    assert_that_nothing_is_left(&client).await;

    stop(&mut home, &place);
}

/// As `kubectl apply` does it.
pub(crate) async fn apply(client: &Client, objects: &[DynamicObject]) {
    for object in objects {
        let parameters = PatchParams::apply("kubectl");
        api(client, object).patch(&object.name_any(), &parameters, &Patch::Apply(object)).await.unwrap();
    }
}

async fn assert_that_outputs_are_published(client: &Client) {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    for name in WORKSPACES {
        watch_until("the Workspace is Ready", &workspaces, name, is_ready).await;
    }
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), NAMESPACE);
    for name in WORKSPACES.map(|name| format!("{name}-apply")) {
        watch_until("the apply is Ready", &applies, &name, is_applied).await;
    }

    let network = pairs([
        ("network_id", "net-demo-eu-central-1"),
        ("subnets", "10.42.0.0/24,10.42.1.0/24,10.42.2.0/24"),
    ]);
    let cluster = pairs([("cluster_endpoint", "https://demo.example.com"), ("cluster_name", "demo")]);
    assert_eq!(outputs(client, "demo-network-connection").await, network);
    assert_eq!(outputs(client, "demo-cluster-connection").await, cluster);
}

async fn assert_that_nothing_is_left(client: &Client) {
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), NAMESPACE);
    // The cluster goes before the network that it is in.
    for name in ["demo-cluster", "demo-network"] {
        let gone = async || match workspaces.get_opt(name).await {
            Ok(None) => Ok(()),
            Ok(Some(workspace)) => Err(format!("{workspace:#?}")),
            Err(error) => Err(error.to_string()),
        };
        eventually("the Workspace is gone", gone).await;
        let name = format!("{name}-apply");
        let gone = async || applies.get_opt(&name).await.is_ok_and(|apply| apply.is_none());
        eventually("the apply is gone", gone).await;
    }
}

pub(crate) fn stop(home: &mut Home, place: &Place) {
    home.signal(Signal::TERM).unwrap();
    assert_eq!(home.wait(STOPPED_WITHIN).unwrap().code(), Some(0), "{}", place.messages());
    assert_eq!(processes_in(&place.directory()).unwrap(), []);
}
