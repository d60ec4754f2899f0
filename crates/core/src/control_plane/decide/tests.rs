use capt_api::names::annotation;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::clearing::{Inside, Left};

const HELD: &str = finalizer::CONTROL_PLANE;
const APPLY: &str = "demo-eks-controlplane-apply";

fn control_plane(finalizers: &[&str], apply: Option<&str>) -> CAPTControlPlane {
    let mut spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "eks" } });
    if let Some(apply) = apply {
        spec["workspaceTemplateApplyName"] = json!(apply);
    }
    serde_json::from_value(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
        "metadata": {
            "name": "demo", "namespace": "a", "uid": "1", "finalizers": finalizers,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": spec,
    }))
    .unwrap()
}

fn claimed() -> CAPTControlPlane {
    control_plane(&[HELD], Some(APPLY))
}

fn wanted(variable: &str) -> Wanted {
    let spec = json!({ "templateRef": { "name": "eks" }, "variables": { "region": variable } });
    Wanted { name: APPLY.to_owned(), cluster: Some("demo".to_owned()), spec }
}

fn apply(variable: &str, metadata: &Value) -> WorkspaceTemplateApply {
    let mut object = wanted(variable).object(&Owner::of(&claimed()), None);
    for (field, value) in metadata.as_object().unwrap() {
        object["metadata"][field] = value.clone();
    }
    serde_json::from_value(object).unwrap()
}

fn scene(network: Network, apply: Option<(WorkspaceTemplateApply, Belongs)>, minute: i64) -> Observed {
    let begin: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let now = begin + SignedDuration::from_mins(minute);
    Observed::Active(Box::new(Scene { network, apply, wanted: wanted("r"), now }))
}

fn deleting(apply: Option<WorkspaceTemplateApply>, inside: Inside) -> Observed {
    let since: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    Observed::Deleting {
        apply: apply.map(Box::new),
        inside,
        since,
        now: since + SignedDuration::from_mins(1),
    }
}

fn ours(provisioned: bool) -> Network {
    Network::Ours(OurNetwork {
        name: "net".to_owned(),
        provisioned,
        message: "VPC is being made".to_owned(),
        region: "r".to_owned(),
        vpc_id: None,
        apply: None,
        outputs: std::collections::BTreeSet::new(),
    })
}

#[test]
fn it_is_held_before_anything_is_made_for_it() {
    let step = decide(&control_plane(&[], None), &scene(Network::None, None, 0));
    assert_eq!(step, Step::Claim { apply: APPLY.to_owned(), state: None });
    let step = decide(&claimed(), &scene(Network::None, None, 0));
    assert_eq!(step, Step::Write { wanted: wanted("r"), create: true });
}

#[test]
fn it_remembers_that_its_apply_has_a_state() {
    let state = "a/tfstate-demo-eks-controlplane-capt";
    let noted = json!({ "annotations": {
        annotation::WANTED_DIGEST: crate::digest::digest(&wanted("r").spec), annotation::STATE: state,
    } });
    let seen = scene(Network::None, Some((apply("r", &noted), Belongs::ToUs)), 0);
    let note = format!("1/{state}");
    let mut control_plane = claimed();
    let step = decide(&control_plane, &seen);
    assert_eq!(step, Step::Claim { apply: APPLY.to_owned(), state: Some(note.clone()) });
    control_plane.metadata.annotations = Some([(annotation::OWNED_STATE.to_owned(), note.clone())].into());
    assert_eq!(decide(&control_plane, &seen), Step::Settled);
    // Whoever took the finalizer away does not take this away.
    control_plane.metadata.finalizers = None;
    let step = decide(&control_plane, &scene(Network::None, None, 0));
    assert_eq!(step, Step::Claim { apply: APPLY.to_owned(), state: Some(note) });
}

#[rstest]
#[case::one_that_is_missing(Network::Missing { name: "CAPTCluster `net`".to_owned() }, "CAPTCluster `net` does not exist")]
#[case::one_of_another_provider(Network::Foreign { name: "AWSCluster `x`".to_owned(), provisioned: false }, "AWSCluster `x` is not ready")]
#[case::one_that_is_being_made(ours(false), "CAPTCluster `net` is not ready: VPC is being made")]
fn the_network_comes_first(#[case] network: Network, #[case] why: &str) {
    let Step::Hold { blocked, until } = decide(&claimed(), &scene(network.clone(), None, 0)) else {
        panic!("no wait")
    };
    assert_eq!(blocked, Blocked::new(Reason::WaitingForNetwork, format!("waiting for the network: {why}")));
    assert_eq!(until, Some("2026-01-01T00:15:00Z".parse().unwrap()));

    let Step::Hold { blocked, until } = decide(&claimed(), &scene(network.clone(), None, 15)) else {
        panic!("no wait")
    };
    assert_eq!(blocked.reason, Reason::NetworkOverdue);
    assert!(
        blocked.message.contains("after 15 minutes") && blocked.message.ends_with(why),
        "{}",
        blocked.message
    );
    assert_eq!(until, None, "it is waited for all the same");

    let there = Some((apply("r", &json!({})), Belongs::ToUs));
    assert_eq!(decide(&claimed(), &scene(network, there, 0)), Step::Settled, "what is there is not held up");
}

#[rstest]
#[case::none(Network::None)]
#[case::ours(ours(true))]
#[case::another(Network::Foreign { name: String::new(), provisioned: true })]
fn a_network_that_is_there_holds_up_nothing(#[case] network: Network) {
    assert_eq!(
        decide(&claimed(), &scene(network, None, 0)),
        Step::Write { wanted: wanted("r"), create: true }
    );
}

#[rstest]
#[case::as_it_should_be(apply("r", &json!({})), Belongs::ToUs, Step::Settled)]
#[case::changed(apply("other", &json!({})), Belongs::ToUs, Step::Write { wanted: wanted("r"), create: false })]
#[case::of_our_past(
    apply("r", &json!({ "ownerReferences": [{ "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": "demo", "uid": "old" }] })),
    Belongs::ToOurPast,
    Step::Write { wanted: wanted("r"), create: false }
)]
#[case::nobodys_but_named_in_the_spec(apply("r", &json!({ "ownerReferences": [] })), Belongs::ToNobody, Step::Write { wanted: wanted("r"), create: false })]
fn the_apply_is_kept_in_line(
    #[case] apply: WorkspaceTemplateApply,
    #[case] whose: Belongs,
    #[case] expected: Step,
) {
    assert_eq!(decide(&claimed(), &scene(Network::None, Some((apply, whose)), 0)), expected);
}

#[rstest]
#[case::somebody_elses(Belongs::ToOther("Thing x".to_owned()), "belongs to Thing x")]
#[case::nobodys(Belongs::ToNobody, "was made by somebody else")]
fn an_apply_that_is_not_ours_is_left_alone(#[case] whose: Belongs, #[case] expected: &str) {
    let there = Some((apply("r", &json!({})), whose));
    let Step::Hold { blocked, .. } = decide(&control_plane(&[HELD], None), &scene(Network::None, there, 0))
    else {
        panic!("it was touched")
    };
    assert_eq!(blocked.reason, Reason::ApplyNotOwned);
    assert!(blocked.message.contains(expected), "{}", blocked.message);
}

#[test]
fn an_apply_that_goes_away_is_made_again_when_it_is_gone() {
    let going = apply("r", &json!({ "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"] }));
    let step = decide(&claimed(), &scene(Network::None, Some((going, Belongs::ToUs)), 0));
    assert!(matches!(step, Step::Hold { .. }), "{step:?}");
}

#[test]
fn on_the_way_down_the_apply_goes_first() {
    let there = apply("r", &json!({}));
    assert_eq!(
        decide(&claimed(), &deleting(Some(there.clone()), Inside::Clear)),
        Step::DeleteApply { left: None }
    );
    let machines = vec![Left { kind: "NodeClaim", names: vec!["a".to_owned()], remark: None }];
    let step = decide(&claimed(), &deleting(Some(there.clone()), Inside::Left(machines.clone())));
    assert!(matches!(step, Step::AwaitClearing { until: Some(_), .. }), "{step:?}");
    let mut retained = there;
    retained.spec.retain_workspace_on_delete = true;
    let step = decide(&claimed(), &deleting(Some(retained), Inside::Left(machines)));
    assert_eq!(step, Step::DeleteApply { left: None }, "a cluster that stays keeps its machines");
    let going = apply("r", &json!({ "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"] }));
    let step = decide(&claimed(), &deleting(Some(going), Inside::Unknown));
    assert!(matches!(step, Step::AwaitDeletion { .. }), "{step:?}");
    assert_eq!(decide(&claimed(), &deleting(None, Inside::Unknown)), Step::Finish);
}

#[test]
fn a_name_that_is_none_is_followed_nowhere() {
    let mut observed = scene(Network::None, None, 0);
    let Observed::Active(scene) = &mut observed else { panic!("not active") };
    "../../secrets/x".clone_into(&mut scene.wanted.name);
    let Step::Hold { blocked, .. } = decide(&claimed(), &observed) else { panic!("it went on") };
    assert_eq!(blocked.reason, Reason::SpecInvalid);
}

#[test]
fn whoever_may_not_touch_it_does_not() {
    let pause = Pause { cluster: true, annotation: false, moving: false };
    assert_eq!(decide(&claimed(), &Observed::ExternallyManaged), Step::Leave);
    assert_eq!(decide(&claimed(), &Observed::Paused(pause)), Step::Pause(pause));
    assert_eq!(decide(&claimed(), &Observed::Moved), Step::LetGo);
    let Step::Hold { blocked, .. } =
        decide(&claimed(), &Observed::Alone { now: "2026-01-01T00:00:00Z".parse().unwrap() })
    else {
        panic!("it went on")
    };
    assert_eq!(blocked.reason, Reason::WaitingForCluster);
}
