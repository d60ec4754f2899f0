//! How soon `<cluster>-kubeconfig` follows its connection Secret.
//!
//! Beside it, in turn, one server-side apply of a Secret of the same size, until the same watch shows that: what nobody can
//! undercut.

use std::time::{Duration, Instant};

use anyhow::Context;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::manifests::{self, ENDPOINT, NAMESPACE};
use super::stage::{Stage, patch};
use crate::figures::Figures;

const DEADLINE: Duration = Duration::from_secs(60);
/// What follows from a change, as status and Events, is not the next one's.
const QUIET: Duration = Duration::from_millis(100);

pub(super) async fn measure(stage: &Stage, names: &[String], changes: usize) -> anyhow::Result<Value> {
    let secrets: Api<Secret> = Api::namespaced(stage.unheard(), NAMESPACE);
    let mut seen = watch(stage.unheard());
    let (mut raw, mut through) = (Figures::default(), Figures::default());
    for change in 0..changes {
        let name = &names[change % names.len()];
        let token = format!("change-{change}");
        let data = manifests::connection(&stage.authority, &format!("{name}-eks-controlplane"), &token);
        let secret = manifests::secret(&format!("{name}-eks-connection"), &data);
        let started = Instant::now();
        patch(&secrets, &secret).await?;
        shown(&mut seen, &format!("{name}-kubeconfig"), &token).await?;
        through.add(started.elapsed());
        stage.recorder.quiet(QUIET).await;

        let token = format!("raw-{change}");
        let data = json!({ "value": manifests::kubeconfig(ENDPOINT, &stage.authority, &token) });
        let secret = manifests::secret("raw", &data);
        let started = Instant::now();
        patch(&secrets, &secret).await?;
        shown(&mut seen, "raw", &token).await?;
        raw.add(started.elapsed());
    }
    let ratio = |ours: Duration, other: Duration| ours.as_secs_f64() / other.as_secs_f64();
    Ok(json!({
        "changed": through.to_json(),
        "raw_apply": raw.to_json(),
        "ratio_p50": ratio(through.percentile(50), raw.percentile(50)),
        "ratio_p99": ratio(through.percentile(99), raw.percentile(99)),
        "ratio_p99_to_raw_p50": ratio(through.percentile(99), raw.percentile(50)),
    }))
}

/// Every change of a Secret with a kubeconfig, as name and content.
fn watch(client: Client) -> UnboundedReceiver<(String, String)> {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let secrets: Api<Secret> = Api::namespaced(client, NAMESPACE);
        let mut changes =
            watcher(secrets, watcher::Config::default()).default_backoff().applied_objects().boxed();
        while let Some(Ok(secret)) = changes.next().await {
            let content = secret.data.as_ref().and_then(|data| data.get("value"));
            let content = content.map(|content| String::from_utf8_lossy(&content.0).into_owned());
            let Some(content) = content else { continue };
            if sender.send((secret.name_any(), content)).is_err() {
                return;
            }
        }
    });
    receiver
}

async fn shown(
    seen: &mut UnboundedReceiver<(String, String)>,
    name: &str,
    token: &str,
) -> anyhow::Result<()> {
    let line = format!("token: {token}\n");
    let shown = async {
        while let Some((secret, content)) = seen.recv().await {
            if secret == name && content.contains(&line) {
                return true;
            }
        }
        false
    };
    let shown = tokio::time::timeout(DEADLINE, shown)
        .await
        .with_context(|| format!("{name} did not show {token}"))?;
    anyhow::ensure!(shown, "the watch of Secrets ended");
    Ok(())
}
