use capt_api::crd::own;
use capt_api::names::{annotation, condition, finalizer, label};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt as _;
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

fn read<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

/// The kinds as the earlier implementation installed them: without a word on CAPT's version.
fn earlier() -> Vec<CustomResourceDefinition> {
    let names = ["captclusters", "captcontrolplanes", "captcontrolplanetemplates", "workspacetemplates"];
    let theirs = own().into_iter().filter(|crd| names.contains(&crd.spec.names.plural.as_str()));
    theirs
        .map(|mut crd| {
            crd.metadata.annotations = None;
            crd.metadata.labels = Some([(label::CONTRACT_V1BETA1.to_owned(), "v1beta1".to_owned())].into());
            crd
        })
        .collect()
}

fn ours() -> Found {
    Found { definitions: own(), ..Found::default() }
}

fn apply(name: &str, finalizers: &[&str], status: &Value) -> WorkspaceTemplateApply {
    read(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": name, "namespace": "team-a", "finalizers": finalizers },
        "spec": { "templateRef": { "name": "eks", "namespace": "team-a" } },
        "status": status,
    }))
}

fn applied(name: &str) -> WorkspaceTemplateApply {
    apply(name, &[finalizer::LEGACY], &json!({ "applied": true, "workspaceName": "demo" }))
}

fn control_plane(endpoint: &Value) -> CAPTControlPlane {
    read(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
        "metadata": {
            "name": "demo", "namespace": "team-a", "uid": "1", "finalizers": [finalizer::LEGACY_CONTROL_PLANE],
            "labels": { label::CLUSTER_NAME: "demo" },
        },
        "spec": { "version": "1.31", "workspaceTemplateRef": { "name": "eks" }, "controlPlaneEndpoint": endpoint },
        "status": { "ready": false, "initialized": false, "failureReason": "EndpointUpdateFailed", "failureMessage": "conflict" },
    }))
}

fn cluster(endpoint: &Value) -> Cluster {
    read(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": { "name": "demo", "namespace": "team-a" },
        "spec": { "controlPlaneEndpoint": endpoint },
    }))
}

fn secret(name: &str, owner: &str, type_: &str) -> (ObjectMeta, Option<String>) {
    let owner = json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": owner, "uid": "1",
        "controller": true,
    });
    let secret: ObjectMeta = read(json!({ "name": name, "namespace": "team-a", "ownerReferences": [owner] }));
    (secret, Some(type_.to_owned()))
}

fn told(plan: &Plan) -> Vec<(By, &str)> {
    plan.entries.iter().map(|entry| (entry.by, entry.what.as_str())).collect()
}

#[test]
fn where_nothing_is_left_there_is_nothing_to_do() {
    assert_eq!(plan(&ours()), Plan::default());
}

#[test]
fn the_earlier_kinds_are_replaced_and_lose_the_label_of_the_other_contract() {
    let found = Found { definitions: earlier(), ..Found::default() };
    let plan = plan(&found);
    assert_eq!(plan.deeds, [Deed::Definitions]);
    assert_eq!(plan.entries.len(), own().len(), "those that are missing are made");
    let replaced =
        plan.entries.iter().filter(|entry| entry.what.contains("without the label cluster.x-k8s.io/v1beta1"));
    assert_eq!(replaced.count(), earlier().len());
}

#[test]
fn a_label_that_outlived_an_apply_goes() {
    let mut found = ours();
    found.definitions[0].labels_mut().insert(label::CONTRACT_V1BETA1.to_owned(), "v1beta1".to_owned());
    let plan = plan(&found);
    assert_eq!((plan.deeds.as_slice(), plan.entries.len()), ([Deed::Definitions].as_slice(), 1));
}

#[test]
fn kinds_of_a_newer_capt_are_left_alone() {
    let mut found = ours();
    found.definitions[0].annotations_mut().insert(annotation::VERSION.to_owned(), "99.0.0".to_owned());
    let plan = plan(&found);
    assert_eq!(plan.deeds, []);
    assert!(plan.in_the_way.concat().contains("99.0.0"), "{:?}", plan.in_the_way);
}

#[test]
fn whoever_installed_the_kinds_must_not_take_them_away() {
    let mut found = Found { definitions: earlier(), ..Found::default() };
    found.definitions[0].annotations_mut().insert(annotation::HELM_RELEASE.to_owned(), "capt".to_owned());
    found.definitions[0]
        .annotations_mut()
        .insert(annotation::HELM_NAMESPACE.to_owned(), "capt-system".to_owned());
    found.definitions[1].labels_mut().insert(label::PROVIDER.to_owned(), "control-plane-capt".to_owned());
    let remarks = plan(&found).remarks.join("\n");
    for expected in [
        "`helm uninstall capt` would delete them",
        "--namespace capt-system",
        "provider control-plane-capt",
        "--include-crd",
    ] {
        assert!(remarks.contains(expected), "{remarks}");
    }
}

#[rstest]
#[case::same(applied("demo-apply"), Comparison::Same, By::Manager, "without a change")]
#[case::differs(applied("demo-apply"), Comparison::Differs(vec!["forProvider.vars[region]".to_owned()]), By::You, "capt approve apply demo-apply --namespace team-a")]
#[case::names_what_differs(applied("demo-apply"), Comparison::Differs(vec!["forProvider.vars[region]".to_owned()]), By::You, "forProvider.vars[region]")]
#[case::gone(applied("demo-apply"), Comparison::Missing, By::Manager, "makes Workspace `demo` again")]
#[case::never_made(apply("demo-apply", &[finalizer::LEGACY], &json!({})), Comparison::Missing, By::Manager, "makes Workspace `demo`")]
#[case::stuck_on_one_that_exists(apply("demo-apply", &[finalizer::LEGACY], &json!({})), Comparison::NotOurs, By::You, "capt.cluster.x-k8s.io/adopt-workspace=demo")]
#[case::that_another_reports(apply("demo-apply", &[finalizer::LEGACY], &json!({})), Comparison::Reported(ApplyKey { namespace: "team-b".to_owned(), name: "demo-apply".to_owned() }), By::You, "`team-b/demo-apply`, whose status names it: do not take it over")]
#[case::that_another_reports_has_another_name(apply("demo-apply", &[finalizer::LEGACY], &json!({})), Comparison::Reported(ApplyKey { namespace: "team-b".to_owned(), name: "demo-apply".to_owned() }), By::You, "makes Workspace `demo-d603b2b5`")]
#[case::unknown(applied("demo-apply"), Comparison::Unknown("no template".to_owned()), By::You, "cannot be told: no template")]
fn of_each_workspace_it_is_told_what_becomes(
    #[case] apply: WorkspaceTemplateApply,
    #[case] comparison: Comparison,
    #[case] by: By,
    #[case] expected: &str,
) {
    let workspaces = [(ApplyKey::of(&apply), comparison)].into();
    let plan = plan(&Found { applies: vec![apply], workspaces, ..ours() });
    let [(told_by, what)] = told(&plan)[..] else { panic!("{plan:?}") };
    assert_eq!(told_by, by);
    assert!(what.contains(expected), "{what}");
    assert_eq!(plan.deeds, [], "the manager does it, or you");
}

#[test]
fn what_is_capts_already_is_not_told() {
    let apply =
        apply("demo-apply", &[finalizer::LEGACY, finalizer::WORKSPACE], &json!({ "workspaceName": "demo" }));
    let workspaces = [(ApplyKey::of(&apply), Comparison::Same)].into();
    assert_eq!(plan(&Found { applies: vec![apply], workspaces, ..ours() }), Plan::default());
}

#[test]
fn applies_that_only_made_tokens_are_no_longer_needed() {
    let mut apply = applied("demo-kubeconfig-apply");
    apply.spec.template_ref.name = "eks-kubeconfig-template".to_owned();
    apply.metadata.owner_references = Some(vec![read(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": "demo", "uid": "1",
    }))]);
    let plan = plan(&Found { applies: vec![apply], ..ours() });
    let [(By::You, what)] = told(&plan)[..] else { panic!("{plan:?}") };
    assert!(
        what.contains("kubectl delete workspacetemplateapply demo-kubeconfig-apply --namespace team-a"),
        "{what}"
    );
}

#[rstest]
#[case::with_a_port("https://127.0.0.1:21040", 443, Some(("127.0.0.1", 21040)))]
#[case::without("https://abc.eks.amazonaws.com", 443, Some(("abc.eks.amazonaws.com", 443)))]
#[case::right("abc.eks.amazonaws.com", 443, None)]
#[case::nonsense("https://", 443, None)]
fn a_url_in_the_place_of_the_host_is_put_right(
    #[case] host: &str,
    #[case] port: i32,
    #[case] expected: Option<(&str, i32)>,
) {
    let endpoint = json!({ "host": host, "port": port });
    let plan = plan(&Found { clusters: vec![cluster(&endpoint)], ..ours() });
    let mended: Vec<_> = plan
        .deeds
        .iter()
        .map(|deed| match deed {
            Deed::Endpoint { after, .. } => (after.host.as_str(), after.port),
            Deed::Definitions => panic!("not asked for"),
        })
        .collect();
    assert_eq!(mended, expected.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_control_plane_is_put_right_by_the_manager() {
    let endpoint = json!({ "host": "https://127.0.0.1:21040", "port": 443 });
    let plan = plan(&Found { control_planes: vec![control_plane(&endpoint)], ..ours() });
    let texts = told(&plan);
    assert!(texts.iter().all(|(by, _)| *by == By::Manager), "{texts:?}");
    for expected in ["finalizer", "EndpointUpdateFailed", "becomes host `127.0.0.1`, port 21040"] {
        assert!(texts.iter().any(|(_, what)| what.contains(expected)), "{expected}: {texts:?}");
    }
    assert_eq!(plan.deeds, []);
}

#[test]
fn conditions_that_nobody_keeps_up_are_taken_away() {
    let now = "2026-11-16T12:00:00Z";
    let network: CAPTCluster = read(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster",
        "metadata": { "name": "demo", "namespace": "team-a" },
        "spec": { "region": "ap-northeast-1" },
        "status": { "conditions": [
            { "type": condition::LEGACY[1], "status": "True", "reason": "x", "message": "", "lastTransitionTime": now },
            { "type": "VPCReady", "status": "True", "reason": "VPCCreated", "message": "", "lastTransitionTime": now },
        ] },
    }));
    let plan = plan(&Found { networks: vec![network], ..ours() });
    assert_eq!(told(&plan), [(By::Manager, "condition VPCFailed is taken away")]);
}

#[rstest]
#[case::theirs_for_this_control_plane("demo-kubeconfig", "demo", "cluster.x-k8s.io/secret", Some((By::Manager, "goes on")))]
#[case::of_another_type("demo-ca", "demo", "Opaque", Some((By::Manager, "made anew")))]
#[case::of_another_control_plane("demo-kubeconfig", "other", "cluster.x-k8s.io/secret", Some((By::You, "left alone")))]
#[case::of_a_name_that_nobody_needs("demo-note", "demo", "Opaque", None)]
fn secrets_change_hands_by_their_owner(
    #[case] name: &str,
    #[case] owner: &str,
    #[case] type_: &str,
    #[case] expected: Option<(By, &str)>,
) {
    let found = Found {
        control_planes: vec![control_plane(&Value::Null)],
        secrets: vec![secret(name, owner, type_)],
        ..ours()
    };
    let plan = plan(&found);
    let entry = plan.entries.iter().find(|entry| entry.kind == "Secret");
    match expected {
        None => assert_eq!(entry, None),
        Some((by, what)) => {
            let entry = entry.unwrap();
            assert_eq!(entry.by, by);
            assert!(entry.what.contains(what), "{}", entry.what);
        }
    }
}

#[test]
fn kinds_that_capt_does_not_have_are_left_alone_and_told() {
    let plan = plan(&Found { others: vec![("CaptMachine", 3), ("CaptMachineSet", 0)], ..ours() });
    assert_eq!(plan.entries.len(), 1);
    assert_eq!((plan.entries[0].by, plan.entries[0].name.as_str()), (By::Nobody, "(3)"));
}

#[test]
fn nothing_is_done_beside_a_manager_that_runs() {
    let running = Running::Deployment { namespace: "capt-system".to_owned(), name: "m".to_owned() };
    let plan = plan(&Found { running: vec![running], ..ours() });
    assert!(
        plan.in_the_way.concat().contains("kubectl scale deployment m --namespace capt-system --replicas 0")
    );
}

fn deployment(labels: &Value, image: &str, command: &str, replicas: &Value, present: i32) -> Deployment {
    read(json!({
        "metadata": { "name": "m", "namespace": "n", "labels": labels },
        "spec": {
            "replicas": replicas, "selector": {},
            "template": { "spec": { "containers": [{ "name": "manager", "image": image, "command": [command] }] } },
        },
        "status": { "replicas": present },
    }))
}

#[rstest]
#[case::by_its_chart(json!({ "app.kubernetes.io/name": "capt" }), "registry.example.com/x:1", "/manager", json!(1), 1, true)]
#[case::by_clusterctl(json!({ "cluster.x-k8s.io/provider": "infrastructure-capt" }), "x", "/manager", json!(null), 0, true)]
#[case::by_its_image(json!({}), "registry.example.com/appthrust/capt:v0.3.0", "/manager", json!(1), 0, true)]
#[case::on_its_way_out(json!({ "app.kubernetes.io/name": "capt" }), "x", "/manager", json!(0), 1, true)]
#[case::stopped(json!({ "app.kubernetes.io/name": "capt" }), "x", "/manager", json!(0), 0, false)]
#[case::ours_by_clusterctl(json!({ "cluster.x-k8s.io/provider": "infrastructure-capt" }), "capt:v1", "tini", json!(1), 1, false)]
#[case::somebody_elses(json!({ "app.kubernetes.io/name": "other" }), "other", "/manager", json!(1), 1, false)]
fn a_manager_is_known_by_its_deployment(
    #[case] labels: Value,
    #[case] image: &str,
    #[case] command: &str,
    #[case] replicas: Value,
    #[case] present: i32,
    #[case] expected: bool,
) {
    assert_eq!(is_manager_deployment(&deployment(&labels, image, command, &replicas, present)), expected);
}

#[rstest]
#[case::held("0123abcd.capt.ai", Some("pod"), true)]
#[case::released("0123abcd.capt.ai", Some(""), false)]
#[case::ours("capt-manager", Some("pod"), false)]
fn a_manager_is_known_by_its_lease(#[case] name: &str, #[case] holder: Option<&str>, #[case] expected: bool) {
    let lease: Lease = read(json!({ "metadata": { "name": name }, "spec": { "holderIdentity": holder } }));
    assert_eq!(is_manager_lease(&lease), expected);
}
