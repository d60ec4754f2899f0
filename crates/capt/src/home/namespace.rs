//! The namespace for what belongs to no other.

use anyhow::Context;
use capt_api::names::FIELD_MANAGER;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

/// Makes the namespace where it is absent.
pub(super) async fn make(client: &Client, name: &str) -> anyhow::Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    let parameters = PatchParams::apply(FIELD_MANAGER);
    let made = namespaces.patch(name, &parameters, &Patch::Apply(namespace)).await;
    made.map(drop).with_context(|| format!("making the namespace {name}"))
}
