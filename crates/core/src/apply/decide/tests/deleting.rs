use super::*;

fn other() -> ApplyKey {
    ApplyKey { namespace: "team-a".to_owned(), name: "eks-apply".to_owned() }
}

fn taken_down(apply: &WorkspaceTemplateApply, workspace: Option<WorkspaceFacts>, used: bool) -> Step {
    let dependents = if used { vec![other()] } else { Vec::new() };
    decide(apply, &Observed::Deleting { workspace, dependents, state: None })
}

fn retaining() -> WorkspaceTemplateApply {
    let mut apply = claimed();
    apply.spec.retain_workspace_on_delete = true;
    apply
}

fn delete() -> Step {
    Step::DeleteWorkspace { name: NAME.to_owned(), uid: Some(uid()) }
}

#[rstest]
#[case::unused(claimed(), Some(ours(OLD)), false, delete())]
#[case::used_by_others(claimed(), Some(ours(OLD)), true, Step::AwaitDependents(vec![other()]))]
#[case::on_its_way(claimed(), Some(going(ours(OLD))), false, Step::AwaitDeletion { name: NAME.to_owned() })]
#[case::on_its_way_though_used(claimed(), Some(going(ours(OLD))), true, Step::AwaitDeletion { name: NAME.to_owned() })]
#[case::gone(claimed(), None, false, Step::Finish)]
#[case::gone_though_used(claimed(), None, true, Step::Finish)]
#[case::retained(retaining(), Some(ours(OLD)), false, Step::Retain { workspace: NAME.to_owned() })]
#[case::retained_for_its_users(retaining(), Some(ours(OLD)), true, Step::Retain { workspace: NAME.to_owned() })]
#[case::retained_too_late(retaining(), Some(going(ours(OLD))), false, Step::AwaitDeletion { name: NAME.to_owned() })]
#[case::retained_but_gone(retaining(), None, false, Step::Finish)]
fn the_workspace_goes_first_unless_it_is_retained(
    #[case] apply: WorkspaceTemplateApply,
    #[case] workspace: Option<WorkspaceFacts>,
    #[case] used: bool,
    #[case] expected: Step,
) {
    assert_eq!(taken_down(&apply, workspace, used), expected);
}

/// Upgraded while it was being deleted: only the old finalizer holds it, and only the old status names the Workspace.
#[test]
fn an_apply_of_the_earlier_implementation_is_taken_down_in_the_same_order() {
    let mut apply = with_status(fresh(), json!({ "workspaceName": NAME, "applied": true }));
    apply.metadata.finalizers = Some(vec![finalizer::LEGACY.to_owned()]);
    assert_eq!(taken_down(&apply, Some(stray()), false), delete());
    assert_eq!(taken_down(&apply, None, false), Step::Finish);
}

#[test]
fn an_apply_whose_workspace_is_gone_without_a_destroy_is_not_finished() {
    let state = "team-a/tfstate-demo-capt";
    let gone = |apply: &WorkspaceTemplateApply| {
        let state = Some(state.to_owned());
        decide(apply, &Observed::Deleting { workspace: None, dependents: Vec::new(), state })
    };
    let blocked = hold(gone(&claimed()));
    assert_eq!(blocked.reason, Reason::WorkspaceMissing);
    for named in [state, annotation::STATE, "retainWorkspaceOnDelete"] {
        assert!(blocked.message.contains(named), "{}", blocked.message);
    }
    assert_eq!(gone(&retaining()), Step::Finish);
}
