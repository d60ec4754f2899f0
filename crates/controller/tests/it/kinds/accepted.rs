//! Good objects: the smallest, those with every field, and the shapes that users have in their repositories.

use rstest::rstest;
use serde::Deserialize;
use serde_json::{Value, json};

use super::server::Server;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    what: String,
    object: Value,
}

#[rstest]
#[case::smallest(include_str!("accepted/smallest.yaml"))]
#[case::from_repositories(include_str!("accepted/from_repositories.yaml"))]
#[case::unusual(include_str!("accepted/unusual.yaml"))]
#[tokio::test]
async fn what_is_right_is_accepted_and_kept(#[case] table: &str) {
    let server = Server::with_namespace().await;
    let cases: Vec<Case> = serde_saphyr::from_str(table).unwrap();
    let mut surprises = Vec::new();
    for Case { what, object } in &cases {
        let surprise = match server.try_create(object).await {
            Ok(stored) => lost("", object, &stored).map(|path| format!("{what}: {path} is lost")),
            Err(complaints) => Some(format!("{what}: {complaints:?}")),
        };
        surprises.extend(surprise);
    }
    assert!(
        surprises.is_empty(),
        "{} of {} objects:\n{}",
        surprises.len(),
        cases.len(),
        surprises.join("\n")
    );
}

#[rstest]
#[case::capt_cluster(include_str!("../../../../api/tests/it/every_field/capt_cluster.yaml"))]
#[case::capt_cluster_template(include_str!("../../../../api/tests/it/every_field/capt_cluster_template.yaml"))]
#[case::capt_control_plane(include_str!("../../../../api/tests/it/every_field/capt_control_plane.yaml"))]
#[case::capt_control_plane_template(include_str!("../../../../api/tests/it/every_field/capt_control_plane_template.yaml"))]
#[case::workspace_template(include_str!("../../../../api/tests/it/every_field/workspace_template.yaml"))]
#[case::workspace_template_apply(include_str!("../../../../api/tests/it/every_field/workspace_template_apply.yaml"))]
#[case::workspace(include_str!("../../../../api/tests/it/every_field/workspace.yaml"))]
#[case::provider_config(include_str!("../../../../api/tests/it/every_field/provider_config.yaml"))]
#[case::cluster(include_str!("../../../../api/tests/it/every_field/cluster.yaml"))]
#[case::addon_stack(include_str!("../../../../api/tests/it/every_field/addon_stack.yaml"))]
#[case::addon_stack_binding(include_str!("../../../../api/tests/it/every_field/addon_stack_binding.yaml"))]
#[case::cluster_resource_set(include_str!("../../../../api/tests/it/every_field/cluster_resource_set.yaml"))]
#[case::cluster_resource_set_binding(include_str!("../../../../api/tests/it/every_field/cluster_resource_set_binding.yaml"))]
#[tokio::test]
async fn every_field_is_accepted_and_kept_in_spec_and_status(#[case] documents: &str) {
    let server = Server::with_namespace().await;
    for mut object in serde_saphyr::from_multiple::<Value>(documents).unwrap() {
        object["metadata"]["name"] = json!(server.unique(object["metadata"]["name"].as_str().unwrap()));
        let status = object.as_object_mut().unwrap().remove("status");
        let stored = server.create(&object).await.unwrap();
        assert_eq!(lost("", &object, &stored), None);
        if let Some(status) = status {
            let stored = server.write_status(&object, &status).await.unwrap();
            assert_eq!(stored["status"], status);
        }
    }
}

/// The path of something that is in one value and not in the other.
fn lost(path: &str, written: &Value, stored: &Value) -> Option<String> {
    match (written, stored) {
        (Value::Object(written), Value::Object(stored)) => written.iter().find_map(|(name, value)| {
            let path = format!("{path}.{name}");
            stored.get(name).map_or_else(|| Some(path.clone()), |stored| lost(&path, value, stored))
        }),
        _ => (written != stored).then(|| path.to_owned()),
    }
}
