//! What to do with an object of a backup, by what is there of its name.

use capt_api::names::annotation;
use serde_json::{Map, Value};

use super::object::archived as as_kept;

/// What to do with an object of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is not there: make it.
    Create,
    /// It was made from this backup, and may have gone on since.
    Restored,
    /// The same is there.
    Same,
    /// Another one is there, which differs in these fields.
    Differs(Vec<&'static str>),
    /// It is there and goes away.
    Leaving,
}

/// Judges an object of a backup by what is there.
pub fn judge(kept: &Value, live: Option<&Value>, backup: &str) -> Verdict {
    let Some(live) = live else { return Verdict::Create };
    if !live["metadata"]["deletionTimestamp"].is_null() {
        return Verdict::Leaving;
    }
    if live["metadata"]["annotations"][annotation::RESTORED_FROM] == backup {
        return Verdict::Restored;
    }
    // Every cluster has namespaces of its own of these names, and what is written on them is not CAPT's.
    if kept["kind"] == "Namespace" {
        return Verdict::Same;
    }
    let live = as_kept(live);
    let mut differing = Vec::new();
    for field in ["spec", "data", "binaryData", "type", "immutable"] {
        if plain(&kept[field]) != plain(&live[field]) {
            differing.push(field);
        }
    }
    for (field, path) in [("labels", "metadata.labels"), ("annotations", "metadata.annotations")] {
        let has = |key: &String, value: &Value| live["metadata"][field].get(key) == Some(value);
        let kept = kept["metadata"][field].as_object();
        if kept.is_some_and(|entries| !entries.iter().all(|(key, value)| has(key, value))) {
            differing.push(path);
        }
    }
    if differing.is_empty() { Verdict::Same } else { Verdict::Differs(differing) }
}

/// What is not there and what is empty is the same.
fn plain(value: &Value) -> Option<&Value> {
    match value {
        Value::Null => None,
        Value::Object(fields) if *fields == Map::new() => None,
        value => Some(value),
    }
}
