//! Puts the objects back: made, tied to their owners, awake. In this order, and each as a whole before the next.

use std::collections::HashMap;

use anyhow::{Context as _, anyhow, bail};
use capt_core::archive::{Backup, Key, Verdict, judge, owners, release, retied, to_create};
use kube::Client;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use serde_json::Value;

use super::FIELD_MANAGER;
use crate::archive::live;
use crate::printer::Printer;

/// Controllers write to the same objects all the time.
const ATTEMPTS: usize = 20;

/// Does all of it; what was done before is not done again. Answers with how much was written.
pub(super) async fn all(
    client: &Client,
    backup: &Backup,
    verdicts: &[Verdict],
    printer: Printer,
) -> anyhow::Result<usize> {
    let ours = |verdict: &Verdict| matches!(verdict, Verdict::Create | Verdict::Restored);
    let objects: Vec<&(Key, Value)> = backup
        .objects
        .iter()
        .zip(verdicts)
        .filter(|(_, verdict)| ours(verdict))
        .map(|(object, _)| object)
        .collect();
    let mut written = 0;
    for ((key, object), verdict) in backup.objects.iter().zip(verdicts) {
        if *verdict == Verdict::Create {
            create(client, key, object, &backup.header.id).await?;
            written += 1;
        }
    }
    let mut uids = Uids::default();
    for object in &objects {
        written += usize::from(tie(client, backup, object, &mut uids, printer).await?);
    }
    for (key, _) in &objects {
        written += usize::from(change(client, key, "waking", release).await?);
    }
    Ok(written)
}

async fn create(client: &Client, key: &Key, object: &Value, backup: &str) -> anyhow::Result<()> {
    let Some(kind) = key.kind() else { return Ok(()) };
    let wanted = to_create(object, backup);
    let parsed: DynamicObject =
        serde_json::from_value(wanted).map_err(|_| anyhow!("{key} of the backup cannot be read"))?;
    let parameters = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    match live::api(client, kind, key.namespace.as_deref()).create(&parameters, &parsed).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let found = live::get(client, key).await?;
            match judge(object, found.as_ref(), backup) {
                Verdict::Restored | Verdict::Same => Ok(()),
                Verdict::Create | Verdict::Differs(_) | Verdict::Leaving => {
                    bail!("somebody else has just made {key}: look at it, delete it, and run this again")
                }
            }
        }
        // What the API server says of a Secret may quote it.
        Err(error) if kind.name == "Secret" => bail!("making {key}: {}", live::refusal(&error)),
        Err(error) => Err(error).with_context(|| format!("making {key}")),
    }
}

/// The uids that owners have now.
#[derive(Default)]
struct Uids(HashMap<Key, Option<String>>);

impl Uids {
    async fn of(&mut self, client: &Client, key: Key) -> anyhow::Result<Option<String>> {
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        let found = live::get(client, &key).await?;
        let uid = found.and_then(|object| object["metadata"]["uid"].as_str().map(ToOwned::to_owned));
        self.0.insert(key, uid.clone());
        Ok(uid)
    }
}

/// Gives an object back to its owners; tells whether anything was written.
async fn tie(
    client: &Client,
    backup: &Backup,
    (key, object): &(Key, Value),
    uids: &mut Uids,
    printer: Printer,
) -> anyhow::Result<bool> {
    let mut wanted = Vec::new();
    for owner in owners(object) {
        let of = owner.key(key.namespace.as_deref());
        // One that is derived is not there yet; whoever derives it takes back what is its own.
        if of
            .as_ref()
            .is_some_and(|of| of.kind == "Workspace" && !backup.objects.iter().any(|(key, _)| key == of))
        {
            continue;
        }
        let uid = match of {
            Some(of) => uids.of(client, of).await?,
            None => None,
        };
        if uid.is_none() {
            printer
                .warning(&format!("{key} was owned by {} `{}`, which is not there", owner.kind, owner.name));
        }
        wanted.push((owner, uid));
    }
    if wanted.is_empty() {
        return Ok(false);
    }
    change(client, key, "tying", |live| retied(live, &wanted)).await
}

/// Merges into exactly what was read what `patch` makes of it, if anything; tells whether anything was written.
async fn change(
    client: &Client,
    key: &Key,
    verb: &str,
    patch: impl Fn(&Value) -> Option<Value>,
) -> anyhow::Result<bool> {
    let Some(kind) = key.kind() else { return Ok(false) };
    let api = live::api(client, kind, key.namespace.as_deref());
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    for _ in 0..ATTEMPTS {
        let Some(found) = live::get(client, key).await? else { return Ok(false) };
        let Some(patch) = patch(&found) else { return Ok(false) };
        match api.patch_metadata(&key.name, &parameters, &Patch::Merge(&patch)).await {
            Ok(_) => return Ok(true),
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => return Err(error).with_context(|| format!("{verb} {key}")),
        }
    }
    bail!("{verb} {key}: somebody else changes it all the time")
}
