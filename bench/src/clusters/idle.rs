//! What is asked for while nothing changes.

use std::time::Duration;

use serde_json::{Value, json};

use super::recorder::{Asked, Who, table};
use super::stage::Stage;

pub(super) async fn measure(stage: &Stage, clusters: usize, duration: Duration) -> anyhow::Result<Value> {
    stage.recorder.take();
    tokio::time::sleep(duration).await;
    let asked: Vec<_> = stage.recorder.take().into_iter().filter(|asked| asked.who == Who::Manager).collect();
    let minutes = duration.as_secs_f64() / 60.0;
    let others: Vec<_> = asked.iter().filter(|asked| !asked.is_watch() && !asked.is_lease()).collect();
    let per_minute = |count: usize| u32::try_from(count).map(|count| f64::from(count) / minutes);
    let count = |counts: fn(&Asked) -> bool| asked.iter().filter(|asked| counts(asked)).count();
    Ok(json!({
        "clusters": clusters,
        "seconds": duration.as_secs(),
        "watches_per_minute": per_minute(count(Asked::is_watch))?,
        "lease_per_minute": per_minute(count(Asked::is_lease))?,
        "others_per_minute": per_minute(others.len())?,
        "others": table(others),
    }))
}
