//! What would become of Workspaces if manifests were applied: from Clusters, networks, control planes and templates to the
//! applies that those would make, by the same functions that make them.

mod merge;
#[cfg(test)]
mod tests;
mod wishes;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use capt_api::names::label;
use capt_api::reference::TemplateReference;
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster, WorkspaceTemplate, WorkspaceTemplateApply};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::json;

use crate::graph::{self, Applies};
use crate::owned_apply::{Belongs, Owner, belongs};
use crate::standing::cluster_name;
use crate::tie::{ApplyKey, label_value};
use merge::merged;
use wishes::{Wish, Wishes, wishes};

/// Namespace and name.
pub type Key = (String, String);

/// The objects that decide which Workspaces there are.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Clusters.
    pub clusters: BTreeMap<Key, Cluster>,
    /// Networks.
    pub networks: BTreeMap<Key, CAPTCluster>,
    /// Control planes.
    pub control_planes: BTreeMap<Key, CAPTControlPlane>,
    /// Templates.
    pub templates: BTreeMap<Key, WorkspaceTemplate>,
    /// Applies.
    pub applies: BTreeMap<ApplyKey, Arc<WorkspaceTemplateApply>>,
    /// The names of the outputs that Workspaces have, by the names of those.
    pub outputs: BTreeMap<String, BTreeSet<String>>,
    /// Templates whose outputs may be others than their Workspaces have.
    pub new_templates: BTreeSet<Key>,
}

impl Applies for World {
    fn get(&self, key: &ApplyKey) -> Option<impl std::ops::Deref<Target = WorkspaceTemplateApply> + use<>> {
        self.applies.get(key).cloned()
    }
}

/// What would become of Workspaces.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// Applies that would be made or changed, or whose template would, those first that others need.
    pub applies: Vec<ApplyKey>,
    /// What leads to no Workspace, and why.
    pub held: Vec<Held>,
}

/// A network or a control plane that leads to no Workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its kind.
    pub kind: String,
    /// Its namespace and name.
    pub key: Key,
    /// Why.
    pub why: String,
}

impl fmt::Display for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, key: (namespace, name), why } = self;
        write!(formatter, "{kind} `{namespace}/{name}`: {why}")
    }
}

/// Puts the applies into `after` that networks and control planes would make, and tells which of all applies are concerned:
/// those in `named`, those of a network or control plane that wants another apply than it did `before`, and those of new
/// templates.
pub fn forecast(before: &World, after: &mut World, named: &BTreeSet<ApplyKey>) -> Forecast {
    let (mut before, mut held, mut concerned) = (before.clone(), Vec::new(), named.clone());
    before.tie();
    after.tie();
    let Wishes { applies: earlier, .. } = wishes(&mut before);
    let Wishes { applies: later, held: waiting } = wishes(after);
    held.extend(waiting);
    for (key, wish) in later {
        let same = earlier.get(&key).is_some_and(|earlier| earlier.wanted == wish.wanted);
        if same && after.applies.contains_key(&key) {
            continue;
        }
        match put(after, &key, &wish, earlier.get(&key)) {
            Ok(()) => {
                concerned.insert(key);
            }
            Err(why) => {
                let Owner { kind, namespace, name, .. } = wish.owner;
                held.push(Held { kind, key: (namespace, name), why });
            }
        }
    }
    let users = after.applies.iter().filter(|(_, apply)| {
        after.new_templates.contains(&template_key(&apply.spec.template_ref, &apply.metadata))
    });
    let users: Vec<ApplyKey> = users.map(|(key, _)| key.clone()).collect();
    concerned.extend(users);
    Forecast { applies: in_order(concerned, after), held }
}

/// Puts an apply in as its maker wants it. What others added to it stays.
fn put(world: &mut World, key: &ApplyKey, wish: &Wish, earlier: Option<&Wish>) -> Result<(), String> {
    let Wish { owner, wanted } = wish;
    let mut object = wanted.object(owner, None);
    object["metadata"]["namespace"] = json!(key.namespace);
    let unreadable = |_| "it makes no WorkspaceTemplateApply that can be read".to_owned();
    let mut made: WorkspaceTemplateApply = serde_json::from_value(object).map_err(unreadable)?;
    if let Some(present) = world.applies.get(key) {
        if let Belongs::ToOther(_) = belongs(&present.metadata, owner) {
            return Err(format!("WorkspaceTemplateApply `{key}` is somebody else's"));
        }
        let base = earlier.map(|earlier| earlier.wanted.spec.clone()).unwrap_or_default();
        let spec = merged(&json!(present.spec), &base, &wanted.spec);
        made = WorkspaceTemplateApply {
            spec: serde_json::from_value(spec).map_err(unreadable)?,
            ..(**present).clone()
        };
    }
    world.applies.insert(key.clone(), Arc::new(made));
    Ok(())
}

/// Those first that others need. In a circle nobody is.
fn in_order(mut open: BTreeSet<ApplyKey>, world: &World) -> Vec<ApplyKey> {
    let mut ordered = Vec::new();
    while let Some(first) = open.first().cloned() {
        let is_free = |key: &&ApplyKey| {
            let needs = world.applies.get(key).map(|apply| graph::needs(apply, world)).unwrap_or_default();
            !needs
                .iter()
                .filter_map(|need| need.apply.as_ref())
                .any(|need| need != *key && open.contains(need))
        };
        let next = open.iter().find(is_free).cloned().unwrap_or(first);
        open.remove(&next);
        ordered.push(next);
    }
    ordered
}

/// The template that a reference in an object with this metadata means.
pub fn template_key(reference: &TemplateReference, metadata: &ObjectMeta) -> Key {
    let own = metadata.namespace.as_deref().unwrap_or_default();
    let namespace = reference.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(own);
    (namespace.to_owned(), reference.name.clone())
}

impl World {
    /// Says of networks and control planes which Cluster they belong to, as Cluster API does once it sees them.
    fn tie(&mut self) {
        for ((namespace, name), cluster) in &self.clusters {
            if let Some(reference) = &cluster.spec.infrastructure_ref
                && let Some(network) = self.networks.get_mut(&(namespace.clone(), reference.name.clone()))
            {
                belong(&mut network.metadata, name);
            }
            if let Some(reference) = &cluster.spec.control_plane_ref
                && let Some(found) = self.control_planes.get_mut(&(namespace.clone(), reference.name.clone()))
            {
                belong(&mut found.metadata, name);
            }
        }
    }
}

fn belong(metadata: &mut ObjectMeta, cluster: &str) {
    if cluster_name(metadata).is_none() {
        let labels = metadata.labels.get_or_insert_default();
        labels.insert(label::CLUSTER_NAME.to_owned(), label_value(cluster));
    }
}
