//! `capt manager`: the controllers, for a cluster that is there already.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;
use std::{env, fs};

use anyhow::Context;
use capt_controller::manager;
use capt_controller::options::{LeaderElection, Options};

use crate::cli::ManagerArguments;
use crate::connection;
use crate::signals::Stop;

const LEASE: &str = "capt-manager";
const LEASE_DURATION: Duration = Duration::from_secs(15);
const NAMESPACE_OF_THE_POD: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
const DEFAULT_NAMESPACE: &str = "capt-system";

pub(crate) async fn run(arguments: ManagerArguments) -> anyhow::Result<()> {
    let stop = Stop::on_signals().context("listening for signals")?;
    let connection = connection::find(arguments.kubeconfig.as_deref()).await?;
    let answered = stop.requested.run_until_cancelled(connection::until_it_answers(&connection)).await;
    if answered.is_none() {
        return Ok(());
    }
    tracing::info!(server = connection.server, "connected to the API server");
    let work = manager::run(connection.client, options(arguments), stop.requested.clone());
    tokio::select! {
        result = work => result?,
        () = stop.hurried.cancelled() => tracing::warn!("told to stop at once; work may be unfinished"),
    }
    Ok(())
}

fn options(arguments: ManagerArguments) -> Options {
    let leader_election = arguments.leader_elect.then(|| LeaderElection {
        namespace: arguments.leader_election_namespace.unwrap_or_else(own_namespace),
        name: LEASE.to_owned(),
        identity: identity(),
        lease_duration: LEASE_DURATION,
    });
    Options {
        namespace: arguments.namespace,
        watch_filter: arguments.watch_filter,
        concurrency: arguments.concurrency,
        leader_election,
        diagnostics_address: arguments.diagnostics_address.0,
        allow_cross_namespace_references: arguments.allow_cross_namespace_references,
    }
}

fn own_namespace() -> String {
    let named = |name: String| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    fs::read_to_string(NAMESPACE_OF_THE_POD)
        .ok()
        .and_then(named)
        .or_else(|| env::var("POD_NAMESPACE").ok().and_then(named))
        .unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())
}

/// A name that no other manager has: a process that was started again must not be taken for the one before.
fn identity() -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    format!("{host}_{:016x}", RandomState::new().build_hasher().finish())
}
