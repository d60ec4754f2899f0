//! The file by which clients find the API server and show who they are.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::authority::Leaf;

/// A kubeconfig with everything inline. All its values are URLs, names of ours or base64, so none needs quoting.
pub(crate) fn text(server: &str, authority: &str, client: &Leaf) -> String {
    let authority = STANDARD.encode(authority);
    let certificate = STANDARD.encode(&client.certificate);
    let key = STANDARD.encode(&client.key);
    format!(
        "apiVersion: v1
kind: Config
current-context: capt
contexts:
- name: capt
  context:
    cluster: capt
    user: capt
clusters:
- name: capt
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: capt
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
"
    )
}
