//! Waits until CAPT has seen a request.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::AddonStackBinding;
use futures::StreamExt as _;
use jiff::Timestamp;
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, ResourceExt};

use super::Answer;
use super::target::Target;

/// Returns when all is answered.
pub(super) async fn until_answered(
    bindings: &Api<AddonStackBinding>,
    target: &Target,
    waiting: &mut Waiting,
) {
    let config = watcher::Config::default().labels(&target.labels());
    let mut changes = std::pin::pin!(watcher(bindings.clone(), config).default_backoff());
    while !waiting.pending.is_empty() {
        match changes.next().await {
            Some(Ok(change)) => waiting.note(change),
            Some(Err(error)) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "watching AddonStackBindings was interrupted; trying again"
            ),
            // A watch has no end.
            None => return,
        }
    }
}

/// Who has not answered yet, and the answers of the others.
#[derive(Debug)]
pub(super) struct Waiting {
    request: String,
    pending: BTreeSet<String>,
    answers: BTreeMap<String, Answer>,
    /// What the present listing has shown so far.
    listed: BTreeSet<String>,
}

impl Waiting {
    pub(super) fn new(names: Vec<String>, request: &str) -> Self {
        Self {
            request: request.to_owned(),
            pending: names.into_iter().collect(),
            answers: BTreeMap::new(),
            listed: BTreeSet::new(),
        }
    }

    pub(super) fn unanswered(&self) -> Vec<String> {
        self.pending.iter().map(|name| format!("AddonStackBinding `{name}`")).collect()
    }

    pub(super) fn into_answers(self) -> BTreeMap<String, Answer> {
        self.answers
    }

    fn note(&mut self, change: Event<AddonStackBinding>) {
        match change {
            Event::Init => self.listed.clear(),
            Event::InitApply(binding) => {
                self.listed.insert(binding.name_any());
                self.look(binding);
            }
            Event::InitDone => {
                let gone: Vec<_> = self.pending.difference(&self.listed).cloned().collect();
                for name in gone {
                    self.answer(name, Answer::Gone);
                }
            }
            Event::Apply(binding) => self.look(binding),
            Event::Delete(binding) => self.answer(binding.name_any(), Answer::Gone),
        }
    }

    fn look(&mut self, binding: AddonStackBinding) {
        let name = binding.name_any();
        let Some(status) = binding.status else { return };
        let handled = status.last_handled_request.as_deref();
        if handled.is_some_and(|handled| covers(handled, &self.request)) {
            self.answer(name, Answer::Handled(Box::new(status)));
        }
    }

    /// The first answer counts.
    fn answer(&mut self, name: String, answer: Answer) {
        if self.pending.remove(&name) {
            self.answers.insert(name, answer);
        }
    }
}

/// Whether whoever has seen one request has seen the other too: somebody may ask again before CAPT comes to it.
fn covers(handled: &str, request: &str) -> bool {
    let time = |text: &str| text.parse::<Timestamp>().ok();
    handled == request
        || match (time(handled), time(request)) {
            (Some(handled), Some(request)) => handled >= request,
            _ => false,
        }
}

#[cfg(test)]
mod tests;
