//! One object: as it is kept, and as it is put back.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::names::{annotation, label};
use serde_json::{Map, Value, json};

use super::kind::{Kind, Treatment, kind_of, named};
use crate::name::{is_namespace_name, is_object_name};

/// What of an object's metadata is kept.
const KEPT: [&str; 6] = ["name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"];
/// The role of a Secret with what is on record about runs, and the key of it.
const RECORD: &str = "record";
const MEMORY: &str = "memory";

/// Names an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Its kind.
    pub kind: &'static str,
    /// Its namespace, if its kind has such.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl Key {
    /// Names this object; nothing where a backup has no such object.
    pub fn of(object: &Value) -> Option<Self> {
        let kind = kind_of(object)?;
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str().filter(|name| is_object_name(name))?.to_owned();
        let namespace = match (kind.namespaced, metadata["namespace"].as_str()) {
            (true, namespace) => Some(namespace.filter(|namespace| is_namespace_name(namespace))?.to_owned()),
            (false, None) => None,
            (false, Some(_)) => return None,
        };
        Some(Self { kind: kind.name, namespace, name })
    }

    /// The kind.
    pub fn kind(&self) -> Option<&'static Kind> {
        named(self.kind)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(formatter, "{} `{namespace}/{}`", self.kind, self.name),
            None => write!(formatter, "{} `{}`", self.kind, self.name),
        }
    }
}

/// An object as it is kept: without what the API server adds, without its status, and without marks of an earlier restore.
///
/// A Namespace is kept by what is written on it: its spec says only who holds it.
pub fn archived(object: &Value) -> Value {
    let mut kept = object.clone();
    if let Some(fields) = kept.as_object_mut() {
        fields.remove("status");
        if fields.get("kind").is_some_and(|kind| kind == "Namespace") {
            fields.remove("spec");
        }
    }
    let Some(metadata) = kept["metadata"].as_object_mut() else { return kept };
    metadata.retain(|field, value| KEPT.contains(&field.as_str()) && !value.is_null());
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove(annotation::RESTORED_FROM);
        // A pause that a restore has left behind is not its user's.
        if annotations.remove(annotation::RESTORING).is_some() {
            annotations.remove(annotation::PAUSED);
            annotations.remove(annotation::CROSSPLANE_PAUSED);
        }
    }
    kept
}

/// An object as it is put back: owned by nobody yet, kept still, and marked with the backup that it comes from.
pub fn to_create(archived: &Value, backup: &str) -> Value {
    let mut object = archived.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("ownerReferences");
    }
    let treatment = kind_of(archived).map_or(Treatment::Quiet, |kind| kind.treatment);
    let annotations = &mut object["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = json!({});
    }
    annotations[annotation::RESTORED_FROM] = json!(backup);
    if let Some((pause, is_paused)) = pause(treatment, annotations)
        && !is_paused
    {
        annotations[pause] = json!("true");
        annotations[annotation::RESTORING] = json!(backup);
    }
    if object["kind"] == "Secret" && object["metadata"]["labels"][label::ROLE] == RECORD {
        mark_record(&mut object);
    }
    object
}

/// Whether a live object is still kept still by a restore.
pub fn is_restoring(live: &Value) -> bool {
    live["metadata"]["annotations"].get(annotation::RESTORING).is_some()
}

/// What ends the pause of a restore, as a merge patch; nothing where there is no such pause.
pub fn release(live: &Value) -> Option<Value> {
    let kind = kind_of(live)?;
    if !is_restoring(live) {
        return None;
    }
    let mut annotations = json!({ annotation::RESTORING: null });
    if let Some((pause, _)) = pause(kind.treatment, &Value::Null) {
        annotations[pause] = Value::Null;
    }
    let metadata = &live["metadata"];
    Some(json!({ "metadata": {
        "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"], "annotations": annotations,
    }}))
}

/// The annotation that keeps an object still, and whether its user has set it.
fn pause(treatment: Treatment, annotations: &Value) -> Option<(&'static str, bool)> {
    match treatment {
        Treatment::Quiet => None,
        Treatment::Paused => Some((annotation::PAUSED, annotations.get(annotation::PAUSED).is_some())),
        Treatment::Frozen => {
            Some((annotation::CROSSPLANE_PAUSED, annotations[annotation::CROSSPLANE_PAUSED] == "true"))
        }
    }
}

/// Notes on record that it comes from a backup: then nothing is changed by a plan that nobody has seen. What cannot be read goes:
/// without a record, a state is treated as one that somebody else made.
fn mark_record(secret: &mut Value) {
    let Some(data) = secret["data"].as_object_mut() else { return };
    let Some(memory) = data.remove(MEMORY) else { return };
    let read = memory.as_str().and_then(|text| STANDARD.decode(text).ok());
    let read = read.and_then(|bytes| serde_json::from_slice::<Map<String, Value>>(&bytes).ok());
    if let Some(mut memory) = read {
        memory.insert("restored".to_owned(), json!(true));
        data.insert(MEMORY.to_owned(), json!(STANDARD.encode(Value::Object(memory).to_string())));
    }
}
