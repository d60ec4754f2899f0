//! The Containerfile, built and tried out with buildah.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use super::{VERSION, program, text};
use crate::repository::root;

/// Builds the image of the files in `context`.
pub(super) fn build(context: &Path, tag: &str, epoch: &str) -> anyhow::Result<()> {
    let mut build = buildah();
    build
        .args(["build", "--quiet", "--no-cache", "--format", "oci", "--timestamp", epoch, "--tag", tag])
        .args(["--build-arg", &format!("VERSION={VERSION}"), "--file"])
        .arg(root().join("Containerfile"))
        .arg(context);
    program::run(&mut build).context("building the image")
}

/// Runs each program of the image once, as its user: an image whose programs do not start is none.
pub(super) fn try_out(tag: &str) -> anyhow::Result<()> {
    let container = program::answer(buildah().args(["from", "--pull-never", tag]))?;
    let result = run_each(container.trim());
    program::run(buildah().args(["rm", container.trim()]))?;
    result
}

fn run_each(container: &str) -> anyhow::Result<()> {
    let commands = [["capt", "version"], ["tofu", "version"], ["git", "--version"], ["tini", "--version"]];
    for command in commands {
        let answer =
            program::answer(buildah().args(["run", "--isolation", "chroot", container, "--"]).args(command));
        let answer = answer.with_context(|| format!("running {} in the image", command[0]))?;
        println!("{}", answer.lines().next().unwrap_or_default());
    }
    let user =
        program::answer(buildah().args(["run", "--isolation", "chroot", container, "--", "id", "--user"]))?;
    ensure!(user.trim() != "0", "the image runs as root");
    Ok(())
}

/// Writes the image into a file, and answers with its digest.
pub(super) fn archive(tag: &str, file: &Path) -> anyhow::Result<String> {
    // What is there from before would be added to.
    if file.exists() {
        fs::remove_file(file).with_context(|| format!("removing {}", file.display()))?;
    }
    let digest = tempfile::NamedTempFile::new().context("making a temporary file")?;
    let mut push = buildah();
    push.args(["push", "--quiet", "--digestfile"])
        .arg(digest.path())
        .args([tag, &format!("oci-archive:{}", text(file)?)]);
    program::run(&mut push).with_context(|| format!("writing {}", file.display()))?;
    let digest = fs::read_to_string(digest.path()).context("reading the digest")?;
    Ok(digest.trim().to_owned())
}

fn buildah() -> Command {
    Command::new("buildah")
}
