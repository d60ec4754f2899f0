//! What was kept, in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use capt_core::archive::Header;
use serde::Serialize;

/// What was kept.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    file: String,
    bytes: u64,
    id: String,
    taken_at: String,
    namespaces: Vec<String>,
    objects: BTreeMap<String, usize>,
    workloads: Vec<String>,
}

impl Report {
    pub(super) fn new(file: &Path, bytes: u64, header: Header) -> Self {
        let Header { id, taken_at, namespaces, objects, workloads, .. } = header;
        Self { file: file.display().to_string(), bytes, id, taken_at, namespaces, objects, workloads }
    }

    pub(super) fn sentences(&self) -> String {
        let objects: Vec<String> =
            self.objects.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let mut text = format!("{} holds {}", self.file, objects.join(", "));
        if !self.workloads.is_empty() {
            let _ = write!(text, ", and the data of local cluster {}", self.workloads.join(", "));
        }
        text + &format!(
            " ({} KiB).\nPut it back with: capt restore {}\nWithout the passphrase nobody can open it.",
            self.bytes.div_ceil(1024),
            self.file
        )
    }
}
