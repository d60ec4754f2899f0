//! `examples/proposals`, as they are written.

use std::fs;

use anyhow::Context;
use serde_json::Value;

use super::super::home::Home;
use crate::repository::root;

/// What the Job of `fluxcd-install` makes; here no node runs it.
const FLUX: &str = include_str!("flux.yaml");
/// After every key that is there, since keys come in the order of their names.
const FLUX_KEY: &str = "made-by-the-job.yaml";

/// Applies them, but for the values by hand.
pub(super) async fn put(home: &Home) -> anyhow::Result<()> {
    for file in ["fluxcd.yaml", "karpenter.yaml", "stack.yaml"] {
        for mut object in read(file)? {
            if object["kind"] == "ConfigMap" && object["metadata"]["name"] == "fluxcd-install" {
                object["data"][FLUX_KEY] = FLUX.into();
            }
            home.put(&object).await?;
        }
    }
    Ok(())
}

/// Applies the values of one cluster by hand.
pub(super) async fn put_values_by_hand(home: &Home) -> anyhow::Result<()> {
    for object in read("karpenter-config.yaml")? {
        home.put(&object).await?;
    }
    Ok(())
}

/// The `HelmRelease` of Karpenter.
pub(super) fn release() -> anyhow::Result<Value> {
    held("karpenter.yaml", "data", "HelmRelease")
}

/// The Secret with the values of one cluster.
pub(super) fn values_by_hand() -> anyhow::Result<Value> {
    held("karpenter-config.yaml", "stringData", "Secret")
}

/// An object of a kind that a `ConfigMap` or Secret of a file holds.
fn held(file: &str, field: &str, kind: &str) -> anyhow::Result<Value> {
    for object in read(file)? {
        for text in object[field].as_object().into_iter().flat_map(|data| data.values()) {
            let documents: Vec<Value> = serde_saphyr::from_multiple(text.as_str().unwrap_or_default())?;
            if let Some(found) = documents.into_iter().find(|document| document["kind"] == kind) {
                return Ok(found);
            }
        }
    }
    anyhow::bail!("{file} holds no {kind}")
}

fn read(file: &str) -> anyhow::Result<Vec<Value>> {
    let path = root().join("examples/proposals").join(file);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    serde_saphyr::from_multiple(&text).with_context(|| format!("reading {}", path.display()))
}
