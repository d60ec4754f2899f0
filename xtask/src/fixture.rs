//! `cargo xtask fixture`: files that a version leaves for the tests of those that follow it.

use std::env;
use std::process::Command;

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};

use crate::repository::root;

/// Where the fixtures of upgrades lie.
const UPGRADE: &str = "crates/controller/tests/upgrade";
/// The test that has the scene and the means to make it.
const WRITER: &str = "upgrade::this_version_leaves_what_its_fixture_says";

/// Has it write the fixture before it looks at it.
const WRITE: &str = "CAPT_WRITE_FIXTURE";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    fixture: Fixture,
}

#[derive(Debug, Subcommand)]
enum Fixture {
    /// The kinds and the objects that a manager of this version leaves behind: run it when tagging, and commit what it writes
    Upgrade,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match arguments.fixture {
        Fixture::Upgrade => upgrade(),
    }
}

fn upgrade() -> anyhow::Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--package", "capt-controller", "--test", "it", "--"]);
    command.args(["--exact", WRITER, "--nocapture"]).env(WRITE, "1").current_dir(root());
    let status = command.status().context("running cargo")?;
    ensure!(status.success(), "the test that writes the fixture ended with {status}");
    let version = env!("CARGO_PKG_VERSION");
    let objects = root().join(UPGRADE).join(format!("v{version}/objects.json"));
    ensure!(objects.is_file(), "there is no {}: is the test still called {WRITER}?", objects.display());
    println!("wrote {UPGRADE}/v{version}: look at it, and commit it with the tag's version");
    Ok(())
}
