//! The webhooks of the real Cluster API, by the configuration of its own module, on this machine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kube::Client;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use super::super::core::Core;

const PAUSE: Duration = Duration::from_millis(100);
const LISTENS_WITHIN: Duration = Duration::from_secs(60);

/// Waits until the core listens, and tells the API server of its webhooks.
pub(in super::super) async fn install(client: &Client, manifests: &Path, core: &Core) -> anyhow::Result<()> {
    let deadline = Instant::now() + LISTENS_WITHIN;
    while TcpStream::connect(("127.0.0.1", core.port)).await.is_err() {
        core.ensure_running()?;
        ensure!(Instant::now() < deadline, "no webhook of Cluster API listens:\n{}", core.tail());
        sleep(PAUSE).await;
    }
    let text = fs::read_to_string(manifests).with_context(|| format!("reading {}", manifests.display()))?;
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text)?;
    let mut count = 0;
    for mut object in objects {
        count += turn(&mut object, core.port, &core.certificate)?;
        let parameters = PostParams::default();
        if object["kind"] == "MutatingWebhookConfiguration" {
            let webhooks: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
            webhooks.create(&parameters, &serde_json::from_value(object)?).await?;
        } else {
            let webhooks: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
            webhooks.create(&parameters, &serde_json::from_value(object)?).await?;
        }
    }
    ensure!(count > 1, "{} has only {count} webhooks", manifests.display());
    println!("ok: {count} webhooks of Cluster API are asked on this machine");
    Ok(())
}

/// Turns every webhook of a configuration from a Service to this machine; answers with how many there are.
fn turn(configuration: &mut Value, port: u16, certificate: &str) -> anyhow::Result<usize> {
    let webhooks = configuration["webhooks"].as_array_mut().context("a configuration without webhooks")?;
    for webhook in webhooks.iter_mut() {
        let path = webhook["clientConfig"]["service"]["path"].as_str().context("a webhook without a path")?;
        webhook["clientConfig"] = json!({
            "url": format!("https://127.0.0.1:{port}{path}"),
            "caBundle": STANDARD.encode(certificate),
        });
    }
    Ok(webhooks.len())
}
