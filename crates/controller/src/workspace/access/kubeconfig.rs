//! Writes a kubeconfig.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_terraform::Secret as Hidden;
use serde_json::{Value, json};

use crate::options::Server;

/// A kubeconfig with everything inline, as JSON: every reader of YAML reads it, and nothing needs quoting.
pub(super) fn text(server: &Server, namespace: &str, token: &Hidden) -> Hidden {
    let mut cluster = json!({ "server": server.address });
    if let Some(authority) = &server.certificate_authority {
        cluster["certificate-authority-data"] = json!(STANDARD.encode(authority));
    }
    if let Some(name) = &server.server_name {
        cluster["tls-server-name"] = json!(name);
    }
    let token = String::from_utf8_lossy(token.expose());
    let config: Value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "capt",
        "contexts": [{ "name": "capt", "context": { "cluster": "capt", "user": "capt", "namespace": namespace } }],
        "clusters": [{ "name": "capt", "cluster": cluster }],
        "users": [{ "name": "capt", "user": { "token": token } }],
    });
    Hidden::new(config.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(server: &Server) -> Value {
        serde_json::from_slice(text(server, "team-a", &Hidden::from("t")).expose()).unwrap()
    }

    #[test]
    fn what_the_server_does_not_have_is_not_written() {
        let server = Server { address: "https://[::1]:6443".to_owned(), ..Server::default() };
        assert_eq!(written(&server)["clusters"][0]["cluster"], json!({ "server": "https://[::1]:6443" }));
    }

    #[test]
    fn authority_and_name_of_the_server_are_carried() {
        let server = Server {
            address: "https://10.0.0.1".to_owned(),
            certificate_authority: Some("PEM".to_owned()),
            server_name: Some("kubernetes.default.svc".to_owned()),
        };
        let cluster = &written(&server)["clusters"][0]["cluster"];
        assert_eq!(cluster["certificate-authority-data"], "UEVN");
        assert_eq!(cluster["tls-server-name"], "kubernetes.default.svc");
    }
}
