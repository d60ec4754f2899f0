//! What is wrong with how a `HelmRelease` gets its values, before Flux sees it.
//!
//! Each finding has the place in the object, and its sentence says what to write instead. Paths, names and keys are
//! told, values never.

mod content;
mod dots;
mod entry;
mod finding;
mod grammar;
mod inline;
mod neighbours;
mod problem;
mod repair;
mod severity;
mod surroundings;
#[cfg(test)]
mod tests;
mod wording;

use serde_json::Value;

pub use finding::{Finding, Severity};
pub use problem::{Problem, Winner};
pub use surroundings::{Outputs, Surroundings};

use super::path::TargetPath;
use super::reference::{GROUP, KIND, Reference};
use crate::manifest::ObjectKey;

/// How many references are looked at: each is compared with every other.
const MOST: usize = 200;

/// A reference and what is known of it.
struct Entry {
    /// Its position in `spec.valuesFrom`.
    index: usize,
    reference: Reference,
    /// Where it puts its value, if it does so and the path can be one.
    path: Option<TargetPath>,
}

impl Entry {
    /// A field of it, as a place in the object.
    fn place(&self, field: &str) -> String {
        place(self.index, field)
    }
}

/// A field of an entry of `spec.valuesFrom`, as a place in the object.
fn place(index: usize, field: &str) -> String {
    format!("spec.valuesFrom[{index}].{field}")
}

/// Everything that is found in a `HelmRelease`, in the order of its references. Other objects have no findings.
///
/// Placeholders must have been replaced: what is checked is what Flux will see.
pub fn check(release: &Value, surroundings: &Surroundings<'_>) -> Vec<Finding> {
    let key = ObjectKey::of(release);
    if key.group() != GROUP || key.kind != KIND {
        return Vec::new();
    }
    let namespace = key.namespace.as_deref().unwrap_or("default");
    let mut findings = Vec::new();
    let values = &release["spec"]["values"];
    if !values.is_null() && !values.is_object() {
        findings.push(Finding::new("spec.values", Problem::ValuesNotMapping));
    }
    let Some(entries) = entries(&release["spec"]["valuesFrom"], namespace, &mut findings) else {
        return findings;
    };
    let standings = neighbours::check(&entries, &mut findings);
    inline::check(values, &entries, &standings, &mut findings);
    content::check(&entries, namespace, surroundings, &mut findings);
    findings.sort_by_key(|finding| position(&finding.path));
    findings
}

/// The references that can be looked at further.
fn entries(values_from: &Value, namespace: &str, findings: &mut Vec<Finding>) -> Option<Vec<Entry>> {
    let list = match values_from {
        Value::Null => return None,
        Value::Array(list) => list,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            findings.push(Finding::new("spec.valuesFrom", Problem::ReferencesNotList));
            return None;
        }
    };
    if list.len() > MOST {
        findings.push(Finding::new("spec.valuesFrom", Problem::TooManyReferences { most: MOST }));
    }
    let entries = list.iter().take(MOST).enumerate();
    Some(entries.filter_map(|(index, value)| entry::check(index, value, namespace, findings)).collect())
}

/// Findings about the whole come first, then those about each reference; within one, the order in which they were found.
fn position(path: &str) -> Option<usize> {
    let rest = path.strip_prefix("spec.valuesFrom[")?;
    rest.split_once(']')?.0.parse().ok()
}
