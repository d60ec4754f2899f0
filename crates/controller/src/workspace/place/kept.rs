//! What all objects have in common that CAPT keeps of a Workspace: labels, owner, finalizer.

use std::collections::BTreeMap;
use std::fmt::Debug;

use capt_api::names::{ENGINE_FIELD_MANAGER, MANAGED_BY_CAPT, Reason, annotation, finalizer, group, label};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::tie;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::Status;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Place;
use crate::error::Error;

/// What an object is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workspace) enum Role {
    State,
    Record,
    Snapshot,
    Staged,
    Plan,
    Preview,
    Candidate,
    Connection,
}

impl Role {
    pub(in crate::workspace) fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Record => "record",
            Self::Snapshot => "snapshot",
            Self::Staged => "staged",
            Self::Plan => "plan",
            Self::Preview => "preview",
            Self::Candidate => "candidate",
            Self::Connection => "connection",
        }
    }
}

impl Place {
    /// The name that what is kept goes by, where there is less room than for an object's name.
    pub(in crate::workspace) fn short_name(&self) -> String {
        tie::label_value(&self.kept_as)
    }

    /// The labels that tell whose an object is and what for.
    pub(in crate::workspace) fn labels(&self, role: Role) -> BTreeMap<String, String> {
        BTreeMap::from([
            (label::MANAGED_BY.to_owned(), MANAGED_BY_CAPT.to_owned()),
            (label::WORKSPACE.to_owned(), self.short_name()),
            (label::ROLE.to_owned(), role.as_str().to_owned()),
        ])
    }

    /// Selects what [`Self::labels`] are on.
    pub(in crate::workspace) fn selector(&self, role: Role) -> String {
        let labels: Vec<String> =
            self.labels(role).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        labels.join(",")
    }

    /// The apply as the owner of an object: only in its own namespace, since garbage collection eats anything else.
    pub(in crate::workspace) fn owner(&self, namespace: &str) -> Option<OwnerReference> {
        let owner = self.apply.as_ref().filter(|owner| owner.key.namespace == namespace)?;
        Some(OwnerReference {
            api_version: WorkspaceTemplateApply::api_version(&()).into_owned(),
            kind: WorkspaceTemplateApply::kind(&()).into_owned(),
            name: owner.key.name.clone(),
            uid: owner.uid.clone(),
            controller: Some(false),
            block_owner_deletion: Some(false),
        })
    }

    /// The metadata of an object that is kept in this place.
    pub(in crate::workspace) fn metadata(&self, role: Role, name: &str) -> ObjectMeta {
        ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(self.labels(role)),
            annotations: Some(BTreeMap::from([(annotation::WORKSPACE.to_owned(), self.kept_as.clone())])),
            owner_references: self.owner(&self.namespace).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        }
    }

    /// Whether CAPT made an object for this Workspace. A uid that changed (restore, move) does not matter.
    pub(in crate::workspace) fn made(&self, object: &ObjectMeta) -> bool {
        is_ours(object) && names(object) == Some(&self.kept_as)
    }
}

/// Whether CAPT made an object.
pub(in crate::workspace) fn is_ours(object: &ObjectMeta) -> bool {
    let manager = object.labels.as_ref().and_then(|labels| labels.get(label::MANAGED_BY));
    manager.is_some_and(|manager| manager == MANAGED_BY_CAPT)
}

/// The Workspace that an object says it belongs to.
pub(in crate::workspace) fn names(object: &ObjectMeta) -> Option<&str> {
    object.annotations.as_ref()?.get(annotation::WORKSPACE).map(String::as_str)
}

/// What an object's metadata lacks, as a merge patch that applies to exactly the version that was seen; `None` when it
/// lacks nothing. Owners of the engine's kinds that are not wanted leave: they are of before a restore or a move.
pub(in crate::workspace) fn lacking(found: &ObjectMeta, wanted: &ObjectMeta) -> Option<Value> {
    let mut patch = Map::new();
    let labels = differing(found.labels.as_ref(), wanted.labels.as_ref());
    let annotations = differing(found.annotations.as_ref(), wanted.annotations.as_ref());
    for (field, entries) in [("labels", labels), ("annotations", annotations)] {
        if !entries.is_empty() {
            patch.insert(field.to_owned(), json!(entries));
        }
    }
    if let Some(owners) =
        owners(list(found.owner_references.as_ref()), list(wanted.owner_references.as_ref()))
    {
        patch.insert("ownerReferences".to_owned(), json!(owners));
    }
    let held = list(found.finalizers.as_ref());
    let more = list(wanted.finalizers.as_ref()).iter().filter(|entry| !held.contains(entry));
    let finalizers: Vec<&String> = held.iter().chain(more).collect();
    // The API server lets nobody add one to what is being deleted.
    if finalizers.len() > held.len() && found.deletion_timestamp.is_none() {
        patch.insert("finalizers".to_owned(), json!(finalizers));
    }
    if patch.is_empty() {
        return None;
    }
    patch.insert("resourceVersion".to_owned(), json!(found.resource_version));
    Some(Value::Object(patch))
}

fn list<T>(entries: Option<&Vec<T>>) -> &[T] {
    entries.map(Vec::as_slice).unwrap_or_default()
}

fn differing<'wanted>(
    found: Option<&BTreeMap<String, String>>,
    wanted: Option<&'wanted BTreeMap<String, String>>,
) -> BTreeMap<&'wanted String, &'wanted String> {
    let is_there = |key: &String, value: &String| found.and_then(|found| found.get(key)) == Some(value);
    wanted.into_iter().flatten().filter(|(key, value)| !is_there(key, value)).collect()
}

fn owners(found: &[OwnerReference], wanted: &[OwnerReference]) -> Option<Vec<OwnerReference>> {
    let same = |one: &OwnerReference, other: &OwnerReference| {
        one.uid == other.uid && one.controller.unwrap_or(false) == other.controller.unwrap_or(false)
    };
    let stays =
        |owner: &&OwnerReference| !is_engine_kind(owner) || wanted.iter().any(|wanted| same(wanted, owner));
    let is_new = |wanted: &&OwnerReference| !found.iter().any(|owner| same(wanted, owner));
    let next: Vec<OwnerReference> =
        found.iter().filter(stays).chain(wanted.iter().filter(is_new)).cloned().collect();
    (next != found).then_some(next)
}

/// Whether an owner is of a kind that the engine writes as an owner.
fn is_engine_kind(owner: &OwnerReference) -> bool {
    is_apply(owner) || is_workspace(owner)
}

/// Whether an owner is a `WorkspaceTemplateApply`.
pub(in crate::workspace) fn is_apply(owner: &OwnerReference) -> bool {
    is_kind(owner, group::INFRASTRUCTURE, &WorkspaceTemplateApply::kind(&()))
}

/// Whether an owner is a Workspace.
pub(in crate::workspace) fn is_workspace(owner: &OwnerReference) -> bool {
    is_kind(owner, group::TERRAFORM, &Workspace::kind(&()))
}

fn is_kind(owner: &OwnerReference, group: &str, kind: &str) -> bool {
    owner.kind == kind && owner.api_version.split_once('/').is_some_and(|(of, _)| of == group)
}

/// Merges a patch into an object that somebody else writes too.
pub(in crate::workspace) async fn merge<K>(
    api: &Api<K>,
    name: &str,
    patch: &Value,
    doing: &str,
) -> Result<K, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let parameters =
        PatchParams { field_manager: Some(ENGINE_FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    api.patch(name, &parameters, &Patch::Merge(patch)).await.map_err(Error::api(doing))
}

/// Takes our finalizer off an object, if it is there, and deletes the object. That it is gone already is fine.
pub(in crate::workspace) async fn remove<K>(
    api: &Api<K>,
    object: &ObjectMeta,
    doing: &str,
) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let name = object.name.as_deref().unwrap_or_default();
    if let Some(finalizers) = without_ours(object) {
        let patch =
            json!({ "metadata": { "resourceVersion": object.resource_version, "finalizers": finalizers } });
        Error::unless_gone(merge(api, name, &patch, doing).await)?;
    }
    let preconditions = Preconditions { uid: object.uid.clone(), resource_version: None };
    let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
    Error::unless_gone(api.delete(name, &parameters).await.map_err(Error::api(doing))).map(drop)
}

/// The finalizers of an object without ours; `None` when ours is not among them.
pub(in crate::workspace) fn without_ours(object: &ObjectMeta) -> Option<Vec<&String>> {
    let held = list(object.finalizers.as_ref());
    let others: Vec<&String> = held.iter().filter(|entry| *entry != finalizer::STATE).collect();
    (others.len() < held.len()).then_some(others)
}

/// Whether something was refused because its namespace is being deleted.
pub(in crate::workspace) fn is_ending(error: &kube::Error) -> bool {
    let kube::Error::Api(status) = error else { return false };
    let causes = status.details.iter().flat_map(|details| &details.causes);
    status.code == 403 && causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating")
}

/// An object of a name that we need is somebody else's. Nothing but a person can change that, so it is tried again rarely.
pub(in crate::workspace) fn not_ours<K: Resource<DynamicType = ()>>(
    doing: &str,
    namespace: &str,
    name: &str,
) -> Error {
    let kind = K::kind(&());
    let status = Status {
        code: 422,
        reason: Reason::SecretNotOwned.as_str().to_owned(),
        message: format!("{kind} `{namespace}/{name}` is needed, but is not CAPT's: delete or rename it"),
        ..Status::default()
    };
    Error::Api { doing: doing.to_owned(), source: kube::Error::Api(Box::new(status)) }
}

/// Does work that may take a while where it holds up nobody.
pub(in crate::workspace) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Panicked { message: error.to_string() })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn owner(api_version: &str, kind: &str, name: &str, uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            ..OwnerReference::default()
        }
    }

    fn apply(uid: &str) -> OwnerReference {
        owner("infrastructure.cluster.x-k8s.io/v1beta1", "WorkspaceTemplateApply", "demo-apply", uid)
    }

    fn other() -> OwnerReference {
        owner("example.org/v1", "Backup", "nightly", "b")
    }

    #[rstest]
    #[case::is_there(vec![apply("1")], vec![apply("1")], None)]
    #[case::is_missing(vec![], vec![apply("1")], Some(vec![apply("1")]))]
    #[case::has_a_new_uid(vec![apply("1"), other()], vec![apply("2")], Some(vec![other(), apply("2")]))]
    #[case::is_not_wanted_any_more(vec![apply("1"), other()], vec![], Some(vec![other()]))]
    #[case::is_somebody_elses(vec![other()], vec![], None)]
    fn the_owner(
        #[case] found: Vec<OwnerReference>,
        #[case] wanted: Vec<OwnerReference>,
        #[case] expected: Option<Vec<OwnerReference>>,
    ) {
        assert_eq!(owners(&found, &wanted), expected);
    }

    #[test]
    fn what_is_being_deleted_gets_no_finalizer() {
        let wanted =
            ObjectMeta { finalizers: Some(vec![finalizer::STATE.to_owned()]), ..ObjectMeta::default() };
        assert!(lacking(&ObjectMeta::default(), &wanted).is_some());
        let deleted = ObjectMeta { deletion_timestamp: Some(crate::context::now()), ..ObjectMeta::default() };
        assert_eq!(lacking(&deleted, &wanted), None);
    }
}
