//! Programs built with Go, from modules of `parts/` whose every dependency is pinned by checksum.

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::repository::root;

/// How long to wait before asking again, when the module proxy is busy.
pub(super) const PAUSES: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(5), Duration::from_secs(15), Duration::from_secs(30)];

/// Builds a package of a module of `parts/`.
pub(super) fn build(module: &str, package: &str, ldflags: &str, program: &Path) -> anyhow::Result<()> {
    let mut pauses = PAUSES.into_iter();
    loop {
        let output = command(module, package, ldflags, program).output();
        let output = output.context("running go, which conformance needs to build what it compares with")?;
        if output.status.success() {
            return Ok(());
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        match pauses.next().filter(|_| is_busy(&messages)) {
            Some(pause) => sleep(pause),
            None => bail!("go build of parts/{module} ended with {}:\n{messages}", output.status),
        }
    }
}

/// Whether the module proxy only wants to be asked later.
pub(super) fn is_busy(messages: &str) -> bool {
    messages.contains("429") || messages.to_lowercase().contains("too many requests")
}

fn command(module: &str, package: &str, ldflags: &str, program: &Path) -> Command {
    let mut command = Command::new("go");
    command
        .args(["build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o"])
        .arg(program)
        .arg(package)
        .current_dir(root().join("parts").join(module))
        .env("CGO_ENABLED", "0")
        // Of Prometheus without the clouds in which it finds what to scrape: they are most of it.
        .env("GOFLAGS", "-mod=readonly -tags=remove_all_sd")
        .env("GOTOOLCHAIN", "local")
        .env("GOWORK", "off");
    command
}

/// What a module of `parts/` pins.
pub(super) fn pin(module: &str, path: &str) -> anyhow::Result<String> {
    let file = root().join("parts").join(module).join("go.mod");
    let text = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let found = text.lines().find_map(|line| line.trim().strip_prefix(path)?.strip_prefix(' '));
    let version = found.and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    version.with_context(|| format!("{} pins no {path}", file.display()))
}
