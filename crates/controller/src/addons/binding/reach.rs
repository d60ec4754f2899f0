//! Whether the cluster of a binding can be asked.

use std::sync::Arc;

use capt_api::{AddonStackBinding, Cluster};
use capt_core::addon::decide::Reach;
use kube::ResourceExt;

use super::super::memory::Memory;
use crate::context::Context;
use crate::error::Error;
use crate::index::Name;
use crate::workload::{Unavailable, Workload};

/// Whether the cluster can be asked, and with what.
pub(super) async fn reach(
    binding: &AddonStackBinding,
    cluster: &Cluster,
    memory: &mut Memory,
    context: &Context,
) -> Result<(Reach, Option<Arc<Workload>>), Error> {
    let name = &binding.spec.cluster_name;
    let initialization = cluster.status.as_ref().and_then(|status| status.initialization.as_ref());
    if initialization.and_then(|all| all.control_plane_initialized) != Some(true) {
        let message = format!("the control plane of Cluster `{name}` is not initialized yet");
        return Ok((Reach::Waiting(message), None));
    }
    let key = Name::new(binding.namespace().unwrap_or_default(), name);
    let workload = match context.workloads.of(&key, context).await {
        Ok(workload) => workload,
        Err(Unavailable::NoCredentials(message)) => return Ok((Reach::Waiting(message), None)),
        Err(Unavailable::Unusable(message)) => return Ok((Reach::StillUnreachable(message), None)),
        Err(Unavailable::Error(error)) => return Err(error),
    };
    if memory.cluster.as_ref() != Some(workload.identity()) {
        // What is remembered is about another cluster, or about nothing.
        *memory = Memory { cluster: Some(workload.identity().clone()), ..Memory::default() };
    }
    // Other credentials may be better ones.
    let client = Arc::downgrade(&workload);
    if !memory.client.as_ref().is_some_and(|known| known.ptr_eq(&client)) {
        memory.client = Some(client);
        memory.unreachable = None;
    }
    match &memory.unreachable {
        Some((_, until, message)) if context.now() < *until => {
            Ok((Reach::StillUnreachable(message.clone()), None))
        }
        Some(_) | None => Ok((Reach::Open, Some(workload))),
    }
}
