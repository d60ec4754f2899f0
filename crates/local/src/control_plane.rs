//! A Kubernetes API of real parts, in one directory, for its owner alone.
//!
//! Everything listens on 127.0.0.1 only, every connection is authenticated by certificate, Secrets are encrypted at
//! rest, and the same directory started again is the same control plane on the same ports.

mod authority;
mod files;
mod kubeconfig;
mod lock;
mod ports;
mod processes;
mod ready;
mod store;

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use authority::AuthorityError;
use files::Credentials;
pub(crate) use files::Files;
pub(crate) use lock::{DirectoryLock, FILE as LOCK_FILE};
pub use lock::{Holder, LockError};
pub use ports::{Ports, PortsError};
use processes::{CONTROLLER_MANAGER, Settings};
use ready::NotReady;
pub use store::StoreError;
use store::Upgrade;

use crate::finder::Parts;
use crate::supervisor::{Helper, Process, Supervisor, UnexpectedExit, Watch};
use crate::{Cancellation, Progress};

/// What a control plane is called unless the options say otherwise.
const NAME: &str = "capt";
/// How long a start may take unless the options say otherwise.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Why a control plane did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory cannot be used.
    #[error("preparing the directory {directory}", directory = directory.display())]
    Directory {
        /// Which directory.
        directory: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// The directory is in use.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The data is not in a form that can be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There are no ports to listen on.
    #[error(transparent)]
    Ports(#[from] PortsError),
    /// The certificates could not be made.
    #[error("making the certificates of the control plane")]
    Authority(#[from] AuthorityError),
    /// The client that asks whether the API server is ready could not be made.
    #[error("making a client of the API server")]
    Client(#[from] ureq::Error),
    /// The supervisor could not be started, or died.
    #[error("talking to the supervisor {program}", program = program.display())]
    Supervisor {
        /// Its executable.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The API server did not say which version it is.
    #[error("asking the API server for its version")]
    Version(#[source] ureq::Error),
    /// The start was given up.
    #[error("the start was cancelled")]
    Cancelled,
    /// A process ended while the control plane started.
    #[error("{exit}{log}")]
    Ended {
        /// Which process and how.
        exit: UnexpectedExit,
        /// Where its log is, with the last lines.
        log: String,
    },
    /// The API server did not become ready in time.
    #[error("{name} was not ready after {seconds} s: {last}{log}")]
    TooLate {
        /// Which process.
        name: &'static str,
        /// How long it was given.
        seconds: u64,
        /// The last answer.
        last: String,
        /// Where its log is, with the last lines.
        log: String,
    },
}

/// What a control plane is to be like.
#[derive(Debug, Clone)]
pub struct ControlPlaneOptions {
    /// What its kubeconfigs call it.
    pub name: String,
    /// Where it lives. Made when missing; one that holds other things is refused.
    pub directory: PathBuf,
    /// Whether what was written survives a crash of the machine. Tests do without, and are faster for it.
    pub durable: bool,
    /// Whether garbage collection and the deletion of namespaces work.
    pub controller_manager: bool,
    /// Whether the directory goes away when the control plane has stopped.
    pub remove_when_stopped: bool,
    /// How long the start may take.
    pub ready_within: Duration,
    /// Gives up a start that is under way.
    pub cancellation: Cancellation,
    /// The executable that supervises the processes.
    pub helper: Helper,
}

impl ControlPlaneOptions {
    /// A complete and durable control plane in `directory`.
    pub fn new(directory: impl Into<PathBuf>, helper: Helper) -> Self {
        Self {
            name: NAME.to_owned(),
            directory: directory.into(),
            durable: true,
            controller_manager: true,
            remove_when_stopped: false,
            ready_within: READY_WITHIN,
            cancellation: Cancellation::default(),
            helper,
        }
    }
}

/// A control plane that runs. Dropped, it stops in order: controllers, API server, etcd.
#[derive(Debug)]
pub struct ControlPlane {
    // Fields are dropped in this order: the directory is released when everything has stopped.
    supervisor: Supervisor,
    files: Files,
    credentials: Credentials,
    name: String,
    url: String,
    helper: PathBuf,
    _lock: DirectoryLock,
}

impl ControlPlane {
    /// Starts the control plane of a directory and waits until it is ready.
    pub fn start(parts: &Parts, options: &ControlPlaneOptions, progress: &Progress) -> Result<Self, Error> {
        let task = progress.task("starting the control plane");
        let prepared = |source| Error::Directory { directory: options.directory.clone(), source };
        let directory = std::path::absolute(&options.directory).map_err(prepared)?;
        let files = Files::at(&directory).map_err(prepared)?;
        let lock = DirectoryLock::acquire(&directory, &options.cancellation, progress)?;
        store::recover(&directory, progress)?;
        let new = files.clear_unfinished_store().map_err(prepared)?;
        let upgrade = Upgrade::begin(&directory, new, &parts.versions, progress)?;
        let addresses = Ports::kept_in(&files.ports)?;
        let url = format!("https://127.0.0.1:{}", addresses.api_server);
        let credentials = files.issue(&options.name, &url)?;

        let broken = |source| Error::Supervisor { program: options.helper.program().to_owned(), source };
        let supervisor =
            lock.share().and_then(|hold| Supervisor::spawn(&options.helper, hold)).map_err(broken)?;
        if options.remove_when_stopped {
            supervisor.remove_when_stopped(directory).map_err(broken)?;
        }
        let helper = options.helper.program().to_owned();
        let name = options.name.clone();
        let mut control_plane = Self { supervisor, files, credentials, name, url, helper, _lock: lock };
        control_plane.run(parts, options, &addresses)?;
        control_plane.files.keep_store().map_err(prepared)?;
        upgrade.finish()?;
        task.finish(&format!("control plane ready at {}", control_plane.url));
        Ok(control_plane)
    }

    fn run(&mut self, parts: &Parts, options: &ControlPlaneOptions, addresses: &Ports) -> Result<(), Error> {
        let deadline = Instant::now() + options.ready_within;
        let settings = Settings { files: &self.files, ports: addresses, durable: options.durable };
        let etcd = settings.etcd(&parts.etcd);
        let api_server = settings.api_server(&parts.kube_apiserver);
        let manager = settings.controller_manager(&parts.kube_controller_manager);

        self.launch(etcd, options)?;
        self.await_ready("etcd", || ready::listens(addresses.etcd_clients), deadline, options)?;
        self.launch(api_server, options)?;
        let agent = ready::agent(self.credentials.authority.certificate(), &self.credentials.administrator)?;
        self.await_ready("kube-apiserver", || ready::answers(&agent, &self.url), deadline, options)?;
        if options.controller_manager {
            self.launch(manager, options)?;
        }
        Ok(())
    }

    fn launch(&mut self, process: Process, options: &ControlPlaneOptions) -> Result<(), Error> {
        let program = options.helper.program().to_owned();
        self.supervisor.start(process).map_err(|source| Error::Supervisor { program, source })
    }

    fn await_ready(
        &self,
        name: &'static str,
        ask: impl FnMut() -> Result<(), String>,
        deadline: Instant,
        options: &ControlPlaneOptions,
    ) -> Result<(), Error> {
        let ready = ready::wait_until(ask, &self.supervisor.watch(), deadline, &options.cancellation);
        ready.map_err(|reason| match reason {
            NotReady::Cancelled => Error::Cancelled,
            NotReady::Ended(exit) => Error::Ended { log: self.log_excerpt(&exit.name), exit },
            NotReady::TooLate { last } => {
                let seconds = options.ready_within.as_secs();
                Error::TooLate { name, seconds, last, log: self.log_excerpt(name) }
            }
        })
    }

    /// Empty when there is nothing to show.
    fn log_excerpt(&self, process: &str) -> String {
        let log = self.files.log(process);
        let mut text = String::new();
        let lines = ready::last_lines(&log);
        if !lines.is_empty() {
            let _ = write!(text, "; the end of {}:\n{lines}", log.display());
        }
        text
    }

    /// Makes garbage collection aware of kinds that were defined since the start.
    ///
    /// It looks for new kinds only every half minute, and until then objects owned by such a kind outlive their owner.
    pub fn refresh_controllers(&self) -> Result<(), Error> {
        let program = self.helper.clone();
        self.supervisor.restart(CONTROLLER_MANAGER).map_err(|source| Error::Supervisor { program, source })
    }

    /// The kubeconfig of the administrator, everything inline.
    pub fn kubeconfig(&self) -> String {
        let Credentials { authority, administrator } = &self.credentials;
        kubeconfig::text(&self.name, &self.url, authority.certificate(), administrator)
    }

    /// The file that holds [`Self::kubeconfig`], readable by its owner alone.
    pub fn kubeconfig_path(&self) -> &Path {
        &self.files.kubeconfig
    }

    /// A kubeconfig for somebody else, who has the rights that RBAC gives to this user and these groups.
    pub fn kubeconfig_for(&self, user: &str, groups: &[&str]) -> Result<String, Error> {
        let authority = &self.credentials.authority;
        let client = authority.client(user, groups)?;
        Ok(kubeconfig::text(&self.name, &self.url, authority.certificate(), &client))
    }

    /// The certificate that clients know the API server by, as PEM.
    pub fn certificate_authority(&self) -> &str {
        self.credentials.authority.certificate()
    }

    /// Which Kubernetes this is, for example `1.34.4`: what the binary says, wherever it was found.
    pub fn kubernetes_version(&self) -> Result<String, Error> {
        let agent = ready::agent(self.certificate_authority(), &self.credentials.administrator)?;
        let version = ready::version(&agent, &self.url).map_err(Error::Version)?;
        Ok(version.trim_start_matches('v').to_owned())
    }

    /// Where the API server listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where everything of this control plane lies.
    pub fn directory(&self) -> &Path {
        self.files.root()
    }

    /// The log of one of the processes, by its name.
    pub fn log(&self, process: &str) -> PathBuf {
        self.files.log(process)
    }

    /// The names and pids of what runs now; the supervisor is the first.
    pub fn processes(&self) -> Vec<(String, u32)> {
        self.supervisor.watch().processes()
    }

    /// Tells when a process ends that should not; can be given to another thread.
    pub fn exit_watcher(&self) -> ExitWatcher {
        ExitWatcher(self.supervisor.watch())
    }

    /// Stops everything in order and returns when all is gone.
    pub fn stop(mut self) {
        self.supervisor.stop();
    }
}

/// Waits for the unexpected end of a process of a [`ControlPlane`].
#[derive(Debug, Clone)]
pub struct ExitWatcher(Arc<Watch>);

impl ExitWatcher {
    /// Blocks until a process ends unexpectedly, and says which; `None` when the control plane is stopped in order.
    pub fn wait(&self) -> Option<UnexpectedExit> {
        self.0.wait()
    }
}
