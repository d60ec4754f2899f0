use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::names::{annotation, finalizer, label};
use rstest::rstest;
use serde_json::{Value, json};

use super::super::*;
use crate::workspace::observed::Memory;

fn apply(annotations: &Value) -> Value {
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": {
            "name": "x-apply", "namespace": "a", "uid": "1", "resourceVersion": "7", "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [{}],
            "finalizers": [finalizer::WORKSPACE], "annotations": annotations,
            "ownerReferences": [{ "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": "x", "uid": "old", "controller": true }],
        },
        "spec": { "templateRef": { "name": "t" } },
        "status": { "workspaceName": "x" },
    })
}

#[test]
fn an_object_is_kept_without_what_the_api_server_adds() {
    let kept = archived(&apply(&json!({ annotation::WORKSPACE_NAME: "x" })));
    insta::assert_yaml_snapshot!(kept, @r#"
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: WorkspaceTemplateApply
    metadata:
      annotations:
        capt.cluster.x-k8s.io/workspace-name: x
      finalizers:
        - capt.cluster.x-k8s.io/workspace
      name: x-apply
      namespace: a
      ownerReferences:
        - apiVersion: controlplane.cluster.x-k8s.io/v1beta1
          controller: true
          kind: CAPTControlPlane
          name: x
          uid: old
    spec:
      templateRef:
        name: t
    "#);
}

#[test]
fn what_is_put_back_is_paused_and_owned_by_nobody_until_all_is_there() {
    let kept = archived(&apply(&json!({})));
    let made = to_create(&kept, "b1");
    assert_eq!(
        made["metadata"]["annotations"],
        json!({ annotation::PAUSED: "true", annotation::RESTORING: "b1", annotation::RESTORED_FROM: "b1" })
    );
    assert_eq!(made["metadata"].get("ownerReferences"), None);
    assert_eq!(made["metadata"]["finalizers"], json!([finalizer::WORKSPACE]));
    assert!(is_restoring(&made));
    let patch = release(&made).unwrap();
    assert_eq!(
        patch["metadata"]["annotations"],
        json!({ annotation::PAUSED: null, annotation::RESTORING: null })
    );
}

#[test]
fn a_pause_of_its_user_stays() {
    let made = to_create(&archived(&apply(&json!({ annotation::PAUSED: "" }))), "b1");
    assert_eq!(made["metadata"]["annotations"][annotation::PAUSED], "");
    assert_eq!(release(&made), None);
}

#[test]
fn marks_of_an_earlier_restore_are_not_kept() {
    let kept = archived(&to_create(&archived(&apply(&json!({}))), "b1"));
    assert_eq!(kept["metadata"]["annotations"], json!({}));
}

#[rstest]
#[case::annotations_of_another_form(json!([1]))]
#[case::no_annotations(Value::Null)]
fn hostile_metadata_does_no_harm(#[case] annotations: Value) {
    let made = to_create(&archived(&apply(&annotations)), "b1");
    assert!(is_restoring(&made));
}

fn record(memory: &[u8]) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": "capt-record-x", "namespace": "a", "labels": { label::ROLE: "record" } },
        "data": { "memory": STANDARD.encode(memory), "inputs": "AA==" },
    })
}

#[test]
fn what_is_on_record_says_that_it_comes_from_a_backup() {
    let memory = Memory { published: Some("p".to_owned()), ..Memory::default() };
    let made = to_create(&record(&serde_json::to_vec(&memory).unwrap()), "b1");
    let read = STANDARD.decode(made["data"]["memory"].as_str().unwrap()).unwrap();
    let read: Memory = serde_json::from_slice(&read).unwrap();
    assert_eq!(read, Memory { restored: true, ..memory });
    assert_eq!(made["data"]["inputs"], "AA==");
}

#[test]
fn a_record_that_cannot_be_read_is_forgotten() {
    assert_eq!(to_create(&record(b"{"), "b1")["data"].get("memory"), None);
}

#[rstest]
#[case::absent(None, Verdict::Create)]
#[case::of_this_backup(Some(json!({ "metadata": { "annotations": { annotation::RESTORED_FROM: "b1" } }, "spec": 1 })), Verdict::Restored)]
#[case::of_another_backup(Some(json!({ "metadata": { "annotations": { annotation::RESTORED_FROM: "b2" } }, "spec": 1 })), Verdict::Differs(vec!["spec", "metadata.labels"]))]
#[case::leaving(Some(json!({ "metadata": { "deletionTimestamp": "now" } })), Verdict::Leaving)]
#[case::the_same(Some(json!({ "metadata": { "uid": "9", "labels": { "a": "b", "c": "d" } }, "spec": { "x": 1 }, "status": 1 })), Verdict::Same)]
#[case::another(Some(json!({ "metadata": { "labels": { "a": "b" } }, "spec": { "x": 2 } })), Verdict::Differs(vec!["spec"]))]
fn what_is_there_decides(#[case] live: Option<Value>, #[case] expected: Verdict) {
    let kept = json!({ "kind": "AddonStack", "metadata": { "labels": { "a": "b" } }, "spec": { "x": 1 }, "data": {} });
    assert_eq!(judge(&kept, live.as_ref(), "b1"), expected);
}

#[test]
fn owners_get_the_uids_that_they_have_now() {
    let kept = archived(&apply(&json!({})));
    let owners = owners(&kept);
    assert_eq!(owners[0].key(Some("a")).unwrap().to_string(), "CAPTControlPlane `a/x`");
    let live = to_create(&kept, "b1");
    let wanted: Vec<_> = owners.into_iter().map(|owner| (owner, Some("new".to_owned()))).collect();
    let patch = retied(&live, &wanted).unwrap();
    assert_eq!(patch["metadata"]["ownerReferences"][0]["uid"], "new");
    assert_eq!(patch["metadata"]["ownerReferences"][0]["controller"], true);

    let mut tied = live.clone();
    tied["metadata"]["ownerReferences"] = patch["metadata"]["ownerReferences"].clone();
    assert_eq!(retied(&tied, &wanted), None, "once is enough");

    let unknown: Vec<_> = wanted.iter().cloned().map(|(owner, _)| (owner, None)).collect();
    assert_eq!(retied(&live, &unknown), None, "garbage collection would take it away");
}

#[test]
fn a_second_controller_is_not_added() {
    let kept = archived(&apply(&json!({})));
    let mut live = to_create(&kept, "b1");
    live["metadata"]["ownerReferences"] = json!([{ "kind": "Other", "uid": "z", "controller": true }]);
    let wanted: Vec<_> = owners(&kept).into_iter().map(|owner| (owner, Some("new".to_owned()))).collect();
    assert_eq!(retied(&live, &wanted), None);
}
