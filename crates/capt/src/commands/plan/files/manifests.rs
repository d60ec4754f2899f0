//! What is on disk, put over what is on the server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use capt_api::names::group;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::forecast::{Key, World};
use capt_core::tie::ApplyKey;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::commands::validate::files;

/// What was read, beside what went into the world.
#[derive(Default)]
pub(super) struct Manifests {
    /// Kinds and names of everything that was read.
    pub(super) objects: BTreeSet<(String, Key)>,
    /// Applies that were read themselves.
    pub(super) applies: BTreeSet<ApplyKey>,
    pub(super) workspaces: BTreeMap<String, Workspace>,
    pub(super) config_maps: BTreeMap<Key, ConfigMap>,
    pub(super) secrets: BTreeMap<Key, Secret>,
    /// What leads to no Workspace, or cannot be told from here.
    pub(super) skipped: Vec<String>,
}

/// Reads manifests and puts them into the world.
pub(super) fn read(paths: &[PathBuf], namespace: &str, world: &mut World) -> anyhow::Result<Manifests> {
    let mut manifests = Manifests::default();
    for read in files::read(paths)? {
        if let Some(tool) = read.other_tool() {
            manifests.skipped.push(format!("{}: {}", read.name(), tool.explanation()));
            continue;
        }
        let Some(file) = read.as_file() else {
            bail!("{}", read.problem().map(|it| format!("{}: {}", it.file, it.message)).unwrap_or_default());
        };
        let objects: Vec<Value> = serde_saphyr::from_multiple(file.text).map_err(|_| {
            anyhow::anyhow!("{} cannot be read: see `capt validate -f {}`", file.name, file.name)
        })?;
        for object in objects {
            let items = match object["items"].as_array() {
                Some(items) if object["kind"] == "List" => items.clone(),
                _ => vec![object],
            };
            for item in items {
                Taking { file: file.name, namespace, world }.take(item, &mut manifests)?;
            }
        }
    }
    Ok(manifests)
}

struct Taking<'file> {
    file: &'file str,
    namespace: &'file str,
    world: &'file mut World,
}

impl Taking<'_> {
    /// Takes one object in.
    fn take(&mut self, mut object: Value, manifests: &mut Manifests) -> anyhow::Result<()> {
        if object.is_null() {
            return Ok(());
        }
        let word =
            |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (version, kind, name) = (word("/apiVersion"), word("/kind"), word("/metadata/name"));
        let group = version.split_once('/').map_or("", |(group, _)| group);
        if kind == "Workspace" && group == group::TERRAFORM {
            manifests.workspaces.insert(name.clone(), self.parsed(&kind, &name, object)?);
            manifests.objects.insert((kind, (String::new(), name)));
            return Ok(());
        }
        if object["metadata"].is_object()
            && object["metadata"]["namespace"].as_str().is_none_or(str::is_empty)
        {
            object["metadata"]["namespace"] = self.namespace.into();
        }
        let key = (object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned(), name.clone());
        manifests.objects.insert((kind.clone(), key.clone()));
        match (group, kind.as_str()) {
            ("", "ConfigMap") => {
                manifests.config_maps.insert(key, self.parsed(&kind, &name, object)?);
            }
            ("", "Secret") => {
                manifests.secrets.insert(key, self.parsed(&kind, &name, object)?);
            }
            (group::CLUSTER, "Cluster") => self.take_cluster(key, object, manifests)?,
            (group::INFRASTRUCTURE, "CAPTCluster") => {
                let live = self.world.networks.get(&key);
                let kept = ["workspaceTemplateApplyName", "controlPlaneEndpoint"];
                let over = put_over(live.map(|live| json!(live)), object, &kept);
                let network = self.parsed(&kind, &name, over)?;
                self.world.networks.insert(key, network);
            }
            (group::CONTROL_PLANE, "CAPTControlPlane") => {
                let live = self.world.control_planes.get(&key);
                let kept = ["workspaceTemplateApplyName", "controlPlaneEndpoint"];
                let over = put_over(live.map(|live| json!(live)), object, &kept);
                let control_plane = self.parsed(&kind, &name, over)?;
                self.world.control_planes.insert(key, control_plane);
            }
            (group::INFRASTRUCTURE, "WorkspaceTemplate") => {
                let template = self.parsed(&kind, &name, object)?;
                self.world.templates.insert(key.clone(), template);
                self.world.new_templates.insert(key);
            }
            (group::INFRASTRUCTURE, "WorkspaceTemplateApply") => {
                let apply_key = ApplyKey { namespace: key.0, name: key.1 };
                let live = self.world.applies.get(&apply_key);
                let over = put_over(live.map(|live| json!(**live)), object, &[]);
                let apply: WorkspaceTemplateApply = self.parsed(&kind, &name, over)?;
                self.world.applies.insert(apply_key.clone(), Arc::new(apply));
                manifests.applies.insert(apply_key);
            }
            _ => manifests.skipped.push(format!("{kind} `{name}`: it leads to no Workspace")),
        }
        Ok(())
    }

    fn take_cluster(&mut self, key: Key, mut object: Value, manifests: &mut Manifests) -> anyhow::Result<()> {
        if object["spec"]["topology"].is_object() {
            manifests.skipped.push(format!(
                "Cluster `{}`: it is made from a ClusterClass, and Cluster API alone knows what becomes of that",
                key.1
            ));
        }
        for reference in ["/spec/infrastructureRef", "/spec/controlPlaneRef"] {
            if let Some(reference) = object.pointer_mut(reference) {
                with_group(reference);
            }
        }
        let live = self.world.clusters.get(&key).map(|live| json!(live));
        let kept = ["controlPlaneEndpoint", "infrastructureRef", "controlPlaneRef"];
        let over = put_over(live, object, &kept);
        let cluster = self.parsed("Cluster", &key.1, over)?;
        self.world.clusters.insert(key, cluster);
        Ok(())
    }

    fn parsed<K: DeserializeOwned>(&self, kind: &str, name: &str, object: Value) -> anyhow::Result<K> {
        let file = self.file;
        serde_json::from_value(object)
            .with_context(|| format!("{file}: {kind} `{name}` cannot be read: see `capt validate -f {file}`"))
    }
}

/// Older versions of Cluster API refer to objects by the version of their API.
fn with_group(reference: &mut Value) {
    let version = reference.get("apiVersion").and_then(Value::as_str);
    let group = version.and_then(|version| version.split_once('/')).map(|(group, _)| group.to_owned());
    let fields = reference.as_object_mut().filter(|fields| !fields.contains_key("apiGroup"));
    if let (Some(group), Some(fields)) = (group, fields) {
        fields.insert("apiGroup".to_owned(), group.into());
    }
}

/// A manifest with what the server knows of its object: whose it is, what it is like, and the fields of its spec that CAPT or
/// Cluster API fill in.
fn put_over(live: Option<Value>, mut object: Value, filled_in: &[&str]) -> Value {
    let Some(live) = live else { return object };
    for map in ["annotations", "labels"] {
        let mut merged = live["metadata"][map].as_object().cloned().unwrap_or_default();
        merged.extend(object["metadata"][map].as_object().cloned().unwrap_or_default());
        object["metadata"][map] = merged.into();
    }
    for field in ["ownerReferences", "finalizers", "uid", "resourceVersion", "generation"] {
        object["metadata"][field] = live["metadata"][field].clone();
    }
    for field in filled_in {
        if object["spec"][*field].is_null() && !live["spec"][*field].is_null() {
            object["spec"][*field] = live["spec"][*field].clone();
        }
    }
    object["status"] = live["status"].clone();
    object
}
