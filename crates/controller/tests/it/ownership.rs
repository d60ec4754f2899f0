//! Whose Workspace it is.

use capt_api::names::{annotation as keys, label};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_controller::options::Options;
use capt_testkit::watch_until;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::stage::{Manager, Stage, annotation, cluster, message, module, var};

async fn foreign_workspace(stage: &Stage, name: &str) -> Workspace {
    let body = json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": { "name": name },
        "spec": { "forProvider": { "source": "Inline", "module": "# foreign" } },
    });
    stage.workspaces().create(&PostParams::default(), &serde_json::from_value(body).unwrap()).await.unwrap()
}

#[tokio::test]
async fn a_foreign_workspace_is_left_alone_and_told() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    let foreign = foreign_workspace(&stage, &name).await;
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    let apply = stage.condition(&name, "Applied", "False", "WorkspaceNotOwned").await;
    assert!(message(&apply, "Applied").contains(&name));
    assert_eq!(stage.workspaces().get(&name).await.unwrap().resource_version(), foreign.resource_version());

    // The way out that the message names.
    stage
        .change::<WorkspaceTemplateApply>(
            &name,
            json!({ "metadata": { "annotations": { keys::ADOPT_WORKSPACE: name } } }),
        )
        .await;
    let waiting = stage.condition(&name, "Applied", "False", "ApprovalRequired").await;
    assert!(message(&waiting, "Applied").contains("forProvider.module (from line 1)"));
    let adopted = stage.workspaces().get(&name).await.unwrap();
    assert_eq!((adopted.uid(), &adopted.spec), (foreign.uid(), &foreign.spec), "tied, and as it was");

    approve(&stage, &name).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
    let adopted = stage.workspaces().get(&name).await.unwrap();
    assert_eq!(adopted.uid(), foreign.uid());
    assert!(!adopted.spec.for_provider.module.contains("foreign"));
}

/// Approves the change that waits.
async fn approve(stage: &Stage, apply: &str) {
    let pending = stage.applies().get(apply).await.unwrap().status.unwrap().pending_digest.unwrap();
    stage
        .change::<WorkspaceTemplateApply>(
            apply,
            json!({ "metadata": { "annotations": { keys::APPROVE: pending } } }),
        )
        .await;
}

/// As after a foreign Workspace that came between the note of the name and the making.
#[tokio::test]
async fn a_name_that_capt_noted_is_no_right_to_a_foreign_workspace() {
    let mut stage = Stage::without_manager().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    let foreign = foreign_workspace(&stage, &name).await;
    let metadata = json!({ "name": name, "finalizers": ["capt.cluster.x-k8s.io/workspace"],
        "annotations": { keys::WORKSPACE_NAME: name } });
    stage
        .put::<WorkspaceTemplateApply>(
            json!({ "metadata": metadata, "spec": { "templateRef": { "name": "t" } } }),
        )
        .await;
    stage.start_manager().await;
    stage.condition(&name, "Applied", "False", "WorkspaceNotOwned").await;
    assert_eq!(stage.workspaces().get(&name).await.unwrap().resource_version(), foreign.resource_version());
    stage.workspaces().delete(&name, &DeleteParams::default()).await.unwrap();
    stage.condition(&name, "Applied", "True", "UpToDate").await;
}

#[tokio::test]
async fn a_deleted_apply_leaves_a_foreign_workspace_alone() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    foreign_workspace(&stage, &name).await;
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    stage.condition(&name, "Applied", "False", "WorkspaceNotOwned").await;
    stage.applies().delete(&name, &DeleteParams::default()).await.unwrap();
    capt_testkit::eventually("the apply to be gone", async || {
        stage.applies().get_opt(&name).await.unwrap().is_none()
    })
    .await;
    assert!(stage.workspaces().get(&name).await.unwrap().metadata.deletion_timestamp.is_none());
}

/// Names become parts of URLs: what is no name must lead nowhere.
#[tokio::test]
async fn a_record_that_is_no_name_is_not_followed() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    let annotations = json!({ keys::WORKSPACE_NAME: "../../../../api/v1/namespaces/default" });
    let spec = json!({ "templateRef": { "name": "t" } });
    stage
        .put::<WorkspaceTemplateApply>(
            json!({ "metadata": { "name": name, "annotations": annotations }, "spec": spec }),
        )
        .await;
    let apply = stage.condition(&name, "Applied", "True", "UpToDate").await;
    assert_eq!(annotation(&apply, keys::WORKSPACE_NAME), Some(name.as_str()));
    assert!(stage.workspaces().get(&name).await.is_ok());
}

#[tokio::test]
async fn a_workspace_that_only_an_annotation_names_is_not_destroyed() {
    let mut stage = Stage::without_manager().await;
    let (name, foreign) = (stage.unique("x"), stage.unique("foreign"));
    foreign_workspace(&stage, &foreign).await;
    let metadata = json!({ "name": name, "finalizers": ["capt.cluster.x-k8s.io/workspace"],
        "annotations": { keys::ADOPT_WORKSPACE: foreign } });
    stage
        .put::<WorkspaceTemplateApply>(
            json!({ "metadata": metadata, "spec": { "templateRef": { "name": "t" } } }),
        )
        .await;
    stage.applies().delete(&name, &DeleteParams::default()).await.unwrap();
    stage.start_manager().await;
    capt_testkit::eventually("the apply to be gone", async || {
        stage.applies().get_opt(&name).await.unwrap().is_none()
    })
    .await;
    assert!(stage.workspaces().get(&foreign).await.unwrap().metadata.deletion_timestamp.is_none());
}

#[tokio::test]
async fn a_workspace_that_the_old_status_names_is_adopted() {
    let mut stage = Stage::without_manager().await;
    stage.put_template("t", &module(&[])).await;
    let (apply, workspace) = (stage.unique("x"), stage.unique("made-by-go"));
    let made = foreign_workspace(&stage, &workspace).await;
    stage.put_apply(&apply, json!({ "templateRef": { "name": "t" } })).await;
    let status = json!({ "status": { "workspaceName": workspace, "applied": true,
        "conditions": [{ "type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "2024-01-01T00:00:00Z", "message": "" }] } });
    stage.applies().patch_status(&apply, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    stage.start_manager().await;
    let waiting = stage.condition(&apply, "Applied", "False", "ApprovalRequired").await;
    assert_eq!(waiting.status.unwrap().workspace_name, Some(workspace.clone()));
    let adopted = stage.workspaces().get(&workspace).await.unwrap();
    assert_eq!((adopted.uid(), adopted.metadata.generation), (made.uid(), made.metadata.generation));
    assert!(adopted.labels().contains_key(label::APPLY_UID));
    approve(&stage, &apply).await;
    stage.condition(&apply, "Applied", "True", "UpToDate").await;
    assert!(stage.workspaces().get_opt(&apply).await.unwrap().is_none(), "no second Workspace");
}

/// A Workspace as an earlier controller leaves it: written by create, and read back with the defaults of its kind.
async fn left_workspace(stage: &Stage, workspace: &str, spec: serde_json::Value) -> Workspace {
    let body = json!({ "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": { "name": workspace }, "spec": spec });
    let body = serde_json::from_value(body).unwrap();
    let parameters = PostParams { field_manager: Some("manager".to_owned()), ..PostParams::default() };
    stage.workspaces().create(&parameters, &body).await.unwrap()
}

async fn left_apply(stage: &Stage, apply: &str, workspace: &str, spec: serde_json::Value) {
    stage.put_apply(apply, spec).await;
    let status = json!({ "status": { "workspaceName": workspace, "applied": true } });
    stage.applies().patch_status(apply, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
}

#[tokio::test]
async fn a_workspace_that_is_what_the_template_says_is_taken_over_without_a_change() {
    let mut stage = Stage::without_manager().await;
    stage.put_template("t", &module(&["region", "name"])).await;
    let (apply, workspace) = (stage.unique("x"), stage.unique("made-by-go"));
    let vars = json!([{ "key": "region", "value": "r" }, { "key": "name", "value": "n" }]);
    let spec = json!({
        "deletionPolicy": "Delete",
        "forProvider": { "source": "Inline", "module": module(&["region", "name"]), "inlineFormat": "HCL", "vars": vars },
    });
    let made = left_workspace(&stage, &workspace, spec).await;
    let variables = json!({ "name": "n", "region": "r" });
    left_apply(&stage, &apply, &workspace, json!({ "templateRef": { "name": "t" }, "variables": variables }))
        .await;
    stage.start_manager().await;
    stage.condition(&apply, "Applied", "True", "UpToDate").await;
    let adopted = stage.workspaces().get(&workspace).await.unwrap();
    assert_eq!((adopted.metadata.generation, &adopted.spec), (made.metadata.generation, &made.spec));
    assert!(adopted.labels().contains_key(label::APPLY_UID));
}

/// What the earlier controller wrote is CAPT's to take away, too: nobody else will.
#[tokio::test]
async fn a_field_that_the_template_no_longer_has_goes_once_the_change_is_approved() {
    let mut stage = Stage::without_manager().await;
    stage.put_template("t", &module(&[])).await;
    let (apply, workspace) = (stage.unique("x"), stage.unique("made-by-go"));
    let spec = json!({
        "forProvider": { "source": "Inline", "module": module(&[]), "planArgs": ["-parallelism=1"] },
        "providerConfigRef": { "name": "elsewhere" },
    });
    left_workspace(&stage, &workspace, spec).await;
    left_apply(&stage, &apply, &workspace, json!({ "templateRef": { "name": "t" } })).await;
    stage.start_manager().await;
    let waiting = stage.condition(&apply, "Applied", "False", "ApprovalRequired").await;
    let told = message(&waiting, "Applied");
    assert!(told.contains("forProvider.planArgs, providerConfigRef"), "{told}");
    approve(&stage, &apply).await;
    stage.condition(&apply, "Applied", "True", "UpToDate").await;
    let changed = stage.workspaces().get(&workspace).await.unwrap();
    assert!(changed.spec.for_provider.plan_args.is_empty(), "{:?}", changed.spec);
    assert_eq!(changed.spec.provider_config_ref.name, "default");
    let apply =
        watch_until("the mark to be gone", &stage.applies(), &apply, |apply: &WorkspaceTemplateApply| {
            annotation(apply, keys::FOUND_DIGEST).is_none()
        })
        .await;
    // From now on the policy has its word again.
    stage.put_template("t", &module(&["region"])).await;
    let what = "the Workspace to follow the template";
    stage.workspace(&workspace, what, |found| found.spec.for_provider.module.contains("region")).await;
    assert!(apply.status.is_some());
}

#[tokio::test]
async fn equal_names_in_two_namespaces_get_two_workspaces() {
    let (one, two) = (Stage::without_manager().await, Stage::without_manager().await);
    let name = one.unique("same-apply");
    let filter = one.namespace.clone();
    for stage in [&one, &two] {
        stage.put_template("t", &module(&["who"])).await;
        let metadata = json!({ "name": name, "labels": { label::WATCH_FILTER: filter } });
        let spec = json!({ "templateRef": { "name": "t" }, "variables": { "who": stage.namespace } });
        stage.put::<WorkspaceTemplateApply>(json!({ "metadata": metadata, "spec": spec })).await;
    }
    let options = Options { watch_filter: Some(filter), ..Options::default() };
    let _manager = Manager::start(cluster().await, options).await;
    let mut names = Vec::new();
    for stage in [&one, &two] {
        let apply = stage.condition(&name, "Applied", "True", "UpToDate").await;
        let workspace = stage.workspaces().get(&apply.status.unwrap().workspace_name.unwrap()).await.unwrap();
        assert_eq!(var(&workspace, "who"), Some(stage.namespace.as_str()));
        names.push(workspace.name_any());
    }
    names.sort();
    let base = name.trim_end_matches("-apply");
    assert_eq!(names[0], base);
    assert!(names[1].starts_with(&format!("{base}-")), "{names:?}");

    // What one apply waits for by name is the Workspace of its own namespace.
    two.put_apply(
        "waiting",
        json!({ "templateRef": { "name": "t" }, "waitForWorkspaces": [{ "name": base }] }),
    )
    .await;
    two.change::<WorkspaceTemplateApply>(
        "waiting",
        json!({ "metadata": { "labels": { label::WATCH_FILTER: one.namespace } } }),
    )
    .await;
    let waiting = two.condition("waiting", "Applied", "False", "WaitingForWorkspaces").await;
    let own = two.applies().get(&name).await.unwrap().status.unwrap().workspace_name.unwrap();
    assert!(message(&waiting, "Applied").contains(&format!("`{own}`")), "{}", message(&waiting, "Applied"));
}

#[tokio::test]
async fn a_restored_apply_takes_its_workspace_back() {
    let mut stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    let before = stage.condition(&name, "Applied", "True", "UpToDate").await;
    stage.stop_manager().await;
    // As a restore from a backup leaves it: the same object with another uid, no status.
    let applies: Api<WorkspaceTemplateApply> = stage.applies();
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": [] } }));
    applies.patch(&name, &PatchParams::default(), &patch).await.unwrap();
    applies.delete(&name, &DeleteParams::default()).await.unwrap();
    let mut restored = before.clone();
    restored.metadata.uid = None;
    restored.metadata.resource_version = None;
    restored.metadata.managed_fields = None;
    restored.status = None;
    let restored = applies.create(&PostParams::default(), &restored).await.unwrap();
    stage.start_manager().await;
    watch_until("the tie to be renewed", &stage.workspaces(), &name, |workspace: &Workspace| {
        workspace.labels().get(label::APPLY_UID) == restored.uid().as_ref()
    })
    .await;
    let workspace = stage.workspaces().get(&name).await.unwrap();
    assert_eq!(workspace.metadata.generation, Some(1), "nothing of the spec has changed");
    assert_eq!(
        annotation(&workspace, keys::APPLIED_DIGEST),
        before.status.unwrap().applied_digest.as_deref()
    );
}

#[tokio::test]
async fn a_crash_between_claim_and_creation_heals() {
    let mut stage = Stage::without_manager().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    stage.start_manager().await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
    stage.stop_manager().await;
    // Killed after the Workspace was made and before the status was written.
    let lost = json!([{ "op": "remove", "path": "/status" }]);
    let patch = Patch::<()>::Json(serde_json::from_value(lost).unwrap());
    stage.applies().patch_status(&name, &PatchParams::default(), &patch).await.unwrap();
    stage.start_manager().await;
    let apply = stage.condition(&name, "Applied", "True", "UpToDate").await;
    assert_eq!(apply.status.unwrap().workspace_name.as_deref(), Some(name.as_str()));
    assert_eq!(stage.workspaces().get(&name).await.unwrap().metadata.generation, Some(1));
}
