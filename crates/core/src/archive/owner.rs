//! Owners: their uids are others after a restore, so they are looked up by kind and name.

use serde_json::{Value, json};

use super::object::Key;
use crate::name::is_object_name;

/// An owner as a backup has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its group and version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name; it lies in the namespace of what it owns, or in none.
    pub name: String,
    reference: Value,
}

/// The owners of an object that can be looked up.
pub fn owners(archived: &Value) -> Vec<Owner> {
    let references =
        archived["metadata"]["ownerReferences"].as_array().map(Vec::as_slice).unwrap_or_default();
    let read = |reference: &Value| {
        let text = |field: &str| reference[field].as_str().map(ToOwned::to_owned);
        Some(Owner {
            api_version: text("apiVersion")?,
            kind: text("kind")?,
            name: text("name").filter(|name| is_object_name(name))?,
            reference: reference.clone(),
        })
    };
    references.iter().filter_map(read).collect()
}

impl Owner {
    /// Names the owner among the objects of a backup, for something in this namespace.
    pub fn key(&self, namespace: Option<&str>) -> Option<Key> {
        let kind = super::kind::named(&self.kind)?;
        (kind.api_version().split('/').next() == self.api_version.split('/').next()).then(|| Key {
            kind: kind.name,
            namespace: namespace.filter(|_| kind.namespaced).map(ToOwned::to_owned),
            name: self.name.clone(),
        })
    }

    /// The same owner with the uid that it has now.
    fn with_uid(&self, uid: &str) -> Value {
        let mut reference = self.reference.clone();
        reference["uid"] = json!(uid);
        reference
    }
}

/// The owners that a live object is to have, as a merge patch; nothing where it has them. Owners that it has got meanwhile stay.
/// An owner whose uid is not known is left out: garbage collection would take the object away.
pub fn retied(live: &Value, wanted: &[(Owner, Option<String>)]) -> Option<Value> {
    let metadata = &live["metadata"];
    let present = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
    let has = |uid: &str| present.iter().any(|reference| reference["uid"] == uid);
    let controlled = present.iter().any(|reference| reference["controller"] == true);
    let missing: Vec<Value> = wanted
        .iter()
        .filter_map(|(owner, uid)| Some(owner.with_uid(uid.as_deref()?)))
        .filter(|reference| !reference["uid"].as_str().is_some_and(has))
        // The API server takes one controller at most.
        .filter(|reference| !(controlled && reference["controller"] == true))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let all: Vec<Value> = present.into_iter().chain(missing).collect();
    Some(json!({ "metadata": {
        "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"], "ownerReferences": all,
    }}))
}
