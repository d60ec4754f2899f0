//! What a controller has to tell of manifests before it delivers them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::found::versions_in;
use super::judge::{Judgement, Verdict, judge_manifests};
use super::product::{Product, Versions};
use crate::manifest::Manifest;

/// Something to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, which versions would do, and in which order to upgrade.
    pub message: String,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It should be known; nothing says that it fails.
    Warning,
    /// The table says that it does not go together.
    Error,
}

/// What is to be told of manifests that are delivered together to a cluster of this version: the worst first, nothing twice.
///
/// What the table does not know is a warning: a newer version than CAPT's is no reason to deliver nothing.
pub fn findings(manifests: &[Manifest], kubernetes_version: Option<&str>) -> Vec<Finding> {
    let found = versions_in(manifests);
    if found.versions == Versions::default() && found.doubts.is_empty() {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = Vec::new();
    let mut versions = found.versions;
    match kubernetes_version.map(|text| Product::Kubernetes.version(text)) {
        Some(Ok(version)) => versions.kubernetes = Some(version),
        Some(Err(problem)) => {
            findings.push(warning(format!("the version of Kubernetes is not known: {problem}")));
        }
        None => {}
    }
    findings.extend(judge_manifests(manifests, &versions, None).into_iter().filter_map(of));
    findings.extend(found.doubts.iter().map(|doubt| warning(doubt.to_string())));
    findings.sort_by_key(|finding| Reverse(finding.severity));
    let mut told = BTreeSet::new();
    findings.retain(|finding| told.insert(finding.message.clone()));
    findings
}

fn warning(message: String) -> Finding {
    Finding { severity: Severity::Warning, message }
}

fn of(judgement: Judgement) -> Option<Finding> {
    let severity = match judgement.verdict {
        Verdict::Supported => return None,
        Verdict::Outside | Verdict::Avoid => Severity::Error,
        Verdict::Unknown(_) | Verdict::EndOfSupport => Severity::Warning,
    };
    Some(Finding { severity, message: judgement.message })
}
