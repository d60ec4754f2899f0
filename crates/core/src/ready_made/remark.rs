//! What the user should know of a stack.

use std::collections::BTreeMap;
use std::fmt;

use capt_api::resource_set::ResourceKind;
use serde_json::Value;

use super::File;
use super::flux::{CONTROLLERS, Flux, deployment};
use super::problem::{EXPORT, Problem};
use super::write::KarpenterTag;
use crate::compatibility::{Severity, Table, Version, findings};
use crate::manifest::{self, Manifest};

/// What `kubectl apply` keeps of an object in an annotation, in bytes, at most.
const LARGEST_ANNOTATION: usize = 262_144;

/// Something that the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What it is, and what to do.
    pub message: String,
    /// It should not stay so.
    pub warning: bool,
}

impl fmt::Display for Remark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// What is to be told of a stack with these files; or why it cannot work.
pub(super) fn remarks(
    flux: &Flux,
    karpenter: &KarpenterTag,
    files: &[File],
) -> Result<Vec<Remark>, Vec<Problem>> {
    let mut remarks = Vec::new();
    let mut problems = Vec::new();
    for finding in findings(&all(flux, files), None) {
        match finding.severity {
            Severity::Error => problems.push(Problem::Incompatible(finding.message)),
            Severity::Warning => remarks.push(Remark { message: finding.message, warning: true }),
        }
    }
    match together(flux.version, karpenter.version) {
        Some(Ok(message)) => remarks.push(Remark { message, warning: false }),
        Some(Err(problem)) => problems.push(problem),
        None => {}
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    remarks.extend(tolerations(&flux.manifests).map(|message| Remark { message, warning: false }));
    if flux.text.as_str().len() > LARGEST_ANNOTATION {
        let message = format!(
            "the manifests of Flux have {} bytes, and `kubectl apply` fails above {LARGEST_ANNOTATION}: use `kubectl apply \
             --server-side`, or `kubectl create`",
            flux.text.as_str().len()
        );
        remarks.push(Remark { message, warning: false });
    }
    Ok(remarks)
}

/// The manifests of Flux, and those that Karpenter comes by.
fn all(flux: &Flux, files: &[File]) -> Vec<Manifest> {
    let data: BTreeMap<String, &str> = files
        .iter()
        .filter(|file| file.name == super::write::KARPENTER)
        .map(|file| (file.name.to_owned(), file.text.as_str()))
        .collect();
    let objects = manifest::parse(ResourceKind::ConfigMap, "karpenter", &data).unwrap_or_default();
    let texts = objects.iter().filter_map(|object| object.object["data"].as_object());
    let texts: BTreeMap<String, &str> =
        texts.flatten().filter_map(|(key, text)| Some((key.clone(), text.as_str()?))).collect();
    let inner = manifest::parse(ResourceKind::ConfigMap, "karpenter", &texts).unwrap_or_default();
    flux.manifests.iter().cloned().chain(inner).collect()
}

/// The versions of Kubernetes that both go with.
fn together(flux: Version, karpenter: Version) -> Option<Result<String, Problem>> {
    let table = Table::embedded();
    let (of_flux, of_karpenter) =
        (table.flux(flux).ok()?.kubernetes, table.karpenter(karpenter).ok()?.kubernetes);
    let first = of_flux.first.max(of_karpenter.first);
    let last = of_flux.last.min(of_karpenter.last);
    Some(if first <= last {
        let versions = if first == last { first.to_string() } else { format!("{first} to {last}") };
        Ok(format!("Flux {flux} and Karpenter {karpenter} go together with Kubernetes {versions}"))
    } else {
        Err(Problem::Incompatible(format!(
            "Flux {flux} supports Kubernetes {of_flux}, and Karpenter {karpenter} supports {of_karpenter}: there is none for \
             both; take other versions (see `capt compat`)"
        )))
    })
}

/// Controllers that no tainted node takes.
fn tolerations(manifests: &[Manifest]) -> Option<String> {
    let tolerates = |name: &str| {
        let list = deployment(manifests, name)?
            .object
            .pointer("/spec/template/spec/tolerations")
            .and_then(Value::as_array)?;
        (!list.is_empty()).then_some(())
    };
    let without: Vec<&str> = CONTROLLERS.into_iter().filter(|name| tolerates(name).is_none()).collect();
    (!without.is_empty()).then(|| {
        format!(
            "{} of Flux run on no node with taints: where all first nodes have one (CriticalAddonsOnly is usual), export with \
             `{EXPORT} --toleration-keys=CriticalAddonsOnly`",
            without.join(" and ")
        )
    })
}
