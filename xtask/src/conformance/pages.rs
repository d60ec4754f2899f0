//! Command blocks of the pages, run as they are written by the sections that have the programs they need.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use capt_testkit::kubectl;
use capt_testkit::pages::{Block, all_blocks, fenced_blocks};
use tempfile::TempDir;

use super::answer::{Answer, finish};
use super::clusterctl::NOWHERE;
use crate::repository::root;

const WITHIN: Duration = Duration::from_secs(300);

const BESIDE: &str = "docs/src/guides/beside.md";
const INSTALLATION: &str = "docs/src/guides/installation.md";
const MIGRATION: &str = "docs/src/guides/migration.md";
const MOVING: &str = "docs/src/guides/moving.md";

/// A block of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    page: &'static str,
    /// Its text begins with this.
    begins: &'static str,
}

pub(super) const INSTALL_CHARTS: Written =
    Written { page: INSTALLATION, begins: "helm upgrade --install capt-crds" };
pub(super) const MAKE_REPOSITORY: Written = Written { page: INSTALLATION, begins: "cargo xtask dist --out" };
pub(super) const INIT: Written = Written { page: INSTALLATION, begins: "clusterctl init" };
pub(super) const MOVE: Written = Written { page: MOVING, begins: "clusterctl move --namespace team-a" };
pub(super) const MOVE_HOME: Written = Written { page: MOVING, begins: "clusterctl move --namespace default" };
pub(super) const FROM_CROSSPLANE: Written =
    Written { page: MIGRATION, begins: "capt migrate from-crossplane --all --dry-run" };
pub(super) const THERE_AND_BACK: Written =
    Written { page: BESIDE, begins: "capt migrate from-crossplane --all --dry-run" };
pub(super) const ALL_FROM_CROSSPLANE: Written =
    Written { page: MOVING, begins: "capt migrate from-crossplane --all --yes" };

/// Whoever reads the pages: a home, a copy of the checkout, and programs.
pub(super) struct Reader {
    directory: TempDir,
}

impl Reader {
    /// With `capt`, `kubectl`, the chores of this checkout, and these programs.
    pub(super) fn new(capt: &Path, programs: &[(&str, &Path)]) -> anyhow::Result<Self> {
        let reader = Self { directory: tempfile::Builder::new().prefix("capt-pages-").tempdir()? };
        for name in ["bin", "checkout", "home/.kube"] {
            fs::create_dir_all(reader.directory.path().join(name))?;
        }
        for name in ["charts", "config", "examples"] {
            symlink(root().join(name), reader.checkout().join(name))?;
        }
        let kubectl = kubectl::obtain()?;
        for (name, program) in [("capt", capt), ("kubectl", kubectl.as_path())].iter().chain(programs) {
            reader.add_program(name, &format!("exec '{}' \"$@\"", program.display()))?;
        }
        let chores = std::env::current_exe().context("finding the path of this program")?;
        let chores = format!("test \"$1\" = xtask && shift && exec '{}' \"$@\"", chores.display());
        reader.add_program("cargo", &chores)?;
        Ok(reader)
    }

    fn add_program(&self, name: &str, script: &str) -> anyhow::Result<()> {
        let path = self.directory.path().join("bin").join(name);
        // Programs that look for news on the internet fail at once instead of waiting; local addresses need no proxy.
        let quiet = format!(
            "case $0 in */clusterctl) export CLUSTERCTL_DISABLE_VERSIONCHECK=true GOPROXY=off HTTP_PROXY={NOWHERE} HTTPS_PROXY={NOWHERE} ;; esac"
        );
        fs::write(&path, format!("#!/bin/sh\n{quiet}\n{script}\n"))?;
        Ok(fs::set_permissions(&path, Permissions::from_mode(0o755))?)
    }

    /// Where the blocks are run.
    pub(super) fn checkout(&self) -> PathBuf {
        self.directory.path().join("checkout")
    }

    /// Writes a file below the home directory.
    pub(super) fn put_in_home(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let path = self.directory.path().join("home").join(path);
        fs::create_dir_all(path.parent().context("a file without a directory")?)?;
        Ok(fs::write(path, text)?)
    }

    /// From now on every program finds this cluster.
    pub(super) fn use_cluster(&self, kubeconfig: &Path) -> anyhow::Result<()> {
        self.put_in_home(".kube/config", &fs::read_to_string(kubeconfig)?)
    }

    /// Runs a block as it is written; it must succeed. `stands_for` has the placeholders of the page, and what the reader writes
    /// for them.
    pub(super) async fn run(&self, written: Written, stands_for: &[(&str, &str)]) -> anyhow::Result<Answer> {
        let block = block_of(written)?;
        let mut text = block.text;
        for (placeholder, value) in stands_for {
            ensure!(text.contains(placeholder), "{}:{} has no {placeholder}", block.page, block.line);
            text = text.replace(placeholder, value);
        }
        let bin = self.directory.path().join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)))?;
        let mut command = Command::new("/bin/bash");
        command
            .args(["-euo", "pipefail", "-c", &text])
            .current_dir(self.checkout())
            .env_clear()
            .env("HOME", self.directory.path().join("home"))
            .env("PATH", path)
            .stdin(Stdio::null());
        let question = format!("{}:{}", block.page, block.line);
        let finishing = tokio::task::spawn_blocking(move || finish(command, question, WITHIN)).await??;
        let answer = finishing.with_context(|| format!("{}:{} has not ended", block.page, block.line))?;
        ensure!(answer.succeeded, "{} failed:\n{}{}\n{text}", answer.question, answer.data, answer.messages);
        println!("ok: {} runs as it is written", answer.question);
        Ok(answer)
    }
}

fn block_of(written: Written) -> anyhow::Result<Block> {
    let mut found = all_blocks(&root())?;
    found.retain(|block| block.page == written.page && block.text.starts_with(written.begins));
    ensure!(
        found.len() == 1,
        "{} has {} blocks that begin with `{}`",
        written.page,
        found.len(),
        written.begins
    );
    found.pop().context("no block")
}

/// The configuration of clusterctl that the guide to the installation shows.
pub(super) fn clusterctl_configuration() -> anyhow::Result<String> {
    let page = fs::read_to_string(root().join(INSTALLATION))?;
    let mut found = fenced_blocks(&page);
    found.retain(|block| block.info == "yaml" && block.text.contains("\nproviders:\n"));
    ensure!(found.len() == 1, "{INSTALLATION} shows {} configurations of clusterctl", found.len());
    Ok(found.pop().context("no configuration")?.text)
}

#[cfg(test)]
mod tests {
    use capt_testkit::pages::Runner;

    use super::*;

    const ALL: [Written; 8] = [
        INSTALL_CHARTS,
        MAKE_REPOSITORY,
        INIT,
        MOVE,
        MOVE_HOME,
        FROM_CROSSPLANE,
        THERE_AND_BACK,
        ALL_FROM_CROSSPLANE,
    ];

    #[test]
    fn every_block_that_waits_for_this_is_run_by_one_section() {
        let mut expected: Vec<(String, usize)> = all_blocks(&root())
            .unwrap()
            .into_iter()
            .filter(|block| block.need.is_some_and(|need| need.runner() == Runner::Conformance))
            .map(|block| (block.page, block.line))
            .collect();
        let mut found: Vec<(String, usize)> =
            ALL.map(|written| block_of(written).unwrap()).map(|block| (block.page, block.line)).to_vec();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_page_shows_a_configuration_of_clusterctl() {
        assert!(clusterctl_configuration().unwrap().contains("/WHERE/repository"));
    }
}
