//! Takes down what is in a cluster before Terraform destroys it.
//!
//! It begins when the Cluster is marked for deletion, before Cluster API gets to the control plane: what takes machines down may
//! run on workers that go first. One pass after the other, each in a task of its own, since a cluster may take long to answer.
//! Nothing of it has to be remembered: every pass looks at what is there.

use std::sync::Arc;

use capt_api::{CAPTControlPlane, Cluster};
use capt_core::clearing::{self, Inside, Policy};
use capt_core::manifest::{Manifest, ObjectKey};
use capt_core::name::is_object_name;
use capt_core::standing::{Standing, cluster_name, standing};
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::runtime::reflector::ObjectRef;
use tracing::{debug, warn};

use crate::clearing::clear;
use crate::context::{A_MOMENT, Context};
use crate::error::Error;
use crate::index::Name;
use crate::resources::Loaded;
use crate::store::key_of;
use crate::workload::Unavailable;

use super::credentials::Sight;

/// What is known, and when there is more to see.
pub(super) struct Looked {
    pub(super) inside: Inside,
    pub(super) next: Option<Timestamp>,
}

/// Since when a cluster has been on its way down; `None` where it is not.
pub(super) fn since(control_plane: &CAPTControlPlane, cluster: Option<&Cluster>) -> Option<Timestamp> {
    let marked = [
        control_plane.metadata.deletion_timestamp.as_ref(),
        cluster.and_then(|cluster| cluster.metadata.deletion_timestamp.as_ref()),
    ];
    marked.into_iter().flatten().map(|time| time.0).min()
}

/// What was seen last of a cluster that is on its way down. A new pass is begun where it is time for one.
pub(super) async fn look(control_plane: &CAPTControlPlane, context: &Arc<Context>) -> Looked {
    let nothing = Looked { inside: Inside::Unknown, next: None };
    let cluster = context.cluster_of(&control_plane.metadata);
    let policy = Policy::of(control_plane);
    let Some(since) = since(control_plane, cluster.as_deref()) else { return nothing };
    if policy.timeout.is_zero() || !is_to_be_cleared(control_plane, cluster.as_deref(), context) {
        return nothing;
    }
    let Some(name) = cluster_name(&control_plane.metadata).filter(|name| is_object_name(name)) else {
        // Without a Cluster there never were credentials.
        return Looked { inside: Inside::Clear, next: None };
    };
    let key = key_of(&control_plane.metadata);
    let target = Name::new(&key.namespace, name);
    let is_final = control_plane.metadata.deletion_timestamp.is_some();
    let (now, pause) = (context.now(), clearing::pause(since, context.now()));
    let (seen, begins) = context.credentials.with(&key, |memory| {
        let memory = &mut memory.clearing;
        let seen = memory.seen.clone().filter(|sight| sight.is_final || !is_final);
        let due = seen.as_ref().is_none_or(|sight| sight.at.checked_add(pause).is_ok_and(|due| due <= now));
        let begins = due && !memory.running;
        memory.running |= begins;
        (seen, begins)
    });
    if begins {
        let was_there = control_plane.spec.control_plane_endpoint.is_some();
        let pass = Pass { key: key.clone(), target, policy, was_there, is_final };
        let passing = context.term.spawn(pass.run(Arc::clone(context)));
        // A cluster without add-ons answers at once.
        if seen.is_none() && tokio::time::timeout(A_MOMENT, passing).await.is_ok() {
            let seen = context.credentials.with(&key, |memory| memory.clearing.seen.clone());
            return looked(seen, pause);
        }
    }
    looked(seen, pause)
}

fn looked(seen: Option<Sight>, pause: std::time::Duration) -> Looked {
    match seen {
        // The end of a pass brings the control plane up.
        None => Looked { inside: Inside::Unknown, next: None },
        Some(Sight { inside: Inside::Clear, is_final: true, .. }) => {
            Looked { inside: Inside::Clear, next: None }
        }
        Some(Sight { at, inside, .. }) => Looked { inside, next: at.checked_add(pause).ok() },
    }
}

/// Whether Terraform is about to destroy the cluster: nobody has paused or moved it, and it does not stay.
fn is_to_be_cleared(control_plane: &CAPTControlPlane, cluster: Option<&Cluster>, context: &Context) -> bool {
    match standing(&control_plane.metadata, cluster) {
        Standing::Active | Standing::Deleting => {}
        Standing::ExternallyManaged | Standing::Moved | Standing::Paused(_) => return false,
    }
    let apply = capt_core::control_plane::names::apply(control_plane);
    let apply = context.applies.get(control_plane.metadata.namespace.as_deref(), &apply);
    apply.is_some_and(|apply| {
        apply.metadata.deletion_timestamp.is_none() && !apply.spec.retain_workspace_on_delete
    })
}

/// One pass over a cluster.
struct Pass {
    key: Name,
    /// The Cluster.
    target: Name,
    policy: Policy,
    /// Whether there has been a cluster.
    was_there: bool,
    /// Whether the control plane itself is marked for deletion.
    is_final: bool,
}

impl Pass {
    async fn run(self, context: Arc<Context>) {
        let (key, is_final) = (self.key.clone(), self.is_final);
        let passing = {
            let context = Arc::clone(&context);
            context.term.clone().spawn(async move {
                let _permit = context.probes.acquire().await;
                self.inside(&context).await
            })
        };
        let inside = match passing.await {
            Ok(Some(inside)) => inside,
            // What is remembered ends with the leadership, too.
            Ok(None) => return,
            // A pass that broke off is one that has not seen the inside; the next one may.
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                warn!(control_plane = key.name, error, "looking into a cluster broke off");
                Inside::Unreachable("looking into it broke off; see the log of the manager".to_owned())
            }
        };
        debug!(control_plane = key.name, ?inside, "looked into a cluster that is to be destroyed");
        let sight = Sight { at: context.now(), is_final, inside };
        context.credentials.with(&key, |memory| {
            memory.clearing.running = false;
            memory.clearing.seen = Some(sight);
        });
        let key = ObjectRef::new(&key.name).within(&key.namespace);
        // The receiver may be gone when the manager stops.
        let _ = context.control_plane_queue.unbounded_send(key);
    }

    async fn inside(&self, context: &Context) -> Inside {
        let workload = match context.workloads.of(&self.target, context).await {
            Ok(workload) => workload,
            // Without credentials there is no cluster, or nobody can say any more what is in it.
            Err(Unavailable::NoCredentials(_)) if !self.was_there => return Inside::Clear,
            Err(unavailable) => return Inside::Unreachable(sentence(&unavailable)),
        };
        let brought = match brought(&self.target, context).await {
            Ok(brought) => brought,
            Err(error) => return Inside::Unreachable(error.sentence()),
        };
        match clear(&workload.talk(), &self.policy, &brought).await {
            Ok(left) if left.is_empty() => Inside::Clear,
            Ok(left) => Inside::Left(left),
            Err(failure) => Inside::Unreachable(failure.sentence()),
        }
    }
}

fn sentence(unavailable: &Unavailable) -> String {
    match unavailable {
        Unavailable::NoCredentials(why) | Unavailable::Unusable(why) => why.clone(),
        Unavailable::Error(error) => error.sentence(),
    }
}

/// What `ClusterResourceSets` brought to a cluster. What CAPT brought itself carries its annotation there.
async fn brought(cluster: &Name, context: &Context) -> Result<Vec<ObjectKey>, Error> {
    let Some(binding) = context.resource_set_bindings.get(Some(&cluster.namespace), &cluster.name) else {
        return Ok(Vec::new());
    };
    let mut brought = Vec::new();
    for resource in binding.spec.bindings.iter().flat_map(|set| &set.resources) {
        let name = Name::new(&cluster.namespace, &resource.name);
        if let Loaded::There(found) = &*context.resources.get(resource.kind, &name, context).await?
            && let Ok(manifests) = &found.manifests
        {
            brought.extend(manifests.iter().map(Manifest::key));
        }
    }
    debug!(
        cluster = cluster.name,
        binding = binding.name_any(),
        objects = brought.len(),
        "read what sets brought"
    );
    Ok(brought)
}
