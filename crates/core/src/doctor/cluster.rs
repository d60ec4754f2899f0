//! One cluster: what it hands out, and whether it is what its module gave.

use std::collections::BTreeMap;

use capt_api::names::{annotation, condition};
use capt_api::{CAPTControlPlane, Cluster};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt as _;

use super::finding::Finding;
use super::secret;
use crate::control_plane::connection::{self, Access, Source, Surroundings};
use crate::control_plane::names;
use crate::control_plane::observed::WorkspaceSeen;

/// Everything that is known of a cluster.
#[derive(Clone, Debug)]
pub struct ClusterFacts<'facts> {
    /// The Cluster.
    pub cluster: &'facts Cluster,
    /// Its control plane, if it is one of CAPT's and there.
    pub control_plane: Option<&'facts CAPTControlPlane>,
    /// The control plane's Workspace.
    pub workspace: Option<&'facts WorkspaceSeen>,
    /// The region of its network.
    pub network_region: Option<&'facts str>,
    /// Secrets of its namespace, by name: those that it may have.
    pub secrets: &'facts BTreeMap<String, Secret>,
    /// Its add-ons.
    pub bindings: &'facts [BindingFacts],
    /// Now.
    pub now: Timestamp,
}

/// A stack in this cluster.
#[derive(Clone, Debug)]
pub struct BindingFacts {
    /// The stack.
    pub stack: String,
    /// Whether all of it is ready; otherwise what is told of it.
    pub ready: Result<(), String>,
}

/// The region and the name of a cluster of EKS; nothing for any other.
pub fn region_of(source: &Source) -> Option<(String, String)> {
    match &source.access {
        Access::Eks(eks) => Some((eks.region.clone(), eks.cluster_name.clone())),
        Access::AsGiven { .. } => None,
    }
}

impl ClusterFacts<'_> {
    /// What is looked at.
    pub fn area(&self) -> String {
        format!("Cluster {}/{}", self.cluster.namespace().unwrap_or_default(), self.cluster.name_any())
    }

    /// What the module gave, if that can be read.
    pub fn source(&self) -> Option<Source> {
        let control_plane = self.control_plane?;
        self.read(control_plane).and_then(Result::ok)
    }

    /// Judges it.
    pub fn judge(&self) -> Vec<Finding> {
        let area = self.area();
        let Some(control_plane) = self.control_plane else {
            return vec![self.without_control_plane(&area)];
        };
        let mut findings = vec![self.paused(&area)].into_iter().flatten().collect::<Vec<_>>();
        match self.read(control_plane) {
            None => {
                findings.push(Finding::bad(
                    &area,
                    format!(
                        "Secret `{}` with the outputs of the module is not there",
                        self.connection(control_plane)
                    ),
                    format!(
                        "see what its Workspace waits for: kubectl describe workspacetemplateapply -n {} {}",
                        self.namespace(),
                        names::apply(control_plane)
                    ),
                ));
            }
            Some(Err(blocked)) => {
                findings.push(Finding::bad(
                    &area,
                    blocked.message,
                    "change the module's outputs, or let it be applied again",
                ));
            }
            Some(Ok(source)) => {
                findings.push(Finding::good(
                    &area,
                    format!("Secret `{}` holds what is needed", self.connection(control_plane)),
                ));
                findings.extend(source.warnings.iter().map(|warning| {
                    Finding::warning(
                        &area,
                        warning.clone(),
                        "if that is not on purpose, change the module's outputs",
                    )
                }));
                findings.push(self.endpoint(&area, control_plane, &source));
                let name = self.cluster.name_any();
                findings.extend(secret::judge(&area, control_plane, &name, &source, self.secrets, self.now));
            }
        }
        findings.extend(self.addons(&area));
        findings.extend(self.available(&area));
        findings
    }

    fn read(&self, control_plane: &CAPTControlPlane) -> Option<Result<Source, crate::apply::Blocked>> {
        let secret = self.secrets.get(&names::connection_secret(control_plane))?;
        let data = secret.data.as_ref().filter(|data| !data.is_empty())?;
        let around = Surroundings {
            secret: &self.connection(control_plane),
            control_plane,
            workspace: self.workspace,
            network_region: self.network_region,
            now: self.now,
        };
        Some(connection::read(data, around))
    }

    fn namespace(&self) -> String {
        self.cluster.namespace().unwrap_or_default()
    }

    fn connection(&self, control_plane: &CAPTControlPlane) -> String {
        format!("{}/{}", self.namespace(), names::connection_secret(control_plane))
    }

    fn without_control_plane(&self, area: &str) -> Finding {
        match &self.cluster.spec.control_plane_ref {
            Some(reference) if reference.kind == "CAPTControlPlane" => Finding::bad(
                area,
                format!(
                    "spec.controlPlaneRef names CAPTControlPlane `{}`, which is not there",
                    reference.name
                ),
                format!("make it, or see its name: kubectl get captcontrolplanes -n {}", self.namespace()),
            ),
            Some(reference) => Finding::good(
                area,
                format!("its control plane is a {}, which is not CAPT's to look at", reference.kind),
            ),
            None if self.cluster.spec.topology.is_some() => self.not_made(area),
            None => Finding::warning(area, "it has no spec.controlPlaneRef", "name a CAPTControlPlane there"),
        }
    }

    /// Cluster API itself makes the control plane of a Cluster that has a class.
    fn not_made(&self, area: &str) -> Finding {
        let conditions = self.cluster.status.iter().flat_map(|status| &status.conditions);
        let mut told = conditions.filter(|told| told.type_ == condition::TOPOLOGY_RECONCILED);
        let why = told.next().map(|told| format!(": {}", told.message.trim())).unwrap_or_default();
        Finding::warning(
            area,
            format!("Cluster API has not made its control plane from its class yet{why}"),
            format!(
                "see whether Cluster API runs with ClusterTopology=true, and what it says: kubectl describe cluster -n {} {}",
                self.namespace(),
                self.cluster.name_any()
            ),
        )
    }

    fn paused(&self, area: &str) -> Option<Finding> {
        let paused = self.cluster.spec.paused == Some(true)
            || self.cluster.annotations().contains_key(annotation::PAUSED);
        paused.then(|| {
            let name = self.cluster.name_any();
            let namespace = self.namespace();
            Finding::warning(
                area,
                "it is paused: nothing is renewed and nothing repaired",
                format!("kubectl patch cluster -n {namespace} {name} --type=merge -p '{{\"spec\":{{\"paused\":false}}}}', and kubectl annotate cluster -n {namespace} {name} {}-", annotation::PAUSED),
            )
        })
    }

    fn endpoint(&self, area: &str, control_plane: &CAPTControlPlane, source: &Source) -> Finding {
        let wanted = &source.endpoint;
        match &control_plane.spec.control_plane_endpoint {
            // Names of machines have no case.
            Some(found) if found.port == wanted.port && found.host.eq_ignore_ascii_case(&wanted.host) => {
                Finding::good(
                    area,
                    format!("its endpoint is {}:{}, as the module says", wanted.host, wanted.port),
                )
            }
            found => Finding::bad(
                area,
                format!(
                    "its endpoint is {}, and the module says {}:{}",
                    found
                        .as_ref()
                        .map_or_else(|| "not known".to_owned(), |it| format!("{}:{}", it.host, it.port)),
                    wanted.host,
                    wanted.port
                ),
                "see whether a manager runs, and what it says: kubectl describe captcontrolplane -n "
                    .to_owned()
                    + &format!("{} {}", self.namespace(), control_plane.name_any()),
            ),
        }
    }

    fn addons(&self, area: &str) -> Vec<Finding> {
        let name = self.cluster.name_any();
        let judge = |binding: &BindingFacts| match &binding.ready {
            Ok(()) => Finding::good(area, format!("the add-ons of AddonStack `{}` are ready", binding.stack)),
            Err(why) => Finding::warning(
                area,
                format!("the add-ons of AddonStack `{}` are not ready: {why}", binding.stack),
                format!(
                    "capt reconcile addonstack {} --cluster {name} -n {} --wait",
                    binding.stack,
                    self.namespace()
                ),
            ),
        };
        self.bindings.iter().map(judge).collect()
    }

    fn available(&self, area: &str) -> Option<Finding> {
        let conditions = &self.cluster.status.as_ref()?.conditions;
        let found = conditions.iter().find(|found| found.type_ == condition::AVAILABLE)?;
        (found.status != "True").then(|| {
            Finding::warning(
                area,
                format!("it is not available: {}", found.message.trim()),
                format!(
                    "see what it waits for: kubectl describe cluster -n {} {}",
                    self.namespace(),
                    self.cluster.name_any()
                ),
            )
        })
    }
}
