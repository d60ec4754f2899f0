//! From template and variables to a Workspace, and the Workspace follows.

use capt_api::names::{annotation as keys, label};
use capt_api::{WorkspaceTemplate, WorkspaceTemplateApply};
use capt_testkit::eventually;
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::json;

use crate::stage::{Stage, annotation, find_condition, message, module, ready, template, var};

#[tokio::test]
async fn an_apply_yields_a_workspace_with_resolved_variables() {
    let stage = Stage::set().await;
    let mut body = template(
        "vpc",
        "variable \"cidr\" {}\nlocals { name = \"${WORKSPACE_NAME} in ${NAMESPACE} for ${owner}\" }\n",
    );
    body["spec"]["template"]["spec"]["writeConnectionSecretToRef"] =
        json!({ "name": "${WORKSPACE_NAME}-connection", "namespace": "${NAMESPACE}" });
    stage.put::<WorkspaceTemplate>(body).await;
    let name = stage.unique("net");
    stage
        .put_apply(
            &format!("{name}-apply"),
            json!({ "templateRef": { "name": "vpc" }, "variables": { "cidr": "10.0.0.0/16", "owner": "a \"quoted\" team" } }),
        )
        .await;

    let workspace = stage.workspace(&name, "the Workspace to be made", |_| true).await;
    assert_eq!(var(&workspace, "cidr"), Some("10.0.0.0/16"));
    assert_eq!(var(&workspace, "owner"), None, "only a placeholder uses it");
    let expected = format!("name = \"{name} in {} for a \\\"quoted\\\" team\"", stage.namespace);
    assert!(workspace.spec.for_provider.module.contains(&expected), "{}", workspace.spec.for_provider.module);
    let secret = workspace.spec.write_connection_secret_to_ref.clone().unwrap();
    assert_eq!((secret.namespace, secret.name), (stage.namespace.clone(), format!("{name}-connection")));
    assert_eq!(workspace.labels().get(label::APPLY_NAMESPACE), Some(&stage.namespace));
    assert_eq!(
        annotation(&workspace, keys::APPLY),
        Some(format!("{}/{name}-apply", stage.namespace).as_str())
    );

    let apply = stage.condition(&format!("{name}-apply"), "Applied", "True", "UpToDate").await;
    let status = apply.status.unwrap();
    assert!(status.applied);
    assert_eq!(status.workspace_name.as_deref(), Some(name.as_str()));
    assert_eq!(status.template_generation, Some(1));
    assert_eq!(status.applied_digest.as_deref(), annotation(&workspace, keys::APPLIED_DIGEST));
    assert!(status.last_applied_time.is_some());
    assert_eq!(status.observed_generation, apply.metadata.generation);
}

#[tokio::test]
async fn a_changed_template_changes_the_workspace() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&["a"])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variables": { "a": "1" } })).await;
    stage.workspace(&name, "the Workspace to be made", |_| true).await;

    stage.put_template("t", &(module(&["a"]) + "# second\n")).await;
    stage
        .workspace(&name, "the module to follow", |workspace| {
            workspace.spec.for_provider.module.contains("second")
        })
        .await;
    stage.change::<WorkspaceTemplateApply>(&name, json!({ "spec": { "variables": { "a": "2" } } })).await;
    stage.workspace(&name, "the variable to follow", |workspace| var(workspace, "a") == Some("2")).await;
    eventually("the status to follow", async || {
        let apply = stage.applies().get(&name).await.unwrap();
        let status = apply.status.clone().unwrap_or_default();
        status.template_generation == Some(2) && status.observed_generation == apply.metadata.generation
    })
    .await;
}

#[tokio::test]
async fn a_workspace_changed_by_hand_is_brought_back() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&["a"])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variables": { "a": "1" } })).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
    let patch = json!({ "spec": { "forProvider": { "module": "locals {}" } } });
    let merge = kube::api::Patch::Merge(patch);
    let changed = stage.workspaces().patch(&name, &kube::api::PatchParams::default(), &merge).await.unwrap();
    assert_eq!(changed.spec.for_provider.module, "locals {}");
    stage
        .workspace(&name, "the module to come back", |workspace| {
            workspace.spec.for_provider.module.contains("variable")
        })
        .await;
}

#[tokio::test]
async fn readiness_of_the_workspace_is_told_both_ways() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    stage.condition(&name, "Ready", "False", "WorkspaceNotReady").await;
    stage.report(&name, ready()).await;
    stage.condition(&name, "Ready", "True", "WorkspaceReady").await;
    stage
        .report(
            &name,
            json!({ "conditions": [
                crate::stage::condition("Ready", "False", "Unavailable"),
                { "type": "Synced", "status": "False", "reason": "ReconcileError", "message": "apply failed: no quota",
                  "lastTransitionTime": "2026-01-01T00:00:00Z" },
            ] }),
        )
        .await;
    let apply = stage.condition(&name, "Ready", "False", "WorkspaceNotReady").await;
    assert!(message(&apply, "Ready").contains("no quota"), "{}", message(&apply, "Ready"));
    assert_eq!(find_condition(&apply, "Synced").unwrap().status, "False");
}

#[tokio::test]
async fn nothing_is_written_while_nothing_changes() {
    let mut stage = Stage::set().await;
    stage.put_template("t", &module(&["a"])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variables": { "a": "1" } })).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
    stage.report(&name, ready()).await;
    let apply = stage.condition(&name, "Ready", "True", "WorkspaceReady").await;
    let workspace = stage.workspaces().get(&name).await.unwrap();
    stage.stop_manager().await;
    stage.start_manager().await;
    // A second apply tells that the manager has been through its first round.
    let second = stage.unique("y");
    stage.put_apply(&second, json!({ "templateRef": { "name": "t" }, "variables": { "a": "1" } })).await;
    stage.condition(&second, "Applied", "True", "UpToDate").await;
    assert_eq!(stage.applies().get(&name).await.unwrap().resource_version(), apply.resource_version());
    assert_eq!(stage.workspaces().get(&name).await.unwrap().resource_version(), workspace.resource_version());
}

#[tokio::test]
async fn a_deleted_workspace_is_made_again() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    let first = stage.workspace(&name, "the Workspace to be made", |_| true).await;
    stage.workspaces().delete(&name, &DeleteParams::default()).await.unwrap();
    stage.workspace(&name, "another Workspace", |workspace| workspace.uid() != first.uid()).await;
}
