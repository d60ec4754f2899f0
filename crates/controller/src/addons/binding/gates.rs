//! Gate labels on the Cluster. Each stack owns its own, and writes all of them at once.

use std::collections::BTreeMap;

use capt_api::{AddonStackBinding, Cluster};
use capt_core::addon::names;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use tracing::info;

use crate::context::Context;
use crate::error::Error;
use crate::write;

/// Writes the gate labels of a stack that are open by our hand; all others of this stack are taken away.
pub(super) async fn write(
    binding: &AddonStackBinding,
    labels: &BTreeMap<String, String>,
    context: &Context,
) -> Result<Option<Cluster>, Error> {
    let namespace = binding.namespace().unwrap_or_default();
    let name = &binding.spec.cluster_name;
    let Some(cluster) = context.clusters.get(Some(&namespace), name) else { return Ok(None) };
    let mut patch = write::header::<Cluster>(name);
    patch["metadata"]["uid"] = json!(cluster.uid());
    patch["metadata"]["labels"] = json!(labels);
    let clusters: Api<Cluster> = Api::namespaced(context.client.clone(), &namespace);
    let parameters = PatchParams::apply(&names::gate_manager(&binding.spec.stack_name)).force();
    let doing = format!("setting gate labels on Cluster `{name}`");
    let written = clusters.patch(name, &parameters, &Patch::Apply(patch)).await.map_err(Error::api(doing));
    let Some(written) = Error::unless_gone(written)? else { return Ok(None) };
    info!(labels = ?labels.keys().collect::<Vec<_>>(), "the gate labels of the stack are set");
    context.clusters.remember(written.clone());
    Ok(Some(written))
}
