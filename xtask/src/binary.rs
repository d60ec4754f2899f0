//! The `capt` that a chore runs.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, ensure};
use clap::Args;

use crate::repository::root;

#[derive(Debug, Args)]
pub(crate) struct Binary {
    /// The binary to run; built first by default
    #[arg(long, value_name = "FILE")]
    capt: Option<PathBuf>,
}

impl Binary {
    pub(crate) fn resolve(&self) -> anyhow::Result<PathBuf> {
        match &self.capt {
            Some(path) => fs::canonicalize(path).with_context(|| format!("looking for {}", path.display())),
            None => build(),
        }
    }
}

/// Builds the binary beside this one.
fn build() -> anyhow::Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    let status = command.args(["build", "--quiet", "--package", "capt"]).current_dir(root()).status();
    let status = status.context("running cargo")?;
    ensure!(status.success(), "cargo build ended with {status}");
    let here = env::current_exe().context("finding the path of this program")?;
    let capt = here.with_file_name("capt");
    ensure!(capt.exists(), "cargo build made no {}", capt.display());
    Ok(capt)
}
