use rstest::rstest;
use serde_json::{Value, json};

use super::*;

const BEGAN: &str = "2026-11-18T10:00:05.500Z";

fn process(number: u32) -> ProcessOfRunner {
    ProcessOfRunner {
        machine: Some("laptop".to_owned()),
        boot: "boot-1".to_owned(),
        pid_namespace: "pid:[1]".to_owned(),
        process: number,
        process_start: 100,
        started_at: BEGAN.parse().unwrap(),
        sees_all: false,
    }
}

fn pod(namespace: &str, uid: &str) -> PodOfRunner {
    PodOfRunner { namespace: namespace.to_owned(), name: "capt-0".to_owned(), uid: uid.to_owned() }
}

fn in_pod(uid: &str, number: u32) -> Runner {
    Runner { pod: Some(pod("capt", uid)), process: Some(process(number)) }
}

fn on_machine(change: impl FnOnce(&mut ProcessOfRunner)) -> Runner {
    let mut process = process(7);
    change(&mut process);
    Runner { pod: None, process: Some(process) }
}

fn starter(runner: Option<Runner>) -> Starter {
    Starter { host: "capt-0".to_owned(), pod_namespace: Some("capt".to_owned()), runner }
}

fn begun(by: Starter, earlier: Vec<Starter>) -> BegunRecord {
    BegunRecord { fingerprint: String::new(), plan: String::new(), at: Timestamp::UNIX_EPOCH, by, earlier }
}

fn lock(who: &str) -> Lock {
    Lock {
        id: "1".to_owned(),
        who: who.to_owned(),
        operation: "OperationTypeApply".to_owned(),
        since: "today".to_owned(),
        holder: Holder::Unknown,
    }
}

/// What is asked, in one word.
fn asked(runner: Option<Runner>, us: &Runner, host: &str) -> &'static str {
    match question(&starter(runner), us, ("capt", host)) {
        Question::None => "nothing",
        Question::Dead => "dead",
        Question::Pod(_) => "pod",
        Question::PodName(_) => "pod by name",
        Question::Process(_) => "process",
        Question::PidNamespace(_) => "pid namespace",
    }
}

#[rstest]
#[case::another_pod(in_pod("a", 7), in_pod("b", 7), "pod")]
#[case::an_earlier_container_of_this_pod(in_pod("a", 7), Runner { process: Some(ProcessOfRunner { pid_namespace: "pid:[2]".to_owned(), ..process(7) }), ..in_pod("a", 7) }, "dead")]
#[case::this_pod_before_its_machine_started_anew(in_pod("a", 7), Runner { process: Some(ProcessOfRunner { boot: "boot-2".to_owned(), ..process(7) }), ..in_pod("a", 7) }, "dead")]
#[case::this_very_container(in_pod("a", 7), in_pod("a", 8), "process")]
#[case::this_pod_where_nothing_is_known_of_processes(in_pod("a", 7), Runner { process: None, ..in_pod("a", 7) }, "nothing")]
#[case::a_pod_from_a_machine(in_pod("a", 7), on_machine(|_| {}), "pod")]
#[case::a_machine_from_a_pod(on_machine(|_| {}), in_pod("a", 7), "nothing")]
#[case::this_machine(on_machine(|_| {}), on_machine(|us| us.process = 8), "process")]
#[case::this_machine_before_it_started_anew(on_machine(|_| {}), on_machine(|us| "boot-2".clone_into(&mut us.boot)), "dead")]
#[case::a_machine_of_the_same_name(on_machine(|_| {}), on_machine(|us| {
    "boot-2".clone_into(&mut us.boot);
    us.machine = Some("another".to_owned());
}), "nothing")]
#[case::machines_without_a_name(on_machine(|then| then.machine = None), on_machine(|us| {
    "boot-2".clone_into(&mut us.boot);
    us.machine = None;
}), "nothing")]
#[case::another_pid_namespace(on_machine(|_| {}), on_machine(|us| "pid:[2]".clone_into(&mut us.pid_namespace)), "nothing")]
#[case::another_pid_namespace_from_where_all_is_seen(on_machine(|_| {}), on_machine(|us| {
    "pid:[2]".clone_into(&mut us.pid_namespace);
    us.sees_all = true;
}), "pid namespace")]
#[case::nobody_knows_where(Runner::default(), on_machine(|_| {}), "nothing")]
fn only_what_can_be_seen_from_here_is_asked(
    #[case] then: Runner,
    #[case] us: Runner,
    #[case] expected: &str,
) {
    assert_eq!(asked(Some(then), &us, "capt-0"), expected);
}

#[rstest]
#[case::a_pod_of_another_installation(Some(Runner { pod: Some(pod("elsewhere", "a")), process: None }), "me", "nothing")]
#[case::on_record_of_an_earlier_version(None, "me", "pod by name")]
#[case::ourselves_on_record_of_an_earlier_version(None, "capt-0", "nothing")]
fn a_pod_is_asked_for_in_our_own_namespace(
    #[case] then: Option<Runner>,
    #[case] host: &str,
    #[case] expected: &str,
) {
    assert_eq!(asked(then, &in_pod("b", 7), host), expected);
}

#[test]
fn a_lock_may_be_of_everybody_who_began_an_apply_on_its_machine() {
    let (first, second) = (starter(Some(in_pod("a", 7))), starter(Some(in_pod("b", 7))));
    let elsewhere = Starter { host: "capt-1".to_owned(), ..starter(None) };
    let begun = begun(second.clone(), vec![first.clone(), elsewhere]);

    assert_eq!(suspects(&lock("root@capt-0"), &begun), [&second, &first]);
    assert_eq!(suspects(&lock("somebody@laptop"), &begun), Vec::<&Starter>::new());
    assert_eq!(
        suspects(&Lock { holder: Holder::Dead, ..lock("root@capt-0") }, &begun),
        Vec::<&Starter>::new()
    );
}

#[test]
fn whoever_began_before_is_remembered_once_and_not_for_ever() {
    let (first, second) = (starter(Some(in_pod("a", 7))), starter(Some(in_pod("b", 7))));
    assert_eq!(earlier(None, &first), []);
    assert_eq!(earlier(Some(&begun(first.clone(), Vec::new())), &first), []);
    assert_eq!(earlier(Some(&begun(first.clone(), Vec::new())), &second), std::slice::from_ref(&first));

    let mut record = begun(first, Vec::new());
    for number in 0..100 {
        let now = starter(Some(in_pod(&format!("pod-{number}"), 7)));
        record = begun(now.clone(), earlier(Some(&record), &now));
    }
    assert_eq!(record.earlier.len(), MOST_STARTERS + 1);
    let stranger = record.earlier.last().unwrap();
    assert_eq!(question(stranger, &in_pod("z", 7), ("capt", "me")), Question::None, "nobody knows who it is");
}

/// A Pod with these containers.
fn told(uid: &str, containers: &Value) -> Pod {
    serde_json::from_value(json!({
        "metadata": { "name": "capt-0", "uid": uid },
        "status": { "phase": "Running", "containerStatuses": containers },
    }))
    .unwrap()
}

/// A container of the manager.
fn container(state: &Value, last: &Value) -> Value {
    json!({
        "name": "manager", "image": "", "imageID": "", "ready": true, "restartCount": 1,
        "state": state, "lastState": last,
    })
}

fn running(since: &str) -> Value {
    json!({ "running": { "startedAt": since } })
}

fn ended(at: &str) -> Value {
    json!({ "terminated": { "exitCode": 137, "startedAt": "2026-11-18T09:00:00Z", "finishedAt": at } })
}

#[rstest]
#[case::it_runs(running("2026-11-18T10:00:05Z"), json!({}), false)]
#[case::it_runs_and_an_earlier_one_ended(
    running("2026-11-18T10:00:05Z"),
    ended("2026-11-18T10:00:04Z"),
    false
)]
#[case::its_start_was_noted_late(running("2026-11-18T10:00:07Z"), json!({}), false)]
#[case::a_later_one_runs(running("2026-11-18T10:00:20Z"), ended("2026-11-18T10:00:19Z"), true)]
#[case::the_kubelet_is_behind(running("2026-11-18T09:00:00Z"), json!({}), false)]
#[case::it_ended(ended("2026-11-18T10:00:19Z"), json!({}), true)]
#[case::it_ended_and_is_to_start_again(json!({ "waiting": { "reason": "CrashLoopBackOff" } }), ended("2026-11-18T10:00:19Z"), true)]
#[case::an_earlier_one_ended(json!({ "waiting": { "reason": "ContainerCreating" } }), ended("2026-11-18T10:00:04Z"), false)]
#[case::nothing_is_told(json!({}), json!({}), false)]
#[case::no_time_is_told(json!({ "running": {} }), json!({}), false)]
fn the_kubelet_says_whether_a_container_has_ended(
    #[case] state: Value,
    #[case] last: Value,
    #[case] dead: bool,
) {
    let (runner, began) = (pod("capt", "a"), Some(BEGAN.parse().unwrap()));
    let ours = container(&state, &last);
    let beside = json!({ "name": "proxy", "image": "", "imageID": "", "ready": true, "restartCount": 0, "state": running("2026-11-19T00:00:00Z") });

    assert_eq!(is_dead(&runner, began, Some(&told("a", &json!([ours])))), dead);
    assert_eq!(is_dead(&runner, began, Some(&told("a", &json!([beside, ours])))), dead);
    assert!(is_dead(&runner, began, Some(&told("b", &json!([ours])))), "another Pod has its name");
    assert!(is_dead(&runner, began, None), "the Pod is gone");
    assert!(!is_dead(&runner, None, Some(&told("a", &json!([ours])))), "nobody knows when it began");
}

#[test]
fn a_pod_whose_containers_have_other_names_tells_nothing() {
    let containers = json!([
        { "name": "a", "image": "", "imageID": "", "ready": true, "restartCount": 0, "state": ended("2026-11-19T00:00:00Z") },
        { "name": "b", "image": "", "imageID": "", "ready": true, "restartCount": 0, "state": running("2026-11-19T00:00:00Z") },
    ]);
    assert!(!is_dead(&pod("capt", "a"), Some(BEGAN.parse().unwrap()), Some(&told("a", &containers))));
}

#[test]
fn what_is_on_record_is_read_again_with_and_without_a_runner() {
    let with = begun(starter(Some(in_pod("a", 7))), vec![starter(Some(in_pod("b", 7)))]);
    assert_eq!(serde_json::from_value::<BegunRecord>(json!(with)).unwrap(), with);
    let of_before = json!({
        "fingerprint": "", "plan": "", "at": "1970-01-01T00:00:00Z", "host": "capt-0", "pod_namespace": "capt",
    });
    assert_eq!(serde_json::from_value::<BegunRecord>(of_before).unwrap(), begun(starter(None), Vec::new()));
}

#[rstest]
#[case::shut_down("node.kubernetes.io/out-of-service", true)]
#[case::silent("node.kubernetes.io/unreachable", false)]
#[case::not_ready("node.kubernetes.io/not-ready", false)]
fn only_a_node_that_a_person_calls_shut_down_is_out_of_service(#[case] taint: &str, #[case] expected: bool) {
    let node = |taints: Value| -> Node {
        serde_json::from_value(json!({ "metadata": { "name": "n" }, "spec": { "taints": taints } })).unwrap()
    };
    let taint = json!([{ "key": taint, "effect": "NoExecute", "value": "nodeshutdown" }]);
    assert_eq!(is_out_of_service(&node(taint)), expected);
    assert!(!is_out_of_service(&node(json!([]))));
    assert!(!is_out_of_service(&Node::default()));
}
