//! Why there is no way to a cluster, in sentences that name the file.

use std::io;

use kube::config::KubeconfigError;

/// Why there is no way to a cluster.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the kubeconfig {file} cannot be read")]
    Unreadable { file: String, source: io::Error },
    #[error(
        "there is no cluster to ask: there is no kubeconfig {file} and no home of `capt up`; start one with `capt up`, or name one \
         with --kubeconfig FILE"
    )]
    Nowhere { file: String },
    #[error("the kubeconfig {file} is not valid: {problem}")]
    Malformed { file: String, problem: String },
    #[error("the kubeconfig {file} has no current-context: set one with `kubectl config use-context NAME`")]
    NoContext { file: String },
    #[error("the kubeconfig {file} has `{context}` as its current-context, but no context of that name")]
    UnknownContext { file: String, context: String },
    #[error("the kubeconfig {file} has no context `{context}`: write one of `kubectl config get-contexts`")]
    NoSuchContext { file: String, context: String },
    #[error("the kubeconfig {file} refers to the cluster `{cluster}`, which is not in it")]
    UnknownCluster { file: String, cluster: String },
    #[error("the kubeconfig {file} cannot be used: {problem}")]
    Unusable { file: String, problem: String },
    #[error("making a client for {server}")]
    Client { server: String, source: kube::Error },
}

impl Error {
    /// The same for somebody who may have no cluster yet.
    pub(super) fn for_person(self) -> Self {
        match self {
            Self::Unreadable { file, source } if source.kind() == io::ErrorKind::NotFound => {
                Self::Nowhere { file }
            }
            other => other,
        }
    }

    /// What is wrong with a kubeconfig, without any of its content: that may be a password.
    pub(super) fn kubeconfig(file: &str, problem: KubeconfigError) -> Self {
        let file = file.to_owned();
        match problem {
            KubeconfigError::ReadConfig(source, path) => {
                Self::Unreadable { file: path.display().to_string(), source }
            }
            KubeconfigError::Parse(problem) => {
                let place = problem.location().map_or_else(String::new, |location| {
                    format!("; look at line {}, column {}", location.line(), location.column())
                });
                Self::Malformed { file, problem: format!("it is not the YAML of a kubeconfig{place}") }
            }
            KubeconfigError::CurrentContextNotSet => Self::NoContext { file },
            KubeconfigError::LoadContext(context) => Self::UnknownContext { file, context },
            KubeconfigError::LoadClusterOfContext(cluster) => Self::UnknownCluster { file, cluster },
            other => Self::Unusable { file, problem: other.to_string() },
        }
    }
}
