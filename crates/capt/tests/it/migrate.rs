//! `capt migrate helm-release` against a real API server. The test plays the manager, but for the last one.

mod bad_input;
mod crossplane;
pub(crate) mod from_go;
mod interrupted;
mod running_release;
pub(crate) mod stage;
mod terraform;

use capt_api::names::annotation;
use capt_testkit::watch_until;
use kube::ResourceExt;
use serde_json::{Value, json};

use stage::{EDITED, MODULE, Stage, state};

#[tokio::test]
async fn a_dry_run_shows_everything_and_writes_nothing() {
    let stage = Stage::set().await;
    let before = stage.versions().await;

    let (code, printed, told) = stage.migrate(&["--dry-run"]).await;

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(printed["outcome"], "Planned");
    assert_eq!(printed["removed"], json!(["helm_release.karpenter"]));
    assert_eq!(printed["addedOutputs"], json!(["cluster_name"]));
    let user = &printed["applies"][0];
    assert_eq!(user["leaving"], json!(["helm_release.karpenter"]));
    assert_eq!(user["labels"], json!({ "karpenter.sh/enabled": "true" }));
    let diff = printed["diff"].as_str().unwrap();
    assert!(diff.contains("\n-resource \"helm_release\" \"karpenter\" {\n"), "{diff}");
    assert!(diff.contains("\n+output \"cluster_name\" {\n"), "{diff}");
    assert!(!format!("{printed}{told}").contains("hunter2"), "nothing of the state is shown");
    assert_eq!(stage.versions().await, before);
}

#[tokio::test]
async fn people_see_what_would_be_done() {
    let stage = Stage::set().await;

    let shown = stage.shown(&["--dry-run"]).await.replace(&stage.namespace, "NAMESPACE");

    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    --- NAMESPACE/eks
    +++ NAMESPACE/eks, without helm_release.karpenter
    @@ -3,15 +3,10 @@
       input = "prod" # its name
     }

    -# Karpenter.
    -resource "helm_release" "karpenter" {
    -  chart = "karpenter"
    -  set {
    -    name  = "settings.clusterName"
    -    value = terraform_data.eks.output
    -  }
    -}
    -
     resource "terraform_data" "queue" {
       input      = "queue"
    -  depends_on = [helm_release.karpenter]
     }
    +
    +output "cluster_name" {
    +  value = terraform_data.eks.output
    +}

    WorkspaceTemplateApply `NAMESPACE/NAMESPACE-prod-apply` is paused meanwhile
      out of the state in Secret `NAMESPACE/tfstate-NAMESPACE-prod-capt`:
        helm_release.karpenter
      Cluster `prod` gets the label karpenter.sh/enabled=true

    to know:
    - WorkspaceTemplate `NAMESPACE/eks` was written by unknown: change it there too, or the release comes back into the template
    - line 17: `resource "terraform_data" "queue"` no longer waits for the release (`depends_on`)
    - helm_release.karpenter: write output "cluster_endpoint" by hand: no value was found for it
    - helm_release.karpenter: no value was found for output "karpenter_iam_role_arn"; write it by hand if the HelmRelease needs it
    - helm_release.karpenter: no value was found for output "karpenter_queue_name"; write it by hand if the HelmRelease needs it
    "#);
}

#[tokio::test]
async fn the_release_leaves_terraform_and_a_second_run_changes_nothing() {
    let stage = Stage::set().await;
    let manager = stage.play_manager();

    let (code, printed, told) = stage.migrate(&["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    assert_eq!((&printed["outcome"], &printed["left"]), (&json!("Done"), &Value::Null));
    stage.assert_migrated().await;

    let before = stage.versions().await;
    for arguments in [&["--yes"][..], &["--yes", "--template", "eks"], &["--dry-run"]] {
        let (code, printed, told) = stage.migrate(arguments).await;
        assert_eq!((code, &printed["outcome"]), (Some(0), &json!("NothingToDo")), "{told}");
    }
    assert_eq!(stage.versions().await, before);
    manager.abort();
}

#[tokio::test]
async fn every_use_of_a_template_is_looked_after_in_whatever_namespace_it_is() {
    let stage = Stage::set().await;
    let elsewhere = stage.put_use_elsewhere().await;
    let managers = [stage.play_manager(), elsewhere.play_manager()];

    let (code, _, told) = stage.migrate(&["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    stage.assert_migrated().await;
    elsewhere.assert_state_migrated().await;
    managers.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn what_the_user_has_paused_stays_paused_until_he_lifts_it() {
    let stage = Stage::set().await;
    let manager = stage.play_manager();
    stage.annotate_apply(annotation::PAUSED, json!("mine")).await;

    let (code, printed, told) = stage.migrate(&["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    let left = printed["left"][0].as_str().unwrap();
    assert!(left.contains("was paused before: lift its pause, then run this again"), "{left}");
    let apply = stage.apply().await;
    assert_eq!(apply.annotations()[annotation::PAUSED], "mine");
    assert_eq!(stage.workspace().await.annotations()[annotation::CROSSPLANE_PAUSED], "true");

    stage.annotate_apply(annotation::PAUSED, Value::Null).await;
    let (code, printed, told) = stage.migrate(&["--yes"]).await;
    assert_eq!((code, &printed["left"]), (Some(0), &Value::Null), "{told}");
    stage.assert_migrated().await;
    manager.abort();
}

#[tokio::test]
async fn a_workspace_that_the_user_has_paused_stays_paused() {
    let stage = Stage::set().await;
    let manager = stage.play_manager();
    stage.annotate_workspace(annotation::CROSSPLANE_PAUSED, json!("true")).await;

    let (code, _, told) = stage.migrate(&["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(stage.workspace().await.annotations()[annotation::CROSSPLANE_PAUSED], "true");
    assert!(!stage.apply().await.annotations().contains_key(annotation::MIGRATION));
    manager.abort();
}

#[tokio::test]
async fn a_change_that_waits_for_approval_keeps_the_workspace_paused() {
    let stage = Stage::set().await;
    stage.change_apply(json!({ "spec": { "updatePolicy": "Approve" } })).await;
    stage.change_apply_status(json!({ "status": { "pendingDigest": "sha256:1", "applied": true } })).await;

    let (code, printed, told) = stage.migrate(&["--yes"]).await;

    assert_eq!(code, Some(0), "{told}");
    let left = printed["left"][0].as_str().unwrap();
    assert!(left.contains("waits for approval"), "{left}");
    assert!(!stage.apply().await.annotations().contains_key(annotation::PAUSED));
    assert_eq!(stage.workspace().await.annotations()[annotation::CROSSPLANE_PAUSED], "true");
    assert_eq!(stage.module().await, EDITED);
}

#[tokio::test]
async fn a_run_that_is_under_way_is_waited_for() {
    let stage = Stage::set().await;
    let manager = stage.play_manager();
    stage.put_run(json!({ "operation": "Apply", "phase": "Running", "since": "2026-01-02T03:04:05Z" })).await;
    let (code, _, told) = stage.migrate(&["--yes", "--timeout", "1s"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("has not ended within 1 s"), "{told}");
    assert_eq!((stage.module().await.as_str(), stage.state().await), (MODULE, state()));

    let waiting = stage.start(&["--yes"]);
    let is_paused =
        |apply: &capt_api::WorkspaceTemplateApply| apply.annotations().contains_key(annotation::PAUSED);
    watch_until("the pause", &stage.applies(), &stage.apply_name(), is_paused).await;
    stage.put_run(Value::Null).await;

    let (code, _, told) = stage::ended(waiting).await;
    assert_eq!(code, Some(0), "{told}");
    stage.assert_migrated().await;
    manager.abort();
}
