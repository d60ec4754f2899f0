//! How `HelmReleases` get their values.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::finding::Severity;
use super::super::report::Report;
use super::{Bundle, Item};
use crate::helm_values::check::{self, Outputs, Problem, Surroundings, check as look};

/// Tells what is wrong with the values of `HelmReleases`.
pub(super) fn check(items: &[Item<'_>], bundle: &Bundle<'_>, report: &mut Report<'_>) {
    let objects: Vec<&Value> = items.iter().map(|item| &item.manifest.object).collect();
    let outputs = bundle.outputs.map_or(Outputs::Unknown, |names: &BTreeSet<String>| Outputs::Names(names));
    let surroundings = Surroundings { values: bundle.values, default_name: None, outputs, objects: &objects };
    for item in items {
        for finding in look(&item.manifest.object, &surroundings) {
            if let Some(severity) = severity(&finding) {
                report.tell_of(item.object, &finding.path, severity, finding.to_string());
            }
        }
    }
}

/// How bad a finding is here; `None` where there is nothing to be done, or where it is told of the stack.
fn severity(finding: &check::Finding) -> Option<Severity> {
    match (&finding.problem, finding.severity()) {
        (Problem::OutputMissing { .. }, _) => None,
        (Problem::ObjectUnknown { .. }, _) | (_, check::Severity::Warning) => Some(Severity::Warning),
        (_, check::Severity::Error) => Some(Severity::Error),
        (_, check::Severity::Hint) => None,
    }
}
