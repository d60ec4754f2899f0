use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rstest::rstest;

use super::super::*;
use crate::lease::{Manager, Scope};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn plain(findings: Vec<Finding>) -> String {
    Report { findings }.text(|level| level.mark().to_owned())
}

#[test]
fn a_report_says_what_holds_and_what_to_type() {
    let part = |path: Option<&str>, version: Option<&str>| PartFacts {
        name: "etcd".to_owned(),
        path: path.map(ToOwned::to_owned),
        version: version.map(ToOwned::to_owned),
    };
    let server = |version: Result<&str, &str>| ServerFacts {
        address: "https://api".to_owned(),
        version: version.map(ToOwned::to_owned).map_err(ToOwned::to_owned),
    };
    let findings = vec![
        part(Some("/bin/etcd"), Some("3.6.4")).judge(),
        part(Some("/bin/etcd"), None).judge(),
        part(None, None).judge(),
        server(Ok("v1.34.1")).judge(),
        server(Ok("v1.29.9")).judge(),
        server(Ok("latest")).judge(),
        server(Err("connection refused")).judge(),
        AwsFacts { identity: Ok("arn:aws:iam::1:user/me".to_owned()) }.judge(),
        AwsFacts { identity: Err("no credentials".to_owned()) }.judge(),
    ];
    insta::assert_snapshot!(plain(findings));
}

#[rstest]
#[case::alike(0, 0, Level::Good)]
#[case::a_little_apart(25, 0, Level::Good)]
#[case::behind(-60, 0, Level::Warning)]
#[case::ahead(60, 0, Level::Warning)]
#[case::a_slow_answer(60, 50, Level::Good)]
fn clocks_are_compared_as_far_as_the_answer_is_young(
    #[case] apart: i64,
    #[case] took: u64,
    #[case] expected: Level,
) {
    let clock =
        ClockFacts { server: Some(at(1000)), here: at(1000 + apart), took: Duration::from_secs(took) };
    assert_eq!(clock.judge().level, expected);
}

#[test]
fn a_server_without_a_clock_is_told() {
    let clock = ClockFacts { server: None, here: at(0), took: Duration::ZERO };
    assert_eq!(clock.judge().level, Level::Warning);
}

#[test]
fn managers_are_known_by_homes_and_leases() {
    let lease = |holder: &str, renewed: Option<i64>| LeaseFacts {
        namespace: "capt-system".to_owned(),
        holder: holder.to_owned(),
        renewed: renewed.map(at),
        seconds: 15,
        manager: None,
    };
    let of_namespace = |holder: &str, namespace: &str, scope: &str| LeaseFacts {
        namespace: namespace.to_owned(),
        manager: Some(Manager {
            identity: holder.to_owned(),
            version: "1.2.3".to_owned(),
            scope: Scope { namespace: Some(scope.to_owned()), watch_filter: None },
        }),
        ..lease(holder, Some(990))
    };
    let facts = |home: Option<bool>, leases: Result<Vec<LeaseFacts>, &str>| {
        let home = home.map(|answers| ("/data".to_owned(), answers));
        ManagerFacts { home, leases: leases.map_err(ToOwned::to_owned), now: at(1000) }.judge()
    };
    let findings = [
        facts(Some(true), Ok(vec![])),
        facts(Some(false), Ok(vec![])),
        facts(None, Ok(vec![])),
        facts(None, Err("Forbidden (403)")),
        facts(
            None,
            Ok(vec![
                lease("pod-1", Some(990)),
                lease("pod-2", Some(900)),
                lease("", None),
                lease("pod-3", None),
            ]),
        ),
        facts(None, Ok(vec![lease("", None)])),
        facts(None, Ok(vec![of_namespace("pod-1", "a", "x"), of_namespace("pod-2", "b", "y")])),
        facts(None, Ok(vec![of_namespace("pod-1", "a", "x"), of_namespace("pod-2", "b", "x")])),
        facts(None, Ok(vec![of_namespace("pod-1", "a", "x"), lease("pod-2", Some(990))])),
    ];
    insta::assert_snapshot!(plain(findings.concat()));
}

#[test]
fn permissions_that_are_missing_are_named() {
    let asked = |verb: &str, resource: &str, allowed| Asked {
        verb: verb.to_owned(),
        group: "tf.upbound.io".to_owned(),
        resource: resource.to_owned(),
        allowed,
    };
    let facts = |whose, asked: Result<Vec<Asked>, &str>| {
        PermissionFacts { user: "jane@corp".to_owned(), whose, asked: asked.map_err(ToOwned::to_owned) }
            .judge()
    };
    let some =
        vec![asked("get", "workspaces", false), asked("list", "workspaces", false), asked("get", "x", true)];
    let findings = vec![
        facts(Whose::Person, Ok(vec![asked("get", "workspaces", true)])),
        facts(Whose::Person, Ok(some.clone())),
        facts(Whose::Manager, Ok(some)),
        facts(Whose::Person, Err("NotFound (404)")),
    ];
    insta::assert_snapshot!(plain(findings));
}

#[test]
fn kinds_of_others_have_one_owner_that_answers() {
    let served = |kind, traces: Option<Vec<Trace>>, version: Option<&str>| {
        ServiceFacts { kind, traces, cluster_api: version.map(ToOwned::to_owned) }.judge()
    };
    let provider = || Trace::Provider("cluster-api".to_owned());
    let package = || Trace::Package("provider-terraform-1".to_owned());
    let webhook = |answers| {
        Trace::Conversion(ConversionFacts { service: Some("capi-system/webhook".to_owned()), answers })
    };
    let findings = [
        served(ServedKind::Cluster, None, None),
        served(ServedKind::Workspace, None, None),
        served(ServedKind::Cluster, Some(vec![Trace::OurLabel]), None),
        served(ServedKind::Cluster, Some(vec![]), None),
        served(
            ServedKind::Cluster,
            Some(vec![Trace::OurLabel, provider(), webhook(Some(true))]),
            Some("v1.12.1"),
        ),
        served(ServedKind::Cluster, Some(vec![provider(), webhook(Some(false))]), Some("v1.11.0")),
        served(ServedKind::ResourceSet, Some(vec![provider(), webhook(None)]), None),
        served(ServedKind::ResourceSet, Some(vec![webhook(None)]), None),
        served(ServedKind::Workspace, Some(vec![package()]), None),
        served(ServedKind::Workspace, Some(vec![package(), provider()]), None),
    ];
    insta::assert_snapshot!(plain(findings.concat()));
}
