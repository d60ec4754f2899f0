//! Two managers whose leader is frozen at random, or cut off from the API server: never do two act.
//!
//! Whether they do is measured outside of them, where their requests pass: see `judge`. What the soak does not see is a request
//! that was sent in time and that the network or the server holds for longer than the Lease lasts: nobody can take it back.

mod judge;
mod pair;
mod path;

use std::path::Path as Directory;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::Signal;
use serde::Serialize;
use tokio::time::sleep;

use pair::{Pair, keep_busy};
use path::Log;

/// How long something is frozen, in milliseconds.
const FROZEN_FOR: std::ops::RangeInclusive<u64> = 5_000..=30_000;
/// How long a manager acts before something is frozen, at most, in milliseconds.
const LONGEST_PEACE: u64 = 2_000;
/// How long it may take until one of them acts again.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
/// How long the Lease of `capt manager` lasts.
const LEASE: Duration = Duration::from_secs(15);

/// What is frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frozen {
    /// The way of the leader to the API server: the other one still reaches it.
    Way,
    /// The API server, for both.
    Server,
    /// The process of the leader, as when its machine is paused.
    Process,
}

/// What happened.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Summary {
    seed: u64,
    rounds: u32,
    frozen_ways: u32,
    frozen_servers: u32,
    frozen_processes: u32,
    /// How often the Lease has passed from one manager to the other.
    handovers: usize,
    /// How many writes were judged.
    acts: [usize; 2],
    seconds: u64,
    violations: Vec<String>,
}

impl Summary {
    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// Runs the rounds. An error means that the soak itself could not go on.
pub(crate) async fn soak(capt: &Directory, rounds: u32, seed: u64) -> anyhow::Result<Summary> {
    let place = tempfile::tempdir().context("making a temporary directory")?;
    let log = Log::new();
    let mut pair = Pair::start(capt, place.path(), &log).await?;
    let busy = tokio::spawn(keep_busy(pair.client.clone()));
    let mut random = fastrand::Rng::with_seed(seed);
    let mut summary = Summary { seed, ..Summary::default() };
    let started = Instant::now();
    let mut leader = acting(&log).await.context("before anything was frozen")?;
    for round in 1..=rounds {
        sleep(Duration::from_millis(random.u64(..LONGEST_PEACE))).await;
        let frozen = [Frozen::Way, Frozen::Way, Frozen::Server, Frozen::Process][random.usize(..4)];
        let time = Duration::from_millis(random.u64(FROZEN_FOR));
        println!("round {round}: {frozen:?} of manager {leader} for {time:?}");
        freeze(&pair, leader, frozen, true)?;
        sleep(time).await;
        freeze(&pair, leader, frozen, false)?;
        match frozen {
            Frozen::Way => summary.frozen_ways += 1,
            Frozen::Server => summary.frozen_servers += 1,
            Frozen::Process => summary.frozen_processes += 1,
        }
        summary.rounds = round;
        match acting(&log).await {
            Ok(now) => leader = now,
            Err(error) => summary.violations.push(format!("after round {round}: {error}")),
        }
        summary.violations.extend(judge::violations(&log.writes(), LEASE));
        if !summary.is_clean() {
            for manager in &pair.managers {
                println!("{}", manager.tail());
            }
            break;
        }
    }
    busy.abort();
    pair.stop()?;
    if summary.is_clean() {
        summary.violations = judge::violations(&log.writes(), LEASE);
    }
    summary.handovers = judge::handovers(&log.writes());
    summary.acts = [log.acts(0), log.acts(1)];
    summary.seconds = started.elapsed().as_secs();
    Ok(summary)
}

fn freeze(pair: &Pair, leader: usize, what: Frozen, frozen: bool) -> anyhow::Result<()> {
    let signal = if frozen { Signal::STOP } else { Signal::CONT };
    match what {
        Frozen::Way => {
            pair.managers[leader].path.freeze(frozen);
            Ok(())
        }
        Frozen::Server => pair.signal_server(signal),
        Frozen::Process => pair.managers[leader].signal(signal),
    }
}

/// Waits until the one who holds the Lease acts, and answers who that is.
async fn acting(log: &Log) -> anyhow::Result<usize> {
    let before = [log.acts(0), log.acts(1)];
    let deadline = Instant::now() + SETTLED_WITHIN;
    loop {
        if let Some(holder) = log.holder()
            && log.acts(holder) > before[holder]
        {
            return Ok(holder);
        }
        anyhow::ensure!(Instant::now() < deadline, "nobody acts within {SETTLED_WITHIN:?}");
        sleep(PAUSE).await;
    }
}
