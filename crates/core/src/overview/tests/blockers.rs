//! What blocks first.

use rstest::rstest;

use super::scenes::*;
use super::world::seen;
use crate::overview::{Facts, Node};

#[rstest]
#[case::nothing(all_ready, None)]
#[case::the_network_before_those_who_wait_for_it(waiting_for_network, Some("Workspace/demo-vpc Creating"))]
#[case::the_network_before_those_who_call_it_late(network_overdue, Some("Workspace/demo-vpc Creating"))]
#[case::terraform(apply_failing, Some("Workspace/demo-eks-controlplane ReconcileError"))]
#[case::terraform_of_crossplane(
    crossplane_runs_terraform,
    Some("Workspace/demo-eks-controlplane ReconcileError")
)]
#[case::a_plan_nobody_approved(approval_needed, Some("Workspace/demo-eks-controlplane ApprovalRequired"))]
#[case::credentials(credentials_rejected, Some("CAPTControlPlane/demo CredentialsRejected"))]
#[case::a_secret_of_others(secret_not_owned, Some("Secret/demo-kubeconfig SecretNotOwned"))]
#[case::the_add_on_before_those_after_it(addon_waiting_on_flux, Some("Addon/flux AddonNotReady"))]
#[case::an_add_on(addon_failed, Some("Addon/karpenter ObjectRefused"))]
#[case::a_pause_before_all_below_it(paused, Some("Cluster/demo Paused"))]
#[case::a_pause_further_down(apply_paused, Some("WorkspaceTemplateApply/demo-vpc Paused"))]
#[case::what_holds_a_deletion(deleting_held_by_a_node_claim, Some("CAPTControlPlane/demo ClearingCluster"))]
#[case::what_is_named_and_missing(missing_reference, Some("CAPTControlPlane/demo ObjectDoesNotExist"))]
#[case::a_provider_before_its_workers(foreign_providers, Some("KubeadmControlPlane/demo-cp NotAvailable"))]
#[case::drift_where_nothing_else_is_wrong(drifted, Some("Workspace/demo-eks-controlplane DriftDetected"))]
#[case::calls_that_a_person_has_to_check(
    interrupted_calls,
    Some("Workspace/demo-eks-controlplane InterruptedCalls")
)]
#[case::what_stops_before_what_is_only_told(
    drifted_and_rejected,
    Some("CAPTControlPlane/demo CredentialsRejected")
)]
#[case::the_cause_and_not_what_is_missing_for_it(
    template_missing,
    Some("WorkspaceTemplateApply/demo-vpc TemplateNotFound")
)]
#[case::silence(nobody_looks_after_it, Some("CAPTCluster/demo "))]
#[case::not_what_may_not_be_read(most_may_not_be_read, None)]
#[case::a_server_that_does_not_answer(unreachable, Some("Endpoint/demo.example.org:6443 Unreachable"))]
fn the_first_thing_that_the_others_wait_for_blocks(
    #[case] scene: fn() -> Facts,
    #[case] expected: Option<&str>,
) {
    let overview = seen(&scene());

    let blocker = overview.summary.blocker.as_ref();
    let told = blocker.map(|blocker| format!("{}/{} {}", blocker.kind, blocker.name, blocker.reason));
    assert_eq!(told.as_deref(), expected);
    assert!(blocker.is_none_or(|blocker| !blocker.action.is_empty()), "what to do is always said");
    let mut marked = Vec::new();
    collect_marked(&overview.tree, &mut marked);
    let title = blocker.map(|blocker| format!("{}/{}", blocker.kind, blocker.name));
    assert_eq!(marked, title.into_iter().collect::<Vec<_>>(), "exactly that is marked in the tree");
}

fn collect_marked(node: &Node, marked: &mut Vec<String>) {
    if node.blocks {
        marked.push(node.title());
    }
    node.children.iter().for_each(|child| collect_marked(child, marked));
}

#[rstest]
#[case::ready(all_ready, true)]
#[case::with_a_change_that_waits(approval_needed, true)]
#[case::with_an_add_on_that_failed(addon_failed, true)]
#[case::not_available(apply_failing, false)]
#[case::on_its_way_down(deleting_held_by_a_node_claim, false)]
#[case::never_looked_at(nobody_looks_after_it, false)]
fn a_cluster_is_ready_when_cluster_api_says_that_it_is_available(
    #[case] scene: fn() -> Facts,
    #[case] expected: bool,
) {
    assert_eq!(seen(&scene()).summary.ready, expected);
}

#[rstest]
#[case::it_can_be_used(all_ready, false)]
#[case::the_network_is_made(waiting_for_network, true)]
#[case::terraform_failed(apply_failing, false)]
#[case::somebody_has_to_approve(approval_needed, false)]
#[case::it_is_paused(paused, false)]
#[case::it_goes_down(deleting_held_by_a_node_claim, true)]
fn more_comes_by_itself_until_somebody_has_to_look(#[case] scene: fn() -> Facts, #[case] expected: bool) {
    assert_eq!(seen(&scene()).summary.is_moving(), expected);
}
