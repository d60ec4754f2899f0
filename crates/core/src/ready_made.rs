//! A stack that is ready to be applied: Flux, and Karpenter released by it, with values from each cluster's own module.
//!
//! The manifests of Flux are the user's own (`flux install --export`): they are looked at, and go into a `ConfigMap` as they are.

mod block;
mod flux;
mod problem;
mod remark;
#[cfg(test)]
mod tests;
mod write;

use crate::compatibility::Version;

pub use problem::{Problem, Problems};
pub use remark::Remark;

/// How Karpenter gets its rights in AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A role that its service account names: IAM roles for service accounts.
    Irsa,
    /// An association that is made outside of the cluster: EKS Pod Identity.
    PodIdentity,
}

/// What a stack is to be like.
#[derive(Clone, Debug)]
pub struct Request<'text> {
    /// What `flux install --export` printed.
    pub flux_manifests: &'text str,
    /// The version of Flux, where the manifests do not tell it.
    pub flux_version: Option<Version>,
    /// The version of Karpenter: the tag of its chart.
    pub karpenter_version: &'text str,
    /// How Karpenter gets its rights.
    pub identity: Identity,
    /// The namespace of the Clusters.
    pub namespace: &'text str,
    /// The label of the Clusters that get the stack, and its value.
    pub selector: (&'text str, &'text str),
}

/// A stack that is ready to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// What to write, in this order.
    pub files: Vec<File>,
    /// What the user should know.
    pub remarks: Vec<Remark>,
}

/// Some of the objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// What a file with them is called.
    pub name: &'static str,
    /// The objects with comments, as YAML.
    pub text: String,
}

impl Stack {
    /// Everything as one stream.
    pub fn stream(&self) -> String {
        self.files.iter().map(|file| file.text.as_str()).collect::<Vec<_>>().join("---\n")
    }
}

/// Makes the stack, or says everything that is in the way.
pub fn stack(request: &Request<'_>) -> Result<Stack, Problems> {
    let (flux, karpenter) = (flux::check(request), write::karpenter_tag(request.karpenter_version));
    let (flux, karpenter) = match (flux, karpenter) {
        (Ok(flux), Ok(karpenter)) => (flux, karpenter),
        (flux, karpenter) => {
            let problems = flux.err().into_iter().flatten().chain(karpenter.err());
            return Err(Problems(problems.collect()));
        }
    };
    let files = write::files(request, &flux, &karpenter);
    let remarks = remark::remarks(&flux, &karpenter, &files).map_err(Problems)?;
    Ok(Stack { files, remarks })
}
