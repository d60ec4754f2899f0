//! The file by which clients find the API server and show who they are.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::authority::Leaf;

/// A kubeconfig with everything inline, in which cluster, user and context have this name.
///
/// URLs and base64 need no quoting; a name does, since it may read like a number.
pub(crate) fn text(name: &str, server: &str, authority: &str, client: &Leaf) -> String {
    let name = serde_json::Value::from(name);
    let authority = STANDARD.encode(authority);
    let certificate = STANDARD.encode(&client.certificate);
    let key = STANDARD.encode(&client.key);
    format!(
        "apiVersion: v1
kind: Config
current-context: {name}
contexts:
- name: {name}
  context:
    cluster: {name}
    user: {name}
clusters:
- name: {name}
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: {name}
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
"
    )
}
