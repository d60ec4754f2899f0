//! The Secrets that a control plane hands out: there, of the right form, equal to their source, and owned.

use std::collections::BTreeMap;

use capt_api::CAPTControlPlane;
use capt_api::names::{CLUSTER_SECRET_TYPE, label};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt as _;
use secrecy::ExposeSecret as _;

use super::finding::Finding;
use crate::control_plane::connection::{Access, Source};
use crate::control_plane::names;
use crate::control_plane::secrets::{Purpose, WantedSecret, times_of, wanted};
use crate::kubeconfig;
use crate::owned_apply::{Belongs, Owner, belongs};
use crate::tie::label_value;

/// So long before credentials end that is told.
const SOON: i64 = 7 * 24 * 3600;

/// Judges all Secrets of a control plane.
pub(super) fn judge(
    area: &str,
    control_plane: &CAPTControlPlane,
    cluster: &str,
    source: &Source,
    secrets: &BTreeMap<String, Secret>,
    now: Timestamp,
) -> Vec<Finding> {
    let judge = Judge { area, control_plane, cluster, source, secrets, now };
    let mut findings: Vec<Finding> = judge.wanted().iter().flat_map(|wanted| judge.one(wanted)).collect();
    findings.extend(judge.alike());
    findings.extend(judge.expiry());
    findings
}

struct Judge<'facts> {
    area: &'facts str,
    control_plane: &'facts CAPTControlPlane,
    cluster: &'facts str,
    source: &'facts Source,
    secrets: &'facts BTreeMap<String, Secret>,
    now: Timestamp,
}

impl Judge<'_> {
    /// What is to be there. Kubeconfigs with tokens that CAPT makes are wanted by name: what is in them is looked at by itself.
    fn wanted(&self) -> Vec<WantedSecret> {
        let mut all = wanted(self.control_plane, self.cluster, self.source, None);
        if matches!(self.source.access, Access::Eks(_)) {
            let named = |purpose, name| WantedSecret {
                purpose,
                name,
                key: "value",
                content: String::new().into(),
                times: None,
            };
            all.push(named(Purpose::Kubeconfig, names::kubeconfig(self.cluster)));
            let name = names::control_plane_kubeconfig(self.control_plane);
            all.push(named(Purpose::ControlPlaneKubeconfig, name));
        }
        all.sort_by_key(|wanted| wanted.purpose);
        all
    }

    fn one(&self, wanted: &WantedSecret) -> Vec<Finding> {
        let name = self.named(&wanted.name);
        let Some(secret) = self.secrets.get(&wanted.name) else {
            return vec![self.bad(format!("Secret `{name}` is not there"), self.again())];
        };
        let mut findings = self.form(&name, secret, wanted.key);
        findings.extend(self.owner(&name, secret));
        let content =
            secret.data.as_ref().and_then(|data| data.get(wanted.key)).map(|value| value.0.as_slice());
        let same = match (&self.source.access, wanted.purpose) {
            (Access::Eks(_), Purpose::Kubeconfig | Purpose::ControlPlaneKubeconfig) => {
                content.is_some_and(|content| self.is_of_this_cluster(content))
            }
            _ => content == Some(wanted.content.expose_secret().as_bytes()),
        };
        if content.is_some() && !same {
            let source = self.named(&names::connection_secret(self.control_plane));
            findings.push(self.bad(
                format!("Secret `{name}` is not what its source, Secret `{source}`, says"),
                self.again(),
            ));
        }
        if findings.is_empty() {
            findings.push(Finding::good(
                self.area,
                format!("Secret `{name}` is there, as its source says, and owned"),
            ));
        }
        findings
    }

    fn form(&self, name: &str, secret: &Secret, key: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        if secret.type_.as_deref() != Some(CLUSTER_SECRET_TYPE) {
            findings.push(self.bad(
                format!("Secret `{name}` is of type {}, and not {CLUSTER_SECRET_TYPE}: Cluster API does not read it", secret.type_.as_deref().unwrap_or("nothing")),
                format!("delete it, and CAPT makes it again: kubectl delete secret {}", self.typed(secret)),
            ));
        }
        let labelled = secret.labels().get(label::CLUSTER_NAME);
        if labelled.map(String::as_str) != Some(label_value(self.cluster).as_str()) {
            findings.push(self.bad(
                format!("Secret `{name}` lacks the label {}={}", label::CLUSTER_NAME, self.cluster),
                format!(
                    "kubectl label --overwrite secret {} {}={}",
                    self.typed(secret),
                    label::CLUSTER_NAME,
                    label_value(self.cluster)
                ),
            ));
        }
        if !secret.data.as_ref().is_some_and(|data| data.contains_key(key)) {
            findings.push(self.bad(format!("Secret `{name}` has no key `{key}`"), self.again()));
        }
        findings
    }

    fn owner(&self, name: &str, secret: &Secret) -> Option<Finding> {
        let owner = Owner::of(self.control_plane);
        let plane = self.control_plane.name_any();
        match belongs(&secret.metadata, &owner) {
            Belongs::ToUs => None,
            Belongs::ToNobody => Some(self.bad(
                format!("Secret `{name}` is owned by nobody: it is neither moved nor deleted with its control plane"),
                self.again(),
            )),
            Belongs::ToOurPast => Some(self.bad(
                format!("Secret `{name}` is owned by a CAPTControlPlane `{plane}` that is gone: garbage collection takes it away"),
                self.again(),
            )),
            Belongs::ToOther(other) => Some(self.bad(
                format!("Secret `{name}` is owned by {other}, and not by CAPTControlPlane `{plane}`: CAPT leaves it alone"),
                format!("rename or delete it, and CAPT makes its own: kubectl delete secret {}", self.typed(secret)),
            )),
        }
    }

    /// Both kubeconfigs are the same, byte for byte.
    fn alike(&self) -> Option<Finding> {
        let content = |name: &str| self.secrets.get(name)?.data.as_ref()?.get("value").cloned();
        let (one, other) =
            (names::kubeconfig(self.cluster), names::control_plane_kubeconfig(self.control_plane));
        let (first, second) = (content(&one)?, content(&other)?);
        Some(if first == second {
            Finding::good(self.area, "both kubeconfigs are the same")
        } else {
            self.bad(
                format!("Secrets `{}` and `{}` differ", self.named(&one), self.named(&other)),
                self.again(),
            )
        })
    }

    fn expiry(&self) -> Option<Finding> {
        let secret = self.secrets.get(&names::kubeconfig(self.cluster))?;
        let name = self.named(&secret.name_any());
        let (ends, renewed) = match &self.source.access {
            Access::Eks(_) => match times_of(&secret.metadata) {
                Some(times) => (times.expires_at, true),
                None => {
                    return Some(
                        self.bad(format!("Secret `{name}` does not say when its token ends"), self.again()),
                    );
                }
            },
            Access::AsGiven { expires_at, .. } => ((*expires_at)?, false),
        };
        let left = ends.as_second() - self.now.as_second();
        Some(match left {
            left if left <= 0 => {
                self.bad(format!("the credentials in Secret `{name}` ended at {ends}"), self.again())
            }
            left if !renewed && left < SOON => Finding::warning(
                self.area,
                format!("the credentials in Secret `{name}` end at {ends}"),
                "have the Terraform module make new ones, and apply it again",
            ),
            _ => Finding::good(self.area, format!("its credentials are good until {ends}")),
        })
    }

    /// Whether a kubeconfig leads to the cluster of the source, with its certificate authority and a token.
    fn is_of_this_cluster(&self, content: &[u8]) -> bool {
        let Ok(found) = kubeconfig::parse(content) else { return false };
        found.server.same_address(&self.source.server)
            && found.certificate_authority.as_ref() == Some(&self.source.certificate_authority)
            && matches!(found.user, kubeconfig::User::EksToken { .. })
    }

    fn bad(&self, message: String, fix: String) -> Finding {
        Finding::bad(self.area, message, fix)
    }

    /// Brings the control plane up once more.
    fn again(&self) -> String {
        format!(
            "CAPT makes it again by itself: see whether a manager runs, and kubectl describe captcontrolplane -n {} {}",
            self.control_plane.namespace().unwrap_or_default(),
            self.control_plane.name_any()
        )
    }

    fn named(&self, name: &str) -> String {
        format!("{}/{name}", self.control_plane.namespace().unwrap_or_default())
    }

    fn typed(&self, secret: &Secret) -> String {
        format!("-n {} {}", self.control_plane.namespace().unwrap_or_default(), secret.name_any())
    }
}
