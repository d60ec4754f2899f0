//! Looks whether a backup can be put back, before anything is done.

use std::collections::BTreeSet;

use anyhow::bail;
use capt_core::archive::{Backup, Kind, Verdict, judge as judge_one};
use kube::Client;
use kube::api::ListParams;

use crate::archive::live;

/// So many are named one by one.
const SHOWN: usize = 10;

/// Fails where a kind of the backup is not served.
pub(super) async fn kinds(client: &Client, backup: &Backup) -> anyhow::Result<()> {
    let mut missing = Vec::new();
    let mut seen = BTreeSet::new();
    for kind in backup.objects.iter().filter_map(|(key, _)| key.kind()) {
        if seen.insert(kind.name) && !is_served(client, kind).await? {
            missing.push(kind);
        }
    }
    let Some(first) = missing.first() else { return Ok(()) };
    let names: Vec<&str> = missing.iter().map(|kind| kind.name).collect();
    bail!("nothing was changed: the cluster does not serve {}; {}", names.join(", "), first.installed.fix())
}

async fn is_served(client: &Client, kind: &Kind) -> anyhow::Result<bool> {
    match live::api(client, kind, None).list_metadata(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(anyhow::Error::new(error).context(format!("listing {}", kind.plural))),
    }
}

/// What is to be done with each object.
pub(super) async fn judge(client: &Client, backup: &Backup) -> anyhow::Result<Vec<Verdict>> {
    let mut verdicts = Vec::with_capacity(backup.objects.len());
    for (key, object) in &backup.objects {
        let live = live::get(client, key).await?;
        verdicts.push(judge_one(object, live.as_ref(), &backup.header.id));
    }
    Ok(verdicts)
}

/// What is in the way, a sentence each.
pub(super) fn in_the_way(backup: &Backup, verdicts: &[Verdict]) -> Vec<String> {
    let mut found: Vec<String> = backup
        .objects
        .iter()
        .zip(verdicts)
        .filter_map(|((key, _), verdict)| match verdict {
            Verdict::Create | Verdict::Restored | Verdict::Same => None,
            Verdict::Leaving => Some(format!("{key} is being deleted: wait until it is gone")),
            Verdict::Differs(fields) => Some(format!(
                "{key} is there already and differs ({}): delete it, or keep it and restore elsewhere",
                fields.join(", ")
            )),
        })
        .collect();
    if found.len() > SHOWN {
        let more = found.len() - SHOWN;
        found.truncate(SHOWN);
        found.push(format!("and {more} more"));
    }
    found
}
