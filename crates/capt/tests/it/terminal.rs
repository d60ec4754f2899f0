//! The binary in a terminal, as a person sees it: demo, describe, kubeconfig, reconcile, delete.

mod pty;
mod redaction;

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use capt_local::{Parts, Progress};
use tempfile::TempDir;

use crate::up::CAPT;
pub(crate) use pty::Terminal;
pub(crate) use redaction::redacted;

/// A person with a home of their own, `capt` and `kubectl` in PATH, and no kubeconfig.
struct Person {
    root: TempDir,
}

impl Person {
    fn new() -> Self {
        // On a new machine that takes minutes, which no screen may wait for.
        Parts::find(&Progress::stderr()).unwrap();
        let person = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(person.at("programs")).unwrap();
        // It is named where it is there; nobody runs it here.
        let kubectl = person.at("programs/kubectl");
        fs::write(&kubectl, "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).unwrap();
        person
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn home(&self) -> PathBuf {
        self.at("share/capt")
    }

    fn runs(&self, arguments: &[&str]) -> Terminal {
        let own = Path::new(CAPT).parent().unwrap();
        let path = [own.to_owned(), self.at("programs"), "/usr/bin".into(), "/bin".into()];
        let mut command = Command::new(CAPT);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", env::join_paths(path).unwrap())
            .env("HOME", self.root.path())
            .env("XDG_DATA_HOME", self.at("share"))
            .env("TERM", "xterm-256color");
        // Where the parts are.
        for variable in ["CAPT_ASSETS", "KUBEBUILDER_ASSETS", "XDG_CACHE_HOME"] {
            if let Some(value) = env::var_os(variable) {
                command.env(variable, value);
            }
        }
        if env::var_os("XDG_CACHE_HOME").is_none() {
            command.env("XDG_CACHE_HOME", env::home_dir().unwrap().join(".cache"));
        }
        Terminal::run(command)
    }

    /// The last screen of a run that succeeded.
    fn sees(&self, arguments: &[&str]) -> String {
        let (screen, code) = self.runs(arguments).end();
        assert_eq!(code, Some(0), "{screen}");
        redacted(&screen, self.root.path())
    }
}

#[test]
fn a_person_makes_a_cluster_looks_around_and_takes_it_down() {
    let binary = capt_testkit::terraform::binary();
    let terraform = ["--terraform-binary", binary.to_str().unwrap()];
    let person = Person::new();
    let demo = person.runs(&[&["demo"], &terraform[..]].concat());
    let screen = demo.until("destroys the cluster by Terraform.");
    insta::assert_snapshot!("demo", redacted(&screen, person.root.path()));

    insta::assert_snapshot!("describe", person.sees(&["describe", "cluster", "demo"]));
    let kubeconfig = person.at("merged.kubeconfig");
    let merge = ["kubeconfig", "demo", "--merge", "--file", kubeconfig.to_str().unwrap()];
    insta::assert_snapshot!("kubeconfig", person.sees(&merge));
    assert!(fs::read_to_string(&kubeconfig).unwrap().contains("client-key-data"));
    insta::assert_snapshot!("reconcile", person.sees(&["reconcile", "cluster", "demo", "--wait"]));
    insta::assert_snapshot!("status", person.sees(&["status"]));

    demo.interrupt();
    let (screen, code) = demo.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.trim_end().ends_with("stopping; Ctrl-C again does not wait"), "{screen}");

    insta::assert_snapshot!("delete", person.sees(&[&["demo", "--delete"], &terraform[..]].concat()));
    let (screen, code) = purged(&person);
    assert_eq!(code, Some(0), "{screen}");
    assert!(!person.home().exists(), "{screen}");
}

/// Answers the question.
fn purged(person: &Person) -> (String, Option<i32>) {
    let terminal = person.runs(&["down", "--purge"]);
    terminal.until("Write yes to go on:");
    terminal.types("yes\n");
    terminal.end()
}
