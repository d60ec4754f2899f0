//! Looks at what a binding is about, and notes what it looked at.

use capt_api::names::Reason;
use capt_api::{AddonStack, AddonStackBinding, Cluster};
use capt_core::addon::stack::problem;
use capt_core::control_plane::names;
use capt_core::name::is_object_name;
use capt_core::standing::{Standing, standing};

use crate::context::Context;
use crate::index::{Dependency, Dependent, Name};
use crate::store::{Held, key_of};

/// What is to be done with a binding as a whole.
pub(super) enum Scene {
    /// Nothing.
    Leave,
    /// It lives on elsewhere, or its cluster is going: let go.
    LetGo,
    /// Nobody asks for it any more.
    Orphan,
    /// Somebody has paused it.
    Paused(String),
    /// The stack cannot be used.
    Invalid { reason: Reason, message: String },
    /// What was brought is to be taken away, as the stack says.
    Remove { cluster: Held<Cluster> },
    /// The stack is to be in the cluster.
    Go { stack: Held<AddonStack>, cluster: Held<Cluster> },
}

pub(super) fn observe(binding: &AddonStackBinding, context: &Context) -> Scene {
    let key = key_of(&binding.metadata);
    let (stack_name, cluster_name) = (&binding.spec.stack_name, &binding.spec.cluster_name);
    let notes = context.index.note(Dependent::StackBinding(key.clone()));
    notes.on(Dependency::Stack(Name::new(&key.namespace, stack_name)));
    notes.on(Dependency::ClusterStatus(Name::new(&key.namespace, cluster_name)));
    notes.on(Dependency::ResourceSets(key.namespace.clone()));
    notes.on(Dependency::ResourceSetBinding(Name::new(&key.namespace, cluster_name)));
    notes.on(Dependency::Secret(Name::new(&key.namespace, names::kubeconfig(cluster_name))));
    let cluster = context.clusters.get(Some(&key.namespace), cluster_name);
    let stack = context.stacks.get(Some(&key.namespace), stack_name);
    if let (Some(stack), Some(cluster)) = (&stack, &cluster) {
        note_inputs(stack, cluster, &key, &notes, context);
    }
    let leaving = cluster.as_ref().is_none_or(|cluster| cluster.metadata.deletion_timestamp.is_some());
    match (standing(&binding.metadata, cluster.as_deref()), cluster, stack) {
        (Standing::ExternallyManaged, _, _) => Scene::Leave,
        (Standing::Paused(pause), _, _) => Scene::Paused(pause.message("AddonStackBinding")),
        (Standing::Deleting, Some(cluster), _) if !leaving => Scene::Remove { cluster },
        (Standing::Moved | Standing::Deleting, _, _) => Scene::LetGo,
        // Its owner takes it along when it goes; until then it stays as it is.
        (Standing::Active, Some(_), _) if leaving => Scene::Leave,
        (Standing::Active, None, _) if !context.clusters.is_certain() => Scene::Leave,
        (Standing::Active, _, None) if !context.stacks.is_certain() => Scene::Leave,
        (Standing::Active, None, _) | (Standing::Active, _, None) => Scene::Orphan,
        (Standing::Active, Some(cluster), Some(stack)) => active(stack, cluster),
    }
}

fn active(stack: Held<AddonStack>, cluster: Held<Cluster>) -> Scene {
    let name = stack.metadata.name.clone().unwrap_or_default();
    match standing(&stack.metadata, None) {
        Standing::Paused(_) | Standing::ExternallyManaged | Standing::Moved => {
            Scene::Paused(format!("AddonStack `{name}` is paused"))
        }
        // The stack takes its bindings along.
        Standing::Deleting => Scene::Leave,
        Standing::Active if stack.spec.paused => {
            Scene::Paused(format!("AddonStack `{name}` has spec.paused"))
        }
        Standing::Active => match problem(&stack.spec) {
            Some((reason, message)) => Scene::Invalid { reason, message },
            None => Scene::Go { stack, cluster },
        },
    }
}

/// Everything that is read later brings the binding up when it changes.
fn note_inputs(
    stack: &AddonStack,
    cluster: &Cluster,
    key: &Name,
    notes: &crate::index::Notes<'_, Dependent>,
    context: &Context,
) {
    use capt_api::resource_set::ResourceKind;
    let named = stack.spec.addons.iter().flat_map(|addon| &addon.resources);
    let named = named.map(|resource| (resource.kind, resource.name.clone()));
    let sets = context.resource_sets.within(&key.namespace);
    let of_sets =
        sets.iter().flat_map(|set| set.spec.resources.iter().map(|one| (one.kind, one.name.clone())));
    for (kind, name) in named.chain(of_sets).filter(|(_, name)| is_object_name(name)) {
        let name = Name::new(&key.namespace, name);
        notes.on(match kind {
            ResourceKind::ConfigMap => Dependency::ConfigMap(name),
            ResourceKind::Secret => Dependency::Secret(name),
        });
    }
    if let Some(name) = control_plane_name(cluster) {
        notes.on(Dependency::ControlPlane(Name::new(&key.namespace, name)));
    }
    notes.on(Dependency::Secret(Name::new(&key.namespace, connection_secret(cluster, context))));
}

/// The Secret that the outputs of a cluster's module are in.
pub(super) fn connection_secret(cluster: &Cluster, context: &Context) -> String {
    let name = control_plane_name(cluster).unwrap_or_default();
    match context.control_planes.get(cluster.metadata.namespace.as_deref(), name) {
        Some(control_plane) => names::connection_secret(&control_plane),
        None => format!("{}-eks-connection", cluster.metadata.name.as_deref().unwrap_or_default()),
    }
}

/// The control plane of ours that a Cluster refers to.
pub(super) fn control_plane_name(cluster: &Cluster) -> Option<&str> {
    let reference = cluster.spec.control_plane_ref.as_ref()?;
    let ours = reference.kind == "CAPTControlPlane"
        && reference.api_group == capt_api::names::group::CONTROL_PLANE
        && is_object_name(&reference.name);
    ours.then_some(reference.name.as_str())
}
