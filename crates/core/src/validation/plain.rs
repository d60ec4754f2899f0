//! Objects of Flux that stand in the files themselves, for a cluster that already has Flux.

use capt_api::resource_set::ResourceKind;
use serde_json::Value;

use super::catalog::Catalog;
use super::finding::Severity;
use super::report::Report;
use crate::compatibility::{self, findings};
use crate::helm_values::check::{self, Problem, Surroundings, check as look};
use crate::manifest::{Manifest, Place};

/// Tells what is wrong with the values of `HelmReleases`, and with versions that do not go together.
pub(super) fn check(catalog: &Catalog<'_>, report: &mut Report<'_>) {
    let objects: Vec<&Value> = catalog.objects().iter().map(|object| &object.value).collect();
    let surroundings = Surroundings { objects: &objects, ..Surroundings::default() };
    for object in catalog.objects() {
        for finding in look(&object.value, &surroundings) {
            let severity = match (&finding.problem, finding.severity()) {
                // What is in the cluster already is not in the files.
                (Problem::ObjectUnknown { .. }, _) | (_, check::Severity::Hint) => continue,
                (_, check::Severity::Warning) => Severity::Warning,
                (_, check::Severity::Error) => Severity::Error,
            };
            report.tell_of(object, &finding.path, severity, finding.to_string());
        }
    }
    versions(catalog, report);
}

fn versions(catalog: &Catalog<'_>, report: &mut Report<'_>) {
    let manifest = |object: &Value| Manifest {
        place: Place {
            kind: ResourceKind::ConfigMap,
            name: "files".to_owned(),
            key: "files".to_owned(),
            document: 1,
            item: None,
        },
        object: object.clone(),
    };
    let manifests: Vec<Manifest> = catalog.objects().iter().map(|object| manifest(&object.value)).collect();
    for finding in findings(&manifests, None) {
        let severity = match finding.severity {
            compatibility::Severity::Warning => Severity::Warning,
            compatibility::Severity::Error => Severity::Error,
        };
        let named = catalog.objects().iter().find(|object| finding.message.contains(&object.key.to_string()));
        if let Some(object) = named.or_else(|| catalog.objects().first()) {
            report.tell_of(object, "metadata.name", severity, finding.message);
        }
    }
}
