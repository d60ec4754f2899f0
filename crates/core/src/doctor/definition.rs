//! CAPT's kinds, as the API server has them.

use std::collections::BTreeSet;

use capt_api::names::label;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

use super::finding::Finding;

const AREA: &str = "kinds";
/// Installs CAPT's own kinds.
pub(super) const INSTALL: &str = "capt crds | kubectl apply --server-side --force-conflicts -f -";

/// One of CAPT's own kinds.
#[derive(Clone, Debug)]
pub struct DefinitionFacts<'facts> {
    /// As this capt has it.
    pub wanted: &'facts CustomResourceDefinition,
    /// As the API server has it.
    pub found: Option<&'facts CustomResourceDefinition>,
}

impl DefinitionFacts<'_> {
    /// Judges it; nothing where all is well.
    pub fn judge(&self) -> Vec<Finding> {
        let name = self.wanted.metadata.name.clone().unwrap_or_default();
        let Some(found) = self.found else {
            return vec![Finding::bad(AREA, format!("{name} is not there"), INSTALL)];
        };
        let mut findings = Vec::new();
        if !is_established(found) {
            findings.push(Finding::bad(
                AREA,
                format!("{name} is there but not served"),
                format!("see its conditions: kubectl get crd {name} -o yaml"),
            ));
        }
        findings.extend(self.contract(&name, found));
        findings.extend(self.version(&name, found));
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

    /// Fields that only one of them has tell which is newer.
    fn version(&self, name: &str, found: &CustomResourceDefinition) -> Option<Finding> {
        let (wanted, there) = (fields(self.wanted), fields(found));
        let lacking = wanted.difference(&there).next();
        let more = there.difference(&wanted).next();
        match (lacking, more) {
            (None, None) => None,
            (Some(field), None) => Some(Finding::bad(
                AREA,
                format!(
                    "{name} is older than this capt: it has no field {field}, and what is written there is lost"
                ),
                INSTALL,
            )),
            (None, Some(field)) => Some(Finding::warning(
                AREA,
                format!("{name} is newer than this capt: it has a field {field}"),
                "use the capt of the version that runs in the management cluster",
            )),
            (Some(lacking), Some(more)) => Some(Finding::warning(
                AREA,
                format!(
                    "{name} is of another version than this capt: it has no field {lacking}, but a field {more}"
                ),
                INSTALL,
            )),
        }
    }
}

fn is_established(crd: &CustomResourceDefinition) -> bool {
    let conditions = crd.status.iter().filter_map(|status| status.conditions.as_ref()).flatten();
    conditions.into_iter().any(|found| found.type_ == "Established" && found.status == "True")
}

/// All fields of all versions, as paths.
fn fields(crd: &CustomResourceDefinition) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for version in &crd.spec.versions {
        if let Some(schema) = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()) {
            walk(schema, &mut version.name.clone(), &mut found);
        }
    }
    found
}

fn walk(schema: &JSONSchemaProps, path: &mut String, found: &mut BTreeSet<String>) {
    for (name, property) in schema.properties.iter().flatten() {
        let length = path.len();
        path.push('.');
        path.push_str(name);
        found.insert(path.clone());
        walk(property, path, found);
        path.truncate(length);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
        walk(items, path, found);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
        walk(values, path, found);
    }
}
