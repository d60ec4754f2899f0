//! What an add-on has brought to a cluster, written down in the cluster itself: it survives a move or a restore of the cluster
//! that CAPT runs in.
//!
//! It is written before an object is brought, so that nothing is ever in the cluster that nobody knows of.

use capt_api::names::{MANAGED_BY_CAPT, Reason, label};
use capt_core::addon::names::field_manager;
use capt_core::digest::short_digest;
use capt_core::manifest::ObjectKey;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::GetParams;
use kube::discovery::{ApiResource, Scope};
use serde_json::json;

use super::bring::{Delivery, Obstacle};
use super::look::{claim_of, unless_absent};
use super::object::{Location, is_same};
use super::trouble::Subject;
use super::{Known, Mode, Order, Trouble, remove};
use crate::error::Retry;
use crate::workload::{Failure, Talk};

/// Where inventories are.
const NAMESPACE: &str = "kube-system";
/// How many digits keep the names of lists apart.
const DIGITS: usize = 16;
/// The key of the list.
const KEY: &str = "objects";
/// What a `ConfigMap` can hold, less some room for the rest of it.
const LARGEST: usize = 1_000_000;

/// What an add-on has brought to a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inventory {
    /// The objects, in the order in which they were brought.
    pub(crate) objects: Vec<ObjectKey>,
    /// Why they cannot be told, where that is so.
    pub(crate) problem: Option<String>,
}

impl Inventory {
    /// What was there and what is to come, each object once.
    pub(crate) fn with(&self, new: &[ObjectKey]) -> Vec<ObjectKey> {
        let rest = self.objects.iter().filter(|old| !new.iter().any(|new| is_same(old, new)));
        new.iter().chain(rest).cloned().collect()
    }
}

/// Reads what an add-on has brought. What cannot be read is as good as empty, and told.
pub(crate) async fn read(talk: &Talk<'_>, claim: &str) -> Result<Inventory, Trouble> {
    let location = location(claim);
    let asked = talk.send(location.request().get(&location.key.name, &GetParams::default())).await;
    let found =
        unless_absent(asked).and_then(|answer| answer.map(|answer| answer.read::<ConfigMap>()).transpose());
    let Some(found) = found.map_err(|failure| trouble(&failure, &location))? else {
        return Ok(Inventory::default());
    };
    if claim_of(&found.metadata) != Some(claim) {
        return Ok(unreadable(&location, "is not CAPT's: rename or delete it"));
    }
    let list = found.data.as_ref().and_then(|data| data.get(KEY)).map(String::as_str).unwrap_or_default();
    Ok(match serde_json::from_str(list) {
        Ok(objects) => Inventory { objects, problem: None },
        Err(_) => unreadable(
            &location,
            "cannot be read: what the add-on brought before and no longer holds has to be deleted by hand",
        ),
    })
}

/// Writes down what an add-on brings, unless that is what is `known` to be there. An empty list is not kept.
pub(crate) async fn write(
    talk: &Talk<'_>,
    claim: &str,
    objects: &[ObjectKey],
    known: Option<&Inventory>,
) -> Result<Inventory, Trouble> {
    if let Some(known) = known.filter(|known| known.problem.is_none() && known.objects == objects) {
        return Ok(known.clone());
    }
    let location = location(claim);
    if objects.is_empty() {
        let removed = remove(talk, std::slice::from_ref(&location.key), claim).await;
        return removed.trouble().map_or_else(|| Ok(Inventory::default()), Err);
    }
    let list = json!(objects).to_string();
    if list.len() > LARGEST {
        let message = format!(
            "the add-on brings {} objects, and the list of their names is too long: split the add-on",
            objects.len()
        );
        return Err(Trouble::new(Reason::ManifestInvalid, message, Retry::Rarely));
    }
    let wanted = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": location.key.name, "labels": { label::MANAGED_BY: MANAGED_BY_CAPT } },
        "data": { KEY: list },
    });
    let (manager, known) = (field_manager(claim), Known::new());
    let order =
        Order { manifests: &[], manager: &manager, claim: Some(claim), mode: Mode::Keep, known: &known };
    let subject = Subject { key: &location.key, place: None };
    match Delivery::new(talk, &order).put(&location, subject, &wanted).await {
        Ok(_) => Ok(Inventory { objects: objects.to_vec(), problem: None }),
        Err(Obstacle::Object(trouble) | Obstacle::Cluster(trouble)) => Err(trouble),
        Err(Obstacle::NotServed) => Err(subject.not_served(None)),
    }
}

/// The name of the list of what a claim brings.
pub(super) fn name(claim: &str) -> String {
    format!("capt-addon-{}", short_digest([claim], DIGITS))
}

/// Where the list of what a claim brings is kept.
fn location(claim: &str) -> Location {
    let key = ObjectKey {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        namespace: Some(NAMESPACE.to_owned()),
        name: name(claim),
    };
    Location::new(&key, ApiResource::erase::<ConfigMap>(&()), &Scope::Namespaced)
}

fn unreadable(location: &Location, why: &str) -> Inventory {
    let problem = format!("{}, which lists what the add-on has brought to the cluster, {why}", location.key);
    Inventory { objects: Vec::new(), problem: Some(problem) }
}

fn trouble(failure: &Failure, location: &Location) -> Trouble {
    if failure.is_unreachable() {
        Trouble::of(failure)
    } else {
        Subject { key: &location.key, place: None }.failed(failure)
    }
}
