//! A namespace of a management cluster, kept and put back.

use capt_api::names::annotation;
use k8s_openapi::ByteString;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::stage::{Stage, unsealed};
use crate::{printed, told};

/// What is kept: all but the Secret that the control plane hands out, the token of a run, and what is somebody else's.
const KEPT: [&str; 13] = [
    "AddonStack base",
    "CAPTControlPlane prod",
    "Cluster prod",
    "ConfigMap manifests",
    "ConfigMap settings",
    "Secret capt-record-x",
    "Secret capt-snapshot-x-1",
    "Secret password",
    "Secret prod-eks-connection",
    "Secret tfstate-x-capt",
    "WorkspaceTemplate eks",
    "WorkspaceTemplateApply x-apply",
    "Namespace",
];

pub(super) fn names(objects: &[(String, Value)]) -> Vec<&str> {
    objects.iter().map(|(name, _)| name.as_str()).collect()
}

/// Everything is back as it was, owned by what is there now, and awake.
pub(super) async fn assert_restored(stage: &Stage, before: &[(String, Value)]) {
    let after = stage.objects().await;
    assert_eq!(names(&after), KEPT[..12], "what is kept is back");
    for (name, object) in &after {
        let was = &before.iter().find(|(before, _)| before == name).unwrap().1;
        for field in ["spec", "type"] {
            assert_eq!(object[field], was[field], "{name}");
        }
        if name != "Secret capt-record-x" {
            assert_eq!(object["data"], was["data"], "{name}");
        }
        assert_eq!(object["metadata"]["finalizers"], was["metadata"]["finalizers"], "{name}");
        let annotations = &object["metadata"]["annotations"];
        assert_eq!(annotations.get(annotation::RESTORING), None, "{name}");
        assert_eq!(
            annotations.get(annotation::PAUSED),
            was["metadata"]["annotations"].get(annotation::PAUSED),
            "{name}"
        );
        assert_owned(name, object, was, &after);
    }
}

fn assert_owned(name: &str, object: &Value, was: &Value, all: &[(String, Value)]) {
    let owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    assert_eq!(owners.len(), was["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len), "{name}");
    for owner in owners {
        let key = format!("{} {}", owner["kind"].as_str().unwrap(), owner["name"].as_str().unwrap());
        let found = &all.iter().find(|(name, _)| *name == key).unwrap().1;
        assert_eq!(owner["uid"], found["metadata"]["uid"], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_is_kept_and_put_back_with_its_states_and_owners() {
    let stage = Stage::set().await;
    let file = stage.file("backup.age");
    let before = stage.objects().await;
    let kept: Value = serde_json::from_str(&printed(&mut stage.backup(&file))).unwrap();
    assert_eq!(kept["objects"]["Secret"], 5);
    assert_eq!(kept["objects"]["Namespace"], 1);
    assert_eq!(unsealed(&file).lines().count(), KEPT.len() + 2, "header, objects, end");
    assert!(!std::fs::read(&file).unwrap().windows(7).any(|bytes| bytes == b"hunter2"));

    let same: Value = serde_json::from_str(&printed(&mut stage.restore(&file))).unwrap();
    assert_eq!(
        (&same["outcome"], &same["there"]),
        (&json!("nothingToDo"), &json!(13)),
        "where the same is there nothing is done"
    );

    stage.wipe().await;
    let planned: Value = serde_json::from_str(&printed(stage.restore(&file).arg("--dry-run"))).unwrap();
    assert_eq!(planned["outcome"], "wouldRestore");
    assert_eq!(stage.objects().await, []);

    let restored: Value = serde_json::from_str(&printed(&mut stage.restore(&file))).unwrap();
    assert_eq!(restored["outcome"], "restored");
    assert_eq!(restored["clusters"], json!([format!("{}/prod", stage.namespace)]));
    assert_restored(&stage, &before).await;
    let record = stage.api("Secret").get("capt-record-x").await.unwrap();
    let memory = content(&record.data["data"]["memory"]);
    assert_eq!(memory, json!({ "published": "p", "restored": true }), "nothing is changed unseen");

    let versions = stage.objects().await;
    let again: Value = serde_json::from_str(&printed(&mut stage.restore(&file))).unwrap();
    assert_eq!(again["outcome"], "nothingToDo");
    assert_eq!(stage.objects().await, versions, "a second time nothing changes");
}

/// Content of a Secret as a value.
fn content(value: &Value) -> Value {
    let bytes: ByteString = serde_json::from_value(value.clone()).unwrap();
    serde_json::from_slice(&bytes.0).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_and_differs_is_named_and_nothing_is_done() {
    let stage = Stage::set().await;
    let file = stage.file("backup.age");
    printed(&mut stage.backup(&file));
    let other = Patch::Merge(json!({ "data": { "k": "another" } }));
    stage.api("ConfigMap").patch("settings", &PatchParams::default(), &other).await.unwrap();
    let before = stage.objects().await;

    let said = told(&mut stage.restore(&file), 1);

    let expected = format!("ConfigMap `{}/settings` is there already and differs (data)", stage.namespace);
    assert!(said.contains("nothing was changed") && said.contains(&expected), "{said}");
    assert_eq!(stage.objects().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_kept_while_a_state_is_locked_or_something_is_deleted() {
    let stage = Stage::set().await;
    let file = stage.file("backup.age");
    let leases: Api<Lease> = Api::namespaced(stage.client.clone(), &stage.namespace);
    let lease = json!({ "metadata": { "name": "lock-tfstate-x-capt" }, "spec": { "holderIdentity": "1" } });
    leases.create(&PostParams::default(), &serde_json::from_value(lease).unwrap()).await.unwrap();
    let said = told(&mut stage.backup(&file), 1);
    assert!(said.contains("nothing was written") && said.contains("tfstate-x-capt` is locked"), "{said}");
    let said = told(stage.backup(&file).args(["--wait", "--timeout", "1s"]), 1);
    assert!(said.contains("see what it waits for"), "{said}");
    leases.delete("lock-tfstate-x-capt", &DeleteParams::default()).await.unwrap();

    stage.api("WorkspaceTemplateApply").delete("x-apply", &DeleteParams::default()).await.unwrap();
    let said = told(&mut stage.backup(&file), 1);
    assert!(said.contains("x-apply` is being deleted"), "{said}");
    assert!(!file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_without_anything_of_capt_makes_no_file() {
    let stage = Stage::bare().await;
    let file = stage.file("backup.age");
    let said = told(&mut stage.backup(&file), 1);
    assert!(
        said.contains(&format!("there is nothing of CAPT in the namespace {}", stage.namespace)),
        "{said}"
    );
    assert!(!file.exists());
}
