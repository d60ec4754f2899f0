//! A program that runs beside this one and never outlives it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// What makes this program, by `capt_local::supervisor::run_if_asked`, become another one that dies with it.
const EXEC: &str = "__exec";
const PAUSE: Duration = Duration::from_millis(100);
const LINES: usize = 40;

/// A running program. Dropped, it is killed.
pub(super) struct Process {
    name: String,
    log: PathBuf,
    id: u32,
    ended: Arc<OnceLock<String>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A command that becomes a program and dies with this one.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args([EXEC, &std::process::id().to_string()]).arg(program);
    command
}

impl Process {
    /// Starts what [`command`] made; what it says goes to a file.
    pub(super) fn start(name: &str, mut command: Command, log: PathBuf) -> anyhow::Result<Self> {
        let file = File::create(&log).with_context(|| format!("making {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let ended = Arc::new(OnceLock::new());
        let (stop, told) = channel();
        let (started, starting) = channel();
        let end = Arc::clone(&ended);
        // The kernel ends the process with the thread that started it, so that thread stays.
        let thread = thread::spawn(move || match command.spawn() {
            Ok(child) => {
                let _ = started.send(Ok(child.id()));
                look_after(child, &told, &end);
            }
            Err(error) => drop(started.send(Err(error))),
        });
        let id = starting.recv()?.with_context(|| format!("starting {name}"))?;
        Ok(Self { name: name.to_owned(), log, id, ended, stop: Some(stop), thread: Some(thread) })
    }

    /// An error when it has ended.
    pub(super) fn ensure_running(&self) -> anyhow::Result<()> {
        match self.ended.get() {
            None => Ok(()),
            Some(how) => bail!("{} ended ({how}):\n{}", self.name, self.tail()),
        }
    }

    /// Asks it to end, which it must do within this time and without an error.
    pub(super) fn end(&self, within: Duration) -> anyhow::Result<()> {
        let id = i32::try_from(self.id).ok().and_then(Pid::from_raw).context("a process without an id")?;
        kill_process(id, Signal::TERM).with_context(|| format!("asking {} to end", self.name))?;
        let deadline = Instant::now() + within;
        loop {
            if let Some(how) = self.ended.get() {
                ensure!(how == "exit status: 0", "{} ended ({how}):\n{}", self.name, self.tail());
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{} still runs after {within:?}:\n{}", self.name, self.tail());
            thread::sleep(PAUSE);
        }
    }

    /// Everything that it said.
    pub(super) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The end of what it said.
    pub(super) fn tail(&self) -> String {
        let log = self.said();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn look_after(mut child: Child, told: &Receiver<()>, ended: &OnceLock<String>) {
    while let Err(RecvTimeoutError::Timeout) = told.recv_timeout(PAUSE) {
        if let Ok(Some(status)) = child.try_wait() {
            let _ = ended.set(status.to_string());
            return;
        }
    }
    // Both fail when it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}
