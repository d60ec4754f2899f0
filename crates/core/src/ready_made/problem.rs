//! What keeps a stack from being made.

use std::fmt;

use crate::manifest;

/// How manifests that will do are made.
pub(super) const EXPORT: &str = "flux install --components=source-controller,helm-controller --export";

/// Everything that keeps a stack from being made; there is at least one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let before = if index == 0 { "" } else { ". " };
            write!(formatter, "{before}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Something that keeps a stack from being made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Nothing to read.
    #[error("the manifests of Flux are empty: give what `{EXPORT}` prints")]
    Empty,
    /// More than a `ConfigMap` holds.
    #[error(
        "the manifests of Flux have {bytes} bytes, and a ConfigMap holds 1,048,576: leave out {}, which this stack does not need, \
         with `{EXPORT}`",
        named(.components)
    )]
    TooLarge {
        /// How many bytes there are.
        bytes: usize,
        /// Components that are not needed.
        components: Vec<String>,
    },
    /// Characters that no manifest has.
    #[error(
        "the manifests of Flux have a control character in line {line}: give what `{EXPORT}` prints, as it is"
    )]
    NotText {
        /// The line.
        line: usize,
    },
    /// Manifests that cannot be read.
    #[error("the manifests of Flux cannot be used: {0}")]
    Manifests(manifest::Problems),
    /// Something that belongs to Flux.
    #[error("the manifests of Flux have no {kind} `{name}`: give what `{EXPORT}` prints")]
    Missing {
        /// The kind.
        kind: &'static str,
        /// The name.
        name: &'static str,
    },
    /// A version of a kind that is not served.
    #[error(
        "the manifests of Flux serve {kind} as {} and not as {wanted}, which the stack is written in: take Flux {since} or later",
        if .served.is_empty() { "nothing".to_owned() } else { .served.join(", ") }
    )]
    NotServed {
        /// The kind.
        kind: &'static str,
        /// The version that is needed.
        wanted: &'static str,
        /// Those that are served.
        served: Vec<String>,
        /// The version of Flux that began to serve it.
        since: &'static str,
    },
    /// A version that nobody tells.
    #[error(
        "the manifests of Flux do not tell their version (the label app.kubernetes.io/version): say it with --flux-version{0}"
    )]
    NoVersion(String),
    /// Two versions of Flux.
    #[error(
        "the manifests are of Flux {found}, and --flux-version says {said}: leave --flux-version out, or give other manifests"
    )]
    OtherVersion {
        /// What the manifests tell.
        found: String,
        /// What the user says.
        said: String,
    },
    /// No version of Karpenter.
    #[error("`{0}` is no version of Karpenter's chart: write all three numbers, for example 1.14.1")]
    KarpenterVersion(String),
    /// A version of Karpenter that has other values.
    #[error("Karpenter {0} has another chart than the one that this stack is written for: take 1.0 or later")]
    OldKarpenter(String),
    /// Versions that do not go together.
    #[error("{0}")]
    Incompatible(String),
}

fn named(components: &[String]) -> String {
    match components {
        [] => "what is not source-controller or helm-controller".to_owned(),
        some => some.join(", "),
    }
}
