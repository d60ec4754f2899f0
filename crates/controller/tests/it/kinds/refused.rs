//! Bad objects, and the sentence that the API server answers each of them with.
//!
//! The tables in `refused/` hold, for each kind, a good object and changes (JSON merge patches) that make it bad.

mod limits;

use rstest::rstest;
use serde::Deserialize;
use serde_json::{Value, json};

use super::server::{Complaint, Server};

/// A good object and what can be wrong with it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    good: Value,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    what: String,
    /// How the stored object differs from the good one. If this is given, `change` is made to a stored object.
    #[serde(default)]
    stored: Option<Value>,
    change: Value,
    field: String,
    says: String,
}

#[rstest]
#[case::capt_cluster(include_str!("refused/capt_cluster.yaml"))]
#[case::capt_cluster_template(include_str!("refused/capt_cluster_template.yaml"))]
#[case::capt_control_plane(include_str!("refused/capt_control_plane.yaml"))]
#[case::capt_control_plane_template(include_str!("refused/capt_control_plane_template.yaml"))]
#[case::workspace_template(include_str!("refused/workspace_template.yaml"))]
#[case::workspace_template_apply(include_str!("refused/workspace_template_apply.yaml"))]
#[case::workspace(include_str!("refused/workspace.yaml"))]
#[case::provider_config(include_str!("refused/provider_config.yaml"))]
#[case::cluster(include_str!("refused/cluster.yaml"))]
#[case::addon_stack(include_str!("refused/addon_stack.yaml"))]
#[case::addon_stack_binding(include_str!("refused/addon_stack_binding.yaml"))]
#[case::cluster_resource_set(include_str!("refused/cluster_resource_set.yaml"))]
#[tokio::test]
async fn what_is_wrong_is_refused_with_a_sentence(#[case] table: &str) {
    let server = Server::with_namespace().await;
    let table: Table = serde_saphyr::from_str(table).unwrap();
    server.try_create(&table.good).await.unwrap();
    let mut surprises = Vec::new();
    for (number, case) in table.cases.iter().enumerate() {
        let answer = answer(&server, &table.good, case, number).await;
        surprises.extend(surprise(&case.what, &case.field, &case.says, answer));
    }
    assert!(
        surprises.is_empty(),
        "{} of {} cases:\n{}",
        surprises.len(),
        table.cases.len(),
        surprises.join("\n")
    );
}

async fn answer(server: &Server, good: &Value, case: &Case, number: usize) -> Result<Value, Vec<Complaint>> {
    let mut object = good.clone();
    let Some(stored) = &case.stored else {
        merge(&mut object, &case.change);
        return server.try_create(&object).await;
    };
    merge(&mut object, stored);
    object["metadata"]["name"] = json!(format!("stored-{number}"));
    server.create(&object).await.unwrap();
    server.try_change(&object, &case.change).await
}

/// What is unexpected about an answer.
fn surprise(what: &str, field: &str, says: &str, answer: Result<Value, Vec<Complaint>>) -> Option<String> {
    let Err(complaints) = answer else { return Some(format!("{what}: was accepted")) };
    let expected = |complaint: &Complaint| complaint.field == field && complaint.message.contains(says);
    (!complaints.iter().any(expected)).then(|| format!("{what}: {complaints:?}"))
}

/// Changes an object as a JSON merge patch does.
fn merge(object: &mut Value, change: &Value) {
    let Value::Object(change) = change else {
        *object = change.clone();
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    for (name, value) in change {
        if value.is_null() {
            object.as_object_mut().unwrap().remove(name);
        } else {
            merge(&mut object[name.as_str()], value);
        }
    }
}
