//! Workloads of real parts, asked for over the socket as clients do it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use capt_local::Parts;
use capt_local::workload::{
    Answer, AskError, Notice, Request, Status, Workload, WorkloadName, Workloads, WorkloadsOptions, ask,
    passing_directory,
};
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::control_plane::PARTS;
use crate::process::{eventually, eventually_within, helper, kill, processes_in, program};

/// Far more than a start should take.
const WITHIN: Duration = Duration::from_secs(90);

/// A place for homes that come and go.
struct Place {
    root: TempDir,
    notices: Arc<Mutex<Vec<Notice>>>,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("home")).unwrap();
        Self { root, notices: Arc::default() }
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.home().join("workloads").join(name)
    }

    fn run(&self) -> Workloads {
        self.run_with(PARTS.clone())
    }

    fn run_with(&self, parts: Parts) -> Workloads {
        let notices = Arc::clone(&self.notices);
        let notify = Box::new(move |notice| notices.lock().unwrap().push(notice));
        let options = WorkloadsOptions { home: self.home(), parts, helper: helper(), durable: false, notify };
        Workloads::start(options).unwrap()
    }

    /// What was told of trouble.
    fn troubles(&self) -> Vec<String> {
        let notices = self.notices.lock().unwrap();
        notices.iter().filter(|notice| notice.trouble).map(|notice| notice.message.clone()).collect()
    }

    fn ask(&self, request: &Request) -> Result<Answer, AskError> {
        ask(&self.home(), request, WITHIN, |_| {})
    }

    fn start(&self, name: &str) -> Workload {
        match self.ask(&Request::Start { name: named(name) }) {
            Ok(Answer::Ready(workload)) => workload,
            other => panic!("{other:?}"),
        }
    }

    fn stop(&self, name: &str) {
        assert_eq!(self.ask(&Request::Stop { name: named(name) }).unwrap(), Answer::Stopped);
    }

    fn status(&self, name: &str) -> Status {
        match self.ask(&Request::Status { name: named(name) }) {
            Ok(Answer::Status(status)) => status,
            other => panic!("{other:?}"),
        }
    }

    fn wait_until_ready(&self, name: &str) -> Workload {
        let mut found = None;
        eventually_within(WITHIN, "the workload is ready", || match self.status(name) {
            Status::Ready(workload) => {
                found = Some(workload);
                true
            }
            _ => false,
        });
        found.unwrap()
    }

    /// Sends one line and leaves without waiting.
    fn send(&self, line: &str) -> UnixStream {
        let mut stream = UnixStream::connect(self.home().join("home.sock")).unwrap();
        writeln!(stream, "{line}").unwrap();
        stream
    }
}

fn named(name: &str) -> WorkloadName {
    name.parse().unwrap()
}

fn namespaces(workload: &Workload) -> usize {
    let api = Api::of(&fs::read_to_string(&workload.kubeconfig).unwrap());
    api.get("/api/v1/namespaces").unwrap()["items"].as_array().unwrap().len()
}

#[test]
fn a_copy_of_a_workload_is_the_same_cluster_in_another_home() {
    let (place, other) = (Place::new(), Place::new());
    let home = place.run();
    let refused = |place: &Place, request: &Request, reason: &str| match place.ask(request) {
        Err(AskError::Failed(message)) => assert!(message.contains(reason), "{message}"),
        other => panic!("{other:?}"),
    };
    let (copy, adopt) = (Request::Copy { name: named("demo") }, Request::Adopt { name: named("demo") });
    refused(&place, &copy, "is not there");
    refused(&place, &adopt, "was not taken over");
    let first = place.start("demo");
    let api = Api::of(&fs::read_to_string(&first.kubeconfig).unwrap());
    api.post("/api/v1/namespaces", &json!({ "metadata": { "name": "mine" } })).unwrap();

    assert_eq!(place.ask(&copy).unwrap(), Answer::Ready(first.clone()), "it runs on as it was");
    refused(&place, &adopt, "is there already");
    let there = namespaces(&first);
    let _other = other.run();
    let passing = |place: &Place| passing_directory(&place.home(), &named("demo"));
    fs::rename(passing(&place), passing(&other)).unwrap();
    // Both listen at the same place.
    home.stop();
    let adopted = match other.ask(&adopt) {
        Ok(Answer::Ready(workload)) => workload,
        other => panic!("{other:?}"),
    };

    assert_eq!((&adopted.server, namespaces(&adopted)), (&first.server, there));
}

#[rstest]
#[case::no_json("start demo")]
#[case::nothing("")]
#[case::an_unknown_verb(r#"{"destroy":{"name":"demo"}}"#)]
#[case::no_name(r#"{"start":{}}"#)]
#[case::a_way_out(r#"{"stop":{"name":"../pki"}}"#)]
#[case::a_command(r#"{"start":{"name":"a; rm -r ."}}"#)]
#[case::no_end(&"x".repeat(100_000))]
fn what_is_no_request_is_refused_and_changes_nothing(#[case] line: &str) {
    let place = Place::new();
    fs::create_dir(place.home().join("pki")).unwrap();
    let _home = place.run();
    let mut stream = UnixStream::connect(place.home().join("home.sock")).unwrap();
    // The home may hang up before it has read everything.
    let _ = writeln!(stream, "{line}");

    let answer = BufReader::new(stream).lines().next().and_then(Result::ok);

    if let Some(answer) = answer {
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let message = answer["failed"]["message"].as_str().unwrap();
        assert!(message.starts_with("the request is not understood"), "{message}");
    }
    assert!(place.home().join("pki").is_dir());
    assert_eq!(fs::read_dir(place.home().join("workloads")).unwrap().count(), 0);
}

#[test]
fn a_home_that_does_not_run_is_named_with_what_to_do() {
    let place = Place::new();
    let asked = || place.ask(&Request::Status { name: named("demo") }).unwrap_err().to_string();
    let expected = format!(
        "the home in {home} does not run: start it with `capt up --dir {home}`",
        home = place.home().display()
    );

    assert_eq!(asked(), expected);
    place.run().stop();
    assert_eq!(asked(), expected);
}

#[test]
fn what_is_not_there_is_stopped_already() {
    let place = Place::new();
    let _home = place.run();

    place.stop("nobody");

    assert_eq!(place.status("nobody"), Status::Absent);
    assert_eq!(place.troubles(), [] as [&str; 0]);
}

#[test]
fn a_workload_is_made_once_mended_and_unmade() {
    let place = Place::new();
    let home = place.run();
    // Whoever asks may go away, and several may ask at once.
    drop(place.send(&json!({ "start": { "name": "demo" } }).to_string()));
    let [one, other] = thread::scope(|scope| {
        [(); 2].map(|()| scope.spawn(|| place.start("demo"))).map(|thread| thread.join().unwrap())
    });
    assert_eq!(one, other);
    assert_eq!(place.status("demo"), Status::Ready(one.clone()));
    assert!(namespaces(&one) >= 1);
    let facts: Workload =
        serde_json::from_slice(&fs::read(place.directory("demo").join("workload.json")).unwrap()).unwrap();
    assert_eq!(facts, one);
    let kubeconfig = fs::read_to_string(&one.kubeconfig).unwrap();
    assert!(kubeconfig.contains("current-context: \"demo\""), "{kubeconfig}");
    assert!(kubeconfig.contains(&one.certificate_authority_data));

    let processes = processes_in(&place.directory("demo"));
    let etcd = processes.iter().find(|(_, command)| command.contains("--data-dir=")).unwrap();
    kill(etcd.0);
    eventually("the loss is told", || !place.troubles().is_empty());
    let told = place.troubles().remove(0);
    assert!(told.starts_with("is lost, and is started again in 1 s: etcd ended unexpectedly"), "{told}");
    assert_eq!(place.wait_until_ready("demo"), one);
    assert!(namespaces(&one) >= 1);

    // Half made by a home that was killed; half removed by another.
    fs::create_dir_all(place.directory("half").join("pki")).unwrap();
    fs::write(place.directory("half").join("pki/ca.key"), "").unwrap();
    fs::create_dir_all(place.directory(".deleting-old").join("etcd")).unwrap();
    home.stop();
    assert_eq!(processes_in(&place.home()), []);
    drop(home);

    let _home = place.run();
    assert_eq!(place.wait_until_ready("demo"), one);
    assert_eq!(fs::read_to_string(&one.kubeconfig).unwrap(), kubeconfig, "copies stay right");
    let half = place.wait_until_ready("half");
    assert_ne!(half.server, one.server);
    assert!(!place.directory(".deleting-old").exists());

    for name in ["demo", "half", "demo"] {
        place.stop(name);
        assert!(!place.directory(name).exists());
        assert_eq!(place.status(name), Status::Absent);
    }
    assert_eq!(processes_in(&place.home()), []);
    assert_eq!(fs::read_dir(place.home().join("workloads")).unwrap().count(), 0);
}

/// An etcd that fails until a file is there.
fn unwilling(place: &Path) -> Parts {
    let etcd = place.join("etcd");
    let script = format!(
        "[ -e {allowed} ] || {{ echo the disk is on fire >&2; exit 3; }}\nexec {real} \"$@\"",
        allowed = place.join("allowed").display(),
        real = PARTS.etcd.display()
    );
    program(&etcd, &script);
    Parts { etcd, ..PARTS.clone() }
}

#[test]
fn a_workload_that_does_not_start_is_told_and_tried_again() {
    let place = Place::new();
    let home = place.run_with(unwilling(place.root.path()));

    let error = place.ask(&Request::Start { name: named("demo") }).unwrap_err().to_string();

    assert!(error.starts_with("workload demo did not start: etcd ended unexpectedly"), "{error}");
    assert!(error.ends_with("the disk is on fire"), "{error}");
    assert!(place.troubles()[0].starts_with("did not start, and is started again in 1 s"));
    // What is wished for and cannot be had does not keep the home from ending, nor from starting.
    home.stop();
    let _home = place.run_with(unwilling(place.root.path()));
    fs::write(place.root.path().join("allowed"), "").unwrap();
    assert!(namespaces(&place.wait_until_ready("demo")) >= 1);
}

#[test]
fn a_start_under_way_does_not_hold_up_the_end_of_the_home() {
    let place = Place::new();
    let etcd = place.root.path().join("etcd");
    program(&etcd, "exec sleep 1000 # \"$@\"");
    let home = place.run_with(Parts { etcd, ..PARTS.clone() });
    let client = place.send(&json!({ "start": { "name": "demo" } }).to_string());
    let mut answers = BufReader::new(client).lines();
    assert!(answers.next().unwrap().unwrap().contains("progress"));

    home.stop();

    assert!(answers.next().unwrap().unwrap().contains("the start was cancelled"));
    assert_eq!(place.troubles(), [] as [&str; 0]);
}
