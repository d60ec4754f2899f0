use capt_api::resource_set::ResourceKind;
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;

use super::*;

fn reference(name: &str) -> ResourceReference {
    ResourceReference { kind: ResourceKind::ConfigMap, name: name.to_owned() }
}

fn manifests(hash: &str) -> Content {
    Content::Manifests { hash: hash.to_owned() }
}

fn invalid(hash: &str) -> Content {
    Content::Invalid { hash: hash.to_owned(), problem: "broken".to_owned() }
}

fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

fn entry(name: &str, hash: &str, applied: bool, time: Option<i64>) -> ResourceBinding {
    ResourceBinding {
        kind: ResourceKind::ConfigMap,
        name: name.to_owned(),
        hash: Some(hash.to_owned()),
        last_applied_time: time.map(at),
        applied,
    }
}

const ONCE: Strategy = Strategy::ApplyOnce;
const KEEP: Strategy = Strategy::Reconcile;

#[rstest]
#[case::never_brought(manifests("a"), None, true, true)]
#[case::failed(manifests("a"), Some(("a", false)), true, true)]
#[case::brought(manifests("a"), Some(("a", true)), false, false)]
#[case::changed_since(manifests("b"), Some(("a", true)), false, true)]
#[case::changed_into_something_broken(invalid("b"), Some(("a", true)), false, true)]
#[case::never_there(Content::Missing, None, true, true)]
#[case::gone_since(Content::Missing, Some(("a", true)), false, false)]
#[case::of_another_type_since(Content::WrongType("Opaque".to_owned()), Some(("a", true)), false, false)]
fn what_is_brought_once_is_not_brought_again_and_what_is_kept_follows_its_content(
    #[case] content: Content,
    #[case] known: Option<(&str, bool)>,
    #[case] once: bool,
    #[case] keep: bool,
) {
    let resource = Resource { reference: reference("x"), content };
    let known: Vec<_> = known.map(|(hash, applied)| entry("x", hash, applied, None)).into_iter().collect();
    assert_eq!([ONCE, KEEP].map(|strategy| is_needed(&resource, &known, strategy)), [once, keep]);
}

#[rstest]
#[case::brought_for_the_first_time(
    None, Fate::Brought { changed: true }, entry("x", "b", true, Some(9))
)]
#[case::there_already(None, Fate::Brought { changed: false }, entry("x", "b", true, Some(9)))]
#[case::still_as_it_was(
    Some(entry("x", "b", true, Some(1))), Fate::Brought { changed: false }, entry("x", "b", true, Some(1))
)]
#[case::repaired(
    Some(entry("x", "b", true, Some(1))), Fate::Brought { changed: true }, entry("x", "b", true, Some(9))
)]
#[case::other_content(
    Some(entry("x", "a", true, Some(1))), Fate::Brought { changed: false }, entry("x", "b", true, Some(9))
)]
#[case::got_through_at_last(
    Some(entry("x", "b", false, None)), Fate::Brought { changed: false }, entry("x", "b", true, Some(9))
)]
#[case::failed(None, Fate::Failed, entry("x", "b", false, None))]
#[case::failed_again(Some(entry("x", "b", false, None)), Fate::Failed, entry("x", "b", false, None))]
#[case::could_not_be_repaired(
    Some(entry("x", "b", true, Some(1))),
    Fate::Failed,
    entry("x", "b", false, Some(1))
)]
#[case::never_reached(None, Fate::Untried, entry("x", "b", false, None))]
#[case::not_reached_this_time(
    Some(entry("x", "a", true, Some(1))),
    Fate::Untried,
    entry("x", "a", true, Some(1))
)]
fn an_entry_says_what_is_known_to_be_in_the_cluster(
    #[case] known: Option<ResourceBinding>,
    #[case] fate: Fate,
    #[case] expected: ResourceBinding,
) {
    let resources = [Resource { reference: reference("x"), content: manifests("b") }];
    let known: Vec<_> = known.into_iter().collect();
    assert_eq!(entries(&resources, &known, KEEP, |_| Some(fate), &at(9)), [expected]);
}

#[test]
fn what_the_set_no_longer_has_goes_and_what_was_not_tried_stays() {
    let resources = [
        Resource { reference: reference("stays"), content: manifests("a") },
        Resource { reference: reference("missing"), content: Content::Missing },
        Resource { reference: reference("broken"), content: invalid("c") },
        Resource { reference: reference("tried"), content: manifests("d") },
    ];
    let known = [entry("removed", "z", true, Some(1)), entry("stays", "a", true, Some(2))];
    let fate = |index: usize| (index == 3).then_some(Fate::Brought { changed: true });
    assert_eq!(
        entries(&resources, &known, ONCE, fate, &at(9)),
        [
            entry("stays", "a", true, Some(2)),
            entry("broken", "c", false, None),
            entry("tried", "d", true, Some(9))
        ]
    );
}

#[test]
fn what_was_brought_once_is_not_taken_back_because_its_source_broke() {
    let resources = [Resource { reference: reference("x"), content: invalid("b") }];
    let known = [entry("x", "a", true, Some(1))];
    assert_eq!(entries(&resources, &known, ONCE, |_| None, &at(9)), known);
    assert_eq!(entries(&resources, &known, KEEP, |_| None, &at(9)), [entry("x", "b", false, Some(1))]);
}
