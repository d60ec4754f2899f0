//! CAPT's kinds, as the API server has them.

use capt_api::crd::Foreign;
use capt_api::names::label;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::finding::Finding;
use crate::skew::{Skew, compare};

const AREA: &str = "kinds";

/// One of CAPT's own kinds, or one that is compatible with somebody else's.
#[derive(Clone, Debug)]
pub struct DefinitionFacts<'facts> {
    /// Whose kind it is, if it is not CAPT's own.
    pub kinds: Option<Foreign>,
    /// As this capt has it.
    pub wanted: &'facts CustomResourceDefinition,
    /// As the API server has it.
    pub found: Option<&'facts CustomResourceDefinition>,
}

impl DefinitionFacts<'_> {
    /// Judges it; nothing where all is well.
    pub fn judge(&self) -> Vec<Finding> {
        let name = self.wanted.metadata.name.clone().unwrap_or_default();
        let mut findings: Vec<Finding> = self.skew(&name).into_iter().collect();
        let Some(found) = self.found else { return findings };
        if !is_established(found) {
            findings.push(Finding::bad(
                AREA,
                format!("{name} is there but not served"),
                format!("see its conditions: kubectl get crd {name} -o yaml"),
            ));
        }
        findings.extend(self.contract(&name, found));
        findings
    }

    /// Exactly the contract that this capt follows, and no other.
    fn contract(&self, name: &str, found: &CustomResourceDefinition) -> Option<Finding> {
        let value =
            |crd: &CustomResourceDefinition, key: &str| crd.metadata.labels.as_ref()?.get(key).cloned();
        if let Some(value) = value(found, label::CONTRACT_V1BETA1) {
            return Some(Finding::bad(
                AREA,
                format!(
                    "{name} has the label {}={value} of an older contract beside its own: Cluster API may read it wrongly",
                    label::CONTRACT_V1BETA1
                ),
                format!("kubectl label crd {name} {}-", label::CONTRACT_V1BETA1),
            ));
        }
        let (wanted, there) =
            (value(self.wanted, label::CONTRACT_V1BETA2), value(found, label::CONTRACT_V1BETA2));
        let wanted = wanted.filter(|wanted| there.as_ref() != Some(wanted))?;
        Some(Finding::bad(
            AREA,
            format!(
                "{name} has {} for its contract label, and not {}={wanted}: Cluster API does not find the kind",
                there.map_or_else(
                    || "nothing".to_owned(),
                    |there| format!("{}={there}", label::CONTRACT_V1BETA2)
                ),
                label::CONTRACT_V1BETA2
            ),
            format!("kubectl label --overwrite crd {name} {}={wanted}", label::CONTRACT_V1BETA2),
        ))
    }

    /// Whether it is of another version of CAPT.
    fn skew(&self, name: &str) -> Option<Finding> {
        let skew = compare(self.wanted, self.found);
        let (sentence, fix) = (skew.sentence(name)?, skew.fix(self.kinds, self.found)?);
        Some(match skew {
            Skew::None | Skew::Newer { .. } => Finding::warning(AREA, sentence, fix),
            Skew::Missing | Skew::NotServed { .. } | Skew::Older { .. } | Skew::TooNew { .. } => {
                Finding::bad(AREA, sentence, fix)
            }
        })
    }
}

fn is_established(crd: &CustomResourceDefinition) -> bool {
    let conditions = crd.status.iter().filter_map(|status| status.conditions.as_ref()).flatten();
    conditions.into_iter().any(|found| found.type_ == "Established" && found.status == "True")
}
