//! What is written can be read.

use rstest::rstest;
use secrecy::ExposeSecret as _;

use super::super::render::{EksUser, Target, for_people, with_token};
use super::*;
use crate::endpoint;

fn server(url: &str) -> ServerUrl {
    endpoint::parse_url(url).unwrap()
}

fn eks_user(role_arn: Option<&str>) -> EksUser {
    EksUser {
        cluster_name: "demo-eks".to_owned(),
        region: "ap-northeast-1".to_owned(),
        role_arn: role_arn.map(ToOwned::to_owned),
    }
}

#[test]
fn a_kubeconfig_with_a_token() {
    let authority = CertificateAuthority::parse(CA.as_bytes()).unwrap();
    let target = Target {
        cluster_name: "demo",
        server: &server("https://10.0.0.1:6443"),
        tls_server_name: Some("kubernetes"),
        certificate_authority: Some(&authority),
    };
    let content = with_token(target, &SecretString::from("hunter2"));
    let redacted = content.expose_secret().replace(&authority.base64(), "(the CA)");
    insta::assert_snapshot!(redacted, @r#"
    apiVersion: v1
    kind: Config
    clusters:
      - name: "demo"
        cluster:
          server: "https://10.0.0.1:6443"
          tls-server-name: "kubernetes"
          certificate-authority-data: "(the CA)"
    contexts:
      - name: "demo-admin@demo"
        context:
          cluster: "demo"
          user: "demo-admin"
    current-context: "demo-admin@demo"
    users:
      - name: "demo-admin"
        user:
          token: "hunter2"
    "#);
}

#[test]
fn a_kubeconfig_for_people() {
    let url = server("https://abc.gr7.ap-northeast-1.eks.amazonaws.com");
    let target =
        Target { cluster_name: "demo", server: &url, tls_server_name: None, certificate_authority: None };
    let content = for_people(target, &eks_user(Some("arn:aws:iam::123456789012:role/admin")));
    insta::assert_snapshot!(content, @r#"
    apiVersion: v1
    kind: Config
    clusters:
      - name: "demo"
        cluster:
          server: "https://abc.gr7.ap-northeast-1.eks.amazonaws.com"
    contexts:
      - name: "demo-user@demo"
        context:
          cluster: "demo"
          user: "demo-user"
    current-context: "demo-user@demo"
    users:
      - name: "demo-user"
        user:
          exec:
            apiVersion: client.authentication.k8s.io/v1beta1
            command: aws
            args:
              - "eks"
              - "get-token"
              - "--cluster-name"
              - "demo-eks"
              - "--region"
              - "ap-northeast-1"
              - "--role-arn"
              - "arn:aws:iam::123456789012:role/admin"
            installHint: "Install version 2 of the AWS CLI and sign in to AWS."
            interactiveMode: IfAvailable
            provideClusterInfo: false
    "#);
}

#[rstest]
#[case::plain("demo", "https://api.example.com", None, None, "hunter2")]
#[case::everything(
    "demo",
    "https://[::1]:6443/k8s/c-1",
    Some("api.internal"),
    Some(CA),
    "k8s-aws-v1.aHR0cHM6"
)]
#[case::name_like_a_truth_value("on", "https://api.example.com", None, None, "true")]
#[case::name_like_a_number("1e3", "https://api.example.com", None, None, "0x10")]
#[case::name_like_nothing("null", "https://api.example.com", None, None, "~")]
#[case::odd_characters(
    "a\"\\\n\u{85}é😀: #",
    "https://api.example.com",
    None,
    None,
    "\"'\\{}[]&*#?|-<>=!%@`"
)]
fn what_is_written_with_a_token_reads_the_same(
    #[case] name: &str,
    #[case] url: &str,
    #[case] tls_server_name: Option<&str>,
    #[case] authority: Option<&str>,
    #[case] token: &str,
) {
    let server = server(url);
    let authority = authority.map(|text| CertificateAuthority::parse(text.as_bytes()).unwrap());
    let target = Target {
        cluster_name: name,
        server: &server,
        tls_server_name,
        certificate_authority: authority.as_ref(),
    };
    let content = with_token(target, &SecretString::from(token));
    let read = parse(content.expose_secret().as_bytes()).unwrap();
    assert_eq!(read.cluster_name, name);
    assert_eq!(read.server, server);
    assert_eq!(read.tls_server_name.as_deref(), tls_server_name);
    assert_eq!(read.certificate_authority, authority);
    match read.user {
        User::Token { token: found, .. } | User::EksToken { token: found } => {
            assert_eq!(found.expose_secret(), token);
        }
        other => panic!("{other:?}"),
    }
}

#[rstest]
#[case::ambient(None)]
#[case::role(Some("arn:aws:iam::123456789012:role/admin"))]
fn what_is_written_for_people_reads_the_same(#[case] role_arn: Option<&str>) {
    let url = server("https://abc.gr7.ap-northeast-1.eks.amazonaws.com");
    let authority = CertificateAuthority::parse(CA.as_bytes()).unwrap();
    let target = Target {
        cluster_name: "demo",
        server: &url,
        tls_server_name: None,
        certificate_authority: Some(&authority),
    };
    let written = eks_user(role_arn);
    let read = parse(for_people(target, &written).as_bytes()).unwrap();
    assert_eq!((read.server, read.certificate_authority), (url, Some(authority)));
    let EksUser { cluster_name, region, role_arn } = written;
    match read.user {
        User::EksExec(exec) => assert_eq!(exec, EksExec { cluster_name, region: Some(region), role_arn }),
        other => panic!("{other:?}"),
    }
}
