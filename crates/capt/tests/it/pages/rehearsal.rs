//! Blocks that nobody can run here: `capt` and `kubectl` parse their arguments, a real API server validates the manifests that are
//! applied, and programs that are not at hand are replaced by ones that do nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};

use capt_testkit::kubectl;
use capt_testkit::pages::Block;
use tempfile::TempDir;

use super::reader::{assert_no_overwriting, shown, write_program};
use super::root;
use crate::up::CAPT;

/// Programs that a page may use besides `capt`, `cargo` and `kubectl`.
const OTHERS: [&str; 10] =
    ["apt-get", "buildah", "clusterctl", "cosign", "flux", "helm", "ln", "rustup", "sha256sum", "tee"];

/// Arguments that name files of the checkout name files that exist.
const FILES: &str = "for argument; do case \"$argument\" in charts/*|config/*|examples/*)
test -e \"$argument\" || { echo \"$argument does not exist\" >&2; exit 1; } ;; esac; done
";

/// Writes of the checkout's own files, and of what arguments alone describe, go to the API server, which keeps nothing of them.
/// Files that another program would have written are not there.
const WRITES: &str = "case \" $* \" in
*' -f examples/'*|*' -f config/'*|' create secret '*)
  case $1 in
  apply|create) exec \"$kubectl\" \"$@\" --dry-run=server ;;
  delete) exec \"$kubectl\" \"$@\" --dry-run=server --ignore-not-found ;;
  esac ;;
esac
";

pub(super) struct Rehearsal {
    directory: TempDir,
}

impl Rehearsal {
    /// With the API server of a kubeconfig.
    pub(super) fn open(kubeconfig: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["checkout", ".aws", ".kube"] {
            fs::create_dir(path(name)).unwrap();
        }
        fs::write(path(".aws/credentials"), "[default]\n").unwrap();
        fs::write(path(".kube/config"), kubeconfig).unwrap();
        for name in ["charts", "config", "examples"] {
            symlink(root().join(name), path("checkout").join(name)).unwrap();
        }
        let xtask = root().join("xtask/src");
        let cargo = format!("test \"$1\" = xtask && test -f '{}'/\"$2\".rs\n", xtask.display());
        let capt = format!("{FILES}exec '{CAPT}' \"$@\" --help >/dev/null\n");
        let kubectl = kubectl::obtain().unwrap();
        let kubectl = format!(
            "kubectl='{}'\n{FILES}{WRITES}exec \"$kubectl\" \"$@\" --help >/dev/null\n",
            kubectl.display()
        );
        let others = OTHERS.map(|name| (name, String::new()));
        for (name, text) in [("capt", capt), ("kubectl", kubectl), ("cargo", cargo)].into_iter().chain(others)
        {
            write_program(&path("bin").join(name), &text);
        }
        Self { directory }
    }

    pub(super) fn output(&self, text: &str) -> Output {
        let mut command = Command::new("/bin/bash");
        command
            .args(["-euo", "pipefail", "-c", text])
            .current_dir(self.directory.path().join("checkout"))
            .stdin(Stdio::null());
        command.env_clear().env("HOME", self.directory.path());
        command.env("PATH", self.directory.path().join("bin"));
        command.output().unwrap()
    }

    pub(super) fn run(&self, block: &Block) {
        let output = self.output(&block.text);
        assert!(output.status.success(), "{}:{}: {}\n{}", block.page, block.line, shown(&output), block.text);
        assert_no_overwriting(&block.page, &self.directory.path().join("checkout"));
    }
}
