use capt_api::resource_set::{ResourceKind, ResourceReference};
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::condition::find;
use crate::note::Note;
use crate::resource_set::decide::{Judged, Plan, Word, Work};
use crate::resource_set::observed::{Content, Resource};
use crate::standing::Pause;

fn set(strategy: &str) -> ClusterResourceSet {
    serde_json::from_value(json!({
        "apiVersion": "addons.cluster.x-k8s.io/v1beta2", "kind": "ClusterResourceSet",
        "metadata": { "name": "s", "namespace": "a", "generation": 3 },
        "spec": { "clusterSelector": { "matchLabels": { "a": "b" } }, "strategy": strategy, "resources": [] },
    }))
    .unwrap()
}

fn resource(kind: ResourceKind, name: &str, content: Content) -> Resource {
    Resource { reference: ResourceReference { kind, name: name.to_owned() }, content }
}

fn missing(name: &str) -> Resource {
    resource(ResourceKind::ConfigMap, name, Content::Missing)
}

fn plan(resources: Vec<Resource>, words: &[(&str, Word)], lacking: &[usize]) -> Step {
    let clusters = words.iter().map(|(cluster, word)| Judged {
        cluster: (*cluster).to_owned(),
        work: Work::Nothing,
        word: word.clone(),
        lacking: lacking.to_vec(),
    });
    Step::Serve(Plan { resources, clusters: clusters.collect(), stale: Vec::new(), next: None })
}

fn told_of(
    set: &ClusterResourceSet,
    step: &Step,
    outcome: &Result<(), Blocked>,
) -> Option<ClusterResourceSetStatus> {
    status(Report { set, step, outcome, now: &Time(Timestamp::UNIX_EPOCH) })
}

/// Status, reason and message of `ResourcesApplied`.
fn told(strategy: &str, step: &Step) -> (String, String, String) {
    let status = told_of(&set(strategy), step, &Ok(())).unwrap();
    assert_eq!(status.observed_generation, Some(3));
    let told = find(&status.conditions, type_::RESOURCES_APPLIED).unwrap().clone();
    (told.status, told.reason, told.message)
}

fn refused(message: &str) -> Word {
    Word::Troubled(Blocked::new(Reason::ObjectRefused, message))
}

#[rstest]
#[case::all_is_there(plan(vec![], &[("a", Word::Applied), ("b", Word::Applied)], &[]),
    "True", "Applied", "everything is in Clusters `a`, `b`")]
#[case::one_fails(plan(vec![], &[("a", refused("no")), ("b", Word::Applied)], &[]),
    "False", "ObjectRefused", "Cluster `a`: no")]
#[case::the_last_one_does_not_win(plan(vec![], &[("a", Word::Applied), ("b", refused("no"))], &[]),
    "False", "ObjectRefused", "Cluster `b`: no")]
#[case::on_its_way(plan(vec![], &[("a", Word::Delivering), ("b", Word::Applied)], &[]),
    "False", "Delivering", "Cluster `a`: on its way")]
#[case::not_there_yet(plan(vec![], &[("a", Word::Waiting("has no kubeconfig yet".to_owned()))], &[]),
    "False", "WaitingForCredentials", "Cluster `a`: has no kubeconfig yet")]
#[case::paused(plan(vec![], &[("a", Word::Paused)], &[]),
    "False", "Paused", "Cluster `a`: gets nothing while it is paused")]
#[case::nothing_selected(plan(vec![], &[], &[]),
    "False", "NoClusters", "no Cluster in the namespace `a` has the labels of spec.clusterSelector")]
#[case::missing(plan(vec![missing("x")], &[("a", Word::Applied)], &[0]),
    "False", "ResourceMissing", "ConfigMap `x` does not exist: make it, and it is brought at once")]
#[case::missing_before_there_is_a_cluster(plan(vec![missing("x")], &[], &[]),
    "False", "ResourceMissing", "ConfigMap `x` does not exist: make it, and it is brought at once")]
#[case::wrong_type(
    plan(vec![resource(ResourceKind::Secret, "x", Content::WrongType("Opaque".to_owned()))], &[("a", Word::Applied)], &[0]),
    "False", "WrongSecretType",
    "Secret `x` is of the type `Opaque`, and only Secrets of the type `addons.cluster.x-k8s.io/resource-set` are brought: \
     delete it and make it again with that type"
)]
#[case::broken(
    plan(
        vec![resource(ResourceKind::ConfigMap, "x", Content::Invalid { hash: String::new(), problem: "line 3".to_owned() })],
        &[("a", Word::Applied)], &[0]
    ),
    "False", "ManifestInvalid", "line 3"
)]
#[case::the_worst_comes_first(
    plan(vec![missing("x")], &[("a", Word::Paused), ("b", Word::Delivering), ("c", refused("no"))], &[0]),
    "False", "ResourceMissing",
    "ConfigMap `x` does not exist: make it, and it is brought at once; Cluster `c`: no; Cluster `b`: on its way; and 1 more"
)]
#[case::the_same_is_told_once(
    plan(vec![], &[("a", refused("no")), ("b", refused("never")), ("c", refused("no")), ("d", refused("no")),
        ("e", refused("no")), ("f", refused("1")), ("g", refused("2")), ("h", refused("2"))], &[]),
    "False", "ObjectRefused",
    "Clusters `a`, `c`, `d` and 1 more: no; Cluster `b`: never; Cluster `f`: 1; and 2 more"
)]
#[case::cannot_be_used(
    Step::Hold(Blocked::new(Reason::SpecInvalid, "spec.clusterSelector: bad")),
    "False",
    "SpecInvalid",
    "spec.clusterSelector: bad"
)]
fn what_is_told_names_the_clusters_and_the_cause(
    #[case] step: Step,
    #[case] status: &str,
    #[case] reason: &str,
    #[case] message: &str,
) {
    assert_eq!(told("ApplyOnce", &step), (status.to_owned(), reason.to_owned(), message.to_owned()));
}

#[test]
fn a_source_that_goes_after_it_was_brought_once_is_no_trouble_but_one_that_is_to_be_kept_is() {
    let step = plan(vec![missing("x")], &[("a", Word::Applied)], &[]);
    assert_eq!(told("ApplyOnce", &step).0, "True");
    assert_eq!(told("Reconcile", &step).1, "ResourceMissing");
}

#[test]
fn a_paused_set_says_so_and_keeps_what_was_known() {
    let mut set = set("ApplyOnce");
    set.status = told_of(&set, &plan(vec![], &[("a", Word::Applied)], &[]), &Ok(()));
    set.metadata.generation = Some(4);
    let step = Step::Pause(Pause { cluster: false, annotation: true, moving: false });
    let next = told_of(&set, &step, &Ok(())).unwrap();
    let paused = find(&next.conditions, type_::PAUSED).unwrap();
    assert_eq!((paused.status.as_str(), paused.reason.as_str()), ("True", "Paused"));
    assert_eq!(paused.message, "ClusterResourceSet has the cluster.x-k8s.io/paused annotation");
    assert_eq!(find(&next.conditions, type_::RESOURCES_APPLIED).unwrap().status, "True");
    assert_eq!(next.observed_generation, Some(3));
    assert_eq!(told_of(&set, &Step::Leave, &Ok(())), None);
}

#[test]
fn a_failure_of_our_own_is_told() {
    let outcome = Err(Blocked::new(Reason::ApiError, "writing it: timeout"));
    let next = told_of(&set("ApplyOnce"), &plan(vec![], &[("a", Word::Applied)], &[]), &outcome).unwrap();
    let told = find(&next.conditions, type_::RESOURCES_APPLIED).unwrap();
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("False", "ApiError"));
}

/// What is told by Events when one status follows another.
fn told_by_events(steps: &[Step]) -> Vec<Note> {
    let (mut set, mut told) = (set("ApplyOnce"), Vec::new());
    for step in steps {
        let report = Report { set: &set, step, outcome: &Ok(()), now: &Time(Timestamp::UNIX_EPOCH) };
        let next = status(report).unwrap();
        told.extend(notes(report, &next));
        set.status = Some(next);
    }
    told
}

#[test]
fn another_trouble_is_news_and_the_way_there_is_not() {
    let one = |word: Word| plan(vec![], &[("a", word)], &[]);
    let events = told_by_events(&[
        plan(vec![], &[], &[]),
        one(Word::Waiting("soon".to_owned())),
        one(Word::Delivering),
        one(refused("no")),
        one(refused("no")),
        one(refused("never")),
        one(Word::Applied),
        Step::Pause(Pause { cluster: false, annotation: true, moving: false }),
        one(Word::Applied),
    ]);
    let told: Vec<_> = events.iter().map(|note| (note.warning, note.reason, note.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (true, Reason::ObjectRefused, "Cluster `a`: no"),
            (true, Reason::ObjectRefused, "Cluster `a`: never"),
            (false, Reason::Applied, "everything is in Cluster `a`"),
            (false, Reason::Paused, "ClusterResourceSet has the cluster.x-k8s.io/paused annotation"),
            (false, Reason::NotPaused, "reconciling goes on"),
        ]
    );
}
