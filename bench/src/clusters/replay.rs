//! Makes the writes of a burst again, on an API server where nobody works: what nobody can undercut.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context;
use capt_api::names::annotation;
use capt_testkit::TestCluster;
use futures::{StreamExt, TryStreamExt, stream};
use http::Request;
use http::header::CONTENT_TYPE;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use super::recorder::Written;
use super::stage::bare;

/// The writes of each cluster go one after the other, those of so many clusters at the same time.
pub(super) async fn measure(writes: &[Written], prefix: &str, concurrency: u16) -> anyhow::Result<Duration> {
    let server: TestCluster = bare().await?;
    let client = server.client();
    let mut clusters = BTreeMap::<_, Vec<_>>::new();
    for written in writes {
        let written = without_identity(written)?;
        let cluster = cluster(&written, prefix).with_context(|| format!("whose is {}?", written.path))?;
        clusters.entry(cluster).or_default().push((client.clone(), written));
    }
    // The first request opens the connection.
    client.apiserver_version().await.context("asking for the version")?;
    in_lanes(clusters.into_values(), concurrency).await
}

/// Makes the writes of each lane one after the other, those of so many lanes at the same time. Answers how long it took.
pub(crate) async fn in_lanes(
    lanes: impl IntoIterator<Item = Vec<(Client, Written)>>,
    concurrency: u16,
) -> anyhow::Result<Duration> {
    let started = Instant::now();
    stream::iter(lanes)
        .map(async |writes| {
            for (client, written) in writes {
                send(&client, written).await?;
            }
            anyhow::Ok(())
        })
        .buffer_unordered(concurrency.into())
        .try_collect::<()>()
        .await?;
    Ok(started.elapsed())
}

async fn send(client: &Client, written: Written) -> anyhow::Result<()> {
    let Written { method, path, content_type, body } = written;
    let request = Request::builder().method(method).uri(&path).header(CONTENT_TYPE, content_type);
    let answer = client.send(request.body(Body::from(body))?).await.with_context(|| path.clone())?;
    let status = answer.status();
    let body = answer.into_body().collect_bytes().await.with_context(|| path.clone())?;
    anyhow::ensure!(status.is_success(), "{path}: {status}: {}", String::from_utf8_lossy(&body));
    Ok(())
}

/// The number of the cluster that an object belongs to, by its name, by that of the object that an Event is about, or by whose it
/// says it is.
pub(crate) fn cluster(written: &Written, prefix: &str) -> Option<u32> {
    let body: Value = serde_json::from_slice(&written.body).ok()?;
    let claim = body["metadata"]["annotations"][annotation::ADDON].as_str();
    let name = claim.or_else(|| body["regarding"]["name"].as_str()).or_else(|| {
        let path = written.path.split('?').next()?.trim_end_matches("/status");
        path.rsplit('/').next()
    })?;
    let (_, rest) = name.split_once(&format!("{prefix}-"))?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Objects have other identities here, and what is owned by objects that are not there is taken for garbage. As many bytes are
/// written all the same.
pub(crate) fn without_identity(written: &Written) -> anyhow::Result<Written> {
    let mut body: Value = serde_json::from_slice(&written.body).context("reading what was written")?;
    if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("uid");
        metadata.remove("resourceVersion");
        if let Some(owners) = metadata.remove("ownerReferences") {
            let padding = "x".repeat(owners.to_string().len());
            let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
            annotations["capt-bench/owners"] = json!(padding);
        }
    }
    Ok(Written { body: serde_json::to_vec(&body)?, ..written.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    fn written(path: &str, body: &Value) -> Written {
        let body = serde_json::to_vec(body).unwrap();
        Written { method: Method::PATCH, path: path.to_owned(), content_type: String::new(), body }
    }

    #[test]
    fn a_write_belongs_to_the_cluster_that_its_object_is_named_after() {
        let of = |path: &str, body: &Value| cluster(&written(path, body), "burst");
        let none = json!({});
        assert_eq!(of("/apis/a/v1/namespaces/default/clusters/burst-7/status?force=true", &none), Some(7));
        assert_eq!(of("/api/v1/namespaces/default/secrets/burst-12-kubeconfig", &none), Some(12));
        let event = json!({ "regarding": { "name": "burst-3-eks-controlplane" } });
        assert_eq!(of("/apis/events.k8s.io/v1/namespaces/default/events?", &event), Some(3));
        assert_eq!(of("/apis/a/v1/namespaces/default/addonstackbindings/stack.burst-4", &none), Some(4));
        let claimed =
            json!({ "metadata": { "annotations": { annotation::ADDON: "default/burst-5/stack/one" } } });
        assert_eq!(of("/api/v1/namespaces/kube-system/configmaps/capt-addon-1", &claimed), Some(5));
        assert_eq!(of("/api/v1/namespaces/default/secrets/other", &none), None);
    }

    #[test]
    fn an_object_is_made_again_without_the_identities_of_others() {
        let body = json!({ "metadata": {
            "name": "burst-1", "uid": "u", "resourceVersion": "1", "ownerReferences": [{ "uid": "o" }],
        } });
        let made = without_identity(&written("/x", &body)).unwrap();
        let made: Value = serde_json::from_slice(&made.body).unwrap();
        let padding = "x".repeat(r#"[{"uid":"o"}]"#.len());
        let annotations = json!({ "capt-bench/owners": padding });
        assert_eq!(made, json!({ "metadata": { "name": "burst-1", "annotations": annotations } }));
    }
}
