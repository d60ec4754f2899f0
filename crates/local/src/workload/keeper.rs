//! Looks after one workload, in a thread of its own.

mod board;
mod launch;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

pub(super) use board::Board;
use launch::LaunchError;

use super::backoff::Backoff;
use super::name::WorkloadName;
use super::protocol::{Answer, Status, Workload};
use super::registry::Registry;
use crate::control_plane::{ControlPlane, DirectoryLock};
use crate::error::sentence;
use crate::{Progress, UnexpectedExit};

/// What a keeper is told.
#[derive(Debug)]
pub(super) enum Order {
    Start(Sender<Answer>),
    Stop(Sender<Answer>),
    Copy(Sender<Answer>),
    Adopt(Sender<Answer>),
    /// A process ended by itself. The number says of which start, since it may be over already.
    Ended(u64, UnexpectedExit),
    /// The home stops.
    Shutdown,
}

/// One workload and how it is.
pub(super) struct Keeper {
    name: WorkloadName,
    registry: Arc<Registry>,
    board: Arc<Board>,
    orders: Sender<Order>,
    running: Option<Running>,
    /// When to start again what does not run.
    retry: Option<Instant>,
    backoff: Backoff,
    starts: u64,
}

struct Running {
    control_plane: ControlPlane,
    workload: Workload,
    since: Instant,
}

impl Keeper {
    pub(super) fn new(
        name: WorkloadName,
        registry: Arc<Registry>,
        board: Arc<Board>,
        orders: Sender<Order>,
    ) -> Self {
        let backoff = Backoff::default();
        Self { name, registry, board, orders, running: None, retry: None, backoff, starts: 0 }
    }

    /// Returns when the home stops, or when the workload is gone.
    pub(super) fn work(mut self, inbox: &Receiver<Order>) {
        let mut next = None;
        loop {
            // Nobody waits for an answer to a start that was due by itself.
            match next.take().or_else(|| self.wait(inbox)) {
                None => drop(self.start()),
                Some(Order::Start(client)) => {
                    if self.running.is_none() {
                        let message = format!("starting workload {}", self.name);
                        let _ = client.send(Answer::Progress { message });
                    }
                    let _ = client.send(self.start());
                }
                Some(Order::Ended(start, exit)) if start == self.starts => self.lost(&exit),
                Some(Order::Ended(..)) => {}
                Some(Order::Stop(client)) => {
                    let answer = self.delete();
                    // Off the list first: whoever has heard that it is gone may ask for it again.
                    if answer == Answer::Stopped {
                        next = self.registry.dismiss(&self.name, inbox);
                        if next.is_none() {
                            let _ = client.send(answer);
                            return;
                        }
                    }
                    let _ = client.send(answer);
                }
                Some(Order::Copy(client)) => {
                    let _ = client.send(self.copy());
                }
                Some(Order::Adopt(client)) => {
                    let _ = client.send(self.adopt());
                }
                Some(Order::Shutdown) => return self.halt(),
            }
        }
    }

    /// The next order; `None` when it is time to start again.
    fn wait(&self, inbox: &Receiver<Order>) -> Option<Order> {
        let Some(retry) = self.retry else { return Some(inbox.recv().unwrap_or(Order::Shutdown)) };
        match inbox.recv_timeout(retry.saturating_duration_since(Instant::now())) {
            Ok(order) => Some(order),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Order::Shutdown),
        }
    }

    fn start(&mut self) -> Answer {
        if let Some(running) = &self.running {
            return Answer::Ready(running.workload.clone());
        }
        self.starts += 1;
        self.board.show(Status::Starting);
        match self.launch() {
            Ok((control_plane, workload)) => {
                self.retry = None;
                self.watch(&control_plane);
                self.board.show_running(workload.clone(), &control_plane);
                self.notify(false, format!("ready at {}", workload.server));
                let since = Instant::now();
                self.running = Some(Running { control_plane, workload: workload.clone(), since });
                Answer::Ready(workload)
            }
            Err(error) => {
                let message = format!("workload {} did not start: {}", self.name, sentence(&error));
                self.try_again("did not start", &sentence(&error), Duration::ZERO);
                Answer::Failed { message }
            }
        }
    }

    /// Hears of the end of a process.
    fn watch(&self, control_plane: &ControlPlane) {
        let (watcher, orders, start) = (control_plane.exit_watcher(), self.orders.clone(), self.starts);
        thread::spawn(move || {
            if let Some(exit) = watcher.wait() {
                let _ = orders.send(Order::Ended(start, exit));
            }
        });
    }

    fn lost(&mut self, exit: &UnexpectedExit) {
        let ran = self.running.as_ref().map(|running| running.since.elapsed());
        // What is left of it is of no use.
        self.halt_processes();
        self.try_again("is lost", &exit.to_string(), ran.unwrap_or_default());
    }

    fn try_again(&mut self, what: &str, why: &str, ran: Duration) {
        self.board.show(Status::Failed { message: why.to_owned() });
        if self.registry.cancellation.is_cancelled() {
            return;
        }
        let pause = self.backoff.after(ran);
        self.retry = Some(Instant::now() + pause);
        self.notify(true, format!("{what}, and is started again in {} s: {why}", pause.as_secs()));
    }

    fn delete(&mut self) -> Answer {
        self.board.show(Status::Stopping);
        self.halt_processes();
        self.retry = None;
        match self.remove() {
            Ok(()) => {
                self.board.show(Status::Absent);
                self.notify(false, "stopped and deleted".to_owned());
                Answer::Stopped
            }
            Err(error) => {
                let message = format!("workload {} was not deleted: {}", self.name, sentence(&*error));
                self.notify(true, message.clone());
                self.board.show(Status::Failed { message: message.clone() });
                Answer::Failed { message }
            }
        }
    }

    fn remove(&self) -> Result<(), Box<dyn std::error::Error>> {
        let directory = self.registry.directory.of(&self.name);
        // Where processes of a home that was killed are about to end, they are waited for. Where no process has ever
        // been, there is no lock, and none may be made: nothing but a lock would be no workload.
        let lock = directory
            .join("lock")
            .exists()
            .then(|| DirectoryLock::acquire(&directory, &self.registry.cancellation, &Progress::silent()));
        let _held = lock.transpose()?;
        Ok(self.registry.directory.remove(&self.name)?)
    }

    /// Copies the data while nothing runs: what a running store has on the disk is not whole.
    fn copy(&mut self) -> Answer {
        self.halt_processes();
        let copied = self.registry.directory.copy(&self.name);
        let answer = self.start();
        match copied {
            Ok(()) => answer,
            Err(error) => Answer::Failed {
                message: format!("workload {} was not copied: {}", self.name, sentence(&error)),
            },
        }
    }

    fn adopt(&mut self) -> Answer {
        match self.registry.directory.adopt(&self.name) {
            Ok(()) => self.start(),
            Err(error) => {
                let message = format!("workload {} was not taken over: {}", self.name, sentence(&error));
                Answer::Failed { message }
            }
        }
    }

    fn halt_processes(&mut self) {
        if let Some(running) = self.running.take() {
            running.control_plane.stop();
        }
        self.board.show_nothing_running();
    }

    fn halt(mut self) {
        self.halt_processes();
    }

    fn notify(&self, trouble: bool, message: String) {
        self.registry.notify(&self.name, trouble, message);
    }

    fn launch(&self) -> Result<(ControlPlane, Workload), LaunchError> {
        self.notify(false, "starting".to_owned());
        launch::launch(&self.name, &self.registry)
    }
}
