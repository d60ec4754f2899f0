use serde_json::json;

use super::*;

fn report(state: State) -> Report {
    Report {
        state,
        directory: "/home/you/capt".into(),
        pid: None,
        since: None,
        kubeconfig: None,
        log: None,
        ports: None,
        disk_bytes: 0,
        running: None,
        clusters: None,
    }
}

fn running() -> Report {
    let process =
        |name: &str, version: &str, pid| Process { name: name.to_owned(), version: version.to_owned(), pid };
    let cluster = |name: &str, message: &str| ClusterReport {
        namespace: "default".to_owned(),
        name: name.to_owned(),
        ready: message.is_empty(),
        message: message.to_owned(),
    };
    Report {
        pid: Some(4711),
        since: Some("2026-11-16T13:05:11.25Z".parse().unwrap()),
        kubeconfig: Some("/home/you/capt/kubeconfig".into()),
        log: Some("/home/you/capt/logs/capt.log".into()),
        ports: Some(Ports { etcd_clients: 20_001, etcd_peers: 20_002, api_server: 20_003 }),
        disk_bytes: 250 * MEBIBYTE + 17,
        running: Some(Record {
            pid: 4711,
            version: "0.1.0".to_owned(),
            server: "https://127.0.0.1:20003".to_owned(),
            processes: vec![process("supervisor", "0.1.0", 4712), process("etcd", "3.6.4", 4713)],
            terraform: Some("/usr/bin/tofu".into()),
        }),
        clusters: Some(vec![
            cluster("demo", ""),
            cluster("other-cluster", "the control plane is on its way"),
        ]),
        ..report(State::Running)
    }
}

#[test]
fn a_home_that_runs_tells_what_is_in_it() {
    insta::assert_snapshot!(running().sentences(), @"
    The home in /home/you/capt runs (pid 4711, since 2026-11-16T13:05:11Z).

    server      https://127.0.0.1:20003
    kubeconfig  /home/you/capt/kubeconfig
    log         /home/you/capt/logs/capt.log
    ports       20003 (kube-apiserver), 20001, 20002 (etcd)
    disk        250 MiB

    PART                      VERSION   PID
    capt                      0.1.0     4711
    supervisor                0.1.0     4712
    etcd                      3.6.4     4713
    /usr/bin/tofu (runs when there is something to do)

    CLUSTER                 READY   MESSAGE
    default/demo            yes
    default/other-cluster   no      the control plane is on its way
    ");
}

#[test]
fn programs_read_the_same() {
    let told = serde_json::to_value(running()).unwrap();
    let expected = json!({
        "state": "running",
        "directory": "/home/you/capt",
        "pid": 4711,
        "since": "2026-11-16T13:05:11.25Z",
        "kubeconfig": "/home/you/capt/kubeconfig",
        "log": "/home/you/capt/logs/capt.log",
        "ports": { "etcdClients": 20001, "etcdPeers": 20002, "apiServer": 20003 },
        "diskBytes": 262_144_017,
        "running": {
            "pid": 4711,
            "version": "0.1.0",
            "server": "https://127.0.0.1:20003",
            "processes": [
                { "name": "supervisor", "version": "0.1.0", "pid": 4712 },
                { "name": "etcd", "version": "3.6.4", "pid": 4713 },
            ],
            "terraform": "/usr/bin/tofu",
        },
        "clusters": [
            { "namespace": "default", "name": "demo", "ready": true },
            {
                "namespace": "default",
                "name": "other-cluster",
                "ready": false,
                "message": "the control plane is on its way",
            },
        ],
    });
    assert_eq!(told, expected);
}

#[test]
fn a_home_that_does_not_run_says_what_to_do() {
    let told = report(State::Stopped).sentences();
    assert!(
        told.contains("does not run. `") && told.contains(" up --detach --dir /home/you/capt` starts it."),
        "{told}"
    );
    let told = report(State::Absent).sentences();
    assert!(told.starts_with("There is no home in /home/you/capt."), "{told}");
    let told = report(State::Busy).sentences();
    assert!(told.contains("is being started or stopped"), "{told}");
}
