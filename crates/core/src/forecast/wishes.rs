//! The applies that networks and control planes want, as their drivers would see it.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::names::group;
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Held, Key, World, template_key};
use crate::apply::render::{module_format, module_text};
use crate::control_plane::observed::{Network, OurNetwork};
use crate::control_plane::wanted::{Inputs, wanted as control_plane_wanted};
use crate::module;
use crate::network::wanted::{apply_name, existing_vpc, template, wanted as network_wanted};
use crate::owned_apply::{Owner, Wanted};
use crate::standing::{Standing, cluster_name, standing};
use crate::template::asks_for;
use crate::tie::ApplyKey;

/// An apply that somebody wants.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// Who wants it.
    pub(super) owner: Owner,
    /// How.
    pub(super) wanted: Wanted,
}

/// What all want.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishes {
    pub(super) applies: BTreeMap<ApplyKey, Wish>,
    /// Who wants nothing, and why.
    pub(super) held: Vec<Held>,
}

/// What everybody in a world wants. Networks get the names of their applies noted, as by their driver.
pub(super) fn wishes(world: &mut World) -> Wishes {
    let mut all = Wishes::default();
    for key in world.networks.keys().cloned().collect::<Vec<_>>() {
        let Some(network) = world.networks.get(&key) else { continue };
        match of_network(world, network) {
            Ok(Some(wish)) => {
                let name = wish.wanted.name.clone();
                all.add(&key, wish);
                if let Some(network) = world.networks.get_mut(&key) {
                    network.spec.workspace_template_apply_name = Some(name);
                }
            }
            Ok(None) => {}
            Err(why) => all.held.push(Held { kind: "CAPTCluster".to_owned(), key, why }),
        }
    }
    for (key, control_plane) in &world.control_planes {
        match of_control_plane(world, control_plane) {
            Ok(wish) => all.add(key, wish),
            Err(why) => {
                all.held.push(Held { kind: "CAPTControlPlane".to_owned(), key: key.clone(), why });
            }
        }
    }
    all
}

impl Wishes {
    fn add(&mut self, (namespace, _): &Key, wish: Wish) {
        let key = ApplyKey { namespace: namespace.clone(), name: wish.wanted.name.clone() };
        self.applies.insert(key, wish);
    }
}

/// The Cluster of an object that something may be done with.
fn cluster_of<'world>(world: &'world World, metadata: &'world ObjectMeta) -> Result<&'world str, String> {
    let Some(name) = cluster_name(metadata) else {
        return Err("no Cluster names it".to_owned());
    };
    match standing(metadata, cluster(world, metadata, name)) {
        Standing::Active => Ok(name),
        Standing::ExternallyManaged => Err("somebody else looks after it".to_owned()),
        Standing::Paused(_) => Err("it is paused: nothing of it is carried over until that ends".to_owned()),
        Standing::Moved | Standing::Deleting => Err("it is being deleted".to_owned()),
    }
}

fn cluster<'world>(world: &'world World, metadata: &ObjectMeta, name: &str) -> Option<&'world Cluster> {
    world.clusters.get(&(metadata.namespace.clone().unwrap_or_default(), name.to_owned()))
}

/// Nothing for a VPC that exists already.
fn of_network(world: &World, network: &CAPTCluster) -> Result<Option<Wish>, String> {
    if existing_vpc(network).is_some() {
        return Ok(None);
    }
    let cluster = cluster_of(world, &network.metadata)?;
    let namespace = network.metadata.namespace.clone().unwrap_or_default();
    let find = |name: &str| {
        let key = ApplyKey { namespace: namespace.clone(), name: name.to_owned() };
        world.applies.get(&key).map(|apply| apply.metadata.clone())
    };
    let template = template(network).map_err(|blocked| blocked.message)?;
    let name = apply_name(network, find).map_err(|blocked| blocked.message)?;
    let Some(name) = name else { return Err("no Cluster names it".to_owned()) };
    let wanted = network_wanted(network, cluster, name, template);
    Ok(Some(Wish { owner: Owner::of(network), wanted }))
}

fn of_control_plane(world: &World, control_plane: &CAPTControlPlane) -> Result<Wish, String> {
    let metadata = &control_plane.metadata;
    let name = cluster_of(world, metadata)?;
    let network = network_of(world, metadata, name);
    let template = world.templates.get(&template_key(&control_plane.spec.workspace_template_ref, metadata));
    let declared = template.and_then(asks_for);
    let namespace = metadata.namespace.clone().unwrap_or_default();
    let apply = ApplyKey { namespace, name: crate::control_plane::names::apply(control_plane) };
    let present = world.applies.get(&apply).map(|apply| &**apply);
    let inputs =
        Inputs { control_plane, cluster: name, network: &network, declared: declared.as_ref(), present };
    Ok(Wish { owner: Owner::of(control_plane), wanted: control_plane_wanted(inputs) })
}

/// The network that a control plane is put in.
fn network_of(world: &World, metadata: &ObjectMeta, cluster_name: &str) -> Network {
    let reference =
        cluster(world, metadata, cluster_name).and_then(|found| found.spec.infrastructure_ref.as_ref());
    let Some(reference) = reference else { return Network::None };
    let described = format!("{} `{}`", reference.kind, reference.name);
    if reference.api_group != group::INFRASTRUCTURE || reference.kind != "CAPTCluster" {
        return Network::Foreign { name: described, provisioned: true };
    }
    let key = (metadata.namespace.clone().unwrap_or_default(), reference.name.clone());
    let Some(found) = world.networks.get(&key) else { return Network::Missing { name: described } };
    Network::Ours(OurNetwork::of(found, outputs(world, found)))
}

/// The names of a network's outputs: those that it has, and those that it is going to have.
fn outputs(world: &World, network: &CAPTCluster) -> BTreeSet<String> {
    let workspace = network.status.as_ref().and_then(|status| status.vpc_workspace_name.as_ref());
    let mut known = workspace.and_then(|name| world.outputs.get(name)).cloned().unwrap_or_default();
    let template = network.spec.vpc_template_ref.as_ref().map(|it| template_key(it, &network.metadata));
    if let Some(key) = template.filter(|key| known.is_empty() || world.new_templates.contains(key)) {
        known.extend(declared_outputs(world, &key));
    }
    known
}

/// The outputs that a template's module declares. Those that are sensitive are nobody's variable.
fn declared_outputs(world: &World, key: &Key) -> BTreeSet<String> {
    let spec = world.templates.get(key).map(|template| &template.spec.template.spec);
    let text = spec.and_then(|spec| module_text(spec).zip(module_format(spec)));
    let module = text.and_then(|(text, format)| module::read(text, format).ok()).unwrap_or_default();
    module.outputs.into_iter().filter(|(_, output)| !output.sensitive).map(|(name, _)| name).collect()
}
