use State::{Current, Failed, InProgress};
use rstest::rstest;

use super::*;

#[rstest]
#[case::not_seen(json!({}), json!({}), InProgress, "has not started yet")]
#[case::suspended(json!({"suspend": true}), json!({}), InProgress, "set suspend to false")]
#[case::suspended_by_a_queue(
    json!({}),
    json!({"startTime": "t", "conditions": [condition("Suspended", "True", "", "")]}),
    InProgress,
    "it is suspended"
)]
#[case::running(
    json!({"completions": 3}),
    json!({"startTime": "t", "active": 1, "succeeded": 1}),
    InProgress,
    "1 of 3 completions have succeeded"
)]
#[case::running_with_what_is_filled_in(json!({}), json!({"startTime": "t"}), InProgress, "0 of 1 completions")]
#[case::about_to_fail(
    json!({}),
    json!({"startTime": "t", "conditions": [condition("Failed", "False", "", "")]}),
    InProgress,
    "it is running"
)]
#[case::failed(
    json!({}),
    json!({"startTime": "t", "conditions": [condition("Failed", "True", "BackoffLimitExceeded", "too often")]}),
    Failed,
    "it has failed (BackoffLimitExceeded): too often"
)]
#[case::complete(json!({}), json!({"conditions": [condition("Complete", "True", "", "")]}), Current, "")]
fn a_job_is_ready_when_it_is_complete(
    #[case] spec: Value,
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object("batch/v1", "Job", &spec, &status), state, message);
}

fn waiting(container: &str, reason: &str) -> Value {
    json!({"name": container, "state": {"waiting": {"reason": reason}}})
}

#[rstest]
#[case::not_seen(json!({}), InProgress, "not been seen")]
#[case::unknown_phase(json!({"phase": "Dreaming"}), InProgress, "its phase is Dreaming")]
#[case::no_node(
    json!({"phase": "Pending", "conditions": [condition("PodScheduled", "False", "Unschedulable", "0/3 nodes")]}),
    InProgress,
    "no node has taken it yet (Unschedulable): 0/3 nodes"
)]
#[case::image(
    json!({"phase": "Pending", "containerStatuses": [waiting("app", "ImagePullBackOff")]}),
    InProgress,
    "its container app has not started: ImagePullBackOff"
)]
#[case::starting(json!({"phase": "Running"}), InProgress, "containers are not ready")]
#[case::crashing(
    json!({
        "phase": "Running",
        "containerStatuses": [waiting("slow", "ContainerCreating"), waiting("app", "CrashLoopBackOff")],
    }),
    Failed,
    "its container app ends again and again"
)]
#[case::crashing_before_it_runs(
    json!({"phase": "Pending", "initContainerStatuses": [waiting("init", "CrashLoopBackOff")]}),
    Failed,
    "its container init"
)]
#[case::crashed_and_ready_again(
    json!({
        "phase": "Running",
        "conditions": [condition("Ready", "True", "", "")],
        "containerStatuses": [waiting("app", "CrashLoopBackOff")],
    }),
    Current,
    ""
)]
#[case::failed(json!({"phase": "Failed", "message": "evicted"}), Failed, "with a failure: evicted")]
#[case::failed_without_a_word(json!({"phase": "Failed"}), Failed, "with a failure")]
#[case::done(json!({"phase": "Succeeded"}), Current, "")]
fn a_pod_is_ready_when_its_containers_are_or_have_done_their_work(
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object("v1", "Pod", &json!({}), &status), state, message);
}
