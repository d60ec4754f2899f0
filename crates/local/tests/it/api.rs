//! A very small client of the API server.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

pub(crate) struct Api {
    agent: ureq::Agent,
    server: String,
}

impl Api {
    pub(crate) fn of(kubeconfig: &str) -> Self {
        let pem = |field: &str| STANDARD.decode(field_of(kubeconfig, field)).unwrap();
        let authority = Certificate::from_pem(&pem("certificate-authority-data")).unwrap();
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[authority]));
        let agent = agent(tls.client_cert(Some(client_certificate(kubeconfig))).build());
        Self { agent, server: field_of(kubeconfig, "server").to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value, ureq::Error> {
        let text = self.agent.get(format!("{}{path}", self.server)).call()?.body_mut().read_to_string()?;
        Ok(serde_json::from_str(&text).unwrap())
    }

    pub(crate) fn post(&self, path: &str, object: &Value) -> Result<(), ureq::Error> {
        let request = self.agent.post(format!("{}{path}", self.server));
        request.header("content-type", "application/json").send(object.to_string()).map(drop)
    }
}

pub(crate) fn client_certificate(kubeconfig: &str) -> ClientCert {
    let pem = |field: &str| STANDARD.decode(field_of(kubeconfig, field)).unwrap();
    let certificate = Certificate::from_pem(&pem("client-certificate-data")).unwrap();
    ClientCert::new_with_certs(&[certificate], PrivateKey::from_pem(&pem("client-key-data")).unwrap())
}

pub(crate) fn agent(tls: TlsConfig) -> ureq::Agent {
    ureq::Agent::config_builder().tls_config(tls).proxy(None).build().into()
}

fn field_of<'a>(kubeconfig: &'a str, field: &str) -> &'a str {
    let mut lines = kubeconfig.lines().map(str::trim);
    lines.find_map(|line| line.strip_prefix(&format!("{field}: "))).unwrap()
}
