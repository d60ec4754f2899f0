//! What was put back, or would be, in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use capt_core::archive::{Backup, Verdict};
use serde::Serialize;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Outcome {
    WouldRestore,
    Restored,
    NothingToDo,
}

/// What was put back.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) outcome: Outcome,
    file: String,
    backup: String,
    taken_at: String,
    /// How many are made, of each kind.
    made: BTreeMap<String, usize>,
    /// How many were there already.
    there: usize,
    clusters: Vec<String>,
    workloads: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) in_the_way: Vec<String>,
}

impl Report {
    pub(super) fn new(file: &Path, backup: &Backup, verdicts: &[Verdict], in_the_way: Vec<String>) -> Self {
        let mut made = BTreeMap::new();
        let created = backup.objects.iter().zip(verdicts).filter(|(_, verdict)| **verdict == Verdict::Create);
        for ((key, _), _) in created {
            *made.entry(key.kind.to_owned()).or_default() += 1;
        }
        let is_cluster = |name: &&str| *name == "Cluster";
        let clusters = backup.objects.iter().filter(|(key, _)| is_cluster(&key.kind));
        Self {
            outcome: Outcome::WouldRestore,
            file: file.display().to_string(),
            backup: backup.header.id.clone(),
            taken_at: backup.header.taken_at.clone(),
            there: backup.objects.len() - made.values().sum::<usize>(),
            made,
            clusters: clusters
                .map(|(key, _)| format!("{}/{}", key.namespace.as_deref().unwrap_or_default(), key.name))
                .collect(),
            workloads: backup.header.workloads.clone(),
            in_the_way,
        }
    }

    pub(super) fn sentences(&self) -> String {
        let made: Vec<String> = self.made.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let made = if made.is_empty() { "nothing".to_owned() } else { made.join(", ") };
        let of = format!("from the backup {} of {}", self.backup, self.taken_at);
        let mut text = match self.outcome {
            Outcome::NothingToDo => {
                format!("All of {} is there already, {of}: nothing was changed.", self.file)
            }
            Outcome::WouldRestore => {
                format!("This would make {made}, {of}; {}.", self.there_in_words())
            }
            Outcome::Restored => format!("Put back {made}, {of}; {}.", self.there_in_words()),
        };
        if !self.workloads.is_empty() {
            let _ = write!(text, "\nLocal cluster: {}.", self.workloads.join(", "));
        }
        for line in &self.in_the_way {
            let _ = write!(text, "\nin the way: {line}");
        }
        match self.outcome {
            Outcome::WouldRestore => {}
            Outcome::Restored | Outcome::NothingToDo => {
                text += "\nEvery Workspace is planned before anything else. Look at them with `kubectl get workspaces`: one whose \
                         plan is not empty waits for an approval. `capt doctor` looks at the rest.";
            }
        }
        text
    }

    fn there_in_words(&self) -> String {
        match self.there {
            0 => "nothing of it is there already".to_owned(),
            1 => "1 object is there already".to_owned(),
            count => format!("{count} objects are there already"),
        }
    }
}
