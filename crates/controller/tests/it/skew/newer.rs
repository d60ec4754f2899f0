//! CRDs and objects of a newer CAPT: what this one does not know survives it, and what it cannot read holds up nothing else.

use capt_api::names::FIELD_MANAGER;
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_controller::options::Options;
use capt_testkit::{TestCluster, eventually};
use k8s_openapi::NamespaceResourceScope;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::{Value, json};

use super::crds::newer;
use crate::stage::{Manager, Stage, condition, module, permit, template};

/// Objects as they are on the API server, with fields that nobody here knows.
fn raw<K: Resource<DynamicType = (), Scope = NamespaceResourceScope>>(stage: &Stage) -> Api<DynamicObject> {
    Api::namespaced_with(stage.client.clone(), &stage.namespace, &ApiResource::erase::<K>(&()))
}

async fn put<K: Resource<DynamicType = (), Scope = NamespaceResourceScope>>(
    stage: &Stage,
    mut object: Value,
) {
    object["apiVersion"] = json!(K::api_version(&()));
    object["kind"] = json!(K::kind(&()));
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    let parameters = PatchParams::apply("somebody").force();
    raw::<K>(stage).patch(&name, &parameters, &Patch::Apply(object)).await.unwrap();
}

async fn novel_apply(stage: &Stage, name: &str, policy: &str) {
    let spec = json!({ "templateRef": { "name": "t" }, "updatePolicy": policy, "novelty": "kept" });
    put::<WorkspaceTemplateApply>(stage, json!({ "metadata": { "name": name }, "spec": spec })).await;
}

/// Writes a status as the newer CAPT does, which has the same name.
async fn novel_status(stage: &Stage, name: &str) {
    let status = json!({
        "novelty": "told", "workspaceName": name, "conditions": [condition("Novel", "True", "AsItShould")],
    });
    let patch = json!({
        "apiVersion": WorkspaceTemplateApply::api_version(&()), "kind": "WorkspaceTemplateApply", "status": status,
    });
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    raw::<WorkspaceTemplateApply>(stage).patch_status(name, &parameters, &Patch::Apply(patch)).await.unwrap();
}

#[tokio::test]
async fn what_a_newer_capt_wrote_survives_this_one_and_what_cannot_be_read_holds_up_nothing() {
    let cluster = TestCluster::start().await;
    permit(&cluster).await;
    cluster.apply_crds(&newer()).await;
    let namespace = cluster.namespace("newer").await;
    let stage = Stage::on(&cluster, &namespace);
    let mut novel_template = template("t", &module(&[]));
    novel_template["spec"]["novelty"] = json!("kept");
    novel_template["spec"]["template"]["spec"]["novelty"] = json!("carried");
    put::<WorkspaceTemplate>(&stage, novel_template).await;
    novel_apply(&stage, "known", "Automatic").await;
    novel_apply(&stage, "strange", "Sometimes").await;
    novel_status(&stage, "known").await;
    novel_status(&stage, "strange").await;
    let strange = raw::<WorkspaceTemplateApply>(&stage).get("strange").await.unwrap();
    let manager = Manager::start(&cluster, Options::default()).await;

    stage.condition("known", "Applied", "True", "UpToDate").await;
    let known = raw::<WorkspaceTemplateApply>(&stage).get("known").await.unwrap();
    assert_eq!(known.data["spec"]["novelty"], "kept");
    let conditions = known.data["status"]["conditions"].as_array().unwrap();
    assert!(conditions.iter().any(|condition| condition["type"] == "Novel"), "{conditions:#?}");
    let written = raw::<WorkspaceTemplate>(&stage).get("t").await.unwrap();
    assert_eq!(written.data["spec"]["novelty"], "kept");
    let workspaces: Api<DynamicObject> =
        Api::all_with(stage.client.clone(), &ApiResource::erase::<Workspace>(&()));
    assert_eq!(workspaces.get("known").await.unwrap().data["spec"]["novelty"], "carried");

    // The one that cannot be read is named, and stays as it is.
    eventually("an Event about the strange one", async || {
        let events = stage.events("strange").await;
        let notes: Vec<String> = events.into_iter().filter_map(|event| event.note).collect();
        if notes.iter().any(|note| note.contains("`strange` cannot be read")) {
            Ok(())
        } else {
            Err(format!("{notes:?}"))
        }
    })
    .await;
    let after = raw::<WorkspaceTemplateApply>(&stage).get("strange").await.unwrap();
    assert_eq!(after.resource_version(), strange.resource_version());
    assert!(workspaces.get_opt("strange").await.unwrap().is_none());

    // Once it can be read, it is worked on like any other.
    novel_apply(&stage, "strange", "Automatic").await;
    stage.condition("strange", "Applied", "True", "UpToDate").await;
    manager.stop().await;
}
