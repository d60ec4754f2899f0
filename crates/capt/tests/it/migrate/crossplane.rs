//! `capt migrate from-crossplane` and `to-crossplane` against a real API server. The test plays the manager.

use capt_api::names::annotation;
use capt_api::{ProviderConfig, Workspace};
use capt_testkit::watch_until;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use rstest::rstest;
use serde_json::{Value, json};

use super::stage::{Stage, ended, verb};
use crate::{capt, told};

#[rstest]
#[case::nothing(&[], "Usage: capt migrate from-crossplane")]
#[case::a_name_and_all(&["x", "--all"], "cannot be used with")]
#[case::a_name_that_leads_elsewhere(&["../x"], "write a name in lower case letters")]
#[case::a_dry_run_that_does_it(&["x", "--dry-run", "--yes"], "cannot be used with")]
fn bad_usage_is_told(#[case] arguments: &[&str], #[case] message: &str) {
    let told = told(capt().args(["migrate", "from-crossplane"]).args(arguments), 2);

    assert!(told.contains(message), "{told}");
}

#[test]
fn nobody_is_asked_where_nobody_is() {
    for verb in ["from-crossplane", "to-crossplane"] {
        let told = told(capt().args(["migrate", verb, "x"]).write_stdin("yes\n"), 1);

        assert!(told.starts_with("error: there is nobody to ask: "), "{told}");
    }
}

const MADE: &str = annotation::EXTERNAL_CREATE_SUCCEEDED;

/// A Workspace of Crossplane's, whose `ProviderConfig` says this.
async fn put(stage: &Stage, name: &str, annotations: Value, configuration: &str) -> String {
    let name = format!("{}-{name}", stage.namespace);
    let config = json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "ProviderConfig",
        "metadata": { "name": name }, "spec": { "configuration": configuration },
    });
    let configs: Api<ProviderConfig> = Api::all(stage.client.clone());
    configs.create(&PostParams::default(), &serde_json::from_value(config).unwrap()).await.unwrap();
    let workspace = json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
        "metadata": { "name": name, "annotations": annotations },
        "spec": {
            "forProvider": { "source": "Inline", "module": "locals {}" },
            "providerConfigRef": { "name": name },
        },
    });
    let workspace = serde_json::from_value(workspace).unwrap();
    stage.workspaces().create(&PostParams::default(), &workspace).await.unwrap();
    name
}

fn kubernetes(namespace: &str) -> String {
    format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    namespace = \"{namespace}\"\n    secret_suffix = \"state\"\n  }}\n}}\n"
    )
}

/// Somebody says that all is well since then.
async fn say(stage: &Stage, name: &str, since: &str) {
    let condition = json!({
        "type": "Synced", "status": "True", "reason": "ReconcileSuccess", "lastTransitionTime": since,
    });
    let patch = Patch::Merge(json!({ "status": { "conditions": [condition] } }));
    stage.workspaces().patch_status(name, &PatchParams::default(), &patch).await.unwrap();
}

async fn assert_refused(stage: &Stage, arguments: &[&str], name: &str, expected: &str) {
    let before = stage.workspaces().get(name).await.unwrap();
    for last in ["--dry-run", "--yes"] {
        let arguments = [arguments, &[name, last]].concat();
        let (code, printed, told) = stage.capt(&arguments).await;
        assert_eq!(code, Some(1), "{told}");
        assert!(format!("{printed}{told}").contains(expected), "{printed} {told}");
    }
    let after = stage.workspaces().get(name).await.unwrap();
    assert_eq!(before.resource_version(), after.resource_version(), "something was written");
}

#[tokio::test]
async fn what_cannot_be_taken_over_is_told_and_left_alone() {
    let stage = Stage::bare().await;
    let from = ["migrate", "from-crossplane"];
    let made = json!({ MADE: "2026-01-01T10:00:00Z" });

    let on_a_disk = put(&stage, "disk", made.clone(), "").await;
    assert_refused(&stage, &from, &on_a_disk, "own disk").await;
    let lost = put(&stage, "lost", made, &kubernetes(&stage.namespace)).await;
    assert_refused(&stage, &from, &lost, "there is no Secret").await;
    let paused = json!({ annotation::CROSSPLANE_PAUSED: "true" });
    let paused = put(&stage, "paused", paused, "").await;
    assert_refused(&stage, &from, &paused, "lift the pause first").await;

    let (code, _, told) = stage.capt(&["migrate", "from-crossplane", "nobody", "--yes"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("there is no Workspace `nobody`"), "{told}");
    let (code, _, told) = stage.capt(&["migrate", "to-crossplane", &on_a_disk, "--yes"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("nobody but CAPT runs Workspaces in this cluster"), "{told}");
}

#[tokio::test]
async fn a_workspace_is_marked_once_and_waited_for() {
    let stage = Stage::bare().await;
    let made = json!({ MADE: "2026-01-01T10:00:00Z" });
    let name = put(&stage, "shared", made, &kubernetes(&stage.namespace)).await;
    stage.create::<Secret>(json!({ "metadata": { "name": format!("tfstate-{name}-state") } })).await;

    let (code, printed, told) = stage.capt(&["migrate", "from-crossplane", &name, "--dry-run"]).await;
    assert_eq!(code, Some(0), "{told}");
    let entry = &printed["workspaces"][0];
    assert_eq!((&printed["way"], &entry["outcome"]), (&json!("ToCapt"), &json!("Planned")));
    assert_eq!(entry["state"], format!("Secret `{}/tfstate-{name}-state`", stage.namespace));

    // Nobody begins with it: what is waited for is told, and it can be repeated.
    let arguments = ["migrate", "from-crossplane", name.as_str(), "--yes", "--timeout=1s"];
    for _ in 0..2 {
        let (code, _, told) = stage.capt(&arguments).await;
        assert_eq!(code, Some(1));
        assert!(told.contains("no manager has begun with it"), "{told}");
    }
    let marked = stage.workspaces().get(&name).await.unwrap();
    assert_eq!(marked.annotations()[annotation::RUN_BY], "capt");
    assert!(!marked.annotations().contains_key(annotation::HANDOVER), "that is the manager's");

    // Where Crossplane is stopped nobody has to say that it has put the Workspace down. Its last word is not that of CAPT.
    say(&stage, &name, "2026-01-01T10:00:00Z").await;
    let arguments = ["migrate", "from-crossplane", name.as_str(), "--yes", "--provider-stopped"];
    let mut verb = verb(&stage.kubeconfig(), "json", &arguments).spawn().unwrap();
    let is_taken = |workspace: &Workspace| workspace.annotations().contains_key(annotation::HANDOVER);
    watch_until("the Workspace to be taken", &stage.workspaces(), &name, is_taken).await;
    assert!(verb.try_wait().unwrap().is_none(), "nobody has looked at it yet");
    say(&stage, &name, "2026-01-01T11:00:00Z").await;
    let (code, printed, told) = ended(verb).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(printed["workspaces"][0]["outcome"], "Done");
    let taken: Workspace = stage.workspaces().get(&name).await.unwrap();
    assert_eq!(taken.annotations()[annotation::HANDOVER], "taken");
    assert_eq!(taken.annotations()[annotation::CROSSPLANE_PAUSED], "true");

    let (code, printed, told) = stage.capt(&["migrate", "from-crossplane", &name, "--yes"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(printed["workspaces"][0]["outcome"], "NothingToDo");
}
