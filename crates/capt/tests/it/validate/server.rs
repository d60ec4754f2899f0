//! What we refuse, a real API server refuses too.

use capt_api::crd::{Foreign, foreign, own};
use capt_testkit::TestCluster;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::Value;

/// The table of broken kinds: `=== title`, the file, `>>>`, what is found.
const KINDS: &str = include_str!("../../../../core/src/validation/tests/broken/kinds.txt");

/// Applies an object with every field checked, and leaves nothing behind.
pub(crate) async fn dry_run(
    client: &Client,
    namespace: &str,
    object: &DynamicObject,
) -> kube::Result<DynamicObject> {
    let kind = GroupVersionKind::try_from(object.types.as_ref().unwrap()).unwrap();
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind));
    let parameters = PatchParams { dry_run: true, ..PatchParams::apply("test").validation_strict() };
    api.patch(&object.name_any(), &parameters, &Patch::Apply(object)).await
}

pub(crate) async fn cluster() -> &'static TestCluster {
    let cluster = TestCluster::shared().await;
    let mut definitions = own();
    definitions.extend(foreign(Foreign::ClusterApi));
    cluster.apply_crds(&definitions).await;
    cluster
}

#[tokio::test]
async fn what_we_refuse_the_api_server_refuses_too() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("validate").await;
    let mut tried = 0;
    for case in KINDS.split("=== ").skip(1) {
        let (files, found) = case.split_once("\n>>>\n").unwrap();
        let (title, text) = files.split_once('\n').unwrap();
        let value: Value = serde_saphyr::from_str(text).unwrap();
        let value = value.pointer("/items/0").cloned().unwrap_or(value);
        let Ok(object) = serde_json::from_value::<DynamicObject>(value) else { continue };
        if found.contains(": error: ") {
            let answer = dry_run(&cluster.client(), &namespace, &object).await;
            assert!(answer.is_err(), "{title}: {answer:?}");
            tried += 1;
        }
    }
    assert!(tried > 15, "{tried}");
}
