//! The version of Karpenter: from the source of its chart.

use capt_api::names::group;
use serde_json::Value;

use super::super::product::Product;
use super::super::version::Version;
use super::doubt::{Doubt, name};
use super::{Sighting, one, text};
use crate::helm_values::{GROUP, KIND};
use crate::manifest::Manifest;

const CHART: &str = "karpenter";
const DEFINITIONS_CHART: &str = "karpenter-crd";

/// What brings Karpenter, and what brings its custom resource definitions.
pub(super) struct Sightings {
    karpenter: Vec<Sighting>,
    definitions: Vec<Sighting>,
}

impl Sightings {
    /// The version of Karpenter itself, or of its definitions where nothing else is there. Both should be the same.
    pub(super) fn version(&self, doubts: &mut Vec<Doubt>) -> Option<Version> {
        let karpenter = one(Product::Karpenter, &self.karpenter, doubts);
        let definitions = one(Product::Karpenter, &self.definitions, doubts);
        if let ([karpenter, ..], [definitions, ..]) = (self.karpenter.as_slice(), self.definitions.as_slice())
            && karpenter.version != definitions.version
        {
            doubts.push(Doubt::two(Product::Karpenter, karpenter, definitions));
        }
        if self.karpenter.is_empty() { definitions } else { karpenter }
    }
}

pub(super) fn sightings(manifests: &[Manifest], doubts: &mut Vec<Doubt>) -> Sightings {
    let mut found = Sightings { karpenter: Vec::new(), definitions: Vec::new() };
    for manifest in manifests {
        let Some((chart, stated)) = source(manifest) else { continue };
        let into = match chart {
            CHART => &mut found.karpenter,
            DEFINITIONS_CHART => &mut found.definitions,
            _ => continue,
        };
        match stated {
            Stated::Version(field, written) => match Version::parse(written) {
                Ok(version) => into.push(Sighting { version, by: name(manifest) }),
                Err(_) => doubts.push(unread(manifest, field, written, "is a range or no version")),
            },
            Stated::Digest(digest) => {
                doubts.push(unread(manifest, "spec.ref.digest", digest, "does not tell the version"));
            }
            Stated::Nothing(field) => {
                doubts.push(unread(manifest, field, "", "is missing, so that the newest one is taken"));
            }
        }
    }
    found
}

fn unread(manifest: &Manifest, field: &str, text: &str, why: &str) -> Doubt {
    let why = format!("{why}: write the version of Karpenter, for example 1.14.1");
    Doubt::unread(Product::Karpenter, manifest, field, text, &why)
}

/// What is said of a chart's version.
enum Stated<'object> {
    /// A field and what it says.
    Version(&'static str, &'object str),
    Digest(&'object str),
    /// The field that would say it.
    Nothing(&'static str),
}

/// The chart that an object of Flux takes, and in which version.
fn source(manifest: &Manifest) -> Option<(&str, Stated<'_>)> {
    let key = manifest.key();
    let object = &manifest.object;
    match (key.group(), key.kind.as_str()) {
        (group::FLUX_SOURCES, "OCIRepository") => repository(object),
        (group::FLUX_SOURCES, "HelmChart") => chart(object, "/spec/chart", "/spec/version", "spec.version"),
        (GROUP, KIND) => {
            chart(object, "/spec/chart/spec/chart", "/spec/chart/spec/version", "spec.chart.spec.version")
        }
        _ => None,
    }
}

/// Of a digest, a range and a tag, Flux takes the first that is there.
fn repository(object: &Value) -> Option<(&str, Stated<'_>)> {
    let url = text(object, "/spec/url")?.trim_end_matches('/');
    let chart = url.strip_prefix("oci://")?.rsplit('/').next()?;
    let stated = if let Some(digest) = text(object, "/spec/ref/digest") {
        Stated::Digest(digest)
    } else if let Some(range) = text(object, "/spec/ref/semver") {
        Stated::Version("spec.ref.semver", range)
    } else if let Some(tag) = text(object, "/spec/ref/tag") {
        Stated::Version("spec.ref.tag", tag)
    } else {
        Stated::Nothing("spec.ref")
    };
    Some((chart, stated))
}

fn chart<'object>(
    object: &'object Value,
    chart: &str,
    version: &str,
    field: &'static str,
) -> Option<(&'object str, Stated<'object>)> {
    let chart = text(object, chart)?;
    let stated = text(object, version).map_or(Stated::Nothing(field), |text| Stated::Version(field, text));
    Some((chart, stated))
}
