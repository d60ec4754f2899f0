//! What manifests ask of the Flux that reads them.

use capt_api::names::group;
use serde_json::Value;

use super::found::name;
use super::judge::{Judgement, Verdict};
use super::spans::flux_since;
use super::table::{FeatureName, Flux, Table};
use super::version::Version;
use crate::helm_values::{GROUP, KIND};
use crate::manifest::Manifest;

/// What this version of Flux does not serve or know, though manifests use it. Nothing where the table does not have the version.
pub(super) fn uses(table: &Table, flux: Version, manifests: &[Manifest]) -> Vec<Judgement> {
    let Ok(row) = table.flux(flux) else { return Vec::new() };
    let messages = manifests.iter().flat_map(|manifest| {
        let object = name(manifest);
        let told = unserved(row, manifest, &object).into_iter().chain(unknown(table, row, manifest, &object));
        told.map(|message| (object.clone(), message)).collect::<Vec<_>>()
    });
    let judgement = |(object, message)| Judgement {
        about: format!("{object} and Flux {flux}"),
        verdict: Verdict::Outside,
        message,
    };
    messages.map(judgement).collect()
}

/// An object in a version that is not served.
fn unserved(row: &Flux, manifest: &Manifest, object: &str) -> Option<String> {
    let key = manifest.key();
    let served = match (key.group(), key.kind.as_str()) {
        (GROUP, KIND) => &row.helm_release,
        (group::FLUX_SOURCES, "OCIRepository") => &row.oci_repository,
        _ => return None,
    };
    let version = key.api_version.rsplit('/').next()?;
    if served.iter().any(|one| one == version) {
        return None;
    }
    let instead =
        served.first().map(|newest| format!(": write {}/{newest}", key.group())).unwrap_or_default();
    Some(format!("{object} has an apiVersion that Flux {} does not serve{instead}", row.minor))
}

/// Fields that came with a later version.
fn unknown(table: &Table, row: &Flux, manifest: &Manifest, object: &str) -> Vec<String> {
    let key = manifest.key();
    if (key.group(), key.kind.as_str()) != (GROUP, KIND) {
        return Vec::new();
    }
    let used = [
        (FeatureName::Literal, "`literal` in spec.valuesFrom", has_literal(&manifest.object)),
        (FeatureName::RetryOnFailure, "the strategy `RetryOnFailure`", retries(&manifest.object)),
    ];
    let missing = used.into_iter().filter(|(_, _, is_used)| *is_used).filter_map(|(feature, what, _)| {
        let since = table.features.iter().find(|one| one.name == feature)?.flux;
        let newer = flux_since(table, since).filter(|_| row.minor < since)?;
        Some(format!(
            "{object} has {what}, which Flux {} does not know: take Flux {newer}, or leave it out",
            row.minor
        ))
    });
    missing.collect()
}

fn has_literal(release: &Value) -> bool {
    let references = release.pointer("/spec/valuesFrom").and_then(Value::as_array);
    references.into_iter().flatten().any(|reference| reference["literal"] == true)
}

fn retries(release: &Value) -> bool {
    let strategies = ["/spec/install/strategy/name", "/spec/upgrade/strategy/name"];
    strategies.iter().any(|pointer| release.pointer(pointer).is_some_and(|name| name == "RetryOnFailure"))
}
