//! Files that lie beside manifests and are read by other tools: kustomize and Helm.
//!
//! They are no objects of a cluster, so nothing is wrong with them for not looking like one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::File;
use super::node::Node;
use super::read::read;

/// What kustomize looks for in a directory.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// What makes a directory a chart.
const CHART: &str = "Chart.yaml";

/// The other tool that reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherTool {
    /// It says what kustomize builds.
    Kustomize,
    /// A kustomization takes it in: a patch, or what something is generated from.
    KustomizeInput,
    /// It is part of a chart, or holds values for one.
    Helm,
}

impl OtherTool {
    /// Why the file is not validated, and what to do instead.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Kustomize => {
                "kustomize reads this file; to validate what it builds, run `kustomize build DIR | capt validate -f -`"
            }
            Self::KustomizeInput => {
                "a kustomization patches or generates with this file; to validate the result, run `kustomize build DIR | capt validate -f -`"
            }
            Self::Helm => {
                "Helm reads this file; to validate what it renders, run `helm template CHART | capt validate -f -`"
            }
        }
    }
}

/// For each file the other tool that reads it; `None` where it holds manifests.
pub fn other_tools(files: &[File<'_>]) -> Vec<Option<OtherTool>> {
    let is_kustomization = |file: &File<'_>| KUSTOMIZATIONS.contains(&split(file.name).1);
    let inputs: BTreeSet<String> =
        files.iter().filter(|file| is_kustomization(file)).flat_map(inputs).collect();
    let charts: Vec<String> = files
        .iter()
        .filter(|file| split(file.name).1 == CHART)
        .map(|file| joined(split(file.name).0, ""))
        .collect();
    let tool = |file: &File<'_>| {
        let path = joined("", file.name);
        if is_kustomization(file) {
            Some(OtherTool::Kustomize)
        } else if inputs.contains(&path) {
            Some(OtherTool::KustomizeInput)
        } else if charts.iter().any(|chart| is_below(&path, chart)) || is_of_values(file) {
            Some(OtherTool::Helm)
        } else {
            None
        }
    };
    files.iter().map(tool).collect()
}

/// The files that a kustomization takes in and that are no manifests: all but its resources.
fn inputs(kustomization: &File<'_>) -> Vec<String> {
    let directory = split(kustomization.name).0;
    let documents = read(kustomization.text).documents;
    let named = documents.iter().flat_map(|document| named(&document.value()));
    named.map(|path| joined(directory, &path)).collect()
}

fn named(kustomization: &Value) -> Vec<String> {
    let list = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for field in ["patchesStrategicMerge", "configurations", "crds"] {
        found.extend(list(kustomization, field));
    }
    for field in ["patches", "patchesJson6902", "replacements"] {
        found.extend(list(kustomization, field).iter().map(|patch| patch["path"].clone()));
    }
    for field in ["configMapGenerator", "secretGenerator"] {
        for generator in list(kustomization, field) {
            found.extend(list(&generator, "files").into_iter().map(without_key));
            found.extend(list(&generator, "envs"));
        }
    }
    for chart in list(kustomization, "helmCharts") {
        found.push(chart["valuesFile"].clone());
        found.extend(list(&chart, "additionalValuesFiles"));
    }
    found.push(kustomization["openapi"]["path"].clone());
    found.iter().filter_map(Value::as_str).filter(|path| !path.contains('\n')).map(str::to_owned).collect()
}

/// A file of a generator may have a key before it.
fn without_key(file: Value) -> Value {
    let path = file.as_str().map(|text| text.split_once('=').map_or(text, |(_, path)| path));
    path.map(Value::from).unwrap_or(file)
}

/// Values of a chart have any name; by one that says so, and without any object in it, a file is taken for them.
fn is_of_values(file: &File<'_>) -> bool {
    let name = split(file.name).1.to_lowercase();
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or_default();
    let ends = |end: &str| stem.ends_with(end);
    let begins = |start: &str| stem.starts_with(start);
    let is_named = stem == "values"
        || ["values-", "values_", "values."].iter().any(|start| begins(start))
        || ["-values", "_values", ".values"].iter().any(|end| ends(end));
    is_named
        && read(file.text)
            .documents
            .iter()
            .map(Node::value)
            .all(|document| document["apiVersion"].is_null() && document["kind"].is_null())
}

/// Directory and name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// A path from a directory, without `.` and, as far as it goes, without `..`.
fn joined(directory: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") };
    let root = if path.starts_with('/') || directory.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match parts.last() {
            Some(last) if part == ".." && *last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}
