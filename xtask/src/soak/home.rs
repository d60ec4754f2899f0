//! `capt up` under random kills: every object that was acknowledged is there afterwards, no process is.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use std::{fs, io};

use anyhow::Context;
use capt_testkit::home::{Announcement, Home, signal, spawn, wait, wait_until_empty};
use rustix::process::Signal;
use serde::Serialize;
use tokio::time::{sleep, timeout};

use super::objects::{Name, Objects, Prototypes};

/// What stopping a whole control plane may take on a busy machine.
const STOPPED_WITHIN: Duration = Duration::from_secs(60);
/// The longest that a home lives after its start, or after it has announced itself.
const LONGEST_LIFE: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(50);
/// Of 256 rounds, how many end before the home has announced itself.
const INTERRUPTED_STARTS: u8 = 64;
/// How long the controllers may take to catch up at the end.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);

/// What happened.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Summary {
    seed: u64,
    rounds: u32,
    kills: u32,
    stops: u32,
    objects: usize,
    seconds: u64,
    violations: Vec<String>,
}

impl Summary {
    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// Runs the rounds. An error means that the soak itself could not go on.
pub(crate) async fn soak(capt: &Path, rounds: u32, seed: u64) -> anyhow::Result<Summary> {
    let place = tempfile::tempdir().context("making a temporary directory")?;
    let mut soak = Soak {
        capt,
        place: place.path(),
        prototypes: Prototypes::of_examples()?,
        random: fastrand::Rng::with_seed(seed),
        acknowledged: Vec::new(),
        first: None,
        summary: Summary { seed, rounds, ..Summary::default() },
    };
    let started = Instant::now();
    for round in 1..=rounds {
        soak.round(round).await.with_context(|| format!("in round {round} of seed {seed}"))?;
    }
    soak.finish().await.with_context(|| format!("at the end of seed {seed}"))?;
    soak.summary.objects = soak.acknowledged.len();
    soak.summary.seconds = started.elapsed().as_secs();
    Ok(soak.summary)
}

struct Soak<'a> {
    capt: &'a Path,
    place: &'a Path,
    prototypes: Prototypes,
    random: fastrand::Rng,
    /// What the API server said it has stored.
    acknowledged: Vec<Name>,
    /// What the first start announced, and every later one must announce again.
    first: Option<Announcement>,
    summary: Summary,
}

impl Soak<'_> {
    fn home(&self) -> PathBuf {
        self.place.join("home")
    }

    fn messages(&self) -> PathBuf {
        self.place.join("messages")
    }

    async fn round(&mut self, round: u32) -> anyhow::Result<()> {
        let life = Duration::from_millis(self.random.u64(0..=LONGEST_LIFE.as_millis().try_into()?));
        let end = if self.random.bool() { Signal::KILL } else { Signal::TERM };
        let in_its_start = self.random.u8(..) < INTERRUPTED_STARTS;
        let (how, since) = (
            if end == Signal::KILL { "killed" } else { "stopped" },
            if in_its_start { "its start" } else { "it was ready" },
        );
        println!("round {round}: {how} {life:?} after {since}");
        let status = if in_its_start {
            let mut child = spawn(self.capt, &self.home(), &self.messages())?;
            timeout(STOPPED_WITHIN, self.first_message()).await??;
            sleep(life).await;
            signal(&child, end)?;
            wait(&mut child, STOPPED_WITHIN)?
        } else {
            let mut home = self.start()?;
            self.use_for(&home, life, round).await?;
            home.signal(end)?;
            home.wait(STOPPED_WITHIN)?
        };
        self.note_end(end, status, round);
        Ok(())
    }

    /// Returns when the home has said something: before that it may not have learnt yet how to stop in order.
    async fn first_message(&self) -> io::Result<()> {
        while fs::metadata(self.messages())?.len() == 0 {
            sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Writes for a while, so that the end comes in the middle of a write or while the controllers work on it.
    async fn use_for(&mut self, home: &Home, life: Duration, round: u32) -> anyhow::Result<()> {
        let objects = Objects::of(home.client().await?);
        self.look_for_losses(&objects, round).await?;
        let writes = self.prototypes.write(&objects, round, &mut self.acknowledged);
        let life = sleep(life);
        tokio::pin!(life);
        tokio::select! {
            () = writes => life.await,
            () = &mut life => {}
        }
        Ok(())
    }

    fn start(&mut self) -> anyhow::Result<Home> {
        let home = Home::start(self.capt, &self.home(), &self.messages())?;
        let first = self.first.get_or_insert_with(|| home.announcement().clone());
        if home.announcement() != first {
            self.summary.violations.push(format!("{first:?} became {:?}", home.announcement()));
        }
        Ok(home)
    }

    async fn look_for_losses(&mut self, objects: &Objects, round: u32) -> anyhow::Result<()> {
        for name in objects.missing(&self.acknowledged).await? {
            self.summary.violations.push(format!("round {round}: {name} is lost"));
        }
        Ok(())
    }

    fn note_end(&mut self, end: Signal, status: ExitStatus, round: u32) {
        let killed = end == Signal::KILL;
        if killed {
            self.summary.kills += 1;
        } else {
            self.summary.stops += 1;
            if !status.success() {
                self.summary.violations.push(format!("round {round}: a stop ended with {status}"));
            }
        }
        // After a stop nothing may be left at all; after a kill the supervisor has work to do.
        let grace = if killed { STOPPED_WITHIN } else { Duration::ZERO };
        if let Err(error) = wait_until_empty(&self.home(), grace) {
            self.summary.violations.push(format!("round {round}: {error}"));
        }
    }

    /// Starts once more and waits until every apply has its Workspace.
    async fn finish(&mut self) -> anyhow::Result<()> {
        let mut home = self.start()?;
        let objects = Objects::of(home.client().await?);
        self.look_for_losses(&objects, self.summary.rounds + 1).await?;
        let deadline = Instant::now() + SETTLED_WITHIN;
        loop {
            let without = objects.applies_without_workspace().await?;
            if without.is_empty() {
                break;
            }
            if Instant::now() > deadline {
                let message = "applies have no Workspace, for example";
                let message = format!("{} {message} {}", without.len(), without[0]);
                self.summary.violations.push(message);
                break;
            }
            sleep(PAUSE).await;
        }
        home.signal(Signal::TERM)?;
        home.wait(STOPPED_WITHIN)?;
        Ok(())
    }
}
