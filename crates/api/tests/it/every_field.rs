//! Objects with every field set: nothing is lost on the way through the Rust kinds.

use capt_api::{
    AddonStack, AddonStackBinding, CAPTCluster, CAPTClusterTemplate, CAPTControlPlane,
    CAPTControlPlaneTemplate, Cluster, ClusterResourceSet, ClusterResourceSetBinding, ProviderConfig,
    Workspace, WorkspaceTemplate, WorkspaceTemplateApply,
};
use kube::CustomResourceExt;
use rstest::rstest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::schema::{finished, missing, root};

fn documents(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

fn assert_kept<K: DeserializeOwned + Serialize>(text: &str) {
    for document in documents(text) {
        let object: K = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(serde_json::to_value(object).unwrap(), document);
    }
}

#[rstest]
#[case::capt_cluster(assert_kept::<CAPTCluster>, include_str!("every_field/capt_cluster.yaml"))]
#[case::capt_cluster_template(assert_kept::<CAPTClusterTemplate>, include_str!("every_field/capt_cluster_template.yaml"))]
#[case::capt_control_plane(assert_kept::<CAPTControlPlane>, include_str!("every_field/capt_control_plane.yaml"))]
#[case::capt_control_plane_template(assert_kept::<CAPTControlPlaneTemplate>, include_str!("every_field/capt_control_plane_template.yaml"))]
#[case::workspace_template(assert_kept::<WorkspaceTemplate>, include_str!("every_field/workspace_template.yaml"))]
#[case::workspace_template_apply(assert_kept::<WorkspaceTemplateApply>, include_str!("every_field/workspace_template_apply.yaml"))]
#[case::workspace(assert_kept::<Workspace>, include_str!("every_field/workspace.yaml"))]
#[case::provider_config(assert_kept::<ProviderConfig>, include_str!("every_field/provider_config.yaml"))]
#[case::cluster(assert_kept::<Cluster>, include_str!("every_field/cluster.yaml"))]
#[case::addon_stack(assert_kept::<AddonStack>, include_str!("every_field/addon_stack.yaml"))]
#[case::addon_stack_binding(assert_kept::<AddonStackBinding>, include_str!("every_field/addon_stack_binding.yaml"))]
#[case::cluster_resource_set(assert_kept::<ClusterResourceSet>, include_str!("every_field/cluster_resource_set.yaml"))]
#[case::cluster_resource_set_binding(assert_kept::<ClusterResourceSetBinding>, include_str!("every_field/cluster_resource_set_binding.yaml"))]
fn every_field_survives_the_way_through_the_kind(#[case] assert_kept: fn(&str), #[case] text: &str) {
    assert_kept(text);
}

#[rstest]
#[case::capt_cluster(CAPTCluster::crd_name(), include_str!("every_field/capt_cluster.yaml"))]
#[case::capt_cluster_template(CAPTClusterTemplate::crd_name(), include_str!("every_field/capt_cluster_template.yaml"))]
#[case::capt_control_plane(CAPTControlPlane::crd_name(), include_str!("every_field/capt_control_plane.yaml"))]
#[case::capt_control_plane_template(CAPTControlPlaneTemplate::crd_name(), include_str!("every_field/capt_control_plane_template.yaml"))]
#[case::workspace_template(WorkspaceTemplate::crd_name(), include_str!("every_field/workspace_template.yaml"))]
#[case::workspace_template_apply(WorkspaceTemplateApply::crd_name(), include_str!("every_field/workspace_template_apply.yaml"))]
#[case::workspace(Workspace::crd_name(), include_str!("every_field/workspace.yaml"))]
#[case::provider_config(ProviderConfig::crd_name(), include_str!("every_field/provider_config.yaml"))]
#[case::cluster(Cluster::crd_name(), include_str!("every_field/cluster.yaml"))]
#[case::addon_stack(AddonStack::crd_name(), include_str!("every_field/addon_stack.yaml"))]
#[case::addon_stack_binding(AddonStackBinding::crd_name(), include_str!("every_field/addon_stack_binding.yaml"))]
#[case::cluster_resource_set(ClusterResourceSet::crd_name(), include_str!("every_field/cluster_resource_set.yaml"))]
#[case::cluster_resource_set_binding(ClusterResourceSetBinding::crd_name(), include_str!("every_field/cluster_resource_set_binding.yaml"))]
fn the_examples_leave_no_field_out(#[case] name: &str, #[case] text: &str) {
    let crd = finished(name);
    assert_eq!(missing(root(&crd), &documents(text)), Vec::<String>::new());
}
