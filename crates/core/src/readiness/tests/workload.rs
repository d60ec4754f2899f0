use State::{Current, Failed, InProgress};
use rstest::rstest;

use super::*;

/// A status like that of a Deployment whose replicas are all there.
fn rolled_out(replicas: i64) -> Value {
    json!({
        "observedGeneration": 2,
        "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas,
        "conditions": [
            condition("Available", "True", "MinimumReplicasAvailable", ""),
            condition("Progressing", "True", "NewReplicaSetAvailable", ""),
        ],
    })
}

fn with(mut of: Value, changes: &Value) -> Value {
    for (key, value) in changes.as_object().unwrap() {
        of[key] = value.clone();
    }
    of
}

#[rstest]
#[case::nothing_known(json!({"replicas": 2}), json!({}), InProgress, "0 of 2 replicas exist")]
#[case::one_is_the_default(json!({}), json!({}), InProgress, "0 of 1 replicas exist")]
#[case::old_status(
    json!({"replicas": 2}),
    with(rolled_out(2), &json!({"observedGeneration": 1})),
    InProgress,
    "has not seen its latest change"
)]
#[case::too_few(json!({"replicas": 3}), rolled_out(2), InProgress, "2 of 3 replicas exist")]
#[case::not_updated(
    json!({"replicas": 2}),
    with(rolled_out(2), &json!({"updatedReplicas": 1})),
    InProgress,
    "1 of 2 replicas are up to date"
)]
#[case::too_many(json!({"replicas": 2}), rolled_out(3), InProgress, "1 of 3 replicas must still end")]
#[case::not_ready(
    json!({"replicas": 2}),
    with(rolled_out(2), &json!({"readyReplicas": 1})),
    InProgress,
    "1 of 2 replicas are ready"
)]
#[case::not_available(
    json!({"replicas": 2}),
    with(rolled_out(2), &json!({"availableReplicas": 1})),
    InProgress,
    "1 of 2 replicas are available"
)]
#[case::no_condition(
    json!({"replicas": 2}),
    with(rolled_out(2), &json!({"conditions": []})),
    InProgress,
    "it is not available yet"
)]
#[case::not_rolled_out(
    json!({"replicas": 1, "progressDeadlineSeconds": 600}),
    with(rolled_out(1), &json!({"conditions": [condition("Available", "True", "", "")]})),
    InProgress,
    "rollout is not complete"
)]
#[case::paused(
    json!({"replicas": 1, "progressDeadlineSeconds": 600, "paused": true}),
    with(rolled_out(1), &json!({"conditions": [condition("Progressing", "Unknown", "DeploymentPaused", "")]})),
    InProgress,
    "set paused to false"
)]
#[case::no_deadline(
    json!({"replicas": 1, "progressDeadlineSeconds": 2_147_483_647}),
    with(rolled_out(1), &json!({"conditions": [condition("Available", "True", "", "")]})),
    Current,
    ""
)]
#[case::refused(
    json!({"replicas": 1}),
    json!({"conditions": [condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")]}),
    InProgress,
    "a replica cannot be made (FailedCreate): exceeded quota"
)]
#[case::stuck(
    json!({"replicas": 1, "progressDeadlineSeconds": 600}),
    json!({"conditions": [condition("Progressing", "False", "ProgressDeadlineExceeded", "timed out")]}),
    Failed,
    "for too long (ProgressDeadlineExceeded): timed out"
)]
#[case::none_wanted(json!({"replicas": 0}), json!({"observedGeneration": 2}), Current, "")]
#[case::none_wanted_and_one_left(json!({"replicas": 0}), rolled_out(1), InProgress, "1 of 1 replicas must still end")]
#[case::all(json!({"replicas": 2, "progressDeadlineSeconds": 600}), rolled_out(2), Current, "it is ready")]
fn a_deployment_is_ready_when_all_of_it_is_rolled_out(
    #[case] spec: Value,
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object("apps/v1", "Deployment", &spec, &status), state, message);
}

#[rstest]
#[case::unlabelled(json!({"fullyLabeledReplicas": 1}), InProgress, "1 of 2 replicas have all labels")]
#[case::not_ready(json!({"fullyLabeledReplicas": 2}), InProgress, "0 of 2 replicas are ready")]
#[case::not_available(
    json!({"fullyLabeledReplicas": 2, "readyReplicas": 2}),
    InProgress,
    "0 of 2 replicas are available"
)]
#[case::too_many(
    json!({"replicas": 3, "fullyLabeledReplicas": 3, "readyReplicas": 3, "availableReplicas": 3}),
    InProgress,
    "1 of 3 replicas must still end"
)]
#[case::refused(
    json!({"conditions": [condition("ReplicaFailure", "True", "FailedCreate", "")]}),
    InProgress,
    "a replica cannot be made (FailedCreate)"
)]
#[case::all(
    json!({"replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}),
    Current,
    ""
)]
fn a_replica_set_is_ready_when_all_replicas_are(
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object("apps/v1", "ReplicaSet", &json!({"replicas": 2}), &status), state, message);
}

/// The usual strategy, as the API server fills it in.
fn partition(partition: i64) -> Value {
    json!({"replicas": 3, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}})
}

#[rstest]
#[case::too_few(partition(0), json!({"replicas": 1}), InProgress, "1 of 3 replicas exist")]
#[case::not_ready(partition(0), json!({"replicas": 3}), InProgress, "0 of 3 replicas are ready")]
#[case::too_many(partition(0), json!({"replicas": 4, "readyReplicas": 4}), InProgress, "1 of 4 replicas must still end")]
#[case::not_updated(
    partition(0),
    json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": 2}),
    InProgress,
    "2 of 3 replicas are up to date"
)]
#[case::updated(partition(0), json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": 3}), Current, "")]
#[case::updated_down_to_the_partition(
    partition(2),
    json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": 1}),
    Current,
    ""
)]
#[case::partition_beyond_all(partition(9), json!({"replicas": 3, "readyReplicas": 3}), Current, "")]
#[case::absurd_partition(partition(i64::MIN), json!({"replicas": 3, "readyReplicas": 3}), InProgress, "up to date")]
#[case::no_strategy_and_old_replicas(
    json!({"replicas": 3}),
    json!({"replicas": 3, "readyReplicas": 3, "currentReplicas": 2}),
    InProgress,
    "2 of 3 replicas are up to date"
)]
#[case::no_strategy_and_two_revisions(
    json!({"replicas": 3}),
    json!({"replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "currentRevision": "a", "updateRevision": "b"}),
    InProgress,
    "latest revision"
)]
#[case::no_strategy_and_one_revision(
    json!({"replicas": 3}),
    json!({"replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "currentRevision": "a", "updateRevision": "a"}),
    Current,
    ""
)]
#[case::updated_by_hand(
    json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}}),
    json!({"replicas": 3, "readyReplicas": 3, "currentRevision": "a", "updateRevision": "b"}),
    Current,
    ""
)]
#[case::updated_by_hand_and_not_ready(
    json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}}),
    json!({"replicas": 3, "readyReplicas": 2}),
    InProgress,
    "2 of 3 replicas are ready"
)]
#[case::none_wanted(json!({"replicas": 0}), json!({}), Current, "")]
fn a_stateful_set_is_ready_when_what_is_to_be_updated_is(
    #[case] spec: Value,
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object("apps/v1", "StatefulSet", &spec, &status), state, message);
}

#[rstest]
#[case::nothing_known(json!({}), InProgress, "has not seen it yet")]
#[case::nothing_counted(json!({"observedGeneration": 2}), InProgress, "has not seen it yet")]
#[case::never_observed(json!({"desiredNumberScheduled": 0}), InProgress, "has not seen it yet")]
#[case::no_nodes(json!({"observedGeneration": 2, "desiredNumberScheduled": 0}), Current, "")]
#[case::no_replica(
    json!({"observedGeneration": 2, "desiredNumberScheduled": 2, "currentNumberScheduled": 1}),
    InProgress,
    "on 1 of 2 nodes it has a replica"
)]
#[case::not_updated(
    json!({"observedGeneration": 2, "desiredNumberScheduled": 2, "currentNumberScheduled": 2}),
    InProgress,
    "on 0 of 2 nodes it is up to date"
)]
#[case::not_ready(
    json!({
        "observedGeneration": 2, "desiredNumberScheduled": 2, "currentNumberScheduled": 2, "updatedNumberScheduled": 2,
        "numberReady": 1,
    }),
    InProgress,
    "on 1 of 2 nodes it is ready"
)]
#[case::not_available(
    json!({
        "observedGeneration": 2, "desiredNumberScheduled": 2, "currentNumberScheduled": 2, "updatedNumberScheduled": 2,
        "numberReady": 2, "numberAvailable": 1,
    }),
    InProgress,
    "on 1 of 2 nodes it is available"
)]
#[case::all(
    json!({
        "observedGeneration": 2, "desiredNumberScheduled": 2, "currentNumberScheduled": 2, "updatedNumberScheduled": 2,
        "numberReady": 2, "numberAvailable": 2,
    }),
    Current,
    ""
)]
fn a_daemon_set_is_ready_when_it_is_on_all_nodes(
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object("apps/v1", "DaemonSet", &json!({}), &status), state, message);
}

#[test]
fn a_daemon_set_that_is_updated_by_hand_does_not_wait_for_people() {
    let status = json!({
        "observedGeneration": 2, "desiredNumberScheduled": 1, "currentNumberScheduled": 1, "numberReady": 1,
        "numberAvailable": 1,
    });
    let spec = json!({"updateStrategy": {"type": "OnDelete"}});
    assert_health(&object("apps/v1", "DaemonSet", &spec, &status), Current, "");
}
