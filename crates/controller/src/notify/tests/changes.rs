//! What is news in the status of a stack in a cluster.

use capt_api::AddonStackBinding;
use capt_api::addon_stack::{AddonStackBindingSpec, AddonStackBindingStatus, StepState, StepStatus};
use capt_api::names::Reason;
use rstest::rstest;

use super::receiver::time;
use crate::notify::news::{Event, News, news};

fn step(name: &str, state: StepState, reason: Reason) -> StepStatus {
    let in_trouble = match state {
        StepState::Failed => true,
        StepState::Blocked => reason.is_trouble(),
        _ => false,
    };
    StepStatus {
        name: name.to_owned(),
        state,
        since: time("2026-01-02T03:04:05Z"),
        reason: reason.as_str().to_owned(),
        message: "a sentence".to_owned(),
        started: None,
        ready_once: None,
        failed_since: in_trouble.then(|| time("2026-01-02T03:04:05Z")),
        gate_opened: false,
        removal: capt_api::addon_stack::Removal::Keep,
        failures: 2,
        next_attempt: None,
        attempted: None,
        delivered: None,
        values: Vec::new(),
    }
}

fn of(steps: Vec<StepStatus>) -> AddonStackBindingStatus {
    AddonStackBindingStatus { addons: steps, ..AddonStackBindingStatus::default() }
}

fn told(before: Option<&AddonStackBindingStatus>, next: &AddonStackBindingStatus) -> Vec<News> {
    let spec = AddonStackBindingSpec { cluster_name: "prod-1".to_owned(), stack_name: "base".to_owned() };
    let mut binding = AddonStackBinding::new("base.prod-1", spec);
    binding.metadata.namespace = Some("team-a".to_owned());
    news(before, next, &binding, &time("2026-01-02T03:09:05Z"))
}

#[rstest]
#[case::fails(
    StepState::Delivering,
    Reason::Delivering,
    StepState::Failed,
    Reason::ObjectRefused,
    Some(Event::Failed)
)]
#[case::fails_after_it_was_ready(
    StepState::Ready,
    Reason::AddonReady,
    StepState::Failed,
    Reason::AddonFailed,
    Some(Event::Failed)
)]
#[case::fails_otherwise(
    StepState::Failed,
    Reason::ObjectRefused,
    StepState::Failed,
    Reason::RetriesExhausted,
    Some(Event::Failed)
)]
#[case::fails_again(StepState::Failed, Reason::ObjectRefused, StepState::Failed, Reason::ObjectRefused, None)]
#[case::cannot_start(
    StepState::Pending,
    Reason::WaitingForAddons,
    StepState::Blocked,
    Reason::ResourceMissing,
    Some(Event::Failed)
)]
#[case::cannot_go_on(
    StepState::Failed,
    Reason::ObjectRefused,
    StepState::Blocked,
    Reason::ManifestInvalid,
    Some(Event::Failed)
)]
#[case::is_held_by_the_user(
    StepState::Pending,
    Reason::WaitingForAddons,
    StepState::Blocked,
    Reason::GateClosed,
    None
)]
#[case::is_held_after_a_failure(
    StepState::Failed,
    Reason::ObjectRefused,
    StepState::Blocked,
    Reason::GateClosed,
    None
)]
#[case::recovers(
    StepState::Failed,
    Reason::AddonOverdue,
    StepState::Ready,
    Reason::AddonReady,
    Some(Event::Recovered)
)]
#[case::recovers_from_a_block(
    StepState::Blocked,
    Reason::ResourceMissing,
    StepState::Ready,
    Reason::AddonReady,
    Some(Event::Recovered)
)]
#[case::is_let_go_by_the_user(
    StepState::Blocked,
    Reason::GateClosed,
    StepState::Ready,
    Reason::AddonReady,
    None
)]
#[case::gets_ready(
    StepState::WaitingForReady,
    Reason::AddonNotReady,
    StepState::Ready,
    Reason::AddonReady,
    None
)]
#[case::is_tried_again(
    StepState::Failed,
    Reason::ObjectRefused,
    StepState::WaitingForReady,
    Reason::AddonNotReady,
    None
)]
#[case::degrades(
    StepState::Ready,
    Reason::AddonReady,
    StepState::WaitingForReady,
    Reason::AddonDegraded,
    None
)]
#[case::is_taken_away(StepState::Failed, Reason::ObjectRefused, StepState::Removing, Reason::Removing, None)]
#[case::stays_ready(StepState::Ready, Reason::AddonReady, StepState::Ready, Reason::AddonReady, None)]
fn an_add_on_is_news_when_it(
    #[case] state: StepState,
    #[case] reason: Reason,
    #[case] next_state: StepState,
    #[case] next_reason: Reason,
    #[case] expected: Option<Event>,
) {
    let before = of(vec![step("flux", state, reason)]);
    let next = of(vec![step("flux", next_state, next_reason)]);

    let events: Vec<_> = told(Some(&before), &next).iter().map(|news| news.event).collect();

    assert_eq!(events, Vec::from_iter(expected));
}

#[test]
fn news_says_which_add_on_of_which_cluster() {
    let next = of(vec![
        step("flux", StepState::Ready, Reason::AddonReady),
        step("karpenter", StepState::Failed, Reason::ObjectRefused),
    ]);

    let told = told(None, &next);

    let expected = News {
        time: time("2026-01-02T03:09:05Z"),
        namespace: "team-a".to_owned(),
        cluster: "prod-1".to_owned(),
        stack: "base".to_owned(),
        addon: "karpenter".to_owned(),
        event: Event::Failed,
        state: StepState::Failed,
        reason: "ObjectRefused".to_owned(),
        message: "a sentence".to_owned(),
        failures: 2,
        since: time("2026-01-02T03:04:05Z"),
    };
    assert_eq!(told, [expected]);
}

#[test]
fn the_same_news_has_the_same_id_and_other_news_another() {
    let id = |news: &News| {
        let line: serde_json::Value = serde_json::from_str(&news.line()).unwrap();
        line["id"].as_str().unwrap().to_owned()
    };
    let failure = super::receiver::failure_of("flux");
    let later = News { time: time("2026-02-02T00:00:00Z"), failures: 9, ..failure.clone() };
    let others = [
        News { event: Event::Recovered, ..failure.clone() },
        News { since: time("2026-01-02T03:04:06Z"), ..failure.clone() },
        News { reason: "AddonOverdue".to_owned(), ..failure.clone() },
        News { cluster: "prod-2".to_owned(), ..failure.clone() },
        News { namespace: "team-b".to_owned(), ..failure.clone() },
    ];

    assert_eq!(id(&later), id(&failure));
    for other in others {
        assert_ne!(id(&other), id(&failure), "{other:?}");
    }
}
