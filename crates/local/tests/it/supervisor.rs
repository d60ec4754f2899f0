//! The supervisor, driven over its pipe as its parent does it, with shells in place of the real parts.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{HELPER, eventually, is_gone, kill};

struct Supervisor {
    child: Child,
    orders: Option<ChildStdin>,
    events: Lines<BufReader<ChildStdout>>,
    directory: TempDir,
}

impl Supervisor {
    fn start() -> Self {
        let mut child = Command::new(HELPER)
            .arg("__supervise")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let events = BufReader::new(child.stdout.take().unwrap()).lines();
        let orders = child.stdin.take();
        Self { child, orders, events, directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn order(&mut self, order: &Value) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
    }

    fn event(&mut self) -> Value {
        serde_json::from_str(&self.events.next().unwrap().unwrap()).unwrap()
    }

    /// Runs a script and answers with its pid once it has said that it runs.
    fn run(&mut self, name: &str, script: &str, grace_seconds: u64) -> u32 {
        let log = self.path().join(format!("{name}.log"));
        let script = format!("{script}\n");
        self.order(&json!({ "Start": {
            "name": name, "program": "/bin/sh", "arguments": ["-c", script], "log": log,
            "grace": { "secs": grace_seconds, "nanos": 0 },
        }}));
        let started = self.event();
        assert_eq!(started["Started"]["name"], name);
        eventually("the script runs", || fs::read_to_string(&log).is_ok_and(|text| !text.is_empty()));
        started["Started"]["pid"].as_u64().unwrap().try_into().unwrap()
    }

    fn end_of_orders(&mut self) {
        self.orders = None;
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.child.wait();
    }
}

/// Writes its name to `order` when it is asked to stop.
fn polite(name: &str, order: &Path) -> String {
    let order = order.display();
    format!("trap 'echo {name} >> {order}; exit' TERM; echo runs; while :; do sleep 0.01; done")
}

const STUBBORN: &str = "trap '' TERM; echo runs; while :; do sleep 0.01; done";

#[test]
fn the_last_started_is_stopped_first_when_the_parent_is_gone() {
    let mut supervisor = Supervisor::start();
    let order = supervisor.path().join("order");
    let pids = ["first", "second", "third"].map(|name| supervisor.run(name, &polite(name, &order), 20));

    supervisor.end_of_orders();

    assert!(supervisor.child.wait().unwrap().success());
    assert_eq!(fs::read_to_string(order).unwrap(), "third\nsecond\nfirst\n");
    assert!(pids.into_iter().all(is_gone));
}

#[test]
fn a_process_that_does_not_stop_is_killed() {
    let mut supervisor = Supervisor::start();
    let stubborn = supervisor.run("stubborn", STUBBORN, 1);

    supervisor.end_of_orders();

    assert!(supervisor.child.wait().unwrap().success());
    assert!(is_gone(stubborn));
}

#[test]
fn processes_die_with_a_supervisor_that_is_killed() {
    let mut supervisor = Supervisor::start();
    let stubborn = supervisor.run("stubborn", STUBBORN, 20);

    kill(supervisor.child.id());

    eventually("the process is gone", || is_gone(stubborn));
}

#[test]
fn the_end_of_a_process_is_told_at_once() {
    let mut supervisor = Supervisor::start();
    let pid = supervisor.run("short", STUBBORN, 20);

    kill(pid);

    let ended = supervisor.event();
    assert_eq!(ended["Ended"]["name"], "short");
    assert!(ended["Ended"]["how"].as_str().unwrap().contains("signal: 9"), "{ended}");
}

#[test]
fn a_process_that_is_run_again_keeps_its_place() {
    let mut supervisor = Supervisor::start();
    let order = supervisor.path().join("order");
    let old = supervisor.run("first", &polite("first", &order), 20);
    supervisor.run("second", &polite("second", &order), 20);

    supervisor.order(&json!({ "Restart": "first" }));

    let started = supervisor.event();
    assert_eq!(started["Started"]["name"], "first");
    assert_ne!(started["Started"]["pid"], old);
    assert!(is_gone(old));
    let log = supervisor.path().join("first.log");
    eventually("the script runs again", || fs::read_to_string(&log).is_ok_and(|text| !text.is_empty()));
    supervisor.end_of_orders();
    assert!(supervisor.child.wait().unwrap().success());
    assert_eq!(fs::read_to_string(order).unwrap(), "second\nfirst\n");
}

#[test]
fn a_program_that_cannot_be_run_ends_with_the_reason_in_its_log() {
    let mut supervisor = Supervisor::start();
    let log = supervisor.path().join("missing.log");
    supervisor.order(&json!({ "Start": {
        "name": "missing", "program": "/no/such/program", "arguments": [], "log": log,
        "grace": { "secs": 0, "nanos": 0 },
    }}));

    assert_eq!(supervisor.event()["Started"]["name"], "missing");
    assert_eq!(supervisor.event()["Ended"]["how"], "exit status: 127");
    assert!(fs::read_to_string(log).unwrap().contains("cannot run /no/such/program"));
}

#[test]
fn a_directory_is_removed_only_after_the_stop() {
    let mut supervisor = Supervisor::start();
    let directory = supervisor.path().join("data");
    fs::create_dir(&directory).unwrap();
    supervisor.order(&json!({ "RemoveWhenStopped": directory }));
    supervisor.run("stubborn", STUBBORN, 0);
    assert!(directory.exists());

    supervisor.end_of_orders();

    assert!(supervisor.child.wait().unwrap().success());
    assert!(!directory.exists());
}

#[test]
fn the_log_of_the_run_before_is_kept() {
    let mut supervisor = Supervisor::start();
    let log = supervisor.path().join("twice.log");
    fs::write(&log, "before").unwrap();

    supervisor.run("twice", STUBBORN, 0);

    assert_eq!(fs::read_to_string(log.with_extension("log.previous")).unwrap(), "before");
    assert_eq!(fs::read_to_string(log).unwrap(), "runs\n");
}
