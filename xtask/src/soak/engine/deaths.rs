//! A container dies with its manager and all runs, again and again, and its directory is kept or lost. Afterwards nothing is stuck,
//! no lock is left, and nothing was made twice but by calls in flight, each of which was named.
//!
//! A person looks after what is named: that is read from the condition of each Workspace, and marked as checked. What a Workspace named
//! that is gone by then is read from its Events.

mod objects;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use capt_api::Workspace;
use capt_api::names::{Reason, annotation, condition};
use k8s_openapi::api::events::v1::Event;
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams};
use serde::Serialize;
use serde_json::json;
use tokio::time::sleep;

use super::fleet::{Change, Fleet};
use super::host::Host;
use super::{End, LONGEST_LIFE, PAUSE, SETTLED_WITHIN, Subject};
use objects::{Key, Named, Objects, module, named};

/// A call that began so short a time before the manager died, or after that, is on no record if the directory is lost, too.
const LAST_MOMENT: Duration = Duration::from_millis(150);

/// What happened.
#[derive(Debug, Serialize)]
pub(in crate::soak) struct Summary {
    tool: String,
    seed: u64,
    /// Deaths with the directory kept and lost, and the locks that were held then.
    deaths_kept: u32,
    deaths_lost: u32,
    locks_left: usize,
    changes: u32,
    deletions: u32,
    /// Calls that were named as interrupted.
    named: usize,
    /// Objects that nothing knows any more: calls in flight had made them.
    doubles: usize,
    /// Those of them whose call began in the last moment before its death, and could not be named.
    unnamed_in_the_last_moment: usize,
    seconds: u64,
    violations: Vec<String>,
}

impl Summary {
    pub(in crate::soak) fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// Everything that is counted.
struct Count {
    named: BTreeSet<Named>,
    /// From when to when containers died whose directory was lost: the manager first, then all that it had started.
    lost_at: Vec<(SystemTime, SystemTime)>,
    /// The same of deaths whose directory was kept: if it is lost at the next death, perhaps before anybody has read it.
    kept_at: Vec<(SystemTime, SystemTime)>,
}

/// Kills so many containers each, with their directory kept and lost. An error means that the soak itself could not go on.
pub(in crate::soak) async fn soak(
    capt: &Path,
    tool: &Path,
    rounds: u32,
    seed: u64,
) -> anyhow::Result<Summary> {
    let place = tempfile::tempdir().context("making a temporary directory")?;
    let objects = Objects::new(&place.path().join("objects"))?;
    let mut host = Host::start(capt, Subject::Container, place.path(), Some(tool)).await?;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut fleet = Fleet::of(module(objects.directory()));
    let mut count = Count { named: BTreeSet::new(), lost_at: Vec::new(), kept_at: Vec::new() };
    let mut summary = Summary {
        tool: tool.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        seed,
        deaths_kept: 0,
        deaths_lost: 0,
        locks_left: 0,
        changes: 0,
        deletions: 0,
        named: 0,
        doubles: 0,
        unnamed_in_the_last_moment: 0,
        seconds: 0,
        violations: Vec::new(),
    };
    let started = Instant::now();
    fleet.create(&host.client().await?).await?;
    let mut ends = [End::Death { lost: false }, End::Death { lost: true }].repeat(rounds as usize);
    random.shuffle(&mut ends);
    for (round, end) in ends.into_iter().enumerate() {
        let context = || format!("in round {round} of seed {seed}");
        let client = host.client().await?;
        check(&fleet, &client, &mut count).await.with_context(context)?;
        match fleet.change(&client, &mut random).await.with_context(context)? {
            Change::Changed => summary.changes += 1,
            Change::Deleted => summary.deletions += 1,
        }
        let life = Duration::from_millis(random.u64(0..LONGEST_LIFE.as_millis().try_into()?));
        sleep(life).await;
        println!("round {round}: {end:?} after {life:?}");
        let began = SystemTime::now();
        host.end(end).with_context(context)?;
        count.kept_at.push((began, SystemTime::now()));
        if end == (End::Death { lost: true }) {
            summary.deaths_lost += 1;
            count.lost_at.append(&mut count.kept_at);
        } else {
            summary.deaths_kept += 1;
        }
        summary.locks_left += fleet.locks(&client).await.with_context(context)?.len();
        host.start_again(end, &mut BTreeSet::new()).await.with_context(context)?;
    }
    finish(&mut host, &mut fleet, &objects, &mut count, &mut summary).await?;
    summary.seconds = started.elapsed().as_secs();
    Ok(summary)
}

/// Waits until all is as it should be, compares, takes everything down and compares again.
async fn finish(
    host: &mut Host,
    fleet: &mut Fleet,
    objects: &Objects,
    count: &mut Count,
    summary: &mut Summary,
) -> anyhow::Result<()> {
    let client = host.client().await?;
    fleet.create(&client).await?;
    summary.violations.extend(fleet.settle(&client).await?);
    check(fleet, &client, count).await?;
    read_events(&client, count).await?;
    summary.violations.extend(nothing_is_named(fleet, &client).await?);
    let mut known = BTreeSet::new();
    for workspace in fleet.workspaces() {
        known.extend(objects::known(&fleet.state(&client, &workspace).await?));
    }
    summary.violations.extend(objects.missing(&known, &count.named)?);
    summary.violations.extend(fleet.locks(&client).await?);
    judge(objects, &known, count, summary)?;
    summary.violations.extend(fleet.take_down(&client).await?);
    judge(objects, &BTreeSet::new(), count, summary)?;
    summary.named = count.named.len();
    summary.violations.extend(host.end(End::Stop)?);
    Ok(())
}

/// Objects that no state knows were made by calls in flight, each of which was named.
fn judge(
    objects: &Objects,
    known: &BTreeSet<String>,
    count: &Count,
    summary: &mut Summary,
) -> anyhow::Result<()> {
    let mut doubles: BTreeMap<Key, Vec<SystemTime>> = BTreeMap::new();
    for object in objects.all()?.into_iter().filter(|object| !known.contains(&object.id)) {
        doubles.entry(object.key).or_default().push(object.made_at);
    }
    (summary.doubles, summary.unnamed_in_the_last_moment) = (0, 0);
    for (key, made_at) in doubles {
        summary.doubles += made_at.len();
        let named = count.named.iter().filter(|named| named.key == key).count();
        let in_the_last_moment = made_at.iter().filter(|made| is_in_the_last_moment(**made, &count.lost_at));
        let unnamed = made_at.len().saturating_sub(named);
        if unnamed > in_the_last_moment.count() {
            summary.violations.push(format!(
                "{key:?}: {} objects are in no state, and {named} calls were named",
                made_at.len()
            ));
        } else {
            summary.unnamed_in_the_last_moment += unnamed;
        }
    }
    Ok(())
}

fn is_in_the_last_moment(made: SystemTime, deaths: &[(SystemTime, SystemTime)]) -> bool {
    deaths.iter().any(|(began, ended)| made + LAST_MOMENT >= *began && made <= *ended)
}

/// Reads which calls were named by Workspaces that are gone.
async fn read_events(client: &Client, count: &mut Count) -> anyhow::Result<()> {
    let events: Api<Event> = Api::default_namespaced(client.clone());
    for event in events.list(&ListParams::default()).await? {
        if event.reason.as_deref() == Some(Reason::InterruptedCalls.as_str()) {
            let name = event.regarding.and_then(|regarding| regarding.name).unwrap_or_default();
            count.named.extend(named(&name, &event.note.unwrap_or_default())?);
        }
    }
    Ok(())
}

/// Reads which calls are named, and marks them as checked.
async fn check(fleet: &Fleet, client: &Client, count: &mut Count) -> anyhow::Result<()> {
    for name in fleet.workspaces() {
        let Some(workspace) = fleet.workspace(client, &name).await? else { continue };
        let Some(message) = interrupted(&workspace) else { continue };
        let found = named(&name, &message).with_context(|| format!("reading what {name} says: {message}"))?;
        let Some(newest) = found.iter().map(|named| named.at.as_str()).max() else { continue };
        let patch =
            json!({ "metadata": { "annotations": { annotation::CHECKED_INTERRUPTED_CALLS: newest } } });
        let workspaces: Api<Workspace> = Api::all(client.clone());
        match workspaces.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            other => drop(other?),
        }
        count.named.extend(found);
    }
    Ok(())
}

/// What was checked is no longer reported.
async fn nothing_is_named(fleet: &Fleet, client: &Client) -> anyhow::Result<Vec<String>> {
    let deadline = Instant::now() + SETTLED_WITHIN;
    loop {
        let mut still = Vec::new();
        for name in fleet.workspaces() {
            let message = fleet.workspace(client, &name).await?.as_ref().and_then(interrupted);
            still.extend(message.map(|message| format!("{name} still says: {message}")));
        }
        if still.is_empty() || Instant::now() > deadline {
            return Ok(still);
        }
        sleep(PAUSE).await;
    }
}

fn interrupted(workspace: &Workspace) -> Option<String> {
    let conditions = &workspace.status.as_ref()?.conditions;
    let found = conditions.iter().find(|entry| entry.type_ == condition::INTERRUPTED_CALLS)?;
    (found.status == "True").then(|| found.message.clone().unwrap_or_default())
}

/// The tools that are here: OpenTofu, got like the other parts, and Terraform where it is in `PATH`.
pub(in crate::soak) fn tools() -> anyhow::Result<Vec<PathBuf>> {
    let found = capt_testkit::terraform::obtain(None)?;
    let is_terraform = found.file_name().is_some_and(|name| name == "terraform");
    let tofu = capt_testkit::terraform::obtain_opentofu()?;
    Ok(if is_terraform { vec![found, tofu] } else { vec![tofu] })
}
