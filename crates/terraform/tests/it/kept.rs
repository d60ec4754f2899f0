//! A state that a keeper stores: whatever dies, only calls in flight are unknown.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use capt_terraform::{
    Answer, Applied, Backend, Engine, Error, Event, LockInfo, Locking, Observer, Operation, Outcome, Plan,
    Run, Secret, StateKeeper, StateVersion, Verb,
};
use rstest::rstest;
use serde_json::{Value, json};

use crate::bed::{Bed, Seen, inline, until};
use crate::fake::script;

/// Keeps a state in memory.
#[derive(Default)]
struct Shelf(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    versions: Vec<StateVersion>,
    aside: Vec<StateVersion>,
    locked: Option<Verb>,
    locks: usize,
    held_by: Option<LockInfo>,
    /// Whether nobody can be reached.
    away: bool,
}

impl Shelf {
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }

    /// A state with nothing in it, as the manager makes it.
    fn begun() -> Arc<Self> {
        let shelf = Self::default();
        shelf.put(&json!({ "version": 4, "terraform_version": "1.0.0", "serial": 0, "lineage": "kept", "outputs": {}, "resources": [] }));
        Arc::new(shelf)
    }

    fn put(&self, state: &Value) {
        self.kept().versions.push(StateVersion::read(state.to_string().into_bytes()).unwrap());
    }

    fn last(&self) -> Value {
        serde_json::from_slice(self.kept().versions.last().unwrap().text.expose()).unwrap()
    }

    /// The identifiers of what the last version holds.
    fn ids(&self) -> Vec<String> {
        let state = self.last();
        let instances =
            state["resources"].as_array().unwrap().iter().flat_map(|it| it["instances"].as_array().unwrap());
        instances.map(|it| it["attributes"]["id"].as_str().unwrap().to_owned()).collect()
    }

    fn reach(&self) -> Result<std::sync::MutexGuard<'_, Kept>, Error> {
        let kept = self.kept();
        if kept.away {
            return Err(Error::Keeper {
                doing: "reaching the shelf".to_owned(),
                source: "it is away".into(),
            });
        }
        Ok(kept)
    }
}

impl StateKeeper for Shelf {
    fn load(&self) -> Answer<'_, Option<StateVersion>> {
        Box::pin(async { Ok(self.reach()?.versions.last().cloned()) })
    }

    fn store<'a>(&'a self, version: &'a StateVersion, earlier: &'a [String]) -> Answer<'a, ()> {
        Box::pin(async {
            let mut kept = self.reach()?;
            match kept.versions.last() {
                Some(stored) if stored.digest == version.digest => return Ok(()),
                Some(stored) if !earlier.contains(&stored.digest) => {
                    return Err(Error::StateForked { what: "on the shelf".to_owned() });
                }
                Some(_) | None => {}
            }
            kept.versions.push(version.clone());
            Ok(())
        })
    }

    fn set_aside<'a>(&'a self, version: &'a StateVersion) -> Answer<'a, ()> {
        Box::pin(async {
            self.reach()?.aside.push(version.clone());
            Ok(())
        })
    }

    fn lock(&self, verb: Verb) -> Answer<'_, ()> {
        Box::pin(async move {
            let mut kept = self.reach()?;
            if let Some(lock) = kept.held_by.clone() {
                return Err(Error::Locked { verb, lock, left_behind: false });
            }
            assert_eq!(kept.locked, None, "taken twice");
            kept.locked = Some(verb);
            kept.locks += 1;
            Ok(())
        })
    }

    fn unlock(&self) -> Answer<'_, ()> {
        Box::pin(async {
            self.reach()?.locked = None;
            Ok(())
        })
    }

    fn force_unlock<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        Box::pin(async move { Ok(self.reach()?.held_by.take_if(|lock| lock.id == id).is_some()) })
    }
}

/// Sees what happens, and has a keeper.
struct Attended<'s> {
    seen: &'s Seen,
    shelf: &'s Shelf,
}

impl Observer for Attended<'_> {
    fn observe(&self, event: Event) {
        self.seen.observe(event);
    }

    fn keeper(&self) -> Option<&dyn StateKeeper> {
        Some(self.shelf)
    }
}

fn kept(module: &str) -> Run {
    let backend = Backend::Kubernetes {
        namespace: "team-a".to_owned(),
        suffix: "capt".to_owned(),
        kubeconfig: Secret::default(),
        declared: false,
    };
    Run { backend, locking: Locking::Wait(Duration::ZERO), ..inline(module) }
}

async fn plan(bed: &Bed, run: &Run, shelf: &Shelf) -> Result<Plan, Error> {
    let seen = Seen::default();
    match bed.engine.run(&run.with(Operation::Plan), &Attended { seen: &seen, shelf }).await? {
        Outcome::Planned(plan) => Ok(plan),
        other => panic!("{other:?}"),
    }
}

async fn apply(bed: &Bed, run: &Run, plan: &Plan, seen: &Seen, shelf: &Shelf) -> Result<Applied, Error> {
    let run = run.with(Operation::Apply { plan: plan.hash.clone() });
    match bed.engine.run(&run, &Attended { seen, shelf }).await? {
        Outcome::Applied(applied) => Ok(applied),
        other => panic!("{other:?}"),
    }
}

/// Resources that are made one after the other and leave a line each in a file.
fn slow(file: &Path, count: usize) -> Run {
    let mut run = kept(&format!(
        r#"
resource "terraform_data" "slow" {{
  count = {count}
  provisioner "local-exec" {{ command = "sleep 0.4; echo ${{count.index}} >> '{}'" }}
}}
"#,
        file.display()
    ));
    run.arguments.apply = vec!["-parallelism=1".to_owned()];
    run
}

fn made(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}

fn state_file(bed: &Bed) -> PathBuf {
    bed.workdir().join("kept/network/terraform.tfstate")
}

#[tokio::test]
async fn a_state_is_loaded_locked_stored_and_leaves_nothing_in_the_working_directory() {
    let (bed, shelf) = (Arc::new(Bed::new().await), Shelf::begun());
    let run = kept("resource \"terraform_data\" \"a\" {}\noutput \"name\" { value = terraform.workspace }\n");

    let first = plan(&bed, &run, &shelf).await.unwrap();
    assert_eq!(shelf.kept().locks, 0, "a plan takes no lock");
    let applied = apply(&bed, &run, &first, &Seen::default(), &shelf).await.unwrap();

    assert_eq!(applied.outputs["name"].status_value(), Some(json!("network")));
    assert_eq!(shelf.kept().locks, 1);
    assert_eq!(shelf.kept().locked, None);
    assert_eq!(shelf.last()["lineage"], "kept");
    assert_eq!(shelf.ids().len(), 1);
    assert!(!state_file(&bed).exists(), "what is stored is not kept twice");
    assert_eq!(bed.engine.left(&crate::bed::identity()).await.unwrap(), capt_terraform::Left::default());
    assert!(plan(&bed, &run, &shelf).await.unwrap().is_empty());
}

#[tokio::test]
async fn every_version_is_stored_while_the_apply_goes_on() {
    let (bed, shelf) = (Arc::new(Bed::new().await), Shelf::begun());
    let run = slow(&bed.root.path().join("made"), 4);
    let first = plan(&bed, &run, &shelf).await.unwrap();
    apply(&bed, &run, &first, &Seen::default(), &shelf).await.unwrap();

    let serials: Vec<u64> = shelf.kept().versions.iter().map(|version| version.serial).collect();
    assert!(serials.is_sorted(), "{serials:?}");
    assert_eq!(shelf.ids().len(), 4);
    // OpenTofu writes its file every 20 s only.
    if bed.engine.version().tool == capt_terraform::Tool::Terraform {
        assert!(serials.len() >= 4, "{serials:?}");
    }
}

#[rstest]
#[case::directory_kept(false)]
#[case::directory_lost(true)]
#[tokio::test]
async fn after_a_death_in_mid_apply_only_what_was_in_flight_is_made_again(#[case] lost: bool) {
    let (bed, shelf) = (Arc::new(Bed::new().await), Shelf::begun());
    if bed.engine.version().tool != capt_terraform::Tool::Terraform {
        // Its file says nothing before 20 s: the journal of calls is for that.
        return;
    }
    let file = bed.root.path().join("made");
    let run = slow(&file, 5);
    let first = plan(&bed, &run, &shelf).await.unwrap();
    let applying = tokio::spawn({
        let (bed, run, shelf) = (Arc::clone(&bed), run.clone(), Arc::clone(&shelf));
        async move { apply(&bed, &run, &first, &Seen::default(), &shelf).await }
    });
    until("two are stored", || shelf.ids().len() >= 2).await;
    crate::kubernetes::kill_group_of(&bed.workdir());
    applying.abort();
    let _ = applying.await;
    let before = shelf.ids();
    shelf.kept().locked = None;
    if lost {
        fs::remove_dir_all(bed.workdir()).unwrap();
    }

    let again = plan(&bed, &run, &shelf).await.unwrap();
    let in_flight = made(&file) - shelf.ids().len();
    assert!(in_flight <= 1, "{in_flight}");
    apply(&bed, &run, &again, &Seen::default(), &shelf).await.unwrap();

    assert!(before.iter().all(|id| shelf.ids().contains(id)), "what was stored is still the same");
    assert_eq!(shelf.ids().len(), 5);
    assert!(made(&file) <= 6, "{}", made(&file));
}

/// An apply whose keeper goes away, until it has said that the state is not stored.
async fn applying_without_keeper(
    bed: &Arc<Bed>,
    run: &Run,
    plan: Plan,
    shelf: &Arc<Shelf>,
) -> tokio::task::JoinHandle<Result<Applied, Error>> {
    let seen = Arc::new(Seen::default());
    let applying = tokio::spawn({
        let (bed, run, shelf, seen) = (Arc::clone(bed), run.clone(), Arc::clone(shelf), Arc::clone(&seen));
        async move { apply(&bed, &run, &plan, &seen, &shelf).await }
    });
    until("the apply has begun", || seen.started().contains(&Verb::Apply)).await;
    shelf.kept().away = true;
    until("the run reports it", || seen.any(|event| matches!(event, Event::StateNotStored(_)))).await;
    applying
}

#[tokio::test]
async fn a_keeper_that_is_away_for_the_whole_apply_gets_the_state_afterwards() {
    let (bed, shelf) = (Arc::new(Bed::new().await), Shelf::begun());
    let file = bed.root.path().join("made");
    let run = slow(&file, 2);
    let first = plan(&bed, &run, &shelf).await.unwrap();
    let applying = applying_without_keeper(&bed, &run, first, &shelf).await;
    assert_eq!(made(&file), 2);
    shelf.kept().away = false;

    applying.await.unwrap().unwrap();
    assert_eq!(shelf.ids().len(), 2);
    assert_eq!(shelf.kept().locked, None);
}

#[tokio::test]
async fn a_state_that_could_not_be_stored_keeps_its_lock_and_is_stored_first_of_all() {
    let (bed, shelf) = (Arc::new(Bed::new().await), Shelf::begun());
    let file = bed.root.path().join("made");
    let mut run = slow(&file, 2);
    run.limits.grace = Duration::from_millis(100);
    let first = plan(&bed, &run, &shelf).await.unwrap();
    let applying = applying_without_keeper(&bed, &run, first, &shelf).await;
    bed.engine.interrupt(&crate::bed::identity()).await.unwrap();
    let error = applying.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::StatePush { .. }), "{error:?}");
    assert_eq!(shelf.kept().locked, Some(Verb::Apply), "what is not stored is nobody else's to change");
    assert!(bed.engine.left(&crate::bed::identity()).await.unwrap().unstored);
    let known = std::collections::BTreeSet::new();
    assert_eq!(bed.engine.collect(&known).await.unwrap(), [], "its directory stays");

    {
        let mut kept = shelf.kept();
        kept.away = false;
        kept.locked = None;
    }
    assert!(plan(&bed, &run, &shelf).await.unwrap().is_empty());
    assert_eq!((shelf.ids().len(), made(&file)), (2, 2));
    assert!(!bed.engine.left(&crate::bed::identity()).await.unwrap().unstored);
}

#[tokio::test]
async fn two_versions_that_fork_wait_for_a_person() {
    let (bed, shelf) = (Arc::new(Bed::new().await), Shelf::begun());
    let run = kept("resource \"terraform_data\" \"a\" {}\n");
    let first = plan(&bed, &run, &shelf).await.unwrap();
    apply(&bed, &run, &first, &Seen::default(), &shelf).await.unwrap();
    // As a run leaves it that was interrupted, while somebody else went on elsewhere.
    let mut theirs = shelf.last();
    let mut ours = theirs.clone();
    fs::create_dir_all(state_file(&bed).parent().unwrap()).unwrap();
    ours["serial"] = json!(ours["serial"].as_u64().unwrap() + 2);
    fs::write(state_file(&bed), ours.to_string()).unwrap();
    let base = shelf.kept().versions.last().unwrap().digest.clone();
    fs::write(bed.workdir().join("stored.json"), json!({ "stored": base }).to_string()).unwrap();
    theirs["serial"] = json!(theirs["serial"].as_u64().unwrap() + 1);
    shelf.put(&theirs);

    let error = plan(&bed, &run, &shelf).await.unwrap_err();
    assert!(matches!(error, Error::StateForked { .. }), "{error:?}");
    assert_eq!(shelf.kept().aside[0].serial, ours["serial"].as_u64().unwrap());
    assert_eq!(shelf.last(), theirs);
    assert!(plan(&bed, &run, &shelf).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_a_module_writes_into_the_file_is_stored_only_if_it_goes_on_from_the_state() {
    let (bed, shelf) = (Arc::new(Bed::new().await), Shelf::begun());
    let other = r#"{\"version\":4,\"lineage\":\"other\",\"serial\":99,\"outputs\":{},\"resources\":[]}"#;
    let run = kept(&format!(
        r#"
resource "terraform_data" "a" {{
  provisioner "local-exec" {{ command = "echo '{other}' > '{}'; sleep 1" }}
}}
"#,
        state_file(&bed).display()
    ));
    let first = plan(&bed, &run, &shelf).await.unwrap();
    apply(&bed, &run, &first, &Seen::default(), &shelf).await.unwrap();

    let lineages: Vec<String> = shelf.kept().versions.iter().map(|version| version.lineage.clone()).collect();
    assert!(lineages.iter().all(|lineage| lineage == "kept"), "{lineages:?}");
    assert_eq!(shelf.ids().len(), 1);
}

#[tokio::test]
async fn a_lock_of_somebody_else_is_told_and_can_be_released() {
    let (bed, shelf) = (Arc::new(Bed::new().await), Shelf::begun());
    let run = kept("resource \"terraform_data\" \"a\" {}\n");
    let first = plan(&bed, &run, &shelf).await.unwrap();
    shelf.kept().held_by =
        Some(LockInfo { id: "1".to_owned(), who: "me@there".to_owned(), ..LockInfo::default() });
    let error = apply(&bed, &run, &first, &Seen::default(), &shelf).await.unwrap_err();
    let (lock, left_behind) = error.lock().unwrap();
    assert_eq!((lock.who.as_str(), left_behind), ("me@there", false));

    let unlock = run.with(Operation::ForceUnlock { id: "1".to_owned() });
    let seen = Seen::default();
    let outcome = bed.engine.run(&unlock, &Attended { seen: &seen, shelf: &shelf }).await.unwrap();
    assert_eq!(outcome, Outcome::Unlocked);
    assert_eq!(seen.started(), [], "no process is needed for it");
    // The lock was asked for before the plan was used up.
    apply(&bed, &run, &first, &Seen::default(), &shelf).await.unwrap();
}

/// A tool that leaves its file as no tool should.
#[rstest]
#[case::emptied(": > \"$FILE\"")]
#[case::torn("printf '{\"version\":4,\"lineage\":\"kept\",\"ser' > \"$FILE\"")]
#[case::removed("rm -f \"$FILE\"")]
#[tokio::test]
async fn a_file_that_is_torn_is_no_version(#[case] end: &str) {
    let directory = tempfile::tempdir().unwrap();
    let shelf = Shelf::begun();
    let rest = format!(
        "FILE=\"$PWD/../kept/network/terraform.tfstate\"\ncase \"$1\" in\nplan) for a; do case \"$a\" in -out=*) echo x > \"${{a#-out=}}\";; esac; done; exit 2;;\n\
         show) echo '{{\"format_version\":\"1.2\",\"resource_changes\":[{{\"address\":\"a.b\",\"mode\":\"managed\",\"type\":\"a\",\"name\":\"b\",\"change\":{{\"actions\":[\"create\"],\"before\":null,\"after\":{{}},\"after_unknown\":{{}},\"before_sensitive\":false,\"after_sensitive\":{{}}}}}}],\"applyable\":true,\"complete\":true}}'; exit 0;;\n\
         output) echo '{{}}'; exit 0;;\n\
         apply) {end}; exit 1;;\nesac\n"
    );
    let binary = script(&directory, &rest);
    // The backend is the one that was written.
    let text = fs::read_to_string(&binary).unwrap();
    let text = text.replace(
        "echo '{\"backend\":{\"type\":\"local\"}}'",
        "echo \"{\\\"backend\\\":{\\\"type\\\":\\\"local\\\",\\\"config\\\":{\\\"workspace_dir\\\":\\\"$(cd \"$PWD/..\" && pwd)/kept\\\"}}}\"",
    );
    fs::write(&binary, text).unwrap();
    let bed = Bed::with(binary).await;
    let run = kept("");
    let first = plan(&bed, &run, &shelf).await.unwrap();

    let error = apply(&bed, &run, &first, &Seen::default(), &shelf).await.unwrap_err();
    assert!(matches!(error, Error::Failed { verb: Verb::Apply, .. }), "{error:?}");
    assert_eq!(shelf.kept().versions.len(), 1, "nothing was stored over the last good version");
    plan(&bed, &run, &shelf).await.unwrap();
    assert_eq!(shelf.kept().locked, None);
}
