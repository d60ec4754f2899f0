//! Modules that Flux keeps.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use capt_api::flux::GitRepository;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::modules::touching;
use super::stage::EngineStage;
use crate::stage::cluster;

/// The kind of Flux, with room for anything.
fn definition() -> CustomResourceDefinition {
    let free = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "gitrepositories.source.toolkit.fluxcd.io" },
        "spec": {
            "group": "source.toolkit.fluxcd.io",
            "scope": "Namespaced",
            "names": { "kind": "GitRepository", "plural": "gitrepositories", "singular": "gitrepository" },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": free, "status": free } } },
            }],
        },
    }))
    .unwrap()
}

/// An archive of a module in the directory `network`.
fn archive(module: &str) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(encoder);
    let mut header = tar::Header::new_gnu();
    header.set_size(module.len() as u64);
    header.set_mode(0o644);
    builder.append_data(&mut header, "network/main.tf", module.as_bytes()).unwrap();
    builder.into_inner().unwrap().finish().unwrap()
}

/// Serves one archive after the other, as Flux's source controller does.
#[derive(Clone)]
struct Server {
    address: String,
    archive: Arc<Mutex<Vec<u8>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/module.tar.gz", listener.local_addr().unwrap());
        let server = Self { address, archive: Arc::default() };
        let archive = Arc::clone(&server.archive);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                    line.clear();
                }
                let content = archive.lock().unwrap().clone();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    content.len()
                );
                // Whoever has gone away needs no answer.
                let _ = reader.get_mut().write_all(&[head.as_bytes(), &content].concat());
            }
        });
        server
    }

    /// Offers a module from now on.
    async fn offer(&self, stage: &EngineStage, module: &str) {
        let content = archive(module);
        let mut digest = String::new();
        for byte in Sha256::digest(&content) {
            write!(digest, "{byte:02x}").unwrap();
        }
        *self.archive.lock().unwrap() = content;
        let status = json!({ "status": { "artifact": {
            "url": self.address, "digest": format!("sha256:{digest}"), "revision": format!("main@{digest}"),
            "lastUpdateTime": "2026-01-01T00:00:00Z",
        } } });
        let repositories = stage.stage.api::<GitRepository>();
        repositories.patch_status("modules", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_module_that_flux_keeps_is_followed_and_not_needed_for_the_destroy() {
    cluster().await.apply_crds(&[definition()]).await;
    let stage = EngineStage::set().await;
    let address = format!("GitRepository::{}/modules", stage.namespace());
    let spec = json!({ "forProvider": { "source": "Flux", "module": address, "entrypoint": "network" } });
    let name = stage.put_spec("demo", spec, json!({})).await;
    stage.condition(&name, "Synced", "False", "does not exist").await;
    stage.stage.put::<GitRepository>(json!({ "metadata": { "name": "modules" }, "spec": {} })).await;
    stage.condition(&name, "Synced", "False", "has no artifact yet").await;

    let server = Server::start();
    let module = touching(&stage.file("real"));
    server.offer(&stage, &module).await;
    stage.ready(&name).await;
    assert!(stage.file("real").exists());
    server.offer(&stage, &format!("{module}output \"more\" {{ value = \"new\" }}\n")).await;
    stage.output(&name, "more", json!("new")).await;

    stage.stage.api::<GitRepository>().delete("modules", &DeleteParams::default()).await.unwrap();
    stage.condition(&name, "Synced", "False", "does not exist").await;
    stage.delete_apply("demo").await;
    stage.gone(&name).await;
    assert!(!stage.file("real").exists());
}
