//! Removes working directories of Workspaces that are gone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use capt_terraform::Identity;
use kube::ResourceExt;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{info, warn};

use super::Terraform;
use crate::context::Context;
use crate::store::Presence;

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
            Ok(removed) => info!(count = removed.len(), "removed working directories of Workspaces that are gone"),
            Err(error) => {
                warn!(error = &error as &dyn std::error::Error, "working directories could not be tidied up");
            }
        }
    }
}
