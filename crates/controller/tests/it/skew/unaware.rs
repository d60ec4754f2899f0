//! Two managers that do not know of each other, as two from before they looked: nothing is made twice, nothing is lost, and
//! they do not write against each other for ever.

use capt_api::names::FIELD_MANAGER;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_controller::options::Options;
use capt_terraform::{Engine, ProcessEngine, Settings};
use capt_testkit::terraform::binary;
use capt_testkit::{TestCluster, eventually};
use kube::ResourceExt;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::{Api, Resource as _};
use serde_json::json;
use std::sync::Arc;

use super::crds::newer;
use crate::engine::modules::{COUNT, lines, slow};
use crate::engine::stage::EngineStage;
use crate::stage::{Manager, Stage, cluster, module, permit};

/// How often in a row an object has to be the same until it counts as settled.
const LOOKS: usize = 25;

/// Waits until nobody writes to the objects any more: those who write against each other never stop.
async fn settled<K>(what: &str, objects: &[(&Api<K>, &str)])
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let (mut last, mut same) = (Vec::new(), 0);
    eventually(&format!("{what} to settle"), async || {
        let mut versions = Vec::new();
        for (api, name) in objects {
            versions.push(api.get(name).await.unwrap().resource_version());
        }
        same = if versions == last { same + 1 } else { 0 };
        last = versions;
        if same >= LOOKS { Ok(()) } else { Err(format!("{last:?}, the same {same} times")) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_managers_on_two_machines_make_everything_once() {
    let stage = EngineStage::without_manager().await;
    let made = stage.file("made");
    let module = slow(made.parent().unwrap());
    let elsewhere = tempfile::tempdir().unwrap();
    let settings = Settings::new(elsewhere.path().join("workspaces"), binary());
    let engines: [Arc<dyn Engine>; 2] =
        [stage.process_engine().await, Arc::new(ProcessEngine::start(settings).await.unwrap())];
    let mut managers = Vec::new();
    for (engine, host) in engines.into_iter().zip(["one", "two"]) {
        let options = stage.options(engine, |terraform| terraform.host = host.to_owned()).await;
        managers.push(Manager::start(cluster().await, options).await);
    }
    let name = stage.put("slow", &module, json!({})).await;
    stage.output(&name, "count", json!(COUNT)).await;
    stage.ready(&name).await;
    let workspaces = stage.stage.workspaces();
    let applies = stage.stage.applies();
    settled("the Workspace", &[(&workspaces, &name)]).await;
    settled("the apply", &[(&applies, &format!("{name}-apply"))]).await;
    assert_eq!(lines(&made).len(), COUNT, "something was made twice");
    assert_eq!(lines(&stage.file("destroyed")), Vec::<String>::new());

    stage.delete_apply("slow").await;
    stage.gone(&name).await;
    let destroyed = lines(&stage.file("destroyed"));
    assert_eq!(destroyed.len(), COUNT, "{destroyed:?}");
    for manager in managers {
        manager.stop().await;
    }
}

/// The newer one tells something that the older one does not know; it is played, since there is none yet.
#[tokio::test]
async fn a_field_that_the_older_one_drops_is_put_back_once() {
    let cluster = TestCluster::start().await;
    permit(&cluster).await;
    cluster.apply_crds(&newer()).await;
    let namespace = cluster.namespace("both").await;
    let stage = Stage::on(&cluster, &namespace);
    stage.put_template("t", &module(&[])).await;
    stage.put_apply("x", json!({ "templateRef": { "name": "t" } })).await;
    let _older = [
        Manager::start(&cluster, Options::default()).await,
        Manager::start(&cluster, Options::default()).await,
    ];
    stage.condition("x", "Applied", "True", "UpToDate").await;
    let applies: Api<WorkspaceTemplateApply> = stage.applies();
    let workspaces: Api<Workspace> = stage.workspaces();
    settled("the apply", &[(&applies, "x")]).await;
    settled("the Workspace", &[(&workspaces, "x")]).await;

    let raw: Api<DynamicObject> = Api::namespaced_with(
        cluster.client(),
        &namespace,
        &ApiResource::erase::<WorkspaceTemplateApply>(&()),
    );
    let mut status = raw.get("x").await.unwrap().data["status"].clone();
    status["novelty"] = json!("told");
    let told = json!({
        "apiVersion": WorkspaceTemplateApply::api_version(&()), "kind": "WorkspaceTemplateApply", "status": status,
    });
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    raw.patch_status("x", &parameters, &Patch::Apply(told)).await.unwrap();
    settled("the apply", &[(&applies, "x")]).await;
    assert_eq!(
        raw.get("x").await.unwrap().data["status"]["novelty"],
        "told",
        "the older ones wrote without need"
    );
}
