//! `cargo xtask soak`: long random runs, reproducible by their seed.

mod home;
mod objects;

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};

use crate::repository::root;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// `capt up`, stopped and killed at random moments
    Home(HomeArguments),
}

#[derive(Debug, Args)]
struct HomeArguments {
    /// How often it is stopped or killed
    #[arg(long, default_value_t = 10)]
    rounds: u32,
    /// What chooses the moments; a new one is chosen and printed by default
    #[arg(long)]
    seed: Option<u64>,
    /// The binary to run; built first by default
    #[arg(long, value_name = "FILE")]
    capt: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Subject::Home(arguments) = &arguments.subject;
    let capt = match &arguments.capt {
        Some(path) => fs::canonicalize(path).with_context(|| format!("looking for {}", path.display()))?,
        None => build()?,
    };
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let runtime = tokio::runtime::Runtime::new()?;
    let summary = runtime.block_on(home::soak(&capt, arguments.rounds, seed))?;
    println!("{}", serde_json::to_string_pretty(&summary)?);
    ensure!(summary.is_clean(), "with seed {seed} something was lost or left behind");
    Ok(())
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
