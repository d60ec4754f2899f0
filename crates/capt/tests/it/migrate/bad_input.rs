//! What cannot be done is told before anything is changed.

use capt_api::names::annotation;
use capt_api::{Cluster, WorkspaceTemplate};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams};
use rstest::rstest;
use serde_json::{Value, json};

use super::stage::{MODULE, Stage, gzip, state};
use crate::{capt, told};

#[rstest]
#[case::nothing(&[], "Usage: capt migrate helm-release")]
#[case::a_name_and_all(&["karpenter", "--all"], "cannot be used with")]
#[case::no_name(&["a/b"], "write the name of the resource in Terraform")]
#[case::another_kind(&["aws_iam_role.karpenter"], "write the name of the resource in Terraform")]
#[case::a_template_that_leads_elsewhere(&["x", "--template", "../y"], "write a name in lower case letters")]
#[case::an_apply_that_leads_elsewhere(&["x", "--apply", "a?b"], "write a name in lower case letters")]
#[case::no_label(&["x", "--label", "karpenter"], "write it as KEY=VALUE")]
#[case::a_broken_label(&["x", "--label", "a/b/c=d"], "cannot be the key of a label")]
#[case::a_broken_value(&["x", "--label", "a=b c"], "cannot be the value of the label")]
#[case::a_dry_run_that_does_it(&["x", "--dry-run", "--yes"], "cannot be used with")]
fn bad_usage_is_told(#[case] arguments: &[&str], #[case] message: &str) {
    let told = told(capt().args(["migrate", "helm-release"]).args(arguments), 2);

    assert!(told.contains(message), "{told}");
}

#[test]
fn nobody_is_asked_where_nobody_is() {
    let told = told(capt().args(["migrate", "helm-release", "x"]).write_stdin("yes\n"), 1);

    assert!(told.starts_with("error: there is nobody to ask: "), "{told}");
}

/// Runs in vain: what is in the way is told, and nothing is written.
async fn assert_refused(stage: &Stage, arguments: &[&str], expected: &str) {
    let before = stage.versions().await;
    let mut doing = vec!["--yes", "--timeout", "0s"];
    doing.extend(arguments);
    let (code, _, told) = stage.migrate(&doing).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains(expected), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
    assert_eq!(stage.versions().await, before);
}

#[rstest]
#[case::from_git(json!({ "source": "Remote", "module": "git::https://example.com/x" }), "comes from elsewhere: take the releases out there")]
#[case::in_json(json!({ "inlineFormat": "JSON", "module": "{}" }), "its module is in JSON")]
#[case::broken(json!({ "module": "resource {" }), "the module cannot be read: line 1")]
#[case::referred_to(
    json!({ "module": format!("{MODULE}output \"x\" {{\n  value = helm_release.karpenter.status\n}}\n") }),
    "line 20, in `output \"x\"`, refers to helm_release.karpenter"
)]
#[tokio::test]
async fn a_template_that_cannot_be_edited_is_left_alone(#[case] module: Value, #[case] expected: &str) {
    let stage = Stage::set().await;
    let patch = Patch::Merge(json!({ "spec": { "template": { "spec": { "forProvider": module } } } }));
    stage.api::<WorkspaceTemplate>().patch("eks", &PatchParams::default(), &patch).await.unwrap();

    assert_refused(&stage, &["--template", "eks"], expected).await;
}

#[rstest]
#[case::no_json(gzip(b"hunter2"), "it is no state of Terraform's")]
#[case::not_packed(b"hunter2".to_vec(), "cannot be unpacked")]
#[case::of_an_old_version(gzip(br#"{"version":3,"serial":1,"modules":[]}"#), "the state has version 3")]
#[case::encrypted(gzip(br#"{"serial":1,"encrypted_data":"hunter2"}"#), "the state is encrypted")]
#[tokio::test]
async fn a_state_that_cannot_be_edited_is_left_alone(#[case] content: Vec<u8>, #[case] expected: &str) {
    let stage = Stage::set().await;
    let patch = Patch::Merge(json!({ "data": { "tfstate": k8s_openapi::ByteString(content) } }));
    stage.api::<Secret>().patch(&stage.state_name(), &PatchParams::default(), &patch).await.unwrap();

    assert_refused(&stage, &[], expected).await;
}

#[rstest]
#[case::pinned(json!({ "spec": { "updatePolicy": "Pinned" } }), "spec.updatePolicy is Pinned")]
#[case::of_somebody_else(json!({ "metadata": { "annotations": { annotation::MANAGED_BY: "x" } } }), "somebody else looks after it")]
#[case::with_a_note_that_is_broken(json!({ "metadata": { "annotations": { annotation::MIGRATION: "hunter2" } } }), "cannot be read: if nothing was begun")]
#[tokio::test]
async fn an_apply_that_does_not_follow_its_template_is_left_alone(
    #[case] change: Value,
    #[case] expected: &str,
) {
    let stage = Stage::set().await;
    stage.change_apply(change).await;

    assert_refused(&stage, &[], expected).await;
}

#[rstest]
#[case::in_another_backend(json!({ "engine": { "state": { "backend": "s3" } } }), "where the backend \"s3\" keeps it")]
#[case::of_another_engine(
    json!({ "conditions": [{ "type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "2026-01-02T03:04:05Z" }] }),
    "its state is not in a Secret of CAPT's"
)]
#[tokio::test]
async fn a_state_that_is_kept_elsewhere_is_told(#[case] status: Value, #[case] expected: &str) {
    let stage = Stage::set().await;
    stage.api::<Secret>().delete(&stage.state_name(), &DeleteParams::default()).await.unwrap();
    let patch = Patch::Merge(json!({ "status": status }));
    let workspaces = stage.workspaces();
    workspaces.patch_status(&stage.workspace_name(), &PatchParams::default(), &patch).await.unwrap();

    assert_refused(&stage, &[], expected).await;
}

#[tokio::test]
async fn a_state_that_was_there_and_is_missing_is_told() {
    let stage = Stage::set().await;
    stage.annotate_apply(annotation::STATE, json!("a/b")).await;
    stage.api::<Secret>().delete(&stage.state_name(), &DeleteParams::default()).await.unwrap();

    assert_refused(&stage, &[], "its state, which was in Secret `a/b`, is missing").await;
}

#[tokio::test]
async fn a_label_of_the_user_is_respected() {
    let stage = Stage::set().await;
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "karpenter.sh/enabled": "false" } } }));
    stage.api::<Cluster>().patch("prod", &PatchParams::default(), &patch).await.unwrap();

    assert_refused(&stage, &[], "Cluster `prod` has the label karpenter.sh/enabled=false").await;
}

#[tokio::test]
async fn a_use_that_is_left_out_is_told() {
    let stage = Stage::set().await;
    let elsewhere = stage.put_use_elsewhere().await;

    let expected =
        format!("WorkspaceTemplateApply `{}/{}` uses", elsewhere.namespace, elsewhere.apply_name());
    assert_refused(&stage, &["--apply", &stage.apply_name()], &expected).await;
}

#[tokio::test]
async fn of_several_templates_one_has_to_be_named() {
    let stage = Stage::set().await;
    stage.put_template("other", MODULE).await;

    assert_refused(&stage, &[], "name one of them with --template: eks, other").await;
}

#[tokio::test]
async fn what_is_not_there_is_told() {
    let stage = Stage::set().await;

    assert_refused(&stage, &["--template", "none"], "there is no WorkspaceTemplate `none`").await;
    assert_refused(&stage, &["--apply", "none"], "there is no WorkspaceTemplateApply `none`").await;
}

#[tokio::test]
async fn a_lock_that_terraform_holds_is_waited_for_and_respected() {
    let stage = Stage::set().await;
    let told =
        json!({ "ID": "1", "Who": "me@laptop", "Operation": "OperationTypeApply", "Created": "today" });
    stage
        .create::<Lease>(json!({
            "metadata": {
                "name": format!("lock-{}", stage.state_name()),
                "annotations": { annotation::LOCK_INFO: told.to_string() },
            },
            "spec": { "holderIdentity": "1" },
        }))
        .await;

    let (code, _, told) = stage.migrate(&["--yes", "--timeout", "1s"]).await;

    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("is locked, held by me@laptop for OperationTypeApply since today (lock 1)"),
        "{told}"
    );
    assert_eq!((stage.module().await.as_str(), stage.state().await), (MODULE, state()));
}
