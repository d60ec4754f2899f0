//! One object after the other, and what is known by then of kinds and namespaces.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use capt_core::manifest::{Manifest, ObjectKey};

use super::object::{Location, check, is_definition, is_namespace};
use super::trouble::{Subject, Trouble};
use super::{Delivered, Order, Outcome};
use crate::workload::{Failure, Talk};

/// How often a kind is looked up again that turns out not to be served as remembered.
const ATTEMPTS: usize = 3;

/// What keeps an object from being brought.
pub(super) enum Obstacle {
    /// Something about the object.
    Object(Trouble),
    /// The cluster does not serve the kind as remembered.
    NotServed,
    /// The cluster as a whole.
    Cluster(Trouble),
}

impl Obstacle {
    pub(super) fn new(failure: &Failure, subject: Subject<'_>) -> Self {
        if failure.is_unreachable() {
            Self::Cluster(Trouble::of(failure))
        } else {
            Self::Object(subject.failed(failure))
        }
    }
}

/// An order on its way.
pub(super) struct Delivery<'order> {
    pub(super) talk: &'order Talk<'order>,
    pub(super) order: &'order Order<'order>,
    pub(super) delivered: Delivered,
    /// The definitions that were brought, by group and kind: their names, or why they are not served.
    definitions: HashMap<(String, String), Result<String, String>>,
    /// Kinds that the cluster does not serve.
    not_served: HashSet<(String, String)>,
    /// How long definitions may still take, all of them together.
    patience: Duration,
    /// Namespaces in which nothing can be made, and what was told of them.
    pub(super) namespaces: HashMap<String, String>,
}

impl<'order> Delivery<'order> {
    pub(super) fn new(talk: &'order Talk<'order>, order: &'order Order<'order>) -> Self {
        Self {
            talk,
            order,
            delivered: Delivered::default(),
            definitions: HashMap::new(),
            not_served: HashSet::new(),
            patience: talk.patience(),
            namespaces: HashMap::new(),
        }
    }

    pub(super) fn ended(self) -> Delivered {
        self.delivered
    }

    /// Brings one object, unless the cluster is out of reach.
    pub(super) async fn bring(&mut self, manifest: &Manifest) -> ControlFlow<()> {
        let mut key = manifest.key();
        let outcome = match self.try_to_bring(&mut key, manifest).await {
            Ok(outcome) => outcome,
            Err(Obstacle::Object(trouble)) => Outcome::Failed(trouble),
            Err(Obstacle::NotServed) => {
                Outcome::Failed(Subject { key: &key, place: Some(&manifest.place) }.not_served(None))
            }
            Err(Obstacle::Cluster(trouble)) => {
                self.delivered.stopped = Some(trouble);
                return ControlFlow::Break(());
            }
        };
        self.note(&key, manifest, &outcome);
        self.delivered.outcomes.push((key, outcome));
        ControlFlow::Continue(())
    }

    /// As [`Self::bring`]; the key becomes what it is in the cluster.
    async fn try_to_bring(&mut self, key: &mut ObjectKey, manifest: &Manifest) -> Result<Outcome, Obstacle> {
        check(key)
            .map_err(|why| Obstacle::Object(Subject { key, place: Some(&manifest.place) }.invalid(&why)))?;
        let named = key.clone();
        let mut left = ATTEMPTS;
        loop {
            let location = self.locate(Subject { key: &named, place: Some(&manifest.place) }).await?;
            *key = location.key.clone();
            let subject = Subject { key, place: Some(&manifest.place) };
            let lacking = key.namespace.as_ref().and_then(|namespace| self.namespaces.get(namespace));
            if let Some(told) = lacking {
                return Err(Obstacle::Object(subject.follows(told)));
            }
            left -= 1;
            match self.put(&location, subject, &manifest.object).await {
                Err(Obstacle::NotServed) if left > 0 => self.talk.forget(&key.api_version),
                ended => return ended,
            }
        }
    }

    /// Where the object goes. A definition that was just brought is waited for.
    async fn locate(&mut self, subject: Subject<'_>) -> Result<Location, Obstacle> {
        let key = subject.key;
        let kind = (key.api_version.clone(), key.kind.clone());
        if self.not_served.contains(&kind) {
            return Err(Obstacle::Object(subject.not_served(None)));
        }
        if let Some(location) = self.resolve(subject).await? {
            return Ok(location);
        }
        let Some(definition) = self.definitions.get_mut(&(key.group().to_owned(), key.kind.clone())) else {
            self.not_served.insert(kind);
            return Err(Obstacle::NotServed);
        };
        if let Ok(name) = definition {
            let started = Instant::now();
            let established = self.talk.await_established(name, self.patience).await;
            self.patience = self.patience.saturating_sub(started.elapsed());
            let established = established.map_err(|failure| Obstacle::new(&failure, subject))?;
            if let Err(why) = established {
                *definition = Err(format!("CustomResourceDefinition `{name}` {why}"));
            }
        }
        if let Err(why) = definition {
            return Err(Obstacle::Object(subject.not_served(Some(why))));
        }
        let location = self.resolve(subject).await?;
        location.ok_or_else(|| {
            Obstacle::Object(
                subject.not_served(Some("its CustomResourceDefinition serves other versions only")),
            )
        })
    }

    async fn resolve(&self, subject: Subject<'_>) -> Result<Option<Location>, Obstacle> {
        let ObjectKey { api_version, kind, .. } = subject.key;
        let resolved = self.talk.resolve(api_version, kind).await;
        let resolved = resolved.map_err(|failure| Obstacle::new(&failure, subject))?;
        Ok(resolved.map(|(resource, scope)| Location::new(subject.key, resource, &scope)))
    }

    /// Remembers what later objects depend on.
    fn note(&mut self, key: &ObjectKey, manifest: &Manifest, outcome: &Outcome) {
        let is_there = !matches!(outcome, Outcome::Failed(_));
        if is_namespace(key) && !is_there {
            self.namespaces.insert(key.name.clone(), key.to_string());
        }
        if is_definition(key) && is_there {
            let spec = &manifest.object["spec"];
            if let (Some(group), Some(kind)) = (spec["group"].as_str(), spec["names"]["kind"].as_str()) {
                self.definitions.insert((group.to_owned(), kind.to_owned()), Ok(key.name.clone()));
                self.not_served.clear();
            }
        }
    }
}
