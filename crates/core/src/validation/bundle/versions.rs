//! Whether the versions that manifests bring go together.

use super::super::finding::Severity;
use super::super::report::Report;
use super::{Bundle, Item};
use crate::compatibility::{self, findings};
use crate::manifest::Manifest;

/// What the stack makes of versions that do not go together.
const POLICY: &str = "/spec/compatibility";

/// Tells of versions that do not go together.
pub(super) fn check(items: &[Item<'_>], bundle: &Bundle<'_>, report: &mut Report<'_>) {
    let policy = bundle.about.value.pointer(POLICY).and_then(serde_json::Value::as_str);
    if policy == Some("Ignore") {
        return;
    }
    let manifests: Vec<Manifest> = items.iter().map(|item| item.manifest.clone()).collect();
    let mut versions: Vec<Option<&str>> =
        bundle.kubernetes.iter().map(|version| Some(version.as_str())).collect();
    if versions.is_empty() {
        versions.push(None);
    }
    for finding in versions.into_iter().flat_map(|version| findings(&manifests, version)) {
        let severity = match (finding.severity, policy) {
            (compatibility::Severity::Error, Some("Refuse")) => Severity::Error,
            (compatibility::Severity::Error | compatibility::Severity::Warning, _) => Severity::Warning,
        };
        let named = items.iter().find(|item| finding.message.contains(&item.manifest.key().to_string()));
        let (object, path) =
            named.map_or((bundle.about, "metadata.name"), |item| (item.object, "metadata.name"));
        report.tell_of(object, path, severity, finding.message);
    }
}
