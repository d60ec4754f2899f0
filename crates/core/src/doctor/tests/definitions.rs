use capt_api::crd::own;
use capt_api::names::label;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition, CustomResourceDefinitionStatus,
    JSONSchemaProps,
};
use kube::ResourceExt as _;
use rstest::rstest;

use super::super::*;

fn wanted() -> CustomResourceDefinition {
    own().into_iter().find(|crd| crd.spec.names.kind == "WorkspaceTemplateApply").unwrap()
}

fn served() -> CustomResourceDefinition {
    let condition = CustomResourceDefinitionCondition {
        type_: "Established".to_owned(),
        status: "True".to_owned(),
        ..CustomResourceDefinitionCondition::default()
    };
    let status = CustomResourceDefinitionStatus { conditions: Some(vec![condition]), ..Default::default() };
    CustomResourceDefinition { status: Some(status), ..wanted() }
}

fn spec(crd: &mut CustomResourceDefinition) -> &mut JSONSchemaProps {
    let schema = crd.spec.versions[0].schema.as_mut().unwrap().open_api_v3_schema.as_mut().unwrap();
    schema.properties.as_mut().unwrap().get_mut("spec").unwrap()
}

fn judge(found: Option<&CustomResourceDefinition>) -> Vec<(Level, String, String)> {
    let wanted = wanted();
    let findings = DefinitionFacts { kinds: None, wanted: &wanted, found }.judge();
    findings.into_iter().map(|it| (it.level, it.message, it.fix.unwrap_or_default())).collect()
}

#[test]
fn a_kind_as_this_capt_has_it_is_fine() {
    assert_eq!(judge(Some(&served())), []);
}

fn without_status() -> CustomResourceDefinition {
    CustomResourceDefinition { status: None, ..served() }
}

fn older() -> CustomResourceDefinition {
    let mut crd = served();
    spec(&mut crd).properties.as_mut().unwrap().remove("updatePolicy");
    crd
}

fn newer() -> CustomResourceDefinition {
    let mut crd = served();
    spec(&mut crd).properties.as_mut().unwrap().insert("novelty".to_owned(), JSONSchemaProps::default());
    crd
}

fn labelled(key: &str, value: Option<&str>) -> CustomResourceDefinition {
    let mut crd = served();
    match value {
        Some(value) => crd.labels_mut().insert(key.to_owned(), value.to_owned()),
        None => crd.labels_mut().remove(key),
    };
    crd
}

#[rstest]
#[case::missing(None, Level::Bad, "is not there", "capt crds | kubectl apply --server-side")]
#[case::not_served(
    Some(without_status()),
    Level::Bad,
    "is there but not served",
    "kubectl get crd workspacetemplateapplies."
)]
#[case::older(
    Some(older()),
    Level::Bad,
    "older than this capt: it has no field spec.updatePolicy",
    "capt crds |"
)]
#[case::newer(
    Some(newer()),
    Level::Warning,
    "newer than this capt: it has a field spec.novelty",
    "use the capt of the version"
)]
#[case::an_old_contract(
    Some(labelled(label::CONTRACT_V1BETA1, Some("v1beta1"))),
    Level::Bad,
    "of an older contract",
    "cluster.x-k8s.io/v1beta1-"
)]
#[case::no_contract(
    Some(labelled(label::CONTRACT_V1BETA2, None)),
    Level::Bad,
    "has nothing for its contract label",
    "cluster.x-k8s.io/v1beta2=v1beta1"
)]
#[case::another_contract(
    Some(labelled(label::CONTRACT_V1BETA2, Some("v1"))),
    Level::Bad,
    "has cluster.x-k8s.io/v1beta2=v1",
    "cluster.x-k8s.io/v1beta2=v1beta1"
)]
fn what_is_wrong_with_a_kind_is_told(
    #[case] found: Option<CustomResourceDefinition>,
    #[case] level: Level,
    #[case] message: &str,
    #[case] fix: &str,
) {
    let findings = judge(found.as_ref());
    let [(found, said, typed)] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(*found, level);
    assert!(said.contains(message), "{said}");
    assert!(typed.contains(fix), "{typed}");
}
