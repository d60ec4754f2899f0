//! `capt plan -f`: what manifests on disk would make of Workspaces.

mod known;
mod sources;

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use capt_api::crossplane::WorkspaceSpec;
use capt_api::workspace_template_apply::UpdatePolicy;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::apply::readable::readable;
use capt_core::apply::render::{self, Inputs, SECRET_FILE_KEY};
use capt_core::apply::variables::{self, BuiltIns, Hidden};
use capt_core::standing::cluster_name;
use capt_core::tie::{self, ApplyKey};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use serde::Serialize;
use similar::{Algorithm, TextDiff};

use self::known::Known;
use crate::exit::ExitWith;
use crate::printer::Printer;

/// What manifests would change.
#[derive(Serialize)]
struct Differences {
    workspaces: Vec<Difference>,
    /// Manifests of which nothing can be told here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<String>,
}

/// What would change in a Workspace.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Difference {
    workspace: String,
    /// The apply, as `namespace/name`.
    apply: String,
    change: Change,
    /// A unified diff of the Workspace's spec.
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
enum Change {
    /// The Workspace is made.
    Create,
    /// Its spec changes.
    Update,
    /// It stays as it is.
    None,
}

pub(super) async fn run(
    files: &[PathBuf],
    client: &Client,
    namespace: &str,
    detailed_exitcode: bool,
    printer: Printer,
) -> anyhow::Result<()> {
    let (known, meant, skipped) = known::read(files, client, namespace).await?;
    ensure!(
        !meant.is_empty() || !skipped.is_empty(),
        "there is neither a WorkspaceTemplate that is used nor a WorkspaceTemplateApply in what was read"
    );
    let (mut workspaces, mut failures) = (Vec::new(), Vec::new());
    for key in &meant {
        match difference(client, &known, key).await {
            Ok(difference) => workspaces.push(difference),
            Err(error) => failures.push(format!("WorkspaceTemplateApply `{key}`: {error:#}")),
        }
    }
    let changes = workspaces.iter().any(|difference| difference.change != Change::None);
    let differences = Differences { workspaces, skipped };
    printer.value(&differences, &differences.sentences())?;
    ensure!(failures.is_empty(), "{}", failures.join("; "));
    if changes && detailed_exitcode {
        return Err(ExitWith(super::CHANGES).into());
    }
    Ok(())
}

/// What CAPT would write, beside what is there.
async fn difference(client: &Client, known: &Known, key: &ApplyKey) -> anyhow::Result<Difference> {
    let apply = known.apply(key).context("it is gone")?;
    let name = tie::workspace_name(&apply);
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let live = workspaces.get_opt(&name).await.with_context(|| format!("reading Workspace `{name}`"))?;
    let (wanted, ignored) = rendered(client, known, &apply, &name, live.as_ref()).await?;
    let (before, after) = readable(live.as_ref().map(|live| &live.spec), &wanted);
    let change = match &live {
        None => Change::Create,
        Some(_) if before == after => Change::None,
        Some(_) => Change::Update,
    };
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(&before, &after);
    let header = (format!("Workspace {name}"), format!("Workspace {name}, as these manifests make it"));
    let mut remarks: Vec<String> = ignored
        .iter()
        .map(|name| {
            format!(
                "variable `{name}` goes nowhere: the module does not declare it and no placeholder uses it"
            )
        })
        .collect();
    match apply.spec.update_policy {
        UpdatePolicy::Automatic => {}
        _ if change != Change::Update => {}
        UpdatePolicy::Approve => remarks.push(format!("this waits for `capt approve apply {}`", key.name)),
        UpdatePolicy::Pinned => {
            remarks.push("spec.updatePolicy is Pinned: this is not carried over".to_owned());
        }
    }
    Ok(Difference {
        workspace: name,
        apply: key.to_string(),
        diff: if change == Change::None {
            String::new()
        } else {
            diff.unified_diff().header(&header.0, &header.1).to_string()
        },
        change,
        remarks,
    })
}

/// The spec that CAPT would write, and the variables that go nowhere.
async fn rendered(
    client: &Client,
    known: &Known,
    apply: &WorkspaceTemplateApply,
    workspace: &str,
    live: Option<&Workspace>,
) -> anyhow::Result<(WorkspaceSpec, Vec<String>)> {
    let template = known.template(client, apply).await?;
    let sourced = sources::read(client, known, apply).await?;
    let blocked = |blocked: capt_core::apply::Blocked| anyhow::anyhow!(blocked.message);
    let variables = variables::collect(apply, sourced).map_err(blocked)?;
    let namespace = apply.metadata.namespace.clone().unwrap_or_default();
    let built_ins = BuiltIns { workspace, cluster: cluster_name(&apply.metadata), namespace: &namespace };
    let inputs = Inputs { apply, template: &template, variables: &variables, built_ins };
    let prepared = render::prepare(inputs).map_err(blocked)?;
    let secret_file = match prepared.secret_file(&variables).map_err(blocked)? {
        Some(content) => Some(secret_file(client, &namespace, live, &content).await?),
        None => None,
    };
    let rendered = prepared.finish(inputs, secret_file.as_deref()).map_err(blocked)?;
    let spec = serde_json::from_value(rendered.spec).context("the template makes no Workspace")?;
    Ok((spec, rendered.ignored))
}

/// The name of the Secret with secret values: the one that is used now, if it would hold the same.
async fn secret_file(
    client: &Client,
    namespace: &str,
    live: Option<&Workspace>,
    content: &Hidden,
) -> anyhow::Result<String> {
    let files = live.iter().flat_map(|live| &live.spec.for_provider.var_files);
    let mut used = files.filter_map(|file| file.secret_key_ref.as_ref());
    let Some(used) = used.find(|used| used.key == SECRET_FILE_KEY) else {
        return Ok("(made anew)".to_owned());
    };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let found =
        secrets.get_opt(&used.name).await.with_context(|| format!("reading Secret `{}`", used.name))?;
    let data = found.and_then(|found| found.data).unwrap_or_default();
    let same = data.get(SECRET_FILE_KEY).is_some_and(|held| held.0 == content.expose().as_bytes());
    Ok(if same { used.name.clone() } else { "(made anew, with other values)".to_owned() })
}

impl Differences {
    fn sentences(&self) -> String {
        let mut texts: Vec<String> = self.workspaces.iter().map(Difference::sentences).collect();
        if !self.skipped.is_empty() {
            texts.push(format!("not looked at:\n- {}", self.skipped.join("\n- ")));
        }
        texts.join("\n\n")
    }
}

impl Difference {
    fn sentences(&self) -> String {
        let Self { workspace, apply, change, diff, remarks } = self;
        let head = match change {
            Change::Create => format!("Workspace `{workspace}` of WorkspaceTemplateApply `{apply}` is made"),
            Change::Update => format!("Workspace `{workspace}` of WorkspaceTemplateApply `{apply}` changes"),
            Change::None => {
                format!("Workspace `{workspace}` of WorkspaceTemplateApply `{apply}` stays as it is")
            }
        };
        let remarks: Vec<String> = remarks.iter().map(|remark| format!("- {remark}")).collect();
        format!("{head}\n{diff}\n{}", remarks.join("\n")).trim_end().to_owned()
    }
}
