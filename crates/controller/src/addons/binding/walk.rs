//! Goes through the add-ons of a stack in their order: each is observed, decided about and brought on as far as it goes.

use std::collections::BTreeMap;
use std::sync::Arc;

use capt_api::addon_stack::{Addon, StepState, StepStatus, ValuesStatus};
use capt_api::names::{Reason, annotation};
use capt_api::{AddonStack, AddonStackBinding, Cluster, ClusterResourceSet};
use capt_core::addon::decide::{Content, Facts, Progress, Reach, Sets, Step, Verdict, decide};
use capt_core::addon::gate::{self, Gate};
use capt_core::addon::identity::is_replaced;
use capt_core::addon::order::order;
use capt_core::addon::pace;
use capt_core::addon::route::{Route, route};
use capt_core::addon::sets::{Now, Written, sets};
use capt_core::addon::status::{self, Whole};
use capt_core::apply::Blocked;
use capt_core::condition::cut;
use capt_core::digest::number;
use capt_core::note::Note;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;

use super::super::memory::{Memory, StepMemory};
use super::Told;
use super::content::{Sources, Whole as WholeContent};
use super::listen::{Awaited, listen};
use super::reach::reach;
use crate::context::Context;
use crate::error::Error;
use crate::store::key_of;
use crate::workload::Workload;

/// How much is told of what there is to know about an add-on.
const LONGEST_REMARK: usize = 600;
/// More rounds than an add-on has things to do mean that somebody works against us.
const MOST_ROUNDS: u32 = 8;

/// Goes through the add-ons.
pub(super) async fn walk(
    binding: &AddonStackBinding,
    stack: &AddonStack,
    cluster: &Cluster,
    memory: &mut Memory,
    context: &Arc<Context>,
) -> Result<Told, Error> {
    let held = context.resource_sets.within(&binding.namespace().unwrap_or_default());
    let sets: Vec<&ClusterResourceSet> = held.iter().map(|set| &**set).collect();
    let (reach, workload) = reach(binding, cluster, memory, context).await?;
    let found = workload.as_ref().map(|workload| workload.identity().name().to_owned());
    let mut walk = Walk {
        binding,
        stack,
        sources: Sources::new(stack, cluster, &sets, context),
        labels: cluster.labels().clone(),
        sets: &sets,
        memory,
        context,
        workload,
        reach,
        cluster: found,
        steps: Vec::new(),
        awaited: Vec::new(),
        rested: false,
        notes: Vec::new(),
        now: context.now(),
    };
    walk.hear();
    // A circle was told before.
    let ordered = order(&stack.spec.addons).unwrap_or_default();
    for addon in ordered {
        let step = walk.addon(addon).await?;
        walk.steps.push(step);
    }
    super::removal::surplus(&mut walk).await?;
    walk.listen();
    let next = walk.next();
    Ok(Told { steps: walk.steps, whole: Whole::Goes, cluster: walk.cluster, notes: walk.notes, next })
}

/// One way through the add-ons.
pub(super) struct Walk<'walk> {
    pub(super) binding: &'walk AddonStackBinding,
    pub(super) stack: &'walk AddonStack,
    pub(super) sources: Sources<'walk>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) sets: &'walk [&'walk ClusterResourceSet],
    pub(super) memory: &'walk mut Memory,
    pub(super) context: &'walk Arc<Context>,
    pub(super) workload: Option<Arc<Workload>>,
    pub(super) reach: Reach,
    /// Names the cluster, where it is known.
    cluster: Option<String>,
    pub(super) steps: Vec<StepStatus>,
    /// Objects that are not ready.
    pub(super) awaited: Vec<Awaited>,
    /// Something is waited for that was not looked at this time.
    rested: bool,
    /// What is worth an Event.
    notes: Vec<Note>,
    pub(super) now: Timestamp,
}

impl Walk<'_> {
    /// What was heard of is looked at now, whenever it would have been its turn.
    fn hear(&mut self) {
        let Some(listener) = self.memory.listener.take() else { return };
        if let Some(message) = listener.lacks().map(ToOwned::to_owned)
            && self.memory.lacks.insert(message.clone())
        {
            self.notes.push(Note { warning: true, reason: Reason::WatchForbidden, message });
        }
        if !listener.has_heard() {
            self.memory.listener = Some(listener);
            return;
        }
        let rested = pace::is_at_rest(listener.age());
        self.memory.changes = if rested { 0 } else { self.memory.changes.saturating_add(1) };
        let waiting = self.binding.status.iter().flat_map(|status| &status.addons);
        for step in waiting.filter(|step| step.state != StepState::Ready) {
            if let Some(memory) = self.memory.steps.get_mut(&step.name) {
                memory.due = None;
            }
        }
    }

    /// Listens to what is not ready.
    fn listen(&mut self) {
        if self.rested {
            return;
        }
        let awaited = std::mem::take(&mut self.awaited);
        if self.memory.listener.as_ref().is_some_and(|listener| listener.listens_to(&awaited)) {
            return;
        }
        let binding = key_of(&self.binding.metadata);
        let (queue, term) = (&self.context.stack_binding_queue, &self.context.term);
        let (pause, workload) = (pace::take_notice(self.memory.changes), self.workload.clone());
        self.memory.listener =
            workload.and_then(|workload| listen(binding, workload, awaited, pause, queue.clone(), term));
    }

    /// Brings one add-on on as far as it goes, and tells where it is.
    async fn addon(&mut self, addon: &Addon) -> Result<StepStatus, Error> {
        let before = self.before(&addon.name).cloned();
        let route = route(&self.stack.name_any(), addon, self.sets.iter().copied());
        let label = gate::label(&self.stack.name_any(), addon, &route);
        let opened = before.as_ref().is_some_and(|before| before.gate_opened);
        let (content, mut whole) = self.content(addon, &route).await?;
        let sets = self.set_state(addon, &route).await?;
        let mut facts = Facts {
            addon,
            before: before.as_ref(),
            missing: self.missing(addon),
            gate: gate::gate(label.as_ref(), &self.labels, opened),
            route: &route,
            content,
            reach: self.reach.clone(),
            sets,
            requested: self.is_requested(),
            due: self.memory.steps.get(&addon.name).and_then(|step| step.due),
            now: self.now,
        };
        let mut progress = Progress::default();
        let mut values: Vec<ValuesStatus> = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let step = decide(&facts, &progress);
            match step {
                Step::Rest => {
                    // Whoever rests was told before.
                    let Some(before) = before.clone() else { break };
                    self.rested |= before.state != StepState::Ready;
                    self.rest(addon);
                    return Ok(before);
                }
                Step::Tell(verdict) => return Ok(self.tell(&facts, &progress, &verdict, values)),
                Step::OpenGate => {
                    if let Some(label) = &label {
                        self.open(label).await?;
                    }
                    facts.gate = Gate::Open;
                    progress.opened = true;
                    // Whoever selects the label has not come to it yet.
                    if matches!(route, Route::Theirs { .. } | Route::Ours { .. }) {
                        facts.sets = self.set_state(addon, &route).await?;
                    }
                }
                Step::WriteValues | Step::Deliver | Step::Look => {
                    if whole.is_none() {
                        match self.sources.whole(addon, &route).await? {
                            Ok(found) => whole = Some(found),
                            Err(blocked) => {
                                facts.content = Err(blocked);
                                continue;
                            }
                        }
                    }
                    let Some(whole) = &whole else { break };
                    match step {
                        Step::WriteValues => progress.values = Some(self.write_values(addon, whole).await),
                        Step::Deliver => progress.delivered = Some(self.deliver(addon, whole).await),
                        _ => {
                            let (health, told) = self.look(addon, whole, before.as_ref()).await;
                            values = told;
                            progress.health = Some(health);
                        }
                    }
                    self.note_reach(&progress);
                }
            }
        }
        let verdict = Verdict {
            state: StepState::Failed,
            reason: Reason::ApiError,
            message: "it could not be decided what to do next".to_owned(),
        };
        Ok(self.tell(&facts, &progress, &verdict, values))
    }

    /// What was told of an add-on before.
    pub(super) fn before(&self, name: &str) -> Option<&StepStatus> {
        let status = self.binding.status.as_ref()?;
        // Nothing of what is known is about a cluster that took the place of another.
        if is_replaced(status.cluster.as_deref(), self.cluster.as_deref()) {
            return None;
        }
        status.addons.iter().find(|step| step.name == name)
    }

    /// Those that an add-on depends on that were never ready here.
    fn missing(&self, addon: &Addon) -> Vec<String> {
        let was_ready =
            |name: &String| self.steps.iter().any(|step| step.name == *name && step.ready_once.is_some());
        addon.depends_on.iter().filter(|name| !was_ready(name)).cloned().collect()
    }

    /// Whether the user asks for everything to be brought again.
    fn is_requested(&self) -> bool {
        let asked = self.binding.annotations().get(annotation::REQUESTED_AT);
        let handled = self.binding.status.as_ref().and_then(|status| status.last_handled_request.as_ref());
        asked.is_some() && asked != handled
    }

    /// What names the content, from memory where nothing that it is made of has changed.
    async fn content(
        &mut self,
        addon: &Addon,
        route: &Route,
    ) -> Result<(Result<Content, Blocked>, Option<WholeContent>), Error> {
        let fingerprint = self.sources.fingerprint(addon, route).await?;
        let known = self.memory.steps.get(&addon.name).and_then(|step| step.content.as_ref());
        if let Some((_, content)) = known.filter(|(known, _)| *known == fingerprint) {
            return Ok((Ok(content.clone()), None));
        }
        let mut whole = match self.sources.whole(addon, route).await? {
            Ok(whole) => whole,
            Err(blocked) => return Ok((Err(blocked), None)),
        };
        let digest = whole.content.digest();
        let is_there = self.before(&addon.name).is_some_and(|before| before.attempted == Some(digest));
        let scrutiny = self.sources.scrutiny(addon, &whole.manifests).await?;
        if let Some(refused) = scrutiny.refused.clone().filter(|_| !is_there) {
            return Ok((Err(refused), None));
        }
        let remarks = scrutiny.tolerated();
        let texts: Vec<_> = remarks.iter().map(|note| note.message.as_str()).collect();
        whole.content.remark = cut(&texts.join("; "), LONGEST_REMARK);
        if !is_there {
            self.notes.extend(remarks);
        }
        let content = whole.content.clone();
        self.step_memory(addon).content = Some((fingerprint, content.clone()));
        Ok((Ok(content), Some(whole)))
    }

    /// What `ClusterResourceSets` have done for an add-on.
    async fn set_state(&self, addon: &Addon, route: &Route) -> Result<Sets, Error> {
        if !matches!(route, Route::Theirs { .. } | Route::Ours { .. }) {
            return Ok(Sets::Applied { remark: None });
        }
        let mut now: BTreeMap<_, Option<Now>> = BTreeMap::new();
        for resource in self.sources.resources(addon, route) {
            let found = self.sources.now(&resource).await?;
            now.insert(resource, found);
        }
        let namespace = self.binding.namespace();
        let binding =
            self.context.resource_set_bindings.get(namespace.as_deref(), &self.binding.spec.cluster_name);
        let written = Written {
            sets: self.sets.to_vec(),
            binding: binding.as_deref(),
            by_core: !self.context.cluster_serving.is_ours(),
        };
        Ok(sets(route, &written, |resource| now.get(resource).cloned().flatten()))
    }

    pub(super) fn step_memory(&mut self, addon: &Addon) -> &mut StepMemory {
        self.memory.steps.entry(addon.name.clone()).or_default()
    }

    /// What is told of an add-on; it is also noted when it is to be looked at again.
    fn tell(
        &mut self,
        facts: &Facts<'_>,
        progress: &Progress,
        verdict: &Verdict,
        values: Vec<ValuesStatus>,
    ) -> StepStatus {
        let told = status::step(facts, progress, verdict, values);
        self.notes.extend(status::repaired(facts, progress));
        self.context.metrics.step_told(facts.before, &told, progress);
        let (interval, now, spread) = (self.drift_interval(), self.now, spread(self.binding));
        let memory = self.step_memory(facts.addon);
        memory.looks =
            if verdict.state == StepState::WaitingForReady { memory.looks.saturating_add(1) } else { 0 };
        let pause = match (verdict.state, verdict.reason) {
            (StepState::Ready, _) => Some(interval),
            (StepState::WaitingForReady, _) => Some(pace::look_again(memory.looks.saturating_sub(1), spread)),
            (StepState::Failed, Reason::AddonOverdue | Reason::AddonFailed) => {
                Some(pace::look_again(u32::MAX, spread))
            }
            (StepState::Failed, _) if told.failures > 0 => {
                pace::pause(facts.addon.retry.as_ref(), told.failures)
            }
            _ => None,
        };
        memory.due = pause.and_then(|pause| now.checked_add(pause).ok());
        told
    }

    /// After a restart nobody knows when a cluster was looked at last.
    fn rest(&mut self, addon: &Addon) {
        let due = self.now.checked_add(self.drift_interval()).ok();
        let memory = self.step_memory(addon);
        memory.due = memory.due.or(due);
    }

    fn drift_interval(&self) -> std::time::Duration {
        pace::drift_interval(&self.stack.spec.drift_interval, spread(self.binding))
    }

    /// When there is something to do again.
    pub(super) fn next(&self) -> Option<Timestamp> {
        let dues = self.steps.iter().filter_map(|step| self.memory.steps.get(&step.name)?.due);
        let unreachable = self.memory.unreachable.as_ref().map(|(_, until, _)| *until);
        dues.chain(unreachable).min()
    }
}

/// Spreads what bindings do over time: it is another number for each.
pub(super) fn spread(binding: &AddonStackBinding) -> u64 {
    number(binding.metadata.uid.as_deref().unwrap_or_default())
}
