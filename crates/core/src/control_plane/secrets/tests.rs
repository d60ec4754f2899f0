use serde_json::json;

use super::*;
use crate::certificate::CertificateAuthority;
use crate::certificate::fixtures::CA;

fn control_plane(name: &str) -> CAPTControlPlane {
    serde_json::from_value(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
        "metadata": { "name": name, "namespace": "a", "uid": "1" },
        "spec": { "version": "1.34", "workspaceTemplateRef": { "name": "eks" } },
    }))
    .unwrap()
}

fn source(access: Access) -> Source {
    let server = crate::endpoint::parse("https://api.example.com").unwrap();
    Source {
        endpoint: server.endpoint(),
        server,
        tls_server_name: None,
        certificate_authority: CertificateAuthority::parse(CA.as_bytes()).unwrap(),
        access,
        warnings: Vec::new(),
    }
}

fn given() -> Source {
    source(Access::AsGiven { kubeconfig: "given".into(), expires_at: None })
}

fn eks() -> Source {
    source(Access::Eks(EksAccess {
        cluster_name: "prod".to_owned(),
        region: "eu-west-1".to_owned(),
        role_arn: Some("arn:aws:iam::111122223333:role/capt".to_owned()),
        external_id: None,
    }))
}

fn token() -> Token {
    let times = Times {
        expires_at: "2026-01-01T00:14:00Z".parse().unwrap(),
        renew_at: "2026-01-01T00:09:00Z".parse().unwrap(),
    };
    Token { value: "k8s-aws-v1.x".into(), times }
}

fn names(secrets: &[WantedSecret]) -> Vec<&str> {
    secrets.iter().map(|secret| secret.name.as_str()).collect()
}

#[test]
fn a_kubeconfig_is_handed_out_as_it_was_given_under_both_names() {
    let secrets = wanted(&control_plane("cp"), "demo", &given(), None);
    assert_eq!(names(&secrets), ["demo-kubeconfig", "cp-control-plane-kubeconfig", "demo-ca"]);
    assert_eq!(secrets[0].content.expose_secret(), "given");
    assert_eq!(secrets[1].content.expose_secret(), "given");
    assert_eq!((secrets[2].key, secrets[2].content.expose_secret()), ("tls.crt", CA));
}

#[test]
fn eks_has_one_for_machines_with_a_token_and_one_for_people_without() {
    let secrets = wanted(&control_plane("demo"), "demo", &eks(), Some(&token()));
    let expected = ["demo-kubeconfig", "demo-control-plane-kubeconfig", "demo-ca", "demo-user-kubeconfig"];
    assert_eq!(names(&secrets), expected);
    assert!(secrets[0].content.expose_secret().contains("k8s-aws-v1.x"));
    assert!(!secrets[0].content.expose_secret().contains("exec"), "Cluster API refuses programs");
    let people = secrets[3].content.expose_secret();
    assert!(people.contains("get-token") && !people.contains("k8s-aws-v1."), "{people}");
    assert!(!people.contains("role/capt"), "people come as themselves");
}

#[test]
fn without_a_token_only_what_needs_none_is_made() {
    let secrets = wanted(&control_plane("demo"), "demo", &eks(), None);
    assert_eq!(names(&secrets), ["demo-ca", "demo-user-kubeconfig"]);
}

#[test]
fn names_that_meet_are_written_once() {
    let secrets = wanted(&control_plane("x"), "x-control-plane", &given(), None);
    assert_eq!(names(&secrets), ["x-control-plane-kubeconfig", "x-control-plane-ca"]);
}

#[test]
fn what_was_applied_is_as_it_should_be() {
    let owner = Owner::of(&control_plane("demo"));
    for wanted in wanted(&control_plane("demo"), "demo", &eks(), Some(&token())) {
        let mut object = wanted.object(&owner, "demo");
        let read = |object: &Value| serde_json::from_value::<Secret>(object.clone()).unwrap();
        assert!(wanted.is_met_by(&read(&object), &owner, "demo"), "{}", wanted.name);
        assert!(is_ours(&read(&object).metadata, &owner));
        object["data"] = json!({ wanted.key: "b3RoZXI=" });
        assert!(!wanted.is_met_by(&read(&object), &owner, "demo"), "{}", wanted.name);
    }
}

#[test]
fn a_secret_with_neither_our_owner_nor_our_label_is_not_ours() {
    let owner = Owner::of(&control_plane("demo"));
    let ours = |metadata: Value| is_ours(&serde_json::from_value(metadata).unwrap(), &owner);
    let reference = |name: &str, uid: &str| json!([{ "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": name, "uid": uid, "controller": true }]);
    let label = json!({ label::MANAGED_BY: MANAGED_BY_CAPT });
    assert!(!ours(json!({})));
    assert!(ours(json!({ "labels": label })), "restored without owners");
    assert!(ours(json!({ "ownerReferences": reference("demo", "old") })), "restored or moved");
    assert!(
        !ours(json!({ "ownerReferences": reference("other", "1"), "labels": label })),
        "another control plane's"
    );
}
