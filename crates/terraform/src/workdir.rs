//! The working directory of one identity, readable by its owner alone.
//!
//! ```text
//! <root>/<uid>/ run.lock            held by whoever works here, and by the process itself
//!               journal.json        the command that was begun
//!               calls.json          what an apply that died had begun and finished
//!               module/             the module; Terraform runs in its entrypoint
//!               data/ fetch/        Terraform's own files
//!               state/ logs/        the local backend; redacted logs
//!               kept/ stored.json   the state that a keeper stores, while a run lasts; what is stored of it
//!               home/ variables/    secrets, in there only while a run lasts
//!               plan.bin plan.json  the saved plan and its hash
//!               provider-lock.hcl   the lock file of the providers, kept when the module is made anew
//!               errored.tfstate     a state that could not be stored
//! ```

mod backend;
mod calls;
mod declared;
mod journal;
mod kept;
mod lock;
mod materialise;
mod source;
mod stamp;
mod worked;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::engine::Verb;
use crate::error::Error;
use crate::fingerprint::content_digest;
use crate::private;
use crate::run::{Identity, Run};

pub(crate) use backend::{declared_name, initialised_kind, initialised_path};
pub(crate) use calls::LeftCalls;
pub(crate) use journal::Journal;
pub(crate) use kept::{KeptFile, Look};
pub(crate) use lock::{LOCK_FILE, Lock, acquire, holder};
pub(crate) use stamp::{SavedPlan, Stamp};
pub(crate) use worked::Worked;

/// The private key for `git` over ssh, in the home directory.
pub(crate) const SSH_KEY: &str = "ssh-privatekey";
/// The hosts that `git` over ssh trusts, in the home directory.
pub(crate) const KNOWN_HOSTS: &str = "known_hosts";
/// What Terraform calls a state that it could not store.
pub(crate) const ERRORED_STATE: &str = "errored.tfstate";
/// What Terraform calls a state in a file.
pub(crate) const STATE_FILE: &str = "terraform.tfstate";
/// What Terraform calls the lock file of the providers.
const PROVIDER_LOCK: &str = ".terraform.lock.hcl";

/// Knows where everything is.
#[derive(Debug, Clone)]
pub(crate) struct Workdir {
    path: PathBuf,
}

impl Workdir {
    pub(crate) fn new(root: &Path, identity: &Identity) -> Self {
        Self { path: root.join(identity.as_str()) }
    }

    /// Makes the directories that have to be there.
    pub(crate) fn create(&self) -> Result<(), Error> {
        for path in [self.path.clone(), self.data(), self.home(), self.temporary(), self.logs(), self.state()]
        {
            private::directory(&path).map_err(Error::file(path))?;
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn module(&self) -> PathBuf {
        self.path.join("module")
    }

    /// Where Terraform runs.
    pub(crate) fn entrypoint(&self, run: &Run) -> PathBuf {
        self.module().join(&run.entrypoint)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Terraform's own files for fetching a module, kept so that providers are not downloaded each time.
    pub(crate) fn fetch_data(&self) -> PathBuf {
        self.path.join("fetch")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    /// Where the state is that a keeper stores, for all workspaces.
    pub(crate) fn kept(&self) -> PathBuf {
        self.path.join("kept")
    }

    /// The state file of one workspace, where the `local` backend looks for it.
    pub(crate) fn kept_state(&self, workspace: &str) -> PathBuf {
        let directory = if workspace == "default" { self.kept() } else { self.kept().join(workspace) };
        directory.join(STATE_FILE)
    }

    pub(crate) fn variables(&self) -> PathBuf {
        self.path.join("variables")
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path.join("kubeconfig")
    }

    pub(crate) fn backend_settings(&self) -> PathBuf {
        self.path.join("settings.tfbackend")
    }

    pub(crate) fn plan(&self) -> PathBuf {
        self.path.join("plan.bin")
    }

    /// The digest of the saved plan's file.
    pub(crate) fn plan_digest(&self) -> Result<String, Error> {
        let path = self.plan();
        fs::read(&path).map(|content| content_digest(&content)).map_err(Error::file(path))
    }

    /// A state that could not be stored, moved to where nothing else is written.
    pub(crate) fn errored_state(&self) -> PathBuf {
        self.path.join(ERRORED_STATE)
    }

    /// The last such state that was stored in the end.
    pub(crate) fn pushed_state(&self) -> PathBuf {
        self.path.join("pushed.tfstate")
    }

    /// What the command prints, as it prints it: secrets and all.
    pub(crate) fn raw(&self, verb: Verb, stream: &str) -> PathBuf {
        self.logs().join(format!("{}.{stream}", verb.name()))
    }

    /// What people may read of it.
    pub(crate) fn log(&self, verb: Verb) -> PathBuf {
        self.logs().join(format!("{}.log", verb.name()))
    }

    pub(crate) fn provider_lock(&self) -> PathBuf {
        self.path.join("provider-lock.hcl")
    }

    /// Brings a state that Terraform left beside the module to safety, before anything touches the module.
    pub(crate) fn rescue_state(&self) -> Result<(), Error> {
        let target = self.errored_state();
        for found in errored_states(&self.module()).map_err(Error::file(self.module()))? {
            // One that is there already was not stored either; the newer one holds all that it holds.
            fs::rename(&found, &target).map_err(Error::file(found))?;
        }
        Ok(())
    }

    /// Keeps the lock file of the providers over the life of the module's directory.
    pub(crate) fn keep_provider_lock(&self, run: &Run) -> Result<(), Error> {
        let (written, kept) = (self.entrypoint(run).join(PROVIDER_LOCK), self.provider_lock());
        match fs::read(&written) {
            Ok(content) if fs::read(&kept).is_ok_and(|kept| kept == content) => Ok(()),
            Ok(content) => private::write(&kept, &content).map_err(Error::file(kept)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::file(written)(error)),
        }
    }

    /// Removes what only a run needs. The saved plan stays: it is what will be applied.
    pub(crate) fn forget_secrets(&self) -> Result<(), Error> {
        self.remove_beside()?;
        private::remove_unfinished(&self.path).map_err(Error::file(&self.path))?;
        for path in [self.home(), self.temporary(), self.variables()] {
            private::clear(&path).map_err(Error::file(path))?;
        }
        for path in [self.kubeconfig(), self.backend_settings()] {
            private::remove(&path).map_err(Error::file(path))?;
        }
        Ok(())
    }

    /// Removes what commands printed, once it was read.
    pub(crate) fn forget_raw_logs(&self) -> Result<(), Error> {
        let logs = self.logs();
        let entries = match fs::read_dir(&logs) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(Error::file(&logs))?,
        };
        for entry in entries.flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "out" || extension == "err") {
                private::remove(&entry.path()).map_err(Error::file(entry.path()))?;
            }
        }
        Ok(())
    }

    /// Whether removing the directory would lose something.
    pub(crate) fn holds_state(&self) -> io::Result<bool> {
        let local = fs::read_dir(self.state()).is_ok_and(|mut entries| entries.next().is_some());
        Ok(local || self.holds_unstored_state()?)
    }

    /// Whether a state is here that Terraform could not store.
    pub(crate) fn holds_unstored_state(&self) -> io::Result<bool> {
        Ok(self.errored_state().exists()
            || kept::holds_unstored(self)?
            || !errored_states(&self.module())?.is_empty())
    }
}

/// Whether Terraform reads the file as configuration.
fn is_configuration(name: &str) -> bool {
    [".tf", ".tf.json", ".tofu", ".tofu.json"].iter().any(|end| name.ends_with(end))
}

/// Every state below a directory that Terraform could not store, oldest first.
fn errored_states(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            } else if entry.file_name() == ERRORED_STATE {
                found.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
