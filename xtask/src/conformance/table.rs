//! The objects that both kinds of CRDs are asked about.
//!
//! They are created in a dry run, so what comes back has every default and nothing is kept. A default that only ours
//! has is a problem too: CAPT would write it to the real one, which refuses fields that it does not know.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use kube::Client;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery;
use serde_json::Value;

use super::difference::differences;
use crate::repository::examples;

const ACCEPTED: &str = include_str!("accepted.yaml");
const REFUSED: &str = include_str!("refused.yaml");
const LEAST: usize = 15;

/// What an API server said to an object.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    should_be_accepted: bool,
    /// The object with its defaults, or why it was refused.
    said: Result<Value, String>,
}

struct Question {
    name: String,
    should_be_accepted: bool,
    object: Value,
}

/// Asks about every object of the table and of the examples.
pub(super) async fn ask(client: &Client) -> anyhow::Result<BTreeMap<String, Answer>> {
    let mut answers = BTreeMap::new();
    for Question { name, should_be_accepted, object } in questions()? {
        let said = create(client, object).await.with_context(|| format!("asking about {name}"))?;
        answers.insert(name, Answer { should_be_accepted, said });
    }
    Ok(answers)
}

fn questions() -> anyhow::Result<Vec<Question>> {
    let accepted: Vec<Value> = serde_saphyr::from_multiple(ACCEPTED).context("reading accepted.yaml")?;
    let refused: Vec<Value> = serde_saphyr::from_multiple(REFUSED).context("reading refused.yaml")?;
    let workspaces = accepted.iter().filter(|object| object["kind"] == "Workspace").count();
    ensure!(workspaces >= LEAST, "the table has only {workspaces} Workspaces");
    let question = |origin: &str, should_be_accepted, object: Value| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let name = format!("{origin}: {} {name}", object["kind"].as_str().unwrap_or_default());
        Question { name, should_be_accepted, object }
    };
    let accepted = accepted.into_iter().map(|object| question("accepted", true, object));
    let refused = refused.into_iter().map(|object| question("refused", false, object));
    // CAPT has no kind to compare with a ClusterClass.
    let examples = examples()?.into_iter().filter(|(_, object)| object["kind"] != "ClusterClass");
    let examples = examples.map(|(file, object)| question(&file.display().to_string(), true, object));
    Ok(accepted.chain(refused).chain(examples).collect())
}

async fn create(client: &Client, object: Value) -> anyhow::Result<Result<Value, String>> {
    let object: DynamicObject = serde_json::from_value(object)?;
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    match objects_of(client, &object).await?.create(&dry_run, &object).await {
        Ok(created) => Ok(Ok(without_birthmarks(serde_json::to_value(created)?))),
        Err(kube::Error::Api(status)) if status.code == 422 || status.code == 400 => Ok(Err(status.message)),
        Err(error) => bail!(error),
    }
}

/// Where objects of this one's kind are, in its namespace.
pub(crate) async fn objects_of(
    client: &Client,
    object: &DynamicObject,
) -> anyhow::Result<Api<DynamicObject>> {
    let types = object.types.clone().context("it has no apiVersion and kind")?;
    let (group, version) = types.api_version.split_once('/').unwrap_or(("", &types.api_version));
    let kind = GroupVersionKind::gvk(group, version, &types.kind);
    let (resource, capabilities) = discovery::pinned_kind(client, &kind).await?;
    Ok(match (capabilities.scope, &object.metadata.namespace) {
        (discovery::Scope::Cluster, _) => Api::all_with(client.clone(), &resource),
        (discovery::Scope::Namespaced, Some(namespace)) => {
            Api::namespaced_with(client.clone(), namespace, &resource)
        }
        (discovery::Scope::Namespaced, None) => Api::default_namespaced_with(client.clone(), &resource),
    })
}

/// Without what is different for every object that was ever created.
fn without_birthmarks(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["uid", "creationTimestamp", "managedFields", "generation", "resourceVersion"] {
            metadata.remove(field);
        }
    }
    object
}

/// How the two answers differ from each other, or from what should be.
pub(super) fn problems(theirs: &Answer, ours: &Answer) -> Vec<String> {
    match (theirs.should_be_accepted, &theirs.said, &ours.said) {
        (true, Ok(theirs), Ok(ours)) => differences(theirs, ours).iter().map(ToString::to_string).collect(),
        (true, Err(reason), _) => vec![format!("the real CRD refuses it: {reason}")],
        (true, Ok(_), Err(reason)) => vec![format!("our CRD refuses it: {reason}")],
        (false, Ok(_), _) => vec!["the real CRD accepts it".to_owned()],
        (false, Err(_), Ok(_)) => vec!["our CRD accepts it".to_owned()],
        (false, Err(_), Err(_)) => Vec::new(),
    }
}
