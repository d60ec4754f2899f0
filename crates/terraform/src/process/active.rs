//! Which runs there are at the moment, so that they can be asked to stop.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::run::Identity;

/// Turns true once, when the work is to stop.
pub(super) type Signal = watch::Receiver<bool>;

#[derive(Default)]
struct Turns {
    stopping: bool,
    running: Vec<(Identity, Arc<watch::Sender<bool>>)>,
}

/// The runs of one engine.
#[derive(Clone, Default)]
pub(super) struct Active(Arc<Mutex<Turns>>);

impl Active {
    /// Notes a run; `None` when nothing new may begin.
    pub(super) fn enter(&self, identity: &Identity) -> Option<Turn> {
        let stop = Arc::new(watch::Sender::new(false));
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.stopping {
            return None;
        }
        turns.running.push((identity.clone(), Arc::clone(&stop)));
        Some(Turn { active: self.clone(), stop })
    }

    /// Asks the runs of an identity to stop; `false` when there are none.
    pub(super) fn interrupt(&self, identity: &Identity) -> bool {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let asked: Vec<_> = turns.running.iter().filter(|(running, _)| running == identity).collect();
        for (_, stop) in &asked {
            stop.send_replace(true);
        }
        !asked.is_empty()
    }

    pub(super) fn stop(&self) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.stopping = true;
        for (_, stop) in &turns.running {
            stop.send_replace(true);
        }
    }
}

/// One run, until it is dropped.
pub(super) struct Turn {
    active: Active,
    stop: Arc<watch::Sender<bool>>,
}

impl Turn {
    pub(super) fn signal(&self) -> Signal {
        self.stop.subscribe()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = self.active.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.running.retain(|(_, stop)| !Arc::ptr_eq(stop, &self.stop));
    }
}

/// Returns when the signal is given; never when it can no longer be.
pub(super) async fn given(signal: &mut Signal) {
    if signal.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
