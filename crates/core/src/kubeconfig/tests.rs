mod accepted;
mod documents;
mod eks;
mod expiry;
mod refused;
mod rendered;
mod robust;

use super::*;
use crate::certificate::fixtures::{CA, base64};

/// A kubeconfig whose cluster and user have these fields.
fn kubeconfig(cluster: &str, user: &str) -> String {
    let indented = |fields: &str| fields.replace('\n', "\n      ");
    format!(
        "apiVersion: v1
kind: Config
current-context: admin@demo
contexts:
  - name: admin@demo
    context:
      cluster: demo
      user: admin
clusters:
  - name: demo
    cluster:
      {}
users:
  - name: admin
    user:
      {}
",
        indented(cluster),
        indented(user)
    )
}

/// The fields of a cluster that is as it should be.
fn good_cluster() -> String {
    format!("server: https://api.example.com:6443\ncertificate-authority-data: {}", base64(CA))
}

/// The user of a kubeconfig whose user has these fields.
fn user(fields: &str) -> Result<User, Invalid> {
    parse(kubeconfig(&good_cluster(), fields).as_bytes()).map(|kubeconfig| kubeconfig.user)
}

/// The sentence about what cannot be read.
fn sentence(content: impl AsRef<[u8]>) -> String {
    parse(content.as_ref()).unwrap_err().to_string()
}
