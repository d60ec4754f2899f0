//! A `capt up` as a user runs it: a process of its own with a directory of its own.
//!
//! Nothing in here panics: the soak test, which is not a test of Cargo's, uses it too.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use capt_local::{Parts, Progress};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use crate::terraform;

/// How long a start may take when the parts are there already.
const READY_WITHIN: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(20);

/// A `capt up` that has announced its cluster. Dropped, it is killed.
#[derive(Debug)]
pub struct Home {
    child: Child,
    announcement: Announcement,
}

/// What `capt up --output json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Announcement {
    /// The address of the API server.
    pub server: String,
    /// The administrator's kubeconfig.
    pub kubeconfig: PathBuf,
    /// Where the cluster keeps its data.
    pub directory: PathBuf,
}

impl Home {
    /// Starts `capt up` in a directory and waits until it announces its cluster. Its messages go to `messages`.
    ///
    /// The parts are got first: on a new machine that takes minutes, which the start itself may not.
    pub fn start(capt: &Path, directory: &Path, messages: &Path) -> io::Result<Self> {
        Self::start_with(capt, directory, messages, &[])
    }

    /// As [`Self::start`], with more arguments.
    pub fn start_with(
        capt: &Path,
        directory: &Path,
        messages: &Path,
        arguments: &[&str],
    ) -> io::Result<Self> {
        Parts::find(&Progress::stderr()).map_err(io::Error::other)?;
        terraform::obtain(None)?;
        let mut child = spawn_with(capt, directory, messages, arguments)?;
        let announced = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe.into()).and_then(announcement);
        match announced {
            Ok(announcement) => Ok(Self { child, announcement }),
            Err(error) => {
                child.kill()?;
                let status = child.wait()?;
                let messages = fs::read_to_string(messages)?;
                Err(io::Error::other(format!("capt up announced nothing ({error}, {status}):\n{messages}")))
            }
        }
    }

    /// What it announced.
    pub fn announcement(&self) -> &Announcement {
        &self.announcement
    }

    /// A client of its administrator.
    pub async fn client(&self) -> io::Result<Client> {
        let kubeconfig = Kubeconfig::read_from(&self.announcement.kubeconfig).map_err(io::Error::other)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        Client::try_from(config.map_err(io::Error::other)?).map_err(io::Error::other)
    }

    /// Sends a signal to `capt up` itself.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        self::signal(&self.child, signal)
    }

    /// Waits until `capt up` has ended; an error when it still runs after this time.
    pub fn wait(&mut self, within: Duration) -> io::Result<ExitStatus> {
        wait(&mut self.child, within)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Both fail when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts `capt up` in a directory and does not wait for anything. Its messages go to `messages`.
pub fn spawn(capt: &Path, directory: &Path, messages: &Path) -> io::Result<Child> {
    spawn_with(capt, directory, messages, &[])
}

fn spawn_with(capt: &Path, directory: &Path, messages: &Path, arguments: &[&str]) -> io::Result<Child> {
    Command::new(capt)
        .args(["--output", "json", "up", "--dir"])
        .arg(directory)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(messages)?)
        .spawn()
}

/// Sends a signal to a process that has not been waited for.
pub fn signal(child: &Child, signal: Signal) -> io::Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    Ok(kill_process(pid.ok_or(io::ErrorKind::NotFound)?, signal)?)
}

/// Waits until a process has ended; an error when it still runs after this time.
pub fn wait(child: &mut Child, within: Duration) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("it still runs after {within:?}")));
        }
        thread::sleep(PAUSE);
    }
}

/// The processes that work in a directory, by pid and command line: those that it is an argument of, and those whose
/// messages go there (the supervisor, which has no arguments).
pub fn processes_in(directory: &Path) -> io::Result<Vec<(u32, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process may end while we look at it.
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let messages = fs::read_link(entry.path().join("fd/2")).unwrap_or_default();
        if command.contains(&*directory.to_string_lossy()) || messages.starts_with(directory) {
            found.push((pid, command.trim_end().to_owned()));
        }
    }
    Ok(found)
}

/// Waits until nothing works in a directory any more; an error that lists what still does after this time.
pub fn wait_until_empty(directory: &Path, within: Duration) -> io::Result<()> {
    let deadline = Instant::now() + within;
    loop {
        let left = processes_in(directory)?;
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("still running: {left:#?}")));
        }
        thread::sleep(PAUSE);
    }
}

/// Reads the announcement, and goes on reading so that the writer is never held up.
fn announcement(output: ChildStdout) -> io::Result<Announcement> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            text.push_str(&line);
            if let Ok(announcement) = serde_json::from_str(&text) {
                // Nobody may be waiting any more.
                let _ = sender.send(announcement);
            }
        }
    });
    receiver.recv_timeout(READY_WITHIN).map_err(io::Error::other)
}
