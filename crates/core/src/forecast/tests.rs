use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

const VPC: &str = "variable \"region\" {}\noutput \"subnet_ids\" { value = [] }\noutput \"key\" {\n  value     = 1\n  sensitive = true\n}\n";
const EKS: &str = "variable \"cluster_name\" {}\nvariable \"subnet_ids\" {}\nvariable \"key\" {}\n";

fn object<K: DeserializeOwned>(api_version: &str, kind: &str, name: &str, spec: &Value) -> K {
    let metadata = json!({ "name": name, "namespace": "a" });
    serde_json::from_value(
        json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec }),
    )
    .unwrap()
}

fn key(name: &str) -> Key {
    ("a".to_owned(), name.to_owned())
}

fn apply_key(name: &str) -> ApplyKey {
    ApplyKey { namespace: "a".to_owned(), name: name.to_owned() }
}

fn template(name: &str, module: &str) -> WorkspaceTemplate {
    let spec = json!({ "template": { "spec": { "forProvider": { "source": "Inline", "module": module } } } });
    object("infrastructure.cluster.x-k8s.io/v1beta1", "WorkspaceTemplate", name, &spec)
}

fn control_plane(version: &str) -> CAPTControlPlane {
    let spec = json!({ "version": version, "workspaceTemplateRef": { "name": "eks" } });
    object("controlplane.cluster.x-k8s.io/v1beta1", "CAPTControlPlane", "prod", &spec)
}

/// A cluster with its templates, as somebody writes it down.
fn written() -> World {
    let reference = |group: &str, kind: &str| json!({ "apiGroup": group, "kind": kind, "name": "prod" });
    let cluster = json!({
        "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "CAPTCluster"),
        "controlPlaneRef": reference("controlplane.cluster.x-k8s.io", "CAPTControlPlane"),
    });
    let network = json!({ "region": "eu-west-1", "vpcTemplateRef": { "name": "vpc" } });
    World {
        clusters: [(key("prod"), object("cluster.x-k8s.io/v1beta2", "Cluster", "prod", &cluster))].into(),
        networks: [(
            key("prod"),
            object("infrastructure.cluster.x-k8s.io/v1beta1", "CAPTCluster", "prod", &network),
        )]
        .into(),
        control_planes: [(key("prod"), control_plane("v1.33.1"))].into(),
        templates: [(key("vpc"), template("vpc", VPC)), (key("eks"), template("eks", EKS))].into(),
        ..World::default()
    }
}

/// The same once it is there.
fn live() -> World {
    let mut world = written();
    forecast(&World::default(), &mut world, &BTreeSet::new());
    let status = json!({ "vpcWorkspaceName": "prod-vpc", "initialization": { "provisioned": true } });
    world.networks.get_mut(&key("prod")).unwrap().status = serde_json::from_value(status).unwrap();
    world.outputs = [("prod-vpc".to_owned(), ["subnet_ids".to_owned()].into())].into();
    world
}

fn names(forecast: &Forecast) -> Vec<&str> {
    forecast.applies.iter().map(|key| key.name.as_str()).collect()
}

fn spec(world: &World, name: &str) -> Value {
    json!(world.applies[&apply_key(name)].spec)
}

#[test]
fn a_new_cluster_leads_to_its_network_and_then_to_its_control_plane() {
    let mut world = written();
    let forecast = forecast(&World::default(), &mut world, &BTreeSet::new());
    assert_eq!(names(&forecast), ["prod-vpc", "prod-eks-controlplane-apply"]);
    assert_eq!(forecast.held, []);
    assert_eq!(spec(&world, "prod-vpc")["variables"]["region"], "eu-west-1");
    let taken = json!([{ "variable": "subnet_ids", "workspaceOutputRef": { "name": "prod-vpc", "output": "subnet_ids" } }]);
    assert_eq!(spec(&world, "prod-eks-controlplane-apply")["variablesFrom"], taken);
    let apply = &world.applies[&apply_key("prod-vpc")];
    assert_eq!(cluster_name(&apply.metadata), Some("prod"));
}

#[test]
fn what_is_there_as_it_is_written_concerns_nobody() {
    let before = live();
    let mut after = before.clone();
    assert_eq!(names(&forecast(&before, &mut after, &BTreeSet::new())), Vec::<&str>::new());
}

#[test]
fn another_version_changes_the_control_plane_alone_and_what_others_added_stays() {
    let mut before = live();
    let apply = Arc::make_mut(before.applies.get_mut(&apply_key("prod-eks-controlplane-apply")).unwrap());
    apply.spec.variables.insert("theirs".to_owned(), "1".to_owned());
    let mut after = before.clone();
    let labels = after.control_planes[&key("prod")].metadata.labels.clone();
    let mut changed = control_plane("v1.34.0");
    changed.metadata.labels = labels;
    after.control_planes.insert(key("prod"), changed);

    assert_eq!(names(&forecast(&before, &mut after, &BTreeSet::new())), ["prod-eks-controlplane-apply"]);

    let variables = spec(&after, "prod-eks-controlplane-apply")["variables"].clone();
    assert_eq!(variables["kubernetes_minor_version"], "1.34");
    assert_eq!(variables["theirs"], "1");
}

#[test]
fn a_template_concerns_whoever_uses_it_and_outputs_that_it_is_going_to_have() {
    let before = live();
    let mut after = before.clone();
    after.templates.insert(key("vpc"), template("vpc", &format!("{VPC}output \"vpc_id\" {{ value = 1 }}\n")));
    after.templates.insert(key("eks"), template("eks", &format!("{EKS}variable \"vpc_id\" {{}}\n")));
    after.new_templates = [key("vpc"), key("eks")].into();

    let forecast = forecast(&before, &mut after, &BTreeSet::new());

    assert_eq!(names(&forecast), ["prod-vpc", "prod-eks-controlplane-apply"]);
    let taken = spec(&after, "prod-eks-controlplane-apply")["variablesFrom"].clone();
    assert_eq!(
        taken.as_array().unwrap().iter().map(|it| &it["variable"]).collect::<Vec<_>>(),
        ["subnet_ids", "vpc_id"]
    );
}

#[test]
fn an_apply_that_is_named_concerns_itself() {
    let before = live();
    let named = BTreeSet::from([apply_key("prod-vpc")]);
    assert_eq!(names(&forecast(&before, &mut before.clone(), &named)), ["prod-vpc"]);
}

#[rstest]
#[case::no_cluster(|world: &mut World| world.clusters.clear(), "no Cluster names it")]
#[case::paused(|world: &mut World| world.clusters.get_mut(&key("prod")).unwrap().spec.paused = Some(true), "it is paused")]
fn what_leads_to_no_workspace_is_told(#[case] change: fn(&mut World), #[case] why: &str) {
    let mut world = written();
    change(&mut world);
    let forecast = forecast(&World::default(), &mut world, &BTreeSet::new());
    assert_eq!(names(&forecast), Vec::<&str>::new());
    assert_eq!(forecast.held.len(), 2);
    assert!(forecast.held.iter().all(|held| held.to_string().contains(why)), "{:?}", forecast.held);
}

#[test]
fn an_apply_of_somebody_else_is_left_alone() {
    let before = live();
    let mut after = before.clone();
    let owners = json!([{ "apiVersion": "example.org/v1", "kind": "Thing", "name": "x", "uid": "1", "controller": true }]);
    let apply = Arc::make_mut(after.applies.get_mut(&apply_key("prod-vpc")).unwrap());
    apply.metadata.owner_references = serde_json::from_value(owners).unwrap();
    after.networks.get_mut(&key("prod")).unwrap().spec.region = "eu-west-2".to_owned();
    let forecast = forecast(&before, &mut after, &BTreeSet::new());
    assert!(forecast.held[0].why.contains("is somebody else's"), "{:?}", forecast.held);
}

#[rstest]
#[case::changed(json!({ "v": { "a": "1" } }), json!({ "v": { "a": "1" } }), json!({ "v": { "a": "2" } }), json!({ "v": { "a": "2" } }))]
#[case::not_wanted_any_more(json!({ "v": { "a": "1", "b": "1" } }), json!({ "v": { "a": "1" } }), json!({ "v": {} }), json!({ "v": { "b": "1" } }))]
#[case::lists(json!({ "l": [{ "variable": "a", "x": 1 }, { "variable": "theirs" }] }), json!({ "l": [{ "variable": "a", "x": 1 }] }),
    json!({ "l": [{ "variable": "b" }] }), json!({ "l": [{ "variable": "b" }, { "variable": "theirs" }] }))]
fn what_others_added_stays(
    #[case] present: Value,
    #[case] before: Value,
    #[case] after: Value,
    #[case] expected: Value,
) {
    assert_eq!(merged(&present, &before, &after), expected);
}
