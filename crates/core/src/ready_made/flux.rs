//! The user's manifests of Flux, looked at.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::resource_set::ResourceKind;
use serde_json::Value;

use super::Request;
use super::block::{self, Block};
use super::problem::Problem;
use crate::compatibility::{Version, versions_in};
use crate::manifest::{self, Manifest};

/// What the API server lets a `ConfigMap` hold, in bytes.
const LARGEST: usize = 1_048_576;

/// What every object of Flux says of what it belongs to.
const COMPONENT: &str = "app.kubernetes.io/component:";

/// The controllers that the stack needs.
pub(super) const CONTROLLERS: [&str; 2] = ["source-controller", "helm-controller"];

/// The kinds that the stack is written in: the definition, the kind, the version, and the Flux that began to serve it.
pub(super) const KINDS: [(&str, &str, &str, &str); 2] = [
    ("helmreleases.helm.toolkit.fluxcd.io", "HelmRelease", "v2", "2.3"),
    ("ocirepositories.source.toolkit.fluxcd.io", "OCIRepository", "v1", "2.6"),
];

/// Manifests of Flux that will do.
#[derive(Debug)]
pub(super) struct Flux {
    pub(super) version: Version,
    /// The namespace of its controllers.
    pub(super) namespace: String,
    pub(super) text: Block,
    pub(super) manifests: Vec<Manifest>,
}

/// Looks at the manifests, and tells everything that is in the way.
pub(super) fn check(request: &Request<'_>) -> Result<Flux, Vec<Problem>> {
    let text = block::normalized(request.flux_manifests);
    if text.trim().is_empty() {
        return Err(vec![Problem::Empty]);
    }
    if text.len() > LARGEST {
        return Err(vec![Problem::TooLarge { bytes: text.len(), components: superfluous(&text) }]);
    }
    let text = Block::new(text).map_err(|line| vec![Problem::NotText { line }])?;
    let data = BTreeMap::from([("flux.yaml".to_owned(), text.as_str())]);
    let manifests = manifest::parse(ResourceKind::ConfigMap, "flux", &data)
        .map_err(|problems| vec![Problem::Manifests(problems)])?;
    let mut problems = parts(&manifests);
    let version = match version(&manifests, request.flux_version) {
        Ok(version) => Some(version),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    match version {
        Some(version) if problems.is_empty() => {
            let namespace = deployment(&manifests, CONTROLLERS[0]).and_then(|found| found.key().namespace);
            let namespace = namespace.unwrap_or_else(|| "default".to_owned());
            Ok(Flux { version, namespace, text, manifests })
        }
        _ => Err(problems),
    }
}

/// Components that the stack does not need, by the labels in a text that is too large to be read.
fn superfluous(text: &str) -> Vec<String> {
    let labels = text.lines().filter_map(|line| line.trim().strip_prefix(COMPONENT));
    let names: BTreeSet<&str> = labels.map(|name| name.trim().trim_matches(['"', '\''])).collect();
    let is_plain = |name: &&str| !name.is_empty() && name.len() < 64 && name.ends_with("-controller");
    let others = names.into_iter().filter(is_plain).filter(|name| !CONTROLLERS.contains(name));
    others.map(str::to_owned).collect()
}

/// What is missing, or served in other versions.
fn parts(manifests: &[Manifest]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, kind, wanted, since) in KINDS {
        let found = manifests.iter().find(|manifest| {
            let key = manifest.key();
            key.kind == "CustomResourceDefinition" && key.name == name
        });
        let Some(found) = found else {
            problems.push(Problem::Missing { kind: "CustomResourceDefinition", name });
            continue;
        };
        let versions = found.object.pointer("/spec/versions").and_then(Value::as_array);
        let served = versions.into_iter().flatten().filter(|version| version["served"] == true);
        let served: Vec<String> =
            served.filter_map(|version| version["name"].as_str()).map(str::to_owned).collect();
        if !served.iter().any(|version| version == wanted) {
            problems.push(Problem::NotServed { kind, wanted, served, since });
        }
    }
    let missing = CONTROLLERS.into_iter().filter(|name| deployment(manifests, name).is_none());
    problems.extend(missing.map(|name| Problem::Missing { kind: "Deployment", name }));
    problems
}

/// The Deployment of a controller.
pub(super) fn deployment<'manifests>(
    manifests: &'manifests [Manifest],
    name: &str,
) -> Option<&'manifests Manifest> {
    manifests.iter().find(|manifest| {
        let key = manifest.key();
        key.kind == "Deployment" && key.group() == "apps" && key.name == name
    })
}

fn version(manifests: &[Manifest], said: Option<Version>) -> Result<Version, Problem> {
    let found = versions_in(manifests);
    match (found.versions.flux, said) {
        (Some(found), Some(said)) if found.minor() != said.minor() => {
            Err(Problem::OtherVersion { found: found.to_string(), said: said.to_string() })
        }
        (Some(version), _) | (None, Some(version)) => Ok(version),
        (None, None) => {
            let doubt = found.doubts.first().map(|doubt| format!(" ({doubt})")).unwrap_or_default();
            Err(Problem::NoVersion(doubt))
        }
    }
}
