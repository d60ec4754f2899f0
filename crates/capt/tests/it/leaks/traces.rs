//! Where a value could have left a trace.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams};
use kube::discovery::{ApiGroup, Discovery, verbs};

/// The command lines of all processes of the machine, until it is stopped.
pub(super) struct CommandLines {
    stop: Arc<AtomicBool>,
    seen: JoinHandle<BTreeSet<String>>,
}

impl CommandLines {
    pub(super) fn watch() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let seen = thread::spawn(move || {
            let mut seen = BTreeSet::new();
            while !stopped.load(Ordering::Relaxed) {
                let processes = fs::read_dir("/proc").unwrap().flatten();
                let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
                seen.extend(lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")));
            }
            seen
        });
        Self { stop, seen }
    }

    pub(super) fn stop(self) -> String {
        self.stop.store(true, Ordering::Relaxed);
        self.seen.join().unwrap().into_iter().collect::<Vec<_>>().join("\n")
    }
}

/// Every object that the API server has, but for Secrets, as JSON.
pub(super) async fn everything_but_secrets(client: &Client) -> String {
    let discovery = Discovery::new(client.clone()).run().await.unwrap();
    let mut text = String::new();
    for (kind, capabilities) in discovery.groups().flat_map(ApiGroup::recommended_resources) {
        if kind.kind == "Secret" || !capabilities.supports_operation(verbs::LIST) {
            continue;
        }
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
        for object in api.list(&ListParams::default()).await.unwrap() {
            text.push_str(&serde_json::to_string(&object).unwrap());
            text.push('\n');
        }
    }
    text
}

/// What is served to Prometheus.
pub(super) fn metrics(port: u16) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// None of the values is there, in any form.
pub(super) fn assert_clean(what: &str, text: &str, values: &[&str]) {
    for value in values {
        for form in forms(value) {
            let line = text.lines().find(|line| line.contains(&form));
            assert!(!text.contains(&form), "{what} shows `{form}`: {line:?}");
        }
    }
}

fn forms(value: &str) -> Vec<String> {
    let escaped = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    let in_json = escaped(value);
    let go = in_json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let encoded = STANDARD_NO_PAD.encode(value);
    let twice = escaped(&in_json);
    // Where base64 is printed in lines, and what of it does not depend on what follows.
    let line = encoded[..(value.len() / 3 * 4).min(76)].to_owned();
    let lines = value.lines().filter(|line| !line.starts_with("-----")).map(str::to_owned);
    lines.chain([value.to_owned(), in_json, go, encoded, twice, line]).collect()
}

/// Nobody else can read anything, nor get in.
pub(super) fn assert_private(path: &Path) {
    let metadata = fs::symlink_metadata(path).unwrap();
    if metadata.is_symlink() {
        return;
    }
    assert_eq!(metadata.permissions().mode() & 0o077, 0, "{}", path.display());
    if metadata.is_dir() {
        // Others come and go while we look.
        let entries: Vec<_> = fs::read_dir(path).unwrap().flatten().collect();
        entries.iter().filter(|entry| entry.path().exists()).for_each(|entry| assert_private(&entry.path()));
    }
}
