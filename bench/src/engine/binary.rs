//! OpenTofu or Terraform to measure with.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context;
use capt_local::{Catalog, Environment, Finder, Progress};

/// The binary that is named, one in `PATH`, or OpenTofu, got like the other parts.
pub(super) async fn find(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let found = match capt_terraform::find(named, env::var_os("PATH").as_deref()) {
        Ok(found) => found,
        Err(_) => tokio::task::spawn_blocking(obtain).await??,
    };
    // Commands work elsewhere, where a relative path would lead astray.
    std::path::absolute(&found).with_context(|| format!("finding {}", found.display()))
}

fn obtain() -> anyhow::Result<PathBuf> {
    let finder = Finder::new(Catalog::embedded()?, Environment::of_process());
    Ok(finder.find("tofu", &Progress::stderr())?)
}
