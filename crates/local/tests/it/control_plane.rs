//! A control plane of real parts.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use capt_local::{ControlPlane, ControlPlaneOptions, Error, Parts, Progress};
use rustix::process::{getpgid, getpgrp};
use serde_json::json;
use ureq::tls::TlsConfig;

use crate::api::{Api, agent, client_certificate};
use crate::process::{HELPER, eventually, helper, is_gone, kill, pid, program};

pub(crate) static PARTS: LazyLock<Parts> = LazyLock::new(|| Parts::find(&Progress::stderr()).unwrap());

/// One control plane for the tests that only look.
static SHARED: LazyLock<ControlPlane> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap().keep();
    let options = ControlPlaneOptions { remove_when_stopped: true, ..quick(&directory) };
    start(&options).unwrap()
});

fn quick(directory: &Path) -> ControlPlaneOptions {
    ControlPlaneOptions { durable: false, ..ControlPlaneOptions::new(directory, helper()) }
}

fn start(options: &ControlPlaneOptions) -> Result<ControlPlane, Error> {
    ControlPlane::start(&PARTS, options, &Progress::silent())
}

fn script(directory: &Path, text: &str) -> PathBuf {
    let path = directory.join("program");
    program(&path, text);
    path
}

#[test]
fn a_process_that_cannot_start_is_told_with_the_end_of_its_log() {
    let directory = tempfile::tempdir().unwrap();
    let broken = script(directory.path(), "echo the disk is on fire >&2; exit 3");
    let parts = Parts { etcd: broken, ..PARTS.clone() };
    let options = quick(&directory.path().join("data"));

    let error = ControlPlane::start(&parts, &options, &Progress::silent()).unwrap_err().to_string();

    assert!(error.starts_with("etcd ended unexpectedly (exit status: 3)"), "{error}");
    assert!(error.ends_with("the disk is on fire"), "{error}");
}

#[test]
fn a_process_that_never_gets_ready_is_given_up_and_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let silent = script(directory.path(), &format!("echo $$ > {}; exec sleep 1000", file.display()));
    let parts = Parts { etcd: silent, ..PARTS.clone() };
    let ready_within = Duration::from_secs(1);
    let options = ControlPlaneOptions { ready_within, ..quick(&directory.path().join("data")) };

    let error = ControlPlane::start(&parts, &options, &Progress::silent()).unwrap_err();

    assert!(matches!(error, Error::TooLate { name: "etcd", .. }), "{error}");
    assert!(is_gone(fs::read_to_string(file).unwrap().trim().parse().unwrap()));
}

#[test]
fn a_first_start_that_failed_halfway_is_begun_anew() {
    let directory = tempfile::tempdir().unwrap();
    // As an etcd leaves it that was told to stop before it had written more.
    let write = "wal=${argument#--data-dir=}/member/wal; mkdir -p $wal; echo half > $wal/0-0.wal";
    let text = format!("for argument; do case $argument in --data-dir=*) {write};; esac; done; exit 3");
    let parts = Parts { etcd: script(directory.path(), &text), ..PARTS.clone() };
    let options = quick(&directory.path().join("data"));
    let wal = options.directory.join("etcd/member/wal/0-0.wal");
    ControlPlane::start(&parts, &options, &Progress::silent()).unwrap_err();
    assert!(wal.exists(), "the test does what it says");

    let control_plane = start(&options).unwrap();

    assert!(!wal.exists());
    control_plane.stop();
}

#[test]
fn a_directory_with_other_things_in_it_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("thesis.txt"), "mine").unwrap();

    let error = start(&quick(directory.path())).unwrap_err();

    let Error::Directory { source, .. } = error else { panic!("{error}") };
    assert!(source.to_string().contains("use an empty or a new directory"), "{source}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_second_start_in_the_same_directory_names_the_holder() {
    let error = start(&quick(SHARED.directory())).unwrap_err().to_string();

    assert!(error.contains(&format!("(pid {})", std::process::id())), "{error}");
}

#[test]
fn an_interrupt_at_the_terminal_does_not_reach_the_parts() {
    // It goes to every process of the group, and the stop has an order.
    let ours = getpgrp();

    for (name, number) in SHARED.processes() {
        assert_ne!(getpgid(Some(pid(number))).unwrap(), ours, "{name}");
    }
}

#[test]
fn every_file_is_for_its_owner_alone() {
    fn check(path: &Path) {
        let metadata = fs::symlink_metadata(path).unwrap();
        let allowed = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.mode() & 0o777, allowed, "{}", path.display());
        if metadata.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                check(&entry.unwrap().path());
            }
        }
    }
    check(SHARED.directory());
    assert_eq!(fs::read_to_string(SHARED.kubeconfig_path()).unwrap(), SHARED.kubeconfig());
}

#[test]
fn a_secret_is_not_readable_in_the_store() {
    let marker = "a-marker-that-must-not-be-found";
    let api = Api::of(&SHARED.kubeconfig());
    let data = json!({ "value": STANDARD.encode(marker) });
    let secret =
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "hidden" }, "data": data });
    api.post("/api/v1/namespaces/default/secrets", &secret).unwrap();
    let plain = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "plain" },
        "data": { "value": "a-text-that-can-be-found" } });
    api.post("/api/v1/namespaces/default/configmaps", &plain).unwrap();

    assert!(store_holds("a-text-that-can-be-found"), "the test looks in the right place");
    assert!(!store_holds(marker));
    assert!(!store_holds(&STANDARD.encode(marker)));
}

fn store_holds(text: &str) -> bool {
    // The log of the store holds what its database does not hold yet.
    let member = SHARED.directory().join("etcd/member");
    let files = fs::read_dir(member.join("wal")).unwrap().chain(fs::read_dir(member.join("snap")).unwrap());
    files
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .any(|content| content.windows(text.len()).any(|window| window == text.as_bytes()))
}

#[test]
fn everything_listens_on_the_loopback_interface_only() {
    let ours: HashSet<String> = SHARED.processes().iter().flat_map(|(_, pid)| sockets_of(*pid)).collect();
    let listening = |table: &str| -> Vec<String> {
        let text = fs::read_to_string(table).unwrap();
        let rows = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|row| row[3] == "0A" && ours.contains(row[9])).map(|row| row[1].to_owned()).collect()
    };

    let (four, six) = (listening("/proc/net/tcp"), listening("/proc/net/tcp6"));

    assert_eq!(four.len(), 3, "{four:?}");
    assert!(four.iter().all(|address| address.starts_with("0100007F:")), "{four:?}");
    assert!(six.is_empty(), "{six:?}");
}

fn sockets_of(pid: u32) -> Vec<String> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let links = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

#[test]
fn the_store_refuses_clients_of_the_api_server_and_strangers() {
    let ports = fs::read_to_string(SHARED.directory().join("ports.json")).unwrap();
    let ports: serde_json::Value = serde_json::from_str(&ports).unwrap();
    let administrator = client_certificate(&SHARED.kubeconfig());
    for certificate in [None, Some(administrator)] {
        let tls = TlsConfig::builder().disable_verification(true).client_cert(certificate).build();

        let error = agent(tls).get(format!("https://127.0.0.1:{}/version", ports["etcdClients"])).call();

        let error = error.unwrap_err().to_string().to_lowercase();
        assert!(error.contains("fatal alert"), "{error}");
    }
}

#[test]
fn a_stranger_is_not_let_in_and_a_user_only_as_far_as_its_rights_go() {
    let stranger = agent(TlsConfig::builder().disable_verification(true).build());
    let refused = stranger.get(format!("{}/version", SHARED.url())).call().unwrap_err();
    assert!(matches!(refused, ureq::Error::StatusCode(401)), "{refused}");

    let user = Api::of(&SHARED.kubeconfig_for("somebody", &["some-group"]).unwrap());
    assert_eq!(user.get("/version").unwrap()["major"], "1");
    let refused = user.get("/api/v1/secrets").unwrap_err();
    assert!(matches!(refused, ureq::Error::StatusCode(403)), "{refused}");
}

#[test]
fn the_api_server_says_which_kubernetes_it_is() {
    let version = SHARED.kubernetes_version().unwrap();

    assert!(version.starts_with("1."), "{version}");
}

#[test]
fn more_groups_than_a_certificate_takes_are_an_error() {
    let error = SHARED.kubeconfig_for("somebody", &["a", "b", "c"]).unwrap_err();

    assert!(matches!(error, Error::Authority(_)), "{error}");
}

#[test]
fn a_directory_started_again_is_the_same_control_plane() {
    let directory = tempfile::tempdir().unwrap();
    let options = ControlPlaneOptions::new(directory.path(), helper());
    let first = start(&options).unwrap();
    let url = first.url().to_owned();
    let kubeconfig = first.kubeconfig();
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "kept" } });
    Api::of(&kubeconfig).post("/api/v1/namespaces/default/secrets", &secret).unwrap();
    let watcher = first.exit_watcher();
    let pids: Vec<u32> = first.processes().into_iter().map(|(_, pid)| pid).collect();
    first.stop();
    assert_eq!(watcher.wait(), None);
    assert!(pids.into_iter().all(is_gone));

    let second = start(&options).unwrap();
    assert_eq!(second.url(), url);
    assert_eq!(second.kubeconfig(), kubeconfig, "what was copied need not be copied again");
    // The kubeconfig of the first start is one that somebody may have copied.
    let kept = Api::of(&kubeconfig).get("/api/v1/namespaces/default/secrets/kept").unwrap();
    second.stop();

    let port = url.rsplit(':').next().unwrap();
    let _foreign = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let error = start(&options).unwrap_err().to_string();
    assert!(error.contains(&format!("port {port} ")), "{error}");
    // As the error advises.
    fs::remove_file(directory.path().join("ports.json")).unwrap();
    let third = start(&options).unwrap();
    assert_ne!(third.url(), url);
    assert_eq!(Api::of(&third.kubeconfig()).get("/api/v1/namespaces/default/secrets/kept").unwrap(), kept);
}

#[test]
fn the_end_of_a_part_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let control_plane = start(&quick(directory.path())).unwrap();
    let (name, pid) = control_plane.processes().pop().unwrap();
    assert_eq!(name, "kube-controller-manager");

    kill(pid);

    assert_eq!(control_plane.exit_watcher().wait().unwrap().name, name);
}

/// Another process that has a control plane; killed when it is dropped.
struct Holder(Child);

impl Holder {
    fn start(directory: &Path) -> Self {
        // A copy, which is gone when it is needed: an upgrade may replace a program that runs.
        let copy = directory.with_extension("copy");
        assert!(Command::new("cp").arg(HELPER).arg(&copy).status().unwrap().success());
        let mut command = Command::new(&copy);
        command.arg("hold").arg(directory).stdin(Stdio::null()).stdout(Stdio::piped());
        let holder = Self(command.spawn().unwrap());
        fs::remove_file(copy).unwrap();
        holder
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn nothing_is_left_of_a_parent_that_was_killed_and_its_directory_can_be_used_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut parent = Holder::start(&directory.path().join("data"));
    let lines = BufReader::new(parent.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let pids: Vec<u32> = lines.take_while(|line| line != "ready").map(|line| line.parse().unwrap()).collect();
    assert_eq!(pids.len(), 4, "a supervisor and three parts");

    drop(parent);

    let again = start(&quick(&directory.path().join("data"))).unwrap();
    eventually("the processes are gone", || pids.iter().all(|pid| is_gone(*pid)));
    again.stop();
}
