//! `capt doctor`: things are broken one after the other, and each time it says so and what to type.

use std::path::Path;

use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::{CLUSTER_SECRET_TYPE, label};
use capt_api::{CAPTControlPlane, Cluster, WorkspaceTemplateApply};
use capt_testkit::TestCluster;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::capt;

const NAMESPACE: &str = "default";
const CRD: &str = "captcontrolplanes.controlplane.cluster.x-k8s.io";

/// What it found, and the code that it ended with.
fn doctor(kubeconfig: &Path, arguments: &[&str]) -> (Vec<Value>, i32) {
    let output = capt()
        .env("KUBECONFIG", kubeconfig)
        .args(["--output", "json", "doctor"])
        .args(arguments)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.stdout.is_empty(), "{told}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    (report["findings"].as_array().unwrap().clone(), output.status.code().unwrap())
}

/// Fails unless something bad with this message and this fix was found.
#[track_caller]
fn assert_bad((findings, code): &(Vec<Value>, i32), message: &str, fix: &str) {
    assert_eq!(*code, 1);
    let found = findings.iter().find(|finding| {
        finding["level"] == "bad" && finding["message"].as_str().is_some_and(|text| text.contains(message))
    });
    assert!(found.is_some(), "{message}: {findings:#?}");
    let found = found.unwrap();
    assert!(found["fix"].as_str().unwrap().contains(fix), "{found:#}");
}

#[track_caller]
fn assert_well((findings, code): &(Vec<Value>, i32)) {
    let bad: Vec<&Value> = findings.iter().filter(|finding| finding["level"] == "bad").collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert_eq!(*code, 0);
}

async fn create<K>(client: &Client, mut object: Value) -> K
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + serde::Serialize,
{
    object["apiVersion"] = K::api_version(&()).into();
    object["kind"] = K::kind(&()).into();
    let api: Api<K> = Api::namespaced(client.clone(), NAMESPACE);
    api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap()
}

/// A cluster as CAPT leaves it. The kubeconfig is that of the management cluster: it is good, and leads somewhere.
async fn put_cluster(client: &Client, cluster: &TestCluster) {
    let kubeconfig = cluster.control_plane().kubeconfig();
    let authority = cluster.control_plane().certificate_authority();
    let server = cluster.control_plane().url();
    let port: u16 = server.rsplit_once(':').unwrap().1.parse().unwrap();
    create::<Cluster>(client, json!({
        "metadata": { "name": "prod" },
        "spec": { "controlPlaneRef": { "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": "prod" } },
    }))
    .await;
    let plane: CAPTControlPlane = create(client, json!({
        "metadata": { "name": "prod" },
        "spec": { "version": "1.34", "workspaceTemplateRef": { "name": "t" }, "controlPlaneEndpoint": { "host": "127.0.0.1", "port": port } },
    }))
    .await;
    create::<Secret>(client, json!({
        "metadata": { "name": "prod-eks-connection" },
        "stringData": { "kubeconfig": kubeconfig, "cluster_certificate_authority_data": authority, "cluster_endpoint": server },
    }))
    .await;
    for (name, key, content) in [
        ("prod-kubeconfig", "value", &kubeconfig),
        ("prod-control-plane-kubeconfig", "value", &kubeconfig),
        ("prod-ca", "tls.crt", &authority.to_owned()),
    ] {
        let owner = json!({ "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": "prod", "uid": plane.metadata.uid, "controller": true });
        create::<Secret>(client, json!({
            "metadata": { "name": name, "labels": { label::MANAGED_BY: "capt", label::CLUSTER_NAME: "prod" }, "ownerReferences": [owner] },
            "type": CLUSTER_SECRET_TYPE, "stringData": { key: content },
        }))
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_broken_is_found_and_its_fix_is_told() {
    let cluster = TestCluster::start().await;
    let client = cluster.client();
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = directory.path().join("kubeconfig");
    std::fs::write(&kubeconfig, cluster.control_plane().kubeconfig()).unwrap();

    let found = doctor(&kubeconfig, &[]);
    assert_bad(&found, &format!("{CRD} is not there"), "capt crds | kubectl apply --server-side");
    assert_bad(&found, "Workspace is not there", "capt crds --include terraform");

    cluster.apply_crds(&[own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat()).await;
    assert_well(&doctor(&kubeconfig, &[]));

    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let label =
        |value: Value| Patch::Merge(json!({ "metadata": { "labels": { label::CONTRACT_V1BETA1: value } } }));
    definitions.patch(CRD, &PatchParams::default(), &label(json!("v1beta1"))).await.unwrap();
    assert_bad(
        &doctor(&kubeconfig, &[]),
        "of an older contract",
        &format!("kubectl label crd {CRD} cluster.x-k8s.io/v1beta1-"),
    );
    definitions.patch(CRD, &PatchParams::default(), &label(Value::Null)).await.unwrap();

    put_cluster(&client, &cluster).await;
    assert_well(&doctor(&kubeconfig, &[]));
    break_secrets(&client, &kubeconfig).await;
    break_state(&client, &kubeconfig).await;

    let user = cluster.control_plane().kubeconfig_for("jane", &[]).unwrap();
    std::fs::write(&kubeconfig, user).unwrap();
    let found = doctor(&kubeconfig, &["--cluster", "prod", "-n", "nowhere"]);
    assert_bad(&found, "jane may not: ", "--user=jane");
}

async fn break_secrets(client: &Client, kubeconfig: &Path) {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let change = async |name: &str, patch: Value| {
        secrets.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
    };
    let before = change("prod-kubeconfig", json!({})).await;
    let good = json!({ "data": before.data });
    change("prod-kubeconfig", json!({ "stringData": { "value": "hunter2" } })).await;
    let found = doctor(kubeconfig, &["--cluster", "prod"]);
    assert_bad(
        &found,
        "is not what its source, Secret `default/prod-eks-connection`, says",
        "see whether a manager runs",
    );
    assert_bad(&found, "prod-control-plane-kubeconfig` differ", "see whether a manager runs");
    assert!(!format!("{found:?}").contains("hunter2"));
    change("prod-kubeconfig", good).await;

    change("prod-ca", json!({ "metadata": { "ownerReferences": [] } })).await;
    assert_bad(
        &doctor(kubeconfig, &[]),
        "`default/prod-ca` is owned by nobody",
        "see whether a manager runs",
    );
    change("prod-ca", json!({ "metadata": { "ownerReferences": before.metadata.owner_references } })).await;

    change("prod-kubeconfig", json!({ "metadata": { "labels": { label::CLUSTER_NAME: null } } })).await;
    assert_bad(
        &doctor(kubeconfig, &[]),
        "lacks the label",
        "kubectl label --overwrite secret -n default prod-kubeconfig",
    );
    change("prod-kubeconfig", json!({ "metadata": { "labels": { label::CLUSTER_NAME: "prod" } } })).await;
    assert_well(&doctor(kubeconfig, &[]));

    secrets.delete("prod-control-plane-kubeconfig", &DeleteParams::default()).await.unwrap();
    assert_bad(
        &doctor(kubeconfig, &[]),
        "`default/prod-control-plane-kubeconfig` is not there",
        "see whether a manager runs",
    );
}

async fn break_state(client: &Client, kubeconfig: &Path) {
    create::<WorkspaceTemplateApply>(client, json!({
        "metadata": { "name": "x-apply", "annotations": { "capt.cluster.x-k8s.io/state": "default/tfstate-x-capt" } },
        "spec": { "templateRef": { "name": "t" } },
    }))
    .await;
    assert_bad(
        &doctor(kubeconfig, &[]),
        "was in Secret `default/tfstate-x-capt`, and is not there any more",
        "capt restore FILE",
    );
    create::<Secret>(client, json!({ "metadata": { "name": "tfstate-x-capt" } })).await;
    assert_bad(&doctor(kubeconfig, &[]), "is not held", "kubectl -n default patch secret tfstate-x-capt");
}

#[test]
fn without_a_cluster_it_says_how_to_get_one() {
    let nowhere = tempfile::tempdir().unwrap();
    let found = doctor(&nowhere.path().join("kubeconfig"), &[]);
    assert_bad(&found, "there is no way to one", "capt up");
}
