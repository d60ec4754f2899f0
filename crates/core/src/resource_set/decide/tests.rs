use capt_api::resource_set::{ResourceKind, ResourceReference, Strategy};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::resource_set::observed::{ClusterState, Content, Memory, Selected};

const HELD: &[&str] = &[finalizer::RESOURCE_SET];

fn set(strategy: Strategy, finalizers: &[&str]) -> ClusterResourceSet {
    serde_json::from_value(json!({
        "apiVersion": "addons.cluster.x-k8s.io/v1beta2", "kind": "ClusterResourceSet",
        "metadata": { "name": "s", "namespace": "a", "uid": "1", "finalizers": finalizers },
        "spec": {
            "clusterSelector": { "matchLabels": { "a": "b" } }, "strategy": strategy,
            "resources": [{ "kind": "ConfigMap", "name": "x" }, { "kind": "ConfigMap", "name": "y" }],
        },
    }))
    .unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

const NOW: i64 = 10_000;

fn resource(name: &str, content: Content) -> Resource {
    Resource {
        reference: ResourceReference { kind: ResourceKind::ConfigMap, name: name.to_owned() },
        content,
    }
}

fn there(name: &str) -> Resource {
    resource(name, Content::Manifests { hash: format!("hash-of-{name}") })
}

fn entry(name: &str, applied: bool, second: i64) -> ResourceBinding {
    ResourceBinding {
        kind: ResourceKind::ConfigMap,
        name: name.to_owned(),
        hash: Some(format!("hash-of-{name}")),
        last_applied_time: Some(Time(at(second))),
        applied,
    }
}

/// A Cluster to which `x` and `y` were brought a minute ago.
fn served() -> Selected {
    Selected {
        name: "c".to_owned(),
        state: ClusterState::Usable,
        entries: vec![entry("x", true, NOW - 60), entry("y", true, NOW - 60)],
        memory: Memory::default(),
    }
}

fn fresh() -> Selected {
    Selected { entries: Vec::new(), ..served() }
}

fn judge(strategy: Strategy, resources: &[Resource], cluster: Selected) -> (Judged, Option<Timestamp>) {
    let active = Active { resources: resources.to_vec(), clusters: vec![cluster], stale: Vec::new() };
    match decide(&set(strategy, HELD), &Observed::Active(active), at(NOW)) {
        Step::Serve(mut plan) => (plan.clusters.remove(0), plan.next),
        other => panic!("{other:?}"),
    }
}

fn both() -> [Resource; 2] {
    [there("x"), there("y")]
}

fn places(work: &Work) -> Option<Vec<usize>> {
    match work {
        Work::Bring(bring) => Some(bring.resources.clone()),
        Work::Nothing | Work::Note(_) => None,
    }
}

#[rstest]
#[case::managed_by_others(Observed::ExternallyManaged, HELD, Step::Leave)]
#[case::moved(Observed::Moved, HELD, Step::LetGo)]
#[case::paused(Observed::Paused(Pause { cluster: false, annotation: true, moving: false }), HELD,
    Step::Pause(Pause { cluster: false, annotation: true, moving: false }))]
#[case::deleted_while_something_is_on_its_way(
    Observed::Deleting { busy: true, bindings: vec!["c".to_owned()] }, HELD, Step::AwaitDeliveries)]
#[case::deleted(Observed::Deleting { busy: false, bindings: vec!["c".to_owned()] }, HELD,
    Step::Finish { bindings: vec!["c".to_owned()] })]
#[case::deleted_without_a_trace(Observed::Deleting { busy: false, bindings: vec![] }, &[],
    Step::Finish { bindings: vec![] })]
#[case::new(Observed::Active(Active { resources: vec![], clusters: vec![], stale: vec![] }), &[], Step::Claim)]
fn what_may_be_done_comes_first(#[case] seen: Observed, #[case] finalizers: &[&str], #[case] expected: Step) {
    assert_eq!(decide(&set(Strategy::ApplyOnce, finalizers), &seen, at(NOW)), expected);
}

#[test]
fn a_selector_that_cannot_be_used_is_told_and_nothing_is_brought() {
    let seen = Observed::Active(Active { resources: vec![], clusters: vec![fresh()], stale: vec![] });
    for (selector, told) in [
        (json!({}), "is empty"),
        (json!({ "matchExpressions": [{ "key": "a", "operator": "Near" }] }), "`Near`"),
    ] {
        let mut set = set(Strategy::ApplyOnce, HELD);
        set.spec.cluster_selector = serde_json::from_value(selector).unwrap();
        match decide(&set, &seen, at(NOW)) {
            Step::Hold(blocked) => {
                assert_eq!(blocked.reason, Reason::SpecInvalid);
                assert!(blocked.message.contains(told), "{}", blocked.message);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[rstest]
#[case::new_cluster(fresh(), Some(vec![0, 1]), Word::Delivering)]
#[case::one_is_missing(Selected { entries: vec![entry("x", true, 1)], ..served() }, Some(vec![1]), Word::Delivering)]
#[case::one_had_failed(
    Selected { entries: vec![entry("x", false, 1), entry("y", true, 1)], ..served() }, Some(vec![0]), Word::Delivering
)]
#[case::all_is_there(served(), None, Word::Applied)]
#[case::not_there_yet(
    Selected { state: ClusterState::NotReady("soon".to_owned()), ..fresh() }, None, Word::Waiting("soon".to_owned())
)]
#[case::paused(Selected { state: ClusterState::Paused, ..fresh() }, None, Word::Paused)]
#[case::paused_with_everything(Selected { state: ClusterState::Paused, ..served() }, None, Word::Applied)]
#[case::unreadable(
    Selected { state: ClusterState::Unreadable("broken".to_owned()), ..fresh() }, None,
    Word::Troubled(Blocked::new(Reason::Unreadable, "broken"))
)]
#[case::on_its_way(
    Selected { memory: Memory { busy: true, ..Memory::default() }, ..fresh() }, None, Word::Delivering
)]
fn a_cluster_gets_what_it_lacks_when_it_can(
    #[case] cluster: Selected,
    #[case] expected: Option<Vec<usize>>,
    #[case] word: Word,
) {
    let (judged, _) = judge(Strategy::ApplyOnce, &both(), cluster);
    assert_eq!((places(&judged.work), judged.word), (expected, word));
}

#[test]
fn a_settled_cluster_gives_nothing_to_do_and_nothing_to_wait_for() {
    let (judged, next) = judge(Strategy::ApplyOnce, &both(), served());
    assert_eq!((judged.work, next), (Work::Nothing, None));
    let changed = [resource("x", Content::Manifests { hash: "other".to_owned() }), there("y")];
    let (judged, _) = judge(Strategy::ApplyOnce, &changed, served());
    assert_eq!(judged.work, Work::Nothing, "once is once");
    let (judged, _) = judge(Strategy::Reconcile, &changed, served());
    assert_eq!(places(&judged.work), Some(vec![0]), "what is kept follows");
}

#[test]
fn a_cluster_is_looked_at_again_when_the_interval_is_over() {
    let (judged, next) = judge(Strategy::Reconcile, &both(), served());
    assert_eq!(judged.work, Work::Nothing);
    let next = next.unwrap();
    assert!((at(NOW - 60 + 480)..=at(NOW - 60 + 600)).contains(&next), "{next}");
    let seen = |second: i64| Memory { verified: Some(at(second)), ..Memory::default() };
    let (judged, _) = judge(Strategy::Reconcile, &both(), Selected { memory: seen(NOW - 601), ..served() });
    assert_eq!(places(&judged.work), Some(vec![0, 1]), "all of it is looked at");
    assert_eq!(judged.word, Word::Applied, "until something else is found");
    let (judged, _) = judge(Strategy::ApplyOnce, &both(), Selected { memory: seen(NOW - 601), ..served() });
    assert_eq!(judged.work, Work::Nothing);
}

#[test]
fn a_fleet_is_not_looked_at_in_the_same_second() {
    let times: std::collections::BTreeSet<_> = (0..20)
        .map(|number| {
            let cluster = Selected { name: format!("c-{number}"), ..served() };
            judge(Strategy::Reconcile, &both(), cluster).1
        })
        .collect();
    assert!(times.len() > 15, "{times:?}");
}

fn trouble() -> Blocked {
    Blocked::new(Reason::ClusterUnreachable, "no route")
}

#[test]
fn a_cluster_that_failed_backs_off_and_what_is_told_stays() {
    let attempt = Attempt { digest: digest(&both()), whole: true, trouble: Some(trouble()) };
    let memory = remember(&Memory::default(), attempt.clone(), at(NOW));
    let (judged, next) = judge(Strategy::ApplyOnce, &both(), Selected { memory: memory.clone(), ..fresh() });
    assert_eq!((judged.work, next), (Work::Nothing, Some(at(NOW + 2))));
    assert_eq!(judged.word, Word::Troubled(trouble()));

    let other = [there("x"), there("z")];
    let (judged, _) = judge(Strategy::ApplyOnce, &other, Selected { memory: memory.clone(), ..fresh() });
    assert_eq!(places(&judged.work), Some(vec![0, 1]), "other content is tried at once");
    assert_eq!(judged.word, Word::Delivering);

    let over = Memory { due: Some(at(NOW)), ..memory.clone() };
    let (judged, _) = judge(Strategy::ApplyOnce, &both(), Selected { memory: over, ..fresh() });
    assert!(matches!(judged.work, Work::Bring(Bring { again: true, .. })), "{:?}", judged.work);
    assert_eq!(judged.word, Word::Troubled(trouble()), "until it is over");

    let (judged, _) = judge(Strategy::ApplyOnce, &both(), Selected { memory, ..served() });
    assert_eq!(judged.word, Word::Applied, "what once failed does not matter when all is there");
}

#[test]
fn failures_are_counted_as_long_as_the_same_is_tried() {
    let attempt = |digest: &str, trouble| Attempt { digest: digest.to_owned(), whole: true, trouble };
    let mut memory = Memory::default();
    let mut pauses = Vec::new();
    for _ in 0..12 {
        memory = remember(&memory, attempt("a", Some(trouble())), at(NOW));
        pauses.push(memory.due.unwrap().as_second() - NOW);
    }
    assert_eq!(pauses[..4], [2, 4, 8, 16]);
    assert_eq!(pauses.last(), Some(&300));
    memory = remember(&memory, attempt("b", Some(trouble())), at(NOW));
    assert_eq!(memory.failures, 1, "something else was tried");
    memory = remember(&memory, attempt("b", None), at(NOW));
    assert_eq!((memory.failures, memory.due, memory.trouble), (0, None, None));
    assert_eq!(memory.verified, Some(at(NOW)));
}

#[test]
fn a_part_that_was_brought_does_not_vouch_for_the_rest() {
    let before = Memory { verified: Some(at(5)), ..Memory::default() };
    let part = Attempt { digest: "a".to_owned(), whole: false, trouble: None };
    assert_eq!(remember(&before, part, at(NOW)).verified, Some(at(5)));
    let failed = Attempt { digest: "a".to_owned(), whole: true, trouble: Some(trouble()) };
    assert_eq!(remember(&before, failed, at(NOW)).verified, Some(at(5)));
}

#[test]
fn what_cannot_be_brought_is_noted_and_the_rest_is_brought() {
    let broken = Content::Invalid { hash: "h".to_owned(), problem: "no YAML".to_owned() };
    let resources = [resource("x", Content::Missing), resource("y", broken), there("z")];
    let (judged, _) = judge(Strategy::ApplyOnce, &resources, fresh());
    assert_eq!((places(&judged.work), judged.lacking), (Some(vec![2]), vec![0, 1]));
    let (judged, _) = judge(Strategy::ApplyOnce, &resources[..2], fresh());
    let expected =
        ResourceBinding { hash: Some("h".to_owned()), last_applied_time: None, ..entry("y", false, 1) };
    assert_eq!(judged.work, Work::Note(vec![expected]));
}

#[test]
fn what_was_taken_out_of_the_set_is_taken_out_of_the_binding() {
    let (judged, _) = judge(Strategy::ApplyOnce, &[there("y")], served());
    assert_eq!(judged.work, Work::Note(vec![entry("y", true, NOW - 60)]));
    let away = Selected { state: ClusterState::NotReady("no kubeconfig".to_owned()), ..served() };
    let (judged, _) = judge(Strategy::ApplyOnce, &[there("y")], away);
    assert_eq!(judged.work, Work::Note(vec![entry("y", true, NOW - 60)]), "whether or not it can be reached");
}
