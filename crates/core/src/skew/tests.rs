use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::{annotation, label};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use rstest::rstest;
use serde_json::json;

use super::*;

const CURRENT: &str = env!("CARGO_PKG_VERSION");

fn wanted() -> CustomResourceDefinition {
    own().into_iter().find(|crd| crd.spec.names.kind == "WorkspaceTemplateApply").unwrap()
}

fn root(crd: &mut CustomResourceDefinition) -> &mut JSONSchemaProps {
    crd.spec.versions[0].schema.as_mut().unwrap().open_api_v3_schema.as_mut().unwrap()
}

fn at<'crd>(crd: &'crd mut CustomResourceDefinition, path: &[&str]) -> &'crd mut JSONSchemaProps {
    path.iter().fold(root(crd), |schema, name| schema.properties.as_mut().unwrap().get_mut(*name).unwrap())
}

fn changed(change: impl FnOnce(&mut CustomResourceDefinition)) -> CustomResourceDefinition {
    let mut crd = wanted();
    change(&mut crd);
    crd
}

fn of_version(version: Option<&str>, change: impl FnOnce(&mut CustomResourceDefinition)) -> Skew {
    let found = changed(|crd| {
        change(crd);
        match version {
            Some(version) => crd.annotations_mut().insert(annotation::VERSION.to_owned(), version.to_owned()),
            None => crd.annotations_mut().remove(annotation::VERSION),
        };
    });
    compare(&wanted(), Some(&found))
}

fn without_a_field(crd: &mut CustomResourceDefinition) {
    at(crd, &["spec"]).properties.as_mut().unwrap().remove("updatePolicy").unwrap();
}

fn with_a_field(crd: &mut CustomResourceDefinition) {
    let novelty = JSONSchemaProps::default();
    at(crd, &["status"]).properties.as_mut().unwrap().insert("novelty".to_owned(), novelty);
}

fn same(_: &mut CustomResourceDefinition) {}

fn both(crd: &mut CustomResourceDefinition) {
    without_a_field(crd);
    with_a_field(crd);
}

#[rstest]
#[case::the_same(Some(CURRENT), same, "none")]
#[case::of_before_versions_were_told(None, same, "none")]
#[case::an_older_release_without_a_difference(Some("0.0.1"), same, "none")]
#[case::an_older_release_with_a_field_that_went(Some("0.0.1"), with_a_field, "none")]
#[case::older(None, without_a_field, "older")]
#[case::an_older_release(Some("0.0.1"), without_a_field, "older")]
#[case::another_build_of_this_release(Some(CURRENT), without_a_field, "older")]
#[case::with_another_field_too(None, both, "older")]
#[case::newer_by_what_it_says(Some("99.0.0"), same, "newer")]
#[case::a_v_makes_no_difference(Some("v99.0.0"), same, "newer")]
#[case::newer_by_what_it_has(None, with_a_field, "newer")]
#[case::no_version_at_all(Some("latest"), with_a_field, "newer")]
#[case::a_newer_build_of_this_release(Some(CURRENT), with_a_field, "newer")]
#[case::too_new(Some("99.0.0"), both, "too new")]
#[case::what_comes_before_a_release_is_older(Some("0.0.1-rc.1"), both, "older")]
fn schema_and_version_tell_which_is_newer(
    #[case] version: Option<&str>,
    #[case] change: fn(&mut CustomResourceDefinition),
    #[case] expected: &str,
) {
    let skew = of_version(version, change);
    let found = match &skew {
        Skew::None => "none",
        Skew::Missing => "missing",
        Skew::NotServed { .. } => "not served",
        Skew::Older { lacks, .. } => {
            assert_eq!(lacks, "field spec.updatePolicy");
            "older"
        }
        Skew::Newer { .. } => "newer",
        Skew::TooNew { .. } => "too new",
    };
    assert_eq!(found, expected, "{skew:?}");
    assert_eq!(skew.holds_up(None), ["older", "too new"].contains(&found));
}

fn lacks(change: impl FnOnce(&mut CustomResourceDefinition)) -> Option<String> {
    match of_version(None, change) {
        Skew::Older { lacks, .. } => Some(lacks),
        _ => None,
    }
}

#[test]
fn a_value_that_is_not_taken_is_lacking() {
    let lacking = lacks(|crd| {
        let values = at(crd, &["spec", "updatePolicy"]).enum_.as_mut().unwrap();
        values.retain(|value| *value != JSON(json!("Pinned")));
    });
    assert_eq!(lacking.as_deref(), Some("value \"Pinned\" of the field spec.updatePolicy"));
}

#[test]
fn a_field_inside_a_list_is_lacking() {
    let lacking = lacks(|crd| {
        let conditions = at(crd, &["status", "conditions"]);
        let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut conditions.items else { panic!() };
        items.properties.as_mut().unwrap().remove("observedGeneration");
    });
    assert_eq!(lacking.as_deref(), Some("field status.conditions.observedGeneration"));
}

#[test]
fn a_map_that_is_none_any_more_is_lacking() {
    let lacking = lacks(|crd| at(crd, &["spec", "variables"]).additional_properties = None);
    assert_eq!(lacking.as_deref(), Some("room for all that may be in the field spec.variables"));
}

#[test]
fn a_schema_that_keeps_everything_lacks_nothing() {
    let loose = |crd: &mut CustomResourceDefinition| {
        *root(crd) = JSONSchemaProps {
            type_: Some("object".to_owned()),
            x_kubernetes_preserve_unknown_fields: Some(true),
            ..JSONSchemaProps::default()
        };
    };
    assert_eq!(lacks(loose), None);
    let open = |crd: &mut CustomResourceDefinition| {
        let spec = at(crd, &["spec"]);
        spec.properties = None;
        spec.additional_properties = Some(JSONSchemaPropsOrBool::Bool(true));
    };
    assert_eq!(lacks(open), None);
}

#[test]
fn every_kind_is_fit_for_itself() {
    for crd in [own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat() {
        assert_eq!(compare(&crd, Some(&crd)), Skew::None, "{}", crd.name_any());
        assert_eq!(version(&crd).map(|version| version.to_string()).as_deref(), Some(CURRENT));
    }
}

#[test]
fn what_is_told_names_the_kind_and_what_it_lacks() {
    let name = wanted().name_any();
    let missing = compare(&wanted(), None);
    let unserved = of_version(Some("99.0.0"), |crd| crd.spec.versions[0].name = "v1".to_owned());
    let skews = [
        missing,
        unserved,
        of_version(Some("0.0.1"), without_a_field),
        of_version(None, without_a_field),
        of_version(Some("99.0.0"), with_a_field),
        of_version(Some("99.0.0"), both),
    ];
    let told: Vec<String> = skews
        .iter()
        .map(|skew| {
            format!("{}\n  fix: {}", skew.sentence(&name).unwrap(), skew.fix(None, None).unwrap())
                .replace(CURRENT, "CURRENT")
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

fn noted(annotations: &[(&str, &str)], labels: &[(&str, &str)]) -> CustomResourceDefinition {
    changed(|crd| {
        without_a_field(crd);
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        crd.annotations_mut().extend(annotations.iter().map(owned));
        crd.labels_mut().extend(labels.iter().map(owned));
    })
}

#[rstest]
#[case::by_hand(noted(&[], &[]), "capt crds | kubectl apply")]
#[case::by_helm(
    noted(&[(annotation::HELM_RELEASE, "capt-crds"), (annotation::HELM_NAMESPACE, "capt-system")], &[]),
    "helm upgrade capt-crds CHART --namespace capt-system,"
)]
#[case::nothing_is_typed_that_is_no_name(
    noted(&[(annotation::HELM_RELEASE, "x; rm -rf ~"), (annotation::HELM_NAMESPACE, "capt-system")], &[]),
    "capt crds | kubectl apply"
)]
#[case::by_clusterctl(noted(&[], &[(label::PROVIDER, "infrastructure-capt")]), "clusterctl upgrade plan")]
fn it_is_upgraded_the_way_it_was_installed(#[case] found: CustomResourceDefinition, #[case] fix: &str) {
    let told = compare(&wanted(), Some(&found)).fix(None, Some(&found)).unwrap();
    assert!(told.starts_with(fix), "{told}");
}

#[test]
fn what_the_go_implementation_installed_is_migrated() {
    let mut found = noted(&[(annotation::HELM_RELEASE, "capt")], &[(label::CONTRACT_V1BETA1, "v1beta1")]);
    found.annotations_mut().remove(annotation::VERSION);
    let told = compare(&wanted(), Some(&found)).fix(None, Some(&found)).unwrap();
    assert!(told.starts_with("capt migrate from-go"), "{told}");
}

#[test]
fn only_what_says_that_it_is_of_a_newer_capt_is_left_alone() {
    assert!(of_version(Some("99.0.0"), same).is_of_a_newer_capt());
    assert!(of_version(Some("99.0.0"), both).is_of_a_newer_capt());
    assert!(!of_version(None, with_a_field).is_of_a_newer_capt());
    assert!(!of_version(Some("0.0.1"), without_a_field).is_of_a_newer_capt());
    let endless = format!("99.0.0+{}", "x".repeat(1000));
    assert!(!of_version(Some(&endless), same).is_of_a_newer_capt());
}
