//! Sees everything that the decision about a Cluster rests on.

use std::fmt::Debug;

use capt_api::Cluster;
use capt_core::cluster::observed::{Observed, Part, Referent, Role, Wanted, wanted};
use capt_core::standing::standing;
use kube::Resource;

use crate::context::Context;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::store::{Reader, key_of};

/// Sees what there is, and notes it so that a change brings the Cluster up again.
pub(super) fn observe(cluster: &Cluster, context: &Context) -> Observed {
    let key = key_of(&cluster.metadata);
    let notes = context.index.note(Dependent::Cluster(key.clone()));
    if !cluster.spec.availability_gates.is_empty() {
        // What gates the Cluster are conditions that others write on it.
        notes.on(Dependency::ClusterStatus(key));
    }
    Observed {
        standing: standing(&cluster.metadata, Some(cluster)),
        network: referent(cluster, Role::Network, &notes, context),
        control_plane: referent(cluster, Role::ControlPlane, &notes, context),
    }
}

fn referent(cluster: &Cluster, role: Role, notes: &Notes<'_, Dependent>, context: &Context) -> Referent {
    let name = match wanted(cluster, role) {
        Wanted::Nothing => return Referent::NotNamed,
        Wanted::Unsupported(why) => return Referent::Unsupported(why),
        Wanted::Object(name) => Name::new(key_of(&cluster.metadata).namespace, name),
    };
    match role {
        Role::Network => {
            notes.on(Dependency::Network(name.clone()));
            found(&context.networks, &name, cluster)
        }
        Role::ControlPlane => {
            notes.on(Dependency::ControlPlane(name.clone()));
            found(&context.control_planes, &name, cluster)
        }
    }
}

fn found<K>(known: &Reader<K>, name: &Name, cluster: &Cluster) -> Referent
where
    K: Resource<DynamicType = ()> + Clone + Debug + 'static,
    for<'object> Part: From<&'object K>,
{
    let namespace = Some(name.namespace.as_str());
    let unreadable = || {
        let invalid = known.unreadable(namespace, &name.name)?;
        Some(Part::unreadable(invalid.metadata, invalid.error))
    };
    let part = known.get(namespace, &name.name).map(|object| Part::from(&*object)).or_else(unreadable);
    let name = name.name.clone();
    match part {
        Some(part) => Referent::found(part, cluster),
        // While a control plane starts, a kind may not be served yet: what is not seen then is not gone.
        None if known.is_certain() => Referent::Missing { name },
        None => Referent::Unlisted { name },
    }
}
