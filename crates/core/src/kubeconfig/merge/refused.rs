//! Why nothing is merged.

use crate::kubeconfig::problem::Invalid;

/// Why nothing is merged. No sentence repeats a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// What is to be put in cannot be used.
    #[error(transparent)]
    Content(#[from] Invalid),
    /// The kubeconfig of the person cannot be changed without losing something.
    #[error("it is left as it is, because it cannot be changed safely: {0}")]
    Existing(#[source] Invalid),
    /// The name is somebody else's.
    #[error(
        "it has a {kind} `{name}` already{server}, and that is not this Cluster's: give another name with --context-name, or \
         remove it with `kubectl config delete-{kind} {name}`"
    )]
    Taken {
        /// `context`, `cluster` or `user`.
        kind: &'static str,
        /// The name.
        name: String,
        /// Where it leads to, as part of the sentence.
        server: String,
    },
}
