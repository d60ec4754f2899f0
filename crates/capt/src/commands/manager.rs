//! `capt manager`: the controllers, for a cluster that is there already.

mod pod;
mod workspaces;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs};

use anyhow::Context;
use capt_api::names::MANAGER_LEASE;
use capt_controller::manager;
use capt_controller::options::{LeaderElection, Notifications, Options, TerraformOptions};
use capt_local::Progress;

use super::HOME_NAMESPACE;
use crate::cli::{EngineChoice, ManagerArguments};
use crate::connection::{self, Connection};
use crate::engine::{self, Surroundings, binary};
use crate::log_lines::LogLines;
use crate::notifications;
use crate::signals::Stop;

const LEASE_DURATION: Duration = Duration::from_secs(15);
const NAMESPACE_OF_THE_POD: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

pub(crate) async fn run(arguments: ManagerArguments) -> anyhow::Result<()> {
    let stop = Stop::on_signals().context("listening for signals")?;
    let notifications = notifications::read(&arguments.webhook)?;
    let connection = connection::find(arguments.kubeconfig.as_deref()).await?;
    let prepared = stop.requested.run_until_cancelled(prepare(&arguments, &connection)).await;
    let Some(terraform) = prepared.transpose()? else { return Ok(()) };
    tracing::info!(server = connection.server.address, "connected to the API server");
    let options = options(arguments, terraform, notifications);
    let work = manager::run(connection.client, options, stop.requested.clone());
    tokio::select! {
        result = work => result?,
        () = stop.hurried.cancelled() => tracing::warn!("told to stop at once; work may be unfinished"),
    }
    Ok(())
}

/// Returns when the API server answers, with what runs Terraform, if that is for us to do.
async fn prepare(
    arguments: &ManagerArguments,
    connection: &Connection,
) -> anyhow::Result<Option<TerraformOptions>> {
    let mut terraform = match arguments.engine.choice {
        EngineChoice::Crossplane => None,
        EngineChoice::Auto | EngineChoice::Process => start_engine(arguments, connection).await?,
    };
    connection::until_it_answers(connection).await;
    if let Some(terraform) = terraform.as_mut().filter(|_| engine::in_a_pod()) {
        let TerraformOptions { home_namespace, host, runner, .. } = terraform;
        runner.pod = pod::find(&connection.client, home_namespace, host).await;
    }
    Ok(terraform)
}

async fn start_engine(
    arguments: &ManagerArguments,
    connection: &Connection,
) -> anyhow::Result<Option<TerraformOptions>> {
    let Some(binary) = find_binary(arguments, connection).await? else { return Ok(None) };
    if !connection.verified {
        tracing::warn!(
            "the kubeconfig does without the certificate of the API server, but Terraform does not: it cannot keep its \
             states there until the kubeconfig names the certificate authority"
        );
    }
    engine::start(&arguments.engine, binary, surroundings(arguments, connection)?).await.map(Some)
}

/// The binary that runs Workspaces; `None` where somebody else runs them and there is no binary anyway.
async fn find_binary(
    arguments: &ManagerArguments,
    connection: &Connection,
) -> anyhow::Result<Option<PathBuf>> {
    // Looked for before anything is waited for: what is wrong with a flag is told at once.
    if let Some(binary) = binary::at_hand(&arguments.engine)? {
        return Ok(Some(binary));
    }
    if arguments.engine.choice == EngineChoice::Auto
        && let Some(owner) = workspaces::owner(connection).await?
    {
        tracing::info!(%owner, "Workspaces are left to the owner of their kind");
        return Ok(None);
    }
    let progress = Progress::lines(LogLines::default());
    binary::obtain_outside_pods(&arguments.engine, progress).await.map(Some)
}

fn surroundings(arguments: &ManagerArguments, connection: &Connection) -> anyhow::Result<Surroundings> {
    let named: Option<PathBuf> = arguments.place.terraform_directory.clone();
    let server = connection.server.clone();
    Ok(Surroundings {
        directory: named.map_or_else(|| engine::default_directory(&server.address), Ok)?,
        plugin_cache: arguments.place.plugin_cache.clone(),
        server,
        home_namespace: own_namespace(),
    })
}

fn options(
    arguments: ManagerArguments,
    terraform: Option<TerraformOptions>,
    notifications: Option<Notifications>,
) -> Options {
    let leader_election = arguments.leader_elect.then(|| LeaderElection {
        namespace: arguments.leader_election_namespace.unwrap_or_else(own_namespace),
        name: MANAGER_LEASE.to_owned(),
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
        cluster_api: arguments.cluster_api.mode(),
        terraform,
        notifications,
        ..Options::default()
    }
}

fn own_namespace() -> String {
    let named = |name: String| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    fs::read_to_string(NAMESPACE_OF_THE_POD)
        .ok()
        .and_then(named)
        .or_else(|| env::var("POD_NAMESPACE").ok().and_then(named))
        .unwrap_or_else(|| HOME_NAMESPACE.to_owned())
}

/// A name that no other manager has: a process that was started again must not be taken for the one before.
fn identity() -> String {
    format!("{}_{:016x}", engine::host(), RandomState::new().build_hasher().finish())
}
