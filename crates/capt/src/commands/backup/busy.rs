//! What is under way: a state that is being written is not kept.

use std::time::Duration;

use anyhow::{Context as _, bail};
use capt_api::Workspace;
use capt_core::tie::apply_of;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};
use tokio::time::{Instant, sleep};

use super::collect::Scope;
use crate::printer::Printer;

/// How often to look again.
const PAUSE: Duration = Duration::from_secs(1);
/// How the names of locks begin.
const LOCK: &str = "lock-tfstate-";

/// Returns when nothing is under way; an error when something is, and is not over within the time that it is given.
pub(super) async fn wait(
    client: &Client,
    scope: &Scope,
    patience: Option<Duration>,
    printer: Printer,
) -> anyhow::Result<()> {
    let deadline = Instant::now() + patience.unwrap_or_default();
    let mut told = false;
    loop {
        let under_way = look(client, scope).await?;
        let Some(first) = under_way.first() else { return Ok(()) };
        if Instant::now() >= deadline {
            let more = under_way.len() - 1;
            let others = if more == 0 { String::new() } else { format!(" (and {more} more)") };
            let advice =
                if patience.is_some() { "see what it waits for" } else { "try again later, or with --wait" };
            bail!("nothing was written: {first}{others}: {advice}");
        }
        if !told {
            printer.message(&format!("{first}; waiting until it ends"));
            told = true;
        }
        sleep(PAUSE).await;
    }
}

/// What is under way, a sentence each.
async fn look(client: &Client, scope: &Scope) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let workspaces = match workspaces.list(&ListParams::default()).await {
        Ok(workspaces) => workspaces.items,
        Err(kube::Error::Api(status)) if status.code == 404 => Vec::new(),
        Err(error) => return Err(error).context("listing Workspaces"),
    };
    for workspace in workspaces {
        let key = apply_of(&workspace.metadata);
        let meant = match scope {
            Scope::All => true,
            Scope::Namespace(namespace) => key.is_some_and(|key| key.namespace == *namespace),
        };
        let engine = workspace.status.as_ref().and_then(|status| status.engine.as_ref());
        if meant && engine.is_some_and(|engine| engine.run.is_some()) {
            found.push(format!("Terraform runs on Workspace `{}`", workspace.name_any()));
        }
    }
    let leases: Api<Lease> = match scope {
        Scope::All => Api::all(client.clone()),
        Scope::Namespace(namespace) => Api::namespaced(client.clone(), namespace),
    };
    for lease in leases.list(&ListParams::default()).await.context("listing the locks on states")? {
        let name = lease.name_any();
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
        if let Some(state) = name.strip_prefix("lock-").filter(|_| name.starts_with(LOCK))
            && holder.is_some_and(|holder| !holder.is_empty())
        {
            let namespace = lease.namespace().unwrap_or_default();
            found.push(format!(
                "the state in Secret `{namespace}/{state}` is locked (`capt doctor` says by whom)"
            ));
        }
    }
    Ok(found)
}
