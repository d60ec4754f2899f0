//! The management cluster.

use super::finding::Finding;
use crate::kubernetes_version::KubernetesVersion;

const AREA: &str = "management cluster";
/// The oldest Kubernetes that serves everything that CAPT's kinds need.
const OLDEST: (u32, u32) = (1, 30);

/// What the API server answered.
#[derive(Clone, Debug)]
pub struct ServerFacts {
    /// Its address.
    pub address: String,
    /// Its version, or why there is no answer.
    pub version: Result<String, String>,
}

impl ServerFacts {
    /// Judges it.
    pub fn judge(&self) -> Finding {
        let Self { address, version } = self;
        match version {
            Err(reason) => Finding::bad(
                AREA,
                format!("{address} does not answer: {reason}"),
                "start it (`capt up`), or name another with --kubeconfig FILE or --context NAME",
            ),
            Ok(version) => match KubernetesVersion::parse(version).map(|it| it.is_at_least(OLDEST)) {
                Some(true) => Finding::good(AREA, format!("{address} answers, Kubernetes {version}")),
                Some(false) => Finding::bad(
                    AREA,
                    format!(
                        "{address} is Kubernetes {version}; CAPT needs {}.{} or newer",
                        OLDEST.0, OLDEST.1
                    ),
                    "upgrade the management cluster",
                ),
                None => Finding::warning(
                    AREA,
                    format!("{address} answers, but says no version that can be read"),
                    "see what `kubectl version` says",
                ),
            },
        }
    }
}
