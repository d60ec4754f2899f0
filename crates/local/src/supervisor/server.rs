//! The supervisor itself.
//!
//! Invariant: only the main thread starts processes, and it lives as long as the supervisor, because the signal
//! that ties a process to its parent is sent when the *thread* that started it ends.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::protocol::{Event, Order, Process};

enum Message {
    Order(Order),
    ParentGone,
    Ended { pid: u32 },
}

struct Running {
    process: Process,
    child: Child,
}

struct Crew {
    /// In the order of their start.
    running: Vec<Running>,
    sender: Sender<Message>,
    inbox: Receiver<Message>,
    remove: Option<PathBuf>,
}

pub(super) fn serve() -> ExitCode {
    let (sender, inbox) = mpsc::channel();
    let orders = sender.clone();
    thread::spawn(move || read_orders(&orders));
    let mut crew = Crew { running: Vec::new(), sender, inbox, remove: None };
    while let Ok(message) = crew.inbox.recv() {
        match message {
            Message::Order(Order::Start(process)) => crew.start(process),
            Message::Order(Order::Restart(name)) => crew.restart(&name),
            Message::Order(Order::RemoveWhenStopped(directory)) => crew.remove = Some(directory),
            Message::Ended { pid } => crew.reap(pid),
            Message::ParentGone => break,
        }
    }
    crew.stop();
    if let Some(directory) = crew.remove {
        let _ = fs::remove_dir_all(directory);
    }
    ExitCode::SUCCESS
}

fn read_orders(sender: &Sender<Message>) {
    for line in io::stdin().lock().lines() {
        let Some(order) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else {
            break;
        };
        if sender.send(Message::Order(order)).is_err() {
            return;
        }
    }
    let _ = sender.send(Message::ParentGone);
}

impl Crew {
    fn start(&mut self, process: Process) {
        match launch(&process) {
            Ok(child) => {
                let pid = child.id();
                let sender = self.sender.clone();
                thread::spawn(move || wait_without_reaping(pid, &sender));
                tell(&Event::Started { name: process.name.clone(), pid });
                self.running.push(Running { process, child });
            }
            Err(error) => tell(&Event::Ended { name: process.name.clone(), how: error.to_string() }),
        }
    }

    fn restart(&mut self, name: &str) {
        let Some(index) = self.running.iter().position(|running| running.process.name == name) else {
            return;
        };
        let mut running = self.running.remove(index);
        let _ = running.child.kill().and_then(|()| running.child.wait());
        let others = self.running.len();
        self.start(running.process);
        // It keeps its place in the order of the stop.
        if self.running.len() > others {
            self.running[index..].rotate_right(1);
        }
    }

    fn reap(&mut self, pid: u32) {
        let Some(index) = self.running.iter().position(|running| running.child.id() == pid) else {
            return;
        };
        let mut ended = self.running.remove(index);
        let how = ended.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        tell(&Event::Ended { name: ended.process.name, how });
    }

    /// Last started, first stopped; the next is asked only when the one before is gone.
    fn stop(&mut self) {
        while let Some(last) = self.running.last() {
            let pid = last.child.id();
            let deadline = Instant::now() + last.process.grace;
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
                && !last.process.grace.is_zero()
            {
                let _ = kill_process(pid, Signal::TERM);
            }
            while self.running.iter().any(|running| running.child.id() == pid) {
                let left = deadline.saturating_duration_since(Instant::now());
                match self.inbox.recv_timeout(left) {
                    Ok(Message::Ended { pid }) => self.reap(pid),
                    Ok(Message::Order(_) | Message::ParentGone) => {}
                    Err(_) => self.kill(pid),
                }
            }
        }
    }

    fn kill(&mut self, pid: u32) {
        if let Some(running) = self.running.iter_mut().find(|running| running.child.id() == pid) {
            let _ = running.child.kill();
        }
        self.reap(pid);
    }
}

fn launch(process: &Process) -> io::Result<Child> {
    keep_previous(&process.log)?;
    let log = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&process.log)?;
    let arguments = process.arguments.iter().map(OsStr::new);
    Command::new(super::this_program()?)
        .arg0("capt")
        .arg(super::EXEC)
        .arg(std::process::id().to_string())
        .arg(&process.program)
        .args(arguments)
        // Variables such as ETCD_* would override what the arguments say.
        .env_clear()
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
}

/// The log of the run before this one is kept, no more, so that logs do not grow for ever.
fn keep_previous(log: &Path) -> io::Result<()> {
    match fs::rename(log, log.with_extension("log.previous")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Leaves the process a zombie: its pid stays taken until the main thread, which may want to signal it, has reaped it.
fn wait_without_reaping(pid: u32, sender: &Sender<Message>) {
    if let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        while let Err(rustix::io::Errno::INTR) =
            waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        {}
    }
    let _ = sender.send(Message::Ended { pid });
}

fn tell(event: &Event) {
    // Nobody may be listening any more: then the end of the orders stops us.
    if let Ok(line) = serde_json::to_string(event) {
        let mut output = io::stdout().lock();
        let _ = writeln!(output, "{line}").and_then(|()| output.flush());
    }
}
