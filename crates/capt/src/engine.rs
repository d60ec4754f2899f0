//! CAPT's own Terraform engine, as the command line asks for it.

pub(crate) mod binary;
mod directory;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use capt_controller::options::{EngineMode, Server, TerraformOptions};
use capt_terraform::{ProcessEngine, Settings};

use crate::cli::{EngineArguments, EngineChoice};

pub(crate) use directory::{default as default_directory, in_a_pod};

/// What the engine needs beside its flags and a binary.
pub(crate) struct Surroundings {
    /// Where working directories, providers and artifacts are kept.
    pub(crate) directory: PathBuf,
    /// Where providers are kept instead.
    pub(crate) plugin_cache: Option<PathBuf>,
    /// How Terraform reaches the API server.
    pub(crate) server: Server,
    /// CAPT's own namespace.
    pub(crate) home_namespace: String,
}

/// Starts the engine: the directory can be written and the binary is what it should be.
pub(crate) async fn start(
    arguments: &EngineArguments,
    binary: PathBuf,
    surroundings: Surroundings,
) -> anyhow::Result<TerraformOptions> {
    let Surroundings { directory, plugin_cache, server, home_namespace } = surroundings;
    // Commands work elsewhere, where a relative path would lead astray.
    let absolute =
        |path: PathBuf| std::path::absolute(&path).with_context(|| format!("finding {}", path.display()));
    let directory = absolute(directory)?;
    let plugin_cache = absolute(plugin_cache.unwrap_or_else(|| directory.join("plugins")))?;
    let mut settings = Settings::new(directory.join("workspaces"), binary);
    settings.plugin_cache = Some(plugin_cache);
    let engine = ProcessEngine::start(settings).await.context("starting the Terraform engine")?;
    let artifacts = directory.join("artifacts");
    let options = TerraformOptions::new(Arc::new(engine), artifacts, server, home_namespace, host());
    Ok(TerraformOptions {
        mode: match arguments.choice {
            EngineChoice::Process => EngineMode::Always,
            EngineChoice::Auto | EngineChoice::Crossplane => EngineMode::Auto,
        },
        most_plans: arguments.max_plans,
        most_applies: arguments.max_applies,
        drift_interval: arguments.drift_interval,
        grace: arguments.shutdown_grace,
        ..options
    })
}

/// What this machine calls itself: the pod's name in a cluster.
pub(crate) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
