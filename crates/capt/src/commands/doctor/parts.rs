//! The executables on this machine.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use capt_core::doctor::{Finding, PartFacts};
use capt_local::{Catalog, Environment, Finder};

/// How long an executable may take to say which version it is.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);
/// More is no answer.
const LONGEST: usize = 4096;

/// Looks for each part, and for OpenTofu or Terraform. Nothing is fetched.
pub(super) fn look() -> Vec<Finding> {
    let environment = Environment::of_process();
    let finder = Catalog::embedded().ok().map(|catalog| Finder::new(catalog, environment.clone()));
    let parts = ["etcd", "kube-apiserver", "kube-controller-manager"].map(|name| {
        let path = finder.as_ref().and_then(|finder| finder.at_hand(name));
        facts(name, path.as_deref(), "--version")
    });
    let terraform = capt_terraform::find(None, environment.path.as_deref()).ok();
    let terraform = terraform.or_else(|| finder.as_ref()?.at_hand("tofu"));
    let engine = match terraform {
        Some(path) => {
            let is_tofu = path.file_name().is_some_and(|name| name == "tofu");
            facts(if is_tofu { "OpenTofu" } else { "Terraform" }, Some(&path), "version").judge()
        }
        None => Finding::warning(
            "parts",
            "neither OpenTofu nor Terraform is on this machine",
            "`capt up` and `capt manager` get OpenTofu; or name one with --terraform-binary FILE",
        ),
    };
    parts.iter().map(PartFacts::judge).chain([engine]).collect()
}

fn facts(name: &str, path: Option<&Path>, argument: &str) -> PartFacts {
    PartFacts {
        name: name.to_owned(),
        path: path.map(|path| path.display().to_string()),
        version: path.and_then(|path| version(path, argument)),
    }
}

/// What an executable says of its version, if it says so soon.
fn version(path: &Path, argument: &str) -> Option<String> {
    let mut command = Command::new(path);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Terraform would ask its maker whether there is a newer one.
    command.env("CHECKPOINT_DISABLE", "1");
    let mut child = command.spawn().ok()?;
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(PAUSE);
    }
    let said = child.wait_with_output().ok()?.stdout;
    let said = String::from_utf8_lossy(said.get(..LONGEST).unwrap_or(&said)).into_owned();
    found(&said)
}

/// The first word that is a version.
fn found(text: &str) -> Option<String> {
    let plain = |word: &str| word.trim_start_matches('v').trim_end_matches(',').to_owned();
    let is_version = |word: &String| {
        word.starts_with(|first: char| first.is_ascii_digit()) && word.split('.').count() >= 2
    };
    text.split_whitespace().map(plain).find(is_version)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::found;

    #[rstest]
    #[case::kubernetes("Kubernetes v1.34.4\n", Some("1.34.4"))]
    #[case::etcd("etcd Version: 3.6.5\nGit SHA: a061450\nGo Version: go1.24\n", Some("3.6.5"))]
    #[case::tofu("OpenTofu v1.10.6\non linux_amd64\n", Some("1.10.6"))]
    #[case::nothing("usage: etcd [flags]\n", None)]
    fn a_version_is_found_in_what_programs_say(#[case] said: &str, #[case] expected: Option<&str>) {
        assert_eq!(found(said).as_deref(), expected);
    }
}
