//! What one cluster asks of the API server.

use serde_json::{Value, json};

use super::manifests::Network;
use super::recorder::{Asked, Who, table};
use super::stage::{LONG_QUIET, Stage};

/// Brings one cluster up with a network that is there, and one with a network by template.
pub(super) async fn measure(stage: &Stage) -> anyhow::Result<Value> {
    // What a manager asks for only once is not the first cluster's.
    stage.settle("warm", 1).await?;
    Ok(json!({
        "existing_network": one(stage, "existing", Network::Existing).await?,
        "network_by_template": one(stage, "template", Network::Template).await?,
    }))
}

async fn one(stage: &Stage, name: &str, network: Network) -> anyhow::Result<Value> {
    stage.recorder.take();
    stage.put_cluster(name, network).await?;
    stage.ready.all(&[name.to_owned()]).await?;
    let until_ready = stage.recorder.count(counts);
    stage.recorder.quiet(LONG_QUIET).await;
    let asked: Vec<_> = stage.recorder.take().into_iter().filter(|asked| asked.who == Who::Manager).collect();
    let (told, rest): (Vec<_>, Vec<_>) = asked
        .iter()
        .filter(|asked| !asked.is_watch() && !asked.is_lease())
        .partition(|asked| asked.is_event());
    Ok(json!({
        "until_ready": until_ready,
        "until_settled": rest.len(),
        "of_these_refused": rest.iter().filter(|asked| !asked.succeeded).count(),
        "watches": asked.iter().filter(|asked| asked.is_watch()).count(),
        "events": told.len(),
        "by_verb_and_resource": table(rest),
    }))
}

/// Neither watches nor leadership nor Events.
fn counts(asked: &Asked) -> bool {
    !asked.is_watch() && !asked.is_lease() && !asked.is_event()
}
