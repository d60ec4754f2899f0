//! Statuses: those of earlier versions, nulls, and what must keep its structure.

use rstest::rstest;
use serde_json::{Value, json};

use super::server::Server;

const GROUP: &str = "infrastructure.cluster.x-k8s.io/v1beta1";

fn object(kind: &str, name: &str) -> Value {
    let (version, spec) = match kind {
        "CAPTCluster" => (GROUP, json!({ "region": "ap-northeast-1", "vpcTemplateRef": { "name": "vpc" } })),
        "WorkspaceTemplateApply" => (GROUP, json!({ "templateRef": { "name": "vpc" } })),
        "WorkspaceTemplate" => (
            GROUP,
            json!({ "template": { "spec": { "forProvider": { "source": "Inline", "module": "locals {}" } } } }),
        ),
        "CAPTControlPlane" => (
            "controlplane.cluster.x-k8s.io/v1beta1",
            json!({ "version": "1.34", "workspaceTemplateRef": { "name": "eks" } }),
        ),
        "Workspace" => {
            ("tf.upbound.io/v1beta1", json!({ "forProvider": { "source": "Inline", "module": "locals {}" } }))
        }
        _ => ("cluster.x-k8s.io/v1beta2", json!({})),
    };
    json!({ "apiVersion": version, "kind": kind, "metadata": { "name": name }, "spec": spec })
}

/// A condition of Kubernetes' own kind.
fn condition(type_: &str) -> Value {
    json!({ "type": type_, "status": "True", "reason": "Done", "message": "", "lastTransitionTime": "2024-11-01T00:00:00Z" })
}

/// A condition as Crossplane's library writes it.
fn bare_condition(type_: &str) -> Value {
    json!({ "type": type_, "status": "True", "reason": "Available", "lastTransitionTime": "2024-11-01T00:00:00Z" })
}

#[rstest]
#[case("CAPTCluster", json!({}))]
#[case("CAPTControlPlane", json!({}))]
#[case("WorkspaceTemplate", json!({}))]
#[case("WorkspaceTemplateApply", json!({}))]
#[case("CAPTCluster", json!({
    "ready": true, "vpcId": "vpc-0abc1234", "vpcWorkspaceName": "demo-vpc",
    "workspaceTemplateStatus": {
        "ready": true, "workspaceName": "demo-vpc", "lastAppliedTime": "2024-11-01T00:00:00Z",
        "lastAppliedRevision": "12", "lastFailedRevision": "11", "lastFailureMessage": "no quota",
    },
    "failureReason": "VPCCreationFailed", "failureMessage": "no quota",
    "conditions": [condition("VPCReady"), condition("VPCCreating")],
}))]
#[case("CAPTControlPlane", json!({
    "ready": false, "initialized": false, "secretsReady": false, "phase": "Creating",
    "workspaceTemplateStatus": { "ready": false, "state": "Creating", "outputs": { "endpoint": "https://x" } },
    "workspaceStatus": { "ready": true, "state": "Ready", "atProvider": { "outputs": { "a": { "b": [1] } }, "checksum": "x" } },
    "failureReason": "WorkspaceError", "failureMessage": "conflict",
    "conditions": [condition("Ready"), condition("Initialized"), condition("Creating")],
}))]
#[case("WorkspaceTemplate", json!({ "workspaceName": "demo", "conditions": [bare_condition("Ready")] }))]
#[case("WorkspaceTemplateApply", json!({
    "workspaceName": "demo-vpc", "applied": true, "lastAppliedTime": "2024-11-01T00:00:00Z",
    "conditions": [bare_condition("Synced"), bare_condition("Ready")],
}))]
#[tokio::test]
async fn statuses_of_earlier_versions_are_accepted_and_kept(#[case] kind: &str, #[case] status: Value) {
    let server = Server::with_namespace().await;
    let object = object(kind, "demo");
    server.create(&object).await.unwrap();
    let stored = server.write_status(&object, &status).await.unwrap();
    for (name, value) in status.as_object().unwrap() {
        assert_eq!(&stored["status"][name], value, "{name}");
    }
}

#[rstest]
#[case("CAPTCluster", &["existingVpcId", "retainVpcOnDelete", "vpcConfig", "workspaceTemplateApplyName", "controlPlaneEndpoint"])]
#[case("CAPTControlPlane", &["controlPlaneConfig", "additionalTags", "controlPlaneEndpoint", "workspaceTemplateApplyName"])]
#[case("WorkspaceTemplate", &["writeConnectionSecretToRef"])]
#[case("WorkspaceTemplateApply", &[
    "variables", "variablesFrom", "waitForSecrets", "waitForWorkspaces", "writeConnectionSecretToRef", "retainWorkspaceOnDelete",
    "driftPolicy", "protectedResources",
])]
#[case("Workspace", &["writeConnectionSecretToRef"])]
#[tokio::test]
async fn nulls_are_accepted_and_dropped(#[case] kind: &str, #[case] fields: &[&str]) {
    let server = Server::with_namespace().await;
    let mut object = object(kind, "kinds-nulls");
    for field in fields {
        object["spec"][*field] = Value::Null;
    }
    let stored = server.try_create(&object).await.unwrap();
    for field in fields {
        assert_eq!(stored["spec"].get(field), None, "{field}");
    }
}

#[tokio::test]
async fn a_null_for_a_field_with_a_default_gives_the_default() {
    let server = Server::with_namespace().await;
    let mut object = object("WorkspaceTemplateApply", "demo");
    object["spec"]["updatePolicy"] = Value::Null;
    assert_eq!(server.try_create(&object).await.unwrap()["spec"]["updatePolicy"], "Automatic");
}

#[tokio::test]
async fn deep_outputs_of_a_workspace_keep_their_structure() {
    let server = Server::with_namespace().await;
    let object = object("Workspace", &server.unique("outputs"));
    server.create(&object).await.unwrap();
    let outputs = json!({
        "text": "x", "number": 1.5, "whole": 9_007_199_254_740_993_i64, "switch": false, "list": [[1, "a", { "b": [] }]],
        "object": { "a": { "b": { "c": { "d": [{ "e": {} }] } } } }, "odd key/with.dots": { "ünïcödé": "\"\n" },
    });
    let status = json!({ "atProvider": { "checksum": "x", "outputs": outputs } });
    let stored = server.write_status(&object, &status).await.unwrap();
    assert_eq!(stored["status"]["atProvider"]["outputs"], outputs);
}

#[tokio::test]
async fn fields_of_a_cluster_that_capt_does_not_know_are_kept() {
    let server = Server::with_namespace().await;
    let mut object = object("Cluster", "demo");
    object["spec"] = json!({
        "topology": {
            "classRef": { "name": "eks" }, "version": "v1.34.2",
            "variables": [{ "name": "tags", "value": { "team": ["platform"] } }],
            "workers": { "machineDeployments": [{ "class": "default", "name": "md-0", "replicas": 3 }] },
        },
        "availabilityGates": [{ "conditionType": "AddonsReady" }],
    });
    let stored = server.create(&object).await.unwrap();
    assert_eq!(stored["spec"], object["spec"]);
    let status =
        json!({ "workers": { "replicas": 3 }, "failureDomains": [{ "name": "a", "controlPlane": true }] });
    let stored = server.write_status(&object, &status).await.unwrap();
    assert_eq!(stored["status"], status);
}
