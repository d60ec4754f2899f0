//! Reads what a backup holds, all of one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{bail, ensure};
use capt_api::names::{CLUSTER_SECRET_TYPE, CONNECTION_SECRET_TYPE, annotation, label};
use capt_core::archive::{KINDS, Key, Kind, Workspace, archived, is_kept_secret, references, workspace};
use kube::Client;
use kube::api::ListParams;
use serde_json::Value;

use super::busy;
use crate::archive::live;
use crate::printer::Printer;

/// How often it is tried again when something changed meanwhile.
const ATTEMPTS: usize = 5;
/// More than anybody's objects refer to, one through another.
const MOST_REFERENCES: usize = 100_000;

/// What is kept.
#[derive(Debug)]
pub(super) enum Scope {
    All,
    Namespace(String),
}

impl Scope {
    pub(super) fn namespace(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Namespace(namespace) => Some(namespace),
        }
    }

    pub(super) fn in_words(&self) -> String {
        match self {
            Self::All => "this cluster".to_owned(),
            Self::Namespace(namespace) => {
                format!("the namespace {namespace}: write another with --namespace, or -A for all of them")
            }
        }
    }
}

/// What was read, as it is kept.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) objects: BTreeMap<Key, Value>,
}

impl Collected {
    /// How many there are of each kind.
    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for key in self.objects.keys() {
            *counts.entry(key.kind.to_owned()).or_default() += 1;
        }
        counts
    }

    fn add(&mut self, object: &Value) {
        if let Some(key) = Key::of(object) {
            self.objects.insert(key, archived(object));
        }
    }
}

/// Reads everything at a moment in which no Terraform runs and no state changes.
pub(super) async fn consistently(
    client: &Client,
    scope: &Scope,
    patience: Option<Duration>,
    printer: Printer,
) -> anyhow::Result<Collected> {
    for _ in 0..ATTEMPTS {
        busy::wait(client, scope, patience, printer).await?;
        let before = secrets(client, scope).await?;
        let collected = everything(client, scope, &before).await?;
        let after = secrets(client, scope).await?;
        // A run that has begun since is told by its lock, and one that was over since by a new version.
        if versions(&before) == versions(&after) {
            busy::wait(client, scope, patience, printer).await?;
            return Ok(collected);
        }
    }
    bail!("nothing was written: states and records change all the time; try again when less is going on")
}

async fn everything(client: &Client, scope: &Scope, secrets: &[Value]) -> anyhow::Result<Collected> {
    let mut collected = Collected::default();
    for secret in secrets {
        collected.add(secret);
    }
    for kind in KINDS.iter().filter(|kind| is_listed(kind)) {
        for object in live::list(client, kind, scope.namespace(), &ListParams::default()).await? {
            ensure!(
                object["metadata"]["deletionTimestamp"].is_null(),
                "nothing was written: {} is being deleted; wait until it is gone",
                Key::of(&object).map_or_else(|| kind.name.to_owned(), |key| key.to_string())
            );
            collected.add(&object);
        }
    }
    for object in workspaces(client, scope).await? {
        collected.add(&object);
    }
    follow(client, &mut collected).await?;
    add_namespaces(client, &mut collected).await?;
    Ok(collected)
}

/// What is listed as a whole. Secrets and `ConfigMap`s are many people's, and the rest is there if something refers to it.
fn is_listed(kind: &Kind) -> bool {
    kind.namespaced && !matches!(kind.name, "Secret" | "ConfigMap")
}

/// Workspaces that no apply makes again as they are.
async fn workspaces(client: &Client, scope: &Scope) -> anyhow::Result<Vec<Value>> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == "Workspace") else { return Ok(Vec::new()) };
    let mut found = live::list(client, kind, None, &ListParams::default()).await?;
    found.retain(|object| match (scope, workspace(object)) {
        (_, Workspace::Derived) | (Scope::Namespace(_), Workspace::Nobodys) => false,
        (Scope::All, Workspace::Nobodys | Workspace::Marked) => true,
        (Scope::Namespace(namespace), Workspace::Marked) => {
            let apply = object["metadata"]["annotations"][annotation::APPLY].as_str().unwrap_or_default();
            apply.split_once('/').is_some_and(|(of, _)| of == namespace)
        }
    });
    Ok(found)
}

/// Secrets that are kept by what they are. Four questions, so that no other Secret is ever read.
async fn secrets(client: &Client, scope: &Scope) -> anyhow::Result<Vec<Value>> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == "Secret") else { return Ok(Vec::new()) };
    let questions = [
        ListParams::default().labels(&format!("{}=true", label::TERRAFORM_STATE)),
        ListParams::default().labels(label::ROLE),
        ListParams::default().fields(&format!("type={CONNECTION_SECRET_TYPE}")),
        ListParams::default().fields(&format!("type={CLUSTER_SECRET_TYPE}")),
    ];
    let mut found = BTreeMap::new();
    for question in &questions {
        for secret in live::list(client, kind, scope.namespace(), question).await? {
            if let Some(key) = Key::of(&secret).filter(|_| is_kept_secret(&secret)) {
                found.insert(key, secret);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// Which versions of Secrets there are.
fn versions(secrets: &[Value]) -> BTreeSet<(Option<&str>, Option<&str>)> {
    let metadata = secrets.iter().map(|secret| &secret["metadata"]);
    metadata.map(|metadata| (metadata["uid"].as_str(), metadata["resourceVersion"].as_str())).collect()
}

/// Adds what the objects refer to, and what that refers to. What is not there is not kept.
async fn follow(client: &Client, collected: &mut Collected) -> anyhow::Result<()> {
    let mut seen: BTreeSet<Key> = collected.objects.keys().cloned().collect();
    let mut left: Vec<Key> = collected.objects.values().flat_map(references).collect();
    while let Some(key) = left.pop() {
        if !seen.insert(key.clone()) {
            continue;
        }
        ensure!(
            seen.len() < MOST_REFERENCES,
            "nothing was written: there is no end to what the objects refer to"
        );
        if let Some(object) = live::get(client, &key).await? {
            left.extend(references(&object));
            collected.add(&object);
        }
    }
    Ok(())
}

async fn add_namespaces(client: &Client, collected: &mut Collected) -> anyhow::Result<()> {
    let names: BTreeSet<String> = collected.objects.keys().filter_map(|key| key.namespace.clone()).collect();
    for name in names {
        let key = Key { kind: "Namespace", namespace: None, name };
        if let Some(namespace) = live::get(client, &key).await? {
            collected.add(&namespace);
        }
    }
    Ok(())
}
