use capt_api::names::annotation;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::super::wanted::wanted;
use super::*;

fn network() -> CAPTCluster {
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster",
        "metadata": {
            "name": "demo", "namespace": "team-a", "uid": "1",
            "labels": { "cluster.x-k8s.io/cluster-name": "demo" },
        },
        "spec": { "region": "r", "vpcTemplateRef": { "name": "t" } },
    }))
    .unwrap()
}

fn claimed() -> CAPTCluster {
    let mut network = network();
    network.metadata.finalizers = Some(vec![finalizer::NETWORK.to_owned()]);
    network.spec.workspace_template_apply_name = Some("demo-vpc".to_owned());
    network
}

fn retaining() -> CAPTCluster {
    let mut network = claimed();
    network.spec.retain_vpc_on_delete = true;
    network
}

fn wish(network: &CAPTCluster) -> Wanted {
    wanted(network, "demo", "demo-vpc".to_owned(), network.spec.vpc_template_ref.as_ref().unwrap())
}

/// The apply as a network of this name and uid has written it.
fn made_by(name: &str, uid: &str) -> WorkspaceTemplateApply {
    let mut owner = Owner::of(&claimed());
    owner.name = name.to_owned();
    owner.uid = uid.to_owned();
    serde_json::from_value(wish(&claimed()).object(&owner, None)).unwrap()
}

fn ours() -> WorkspaceTemplateApply {
    made_by("demo", "1")
}

fn stray() -> WorkspaceTemplateApply {
    let mut apply = ours();
    apply.metadata.owner_references = None;
    apply
}

fn going(mut apply: WorkspaceTemplateApply) -> WorkspaceTemplateApply {
    apply.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    apply
}

fn active(network: &CAPTCluster, apply: Option<WorkspaceTemplateApply>) -> Step {
    decide(network, &Observed::Templated { wanted: wish(network), apply: apply.map(Box::new) })
}

fn deleting(network: &CAPTCluster, apply: Option<WorkspaceTemplateApply>, planes: &[ControlPlane]) -> Step {
    decide(network, &Observed::Deleting { apply: apply.map(Box::new), control_planes: planes.to_vec() })
}

fn plane() -> ControlPlane {
    ControlPlane { name: "demo".to_owned(), going: true }
}

fn hold(step: Step) -> Blocked {
    match step {
        Step::Hold(blocked) => blocked,
        other => panic!("expected to hold, got {other:?}"),
    }
}

fn write(mode: Mode) -> Step {
    Step::Write { mode, wanted: wish(&claimed()) }
}

#[rstest]
#[case::managed_by_others(Observed::ExternallyManaged, Step::Leave)]
#[case::paused(
    Observed::Paused(Pause { cluster: true, annotation: false, moving: false }),
    Step::Pause(Pause { cluster: true, annotation: false, moving: false }),
)]
#[case::moved(Observed::Moved, Step::LetGo)]
#[case::existing(Observed::Existing { vpc: "vpc-1".to_owned() }, Step::Use { vpc: "vpc-1".to_owned() })]
#[case::blocked(
    Observed::Blocked(Blocked::new(Reason::WaitingForCluster, "wait")),
    Step::Hold(Blocked::new(Reason::WaitingForCluster, "wait"))
)]
fn what_needs_no_apply_looks_at_none(#[case] seen: Observed, #[case] expected: Step) {
    assert_eq!(decide(&claimed(), &seen), expected);
}

#[rstest]
#[case::of_another_network(made_by("other", "2"), "CAPTCluster other")]
#[case::of_another_network_and_going(going(made_by("other", "2")), "CAPTCluster other")]
#[case::of_nobody(stray(), "was not made by this CAPTCluster")]
fn an_apply_of_others_is_left_alone(#[case] apply: WorkspaceTemplateApply, #[case] why: &str) {
    let blocked = hold(active(&network(), Some(apply)));
    assert_eq!(blocked.reason, Reason::ApplyNotOwned);
    assert!(
        blocked.message.contains("`demo-vpc` exists") && blocked.message.contains(why),
        "{}",
        blocked.message
    );
}

#[test]
fn an_apply_of_others_is_left_alone_although_the_spec_names_it() {
    assert_eq!(hold(active(&claimed(), Some(made_by("other", "2")))).reason, Reason::ApplyNotOwned);
}

fn with_status(status: Value) -> CAPTCluster {
    let mut network = network();
    network.status = Some(serde_json::from_value(status).unwrap());
    network
}

#[rstest]
#[case::untouched(network(), None)]
#[case::finalizer_only({ let mut network = claimed(); network.spec.workspace_template_apply_name = None; network }, None)]
#[case::name_only({ let mut network = claimed(); network.metadata.finalizers = None; network }, None)]
#[case::finalizer_of_the_earlier_implementation(
    { let mut network = claimed(); network.metadata.finalizers = Some(vec![finalizer::LEGACY.to_owned()]); network }, None
)]
#[case::made_by_an_earlier_version(network(), Some(ours()))]
#[case::named_in_an_old_status(with_status(json!({ "vpcWorkspaceName": "demo-vpc" })), Some(stray()))]
fn the_network_is_claimed_before_anything_is_written(
    #[case] network: CAPTCluster,
    #[case] apply: Option<WorkspaceTemplateApply>,
) {
    assert_eq!(active(&network, apply), Step::Claim { apply: "demo-vpc".to_owned(), state: None });
}

#[test]
fn the_network_remembers_that_its_apply_has_a_state() {
    let mut apply = ours();
    apply
        .metadata
        .annotations
        .get_or_insert_default()
        .insert(annotation::STATE.to_owned(), "team-a/s".to_owned());
    let mut network = claimed();
    let claim = Step::Claim { apply: "demo-vpc".to_owned(), state: Some("1/team-a/s".to_owned()) };
    assert_eq!(active(&network, Some(apply.clone())), claim);
    network.metadata.annotations =
        Some([(annotation::OWNED_STATE.to_owned(), "1/team-a/s".to_owned())].into());
    assert_eq!(active(&network, Some(apply)), Step::Settled { apply: "demo-vpc".to_owned() });
    assert_eq!(active(&network, None), write(Mode::Create));
    network.metadata.finalizers = None;
    assert_eq!(active(&network, None), claim);
}

#[rstest]
#[case::missing(None, write(Mode::Create))]
#[case::as_it_should_be(Some(ours()), Step::Settled { apply: "demo-vpc".to_owned() })]
#[case::of_the_network_before_a_restore(Some(made_by("demo", "0")), write(Mode::Update))]
#[case::nobodys_but_named(Some(stray()), write(Mode::Adopt))]
#[case::changed_by_hand(Some({ let mut apply = ours(); apply.spec.variables.insert("region".to_owned(), "x".to_owned()); apply }), write(Mode::Update))]
#[case::added_to_by_hand(
    Some({ let mut apply = ours(); apply.spec.variables.insert("theirs".to_owned(), "x".to_owned()); apply }),
    Step::Settled { apply: "demo-vpc".to_owned() }
)]
fn the_apply_is_kept_in_line(#[case] apply: Option<WorkspaceTemplateApply>, #[case] expected: Step) {
    assert_eq!(active(&claimed(), apply), expected);
}

#[rstest]
#[case::template(json!({ "vpcTemplateRef": { "name": "other" } }))]
#[case::name(json!({ "vpcConfig": { "name": "other" } }))]
#[case::retention(json!({ "retainVpcOnDelete": true }))]
fn a_change_of_the_network_is_carried_over(#[case] change: Value) {
    let mut object = json!(claimed());
    for (key, value) in change.as_object().unwrap() {
        object["spec"][key] = value.clone();
    }
    let changed: CAPTCluster = serde_json::from_value(object).unwrap();
    assert_eq!(active(&changed, Some(ours())), Step::Write { mode: Mode::Update, wanted: wish(&changed) });
}

#[test]
fn an_apply_that_is_being_deleted_is_waited_for() {
    let blocked = hold(active(&claimed(), Some(going(ours()))));
    assert_eq!(blocked.reason, Reason::NetworkNotReady);
    assert!(blocked.message.contains("`demo-vpc` is being deleted"), "{}", blocked.message);
}

#[rstest]
#[case::with_an_apply(Some(ours()))]
#[case::with_one_that_goes_already(Some(going(ours())))]
#[case::without(None)]
fn nothing_is_taken_down_under_a_control_plane(#[case] apply: Option<WorkspaceTemplateApply>) {
    assert_eq!(deleting(&claimed(), apply, &[plane()]), Step::AwaitControlPlanes(vec![plane()]));
}

#[rstest]
#[case::there(Some(ours()), Step::DeleteApply { name: "demo-vpc".to_owned() })]
#[case::going(Some(going(ours())), Step::AwaitDeletion { name: "demo-vpc".to_owned() })]
#[case::gone(None, Step::Finish)]
fn the_apply_goes_before_the_network(#[case] apply: Option<WorkspaceTemplateApply>, #[case] expected: Step) {
    assert_eq!(deleting(&claimed(), apply, &[]), expected);
}

#[rstest]
#[case::before_anything_else(ours(), vec![plane()])]
#[case::before_the_deletion(ours(), Vec::new())]
#[case::even_while_it_goes(going(ours()), Vec::new())]
fn an_apply_learns_that_its_infrastructure_stays(
    #[case] apply: WorkspaceTemplateApply,
    #[case] planes: Vec<ControlPlane>,
) {
    let Step::Align { wanted } = deleting(&retaining(), Some(apply), &planes) else { panic!("not aligned") };
    assert_eq!(wanted.spec["retainWorkspaceOnDelete"], true);
}

#[test]
fn an_apply_learns_that_its_infrastructure_goes_after_all() {
    let retained: WorkspaceTemplateApply =
        serde_json::from_value(wish(&retaining()).object(&Owner::of(&claimed()), None)).unwrap();
    let Step::Align { wanted } = deleting(&claimed(), Some(retained.clone()), &[]) else {
        panic!("not aligned")
    };
    assert!(wanted.spec.get("retainWorkspaceOnDelete").is_none());
    let delete = Step::DeleteApply { name: "demo-vpc".to_owned() };
    assert_eq!(deleting(&retaining(), Some(retained), &[]), delete);
}

/// Whoever protects the infrastructure on the apply itself is not overruled, and nothing goes round in circles.
#[test]
fn retention_that_others_asked_for_stays() {
    let mut apply = ours();
    apply.spec.retain_workspace_on_delete = true;
    assert_eq!(deleting(&claimed(), Some(apply), &[]), Step::DeleteApply { name: "demo-vpc".to_owned() });
}
