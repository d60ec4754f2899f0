//! What is kept of a Workspace's runs, so that a restart forgets nothing and a destroy needs nothing else.
//!
//! One Secret for each Workspace, held by our finalizer: a namespace that is deleted must not take along what the destroy needs.

mod calls;
mod logs;
mod packing;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capt_api::names::{FIELD_MANAGER, annotation, finalizer};
use capt_core::workspace::observed::Memory;
use capt_core::workspace::run_log::{RunLog, Shelf};
use capt_terraform::{Calls, Identity, Run};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::{Value, json};
use tracing::warn;

use self::packing::Packed;
use super::place::Place;
use super::place::kept::{self, Role, aside, lacking};
use crate::error::Error;

/// The keys of the Secret.
const MEMORY: &str = "memory";
const INPUTS: &str = "inputs";
const FINGERPRINT: &str = "fingerprint";
const ARCHIVE: &str = "archive";
const PROVIDER_LOCK: &str = "provider-lock";
const CALLS: &str = "calls";
/// A Secret holds 1 MiB: inputs, lock file and memory have to fit into it together.
const LARGEST_INPUTS: usize = 900 << 10;
const LARGEST_LOCK: usize = 100 << 10;

/// What all of it has together at most, with some room for what the API server counts.
const LARGEST: usize = (1 << 20) - (8 << 10);
/// What the logs of runs have together at most.
const LARGEST_LOGS: usize = 256 << 10;

/// Keys of the Secret and what is to be in them; nothing for a key that is to go.
type Changes = BTreeMap<String, Option<Vec<u8>>>;

/// What is on record, without what went into Terraform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) memory: Memory,
    /// The fingerprint of what went into the last apply, if that is kept.
    pub(super) kept: Option<String>,
    /// The lock file of the providers.
    pub(super) provider_lock: Option<String>,
    /// Whether it holds up a move.
    pub(super) blocks_move: bool,
    /// What an apply whose end is not on record has begun and finished.
    pub(super) calls: Calls,
}

/// What is to be put on record.
#[derive(Clone, Copy)]
pub(super) struct Saving<'record> {
    pub(super) memory: &'record Memory,
    /// What goes into Terraform and its fingerprint.
    pub(super) inputs: Option<(&'record Run, &'record str)>,
    /// The lock file of the providers.
    pub(super) provider_lock: Option<&'record str>,
    /// Logs of runs that ended.
    pub(super) logs: &'record [Arc<RunLog>],
    /// Whether it holds up a move.
    pub(super) blocks_move: bool,
    /// The calls of an apply; those that are on record by default. Without an apply whose end is not on record there are none.
    pub(super) calls: Option<&'record Calls>,
}

/// What came of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Saved {
    /// Whether what went in is not kept: it is too large, or its archive could not be read.
    pub(super) too_large: bool,
}

/// The records of all Workspaces, as they were read or written last.
#[derive(Default)]
pub(crate) struct Records(Mutex<HashMap<Key, Known>>);

/// The uid of a Workspace, and the namespace of its record.
type Key = (String, String);

#[derive(Clone, Default)]
struct Known {
    record: Record,
    /// The metadata of the Secret; nothing when there is none.
    metadata: Option<ObjectMeta>,
    /// The logs of runs that are in it.
    logs: Shelf,
    /// How much room all else takes, by its key.
    sizes: BTreeMap<String, usize>,
}

impl Records {
    /// Forgets what was read, since another manager may have written meanwhile.
    pub(super) fn clear(&self) {
        self.known().clear();
    }

    /// Forgets what was read of a Workspace whose record may have been moved away, and may come back as another.
    pub(super) fn forget(&self, workspace_uid: &str) {
        self.known().retain(|(uid, _), _| uid != workspace_uid);
    }

    /// What is on record; nothing when there is no record. Asks the API server the first time only.
    pub(super) async fn load(&self, client: &Client, place: &Place) -> Result<Record, Error> {
        Ok(self.find(client, place).await?.record)
    }

    /// What went into the last apply, if it is kept. An archive is put into the directory.
    pub(super) async fn inputs(
        &self,
        client: &Client,
        place: &Place,
        artifacts: &Path,
    ) -> Result<Option<Run>, Error> {
        let Some(secret) = get(client, place).await? else { return Ok(None) };
        let provider_lock = record(&secret, place).provider_lock;
        let mut data = secret.data.unwrap_or_default();
        let mut take = |key: &str| data.remove(key).map(|value| value.0);
        let Some(inputs) = take(INPUTS) else { return Ok(None) };
        let packed = Packed { inputs, archive: take(ARCHIVE) };
        // The uid is another one after a restore or a move.
        let Ok(identity) = Identity::try_from(place.workspace_uid.clone()) else { return Ok(None) };
        let artifacts = artifacts.to_owned();
        match aside(move || packed.unpack(&identity, &artifacts)).await? {
            Ok(run) => Ok(Some(Run { provider_lock, ..run })),
            Err(error) => {
                let workspace = &place.workspace;
                warn!(
                    workspace,
                    error = &error as &dyn std::error::Error,
                    "what is kept for a destroy cannot be used"
                );
                Ok(None)
            }
        }
    }

    /// Puts on record what is remembered, and with it what goes into Terraform and the lock file of the providers, if they are
    /// given. Inputs that are too large are not kept, nor are earlier ones then. Logs of runs get the room that is left.
    ///
    /// While a run may change something the record holds up `clusterctl move`, which takes it along with its apply and looks at
    /// it before it pauses anything. It is written before and after each such run anyway.
    pub(super) async fn save(
        &self,
        client: &Client,
        place: &Place,
        saving: Saving<'_>,
    ) -> Result<Saved, Error> {
        let Saving { memory, inputs, provider_lock, logs, blocks_move, calls } = saving;
        let known = self.find(client, place).await?;
        let mut record = known.record.clone();
        let mut changes = Changes::new();
        let mut too_large = false;
        if let Some((run, fingerprint)) = inputs.filter(|(_, it)| known.record.kept.as_deref() != Some(it)) {
            let packed = packed(run).await?;
            too_large = packed.is_none();
            record.kept = packed.is_some().then(|| fingerprint.to_owned());
            let (inputs, archive) = packed.map_or((None, None), |it| (Some(it.inputs), it.archive));
            changes.insert(FINGERPRINT.to_owned(), record.kept.clone().map(String::into_bytes));
            changes.insert(INPUTS.to_owned(), inputs);
            changes.insert(ARCHIVE.to_owned(), archive);
        }
        if let Some(lock) = provider_lock.filter(|lock| lock.len() <= LARGEST_LOCK)
            && record.provider_lock.as_deref() != Some(lock)
        {
            record.provider_lock = Some(lock.to_owned());
            changes.insert(PROVIDER_LOCK.to_owned(), Some(lock.as_bytes().to_vec()));
        }
        if record.memory != *memory || known.metadata.is_none() {
            record.memory = memory.clone();
            changes.insert(MEMORY.to_owned(), Some(json!(memory).to_string().into_bytes()));
        }
        let none = Calls::default();
        let calls = if memory.begun.is_none() { Some(&none) } else { calls };
        if let Some(calls) = calls.filter(|calls| record.calls != **calls) {
            record.calls = calls.clone();
            let others = sizes_without(&known.sizes, &changes);
            changes.insert(CALLS.to_owned(), pack_calls(calls, &others).await?);
        }
        record.blocks_move = blocks_move;
        self.put(client, place, known, record, changes, logs).await?;
        Ok(Saved { too_large })
    }

    /// Puts on record what an apply has begun and finished so far.
    pub(super) async fn note_calls(
        &self,
        client: &Client,
        place: &Place,
        calls: &Calls,
    ) -> Result<(), Error> {
        let known = self.find(client, place).await?;
        // A record that is gone was removed with its Workspace.
        if known.metadata.is_none() || known.record.calls == *calls {
            return Ok(());
        }
        let record = Record { calls: calls.clone(), ..known.record.clone() };
        let others = sizes_without(&known.sizes, &Changes::new());
        let changes = Changes::from([(CALLS.to_owned(), pack_calls(calls, &others).await?)]);
        self.put(client, place, known, record, changes, &[]).await
    }

    /// Writes what is new, and remembers it.
    async fn put(
        &self,
        client: &Client,
        place: &Place,
        known: Known,
        record: Record,
        mut changes: Changes,
        logs: &[Arc<RunLog>],
    ) -> Result<(), Error> {
        let (mut sizes, mut stored) = (known.sizes, known.logs);
        for (key, value) in &changes {
            sizes.insert(key.clone(), value.as_ref().map_or(0, Vec::len));
        }
        changes.extend(logs::shelve(logs, &mut stored, room(&sizes)).await?);
        let written = write(client, place, known.metadata.as_ref(), changes, record.blocks_move).await;
        // Whatever went wrong, what is known may be wrong too.
        self.known().remove(&key(place));
        let metadata = written?.or(known.metadata);
        self.known().insert(key(place), Known { record, metadata, logs: stored, sizes });
        Ok(())
    }

    /// Removes the record.
    pub(super) async fn remove(&self, client: &Client, place: &Place) -> Result<(), Error> {
        self.known().remove(&key(place));
        let doing = doing("removing", place);
        let found =
            secrets(client, place).get_metadata_opt(&name(place)).await.map_err(Error::api(&doing))?;
        match found.filter(|found| place.made(&found.metadata)) {
            Some(found) => kept::remove(&secrets(client, place), &found.metadata, &doing).await,
            None => Ok(()),
        }
    }

    async fn find(&self, client: &Client, place: &Place) -> Result<Known, Error> {
        if let Some(known) = self.known().get(&key(place)).cloned() {
            return Ok(known);
        }
        let known = match get(client, place).await? {
            Some(secret) => {
                let record = record(&secret, place);
                let (logs, sizes) = logs::divide(secret.data.as_ref());
                Known { record, metadata: Some(trimmed(secret.metadata)), logs, sizes }
            }
            None => Known::default(),
        };
        self.known().insert(key(place), known.clone());
        Ok(known)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Key, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much room everything has but the calls of an apply.
fn sizes_without(known: &BTreeMap<String, usize>, changes: &Changes) -> BTreeMap<String, usize> {
    let mut sizes = known.clone();
    sizes.extend(changes.iter().map(|(key, value)| (key.clone(), value.as_ref().map_or(0, Vec::len))));
    sizes.remove(CALLS);
    sizes
}

async fn pack_calls(calls: &Calls, others: &BTreeMap<String, usize>) -> Result<Option<Vec<u8>>, Error> {
    if calls.is_empty() {
        return Ok(None);
    }
    let (calls, room) = (calls.clone(), LARGEST.saturating_sub(others.values().sum()));
    aside(move || calls::pack(&calls, room)).await.map(Some)
}

/// How much room is left for logs.
fn room(sizes: &BTreeMap<String, usize>) -> usize {
    LARGEST.saturating_sub(sizes.values().sum()).min(LARGEST_LOGS)
}

/// The logs of runs that are kept, oldest first, by their numbers. What cannot be read is left out.
pub(super) async fn run_logs(client: &Client, place: &Place) -> Result<Vec<(u64, RunLog)>, Error> {
    match get(client, place).await? {
        Some(secret) => aside(move || logs::read(secret.data.unwrap_or_default())).await,
        None => Ok(Vec::new()),
    }
}

/// What went into the last apply without its archive, so that its secrets are known; nothing where it is not kept.
pub(super) async fn kept_run(client: &Client, place: &Place) -> Result<Option<Run>, Error> {
    let data = get(client, place).await?.and_then(|secret| secret.data);
    let Some(inputs) = data.and_then(|mut data| data.remove(INPUTS)) else { return Ok(None) };
    let packed = Packed { inputs: inputs.0, archive: None };
    aside(move || packed.run().ok()).await
}

fn key(place: &Place) -> Key {
    (place.workspace_uid.clone(), place.namespace.clone())
}

fn name(place: &Place) -> String {
    format!("capt-record-{}", place.short_name())
}

fn secrets(client: &Client, place: &Place) -> Api<Secret> {
    Api::namespaced(client.clone(), &place.namespace)
}

fn doing(verb: &str, place: &Place) -> String {
    format!("{verb} the record of Workspace `{}`", place.workspace)
}

fn trimmed(metadata: ObjectMeta) -> ObjectMeta {
    ObjectMeta { managed_fields: None, ..metadata }
}

async fn get(client: &Client, place: &Place) -> Result<Option<Secret>, Error> {
    let (name, doing) = (name(place), doing("reading", place));
    let found = secrets(client, place).get_opt(&name).await.map_err(Error::api(&doing))?;
    match found {
        Some(secret) if !place.made(&secret.metadata) => {
            Err(kept::not_ours::<Secret>(&doing, &place.namespace, &name))
        }
        found => Ok(found),
    }
}

/// Reads a record. What is broken counts as not there.
fn record(secret: &Secret, place: &Place) -> Record {
    let value =
        |key: &str| secret.data.as_ref().and_then(|data| data.get(key)).map(|value| value.0.as_slice());
    let text = |key: &str| value(key).and_then(|value| String::from_utf8(value.to_vec()).ok());
    let memory = value(MEMORY).map(serde_json::from_slice);
    if let Some(Err(_)) = memory {
        // The error is not told: it may repeat what is there.
        warn!(workspace = place.workspace, "what is on record cannot be read and is passed over");
    }
    Record {
        memory: memory.and_then(Result::ok).unwrap_or_default(),
        kept: text(FINGERPRINT).filter(|_| value(INPUTS).is_some()),
        provider_lock: text(PROVIDER_LOCK),
        blocks_move: blocks_move(&secret.metadata),
        calls: value(CALLS).map(|packed| calls(packed, place)).unwrap_or_default(),
    }
}

fn calls(packed: &[u8], place: &Place) -> Calls {
    calls::unpack(packed).unwrap_or_else(|| {
        warn!(
            workspace = place.workspace,
            "the calls of an interrupted apply cannot be read and are passed over"
        );
        Calls::default()
    })
}

fn blocks_move(metadata: &ObjectMeta) -> bool {
    metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(annotation::BLOCK_MOVE))
}

/// Packs what goes in; nothing when it is too large to be kept.
async fn packed(run: &Run) -> Result<Option<Packed>, Error> {
    let run = run.clone();
    let packed = aside(move || Packed::new(run)).await?;
    let packed = packed.inspect_err(|error| {
        warn!(error = error as &dyn std::error::Error, "what goes into Terraform cannot be kept");
    });
    Ok(packed.ok().filter(|packed| packed.len() <= LARGEST_INPUTS))
}

/// Writes what is new, to exactly the version that is known. Answers nothing when nothing is new.
async fn write(
    client: &Client,
    place: &Place,
    known: Option<&ObjectMeta>,
    changes: Changes,
    blocks: bool,
) -> Result<Option<ObjectMeta>, Error> {
    let (api, name, doing) = (secrets(client, place), name(place), doing("writing", place));
    let mut wanted = place.metadata(Role::Record, &name);
    wanted.finalizers = Some(vec![finalizer::STATE.to_owned()]);
    if blocks {
        wanted.annotations.get_or_insert_default().insert(annotation::BLOCK_MOVE.to_owned(), String::new());
    }
    let data = changes.into_iter().map(|(key, value)| (key, value.map(ByteString)));
    let Some(known) = known else {
        let data = data.filter_map(|(key, value)| Some((key, value?))).collect();
        let secret = Secret { metadata: wanted, data: Some(data), ..Secret::default() };
        let parameters =
            PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let created = api.create(&parameters, &secret).await.map_err(Error::api(doing))?;
        return Ok(Some(trimmed(created.metadata)));
    };
    let data: BTreeMap<String, Option<ByteString>> = data.collect();
    let metadata = lacking(known, &wanted);
    let unblocks = blocks_move(known) && !blocks;
    if data.is_empty() && metadata.is_none() && !unblocks {
        return Ok(None);
    }
    let mut patch = json!({ "metadata": metadata.unwrap_or_else(|| Value::Object(serde_json::Map::new())), "data": data });
    patch["metadata"]["resourceVersion"] = json!(known.resource_version);
    if unblocks {
        patch["metadata"]["annotations"][annotation::BLOCK_MOVE] = Value::Null;
    }
    let patched = kept::merge(&api, &name, &patch, &doing).await?;
    Ok(Some(trimmed(patched.metadata)))
}
