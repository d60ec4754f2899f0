use capt_api::names::{annotation, finalizer};
use capt_api::{Workspace, WorkspaceTemplateApply};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use rstest::rstest;
use serde_json::{Value, json};

use super::super::*;

fn apply() -> WorkspaceTemplateApply {
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "x-apply", "namespace": "a", "uid": "1", "annotations": { annotation::STATE: "a/tfstate-x-capt" } },
        "spec": { "templateRef": { "name": "t" } },
    }))
    .unwrap()
}

fn secret(finalizers: &Value, owner: &str) -> ObjectMeta {
    serde_json::from_value(json!({
        "name": "tfstate-x-capt", "finalizers": finalizers,
        "ownerReferences": [{ "apiVersion": "v", "kind": "WorkspaceTemplateApply", "name": "x-apply", "uid": owner }],
    }))
    .unwrap()
}

fn judge(secret: Option<&ObjectMeta>, lock: bool, running: bool) -> Vec<Finding> {
    let workspace: Workspace = serde_json::from_value(json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": { "name": "x" },
        "spec": { "forProvider": { "source": "Inline", "module": "" } },
        "status": { "engine": if running {
            json!({ "run": { "operation": "Apply", "phase": "Running", "since": "2026-01-01T00:00:00Z" } })
        } else {
            json!({})
        } },
    }))
    .unwrap();
    let lock =
        lock.then(|| LockFacts { id: "17".to_owned(), who: "me@here".to_owned(), since: "noon".to_owned() });
    let apply = apply();
    StateFacts { area: "x", apply: &apply, workspace: Some(&workspace), secret, lock }.judge()
}

#[rstest]
#[case::well(judge(Some(&secret(&json!([finalizer::STATE]), "1")), false, false), Level::Good, "is there and held", "")]
#[case::missing(
    judge(None, false, false),
    Level::Bad,
    "is not there any more",
    "kubectl -n a get secrets -l capt.cluster.x-k8s.io/role=snapshot"
)]
#[case::not_held(judge(Some(&secret(&json!([]), "1")), false, false), Level::Bad, "is not held", "kubectl -n a patch secret tfstate-x-capt")]
#[case::not_owned(judge(Some(&secret(&json!([finalizer::STATE]), "old")), false, false), Level::Warning, "is not owned by its apply", "kubectl annotate --overwrite workspace x")]
#[case::locked(judge(Some(&secret(&json!([finalizer::STATE]), "1")), true, false), Level::Warning, "is locked by me@here since noon", "capt.cluster.x-k8s.io/force-unlock=17")]
#[case::running(judge(Some(&secret(&json!([finalizer::STATE]), "1")), true, true), Level::Good, "Terraform runs on Workspace `x`", "")]
fn the_state_of_a_workspace(
    #[case] findings: Vec<Finding>,
    #[case] level: Level,
    #[case] message: &str,
    #[case] fix: &str,
) {
    let found = findings.iter().find(|finding| finding.level == level && finding.message.contains(message));
    let found = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(found.fix.as_deref().unwrap_or_default().contains(fix), "{found:#?}");
}
