//! The two binaries of the image.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use capt_local::{Catalog, Environment, Finder, Progress};

use super::program;
use crate::repository::root;

/// The binary that was named, or one that is built without libraries, so that it runs on any Linux.
pub(super) fn capt(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let target = format!("{}-unknown-linux-musl", env::consts::ARCH);
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .args(["build", "--locked", "--release", "--package", "capt", "--target", &target])
        .current_dir(root())
        .env("RUSTFLAGS", remapped()?)
        .env("CARGO_TARGET_DIR", root().join("target"));
    program::run(&mut build)
        .with_context(|| format!("building capt; `rustup target add {target}` brings it what it needs"))?;
    Ok(root().join("target").join(target).join("release/capt"))
}

/// No path of this machine gets into the binary: it is the same wherever it is built.
fn remapped() -> anyhow::Result<String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    Ok(format!(
        "--remap-path-prefix={}=/capt --remap-path-prefix={}=/cargo",
        super::text(&root())?,
        super::text(&home)?
    ))
}

/// OpenTofu of the pinned version. Another one that this machine may have is not asked for.
pub(super) fn tofu() -> anyhow::Result<PathBuf> {
    let environment = Environment { directories: Vec::new(), path: None, ..Environment::of_process() };
    let finder = Finder::new(Catalog::embedded()?, environment);
    finder.find("tofu", &Progress::stderr()).context("looking for OpenTofu")
}
