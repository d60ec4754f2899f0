//! When the manager may act: the kinds are fit for it, its namespaces are there, no other manager looks at the same objects,
//! and it has the Lease.

use std::future::pending;
use std::sync::Arc;

use capt_api::names::MANAGER_LEASE;
use capt_core::lease::{Scope, Standing};
use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{info, warn};

use crate::definitions::{self, Fitness};
use crate::diagnostics::Readiness;
use crate::leader::{Leadership, Taken};
use crate::metrics::Metrics;
use crate::namespace::Namespaces;
use crate::options::Options;
use crate::rivals::Rivals;
use crate::term::LeadershipTerm;

/// What a manager has to pass before it acts.
pub(crate) struct Gate {
    leadership: Option<Leadership>,
    kinds: watch::Receiver<Fitness>,
    namespaces: Namespaces,
    rivals: Arc<Rivals>,
    /// They end with the gate.
    _watching: JoinSet<()>,
}

impl Gate {
    /// Begins to look at CRDs and Leases.
    pub(crate) fn new(client: &Client, options: &Options, metrics: &Metrics) -> Self {
        let scope =
            Scope { namespace: options.namespace.clone(), watch_filter: options.watch_filter.clone() };
        let election = options.leader_election.clone();
        let name = election.as_ref().map_or(MANAGER_LEASE, |election| election.name.as_str()).to_owned();
        let own = election.as_ref().map(|election| election.namespace.clone());
        let rivals = Arc::new(Rivals::new(name, own, scope.clone(), metrics.clone()));
        let (told, kinds) = watch::channel(Fitness::Unknown);
        let mut watching = JoinSet::new();
        watching.spawn(definitions::follow(client.clone(), told, metrics.clone()));
        let (others, of) = (Arc::clone(&rivals), client.clone());
        watching.spawn(async move { others.follow(of).await });
        let leadership = election.map(|election| Leadership::new(client.clone(), election, scope));
        let namespaces = Namespaces::new(client, options);
        Self { leadership, kinds, namespaces, rivals, _watching: watching }
    }

    /// Waits until the manager may act, and answers with the term in which it may.
    pub(crate) async fn pass(&self, readiness: &watch::Sender<Readiness>) -> LeadershipTerm {
        loop {
            self.fit(readiness).await;
            tokio::select! {
                () = self.unfit() => self.leave().await,
                term = self.turn(readiness) => return term,
            }
        }
    }

    /// Returns when the manager may not act any more: the term has ended then.
    pub(crate) async fn closed(&self, term: &LeadershipTerm) {
        let lost = async {
            match &self.leadership {
                Some(leadership) => leadership.keep(term).await,
                None => pending().await,
            }
        };
        let standing = if self.leadership.is_some() { Standing::Acts } else { Standing::GivesWay };
        tokio::select! {
            () = lost => {}
            () = self.unfit() => {}
            () = self.rivals.any(standing) => {}
        }
        term.end();
    }

    /// Lets others pass.
    pub(crate) async fn leave(&self) {
        if let Some(leadership) = &self.leadership {
            leadership.release().await;
        }
    }

    /// Waits until the kinds are fit.
    async fn fit(&self, readiness: &watch::Sender<Readiness>) {
        let mut kinds = self.kinds.clone();
        let mut waited = false;
        loop {
            let fitness = kinds.borrow_and_update().clone();
            match fitness {
                Fitness::Fit => break,
                Fitness::Unknown => {
                    readiness.send_replace(Readiness::Starting("a look at the kinds"));
                }
                Fitness::Unfit(why) => {
                    if !waited {
                        warn!("waiting until the kinds fit this capt; nothing is done until then");
                    }
                    waited = true;
                    readiness.send_replace(Readiness::Waiting(why));
                }
            }
            if kinds.changed().await.is_err() {
                // Nobody looks at them any more.
                pending::<()>().await;
            }
        }
        if waited {
            info!("the kinds fit this capt now");
        }
    }

    async fn unfit(&self) {
        let is_unfit = |fitness: &Fitness| matches!(fitness, Fitness::Unfit(_));
        if self.kinds.clone().wait_for(is_unfit).await.is_err() {
            pending::<()>().await;
        }
    }

    /// Waits until it is our turn.
    async fn turn(&self, readiness: &watch::Sender<Readiness>) -> LeadershipTerm {
        let stands_by = || {
            readiness.send_replace(Readiness::StandingBy);
        };
        let Some(leadership) = &self.leadership else {
            self.namespaces.exist(readiness).await;
            self.rivals.none(Standing::GivesWay, stands_by).await;
            return LeadershipTerm::without_deadline();
        };
        loop {
            self.namespaces.exist(readiness).await;
            stands_by();
            self.rivals.none(Standing::GivesWay, stands_by).await;
            let Some(Taken { version, term }) = leadership.acquire().await else { continue };
            if self.rivals.are_behind(version, leadership.duration() / 3).await {
                return term;
            }
            leadership.release().await;
        }
    }
}
