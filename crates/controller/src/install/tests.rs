use std::collections::BTreeMap;

use capt_api::crd::{Foreign, foreign};
use capt_api::names::label;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use rstest::rstest;

use super::{Owner, owner};

fn ours() -> CustomResourceDefinition {
    foreign(Foreign::Terraform).remove(0)
}

fn labelled_by_a_provider() -> CustomResourceDefinition {
    let mut crd = ours();
    crd.labels_mut().insert(label::PROVIDER.to_owned(), "cluster-api".to_owned());
    crd
}

fn converted_by(strategy: &str) -> CustomResourceDefinition {
    let mut crd = ours();
    crd.spec.conversion = Some(CustomResourceConversion {
        strategy: strategy.to_owned(),
        ..CustomResourceConversion::default()
    });
    crd
}

fn owned_by(api_version: &str) -> CustomResourceDefinition {
    let mut crd = ours();
    let reference = OwnerReference {
        api_version: api_version.to_owned(),
        kind: "ProviderRevision".to_owned(),
        name: "provider-terraform-1".to_owned(),
        ..OwnerReference::default()
    };
    crd.owner_references_mut().push(reference);
    crd
}

fn installed_by_helm() -> CustomResourceDefinition {
    let mut crd = ours();
    crd.labels_mut().insert(label::MANAGED_BY.to_owned(), "Helm".to_owned());
    crd
}

fn of_somebody_elses_chart() -> CustomResourceDefinition {
    let mut crd = installed_by_helm();
    crd.labels_mut().remove(label::COMPATIBLE);
    crd
}

fn without_labels() -> CustomResourceDefinition {
    let mut crd = ours();
    *crd.labels_mut() = BTreeMap::new();
    crd
}

#[rstest]
#[case::as_capt_installs_it(ours(), None)]
#[case::with_the_default_conversion(converted_by("None"), None)]
#[case::owned_by_something_else(owned_by("example.com/v1"), None)]
#[case::a_group_that_only_ends_alike(owned_by("notpkg.crossplane.io/v1"), None)]
#[case::a_label_of_ours_survives_clusterctl(
    labelled_by_a_provider(),
    Some(Owner::Provider("cluster-api".to_owned()))
)]
#[case::a_webhook_is_somebodys(converted_by("Webhook"), Some(Owner::ConversionWebhook))]
#[case::a_package_of_crossplane(
    owned_by("pkg.crossplane.io/v1"),
    Some(Owner::CrossplanePackage("provider-terraform-1".to_owned()))
)]
#[case::by_our_chart(installed_by_helm(), None)]
#[case::by_somebody_elses_chart(of_somebody_elses_chart(), Some(Owner::Unknown))]
#[case::applied_by_hand(without_labels(), Some(Owner::Unknown))]
fn a_crd_is_capts_only_without_traces_of_others(
    #[case] crd: CustomResourceDefinition,
    #[case] expected: Option<Owner>,
) {
    assert_eq!(owner(&crd), expected);
}
