//! What every test needs: an engine on a directory of its own, and runs to give it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use capt_terraform::{
    Applied, Backend, Engine, Error, Event, Format, Identity, Limits, Observer, Operation, Outcome, Plan,
    ProcessEngine, Run, Secret, Settings, Source, VariableFile, Verb,
};
use capt_testkit::terraform::binary;
use tempfile::TempDir;

/// An engine and its directory.
pub(crate) struct Bed {
    pub(crate) root: TempDir,
    pub(crate) engine: ProcessEngine,
}

impl Bed {
    pub(crate) async fn new() -> Self {
        Self::with(binary()).await
    }

    pub(crate) async fn with(binary: PathBuf) -> Self {
        let root = tempfile::tempdir().unwrap();
        let engine = ProcessEngine::start(Settings::new(root.path().join("runs"), binary)).await.unwrap();
        Self { root, engine }
    }

    pub(crate) fn workdir(&self) -> PathBuf {
        self.root.path().join("runs/uid-1")
    }

    pub(crate) async fn plan(&self, run: &Run) -> Result<Plan, Error> {
        self.plan_as(run, Operation::Plan).await
    }

    pub(crate) async fn plan_as(&self, run: &Run, operation: Operation) -> Result<Plan, Error> {
        match self.engine.run(&run.with(operation), &Seen::default()).await? {
            Outcome::Planned(plan) => Ok(plan),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn apply(&self, run: &Run, plan: &Plan, seen: &Seen) -> Result<Applied, Error> {
        match self.engine.run(&run.with(Operation::Apply { plan: plan.hash.clone() }), seen).await? {
            Outcome::Applied(applied) => Ok(applied),
            other => panic!("{other:?}"),
        }
    }

    /// Plan and apply.
    pub(crate) async fn make(&self, run: &Run, seen: &Seen) -> Result<Applied, Error> {
        let plan = self.plan(run).await?;
        self.apply(run, &plan, seen).await
    }
}

/// Remembers every event.
#[derive(Default)]
pub(crate) struct Seen(Mutex<Vec<Event>>);

impl Seen {
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// The commands that began.
    pub(crate) fn started(&self) -> Vec<Verb> {
        let verbs = self.events().into_iter().filter_map(|event| match event {
            Event::Started(verb) => Some(verb),
            _ => None,
        });
        verbs.collect()
    }

    pub(crate) fn any(&self, matches: impl Fn(&Event) -> bool) -> bool {
        self.events().iter().any(matches)
    }
}

impl Observer for Seen {
    fn observe(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// A run of one file, with the state in the working directory.
pub(crate) fn inline(module: &str) -> Run {
    Run {
        identity: identity(),
        workspace: "network".to_owned(),
        operation: Operation::Plan,
        source: Source::Inline { format: Format::Hcl, content: Secret::from(module) },
        entrypoint: String::new(),
        files: Vec::new(),
        variables: Vec::new(),
        environment: Vec::new(),
        arguments: capt_terraform::Arguments::default(),
        backend: Backend::Local,
        locking: capt_terraform::Locking::Wait(Duration::from_secs(1)),
        limits: Limits { grace: Duration::from_secs(1), ..Limits::default() },
        hidden: Vec::new(),
        provider_lock: None,
        plugin_cache: true,
        earlier_state: capt_terraform::EarlierState::default(),
        imports: Vec::new(),
    }
}

pub(crate) fn identity() -> Identity {
    Identity::try_from("uid-1".to_owned()).unwrap()
}

/// A file with variables.
pub(crate) fn variables(json: &str) -> VariableFile {
    VariableFile { format: Format::Json, sensitive: false, content: Secret::from(json) }
}

/// A module's directory as an archive.
pub(crate) fn archive(module: &Path, into: &Path) -> PathBuf {
    let path = into.join("module.tar.gz");
    let file = fs::File::create(&path).unwrap();
    let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
    builder.append_dir_all(".", module).unwrap();
    builder.into_inner().unwrap().finish().unwrap();
    path
}

/// A module's directory as a repository. The answer is its address.
pub(crate) fn repository(module: &Path) -> String {
    git(module, &["init", "-q"]);
    git(module, &["add", "."]);
    git(module, &["commit", "-qm", "one"]);
    format!("git::file://{}", module.display())
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(directory).output().unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
}

/// A process of its own that does the run in the directory of the bed.
pub(crate) fn killable(bed: &Bed, run: &Run) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_capt-terraform-run"))
        .args([bed.root.path().join("runs"), binary()])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(run).unwrap()).unwrap();
    child
}

/// Waits until nothing runs in any directory.
pub(crate) async fn ended(engine: &ProcessEngine) {
    let nothing = async {
        while engine.unfinished().await.unwrap().iter().any(|unfinished| unfinished.alive) {
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), nothing).await.unwrap();
}

/// Waits for a condition, but not for ever.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("never came true: {what}");
}
