//! The values that charts would get, from files alone.

mod outputs;
mod sources;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;

pub use self::outputs::{NoOutputs, Outputs, read_outputs};
use self::sources::Sources;
use super::File;
use super::bundle::Bundle;
use super::catalog::Catalog;
use super::finding::{Finding, Severity};
use super::report::Report;
use super::stack;
use crate::helm_values::{self, GROUP, KIND, Reference};
use crate::manifest::{Manifest, ObjectKey};

/// The cluster that the values are for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'facts> {
    /// The name of its Cluster and control plane.
    pub name: &'facts str,
    /// The outputs of its module; where they are not known, `<name>` stands for each of them.
    pub outputs: Option<&'facts Outputs>,
}

/// What one `HelmRelease` hands to its chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preview {
    /// The namespace of the `HelmRelease`.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The stack or set that brings it.
    pub by: String,
    /// The values. Of what Secrets in the files hold, only the places are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Value>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The values of every `HelmRelease` that stacks and sets of the files bring, in their order. Files that cannot be read are told.
pub fn previews(files: &[File<'_>], target: Target<'_>) -> Result<Vec<Preview>, Vec<Finding>> {
    let mut report = Report::new(files);
    let catalog = Catalog::read(files, &[], &mut report);
    if report.errors() > 0 {
        let found = report.finish().into_iter();
        return Err(found.filter(|finding| finding.severity == Severity::Error).collect());
    }
    let mut previews = Vec::new();
    stack::walk(&catalog, &mut report, &mut |bundle, _| previews.extend(of_bundle(bundle, target)));
    Ok(previews)
}

fn of_bundle(bundle: &Bundle<'_>, target: Target<'_>) -> Vec<Preview> {
    let by = bundle.about.key.to_string();
    let sources = Sources::of(bundle, target);
    let releases = sources.manifests.iter().filter(|manifest| is_release(&manifest.key()));
    releases.map(|release| of_release(release, &sources, by.clone())).collect()
}

fn is_release(key: &ObjectKey) -> bool {
    key.group() == GROUP && key.kind == KIND
}

fn of_release(release: &Manifest, sources: &Sources, by: String) -> Preview {
    let ObjectKey { namespace, name, .. } = release.key();
    let namespace = namespace.unwrap_or_else(|| "default".to_owned());
    let spec = &release.object["spec"];
    let references = spec["valuesFrom"].as_array().into_iter().flatten().filter_map(Reference::read);
    let references: Vec<Reference> = references.collect();
    let find = |kind, name: &str, key: &str| sources.find(&namespace, kind, name, key);
    let found = sources.refused(&namespace, &references).map_or_else(
        || helm_values::preview(&spec["values"], &references, find).map_err(|problem| problem.to_string()),
        Err,
    );
    match found {
        Ok(values) => Preview { namespace, name, by, values: Some(values), problem: None },
        Err(problem) => Preview { namespace, name, by, values: None, problem: Some(problem) },
    }
}
