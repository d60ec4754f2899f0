//! Many clusters at once, beside a loop that makes the same writes.

use std::time::Instant;

use serde_json::{Value, json};

use super::recorder::{Asked, Who, table};
use super::replay;
use super::stage::Stage;
use crate::progress::tell;

/// The first of every cluster's names.
const PREFIX: &str = "burst";

pub(super) async fn measure(clusters: usize, concurrency: u16) -> anyhow::Result<Value> {
    let stage = Stage::set(concurrency).await?;
    stage.recorder.take();
    tell(&format!("{clusters} clusters at once"));
    let started = Instant::now();
    stage.bring_up(PREFIX, clusters).await?;
    let through = started.elapsed();
    // What comes later is not needed for being ready.
    let asked = stage.recorder.take();
    stage.stop().await?;

    let writes: Vec<_> = asked
        .iter()
        .filter(|asked| asked.succeeded && !asked.is_lease())
        .filter_map(|asked| asked.written.clone())
        .collect();
    tell(&format!("the same {} writes without a manager", writes.len()));
    let bare = replay::measure(&writes, PREFIX, concurrency).await?;

    let of = |counts: &dyn Fn(&Asked) -> bool| asked.iter().filter(|asked| counts(asked)).count();
    let per_cluster = |count: usize| -> anyhow::Result<f64> {
        Ok(f64::from(u32::try_from(count)?) / f64::from(u32::try_from(clusters.max(1))?))
    };
    let requested = |asked: &Asked| asked.who == Who::Manager && !asked.is_watch() && !asked.is_lease();
    let manager = of(&|asked| requested(asked) && !asked.is_event());
    Ok(json!({
        "clusters": clusters,
        "concurrency": concurrency,
        "all_ready_in_s": through.as_secs_f64(),
        "bare_loop_in_s": bare.as_secs_f64(),
        "ratio": through.as_secs_f64() / bare.as_secs_f64(),
        "writes": writes.len(),
        "writes_per_cluster": per_cluster(writes.len())?,
        "requests_of_the_manager_per_cluster": per_cluster(manager)?,
        "events_per_cluster": per_cluster(of(&Asked::is_event))?,
        "refused": of(&|asked| !asked.succeeded),
        "requests_of_the_manager": table(asked.iter().filter(|asked| requested(asked))),
        "requests_of_others": table(asked.iter().filter(|asked| asked.who == Who::Others && !asked.is_watch())),
    }))
}
