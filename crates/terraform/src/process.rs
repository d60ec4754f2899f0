//! The engine that runs the binary itself.

mod active;
mod command;
mod ended;
mod session;
mod spawn;
mod steps;
mod survivor;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use crate::binary::{BinaryError, Version, parse_version};
use crate::engine::{Engine, Event, Observer, Outcome, Unfinished};
use crate::environment::Environment;
use crate::error::Error;
use crate::private;
use crate::redact::Redactor;
use crate::run::{Identity, Run};
use crate::workdir::{Lock, Workdir};
use active::Active;
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
    /// Asks the binary for its version, once.
    pub async fn start(settings: Settings) -> Result<Self, Error> {
        private::directory(&settings.root).map_err(Error::file(&settings.root))?;
        let root = fs::canonicalize(&settings.root).map_err(Error::file(&settings.root))?;
        let settings = Settings { root, ..settings };
        let version = read_version(&settings).await?;
        tracing::info!(version = %version, binary = %settings.binary.display(), "terraform found");
        Ok(Self { settings, version, active: Active::default() })
    }

    /// Begins nothing new and asks everything that runs to stop. The runs end by themselves.
    pub fn stop(&self) {
        self.active.stop();
    }

    /// The log of the last run of a command, without secrets; `None` when there is none.
    pub fn log(&self, identity: &Identity, verb: crate::engine::Verb) -> Result<Option<String>, Error> {
        let path = self.workdir(identity).log(verb);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(path)(error)),
        }
    }

    fn workdir(&self, identity: &Identity) -> Workdir {
        Workdir::new(&self.settings.root, identity)
    }

    /// Every identity with a working directory.
    fn identities(&self) -> Result<Vec<Identity>, Error> {
        let root = &self.settings.root;
        let entries = fs::read_dir(root)
            .and_then(Iterator::collect::<io::Result<Vec<_>>>)
            .map_err(Error::file(root))?;
        let names = entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter_map(|name| Identity::try_from(name).ok()).collect())
    }
}

impl Engine for ProcessEngine {
    fn version(&self) -> &Version {
        &self.version
    }

    async fn run(&self, run: &Run, observer: &dyn Observer) -> Result<Outcome, Error> {
        run.validate()?;
        let turn = self.active.enter(&run.identity).ok_or(Error::Stopping)?;
        let workdir = self.workdir(&run.identity);
        let redactor = Redactor::of(run);
        let (lock, survived) = survivor::take_over(&workdir, run, &redactor, observer, turn.signal()).await?;
        let last = survived.as_ref().map(|survived| survived.verb);
        if let Some(survived) = survived {
            observer.observe(Event::Survived(survived));
        }
        let session = Session {
            settings: &self.settings,
            version: &self.version,
            run,
            workdir: &workdir,
            lock: &lock,
            redactor,
            observer,
            stop: turn.signal(),
        };
        let outcome = session.work(last).await;
        let cleaned = workdir.forget_raw_logs().and_then(|()| workdir.forget_secrets(run));
        // What went wrong first is what people need to hear.
        outcome.and_then(|outcome| cleaned.map(|()| outcome))
    }

    async fn interrupt(&self, identity: &Identity) -> Result<bool, Error> {
        if self.active.interrupt(identity) {
            return Ok(true);
        }
        let workdir = self.workdir(identity);
        if !workdir.path().is_dir()
            || Lock::try_take(&workdir).map_err(Error::file(workdir.path()))?.is_some()
        {
            return Ok(false);
        }
        survivor::interrupt(&workdir)
    }

    async fn unfinished(&self) -> Result<Vec<Unfinished>, Error> {
        let mut found = Vec::new();
        for identity in self.identities()? {
            found.extend(survivor::look(&self.workdir(&identity), &identity)?);
        }
        Ok(found)
    }

    async fn collect(&self, known: &BTreeSet<Identity>) -> Result<Vec<Identity>, Error> {
        let mut removed = Vec::new();
        for identity in self.identities()?.into_iter().filter(|identity| !known.contains(identity)) {
            let workdir = self.workdir(&identity);
            let path = workdir.path();
            let Some(_lock) = Lock::try_take(&workdir).map_err(Error::file(path))? else { continue };
            if workdir.holds_state().map_err(Error::file(path))? {
                tracing::warn!(identity = %identity, "working directory kept: it holds a state");
                continue;
            }
            private::remove(path).map_err(Error::file(path))?;
            removed.push(identity);
        }
        Ok(removed)
    }
}

async fn read_version(settings: &Settings) -> Result<Version, Error> {
    let path = &settings.binary;
    let failed = |source| BinaryError::Start { path: path.clone(), source };
    let home = tempfile::tempdir_in(&settings.root).map_err(failed)?;
    let mut variables = settings.inherited.clone();
    variables.insert("HOME".into(), home.path().into());
    variables.insert("CHECKPOINT_DISABLE".into(), "1".into());
    let printed = home.path().join("version.out");
    let start = spawn::Start {
        program: path,
        arguments: &["version".into()],
        environment: &variables,
        directory: home.path(),
        stdin: std::process::Stdio::null(),
        stdout: private::empty(&printed).map_err(failed)?,
        stderr: private::empty(&home.path().join("version.err")).map_err(failed)?,
    };
    let exit = spawn::spawn(start).map_err(failed)?.wait().await.map_err(failed)?;
    let text = fs::read_to_string(&printed).map_err(failed)?;
    let version = parse_version(&text).filter(|_| exit.success());
    Ok(version.ok_or_else(|| BinaryError::NoVersion { path: path.clone(), exit: exit.to_string() })?)
}
