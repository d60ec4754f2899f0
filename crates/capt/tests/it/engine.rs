//! Which Terraform runs, and what is said when there is none. Nothing here needs an API server.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use capt_testkit::home::{signal, wait};
use rstest::rstest;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::manager::{NOBODY_THERE, file};
use crate::{capt, told};

const TERRAFORM: &str = "echo 'Terraform v1.11.4'";

/// A machine with nothing but what the test puts there, and a cluster that does not answer.
struct Machine {
    root: TempDir,
    _cluster: TempDir,
    kubeconfig: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let (cluster, kubeconfig) = file(NOBODY_THERE);
        Self { root: tempfile::tempdir().unwrap(), _cluster: cluster, kubeconfig }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn variables(&self) -> [(&'static str, PathBuf); 4] {
        [
            ("PATH", self.at("path")),
            ("HOME", self.at("home")),
            ("XDG_CACHE_HOME", self.at("cache")),
            ("XDG_STATE_HOME", self.at("state")),
        ]
    }

    fn manager(&self) -> assert_cmd::Command {
        let mut command = capt();
        command.args(["manager", "--kubeconfig"]).arg(&self.kubeconfig).envs(self.variables());
        command.env_remove("CAPT_ASSETS").env_remove("KUBEBUILDER_ASSETS");
        command
    }

    /// The first line of the log of a manager with these arguments, which then is told to stop.
    fn first_line(&self, arguments: &[&str]) -> Value {
        let mut manager = Command::new(env!("CARGO_BIN_EXE_capt"));
        manager
            .args(["--log-format", "json", "manager", "--kubeconfig"])
            .arg(&self.kubeconfig)
            .args(arguments);
        manager
            .envs(self.variables())
            .env_remove("KUBERNETES_SERVICE_HOST")
            .env("CAPT_ASSETS", self.at("assets"));
        let mut manager = manager.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(manager.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        signal(&manager, Signal::TERM).unwrap();
        assert_eq!(wait(&mut manager, Duration::from_secs(5)).unwrap().code(), Some(0));
        serde_json::from_str(&line).unwrap()
    }
}

/// Another process writes it: a file that is open for writing cannot be run, and the children that other tests start hold
/// copies of our open files for a moment.
fn program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let status = Command::new("/bin/sh").args(["-c", write, "sh", script]).arg(path).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_binary_that_is_not_there_is_named() {
    let machine = Machine::new();
    let missing = machine.at("missing");

    let by_manager = told(machine.manager().arg("--terraform-binary").arg(&missing), 1);
    let by_up =
        told(capt().args(["up", "--dir"]).arg(machine.at("data")).arg("--terraform-binary").arg(&missing), 1);

    let sentence = "which cannot be read: No such file or directory (os error 2)";
    assert_eq!(by_manager, format!("error: --terraform-binary names {}, {sentence}\n", missing.display()));
    assert_eq!(by_up, by_manager);
    assert!(!machine.at("data").exists(), "nothing was started");
}

#[test]
fn a_file_that_cannot_be_run_is_named() {
    let machine = Machine::new();
    let file = machine.at("terraform");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();

    for path in [file, machine.at("")] {
        let told = told(machine.manager().arg("--terraform-binary").arg(&path), 1);

        assert!(
            told.contains("--terraform-binary names") && told.ends_with("which is not an executable file\n"),
            "{told}"
        );
        assert!(told.contains(&*path.to_string_lossy()), "{told}");
    }
}

#[rstest]
#[case::says_nothing("exit 0", "exit status: 0")]
#[case::is_something_else("echo BusyBox v1.36", "exit status: 0")]
#[case::fails("echo Terraform v1.11.4; exit 3", "exit status: 3")]
fn a_program_that_is_not_terraform_is_named(#[case] script: &str, #[case] exit: &str) {
    let machine = Machine::new();
    let other = machine.at("other");
    program(&other, script);

    let told = told(machine.manager().arg("--terraform-binary").arg(&other), 1);

    let sentence =
        format!("`{}` is neither OpenTofu nor Terraform: `version` ended with {exit}", other.display());
    assert!(told.contains(&sentence), "{told}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let machine = Machine::new();
    program(&machine.at("path/terraform"), TERRAFORM);
    fs::write(machine.at("file"), "").unwrap();

    let told = told(machine.manager().arg("--terraform-directory").arg(machine.at("file/below")), 1);

    assert!(told.contains(&*machine.at("file/below/workspaces").to_string_lossy()), "{told}");
}

#[test]
fn a_pod_without_terraform_is_told_what_to_do_and_gets_nothing() {
    let machine = Machine::new();

    let told =
        told(machine.manager().args(["--engine", "process"]).env("KUBERNETES_SERVICE_HOST", "10.0.0.1"), 1);

    assert!(told.contains("--terraform-binary") && told.contains("--engine=crossplane"), "{told}");
    assert!(!machine.at("cache").exists(), "nothing was fetched");
}

#[test]
fn a_machine_where_terraform_cannot_be_had_is_told_what_was_tried_and_what_to_do() {
    let machine = Machine::new();

    let told = told(machine.manager().args(["--engine", "process"]).env("CAPT_OFFLINE", "1"), 1);

    assert!(told.contains("--terraform-binary") && told.contains("--engine=crossplane"), "{told}");
    assert!(told.contains("go is not installed"), "{told}");
}

#[rstest]
#[case::opentofu_comes_first(&["path/tofu", "path/terraform"], "path/tofu")]
#[case::terraform_will_do(&["path/terraform"], "path/terraform")]
#[case::parts_come_before_programs(&["assets/terraform", "path/tofu"], "assets/terraform")]
fn one_that_is_on_the_machine_is_used(#[case] there: &[&str], #[case] used: &str) {
    let machine = Machine::new();
    for name in there {
        program(&machine.at(name), TERRAFORM);
    }

    let line = machine.first_line(&[]);

    assert_eq!(line["message"], "terraform found");
    assert_eq!(line["binary"], *machine.at(used).to_string_lossy());
    assert!(
        machine.at("state/capt/127.0.0.1-1/workspaces").is_dir(),
        "every cluster has a directory of its own"
    );
}

#[test]
fn where_crossplane_runs_terraform_none_is_looked_for() {
    let machine = Machine::new();

    let line = machine.first_line(&["--engine", "crossplane"]);

    assert_eq!(line["message"], "the API server does not answer; trying again");
}
