use rstest::rstest;
use serde_json::json;

use super::*;

const MINUTE: i64 = 60;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

fn control_plane(before_destroy: Option<serde_json::Value>) -> CAPTControlPlane {
    let mut spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "t" } });
    if let Some(before_destroy) = before_destroy {
        spec["beforeDestroy"] = before_destroy;
    }
    serde_json::from_value(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1",
        "kind": "CAPTControlPlane",
        "metadata": { "name": "demo" },
        "spec": spec,
    }))
    .unwrap()
}

fn left(names: &[&str]) -> Inside {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Inside::Left(vec![Left { kind: "NodeClaim", names, remark: None }])
}

fn judged(asked: serde_json::Value, inside: &Inside, after: i64) -> Verdict {
    judge(&Policy::of(&control_plane(Some(asked))), inside, at(0), at(after))
}

#[test]
fn half_an_hour_is_waited_if_nothing_is_said_and_then_the_cluster_is_destroyed() {
    let policy = Policy::of(&control_plane(None));
    assert_eq!(policy.timeout, Duration::from_secs(1800));
    let waiting = judge(&policy, &left(&["a"]), at(0), at(29 * MINUTE));
    let Verdict::Wait { blocked, until } = waiting else { panic!("{waiting:?}") };
    assert_eq!((blocked.reason, until), (Reason::ClearingCluster, Some(at(30 * MINUTE))));
    assert_eq!(
        judge(&policy, &left(&["a"]), at(0), at(30 * MINUTE)),
        Verdict::Destroy { left: Some("still there: 1 NodeClaim (`a`)".to_owned()) }
    );
}

#[rstest]
#[case::clear(Inside::Clear)]
#[case::nothing_asked_for(left(&["a"]))]
fn nothing_is_waited_for_where_nothing_is_to_go(#[case] inside: Inside) {
    let timeout = if inside == Inside::Clear { "30m" } else { "0s" };
    assert_eq!(judged(json!({ "timeout": timeout }), &inside, 0), Verdict::Destroy { left: None });
}

#[rstest]
#[case::not_asked(Inside::Unknown, "the cluster has not answered yet")]
#[case::silent(Inside::Unreachable("connection refused".to_owned()), "the cluster cannot be asked: connection refused")]
#[case::many(left(&["a", "b", "c", "d"]), "still there: 4 NodeClaims (`a`, `b`, `c`, …)")]
fn what_is_waited_for_is_told(#[case] inside: Inside, #[case] told: &str) {
    let Verdict::Wait { blocked, .. } = judged(json!({}), &inside, 1) else { panic!("it is waited for") };
    assert_eq!(
        blocked.message,
        format!(
            "before Terraform destroys the cluster, machines and add-ons in it are taken down (until 2023-11-14T22:43:20Z, CAPT destroys it all the same then); {told}"
        )
    );
}

#[test]
fn nothing_is_destroyed_after_the_deadline_where_that_is_asked_for() {
    let waiting = judged(json!({ "timeout": "1m", "onTimeout": "Wait" }), &left(&["a"]), 61);
    let Verdict::Wait { blocked, until } = waiting else { panic!("{waiting:?}") };
    assert_eq!((blocked.reason, until), (Reason::ClusterNotCleared, None));
    assert!(blocked.message.ends_with("still there: 1 NodeClaim (`a`)"), "{}", blocked.message);
}

#[test]
fn what_is_told_has_an_end_whatever_is_there() {
    let long = Inside::Unreachable("x".repeat(10_000));
    let Verdict::Wait { blocked, .. } = judged(json!({}), &long, 1) else { panic!("it is waited for") };
    assert!(blocked.message.len() < 1200, "{}", blocked.message.len());
}

#[rstest]
#[case::at_once(0, 1)]
#[case::later(60, 6)]
#[case::much_later(3600, 15)]
#[case::clocks_that_differ(-100, 1)]
fn a_cluster_is_looked_at_less_often_the_longer_it_takes(#[case] waited: i64, #[case] seconds: u64) {
    assert_eq!(pause(at(0), at(waited)), Duration::from_secs(seconds));
}
