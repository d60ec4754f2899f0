//! `capt approve` and what `capt plan` shows of what waits, against a real API server. The test plays the manager.

use capt_api::names::{annotation, label};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use rstest::rstest;
use serde_json::{Value, json};

use crate::migrate::stage::{MODULE, Stage, state};

const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

async fn set() -> Stage {
    let stage = Stage::bare().await;
    stage.put_template("eks", MODULE).await;
    stage.put_use(&state()).await;
    stage
}

async fn tell(stage: &Stage, status: Value) {
    let patch = Patch::Merge(json!({ "status": status }));
    let workspaces = stage.workspaces();
    workspaces.patch_status(&stage.workspace_name(), &PatchParams::default(), &patch).await.unwrap();
}

fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({ "type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-11-16T12:00:00Z" })
}

/// A plan that waits, as the engine shows it.
async fn put_plan(stage: &Stage) {
    let name = stage.workspace_name();
    let change = json!({
        "address": "aws_vpc.main", "action": "replace", "reason": "replace_because_cannot_update",
        "attributes": [{ "name": "cidr", "before": "\"10.0.0.0/16\"", "after": "\"10.1.0.0/16\"" }],
    });
    let tree = json!({ "hash": HASH, "destroy": false, "changes": [change], "outputs": [], "drift": [], "warnings": [] });
    stage
        .create::<ConfigMap>(json!({
            "metadata": {
                "name": format!("capt-plan-{name}"),
                "labels": { label::MANAGED_BY: "capt" },
                "annotations": { annotation::WORKSPACE: name },
            },
            "data": { "hash": HASH, "plan": "1 to replace", "plan.json": tree.to_string() },
        }))
        .await;
    let waits = condition(
        "ApprovalRequired",
        "True",
        "ApprovalRequired",
        "the plan 0123456789abcdef waits for approval: it destroys or replaces aws_vpc.main. To apply it: kubectl …",
    );
    tell(
        stage,
        json!({ "conditions": [waits], "engine": { "plan": { "hash": HASH, "summary": "1 to replace" } } }),
    )
    .await;
}

async fn approve(stage: &Stage, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let name = stage.workspace_name();
    stage.capt(&[&["approve", "workspace", &name], arguments].concat()).await
}

async fn approved(stage: &Stage) -> Option<String> {
    stage.workspace().await.annotations().get(annotation::APPROVE_PLAN).cloned()
}

#[tokio::test]
async fn what_waits_is_shown_and_approved_as_it_was_shown() {
    let stage = set().await;
    let (code, printed, told) = approve(&stage, &[]).await;
    assert_eq!((code, &printed["approved"]), (Some(0), &json!([])), "{told}");
    put_plan(&stage).await;

    let seen = stage.seen(&["plan", "workspace", &stage.workspace_name()]).await;
    assert!(
        seen.contains(
            "-/+ aws_vpc.main (replace because cannot update)\n      cidr: \"10.0.0.0/16\" → \"10.1.0.0/16\""
        ),
        "{seen}"
    );
    assert!(seen.contains("Plan: 1 to add, 0 to change, 1 to destroy"), "{seen}");
    let (code, printed, _) =
        stage.capt(&["plan", "cluster", "prod", "-n", &stage.namespace, "--detailed-exitcode"]).await;
    assert_eq!((code, &printed["workspaces"][0]["source"]), (Some(3), &json!("Waiting")));

    let (code, _, told) = approve(&stage, &[]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("there is nobody to ask") && told.contains("--plan HASH"), "{told}");
    let (code, _, told) = approve(&stage, &["--plan", "ffffffffffff"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("ffffffffffff does not wait for approval, but plan 0123456789abcdef"), "{told}");
    assert_eq!(approved(&stage).await, None);

    let (code, printed, told) = approve(&stage, &["--plan", &HASH[..16]]).await;
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(
        (&printed["approved"][0]["kind"], &printed["approved"][0]["hash"]),
        (&json!("Plan"), &json!(HASH))
    );
    assert_eq!(approved(&stage).await.as_deref(), Some(HASH));
}

#[tokio::test]
async fn it_is_waited_for_until_it_is_applied_or_fails() {
    let stage = set().await;
    put_plan(&stage).await;
    let generation = stage.workspace().await.metadata.generation;
    for (status, reason, code) in [("True", "ReconcileSuccess", 0), ("False", "ReconcileError", 1)] {
        put_waiting(&stage).await;
        let waiting = approve(&stage, &["--yes", "--wait", "--timeout", "60s"]);
        let manager = async {
            capt_testkit::watch_until(
                "the approval",
                &stage.workspaces(),
                &stage.workspace_name(),
                |found| found.annotations().contains_key(annotation::APPROVE_PLAN),
            )
            .await;
            let over = condition("Synced", status, reason, "no quota");
            tell(
                &stage,
                json!({ "conditions": [over], "engine": { "plan": null }, "observedGeneration": generation }),
            )
            .await;
        };
        let ((ended, _, told), ()) = tokio::join!(waiting, manager);
        assert_eq!(ended, Some(code), "{told}");
        assert_eq!(told.contains("is not applied: no quota"), code == 1, "{told}");
        stage.annotate_workspace(annotation::APPROVE_PLAN, Value::Null).await;
    }
}

async fn put_waiting(stage: &Stage) {
    let waits = condition("ApprovalRequired", "True", "ApprovalRequired", "x");
    tell(stage, json!({ "conditions": [waits], "engine": { "plan": { "hash": HASH, "summary": "" } } }))
        .await;
}

#[tokio::test]
async fn a_change_of_a_template_is_approved_by_its_digest() {
    let stage = set().await;
    let digest = format!("sha256:{HASH}");
    stage.change_apply(json!({ "spec": { "updatePolicy": "Approve" } })).await;
    stage.change_apply_status(json!({ "status": { "pendingDigest": digest } })).await;

    let arguments = ["approve", "apply", &stage.apply_name(), "-n", &stage.namespace, "--yes"];
    let (code, printed, told) = stage.capt(&arguments).await;

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(printed["approved"][0]["kind"], "Change");
    assert_eq!(stage.apply().await.annotations()[annotation::APPROVE], digest);
}

#[rstest]
#[case::paused(annotation::CROSSPLANE_PAUSED, "it is paused by its annotation crossplane.io/paused")]
#[case::frozen(annotation::FROZEN, "lives on in another cluster")]
#[tokio::test]
async fn no_plan_is_asked_for_where_nobody_would_answer(#[case] key: &str, #[case] expected: &str) {
    let stage = set().await;
    stage.annotate_workspace(key, json!("true")).await;

    let (code, _, told) = stage.capt(&["plan", "workspace", &stage.workspace_name()]).await;

    assert_eq!(code, Some(1));
    assert!(told.contains(expected), "{told}");
    assert!(!stage.workspace().await.annotations().contains_key(annotation::PLAN_REQUESTED_AT));
}

#[tokio::test]
async fn whoever_waits_for_a_plan_is_told_when_nobody_answers() {
    let stage = set().await;
    let (code, _, told) =
        stage.capt(&["plan", "workspace", &stage.workspace_name(), "--timeout", "1s"]).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("has not made a plan") && told.contains("see whether a manager runs"), "{told}");
}

#[rstest]
#[case::nothing(&["approve"], 2)]
#[case::no_name(&["approve", "workspace"], 2)]
#[case::no_kind(&["approve", "pod", "x"], 2)]
#[case::too_short(&["approve", "workspace", "x", "--plan", "0123"], 2)]
#[case::no_hash(&["approve", "workspace", "x", "--plan", "latest-please"], 2)]
#[case::no_plan(&["plan"], 2)]
#[case::half_a_plan(&["plan", "workspace"], 2)]
#[case::rendered_from_nothing(&["plan", "workspace", "x", "--render-only"], 2)]
#[case::two_kinds_of_plan(&["plan", "workspace", "x", "-f", "y"], 2)]
#[case::no_serial(&["state", "restore", "workspace", "x"], 2)]
#[case::no_number(&["state", "restore", "workspace", "x", "--snapshot", "last"], 2)]
#[case::two_runs(&["logs", "workspace", "x", "--run", "1", "--previous"], 2)]
#[case::follows_a_list(&["logs", "workspace", "x", "-f", "--list"], 2)]
fn bad_usage_is_told_before_anything_is_looked_for(#[case] arguments: &[&str], #[case] code: i32) {
    crate::told(crate::capt().args(arguments), code);
}

#[tokio::test]
async fn manifests_on_disk_are_compared_with_the_workspaces_that_they_make() {
    let stage = set().await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("template.yaml");
    let path = file.to_str().unwrap();
    let template = |module: &str| {
        let spec =
            json!({ "template": { "spec": { "forProvider": { "source": "Inline", "module": module } } } });
        let object = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplate",
            "metadata": { "name": "eks" }, "spec": spec,
        });
        std::fs::write(&file, object.to_string()).unwrap();
    };
    let plan = ["plan", "-f", path, "-n", &stage.namespace, "--detailed-exitcode", "--render-only"];
    let before = stage.versions().await;

    template(MODULE);
    let (code, printed, told) = stage.capt(&plan).await;
    assert_eq!((code, &printed["workspaces"][0]["change"]), (Some(0), &json!("None")), "{told}");

    template(&MODULE.replace("input      = \"queue\"", "input      = \"another\""));
    let (code, printed, told) = stage.capt(&plan).await;
    assert_eq!((code, &printed["workspaces"][0]["change"]), (Some(3), &json!("Update")), "{told}");
    let diff = printed["workspaces"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("\n-  input      = \"queue\"\n+  input      = \"another\"\n"), "{diff}");
    stage.change_apply(json!({ "spec": { "updatePolicy": "Approve" } })).await;
    let seen = stage.seen(&plan).await;
    assert!(seen.contains(&format!("this waits for `capt approve apply {}`", stage.apply_name())), "{seen}");

    template("resource \"terraform_data\" {");
    let (code, _, told) = stage.capt(&plan).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("spec.template.spec.forProvider.module"), "{told}");
    std::fs::write(&file, "kind: [").unwrap();
    let (code, _, told) = stage.capt(&plan).await;
    assert_eq!(code, Some(1));
    assert!(told.contains("cannot be read: see `capt validate -f"), "{told}");
    stage.change_apply(json!({ "spec": { "updatePolicy": "Automatic" } })).await;
    let after = stage.versions().await;
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "nothing was made");
}

const NEW_CLUSTER: &str = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: { name: NAME }
spec:
  infrastructureRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: CAPTCluster, name: NAME }
  controlPlaneRef: { apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: CAPTControlPlane, name: NAME }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: CAPTCluster
metadata: { name: NAME }
spec: { region: eu-west-1, vpcTemplateRef: { name: new-network } }
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: CAPTControlPlane
metadata: { name: NAME }
spec: { version: v1.34.0, workspaceTemplateRef: { name: new-plane } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplate
metadata: { name: new-network }
spec: { template: { spec: { forProvider: { source: Inline, module: "variable \"region\" {}\noutput \"subnets\" { value = [] }\n" } } } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplate
metadata: { name: new-plane }
spec: { template: { spec: { forProvider: { source: Inline, module: "variable \"subnets\" {}\nvariable \"login\" {}\n" } } } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplateApply
metadata: { name: NAME-more-apply }
spec:
  templateRef: { name: new-plane }
  variables: { subnets: "[]" }
  variablesFrom: [{ variable: login, secretKeyRef: { name: login, key: password } }]
---
apiVersion: v1
kind: Secret
metadata: { name: login }
stringData: { password: hunter22hunter22 }
---
apiVersion: v1
kind: Namespace
metadata: { name: another }
"#;

#[tokio::test]
async fn a_new_cluster_on_disk_is_told_by_the_workspaces_that_it_leads_to() {
    let stage = set().await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("cluster.yaml");
    // Workspaces have no namespace: the name is nobody else's.
    let name = format!("new-{}", stage.namespace);
    std::fs::write(&file, NEW_CLUSTER.replace("NAME", &name)).unwrap();
    let plan = ["plan", "-f", file.to_str().unwrap(), "-n", &stage.namespace, "--detailed-exitcode"];
    let before = stage.versions().await;

    let (code, printed, told) = stage.capt(&plan).await;

    assert_eq!(code, Some(3), "{told}");
    let of = |workspace: String| {
        let all = printed["workspaces"].as_array().unwrap();
        let position = all.iter().position(|it| it["workspace"] == workspace);
        let position = position.unwrap_or_else(|| panic!("{workspace} is not in {printed}"));
        assert_eq!(all[position]["change"], "Create");
        (position, all[position]["variables"].clone())
    };
    let (network, plane) = (of(format!("{name}-vpc")), of(format!("{name}-eks-controlplane")));
    assert!(network.0 < plane.0, "what others need comes first");
    assert_eq!(network.1["region"], "eu-west-1");
    assert_eq!(plane.1["subnets"], format!("(known after Workspace `{name}-vpc` is applied)"));
    assert_eq!(of(format!("{name}-more")).1, json!({ "subnets": "[]" }), "the login is in a Secret");
    assert_eq!(printed["skipped"], json!(["Namespace `another`: it leads to no Workspace"]));
    let seen = stage.seen(&plan).await;
    assert!(seen.contains("  region = \"eu-west-1\"\n"), "{seen}");
    assert!(seen.contains("everything in it is made; what exactly, Terraform can tell once"), "{seen}");
    assert!(
        seen.ends_with("Workspaces: 3 to make, 0 to change, 0 as they are. Nothing was applied.\n"),
        "{seen}"
    );
    assert!(!format!("{printed}{seen}").contains("hunter22"), "{seen}");
    assert_eq!(before, stage.versions().await, "nothing was made");
}
