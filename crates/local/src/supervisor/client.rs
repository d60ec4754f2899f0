//! The parent's end of a supervisor.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::protocol::{Event, Order, Process};
use super::{Helper, UnexpectedExit};

/// How long a supervisor may take beyond the grace of its processes.
const MARGIN: Duration = Duration::from_secs(5);

/// A running supervisor. Dropped, it stops everything in order.
#[derive(Debug)]
pub(crate) struct Supervisor {
    child: Child,
    orders: Mutex<Option<ChildStdin>>,
    watch: Arc<Watch>,
    grace: Duration,
}

/// What is known of the processes; shared with the thread that listens to the supervisor.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    pids: Vec<(String, u32)>,
    failure: Option<UnexpectedExit>,
    stopping: bool,
    gone: bool,
}

impl Supervisor {
    /// Starts a supervisor with no processes yet. It keeps `errors` open as long as it lives.
    pub(crate) fn spawn(helper: &Helper, errors: Stdio) -> io::Result<Self> {
        let mut child = Command::new(helper.program())
            .arg0("capt")
            .arg(super::SUPERVISE)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            // Control-C goes to every process of the terminal's group, but the stop has an order.
            .process_group(0)
            .spawn()?;
        let watch = Arc::new(Watch::default());
        watch.lock().pids.push(("supervisor".to_owned(), child.id()));
        if let Some(output) = child.stdout.take() {
            let watch = Arc::clone(&watch);
            thread::spawn(move || watch.listen(output));
        }
        let orders = Mutex::new(child.stdin.take());
        Ok(Self { child, orders, watch, grace: Duration::ZERO })
    }

    /// Returns when the process runs, or when its failure is known.
    pub(crate) fn start(&mut self, process: Process) -> io::Result<()> {
        self.grace += process.grace;
        let name = process.name.clone();
        self.order(&Order::Start(process))?;
        self.watch.wait_for_start(&name);
        Ok(())
    }

    /// Kills a process and runs it again; returns as [`Self::start`] does. One that does not run is left alone.
    pub(crate) fn restart(&self, name: &str) -> io::Result<()> {
        if self.watch.forget(name) {
            self.order(&Order::Restart(name.to_owned()))?;
            self.watch.wait_for_start(name);
        }
        Ok(())
    }

    pub(crate) fn remove_when_stopped(&self, directory: PathBuf) -> io::Result<()> {
        self.order(&Order::RemoveWhenStopped(directory))
    }

    pub(crate) fn watch(&self) -> Arc<Watch> {
        Arc::clone(&self.watch)
    }

    fn order(&self, order: &Order) -> io::Result<()> {
        let line = serde_json::to_string(order)?;
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let orders = orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(orders, "{line}")
    }

    /// Stops the processes in order and waits until all are gone.
    pub(crate) fn stop(&mut self) {
        self.watch.lock().stopping = true;
        *self.orders.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        if !self.watch.wait_until_gone(Instant::now() + self.grace + MARGIN) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, output: ChildStdout) {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Ok(event) = serde_json::from_str(&line) else {
                continue;
            };
            self.note(event);
        }
        let mut state = self.lock();
        state.gone = true;
        let name = "supervisor".to_owned();
        state.fail(UnexpectedExit { name, how: "it was killed".to_owned() });
        drop(state);
        self.changed.notify_all();
    }

    fn note(&self, event: Event) {
        let mut state = self.lock();
        match event {
            Event::Started { name, pid } => state.pids.push((name, pid)),
            Event::Ended { name, how } => {
                state.pids.retain(|(other, _)| *other != name);
                state.fail(UnexpectedExit { name, how });
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// The processes that run now, with their pids; the supervisor is the first.
    pub(crate) fn processes(&self) -> Vec<(String, u32)> {
        self.lock().pids.clone()
    }

    /// Blocks until a process ends unexpectedly (its exit) or all were stopped in order (`None`).
    pub(crate) fn wait(&self) -> Option<UnexpectedExit> {
        let waiting = |state: &mut State| state.failure.is_none() && !state.stopping;
        let state = self.changed.wait_while(self.lock(), waiting).unwrap_or_else(PoisonError::into_inner);
        state.failure.clone()
    }

    /// Like [`Self::wait`], but no longer than `time`.
    pub(crate) fn wait_for(&self, time: Duration) -> Option<UnexpectedExit> {
        let waiting = |state: &mut State| state.failure.is_none();
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), time, waiting)
            .unwrap_or_else(PoisonError::into_inner);
        state.failure.clone()
    }

    /// Whether there was such a process.
    fn forget(&self, name: &str) -> bool {
        let mut state = self.lock();
        let before = state.pids.len();
        state.pids.retain(|(other, _)| other != name);
        state.pids.len() < before
    }

    fn wait_for_start(&self, name: &str) {
        let waiting =
            |state: &mut State| state.failure.is_none() && state.pids.iter().all(|(other, _)| other != name);
        let state = self.changed.wait_timeout_while(self.lock(), MARGIN, waiting);
        drop(state);
    }

    fn wait_until_gone(&self, deadline: Instant) -> bool {
        self.changed.notify_all();
        let left = deadline.saturating_duration_since(Instant::now());
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), left, |state| !state.gone)
            .unwrap_or_else(PoisonError::into_inner);
        state.gone
    }
}

impl State {
    /// Keeps the first failure: the ones after it are its consequences.
    fn fail(&mut self, exit: UnexpectedExit) {
        if !self.stopping && self.failure.is_none() {
            self.failure = Some(exit);
        }
    }
}
