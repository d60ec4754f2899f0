//! Templates and applies: those on disk before those on the server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use capt_api::{WorkspaceTemplate, WorkspaceTemplateApply};
use capt_core::graph::Applies;
use capt_core::name::{is_namespace_name, is_object_name};
use capt_core::tie::ApplyKey;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use serde_json::Value;

use crate::commands::validate::files;

type TemplateKey = (String, String);

/// What there is, as it would be with the manifests.
#[derive(Default)]
pub(super) struct Known {
    applies: BTreeMap<ApplyKey, Arc<WorkspaceTemplateApply>>,
    templates: BTreeMap<TemplateKey, WorkspaceTemplate>,
}

impl Applies for Known {
    fn get(&self, key: &ApplyKey) -> Option<impl std::ops::Deref<Target = WorkspaceTemplateApply> + use<>> {
        self.apply(key)
    }
}

/// Reads manifests, and what is on the server. Answers also which applies are meant: those on disk, and those that use a
/// template on disk; and which manifests are not looked at.
pub(super) async fn read(
    paths: &[PathBuf],
    client: &Client,
    namespace: &str,
) -> anyhow::Result<(Known, BTreeSet<ApplyKey>, Vec<String>)> {
    let mut known = Known { applies: live(client, namespace).await?, ..Known::default() };
    let (mut meant, mut skipped) = (BTreeSet::new(), Vec::new());
    for read in files::read(paths)? {
        let Some(file) = read.as_file() else {
            bail!("{}", read.problem().map(|it| format!("{}: {}", it.file, it.message)).unwrap_or_default());
        };
        let objects: Vec<Value> = serde_saphyr::from_multiple(file.text).map_err(|_| {
            anyhow::anyhow!("{} cannot be read: see `capt validate -f {}`", file.name, file.name)
        })?;
        for object in objects {
            known.take(object, file.name, namespace, &mut meant, &mut skipped)?;
        }
    }
    let templates = &known.templates;
    let users = known.applies.iter().filter(|(_, apply)| templates.contains_key(&template_of(apply)));
    meant.extend(users.map(|(key, _)| key.clone()));
    let used: BTreeSet<TemplateKey> = known.applies.values().map(|apply| template_of(apply)).collect();
    for (namespace, name) in templates.keys().filter(|key| !used.contains(*key)) {
        skipped.push(format!("WorkspaceTemplate `{namespace}/{name}`: nothing uses it"));
    }
    Ok((known, meant, skipped))
}

/// All applies; of one namespace where no more may be seen.
async fn live(
    client: &Client,
    namespace: &str,
) -> anyhow::Result<BTreeMap<ApplyKey, Arc<WorkspaceTemplateApply>>> {
    let all: Api<WorkspaceTemplateApply> = Api::all(client.clone());
    let listed = match all.list(&ListParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 403 => {
            let own: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), namespace);
            own.list(&ListParams::default()).await
        }
        listed => listed,
    };
    let listed = listed.context(
        "listing WorkspaceTemplateApplies; if the kind is missing, `capt crds | kubectl apply --server-side -f -` installs it",
    )?;
    Ok(listed.into_iter().map(|apply| (ApplyKey::of(&apply), Arc::new(apply))).collect())
}

impl Known {
    pub(super) fn apply(&self, key: &ApplyKey) -> Option<Arc<WorkspaceTemplateApply>> {
        self.applies.get(key).cloned()
    }

    /// The template that an apply uses.
    pub(super) async fn template(
        &self,
        client: &Client,
        apply: &WorkspaceTemplateApply,
    ) -> anyhow::Result<WorkspaceTemplate> {
        let key = template_of(apply);
        if let Some(template) = self.templates.get(&key) {
            return Ok(template.clone());
        }
        let (namespace, name) = key;
        if is_namespace_name(&namespace) && is_object_name(&name) {
            let templates: Api<WorkspaceTemplate> = Api::namespaced(client.clone(), &namespace);
            let doing = || format!("reading WorkspaceTemplate `{namespace}/{name}`");
            if let Some(found) = templates.get_opt(&name).await.with_context(doing)? {
                return Ok(found);
            }
        }
        bail!(
            "spec.templateRef: there is no WorkspaceTemplate `{namespace}/{name}`, neither on disk nor on the server"
        )
    }

    /// Takes one object in.
    fn take(
        &mut self,
        mut object: Value,
        file: &str,
        namespace: &str,
        meant: &mut BTreeSet<ApplyKey>,
        skipped: &mut Vec<String>,
    ) -> anyhow::Result<()> {
        let word =
            |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (kind, name, own) = (word("/kind"), word("/metadata/name"), word("/metadata/namespace"));
        if object.is_null() {
            return Ok(());
        }
        if own.is_empty() && object["metadata"].is_object() {
            object["metadata"]["namespace"] = namespace.into();
        }
        let unreadable = || format!("{file}: {kind} `{name}` cannot be read: see `capt validate -f {file}`");
        match kind.as_str() {
            "WorkspaceTemplate" => {
                let template: WorkspaceTemplate = serde_json::from_value(object).with_context(unreadable)?;
                let key = (template.namespace().unwrap_or_default(), template.name_any());
                self.templates.insert(key, template);
            }
            "WorkspaceTemplateApply" => {
                let mut apply: WorkspaceTemplateApply =
                    serde_json::from_value(object).with_context(unreadable)?;
                let key = ApplyKey::of(&apply);
                if let Some(live) = self.applies.get(&key) {
                    adopt(&mut apply, live);
                }
                self.applies.insert(key.clone(), Arc::new(apply));
                meant.insert(key);
            }
            _ => skipped.push(format!(
                "{kind} `{name}`: only WorkspaceTemplates and WorkspaceTemplateApplies are rendered here"
            )),
        }
        Ok(())
    }
}

/// What the server knows of an apply and its manifest does not say: whose it is, and what its Workspace is called.
fn adopt(apply: &mut WorkspaceTemplateApply, live: &WorkspaceTemplateApply) {
    let mut annotations = live.annotations().clone();
    annotations.extend(apply.annotations().clone());
    apply.metadata.annotations = Some(annotations);
    let mut labels = live.labels().clone();
    labels.extend(apply.labels().clone());
    apply.metadata.labels = Some(labels);
    apply.metadata.owner_references.clone_from(&live.metadata.owner_references);
    apply.status.clone_from(&live.status);
}

fn template_of(apply: &WorkspaceTemplateApply) -> TemplateKey {
    let reference = &apply.spec.template_ref;
    let own = apply.metadata.namespace.as_deref().unwrap_or_default();
    let namespace = reference.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(own);
    (namespace.to_owned(), reference.name.clone())
}
