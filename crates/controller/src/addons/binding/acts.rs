//! What is done for an add-on in its cluster.

use std::collections::BTreeMap;

use capt_api::addon_stack::{Addon, StepStatus, ValuesStatus};
use capt_api::names::{Reason, annotation};
use capt_core::addon::decide::{Progress, Reach};
use capt_core::addon::gate::{self, Label};
use capt_core::addon::route::route;
use capt_core::addon::{names, pace};
use capt_core::apply::Blocked;
use capt_core::readiness::{Health, State};
use kube::ResourceExt;

use super::content::Whole;
use super::walk::Walk;
use super::{bring, gates, look};
use crate::context::to_the_second;
use crate::error::Error;
use crate::workload::Talk;

impl Walk<'_> {
    /// Sets a gate label, beside those that we have set before and that nobody took away since.
    pub(super) async fn open(&mut self, label: &Label) -> Result<(), Error> {
        let mut open = BTreeMap::from([(label.key.clone(), label.value.clone())]);
        for addon in &self.stack.spec.addons {
            let opened =
                self.steps.iter().find(|step| step.name == addon.name).or_else(|| self.before(&addon.name));
            if !opened.is_some_and(|step| step.gate_opened) {
                continue;
            }
            let route = route(&self.stack.name_any(), addon, self.sets.iter().copied());
            if let Some(label) = gate::label(&self.stack.name_any(), addon, &route)
                && self.labels.get(&label.key) == Some(&label.value)
            {
                open.insert(label.key, label.value);
            }
        }
        if let Some(cluster) = gates::write(self.binding, &open, self.context).await? {
            self.labels = cluster.labels().clone();
        }
        Ok(())
    }

    pub(super) fn claim(&self, addon: &str) -> String {
        let namespace = self.binding.namespace().unwrap_or_default();
        names::claim(&namespace, &self.binding.spec.cluster_name, &self.binding.spec.stack_name, addon)
    }

    pub(super) async fn write_values(&mut self, addon: &Addon, whole: &Whole) -> Result<(), Blocked> {
        let Some(workload) = self.workload.clone() else { return Err(no_client()) };
        let talk = workload.talk();
        let claim = self.claim(&addon.name);
        let mut done = Ok(());
        for wanted in &whole.values {
            done = bring::values(&talk, &claim, wanted).await;
            if done.is_err() {
                break;
            }
        }
        self.context.metrics.cluster_asked(talk.requests());
        done
    }

    pub(super) async fn deliver(&mut self, addon: &Addon, whole: &Whole) -> Result<usize, Blocked> {
        let Some(workload) = self.workload.clone() else { return Err(no_client()) };
        let talk = workload.talk();
        let claim = self.claim(&addon.name);
        let memory = self.step_memory(addon);
        let done = bring::manifests(&talk, &claim, &whole.manifests, memory).await;
        self.context.metrics.cluster_asked(talk.requests());
        done
    }

    /// Asks the cluster how the add-on is, and whether its values were taken.
    pub(super) async fn look(
        &mut self,
        addon: &Addon,
        whole: &Whole,
        before: Option<&StepStatus>,
    ) -> (Result<Health, Blocked>, Vec<ValuesStatus>) {
        let Some(workload) = self.workload.clone() else { return (Err(no_client()), Vec::new()) };
        let talk = workload.talk();
        let told = self.ask(&talk, addon, whole, before).await;
        self.context.metrics.cluster_asked(talk.requests());
        told
    }

    async fn ask(
        &mut self,
        talk: &Talk<'_>,
        addon: &Addon,
        whole: &Whole,
        before: Option<&StepStatus>,
    ) -> (Result<Health, Blocked>, Vec<ValuesStatus>) {
        let claim = self.claim(&addon.name);
        let request = self.binding.annotations().get(annotation::REQUESTED_AT).map(String::as_str);
        let now = to_the_second(self.now);
        let mut values = Vec::new();
        for wanted in &whole.values {
            let known = before.and_then(|before| {
                before.values.iter().find(|one| one.name == wanted.name && one.namespace == wanted.namespace)
            });
            match look::consumers(talk, &claim, wanted, request, &now, known, &mut self.awaited).await {
                Ok(told) => values.push(told),
                Err(blocked) => return (Err(blocked), values),
            }
        }
        let health = look::readiness(talk, addon, &whole.manifests, &mut self.awaited).await;
        let waiting = values.iter().flat_map(|values| &values.consumers).find(|consumer| !consumer.consumed);
        let health = match (health, waiting) {
            (Ok(Health { state: State::Current, .. }), Some(consumer)) => Ok(Health {
                state: State::InProgress,
                message: format!("HelmRelease `{}` has not taken the values yet", consumer.name),
            }),
            (health, _) => health,
        };
        (health, values)
    }

    /// Remembers whether the cluster answers: one that does not is asked rarely, and nothing more is tried now.
    pub(super) fn note_reach(&mut self, progress: &Progress) {
        let Progress { values, opened: _, delivered, health } = progress;
        let troubles = [
            values.as_ref().and_then(|done| done.as_ref().err()),
            delivered.as_ref().and_then(|done| done.as_ref().err()),
            health.as_ref().and_then(|done| done.as_ref().err()),
        ];
        let unreachable = troubles.into_iter().flatten().find(|one| one.reason == Reason::ClusterUnreachable);
        match unreachable {
            None => self.memory.unreachable = None,
            Some(blocked) => {
                let failures =
                    self.memory.unreachable.as_ref().map_or(1, |(failures, ..)| failures.saturating_add(1));
                let pause = pace::pause(None, failures).unwrap_or_default();
                let until = self.now.checked_add(pause).unwrap_or(self.now);
                self.memory.unreachable = Some((failures, until, blocked.message.clone()));
                self.reach = Reach::Unreachable(blocked.message.clone());
                self.workload = None;
            }
        }
    }
}

fn no_client() -> Blocked {
    Blocked::new(Reason::ClusterUnreachable, "the cluster cannot be reached".to_owned())
}
