//! The kinds: which are the earlier ones, and who installed them.

use std::collections::BTreeSet;

use capt_api::crd::own;
use capt_api::names::{annotation, label};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;

use super::{By, Deed, Entry, Found, Plan};
use crate::name::{is_namespace_name, is_object_name};
use crate::skew::{compare, version};

/// Whether a CRD of one of CAPT's kinds is the earlier implementation's: every one of CAPT's says of which version it is.
pub fn is_of_go(crd: &CustomResourceDefinition) -> bool {
    version(crd).is_none()
}

pub(super) fn look(found: &Found, plan: &mut Plan) {
    let mut releases = BTreeSet::new();
    let mut providers = BTreeSet::new();
    let mut needed = false;
    for wanted in own() {
        let name = wanted.name_any();
        let present = found.definitions.iter().find(|crd| crd.name_any() == name);
        let skew = compare(&wanted, present);
        if skew.is_of_a_newer_capt() {
            let sentence = skew.sentence(&name).unwrap_or_default();
            let fix = skew.fix(None, present).map(|fix| format!(": {fix}")).unwrap_or_default();
            plan.in_the_way.push(format!("{sentence}{fix}"));
            continue;
        }
        let Some(what) = becomes(present) else { continue };
        needed = true;
        plan.entries.push(Entry {
            kind: "CustomResourceDefinition".to_owned(),
            namespace: None,
            name,
            by: By::Command,
            what,
        });
        if let Some(present) = present.filter(|present| is_of_go(present)) {
            releases.extend(release(present));
            providers.extend(present.labels().get(label::PROVIDER).cloned());
        }
    }
    if needed {
        plan.deeds.push(Deed::Definitions);
    }
    plan.remarks.extend(releases.into_iter().map(|(name, namespace)| {
        format!(
            "the kinds were installed by release `{name}` of Helm, and `helm uninstall {name}` would delete them with every object of them: let Helm forget the release instead, with `kubectl delete secret --namespace {namespace} --selector owner=helm,name={name}`"
        )
    }));
    plan.remarks.extend(providers.into_iter().map(|name| {
        format!(
            "the kinds were installed by clusterctl as provider {name}: install CAPT in its place with `clusterctl upgrade apply`, and do not use `clusterctl delete --include-crd`, which deletes every object of them"
        )
    }));
}

/// What becomes of a CRD; nothing where it is as it should be.
fn becomes(present: Option<&CustomResourceDefinition>) -> Option<String> {
    let Some(present) = present else { return Some("made".to_owned()) };
    let label = label::CONTRACT_V1BETA1;
    match (is_of_go(present), present.labels().contains_key(label)) {
        (true, true) => {
            Some(format!("replaced by CAPT's, without the label {label}; objects stay as they are"))
        }
        (true, false) => Some("replaced by CAPT's; objects stay as they are".to_owned()),
        (false, true) => Some(format!("loses the label {label}: one version follows one contract")),
        (false, false) => None,
    }
}

/// The release of Helm that installed a CRD, with its namespace.
fn release(crd: &CustomResourceDefinition) -> Option<(String, String)> {
    let noted = |key: &str| crd.annotations().get(key).cloned();
    let name = noted(annotation::HELM_RELEASE).filter(|name| is_object_name(name))?;
    let namespace = noted(annotation::HELM_NAMESPACE).filter(|name| is_namespace_name(name))?;
    Some((name, namespace))
}
