//! Clusters moved back and forth between two management clusters by the real clusterctl, with the manager at the source killed at
//! a random moment, and at times clusterctl itself: nothing is ever destroyed or made again, and each cluster is in exactly one
//! place.

mod engine;
mod fleet;
mod side;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use kube::Client;
use serde::Serialize;
use tokio::time::sleep;

use crate::conformance::{ClusterApi, Clusterctl};
use engine::Engine;
pub(crate) use fleet::{Fleet, Identity};
use side::Side;

/// Two namespaces, in which everything has the same names.
const NAMESPACES: [&str; 2] = ["blue", "green"];
/// What a move takes at most when nothing holds it up: so late a manager is killed at most.
const LONGEST: Duration = Duration::from_secs(6);
/// What clusterctl takes: it is killed before that.
const MOVING: Duration = Duration::from_secs(3);
/// How long a manager that was killed is away at most while a run of it goes on.
const SHORT: Duration = Duration::from_millis(1500);
/// How long a source that is told to go on may do so before it is tried to move again.
const GOING_ON: Duration = Duration::from_secs(3);
/// How often a move is tried.
const TRIES: u32 = 3;
/// How long everything may take to be as it should.
const SETTLED_WITHIN: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(250);

/// What happened.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Summary {
    seed: u64,
    moves: u32,
    kills: u32,
    /// Moves that had to wait for an apply.
    held_up: u32,
    /// Moves that were interrupted by the end of clusterctl.
    interrupted: u32,
    /// Moves that were tried again.
    repeated: u32,
    /// Workspaces that the source did not see to be moved, and left frozen.
    left_frozen: usize,
    /// How often Terraform was called until everything was taken down.
    calls: usize,
    seconds: u64,
    violations: Vec<String>,
}

impl Summary {
    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// What happens during a move, and when.
struct Mishaps {
    /// The manager at the source is killed.
    death: Duration,
    /// How long nobody is there then.
    away: Duration,
    /// clusterctl is killed.
    interrupted: Option<Duration>,
}

/// Where each namespace is, and what its clusters must stay.
struct Soak {
    sides: [Side; 2],
    engine: Engine,
    clusterctl: Clusterctl,
    fleet: Fleet,
    at: BTreeMap<&'static str, usize>,
    identities: BTreeMap<&'static str, Identity>,
    random: fastrand::Rng,
    summary: Summary,
}

/// Moves so many times. An error means that the soak itself could not go on.
pub(crate) async fn soak(capt: &Path, rounds: u32, seed: u64) -> anyhow::Result<Summary> {
    let place = tempfile::tempdir().context("making a temporary directory")?;
    let clusterctl = Clusterctl::new(&ClusterApi::clusterctl()?, "{}", None)?;
    let engine = Engine::new(place.path())?;
    let (left, right) = (place.path().join("left"), place.path().join("right"));
    let (left, right) = tokio::join!(
        Side::start(capt, &left, engine.program()),
        Side::start(capt, &right, engine.program()),
    );
    let sides = [left?, right?];
    let fleet = Fleet::new(&sides[0].control_plane, sides[0].client.clone());
    let started = Instant::now();
    let mut soak = Soak {
        engine,
        clusterctl,
        fleet,
        at: NAMESPACES.into_iter().zip(0..).collect(),
        identities: BTreeMap::new(),
        random: fastrand::Rng::with_seed(seed),
        summary: Summary { seed, ..Summary::default() },
        sides,
    };
    for namespace in NAMESPACES {
        soak.fleet.create(soak.home_of(namespace), namespace).await?;
    }
    for namespace in NAMESPACES {
        soak.settles(namespace).await.context("before anything was moved")?;
        let identity = soak.fleet.identity(soak.home_of(namespace), namespace).await?;
        soak.identities.insert(namespace, identity);
    }
    ensure!(soak.summary.is_clean(), "nothing to begin with: {:?}", soak.summary.violations);
    for round in 0..rounds {
        let so_far = soak.summary.violations.len();
        soak.round(round).await.with_context(|| format!("in round {round} of seed {seed}"))?;
        if soak.summary.violations.len() > so_far {
            soak.tell();
            break;
        }
    }
    if soak.summary.is_clean() {
        soak.finish().await.with_context(|| format!("at the end of seed {seed}"))?;
    }
    soak.summary.seconds = started.elapsed().as_secs();
    Ok(soak.summary)
}

impl Soak {
    fn home_of(&self, namespace: &str) -> &Client {
        &self.sides[self.at[namespace]].client
    }

    async fn round(&mut self, round: u32) -> anyhow::Result<()> {
        let namespace = NAMESPACES[self.random.usize(..NAMESPACES.len())];
        let (from, to) = (self.at[namespace], 1 - self.at[namespace]);
        let held_up = self.random.u8(..3) == 0;
        if held_up {
            self.fleet.change(&self.sides[from].client, namespace).await?;
            self.summary.held_up += 1;
        }
        let death = self.moment(LONGEST);
        // Somebody has to see the end of a run, or the move waits for it for minutes.
        let away = if held_up { self.moment(SHORT) } else { self.moment(LONGEST) };
        let interrupted = self.random.bool().then(|| self.moment(MOVING));
        println!(
            "round {round}: {namespace} from {from} to {to}, killed after {death:?}, away for {away:?}{}{}",
            if held_up { ", while something is applied" } else { "" },
            interrupted.map(|after| format!(", clusterctl killed after {after:?}")).unwrap_or_default()
        );
        self.transfer(namespace, from, to, Mishaps { death, away, interrupted }).await?;
        self.at.insert(namespace, to);
        self.summary.moves += 1;
        self.settles(namespace).await?;
        for namespace in NAMESPACES {
            self.is_unharmed(namespace).await?;
        }
        let rest = self.rest(&self.sides[from].client, namespace).await?;
        self.summary.violations.extend(rest);
        self.summary.violations.extend(self.engine.destroys()?);
        Ok(())
    }

    fn moment(&mut self, longest: Duration) -> Duration {
        Duration::from_millis(self.random.u64(..u64::try_from(longest.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Moves a namespace, with all mishaps on the way, until it is there.
    async fn transfer(
        &mut self,
        namespace: &str,
        from: usize,
        to: usize,
        Mishaps { death, away, interrupted }: Mishaps,
    ) -> anyhow::Result<()> {
        let text = |side: usize| self.sides[side].kubeconfig().display().to_string();
        let (source, target) = (text(from), text(to));
        let arguments =
            ["move", "--namespace", namespace, "--kubeconfig", &source, "--to-kubeconfig", &target];
        let [left, right] = &mut self.sides;
        let side = if from == 0 { left } else { right };
        let killing = async {
            sleep(death).await;
            side.kill()?;
            sleep(away).await;
            side.restart()
        };
        let moving = async {
            match interrupted {
                None => self.clusterctl.run(&arguments).await.map(|_| true),
                Some(after) => self.clusterctl.run_until_killed(&arguments, after).await,
            }
        };
        let (mut moved, killed) = tokio::join!(moving, killing);
        killed?;
        self.summary.kills += 1;
        self.summary.interrupted += u32::from(matches!(moved, Ok(false)));
        for _ in 1..TRIES {
            match &moved {
                Ok(true) => break,
                Ok(false) => println!("tried again: clusterctl was killed"),
                Err(error) => println!("tried again: {error:#}"),
            }
            self.summary.repeated += 1;
            self.fleet.unpause(&self.sides[from].client, namespace).await?;
            sleep(self.moment(GOING_ON)).await;
            moved = self.clusterctl.run(&arguments).await.map(|_| true);
        }
        ensure!(moved?, "clusterctl was always killed");
        // It takes the pause off last of all, and only of what it found at the source.
        self.fleet.unpause(&self.sides[to].client, namespace).await
    }

    /// Waits until the clusters of a namespace are ready where they are.
    async fn settles(&mut self, namespace: &str) -> anyhow::Result<()> {
        let deadline = Instant::now() + SETTLED_WITHIN;
        loop {
            let unsettled = self.fleet.unsettled(self.home_of(namespace), namespace).await?;
            if unsettled.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                self.summary.violations.extend(unsettled);
                return Ok(());
            }
            sleep(PAUSE).await;
        }
    }

    /// Everything is what it was, and where it should be.
    async fn is_unharmed(&mut self, namespace: &'static str) -> anyhow::Result<()> {
        let now = self.fleet.identity(self.home_of(namespace), namespace).await?;
        let before = &self.identities[namespace];
        if !before.is_kept_by(&now) {
            self.summary.violations.push(format!("{namespace} was {before:?} and is {now:?}"));
        }
        self.identities.insert(namespace, now);
        Ok(())
    }

    /// What is still at the source, once its manager has had time to look.
    async fn rest(&self, source: &Client, namespace: &str) -> anyhow::Result<Vec<String>> {
        let deadline = Instant::now() + SETTLED_WITHIN;
        loop {
            let rest = self.fleet.rest(source, namespace).await?;
            if rest.is_empty() || Instant::now() > deadline {
                return Ok(rest);
            }
            sleep(PAUSE).await;
        }
    }

    /// Takes everything down where it is now, and lets go of what was left frozen: only the first of that calls Terraform.
    async fn finish(&mut self) -> anyhow::Result<()> {
        self.summary.calls = self.engine.calls()?;
        for side in &self.sides {
            self.summary.left_frozen += self.fleet.let_go_of_frozen(&side.client, &NAMESPACES).await?;
        }
        let deadline = Instant::now() + SETTLED_WITHIN;
        while self.fleet.frozen(self.sides.each_ref().map(|side| &side.client)).await? > 0 {
            ensure!(Instant::now() < deadline, "frozen Workspaces are not let go");
            sleep(PAUSE).await;
        }
        self.summary.violations.extend(self.engine.destroys()?);
        for namespace in NAMESPACES {
            self.fleet.delete(self.home_of(namespace), namespace).await?;
        }
        for namespace in NAMESPACES {
            while self.fleet.is_there(self.home_of(namespace), namespace).await? {
                if Instant::now() > deadline {
                    self.summary.violations.push(format!("{namespace} is never taken down"));
                    self.tell();
                    return Ok(());
                }
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    /// Shows what the managers said last.
    fn tell(&self) {
        for side in &self.sides {
            println!("{}", side.tail());
        }
    }
}
