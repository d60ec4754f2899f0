//! Writing kubeconfigs: one for Cluster API, with a token, and one for people, with the program that makes tokens.
//!
//! Every text is quoted: what YAML's versions make of a cluster named `on` or `1e3` is not to matter.

use std::fmt::{self, Write as _};

use secrecy::{ExposeSecret as _, SecretString};

use crate::certificate::CertificateAuthority;
use crate::endpoint::ServerUrl;

/// The cluster that a kubeconfig is for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'facts> {
    /// The name of the Cluster; the names of cluster, context and user are made of it.
    pub cluster_name: &'facts str,
    /// Where the API server is.
    pub server: &'facts ServerUrl,
    /// The name that the API server's certificate is checked for, where it is not the host's.
    pub tls_server_name: Option<&'facts str>,
    /// What the API server's certificate is checked with; the public CAs where nothing is said.
    pub certificate_authority: Option<&'facts CertificateAuthority>,
}

/// What people need for tokens of an EKS cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EksUser {
    /// The cluster's name in EKS.
    pub cluster_name: String,
    /// Its region.
    pub region: String,
    /// The role to assume before asking for a token.
    pub role_arn: Option<String>,
}

/// A kubeconfig with a token.
pub fn with_token(target: Target<'_>, token: &SecretString) -> SecretString {
    let user = format!("      token: {}\n", Quoted(token.expose_secret()));
    SecretString::from(document(target, "admin", &user))
}

/// A kubeconfig without secrets, which asks the AWS CLI of whoever uses it for a token.
pub fn for_people(target: Target<'_>, user: &EksUser) -> String {
    let EksUser { cluster_name, region, role_arn } = user;
    let role = role_arn.iter().flat_map(|role| ["--role-arn", role]);
    let arguments = ["eks", "get-token", "--cluster-name", cluster_name, "--region", region];
    let mut lines = String::from(
        "      exec:\n        apiVersion: client.authentication.k8s.io/v1beta1\n        command: aws\n        args:\n",
    );
    for argument in arguments.into_iter().chain(role) {
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "          - {}", Quoted(argument));
    }
    lines += "        installHint: \"Install version 2 of the AWS CLI and sign in to AWS.\"\n";
    lines += "        interactiveMode: IfAvailable\n        provideClusterInfo: false\n";
    document(target, "user", &lines)
}

fn document(target: Target<'_>, role: &str, user: &str) -> String {
    let Target { cluster_name, server, tls_server_name, certificate_authority } = target;
    let user_name = format!("{cluster_name}-{role}");
    let context = format!("{user_name}@{cluster_name}");
    let [cluster_name, user_name, context] = [cluster_name, &user_name, &context].map(Quoted);
    let tls_server_name =
        tls_server_name.map(|name| format!("      tls-server-name: {}\n", Quoted(name))).unwrap_or_default();
    let certificate_authority = certificate_authority
        .map(|authority| format!("      certificate-authority-data: {}\n", Quoted(&authority.base64())))
        .unwrap_or_default();
    format!(
        "apiVersion: v1
kind: Config
clusters:
  - name: {cluster_name}
    cluster:
      server: \"{server}\"
{tls_server_name}{certificate_authority}contexts:
  - name: {context}
    context:
      cluster: {cluster_name}
      user: {user_name}
current-context: {context}
users:
  - name: {user_name}
    user:
{user}"
    )
}

/// A text in double quotes, in nothing but ASCII.
pub(super) struct Quoted<'text>(pub(super) &'text str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(formatter, "\\{character}")?,
                ' '..='~' => formatter.write_char(character)?,
                _ => write!(formatter, "\\U{:08X}", u32::from(character))?,
            }
        }
        formatter.write_char('"')
    }
}
