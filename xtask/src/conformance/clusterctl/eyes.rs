//! Objects put, looked at and waited for.

use std::time::Duration;

use anyhow::{Context, bail};
use kube::Client;
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::super::table::objects_of;

const PAUSE: Duration = Duration::from_millis(200);
/// How long anything may take that takes seconds.
pub(in crate::conformance) const SOON: Duration = Duration::from_secs(60);

/// Applies an object, or only asks whether it would be taken.
pub(in crate::conformance) async fn put(
    client: &Client,
    object: &Value,
    dry_run: bool,
) -> anyhow::Result<()> {
    let dynamic: DynamicObject = serde_json::from_value(object.clone())?;
    let name = dynamic.metadata.name.clone().context("an object without a name")?;
    let parameters = PatchParams { dry_run, ..PatchParams::apply("somebody").force() };
    let objects = objects_of(client, &dynamic).await?;
    let put = objects.patch(&name, &parameters, &Patch::Apply(object)).await;
    put.map(drop).with_context(|| format!("applying {} {name}", object["kind"]))
}

/// An object, if it is there.
pub(in crate::conformance) async fn get(
    client: &Client,
    api_version: &str,
    kind: &str,
    (namespace, name): (&str, &str),
) -> anyhow::Result<Option<Value>> {
    let about: DynamicObject = serde_json::from_value(json!({
        "apiVersion": api_version, "kind": kind, "metadata": { "namespace": namespace, "name": name },
    }))?;
    let found = objects_of(client, &about).await?.get_opt(name).await?;
    Ok(found.map(serde_json::to_value).transpose()?)
}

/// Looks until there is what is wanted; what is seen instead is said in an error.
pub(in crate::conformance) async fn until<T>(
    within: Duration,
    mut look: impl AsyncFnMut() -> anyhow::Result<Result<T, String>>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + within;
    loop {
        match look().await? {
            Ok(wanted) => return Ok(wanted),
            Err(seen) if Instant::now() > deadline => bail!("{seen} (after {within:?})"),
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Whether a condition is true; what is told of it otherwise.
pub(in crate::conformance) fn is_true(object: &Value, type_: &str) -> Result<(), String> {
    let conditions = object["status"]["conditions"].as_array();
    let told = conditions.into_iter().flatten().find(|told| told["type"] == type_);
    match told {
        Some(told) if told["status"] == "True" => Ok(()),
        told => Err(format!("{} {}: {type_} is {told:?}", object["kind"], object["metadata"]["name"])),
    }
}
