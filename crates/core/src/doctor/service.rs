//! Who serves the kinds of others: CAPT, Cluster API, Crossplane.

use super::finding::Finding;
use crate::kubernetes_version::KubernetesVersion;

const AREA: &str = "kinds of others";
/// The oldest Cluster API that CAPT works with.
const OLDEST: (u32, u32) = (1, 12);

/// A kind that somebody else may serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Cluster API's Cluster.
    Cluster,
    /// Cluster API's `ClusterResourceSet`.
    ResourceSet,
    /// Crossplane's Workspace.
    Workspace,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Cluster => "Cluster",
            Self::ResourceSet => "ClusterResourceSet",
            Self::Workspace => "Workspace",
        }
    }

    const fn install(self) -> &'static str {
        match self {
            Self::Cluster | Self::ResourceSet => {
                "install Cluster API (clusterctl init), or: capt crds --include cluster-api | kubectl apply --server-side -f -"
            }
            Self::Workspace => {
                "install Crossplane's provider-terraform, or: capt crds --include terraform | kubectl apply --server-side -f -"
            }
        }
    }
}

/// What shows that a kind is somebody's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Our label.
    OurLabel,
    /// A provider of Cluster API's, by its label.
    Provider(String),
    /// A package of Crossplane's, by its owner reference.
    Package(String),
    /// A conversion webhook.
    Conversion(ConversionFacts),
}

/// A conversion webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionFacts {
    /// The Service that it is behind, as `namespace/name`; nothing for one elsewhere.
    pub service: Option<String>,
    /// Whether somebody answers there, if that could be seen.
    pub answers: Option<bool>,
}

/// Who serves a kind.
#[derive(Clone, Debug)]
pub struct ServiceFacts {
    /// Which kind.
    pub kind: Kind,
    /// What its CRD shows; nothing where there is no such CRD.
    pub traces: Option<Vec<Trace>>,
    /// The version of Cluster API, if it is known.
    pub cluster_api: Option<String>,
}

impl ServiceFacts {
    /// Judges it.
    pub fn judge(&self) -> Vec<Finding> {
        let name = self.kind.name();
        let Some(traces) = &self.traces else {
            return vec![Finding::bad(AREA, format!("{name} is not there"), self.kind.install())];
        };
        let mut findings = vec![self.owner(traces)];
        for conversion in traces.iter().filter_map(|trace| match trace {
            Trace::Conversion(conversion) => Some(conversion),
            Trace::OurLabel | Trace::Provider(_) | Trace::Package(_) => None,
        }) {
            findings.extend(self.conversion(conversion));
        }
        let owners =
            traces.iter().filter(|trace| matches!(trace, Trace::Provider(_) | Trace::Package(_))).count();
        if owners > 1 {
            findings.push(Finding::bad(
                AREA,
                format!("{name} has more than one owner, a provider of Cluster API and a package of Crossplane: they overwrite each other"),
                format!("remove the one that does not belong there, and its traces on the CRD of {name}"),
            ));
        }
        findings
    }

    fn owner(&self, traces: &[Trace]) -> Finding {
        let name = self.kind.name();
        let provider = traces.iter().find_map(|trace| match trace {
            Trace::Provider(provider) => Some(provider),
            Trace::OurLabel | Trace::Package(_) | Trace::Conversion(_) => None,
        });
        let package = traces.iter().find_map(|trace| match trace {
            Trace::Package(package) => Some(package),
            Trace::OurLabel | Trace::Provider(_) | Trace::Conversion(_) => None,
        });
        let webhook = traces.iter().any(|trace| matches!(trace, Trace::Conversion(_)));
        match (provider, package) {
            (Some(provider), _) => self.cluster_api(provider),
            (None, Some(package)) => {
                Finding::good(AREA, format!("{name} is served by Crossplane ({package})"))
            }
            (None, None) if webhook => {
                Finding::good(AREA, format!("{name} is served by whoever runs its conversion webhook"))
            }
            (None, None) if traces.contains(&Trace::OurLabel) => {
                Finding::good(AREA, format!("{name} is served by CAPT itself"))
            }
            (None, None) => Finding::warning(
                AREA,
                format!("{name} was installed by somebody who left no trace, so that CAPT does not serve it"),
                format!("if nobody does: {}", self.kind.install()),
            ),
        }
    }

    fn cluster_api(&self, provider: &str) -> Finding {
        let name = self.kind.name();
        let Some(version) = &self.cluster_api else {
            return Finding::good(AREA, format!("{name} is served by Cluster API (provider {provider})"));
        };
        match KubernetesVersion::parse(version).map(|it| it.is_at_least(OLDEST)) {
            Some(false) => Finding::bad(
                AREA,
                format!(
                    "{name} is served by Cluster API {version}; CAPT needs {}.{} or newer",
                    OLDEST.0, OLDEST.1
                ),
                "clusterctl upgrade plan, then clusterctl upgrade apply",
            ),
            Some(true) | None => Finding::good(AREA, format!("{name} is served by Cluster API {version}")),
        }
    }

    fn conversion(&self, conversion: &ConversionFacts) -> Option<Finding> {
        let name = self.kind.name();
        let service = conversion.service.as_deref()?;
        (conversion.answers == Some(false)).then(|| {
            let (namespace, of) = service.split_once('/').unwrap_or_default();
            Finding::bad(
                AREA,
                format!("nobody answers at the conversion webhook of {name} (Service `{service}`): its objects can be neither read nor written"),
                format!("see why its pods do not run: kubectl -n {namespace} get pods,endpointslices -l kubernetes.io/service-name={of}"),
            )
        })
    }
}
