use serde_json::json;

use super::*;

fn control_plane(more: &Value) -> CAPTControlPlane {
    let mut spec = json!({ "version": "v1.34.2", "workspaceTemplateRef": { "name": "eks" } });
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    serde_json::from_value(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
        "metadata": { "name": "demo", "namespace": "a" }, "spec": spec,
    }))
    .unwrap()
}

fn network(apply: Option<&str>, outputs: &[&str]) -> Network {
    Network::Ours(OurNetwork {
        name: "demo".to_owned(),
        provisioned: true,
        message: String::new(),
        region: "eu-west-1".to_owned(),
        vpc_id: Some("vpc-1".to_owned()),
        apply: apply.map(ToOwned::to_owned),
        outputs: outputs.iter().map(|name| (*name).to_owned()).collect(),
    })
}

fn spec(control_plane: &CAPTControlPlane, network: &Network, declared: Option<&[&str]>) -> Value {
    let declared: Option<BTreeSet<String>> =
        declared.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    let inputs =
        Inputs { control_plane, cluster: "demo", network, declared: declared.as_ref(), present: None };
    wanted(inputs).spec
}

#[test]
fn the_spec_becomes_variables() {
    let control_plane = control_plane(&json!({
        "controlPlaneConfig": {
            "region": "ap-northeast-1",
            "endpointAccess": { "public": true, "private": false, "publicCIDRs": ["203.0.113.0/24"] },
            "addons": [{ "name": "vpc-cni", "version": "v1" }, { "name": "coredns", "configurationValues": "{\"a\":1}" }],
        },
        "additionalTags": { "team": "x", "kubernetes.io/y": "z" },
    }));
    let spec = spec(&control_plane, &Network::None, None);
    assert_eq!(
        spec,
        json!({
            "templateRef": { "name": "eks", "namespace": "a" },
            "variables": {
                "cluster_name": "demo",
                "kubernetes_version": "1.34.2",
                "kubernetes_minor_version": "1.34",
                "region": "ap-northeast-1",
                "endpoint_public_access": "true",
                "endpoint_private_access": "false",
                "endpoint_public_access_cidrs": "[\"203.0.113.0/24\"]",
                "addons": "{\"coredns\":{\"configuration_values\":\"{\\\"a\\\":1}\"},\"vpc-cni\":{\"addon_version\":\"v1\"}}",
                "tags": "{\"kubernetes.io/y\":\"z\",\"team\":\"x\"}",
                "tags_team": "x",
            },
            "writeConnectionSecretToRef": { "name": "demo-eks-connection", "namespace": "a" },
        })
    );
}

#[test]
fn a_network_that_exists_already_gives_region_and_id() {
    let spec = spec(&control_plane(&json!({})), &network(None, &[]), None);
    assert_eq!(spec["variables"]["region"], "eu-west-1");
    assert_eq!(spec["variables"]["vpc_id"], "vpc-1");
    assert!(spec.get("waitForWorkspaces").is_none() && spec.get("variablesFrom").is_none());
}

#[test]
fn outputs_of_the_network_go_to_the_variables_of_their_name() {
    let network = network(Some("demo-vpc"), &["vpc_id", "private_subnets", "region", "not a name"]);
    let reference = |output: &str| json!({ "variable": output, "workspaceOutputRef": { "name": "demo-vpc", "output": output } });
    let chosen = spec(&control_plane(&json!({})), &network, Some(&["vpc_id", "region", "cluster_name"]));
    assert_eq!(chosen["waitForWorkspaces"], json!([{ "name": "demo-vpc" }]));
    assert_eq!(chosen["variablesFrom"], json!([reference("vpc_id")]), "what the spec says wins");
    let all = spec(&control_plane(&json!({})), &network, None);
    assert_eq!(all["variablesFrom"], json!([reference("private_subnets"), reference("vpc_id")]));
}

#[test]
fn a_network_that_says_nothing_for_a_moment_takes_nothing_away() {
    let control_plane = control_plane(&json!({}));
    let with_outputs = network(Some("demo-vpc"), &["vpc_id"]);
    let inputs = Inputs {
        control_plane: &control_plane,
        cluster: "demo",
        network: &with_outputs,
        declared: None,
        present: None,
    };
    let present: WorkspaceTemplateApply = serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "demo-eks-controlplane-apply" }, "spec": wanted(inputs).spec,
    }))
    .unwrap();
    let silent = network(Some("demo-vpc"), &[]);
    let later = wanted(Inputs { network: &silent, present: Some(&present), ..inputs });
    assert_eq!(later.spec["variablesFrom"], json!(present.spec.variables_from));
}

#[test]
fn every_variable_that_a_spec_can_give_is_known_by_name() {
    let everything = control_plane(&json!({
        "controlPlaneConfig": {
            "region": "ap-northeast-1",
            "endpointAccess": { "public": true, "private": false, "publicCIDRs": ["203.0.113.0/24"] },
            "addons": [{ "name": "vpc-cni" }],
        },
        "additionalTags": { "kubernetes.io/y": "z" },
    }));
    assert_eq!(variable_names(&everything), VARIABLES.into_iter().map(str::to_owned).collect());
    let given = &spec(&everything, &network(None, &[]), None)["variables"];
    assert!(given.as_object().unwrap().keys().all(|name| VARIABLES.contains(&name.as_str())), "{given}");
}
