//! The spec that an apply would give its Workspace.

use std::collections::BTreeSet;

use anyhow::Context as _;
use capt_api::crossplane::{KeyReference, WorkspaceSpec};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::apply::Blocked;
use capt_core::apply::render::{self, Inputs, SECRET_FILE_KEY};
use capt_core::apply::variables::{self, BuiltIns, Hidden};
use capt_core::forecast::template_key;
use capt_core::standing::cluster_name;
use serde_json::Value;

use super::Looking;
use super::sources;

/// What stands for a Secret that would be made.
const MADE_ANEW: &str = "(made anew)";
const OTHER_VALUES: &str = "(made anew, with other values)";

/// What a Workspace would be.
pub(super) struct Rendered {
    pub(super) spec: WorkspaceSpec,
    /// The same, with what this version of CAPT does not know.
    pub(super) whole: Value,
    /// The file of secret values, where the Secret that would hold it is not there.
    pub(super) values: Option<Hidden>,
    /// Variables whose values nobody knows yet.
    pub(super) unknown: Vec<String>,
    /// What else there is to know.
    pub(super) remarks: Vec<String>,
}

/// Renders an apply as its driver would.
pub(super) async fn rendered(
    looking: &Looking<'_>,
    apply: &WorkspaceTemplateApply,
    workspace: &str,
    live: Option<&Workspace>,
    changing: &BTreeSet<String>,
) -> anyhow::Result<Rendered> {
    let key = template_key(&apply.spec.template_ref, &apply.metadata);
    let template = looking.world.templates.get(&key).with_context(|| {
        format!(
            "spec.templateRef: there is no WorkspaceTemplate `{}/{}`, neither on disk nor on the server",
            key.0, key.1
        )
    })?;
    let blocked = |blocked: Blocked| anyhow::anyhow!(blocked.message);
    let sources::Values { sourced, unknown, mut remarks } = sources::read(looking, apply, changing).await?;
    let variables = variables::collect(apply, sourced).map_err(blocked)?;
    let namespace = apply.metadata.namespace.clone().unwrap_or_default();
    let built_ins = BuiltIns { workspace, cluster: cluster_name(&apply.metadata), namespace: &namespace };
    let inputs = Inputs { apply, template, variables: &variables, built_ins };
    let prepared = render::prepare(inputs).map_err(blocked)?;
    let content = prepared.secret_file(&variables).map_err(blocked)?;
    let (file, values) = match content {
        Some(content) => match present(looking, &namespace, live, &content).await? {
            Ok(name) => (Some(name), None),
            Err(name) => (Some(name.to_owned()), Some(content)),
        },
        None => (None, None),
    };
    let rendered = prepared.finish(inputs, file.as_deref()).map_err(blocked)?;
    remarks.extend(rendered.ignored.iter().map(|name| {
        format!("variable `{name}` goes nowhere: the module does not declare it and no placeholder uses it")
    }));
    let whole = rendered.spec;
    let spec = serde_json::from_value(whole.clone()).context("the template makes no Workspace")?;
    Ok(Rendered { spec, whole, values, unknown, remarks })
}

/// The Secret that is used now, if it holds the same; else what stands for the one that would be made.
async fn present(
    looking: &Looking<'_>,
    namespace: &str,
    live: Option<&Workspace>,
    content: &Hidden,
) -> anyhow::Result<Result<String, &'static str>> {
    let files = live.iter().flat_map(|live| &live.spec.for_provider.var_files);
    let mut used = files.filter_map(|file| file.secret_key_ref.as_ref());
    let Some(used) = used.find(|used| used.key == SECRET_FILE_KEY) else { return Ok(Err(MADE_ANEW)) };
    let found = looking.secret(namespace, &used.name).await?;
    let data = found.and_then(|found| found.data).unwrap_or_default();
    let same = data.get(SECRET_FILE_KEY).is_some_and(|held| held.0 == content.expose().as_bytes());
    Ok(if same { Ok(used.name.clone()) } else { Err(OTHER_VALUES) })
}

/// The same spec, with its file of secret values where whoever plans it finds it.
pub(super) fn with_values_at(mut spec: WorkspaceSpec, place: &KeyReference) -> WorkspaceSpec {
    let references = spec.for_provider.var_files.iter_mut().filter_map(|file| file.secret_key_ref.as_mut());
    for reference in references.filter(|it| it.name == MADE_ANEW || it.name == OTHER_VALUES) {
        *reference = place.clone();
    }
    spec
}
