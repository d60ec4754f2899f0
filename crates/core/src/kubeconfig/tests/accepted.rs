//! What can be used.

use rstest::rstest;
use secrecy::ExposeSecret as _;

use super::*;
use crate::certificate::fixtures::{CLIENT, KEY};

#[test]
fn the_cluster_of_the_current_context_is_read() {
    let kubeconfig = parse(kubeconfig(&good_cluster(), "token: t").as_bytes()).unwrap();
    assert_eq!(kubeconfig.cluster_name, "demo");
    assert_eq!(kubeconfig.server.to_string(), "https://api.example.com:6443");
    assert_eq!(kubeconfig.tls_server_name, None);
    assert_eq!(kubeconfig.certificate_authority, CertificateAuthority::parse(CA.as_bytes()).ok());
    assert!(!kubeconfig.is_eks());
}

#[test]
fn other_fields_and_entries_do_not_matter() {
    let content = kubeconfig(
        "server: https://rancher.example.com/k8s/clusters/c-1\ntls-server-name: api.internal\nextensions: [1]",
        "token: t\nfuture: {a: b}",
    ) + "  - name: other\n    user:\n      exec: {command: rm}\npreferences: {colors: true}\n";
    let kubeconfig = parse(content.as_bytes()).unwrap();
    assert_eq!(kubeconfig.server.path(), "/k8s/clusters/c-1");
    assert_eq!(kubeconfig.tls_server_name.as_deref(), Some("api.internal"));
    assert_eq!(kubeconfig.certificate_authority, None);
}

#[rstest]
#[case::compact("")]
#[case::with_blanks("\n  ")]
#[case::with_tabs("\n\t")]
fn json_will_do(#[case] indentation: &str) {
    let content = r#"{"clusters":[{"name":"c","cluster":{"server":"https://a.b"}}],
"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"users":[{"name":"u","user":{"token":"t"}}],
"current-context":"c"}"#;
    let content = content.replace('\n', indentation);
    assert_eq!(parse(content.as_bytes()).unwrap().server.host(), "a.b");
}

#[test]
fn a_byte_order_mark_does_no_harm() {
    let content = format!("\u{feff}{}", kubeconfig(&good_cluster(), "token: t"));
    assert!(parse(content.as_bytes()).is_ok());
}

#[test]
fn a_client_certificate_is_known_by_its_end() {
    let certificate =
        format!("client-certificate-data: {}\nclient-key-data: {}", base64(CLIENT), base64(KEY));
    for fields in [certificate.clone(), format!("{certificate}\ntoken: t")] {
        let end = user(&fields).unwrap().expires_at().unwrap();
        assert_eq!(end.to_string(), "2025-01-01T00:00:00Z");
    }
}

#[test]
fn a_token_is_kept() {
    let User::Token { token, expires_at: None } = user("token: hunter2").unwrap() else { panic!("no token") };
    assert_eq!(token.expose_secret(), "hunter2");
}

#[test]
fn a_password_will_do() {
    assert!(matches!(user("username: admin\npassword: hunter2").unwrap(), User::Password));
}

#[rstest]
#[case::token("token: hunter2")]
#[case::eks_token("token: k8s-aws-v1.hunter2")]
#[case::password("username: admin\npassword: hunter2")]
fn credentials_are_not_shown(#[case] fields: &str) {
    let kubeconfig = parse(kubeconfig(&good_cluster(), fields).as_bytes()).unwrap();
    assert!(!format!("{kubeconfig:?}").contains("hunter2"));
}
