use rstest::rstest;

use super::*;

fn network(metadata: Value, spec: Value, status: Value) -> CAPTCluster {
    let mut object = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster",
        "metadata": { "name": "net", "namespace": "team-a", "uid": "1" },
        "spec": { "region": "r", "vpcTemplateRef": { "name": "t" } },
    });
    for (key, part) in [("metadata", metadata), ("spec", spec), ("status", status)] {
        for (field, value) in part.as_object().into_iter().flatten() {
            object[key][field] = value.clone();
        }
    }
    serde_json::from_value(object).unwrap()
}

fn of_cluster(cluster: &str) -> Value {
    json!({ "labels": { "cluster.x-k8s.io/cluster-name": cluster } })
}

/// The metadata of an apply, by its owner's name.
fn owned_by(owner: &str) -> ObjectMeta {
    let reference = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster",
        "name": owner, "uid": "1", "controller": true,
    });
    serde_json::from_value(json!({ "ownerReferences": [reference] })).unwrap()
}

fn nothing(_: &str) -> Option<ObjectMeta> {
    None
}

#[rstest]
#[case::a_path(json!({}), json!({ "workspaceTemplateApplyName": "../secrets/x" }))]
#[case::upper_case(json!({}), json!({ "workspaceTemplateApplyName": "Demo" }))]
#[case::a_cluster_that_no_object_can_have(of_cluster("Demo_1"), json!({}))]
#[case::a_cluster_whose_name_is_too_long(
    json!({ "ownerReferences": [{ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "a".repeat(253), "uid": "2" }] }),
    json!({})
)]
fn what_cannot_be_a_name_is_told(#[case] metadata: Value, #[case] spec: Value) {
    let blocked = apply_name(&network(metadata, spec, json!({})), nothing).unwrap_err();
    assert_eq!(blocked.reason, Reason::SpecInvalid);
    assert!(blocked.message.contains("spec.workspaceTemplateApplyName"), "{}", blocked.message);
}

#[test]
fn a_network_that_says_nothing_about_itself_is_told() {
    let network = network(json!({}), json!({ "vpcTemplateRef": null, "existingVpcId": "" }), json!({}));
    assert_eq!(existing_vpc(&network), None);
    let blocked = template(&network).unwrap_err();
    assert!(blocked.message.contains("spec.vpcTemplateRef"), "{}", blocked.message);
}

#[test]
fn without_a_cluster_there_is_no_name() {
    assert_eq!(apply_name(&network(json!({}), json!({}), json!({})), nothing), Ok(None));
}

#[rstest]
#[case::by_the_cluster(json!({}), json!({}), "demo-vpc")]
#[case::by_the_spec(json!({ "workspaceTemplateApplyName": "mine" }), json!({}), "mine")]
#[case::an_empty_name_is_none(json!({ "workspaceTemplateApplyName": "" }), json!({}), "demo-vpc")]
#[case::a_status_that_names_nothing_there(json!({}), json!({ "vpcWorkspaceName": "old" }), "demo-vpc")]
fn the_apply_is_named_by_the_spec_or_the_cluster(
    #[case] spec: Value,
    #[case] status: Value,
    #[case] expected: &str,
) {
    let name = apply_name(&network(of_cluster("demo"), spec, status), nothing);
    assert_eq!(name, Ok(Some(expected.to_owned())));
}

/// A second name would be a second VPC.
#[rstest]
#[case::named_after_the_network(json!({}), "net-vpc", owned_by("net"), "net-vpc")]
#[case::named_in_the_status(json!({ "vpcWorkspaceName": "old" }), "old", owned_by("net"), "old")]
#[case::whose_workspace_is_in_the_status(
    json!({ "workspaceTemplateStatus": { "workspaceName": "old" } }), "old-apply", owned_by("net"), "old-apply"
)]
#[case::without_an_owner_but_in_the_status(json!({ "vpcWorkspaceName": "old" }), "old", ObjectMeta::default(), "old")]
#[case::not_without_an_owner(json!({}), "net-vpc", ObjectMeta::default(), "demo-vpc")]
#[case::not_that_of_another_network(json!({ "vpcWorkspaceName": "old" }), "old", owned_by("other"), "demo-vpc")]
fn the_apply_of_an_earlier_version_is_found(
    #[case] status: Value,
    #[case] present: &str,
    #[case] metadata: ObjectMeta,
    #[case] expected: &str,
) {
    let network = network(of_cluster("demo"), json!({}), status);
    let name = apply_name(&network, |name| (name == present).then(|| metadata.clone()));
    assert_eq!(name, Ok(Some(expected.to_owned())));
}

fn spec_of(spec: Value) -> Value {
    let network = network(of_cluster("demo"), spec, json!({}));
    let template = network.spec.vpc_template_ref.clone().unwrap();
    let wanted = wanted(&network, "demo", "demo-vpc".to_owned(), &template);
    assert_eq!(wanted.cluster.as_deref(), Some("demo"));
    wanted.spec
}

#[test]
fn the_apply_carries_what_a_module_needs() {
    insta::assert_yaml_snapshot!(spec_of(json!({})), @r#"
    templateRef:
      name: t
      namespace: team-a
    variables:
      cluster_name: demo
      name: demo-vpc
      region: r
      vpc_name: demo-vpc
    "#);
}

#[rstest]
#[case::of_the_network(json!({ "name": "t" }), "team-a")]
#[case::of_the_reference(json!({ "name": "t", "namespace": "shared" }), "shared")]
#[case::an_empty_one_is_none(json!({ "name": "t", "namespace": "" }), "team-a")]
fn the_template_has_a_namespace(#[case] reference: Value, #[case] expected: &str) {
    assert_eq!(spec_of(json!({ "vpcTemplateRef": reference }))["templateRef"]["namespace"], expected);
}

#[rstest]
#[case::given(json!("mine"), "mine")]
#[case::empty(json!(""), "demo-vpc")]
fn the_vpc_has_the_name_that_the_user_gives(#[case] name: Value, #[case] expected: &str) {
    let variables = &spec_of(json!({ "vpcConfig": { "name": name } }))["variables"];
    assert_eq!((&variables["name"], &variables["vpc_name"]), (&json!(expected), &json!(expected)));
}

#[test]
fn retention_is_asked_for_and_never_refused() {
    assert_eq!(spec_of(json!({ "retainVpcOnDelete": true }))["retainWorkspaceOnDelete"], true);
    assert!(spec_of(json!({})).get("retainWorkspaceOnDelete").is_none());
}

fn apply(spec: Value) -> WorkspaceTemplateApply {
    let mut object = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "demo-vpc", "namespace": "team-a" },
    });
    object["spec"] = spec;
    serde_json::from_value(object).unwrap()
}

#[test]
fn only_retention_reaches_an_apply_that_is_about_to_go() {
    let changed = json!({ "retainVpcOnDelete": true, "vpcTemplateRef": { "name": "new" } });
    let network = network(of_cluster("demo"), changed, json!({}));
    let present =
        apply(json!({ "templateRef": { "name": "old" }, "variables": { "region": "r", "theirs": "1" } }));
    assert_eq!(
        wanted_at_the_end(&network, &present).spec,
        json!({ "templateRef": { "name": "old" }, "variables": { "region": "r", "theirs": "1" }, "retainWorkspaceOnDelete": true })
    );
}

/// Otherwise it would be written again and again.
#[rstest]
#[case::bare(json!({ "templateRef": { "name": "t" } }))]
#[case::with_variables(json!({ "templateRef": { "name": "t", "namespace": "n" }, "variables": { "a": "b" } }))]
fn an_apply_that_was_written_for_the_end_is_as_it_should_be(#[case] spec: Value) {
    for retained in [false, true] {
        let network = network(of_cluster("demo"), json!({ "retainVpcOnDelete": retained }), json!({}));
        let wanted = wanted_at_the_end(&network, &apply(spec.clone()));
        let written: WorkspaceTemplateApply =
            serde_json::from_value(wanted.object(&Owner::of(&network), None)).unwrap();
        assert!(wanted_at_the_end(&network, &written).is_met_by(&written, &Owner::of(&network)));
    }
}
