//! Sees everything that the decision about a set rests on.

use std::collections::HashSet;
use std::sync::Arc;

use capt_api::resource_set::{ResourceKind, ResourceReference};
use capt_api::{Cluster, ClusterResourceSet, ClusterResourceSetBinding};
use capt_core::condition::cut;
use capt_core::control_plane::names;
use capt_core::resource_set::binding;
use capt_core::resource_set::observed::{
    Active, ClusterState, Content, Memory, Observed, Resource, Selected, Stale, is_initialized, is_paused,
    references, selects,
};
use capt_core::standing::{Standing, standing};
use kube::ResourceExt;

use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::metrics::Kind;
use crate::resources::Loaded;
use crate::store::{Held, key_of};
use crate::workload::Unavailable;

/// What was seen.
pub(super) struct Seen {
    pub(super) observed: Observed,
    /// What is in the resources, in the order in which these were seen.
    pub(super) contents: Vec<Arc<Loaded>>,
}

impl From<Observed> for Seen {
    fn from(observed: Observed) -> Self {
        Self { observed, contents: Vec::new() }
    }
}

/// Sees what there is, and notes it so that a change brings the set up again.
pub(super) async fn observe(set: &ClusterResourceSet, context: &Context) -> Result<Seen, Error> {
    let notes = context.index.note(Dependent::ResourceSet(key_of(&set.metadata)));
    match standing(&set.metadata, None) {
        Standing::ExternallyManaged => Ok(Observed::ExternallyManaged.into()),
        Standing::Paused(pause) => Ok(Observed::Paused(pause).into()),
        Standing::Moved => Ok(Observed::Moved.into()),
        Standing::Deleting => deleting(set, context).map(Seen::from),
        Standing::Active => active(set, context, &notes).await,
    }
}

fn deleting(set: &ClusterResourceSet, context: &Context) -> Result<Observed, Error> {
    let busy = context.resource_set_memories.stop(set);
    let named = bindings(set, context)?.into_iter().filter(|found| binding::names(found, set));
    Ok(Observed::Deleting { busy, bindings: named.map(|found| found.name_any()).collect() })
}

async fn active(
    set: &ClusterResourceSet,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Result<Seen, Error> {
    let namespace = key_of(&set.metadata).namespace;
    let (mut resources, mut contents) = (Vec::new(), Vec::new());
    for reference in references(set) {
        let name = Name::new(&namespace, &reference.name);
        notes.on(match reference.kind {
            ResourceKind::ConfigMap => Dependency::ConfigMap(name.clone()),
            ResourceKind::Secret => Dependency::Secret(name.clone()),
        });
        let loaded = context.resources.get(reference.kind, &name, context).await?;
        resources.push(resource(reference, &loaded));
        contents.push(loaded);
    }
    notes.on(Dependency::Clusters(namespace.clone()));
    let selected = selected(set, &namespace, context)?;
    let stale = stale(set, &selected, context)?;
    let uids: HashSet<_> = selected.iter().filter_map(|cluster| cluster.metadata.uid.as_deref()).collect();
    context.resource_set_memories.retain(set, |uid| uids.contains(uid));
    let mut clusters = Vec::with_capacity(selected.len());
    for cluster in &selected {
        clusters.push(member(set, cluster, context, notes).await);
    }
    Ok(Seen { observed: Observed::Active(Active { resources, clusters, stale }), contents })
}

fn resource(reference: ResourceReference, loaded: &Loaded) -> Resource {
    let content = match loaded {
        Loaded::Missing => Content::Missing,
        Loaded::WrongType(found) => Content::WrongType(found.clone()),
        Loaded::There(there) => match &there.manifests {
            Ok(_) => Content::Manifests { hash: there.hash.clone() },
            Err(problems) => Content::Invalid { hash: there.hash.clone(), problem: problems.to_string() },
        },
    };
    Resource { reference, content }
}

/// The Clusters that the set selects, by name.
fn selected(
    set: &ClusterResourceSet,
    namespace: &str,
    context: &Context,
) -> Result<Vec<Held<Cluster>>, Error> {
    if !context.clusters.is_certain() {
        let what = format!("a Cluster in the namespace `{namespace}`");
        return Err(Error::NotListed { kind: Kind::Cluster, what });
    }
    let mut selected = context.clusters.within(namespace);
    selected.retain(|cluster| selects(set, cluster));
    selected.sort_by_key(|cluster| cluster.name_any());
    Ok(selected)
}

/// Every binding of the set's namespace, as it is after our own last write.
fn bindings(
    set: &ClusterResourceSet,
    context: &Context,
) -> Result<Vec<Held<ClusterResourceSetBinding>>, Error> {
    let known = &context.resource_set_bindings;
    let key = key_of(&set.metadata);
    if !known.is_certain() {
        let what = format!("what ClusterResourceSet `{}` has brought", key.name);
        return Err(Error::NotListed { kind: Kind::ClusterResourceSetBinding, what });
    }
    Ok(known.within(&key.namespace))
}

/// Bindings that name the set although their Clusters are not selected. What is paused is left as it is.
fn stale(
    set: &ClusterResourceSet,
    selected: &[Held<Cluster>],
    context: &Context,
) -> Result<Vec<Stale>, Error> {
    let namespace = set.metadata.namespace.as_deref();
    let wanted: HashSet<_> = selected.iter().filter_map(|cluster| cluster.metadata.name.as_deref()).collect();
    let of_binding = |found: Held<ClusterResourceSetBinding>| {
        let name = found.name_any();
        let is_going = found.metadata.deletion_timestamp.is_some();
        if wanted.contains(name.as_str()) || is_going || !binding::names(&found, set) {
            return None;
        }
        match context.clusters.get(namespace, &name) {
            Some(cluster) if is_paused(&cluster) => None,
            Some(cluster) if cluster.metadata.deletion_timestamp.is_some() => Some(Stale::Binding(name)),
            Some(_) => Some(Stale::Entry(name)),
            None if context.clusters.unreadable(namespace, &name).is_some() => None,
            None => Some(Stale::Binding(name)),
        }
    };
    Ok(bindings(set, context)?.into_iter().filter_map(of_binding).collect())
}

/// What is known of a Cluster that the set selects.
async fn member(
    set: &ClusterResourceSet,
    cluster: &Cluster,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Selected {
    let key = key_of(&cluster.metadata);
    let namespace = Some(key.namespace.as_str());
    notes.on(Dependency::ResourceSetBinding(key.clone()));
    let known = &context.resource_set_bindings;
    let unreadable = known.unreadable(namespace, &key.name).map(|invalid| cut(&invalid.error, 300));
    let found = known.get(namespace, &key.name).filter(|found| binding::is_of(found, cluster));
    let state = match unreadable {
        _ if is_paused(cluster) => ClusterState::Paused,
        Some(why) => ClusterState::Unreadable(format!(
            "ClusterResourceSetBinding `{}` is there but cannot be read: {why}",
            key.name
        )),
        None => readiness(cluster, &key, context, notes),
    };
    let uid = cluster.uid().unwrap_or_default();
    if state == ClusterState::Usable {
        follow_credentials(set, &uid, &key, context).await;
    }
    let (memory, replaced) = context.resource_set_memories.with(set, &uid, |memory| {
        let known = Memory { busy: memory.stop.is_some(), ..memory.known.clone() };
        (known, memory.replaced)
    });
    let trusted = found.filter(|_| !replaced);
    let entries = trusted.map(|found| binding::entries(&found, set).to_vec()).unwrap_or_default();
    Selected { name: key.name, state, entries, memory }
}

/// Whether a Cluster is there and can be talked to.
fn readiness(cluster: &Cluster, key: &Name, context: &Context, notes: &Notes<'_, Dependent>) -> ClusterState {
    if !is_initialized(cluster) {
        notes.on(Dependency::ClusterStatus(key.clone()));
        // It may have happened before it was noted.
        let newest = context.clusters.get(Some(&key.namespace), &key.name);
        if !newest.is_some_and(|newest| is_initialized(&newest)) {
            return ClusterState::NotReady("its control plane is not there yet".to_owned());
        }
    }
    let secret = kubeconfig(key);
    notes.on(Dependency::Secret(secret.clone()));
    match context.secrets.get(&secret) {
        Some(_) => ClusterState::Usable,
        None => {
            ClusterState::NotReady(format!("Secret `{}` with its kubeconfig is not there yet", secret.name))
        }
    }
}

/// Other credentials are worth another try. They may also lead to another cluster of the same name, in which there is nothing
/// of what was brought to the one before.
async fn follow_credentials(set: &ClusterResourceSet, uid: &str, key: &Name, context: &Context) {
    let memories = &context.resource_set_memories;
    let version = context.secrets.get(&kubeconfig(key));
    let before =
        memories.with(set, uid, |memory| (memory.secret != version).then(|| memory.identity.clone()));
    let Some(before) = before else { return };
    let now = match before {
        None => None,
        // Nothing is asked of the cluster itself.
        Some(_) => match context.workloads.of(key, context).await {
            Ok(workload) => Some(workload.identity().clone()),
            Err(Unavailable::NoCredentials(_) | Unavailable::Unusable(_)) => None,
            Err(Unavailable::Error(_)) => return,
        },
    };
    memories.with(set, uid, |memory| {
        memory.secret = version;
        memory.known.due = None;
        if now.is_some() && now != before {
            memory.replaced = true;
            memory.identity = now;
        }
    });
}

/// The Secret with the kubeconfig of a Cluster.
pub(super) fn kubeconfig(cluster: &Name) -> Name {
    Name::new(&cluster.namespace, names::kubeconfig(&cluster.name))
}
