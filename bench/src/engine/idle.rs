//! What is started while nothing changes.

use std::num::NonZeroU32;

use anyhow::Context;
use serde_json::{Value, json};

use super::clock::SimulatedClock;
use super::counting::Counter;
use super::stage::{Manager, Stage};
use super::workspaces;
use crate::diagnostics::{LONG_QUIET, SHORT_QUIET};
use crate::progress::tell;

const MINUTES: u32 = 60;
/// Every Workspace is looked at once in so many minutes, some of them in each.
const PERIOD: u32 = 10;
/// Far enough for every Workspace to be compared with reality.
const FURTHER_HOURS: i64 = 8;

/// Looks at settled Workspaces for a simulated hour, then much later, then with another manager, which is handed back.
pub(super) async fn measure(
    stage: &Stage,
    manager: Manager,
    clock: &SimulatedClock,
    counter: &Counter,
    count: NonZeroU32,
) -> anyhow::Result<(Manager, Value)> {
    tell("an hour passes");
    let hour = hour(stage, &manager, clock, counter, count.get()).await?;
    tell("eight hours pass");
    let later = later(stage, &manager, clock, counter, count.get()).await?;
    tell("the manager starts again");
    manager.stop().await.context("stopping the manager")?;
    let manager = Manager::start(stage, clock, counter).await?;
    let reconciles = manager.diagnostics.settle(count.get().into(), LONG_QUIET, || counter.is_busy()).await?;
    let restart = json!({ "reconciles": reconciles, "engine": counter.take().to_json() });
    let measured = json!({
        "workspaces": count,
        "an_hour": hour,
        "then_eight_hours_at_once": later,
        "then_a_restart": restart,
    });
    Ok((manager, measured))
}

async fn hour(
    stage: &Stage,
    manager: &Manager,
    clock: &SimulatedClock,
    counter: &Counter,
    count: u32,
) -> anyhow::Result<Value> {
    let before = manager.diagnostics.settle(0, SHORT_QUIET, || counter.is_busy()).await?;
    let mut reconciles = before;
    for minute in 1..=MINUTES {
        clock.advance_minutes(1);
        let turn = || (0..count).filter(|number| number % PERIOD == minute % PERIOD);
        workspaces::poke(stage, turn(), &format!("minute-{minute}")).await?;
        let all = reconciles + u64::try_from(turn().count())?;
        reconciles = manager.diagnostics.settle(all, SHORT_QUIET, || counter.is_busy()).await?;
    }
    Ok(json!({
        "looks": MINUTES / PERIOD * count,
        "reconciles": reconciles - before,
        "engine": counter.take().to_json(),
    }))
}

/// Shows that the clock works.
async fn later(
    stage: &Stage,
    manager: &Manager,
    clock: &SimulatedClock,
    counter: &Counter,
    count: u32,
) -> anyhow::Result<Value> {
    let before = manager.diagnostics.settle(0, SHORT_QUIET, || counter.is_busy()).await?;
    clock.advance_minutes(FURTHER_HOURS * 60);
    workspaces::poke(stage, 0..count, "later").await?;
    let all = before + u64::from(count);
    let reconciles = manager.diagnostics.settle(all, LONG_QUIET, || counter.is_busy()).await?;
    Ok(json!({ "reconciles": reconciles - before, "engine": counter.take().to_json() }))
}
