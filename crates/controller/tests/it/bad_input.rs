//! Input that is missing, broken, huge or hostile: a clear condition and Event, nothing lost, and everything else goes on.

use capt_api::workspace_template_apply::UpdatePolicy;
use capt_api::{WorkspaceTemplate, WorkspaceTemplateApply};
use capt_testkit::{eventually, watch_until};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use crate::stage::{Manager, Stage, message, module, permit, template, var};

/// The Events about an object, waited for.
async fn told_by_event(stage: &Stage, name: &str, reason: &str) {
    eventually("an Event", async || {
        let events = stage.events(name).await;
        let reasons: Vec<_> = events.iter().filter_map(|event| event.reason.clone()).collect();
        if reasons.iter().any(|seen| seen == reason) { Ok(()) } else { Err(format!("Events {reasons:?}")) }
    })
    .await;
}

#[tokio::test]
async fn a_missing_template_is_told_and_then_found() {
    let stage = Stage::set().await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "later" } })).await;
    let apply = stage.condition(&name, "Ready", "False", "TemplateNotFound").await;
    assert!(message(&apply, "Ready").contains(&format!("{}/later", stage.namespace)));
    told_by_event(&stage, &name, "TemplateNotFound").await;
    stage.put_template("later", &module(&[])).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;

    // A template that goes away later leaves what runs alone.
    stage.report(&name, crate::stage::ready()).await;
    stage.condition(&name, "Ready", "True", "WorkspaceReady").await;
    stage.api::<WorkspaceTemplate>().delete("later", &DeleteParams::default()).await.unwrap();
    let apply = stage.condition(&name, "Applied", "False", "TemplateNotFound").await;
    assert_eq!(crate::stage::find_condition(&apply, "Ready").unwrap().status, "True");
    assert!(stage.workspaces().get(&name).await.is_ok());
}

#[tokio::test]
async fn broken_hcl_is_told_by_template_and_apply_and_never_written() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;

    stage.put_template("t", "variable \"a\" {\nlocals { x = }\n").await;
    let apply = stage.condition(&name, "Applied", "False", "ModuleInvalid").await;
    assert!(
        message(&apply, "Applied").contains("forProvider.module: line 2"),
        "{}",
        message(&apply, "Applied")
    );
    told_by_event(&stage, &name, "ModuleInvalid").await;
    told_by_event(&stage, "t", "ModuleInvalid").await;
    watch_until(
        "the template to tell",
        &stage.api::<WorkspaceTemplate>(),
        "t",
        |template: &WorkspaceTemplate| {
            let conditions =
                template.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
            conditions.iter().any(|entry| {
                entry.type_ == "Ready" && entry.status == "False" && entry.reason == "ModuleInvalid"
            })
        },
    )
    .await;
    assert_eq!(stage.workspaces().get(&name).await.unwrap().spec.for_provider.module, module(&[]));
    stage.put_template("t", "# mended\n").await;
    stage
        .workspace(&name, "the mended module", |workspace| {
            workspace.spec.for_provider.module.contains("mended")
        })
        .await;
}

#[tokio::test]
async fn a_huge_value_is_told_and_others_go_on() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&["a"])).await;
    let (huge, small) = (stage.unique("huge"), stage.unique("small"));
    stage
        .put_apply(
            &huge,
            json!({ "templateRef": { "name": "t" }, "variables": { "a": "x".repeat(1024 * 1024) } }),
        )
        .await;
    stage.put_apply(&small, json!({ "templateRef": { "name": "t" }, "variables": { "a": "x" } })).await;
    let apply = stage.condition(&huge, "Ready", "False", "WorkspaceTooLarge").await;
    assert!(message(&apply, "Ready").contains("variable `a`"), "{}", message(&apply, "Ready"));
    told_by_event(&stage, &huge, "WorkspaceTooLarge").await;
    stage.condition(&small, "Applied", "True", "UpToDate").await;
    assert!(stage.workspaces().get_opt(&huge).await.unwrap().is_none());
}

#[tokio::test]
async fn any_text_arrives_as_it_was_written() {
    let stage = Stage::set().await;
    let mut body = template("t", "variable \"a\" {}\nlocals { copy = \"${a}\" }\n");
    body["spec"]["template"]["spec"]["forProvider"]["vars"] = json!([{ "key": "b", "value": "<${a}>" }]);
    stage.put::<WorkspaceTemplate>(body).await;
    let name = stage.unique("x");
    let awkward =
        "quote \" backslash \\ newline\n tab\t ünïcödé 🦀 ${var.x} $${y} %{if} {\"json\": [1]} </end>";
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variables": { "a": awkward } })).await;
    let workspace = stage.workspace(&name, "the Workspace", |_| true).await;
    assert_eq!(var(&workspace, "a"), Some(awkward));
    assert_eq!(var(&workspace, "b"), Some(format!("<{awkward}>").as_str()));
    capt_core::module::read(&workspace.spec.for_provider.module, capt_core::module::Format::Hcl).unwrap();
}

#[tokio::test]
async fn what_the_api_server_refuses_is_told() {
    let stage = Stage::set().await;
    let mut body = template("t", "");
    body["spec"]["template"]["spec"]["forProvider"] = json!({ "source": "Remote", "module": "${where}" });
    stage.put::<WorkspaceTemplate>(body).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variables": { "where": "" } })).await;
    let apply = stage.condition(&name, "Ready", "False", "WorkspaceRefused").await;
    assert!(message(&apply, "Ready").contains("module is empty"), "{}", message(&apply, "Ready"));
    stage
        .change::<WorkspaceTemplateApply>(
            &name,
            json!({ "spec": { "variables": { "where": "git::https://example.com/m" } } }),
        )
        .await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
}

#[tokio::test]
async fn changes_wait_for_approval_where_that_is_asked_for() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let (approve, pinned) = (stage.unique("approve"), stage.unique("pinned"));
    stage.put_apply(&approve, json!({ "templateRef": { "name": "t" }, "updatePolicy": "Approve" })).await;
    stage.put_apply(&pinned, json!({ "templateRef": { "name": "t" }, "updatePolicy": "Pinned" })).await;
    for name in [&approve, &pinned] {
        stage.condition(name, "Applied", "True", "UpToDate").await;
    }
    stage.put_template("t", "# changed\n").await;
    let waiting = stage.condition(&approve, "Applied", "False", "ApprovalRequired").await;
    stage.condition(&pinned, "Applied", "False", "Pinned").await;
    for name in [&approve, &pinned] {
        assert_eq!(stage.workspaces().get(name).await.unwrap().spec.for_provider.module, module(&[]));
    }
    let digest = waiting.status.unwrap().pending_digest.unwrap();
    let annotations = json!({ "metadata": { "annotations": { "capt.cluster.x-k8s.io/approve": digest } } });
    stage.change::<WorkspaceTemplateApply>(&approve, annotations).await;
    let apply = stage.condition(&approve, "Applied", "True", "UpToDate").await;
    assert_eq!(apply.status.unwrap().pending_digest, None);
    assert_eq!(stage.workspaces().get(&approve).await.unwrap().spec.for_provider.module, "# changed\n");

    // A lost Workspace does not smuggle the change in.
    stage.workspaces().delete(&pinned, &DeleteParams::default()).await.unwrap();
    stage.condition(&pinned, "Ready", "False", "Pinned").await;
    assert!(stage.workspaces().get_opt(&pinned).await.unwrap().is_none());
    let policy = json!({ "spec": { "updatePolicy": UpdatePolicy::Automatic } });
    stage.change::<WorkspaceTemplateApply>(&pinned, policy).await;
    stage.condition(&pinned, "Applied", "True", "UpToDate").await;
}

/// On a control plane of its own, since it weakens a CRD for everybody.
#[tokio::test]
async fn an_object_that_cannot_be_read_does_not_stop_the_watch() {
    let cluster = capt_testkit::TestCluster::start().await;
    let mut loose =
        [capt_api::crd::own(), capt_api::crd::foreign(capt_api::crd::Foreign::Terraform)].concat();
    for crd in &mut loose {
        let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        for version in &mut crd.spec.versions {
            version.schema.as_mut().unwrap().open_api_v3_schema =
                Some(serde_json::from_value(schema.clone()).unwrap());
        }
    }
    cluster.apply_crds(&loose).await;
    permit(&cluster).await;
    let namespace = cluster.namespace("broken").await;
    let stage = Stage::on(&cluster, &namespace);
    let broken: Api<kube::core::DynamicObject> = Api::namespaced_with(
        cluster.client(),
        &namespace,
        &kube::core::ApiResource::erase::<WorkspaceTemplateApply>(&()),
    );
    let body = json!({ "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "broken" }, "spec": { "templateRef": "not-an-object" } });
    broken.patch("broken", &PatchParams::apply("somebody"), &Patch::Apply(body)).await.unwrap();
    stage.put_template("t", &module(&[])).await;
    let _manager = Manager::start(&cluster, capt_controller::options::Options::default()).await;
    stage.put_apply("good", json!({ "templateRef": { "name": "t" } })).await;
    stage.condition("good", "Applied", "True", "UpToDate").await;
    told_by_event(&stage, "broken", "Unreadable").await;

    // A Workspace that became unreadable is neither made anew nor forgotten on the way down.
    let workspaces: Api<kube::core::DynamicObject> =
        Api::all_with(cluster.client(), &kube::core::ApiResource::erase::<capt_api::Workspace>(&()));
    let garbled = Patch::Merge(json!({ "spec": { "forProvider": "garbled" } }));
    workspaces.patch("good", &PatchParams::default(), &garbled).await.unwrap();
    let apply = stage.condition("good", "Applied", "False", "Unreadable").await;
    assert!(message(&apply, "Applied").contains("`good`"), "{}", message(&apply, "Applied"));
    stage.applies().delete("good", &DeleteParams::default()).await.unwrap();
    eventually("the apply to be gone", async || stage.applies().get_opt("good").await.unwrap().is_none())
        .await;
    assert!(workspaces.get_opt("good").await.unwrap().is_none());

    // With the kind itself gone there is nothing to wait for.
    stage.put_apply("last", json!({ "templateRef": { "name": "t" } })).await;
    stage.condition("last", "Applied", "True", "UpToDate").await;
    let crds: Api<CustomResourceDefinition> = Api::all(cluster.client());
    crds.delete("workspaces.tf.upbound.io", &DeleteParams::default()).await.unwrap();
    stage.condition("last", "Ready", "False", "WorkspaceKindMissing").await;
    stage.applies().delete("last", &DeleteParams::default()).await.unwrap();
    eventually("the last apply to be gone", async || {
        stage.applies().get_opt("last").await.unwrap().is_none()
    })
    .await;
}
