//! Who looks after which workload.
//!
//! Invariant: one name has one keeper at most, and only that keeper touches the workload's directory and processes.
//! So requests for one name are worked on one after the other, and those for different names side by side.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};

use super::directory::{self, Directory};
use super::keeper::{Board, Keeper, Order};
use super::name::WorkloadName;
use super::protocol::{Answer, Request, Status};
use super::{Notice, WorkloadsError, WorkloadsOptions};
use crate::Cancellation;

/// All keepers of a home.
#[derive(Debug)]
pub(super) struct Registry {
    pub(super) options: WorkloadsOptions,
    pub(super) directory: Directory,
    /// Ends starts that are under way when the home stops.
    pub(super) cancellation: Cancellation,
    keepers: Mutex<Keepers>,
}

#[derive(Debug, Default)]
struct Keepers {
    stopping: bool,
    entries: HashMap<WorkloadName, Entry>,
}

#[derive(Debug)]
struct Entry {
    orders: Sender<Order>,
    board: Arc<Board>,
    /// Taken by whoever waits for its end.
    thread: Option<JoinHandle<()>>,
}

impl Registry {
    pub(super) fn open(options: WorkloadsOptions) -> Result<Self, WorkloadsError> {
        let directory = Directory::of_home(&options.home).map_err(|source| WorkloadsError::Directory {
            directory: directory::path_in(&options.home),
            source,
        })?;
        let keepers = Mutex::default();
        Ok(Self { options, directory, cancellation: Cancellation::default(), keepers })
    }

    pub(super) fn home(&self) -> &Path {
        &self.options.home
    }

    /// Begins to start every workload that is there, and finishes what was being removed.
    pub(super) fn start_all(self: &Arc<Self>) -> Result<(), WorkloadsError> {
        let failed =
            |source| WorkloadsError::Directory { directory: self.directory.path().to_owned(), source };
        self.directory.finish_removals().map_err(failed)?;
        for name in self.directory.names().map_err(failed)? {
            // Nobody waits for the answer: what goes wrong is told to the log.
            drop(self.ask(Request::Start { name }));
        }
        Ok(())
    }

    /// Begins to do what is asked. The answers end early when the home stops.
    pub(super) fn ask(self: &Arc<Self>, request: Request) -> Receiver<Answer> {
        let (sender, answers) = mpsc::channel();
        match request {
            Request::Start { name } => self.order(name, Order::Start(sender)),
            Request::Stop { name } => self.order(name, Order::Stop(sender)),
            Request::Copy { name } if !self.directory.of(&name).is_dir() => {
                let _ = sender.send(Answer::Failed { message: format!("workload {name} is not there") });
            }
            Request::Copy { name } => self.order(name, Order::Copy(sender)),
            Request::Adopt { name } if self.directory.of(&name).exists() => {
                let message = format!("workload {name} is there already");
                let _ = sender.send(Answer::Failed { message });
            }
            Request::Adopt { name } => self.order(name, Order::Adopt(sender)),
            Request::Status { name } => {
                let status = self.lock().entries.get(&name).map(|entry| entry.board.status());
                let _ = sender.send(Answer::Status(status.unwrap_or(Status::Absent)));
            }
        }
        answers
    }

    fn order(self: &Arc<Self>, name: WorkloadName, order: Order) {
        let mut keepers = self.lock();
        if keepers.stopping {
            return;
        }
        let entry = keepers.entries.entry(name).or_insert_with_key(|name| self.employ(name.clone()));
        // A keeper takes itself off the list before it ends, so this one listens.
        let _ = entry.orders.send(order);
    }

    fn employ(self: &Arc<Self>, name: WorkloadName) -> Entry {
        let (orders, inbox) = mpsc::channel();
        let board = Arc::new(Board::default());
        let keeper = Keeper::new(name, Arc::clone(self), Arc::clone(&board), orders.clone());
        let thread = Some(thread::spawn(move || keeper.work(&inbox)));
        Entry { orders, board, thread }
    }

    /// Takes a keeper off the list that has nothing to keep. Not when it was told something meanwhile: that is returned.
    pub(super) fn dismiss(&self, name: &WorkloadName, inbox: &Receiver<Order>) -> Option<Order> {
        let mut keepers = self.lock();
        let order = inbox.try_recv().ok();
        if order.is_none() {
            keepers.entries.remove(name);
        }
        order
    }

    pub(super) fn notify(&self, name: &WorkloadName, trouble: bool, message: String) {
        (self.options.notify)(Notice { workload: name.to_string(), message, trouble });
    }

    /// Stops all and returns when all is gone. Data stays.
    pub(super) fn stop(&self) {
        self.cancellation.cancel();
        let threads: Vec<JoinHandle<()>> = {
            let mut keepers = self.lock();
            keepers.stopping = true;
            for entry in keepers.entries.values() {
                let _ = entry.orders.send(Order::Shutdown);
            }
            // The entries stay, for whoever wants to kill what takes too long.
            keepers.entries.values_mut().filter_map(|entry| entry.thread.take()).collect()
        };
        for thread in threads {
            let _ = thread.join();
        }
    }

    /// Kills the supervisors, whose processes are killed with them.
    pub(super) fn kill(&self) {
        let supervisors: Vec<u32> =
            self.lock().entries.values().filter_map(|entry| entry.board.supervisor()).collect();
        for pid in supervisors.into_iter().filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Keepers> {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
