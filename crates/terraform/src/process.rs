//! The engine that runs the binary itself.

mod active;
mod command;
mod directories;
mod ended;
mod interruptible;
mod keep;
mod kept_state;
mod recover;
mod session;
mod spawn;
mod steps;
mod survivor;
mod version;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::binary::Version;
use crate::engine::{Answer, Engine, Event, Left, Observer, Outcome, Unfinished, Verb};
use crate::environment::Environment;
use crate::error::Error;
use crate::private;
use crate::redact::Redactor;
use crate::run::{Identity, Run};
use crate::workdir::{KeptFile, LeftCalls, Lock, Stamp, Workdir};
use active::Active;
use keep::Keeping;
use session::Session;

/// Variables of our own environment that a run sees: how to find programs and how to reach the network.
const INHERITED: [&str; 10] = [
    "PATH",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// What the engine is given once.
#[derive(Clone)]
pub struct Settings {
    /// Where working directories are made.
    pub root: PathBuf,
    /// OpenTofu or Terraform.
    pub binary: PathBuf,
    /// Where providers are kept for all runs.
    pub plugin_cache: Option<PathBuf>,
    /// The environment that every run starts from.
    pub inherited: Environment,
}

impl Settings {
    /// Without a plugin cache; runs see only what they need of our own environment.
    pub fn new(root: impl Into<PathBuf>, binary: impl Into<PathBuf>) -> Self {
        let inherited =
            INHERITED.iter().filter_map(|name| Some(((*name).into(), env::var_os(name)?))).collect();
        Self { root: root.into(), binary: binary.into(), plugin_cache: None, inherited }
    }
}

/// Runs OpenTofu or Terraform on this machine.
pub struct ProcessEngine {
    settings: Settings,
    version: Version,
    active: Active,
}

impl ProcessEngine {
    /// Asks the binary for its version, once, and removes the secrets that killed engines left behind.
    pub async fn start(settings: Settings) -> Result<Self, Error> {
        interruptible::make();
        private::directory(&settings.root).map_err(Error::file(&settings.root))?;
        let root = fs::canonicalize(&settings.root).map_err(Error::file(&settings.root))?;
        let settings = Settings { root, ..settings };
        let root = settings.root.clone();
        blocking(move || directories::sweep(&root)).await?;
        let version = version::read(&settings).await?;
        tracing::info!(version = %version, binary = %settings.binary.display(), "terraform found");
        Ok(Self { settings, version, active: Active::default() })
    }

    fn workdir(&self, identity: &Identity) -> Workdir {
        Workdir::new(&self.settings.root, identity)
    }

    async fn work(&self, run: &Run, observer: &dyn Observer) -> Result<Outcome, Error> {
        run.validate()?;
        let turn = self.active.enter(&run.identity).ok_or(Error::Stopping)?;
        let workdir = self.workdir(&run.identity);
        let redactor = Redactor::of(run);
        let taking_over = survivor::take_over(&workdir, run, &redactor, observer, turn.signal());
        let (lock, survived) = match kept_state::keeper(run, observer) {
            Some(keeper) => {
                // A process that outlived its manager goes on writing its state.
                let file = KeptFile::new(&workdir, &run.workspace);
                Keeping::new(keeper, file).during(taking_over).await?
            }
            None => taking_over.await?,
        };
        let last = survived.as_ref().map(|survived| survived.verb);
        let told = survived.as_ref().is_some_and(|survived| survived.calls.is_some());
        if let Some(survived) = survived {
            observer.observe(Event::Survived(survived));
        }
        if let Some(calls) = LeftCalls::kept(&workdir, &redactor).filter(|calls| !told && !calls.is_empty()) {
            // Whoever found them died before they were on record.
            observer.observe(Event::Calls(calls));
        }
        let session = Session {
            settings: &self.settings,
            version: &self.version,
            run: Arc::new(run.clone()),
            workdir: &workdir,
            lock: &lock,
            redactor,
            observer,
            stop: turn.signal(),
            kept: AtomicBool::new(false),
            settled: AtomicBool::new(false),
        };
        let outcome = Box::pin(session.work(last)).await;
        let cleaned = session.forget_stored_state().await;
        let cleaned = cleaned
            .and_then(|()| workdir.forget_raw_logs())
            .and_then(|()| LeftCalls::remove(&workdir))
            .and_then(|()| workdir.forget_secrets());
        // What went wrong first is what people need to hear.
        outcome.and_then(|outcome| cleaned.map(|()| outcome))
    }

    fn ask_to_stop(&self, identity: &Identity) -> Result<bool, Error> {
        if self.active.interrupt(identity) {
            return Ok(true);
        }
        let workdir = self.workdir(identity);
        if !Lock::is_held(&workdir).map_err(Error::file(workdir.path()))? {
            return Ok(false);
        }
        survivor::interrupt(&workdir)
    }
}

impl Engine for ProcessEngine {
    fn version(&self) -> &Version {
        &self.version
    }

    fn run<'a>(&'a self, run: &'a Run, observer: &'a dyn Observer) -> Answer<'a, Outcome> {
        Box::pin(self.work(run, observer))
    }

    fn interrupt<'a>(&'a self, identity: &'a Identity) -> Answer<'a, bool> {
        Box::pin(async { self.ask_to_stop(identity) })
    }

    fn stop(&self) {
        self.active.stop();
    }

    fn unfinished(&self) -> Answer<'_, Vec<Unfinished>> {
        let root = self.settings.root.clone();
        Box::pin(blocking(move || directories::unfinished(&root)))
    }

    fn left<'a>(&'a self, identity: &'a Identity) -> Answer<'a, Left> {
        let workdir = self.workdir(identity);
        Box::pin(blocking(move || survivor::left(&workdir)))
    }

    fn collect<'a>(&'a self, known: &'a BTreeSet<Identity>) -> Answer<'a, Vec<Identity>> {
        let (root, known) = (self.settings.root.clone(), known.clone());
        Box::pin(blocking(move || directories::collect(&root, &known)))
    }

    fn provider_lock(&self, identity: &Identity) -> Result<Option<String>, Error> {
        text(self.workdir(identity).provider_lock())
    }

    fn log(&self, identity: &Identity, verb: Verb) -> Result<Option<String>, Error> {
        text(self.workdir(identity).log(verb))
    }
}

/// Does work on files where it holds up nobody. It goes on when nobody waits for it any more.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends, and this task with it.
            Err(_) => Err(Error::Stopping),
        },
    }
}

/// The text of a file; `None` when it is not there.
fn text(path: PathBuf) -> Result<Option<String>, Error> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file(path)(error)),
    }
}
