//! The Secrets that hold a state: found, held, let go.
//!
//! While a run goes on, its keeper writes them ([`store`]). A process that an earlier version of CAPT began reads such a Secret and
//! writes it back a moment later, and a write in between would make it lose its state: nothing here but [`look`] and [`note`] may
//! be called while a run goes on.

mod content;
mod staged;
pub(super) mod store;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use capt_api::names::{annotation, finalizer, group, label};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::name::is_object_name;
use capt_core::workspace::observed::State;
use capt_terraform::Secret as Hidden;
use k8s_openapi::ByteString;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};

use self::content::Content;
use super::place::Place;
use super::place::kept::{self, Role, aside, lacking};
use crate::error::Error;
use crate::rbac::rule;

/// The key of the state in a Secret.
pub(super) const KEY: &str = "tfstate";
/// What Terraform puts into one Secret before it begins another.
pub(super) const FULL: usize = 1 << 20;
/// More than anybody has; somebody may have put Secrets there that go on for ever.
const MOST_PARTS: usize = 64;

/// The permissions that states need, and all else that is kept of Workspaces: records, snapshots, outputs and plans.
pub(super) fn rules() -> Vec<PolicyRule> {
    vec![
        rule("", &["secrets"], &["get", "list", "create", "patch", "delete"]),
        rule("", &["configmaps"], &["get", "create", "patch", "delete"]),
        rule("coordination.k8s.io", &["leases"], &["get", "create", "update", "delete"]),
        rule(group::INFRASTRUCTURE, &["workspacetemplateapplies"], &["patch"]),
        rule(group::TERRAFORM, &["workspaces"], &["patch"]),
    ]
}

/// A state as it was found.
#[derive(Debug)]
pub(super) struct Found {
    /// What is known of it.
    pub(super) state: State,
    /// How many bytes its Secrets hold.
    pub(super) bytes: u64,
    /// Whether nothing and nobody takes it away from us, and nothing is there that does not belong to it.
    pub(super) held: bool,
    /// Its Secrets in order.
    pub(super) parts: Vec<Part>,
    /// Secrets that Terraform deleted when the state shrank. While our finalizer keeps them, Terraform cannot read the state.
    leftovers: Vec<Part>,
    /// How often it was written, if it can be read.
    pub(super) serial: Option<u64>,
    /// Names it and all that follow from it, if it can be read.
    pub(super) lineage: Option<String>,
    /// When somebody put an earlier state back, in his own words; nothing once that is settled.
    pub(super) restored: Option<String>,
}

/// A Secret of a state.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) metadata: ObjectMeta,
    /// What it holds of the state.
    pub(super) content: Option<Hidden>,
}

impl Part {
    fn len(&self) -> usize {
        self.content.as_ref().map_or(0, |content| content.expose().len())
    }
}

impl From<Secret> for Part {
    fn from(secret: Secret) -> Self {
        let mut metadata = secret.metadata;
        metadata.managed_fields = None;
        let content = secret.data.and_then(|mut data| data.remove(KEY));
        Self { metadata, content: content.map(|content| Hidden::new(content.0)) }
    }
}

/// Looks for the state.
pub(super) async fn look(client: &Client, place: &Place) -> Result<Found, Error> {
    let parts = read(client, place).await?;
    let place = place.clone();
    aside(move || judge(parts, &place)).await
}

/// Makes an empty state, so that it is held from the first moment, and so that Terraform finds its workspace there: otherwise
/// it would go by way of the workspace `default` and leave a state of that behind.
pub(super) async fn begin(client: &Client, place: &Place) -> Result<(), Error> {
    match make(client, place, content::nothing(&place.workspace_uid), None).await {
        Ok(()) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        Err(error) => Err(Error::api(doing("making", place))(error)),
    }
}

/// Makes the Secret of a state, as Terraform does and held by us.
pub(super) async fn make(
    client: &Client,
    place: &Place,
    content: Vec<u8>,
    restored: Option<&str>,
) -> Result<(), kube::Error> {
    let mut metadata = store::labelled(place, 0, 1);
    let annotations = metadata.annotations.get_or_insert_default();
    annotations.extend(restored.map(|at| (annotation::RESTORED_AT.to_owned(), at.to_owned())));
    let data = BTreeMap::from([(KEY.to_owned(), ByteString(content))]);
    let secret = Secret { metadata, data: Some(data), ..Secret::default() };
    secrets(client, place).create(&PostParams::default(), &secret).await.map(drop)
}

/// Makes sure that nothing is changed before a person has approved a plan, as after an earlier state was put back.
pub(super) async fn mark_forked(client: &Client, place: &Place) -> Result<(), Error> {
    let at = format!("{:.9}", Timestamp::now());
    let patch = json!({ "metadata": { "annotations": { annotation::RESTORED_AT: at } } });
    let marked =
        kept::merge(&secrets(client, place), &place.state_secret(), &patch, &doing("marking", place)).await;
    Error::unless_gone(marked).map(drop)
}

/// Takes note that nothing follows any more from an earlier state having been put back, if it is still the one that was seen.
pub(super) async fn settle_restored(client: &Client, place: &Place, found: &Found) -> Result<(), Error> {
    let Some(first) = found.parts.first().filter(|_| found.restored.is_some()) else { return Ok(()) };
    let patch = json!({ "metadata": {
        "resourceVersion": first.metadata.resource_version,
        "annotations": { annotation::RESTORED_AT: null },
    } });
    kept::merge(&secrets(client, place), &place.state_secret(), &patch, &doing("settling", place))
        .await
        .map(drop)
}

/// Takes away a state in which there is nothing, because it is kept elsewhere.
pub(super) async fn discard_empty(client: &Client, place: &Place) -> Result<(), Error> {
    match look(client, place).await?.state {
        State::Present { empty: true } => discard(client, place).await,
        State::Present { empty: false } | State::Absent | State::Elsewhere | State::NotOurs { .. } => Ok(()),
    }
}

/// Makes sure that the state outlives its namespace and is known as this Workspace's.
pub(super) async fn hold(client: &Client, place: &Place, found: &Found) -> Result<(), Error> {
    if found.held || matches!(found.state, State::NotOurs { .. }) {
        return Ok(());
    }
    let api = secrets(client, place);
    // The first one comes first: it says how many there are.
    for (index, part) in found.parts.iter().enumerate() {
        if let Some(patch) = lacking(&part.metadata, &wanted(place, index, found.parts.len())) {
            let name = part.metadata.name.as_deref().unwrap_or_default();
            kept::merge(&api, name, &json!({ "metadata": patch }), &doing("holding", place)).await?;
        }
    }
    for part in &found.leftovers {
        kept::remove(&api, &part.metadata, &doing("tidying", place)).await?;
    }
    Ok(())
}

/// Leaves the state to whoever wants it: nothing of ours holds it, and nothing of ours takes it along when it goes.
pub(super) async fn let_go(client: &Client, place: &Place) -> Result<(), Error> {
    let api = secrets(client, place);
    for part in read(client, place).await?.iter().rev().filter(|part| is_ours(&part.metadata, place)) {
        let metadata = &part.metadata;
        let owners = metadata.owner_references.iter().flatten();
        let (ours, others): (Vec<_>, Vec<_>) = owners.partition(|owner| kept::is_apply(owner));
        let finalizers = kept::without_ours(metadata);
        let role = metadata.labels.as_ref().and_then(|labels| labels.get(label::ROLE));
        if finalizers.is_none() && ours.is_empty() && role.is_none() {
            continue;
        }
        let mut patch = json!({
            "resourceVersion": metadata.resource_version,
            "labels": { label::ROLE: null },
            "ownerReferences": others,
        });
        if let Some(finalizers) = finalizers {
            patch["finalizers"] = json!(finalizers);
        }
        let name = metadata.name.as_deref().unwrap_or_default();
        let patched =
            kept::merge(&api, name, &json!({ "metadata": patch }), &doing("letting go of", place)).await;
        Error::unless_gone(patched)?;
    }
    Ok(())
}

/// Deletes the state, and its lock if nobody holds it.
pub(super) async fn discard(client: &Client, place: &Place) -> Result<(), Error> {
    let api = secrets(client, place);
    let parts = read(client, place).await?;
    if parts.iter().any(|part| !is_ours(&part.metadata, place)) {
        return Ok(());
    }
    // The first one goes last: it leads to the others.
    for part in parts.iter().rev() {
        kept::remove(&api, &part.metadata, &doing("deleting", place)).await?;
    }
    // Those of a version that was never whole lead nowhere, and nothing leads to them.
    let parameters = ListParams::default().labels(&place.selector(Role::State));
    let left =
        api.list_metadata(&parameters).await.map_err(Error::api(doing("looking for the rest of", place)))?;
    for part in left.items.into_iter().map(|part| part.metadata).filter(|part| place.made(part)) {
        kept::remove(&api, &part, &doing("deleting", place)).await?;
    }
    staged::remove(client, place).await?;
    delete_lock(client, place, |lease| holder(lease).is_none()).await
}

/// Deletes the lock on a state that is gone, whose holder is known to be over.
pub(super) async fn remove_lock(client: &Client, place: &Place) -> Result<(), Error> {
    delete_lock(client, place, |_| true).await
}

async fn delete_lock(client: &Client, place: &Place, may: fn(&Lease) -> bool) -> Result<(), Error> {
    match lock(client, place).await?.filter(may) {
        Some(lease) => {
            let doing = doing("deleting the lock on", place);
            kept::remove(&leases(client, place), &lease.metadata, &doing).await
        }
        None => Ok(()),
    }
}

/// Who holds the lock on a state.
pub(super) struct LockHolder {
    /// The lock's identifier.
    pub(super) id: String,
    /// Who took it, as `user@machine`, if that is told.
    pub(super) who: Option<String>,
}

/// Who holds the lock on the state.
pub(super) async fn lock_holder(client: &Client, place: &Place) -> Result<Option<LockHolder>, Error> {
    let lease = lock(client, place).await?;
    Ok(lease.as_ref().and_then(|lease| Some(LockHolder { id: holder(lease)?.to_owned(), who: who(lease) })))
}

/// From what Terraform writes about a lock: `{"Who":"user@machine", …}`.
fn who(lease: &Lease) -> Option<String> {
    let told: Value = serde_json::from_str(lease.annotations().get(annotation::LOCK_INFO)?).ok()?;
    told["Who"].as_str().map(ToOwned::to_owned)
}

fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref().filter(|holder| !holder.is_empty())
}

async fn lock(client: &Client, place: &Place) -> Result<Option<Lease>, Error> {
    let name = format!("lock-{}", place.state_secret());
    if !is_object_name(&name) {
        return Ok(None);
    }
    leases(client, place).get_opt(&name).await.map_err(Error::api(doing("reading the lock on", place)))
}

/// Notes on the apply, or on a Workspace that has none, where the state is, or that there is none. `noted` is what is there
/// now.
///
/// Not by server-side apply: after a move the note is somebody else's, and an apply could not take it away.
pub(super) async fn note(
    client: &Client,
    place: &Place,
    noted: Option<&str>,
    present: bool,
) -> Result<(), Error> {
    let wanted = present.then(|| place.state_title());
    if noted == wanted.as_deref() {
        return Ok(());
    }
    let patch =
        |uid: &str| json!({ "metadata": { "uid": uid, "annotations": { annotation::STATE: wanted } } });
    let written = if let Some(owner) = &place.apply {
        let api: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), &owner.key.namespace);
        let doing = format!("noting the state on WorkspaceTemplateApply `{}`", owner.key);
        kept::merge(&api, &owner.key.name, &patch(&owner.uid), &doing).await.map(drop)
    } else {
        let api: Api<Workspace> = Api::all(client.clone());
        let doing = format!("noting the state on Workspace `{}`", place.workspace);
        kept::merge(&api, &place.workspace, &patch(&place.workspace_uid), &doing).await.map(drop)
    };
    Error::unless_gone(written).map(drop)
}

/// Notes on the apply which name all that is kept goes by, where no state is noted that would tell: one that is kept elsewhere
/// is found by that name, and the Workspace may have to take another one where it is moved to. `noted` is what is there now.
pub(super) async fn note_name(client: &Client, place: &Place, noted: Option<&str>) -> Result<(), Error> {
    let Some(owner) = place.apply.as_ref().filter(|_| noted != Some(&place.kept_as)) else { return Ok(()) };
    let annotations = json!({ annotation::KEPT_AS: place.kept_as });
    let patch = json!({ "metadata": { "uid": owner.uid, "annotations": annotations } });
    let api: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), &owner.key.namespace);
    let doing = format!("noting on WorkspaceTemplateApply `{}` what its state goes by", owner.key);
    Error::unless_gone(kept::merge(&api, &owner.key.name, &patch, &doing).await).map(drop)
}

/// Takes off the apply that Crossplane has made something for it, if that is noted: everything is destroyed.
pub(super) async fn forget_made(client: &Client, place: &Place, noted: bool) -> Result<(), Error> {
    let Some(owner) = place.apply.as_ref().filter(|_| noted) else { return Ok(()) };
    let api: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), &owner.key.namespace);
    let patch = json!({ "metadata": { "uid": owner.uid, "annotations": { annotation::MADE_BY: null } } });
    let doing = format!("forgetting on WorkspaceTemplateApply `{}` what Crossplane had made", owner.key);
    Error::unless_gone(kept::merge(&api, &owner.key.name, &patch, &doing).await).map(drop)
}

fn secrets(client: &Client, place: &Place) -> Api<Secret> {
    Api::namespaced(client.clone(), &place.state.namespace)
}

fn leases(client: &Client, place: &Place) -> Api<Lease> {
    Api::namespaced(client.clone(), &place.state.namespace)
}

fn doing(verb: &str, place: &Place) -> String {
    format!("{verb} the state in Secret `{}`", place.state_title())
}

/// Reads the Secrets of the state in order, by name: a list would make the API server look at every Secret of the namespace.
async fn read(client: &Client, place: &Place) -> Result<Vec<Part>, Error> {
    let first = place.state_secret();
    if !is_object_name(&first) {
        return Ok(Vec::new());
    }
    let api = secrets(client, place);
    let doing = doing("reading", place);
    let Some(secret) = api.get_opt(&first).await.map_err(Error::api(&doing))? else { return Ok(Vec::new()) };
    let noted =
        secret.annotations().get(annotation::STATE_PARTS).and_then(|parts| parts.parse().ok()).unwrap_or(1);
    let mut parts = vec![Part::from(secret)];
    for index in 1..MOST_PARTS {
        if index >= noted && parts.last().is_none_or(|last| last.len() < FULL) {
            break;
        }
        let name = format!("{first}-part-{index}");
        match api.get_opt(&name).await.map_err(Error::api(&doing))? {
            Some(secret) => parts.push(secret.into()),
            None if index < noted => {}
            None => break,
        }
    }
    Ok(parts)
}

/// What is to be on each Secret of a state. Terraform finds its states by labels, the one of who manages them among them: that
/// one stays as it is.
fn wanted(place: &Place, index: usize, parts: usize) -> ObjectMeta {
    let mut metadata = place.metadata(Role::State, "");
    metadata.owner_references = place.owner(&place.state.namespace).map(|owner| vec![owner]);
    if let Some(labels) = &mut metadata.labels {
        labels.remove(label::MANAGED_BY);
    }
    if index == 0 && parts > 1 {
        let annotations = metadata.annotations.get_or_insert_with(BTreeMap::new);
        annotations.insert(annotation::STATE_PARTS.to_owned(), parts.to_string());
    }
    metadata.finalizers = Some(vec![finalizer::STATE.to_owned()]);
    metadata
}

fn is_ours(metadata: &ObjectMeta, place: &Place) -> bool {
    kept::names(metadata).is_none_or(|workspace| workspace == place.kept_as)
}

fn judge(parts: Vec<Part>, place: &Place) -> Found {
    let bytes = parts.iter().map(|part| part.len() as u64).sum();
    let nothing = |state| Found {
        state,
        bytes,
        held: false,
        parts: Vec::new(),
        leftovers: Vec::new(),
        serial: None,
        lineage: None,
        restored: None,
    };
    if let Some(part) = parts.iter().find(|part| !is_ours(&part.metadata, place)) {
        let workspace = kept::names(&part.metadata).unwrap_or_default().to_owned();
        return nothing(State::NotOurs { workspace });
    }
    // Terraform makes an empty Secret before it fills it.
    if parts.first().is_none_or(|first| first.content.is_none()) {
        return nothing(State::Absent);
    }
    let all: Vec<u8> =
        parts.iter().filter_map(|part| part.content.as_ref()).flat_map(Hidden::expose).copied().collect();
    let Content { empty, serial, lineage, end } = content::read(&all);
    let (parts, leftovers) = divide(parts, end);
    let complete =
        |(index, part): (usize, &Part)| lacking(&part.metadata, &wanted(place, index, parts.len())).is_none();
    let held = leftovers.is_empty() && parts.iter().enumerate().all(complete);
    let noted = parts.first().and_then(|first| first.metadata.annotations.as_ref());
    let restored = noted.and_then(|noted| noted.get(annotation::RESTORED_AT)).cloned();
    Found { state: State::Present { empty }, bytes, held, parts, leftovers, serial, lineage, restored }
}

/// Divides the Secrets into those of the state and those that are deleted and lie behind its end.
fn divide(parts: Vec<Part>, end: Option<usize>) -> (Vec<Part>, Vec<Part>) {
    let mut begin = 0;
    parts.into_iter().partition(|part| {
        let is_behind = begin > 0 && end.is_some_and(|end| begin >= end);
        begin += part.len();
        !is_behind || part.metadata.deletion_timestamp.is_none()
    })
}
