//! Removes working directories of Workspaces that are gone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use capt_terraform::Identity;
use kube::ResourceExt;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{info, warn};

use super::Terraform;
use super::flux::prune;
use crate::context::Context;
use crate::store::Presence;

/// After this an archive of Flux is not needed any more.
const UNUSED: Duration = Duration::from_secs(7 * 24 * 3600);
/// How often it is looked.
const PERIOD: Duration = Duration::from_secs(3600);

/// Removes working directories that belong to no Workspace, now and then.
pub(crate) async fn collect_garbage(context: Arc<Context>, terraform: Arc<Terraform>) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // Only a complete listing shows what is gone.
        let mut presence = context.workspaces.presence();
        if presence.wait_for(|presence| *presence == Presence::Listed).await.is_err() {
            return;
        }
        let all = context.workspaces.store().state();
        let known: BTreeSet<Identity> =
            all.iter().filter_map(|workspace| Identity::try_from(workspace.uid()?).ok()).collect();
        match terraform.options.engine.collect(&known).await {
            Ok(removed) if removed.is_empty() => {}
            Ok(removed) => {
                info!(count = removed.len(), "removed working directories of Workspaces that are gone");
            }
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "working directories could not be tidied up");
            }
        }
        let artifacts = terraform.options.artifacts.clone();
        // It ends by itself, whoever waits for it.
        drop(tokio::task::spawn_blocking(move || tidy(&artifacts)));
    }
}

/// Removes archives of Flux that nobody has used for long; whoever needs one again gets it again.
fn tidy(artifacts: &Path) {
    let used = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?.elapsed().ok();
    let entries = fs::read_dir(artifacts).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let keep: BTreeSet<PathBuf> = entries.filter(|path| used(path).is_none_or(|age| age < UNUSED)).collect();
    if let Err(error) = prune(artifacts, &keep) {
        warn!(error = &error as &dyn std::error::Error, "archives of Flux could not be tidied up");
    }
}
