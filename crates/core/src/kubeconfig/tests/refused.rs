//! Clusters and users that cannot be used.

use rstest::rstest;

use super::*;
use crate::certificate::fixtures::{CLIENT, KEY};

#[rstest]
#[case::no_server(
    "{}",
    "server",
    "is missing; give the URL of the API server, such as https://api.example.com:6443"
)]
#[case::empty_server(
    "server: ''",
    "server",
    "is missing; give the URL of the API server, such as https://api.example.com:6443"
)]
#[case::no_url(
    "server: api.example.com:6443",
    "server",
    "is not a URL; write it with its scheme, such as https://api.example.com:6443"
)]
#[case::plain_http(
    "server: http://api.example.com:8080",
    "server",
    "begins with http://, which would send credentials in clear text; use https://"
)]
#[case::password_in_the_url(
    "server: https://admin:hunter2@api.example.com",
    "server",
    "has a user name or password before the host; remove it: credentials belong to the kubeconfig's user"
)]
#[case::server_with_a_line_break(
    "server: |\n  https://api.example.com",
    "server",
    "contains a blank, a line break or another character that no URL has; remove it"
)]
#[case::ca_without_base64(
    "server: https://api.example.com\ncertificate-authority-data: '-----BEGIN CERTIFICATE-----'",
    "certificate-authority-data",
    "is PEM, but has to be base64 of PEM; wrap it in base64encode()"
)]
#[case::ca_not_base64(
    "server: https://api.example.com\ncertificate-authority-data: hunter2!",
    "certificate-authority-data",
    "is not base64; give base64 of PEM, as base64encode() makes it"
)]
#[case::ca_not_pem(
    "server: https://api.example.com\ncertificate-authority-data: aHVudGVyMg==",
    "certificate-authority-data",
    "is base64, but not of PEM; give base64 of what the certificate file holds"
)]
#[case::ca_that_is_a_number(
    "server: https://api.example.com\ncertificate-authority-data: 17",
    "certificate-authority-data",
    "is not a text; put it in quotes"
)]
#[case::ca_in_a_file(
    "server: https://api.example.com\ncertificate-authority: /etc/ca.crt",
    "certificate-authority",
    "is the path of a file, and CAPT reads no files that a kubeconfig names; put the content into `certificate-authority-data`"
)]
#[case::no_verification(
    "server: https://api.example.com\ninsecure-skip-tls-verify: true",
    "insecure-skip-tls-verify",
    "is true, so that anybody could pass for the API server; remove it, and give the CA in `certificate-authority-data`"
)]
#[case::perhaps_no_verification(
    "server: https://api.example.com\ninsecure-skip-tls-verify: 'no'",
    "insecure-skip-tls-verify",
    "is neither true nor false; correct it"
)]
#[case::proxy(
    "server: https://api.example.com\nproxy-url: http://admin:hunter2@proxy.example.com",
    "proxy-url",
    "names a proxy, and CAPT sends no credentials through one that a kubeconfig names; remove it"
)]
#[case::odd_tls_server_name(
    "server: https://api.example.com\ntls-server-name: 'a b'",
    "tls-server-name",
    "is not a host name; give the name that the API server's certificate is for, or remove it"
)]
fn unusable_clusters_are_refused(#[case] cluster: &str, #[case] field: &str, #[case] expected: &str) {
    let told = sentence(kubeconfig(cluster, "token: t"));
    assert_eq!(told, format!("`clusters[demo].cluster.{field}` {expected}"));
}

#[rstest]
#[case::key(KEY, "holds a private key, which does not belong there; give certificates only")]
#[case::damaged(
    "-----BEGIN CERTIFICATE-----\nMIIB",
    "holds damaged PEM: an END line is missing or a line is not base64; give it with all its line breaks"
)]
#[case::no_certificate(
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "holds a certificate that cannot be read; give it as its issuer made it"
)]
fn authorities_that_are_no_certificates_are_refused(#[case] authority: &str, #[case] expected: &str) {
    let cluster =
        format!("server: https://api.example.com\ncertificate-authority-data: {}", base64(authority));
    let told = sentence(kubeconfig(&cluster, "token: t"));
    assert_eq!(told, format!("`clusters[demo].cluster.certificate-authority-data` {expected}"));
}

#[rstest]
#[case::nothing(
    "{}",
    "",
    "has no credentials; give `token`, or `client-certificate-data` and `client-key-data`"
)]
#[case::empty_token(
    "token: ''",
    "",
    "has no credentials; give `token`, or `client-certificate-data` and `client-key-data`"
)]
#[case::user_name_alone(
    "username: admin",
    "",
    "has no credentials; give `token`, or `client-certificate-data` and `client-key-data`"
)]
#[case::token_file(
    "token: t\ntokenFile: /var/run/token",
    ".tokenFile",
    "is the path of a file, and CAPT reads no files that a kubeconfig names; put the content into `token`"
)]
#[case::certificate_file(
    "client-certificate: /c.crt\nclient-key: /c.key",
    ".client-certificate",
    "is the path of a file, and CAPT reads no files that a kubeconfig names; put the content into `client-certificate-data`"
)]
#[case::key_file(
    "client-certificate-data: x\nclient-key: /c.key",
    ".client-key",
    "is the path of a file, and CAPT reads no files that a kubeconfig names; put the content into `client-key-data`"
)]
#[case::certificate_alone(
    "client-certificate-data: aHVudGVyMg==",
    ".client-key-data",
    "is missing, while `client-certificate-data` is there; give both"
)]
#[case::key_alone(
    "client-key-data: aHVudGVyMg==",
    ".client-certificate-data",
    "is missing, while `client-key-data` is there; give both"
)]
#[case::certificate_that_is_none(
    "client-certificate-data: aHVudGVyMg==\nclient-key-data: aHVudGVyMg==",
    ".client-certificate-data",
    "is base64, but not of PEM; give base64 of what the certificate file holds"
)]
#[case::auth_provider(
    "auth-provider:\n  name: gcp",
    ".auth-provider",
    "is an auth provider, which no client knows any longer; give `token`, or a client certificate"
)]
#[case::token_with_a_line_break(
    "token: |\n  hunter2",
    ".token",
    "holds a blank, a line break or another character that no token has; remove it, for example with trimspace()"
)]
#[case::token_with_a_blank(
    "token: Bearer hunter2",
    ".token",
    "holds a blank, a line break or another character that no token has; remove it, for example with trimspace()"
)]
#[case::token_that_is_a_number("token: 123456", ".token", "is not a text; put it in quotes")]
#[case::token_and_password(
    "token: hunter2\nusername: admin\npassword: hunter2",
    "",
    "has both a token and a password, which no client takes; remove one of them"
)]
#[case::impersonation(
    "token: k8s-aws-v1.hunter2\nas: somebody",
    ".as",
    "lets the user act as somebody else, which the tokens that CAPT makes for EKS cannot carry; remove it"
)]
#[case::text_for_a_mapping("hunter2", "", "is not a mapping; write it as fields with values")]
fn unusable_users_are_refused(#[case] fields: &str, #[case] field: &str, #[case] expected: &str) {
    let told = user(fields).unwrap_err().to_string();
    assert_eq!(told, format!("`users[admin].user{field}` {expected}"));
    assert!(!told.contains("hunter2") && !told.contains("aHVudGVyMg"));
}

#[rstest]
#[case::key_for_a_certificate(
    KEY,
    KEY,
    "client-certificate-data",
    "holds a private key, which does not belong there; give certificates only"
)]
#[case::certificate_for_a_key(
    CLIENT,
    CLIENT,
    "client-key-data",
    "holds no private key that can be used without a password; give it in PEM, not encrypted"
)]
fn certificate_and_key_are_told_apart(
    #[case] certificate: &str,
    #[case] key: &str,
    #[case] field: &str,
    #[case] expected: &str,
) {
    let fields =
        format!("client-certificate-data: {}\nclient-key-data: {}", base64(certificate), base64(key));
    let told = user(&fields).unwrap_err().to_string();
    assert_eq!(told, format!("`users[admin].user.{field}` {expected}"));
}
