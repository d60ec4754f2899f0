//! `capt up --detach`, `capt status`, `capt down`: a home in the background.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use capt_testkit::home::processes_in;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{capt, printed, told};

/// What a start may take on a busy machine, when the parts are there.
const STARTED_WITHIN: Duration = Duration::from_secs(180);

/// A home that is stopped at the end, whatever happens.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        capt_testkit::terraform::binary();
        Self(tempfile::tempdir().unwrap())
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn run(&self, verb: &[&str]) -> assert_cmd::Command {
        let mut command = capt();
        command.args(["--output", "json"]).args(verb).arg("--dir").arg(self.home()).timeout(STARTED_WITHIN);
        command
    }

    fn up(&self) -> Value {
        serde_json::from_str(&printed(&mut self.run(&["up", "--detach"]))).unwrap()
    }

    /// What it prints, and whether the home runs.
    fn status(&self) -> (Value, Option<i32>) {
        let output = self.run(&["status"]).output().unwrap();
        (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
    }

    fn down(&self) -> Value {
        serde_json::from_str(&printed(&mut self.run(&["down"]))).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.run(&["down"]).output();
    }
}

#[test]
fn a_home_in_the_background_is_started_asked_and_stopped() {
    let place = Place::new();
    let home = place.home();
    let (absent, code) = place.status();
    assert_eq!((absent["state"].as_str(), code), (Some("absent"), Some(1)));
    assert_eq!(place.down()["stopped"], false);

    let first = place.up();

    let (status, code) = place.status();
    assert_eq!(code, Some(0), "{status}");
    assert_eq!(status["running"]["server"], first["server"]);
    assert_eq!(status["clusters"], json!([]));
    let names: Vec<_> =
        status["running"]["processes"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["supervisor", "etcd", "kube-apiserver", "kube-controller-manager"]);
    assert!(status["diskBytes"].as_u64().unwrap() > 0);

    assert_eq!(place.up(), first, "one that runs is left as it is");
    let refused = told(&mut place.run(&["up"]), 1);
    let pid = &status["pid"];
    assert!(refused.contains(&format!("is in use by another capt (pid {pid}, since ")), "{refused}");

    assert_eq!(place.down()["stopped"], true);
    assert_eq!(processes_in(&home).unwrap(), []);
    let (stopped, code) = place.status();
    assert_eq!((stopped["state"].as_str(), code), (Some("stopped"), Some(1)));
    assert_that_a_start_that_fails_says_why(&place, &stopped);
    assert_that_newer_data_is_refused(&place);
    assert_that_it_can_be_purged(&place);
}

fn assert_that_a_start_that_fails_says_why(place: &Place, status: &Value) {
    let port = u16::try_from(status["ports"]["apiServer"].as_u64().unwrap()).unwrap();
    let _foreign = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();

    let error = told(&mut place.run(&["up", "--detach"]), 1);

    assert!(error.contains("the home did not start (exit status: 1); the end of "), "{error}");
    assert!(error.contains(&format!("port {port} on 127.0.0.1")), "{error}");
}

fn assert_that_newer_data_is_refused(place: &Place) {
    let file = place.home().join("version.json");
    let content = fs::read_to_string(&file).unwrap();
    let mut newer: Value = serde_json::from_str(&content).unwrap();
    newer["kubernetes"] = json!("9.9.9");
    newer["capt"] = json!("8.8.8");
    fs::write(&file, newer.to_string()).unwrap();

    let error = told(&mut place.run(&["up"]), 1);

    assert!(error.contains("was written by Kubernetes 9.9.9 (capt 8.8.8), which Kubernetes "), "{error}");
    fs::write(&file, content).unwrap();
}

fn assert_that_it_can_be_purged(place: &Place) {
    let error = told(place.run(&["down", "--purge"]).write_stdin(""), 1);
    assert!(error.contains("nobody is there to be asked: say --yes"), "{error}");
    assert!(place.home().exists());

    let purged: Value =
        serde_json::from_str(&printed(&mut place.run(&["down", "--purge", "--yes"]))).unwrap();

    assert_eq!(purged["purged"], true);
    assert!(!place.home().exists());
}

#[test]
fn a_directory_of_other_things_is_never_purged() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("kubeconfig"), "mine").unwrap();

    let arguments = ["down", "--purge", "--yes", "--force", "--dir"];
    let error = told(capt().args(arguments).arg(directory.path()), 1);

    assert!(error.contains("is not the data directory of a capt: nothing is deleted there"), "{error}");
    assert_eq!(fs::read_to_string(directory.path().join("kubeconfig")).unwrap(), "mine");
}

/// What a machine without network and Go says.
#[test]
fn everything_that_is_missing_is_told_on_one_screen() {
    let nowhere = tempfile::tempdir().unwrap();
    let mut command = capt();
    command.env_clear().env("HOME", nowhere.path()).env("PATH", nowhere.path());
    command.env("XDG_CACHE_HOME", nowhere.path().join("cache"));
    command.env("HTTPS_PROXY", "http://127.0.0.1:1").env("HTTP_PROXY", "http://127.0.0.1:1");

    let screen = told(command.args(["demo"]), 1);

    assert!(screen.lines().count() <= 24, "{screen}");
    insta::assert_snapshot!("missing", crate::terminal::redacted(&screen, nowhere.path()));
    assert!(!Path::new(&nowhere.path().join(".local")).exists(), "nothing was begun");
}
