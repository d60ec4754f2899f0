//! Applies of slow resources, interrupted at random moments: afterwards state and reality agree, no lock is left, and nothing
//! was made twice.

pub(super) mod deaths;
mod fleet;
mod host;
mod reality;
pub(super) mod tainted;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;
use tokio::time::sleep;

use fleet::Fleet;
use host::Host;
use reality::Reality;

/// The longest that a manager lives before it is ended.
const LONGEST_LIFE: Duration = Duration::from_secs(6);
/// How long everything may take to be as it should at the end.
const SETTLED_WITHIN: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(250);

/// What is ended at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
pub(crate) enum Subject {
    /// `capt manager`; the API server goes on
    Manager,
    /// `capt up`, whose API server ends with it
    Home,
    /// `capt manager` with all its runs, which die at once; its directory is kept, or lost
    Container,
}

/// How the subject ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It is asked to.
    Stop,
    /// It is killed, and its runs go on.
    Kill,
    /// It is killed with all its runs.
    Death {
        /// Whether its directory is lost.
        lost: bool,
    },
}

/// What happened.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    subject: Subject,
    seed: u64,
    kills: u32,
    stops: u32,
    changes: u32,
    deletions: u32,
    /// Resources whose making was interrupted.
    interrupted: usize,
    seconds: u64,
    violations: Vec<String>,
}

impl Summary {
    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// Stops and kills the subject so many times each. An error means that the soak itself could not go on.
pub(crate) async fn soak(capt: &Path, subject: Subject, rounds: u32, seed: u64) -> anyhow::Result<Summary> {
    let place = tempfile::tempdir().context("making a temporary directory")?;
    let reality = Reality::new(&place.path().join("reality"))?;
    let mut host = Host::start(capt, subject, place.path(), None).await?;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut excused = BTreeSet::new();
    let mut fleet = Fleet::new(&reality);
    let mut summary = Summary {
        subject,
        seed,
        kills: 0,
        stops: 0,
        changes: 0,
        deletions: 0,
        interrupted: 0,
        seconds: 0,
        violations: Vec::new(),
    };
    let started = Instant::now();
    fleet.create(&host.client().await?).await?;
    let mut ends = [End::Stop, End::Kill].repeat(rounds as usize);
    random.shuffle(&mut ends);
    for (round, end) in ends.into_iter().enumerate() {
        let context = || format!("in round {round} of seed {seed}");
        let change = fleet.change(&host.client().await?, &mut random).await.with_context(context)?;
        match change {
            fleet::Change::Changed => summary.changes += 1,
            fleet::Change::Deleted => summary.deletions += 1,
        }
        let life = Duration::from_millis(random.u64(0..LONGEST_LIFE.as_millis().try_into()?));
        sleep(life).await;
        println!("round {round}: {change:?}, {end:?} after {life:?}");
        summary.violations.extend(host.end(end).with_context(context)?);
        match end {
            End::Stop => summary.stops += 1,
            End::Kill | End::Death { .. } => summary.kills += 1,
        }
        host.start_again(end, &mut excused).await.with_context(context)?;
    }
    summary.interrupted = excused.len();
    finish(&mut host, &mut fleet, &reality, &mut excused, &mut summary).await?;
    summary.seconds = started.elapsed().as_secs();
    Ok(summary)
}

/// Waits until all is as it should be, compares, takes everything down and compares again.
async fn finish(
    host: &mut Host,
    fleet: &mut Fleet,
    reality: &Reality,
    excused: &mut BTreeSet<String>,
    summary: &mut Summary,
) -> anyhow::Result<()> {
    let client = host.client().await?;
    fleet.create(&client).await?;
    summary.violations.extend(fleet.settle(&client).await?);
    tainted::collect(&client, host.directory(), excused).await?;
    for workspace in fleet.workspaces() {
        let known = fleet.state_of(&client, &workspace).await?;
        summary.violations.extend(reality.differences(&workspace, &known, excused)?);
    }
    summary.violations.extend(fleet.locks(&client).await?);
    summary.violations.extend(fleet.take_down(&client).await?);
    summary.violations.extend(reality.leftovers(excused)?);
    summary.violations.extend(host.end(End::Stop)?);
    Ok(())
}
