//! Carries out what was decided about a Workspace. Every write can be repeated.

mod calls;
mod finish;
mod hand_back;
mod previews;
mod publish;

use std::sync::Arc;
use std::time::Duration;

use capt_api::names::{Reason, annotation, finalizer};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::apply::Blocked;
use capt_core::standing::{Standing, cluster_name, standing};
use capt_core::workspace::backend;
use capt_core::workspace::decide::{Operation, Start, Step, Which};
use capt_core::workspace::observed::{BegunRecord, Memory, Observed, State};
use capt_core::workspace::runner::{Starter, earlier};
use capt_core::workspace::status::Effect;
use capt_terraform::{Backend, Locking, PlanHash, Run};
use kube::{Api, ResourceExt};
use serde_json::json;
use tracing::warn;

use super::journal;
use super::keeper::SecretKeeper;
use super::observe::Seen;
use super::place::Place;
use super::place::kept::merge;
use super::record::{Saved, Saving};
use super::runs::Order;
use super::{Terraform, connection_secret, handover, plan_text, snapshot, state};
use crate::context::Context;
use crate::error::Error;
use crate::pause;

/// How long a command waits for a lock that somebody holds: not at all. A lock whose holder is dead is released at once, one
/// that is held is told at once, and it is tried again later without taking up anybody's place.
const LOCK_PATIENCE: Duration = Duration::ZERO;

/// What came of a step.
pub(super) enum Done {
    /// It is to be told.
    Told(Effect),
    /// Something could not be done, and it takes somebody to change that.
    Blocked(Blocked),
    /// Something was written: look again at once.
    Again,
    /// The Workspace was let go and may be gone by now.
    Released,
}

/// Carries out a step.
pub(super) async fn act(
    step: &Step,
    seen: &Seen,
    context: &Context,
    terraform: &Arc<Terraform>,
) -> Result<Done, Error> {
    let nothing = Ok(Done::Told(Effect::Nothing));
    let (Some(workspace), place) = (&seen.full, &seen.place) else {
        return nothing;
    };
    let Some(place) = place else {
        return match step {
            Step::Interrupt => interrupt(workspace, terraform).await,
            Step::Pass(passing) => handover::pass(*passing, workspace, &context.client)
                .await
                .map(|()| Done::Told(Effect::Nothing)),
            _ => nothing,
        };
    };
    let acting = Acting { workspace, place, seen, context, terraform };
    acting.hold_state().await?;
    acting.own_outputs().await?;
    acting.refuse_preview(step).await?;
    match step {
        Step::Leave
        | Step::Pass(_)
        | Step::AwaitCrossplane { .. }
        | Step::Freeze(_)
        | Step::Pause
        | Step::Wait
        | Step::AwaitOthers(_) => nothing,
        Step::Drop(_) => acting.drop_workspace().await,
        Step::Settle(_) | Step::Hold { .. } | Step::AwaitLock { .. } => {
            acting.keep_logs().await;
            nothing
        }
        Step::Settled { .. } => {
            acting.tidy_plan_text().await?;
            nothing
        }
        Step::Interrupt => interrupt(workspace, terraform).await,
        Step::Claim => acting.claim().await.map(|()| Done::Again),
        Step::Start(start) => acting.start(start).await,
        Step::Publish => acting.publish().await,
        Step::Confirm => {
            acting.confirm(true).await?;
            if let Some(found) = &seen.found {
                state::settle_restored(&context.client, place, found).await?;
            }
            terraform.runs.settle(&place.workspace_uid);
            Ok(Done::Again)
        }
        Step::ShowPreview => acting.show_preview().await,
        Step::AwaitApproval { .. } => {
            acting.keep_logs().await;
            acting.show_plan().await
        }
        Step::ReportDrift { .. } => {
            acting.confirm(false).await?;
            acting.show_plan().await
        }
        Step::Orphan => acting.orphan().await,
        Step::HandBack => acting.hand_back().await,
        Step::Abandon(freeze) => acting.abandon(freeze).await,
        Step::Finish => match acting.lock_holder().await? {
            Some(blocked) => Ok(Done::Blocked(blocked)),
            None => acting.finish().await,
        },
    }
}

async fn interrupt(workspace: &Workspace, terraform: &Terraform) -> Result<Done, Error> {
    if let Err(error) = terraform.runs.interrupt(&workspace.uid().unwrap_or_default()).await {
        warn!(error = &error as &dyn std::error::Error, "a run could not be asked to stop; it is waited for");
    }
    Ok(Done::Told(Effect::Nothing))
}

/// One Workspace that something is done with.
struct Acting<'reconcile> {
    workspace: &'reconcile Workspace,
    place: &'reconcile Place,
    seen: &'reconcile Seen,
    context: &'reconcile Context,
    terraform: &'reconcile Arc<Terraform>,
}

impl Acting<'_> {
    /// A run that failed may have left parts of a state that nobody holds, or that Terraform could not remove. Only after a run
    /// of our own: a process of an earlier manager would lose its state by a write of ours.
    async fn hold_state(&self) -> Result<(), Error> {
        match (&self.seen.over, &self.seen.found) {
            (Some(_), Some(found)) if !found.held && !found.parts.is_empty() => {
                state::hold(&self.context.client, self.place, found).await
            }
            _ => Ok(()),
        }
    }

    /// The outputs are where they should be, but as somebody else's, or as those of before a restore.
    async fn own_outputs(&self) -> Result<(), Error> {
        match (&self.seen.outputs_lack, &self.workspace.spec.write_connection_secret_to_ref) {
            (Some(lacks), Some(target)) => connection_secret::own(&self.context.client, target, lacks).await,
            _ => Ok(()),
        }
    }

    /// Holds the Workspace, and writes down which Terraform workspace it is, as Crossplane does.
    async fn claim(&self) -> Result<(), Error> {
        let mut finalizers = self.workspace.finalizers().to_vec();
        finalizers.push(finalizer::MANAGED_RESOURCE.to_owned());
        let patch = json!({ "metadata": {
            "uid": self.workspace.uid(),
            "resourceVersion": self.workspace.resource_version(),
            "finalizers": finalizers,
            "annotations": { annotation::EXTERNAL_NAME: self.place.terraform_workspace },
        } });
        self.patch(&patch, "holding").await
    }

    /// A merge patch, since neither finalizers nor annotations of others may be lost.
    async fn patch(&self, patch: &serde_json::Value, verb: &str) -> Result<(), Error> {
        let name = &self.place.workspace;
        let workspaces: Api<Workspace> = Api::all(self.context.client.clone());
        Error::unless_gone(merge(&workspaces, name, patch, &format!("{verb} Workspace `{name}`")).await)
            .map(drop)
    }

    async fn start(&self, start: &Start) -> Result<Done, Error> {
        let is_preview = start.operation == Operation::Preview;
        let effect = match self.seen.request.as_ref().filter(|_| !is_preview) {
            Some(request) => Effect::Requested(request.clone()),
            None => Effect::Nothing,
        };
        if self.refuse_candidate(start.inputs).await? {
            return Ok(Done::Again);
        }
        let Some((run, fingerprint)) = self.inputs(start.inputs).await? else {
            return Ok(Done::Blocked(Blocked::new(
                Reason::InputMissing,
                "what went into the last apply is not kept any more, and what goes in now cannot be had",
            )));
        };
        if matches!(start.operation, Operation::Apply { .. } | Operation::Destroy { .. })
            && !self.plan_knows_all()
        {
            return Ok(Done::Again);
        }
        if !is_preview {
            self.tidy_plan_text().await?;
        }
        if matches!(run.backend, Backend::Kubernetes { .. })
            && matches!(start.operation, Operation::Plan | Operation::Preview)
            && self.seen.found.as_ref().is_some_and(|found| found.state == State::Absent)
        {
            state::begin(&self.context.client, self.place).await?;
        }
        let mut run = run.with(operation(&start.operation));
        run.imports = journal::imports(&self.seen.record);
        // In a namespace that is being deleted no Lease can be made. CAPT alone runs this Workspace.
        run.locking = if self.seen.terminating { Locking::None } else { Locking::Wait(LOCK_PATIENCE) };
        let begins = match &start.operation {
            Operation::Apply { hash } => self.prepare(&run, &fingerprint, hash, true).await?,
            Operation::Destroy { hash } => self.prepare(&run, &fingerprint, hash, false).await?,
            Operation::Plan
            | Operation::Preview
            | Operation::PlanDestroy
            | Operation::Outputs
            | Operation::Unlock { .. } => {
                self.note_who_stores().await?;
                true
            }
        };
        if !begins {
            // The watch will show why.
            return Ok(Done::Told(Effect::Nothing));
        }
        if let Some(request) = self.seen.request.as_ref().filter(|_| !is_preview) {
            self.terraform.runs.handle(&self.place.workspace_uid, request);
        }
        self.terraform.runs.start(Order {
            term: self.context.term.clone(),
            workspace: self.place.workspace.clone(),
            uid: self.place.workspace_uid.clone(),
            start: start.clone(),
            run,
            fingerprint,
            digest: self.workspace.annotations().get(annotation::APPLIED_DIGEST).cloned(),
            logs: self.workspace.spec.for_provider.enable_terraform_cli_logging,
            restored: self.seen.found.as_ref().and_then(|found| found.restored.clone()),
            preview: self.seen.preview.clone().filter(|_| is_preview),
            keeper: Some(Box::new(SecretKeeper::new(&self.context.client, self.place, self.terraform))),
            journal: Some(self.journal(&start.operation)),
        });
        Ok(Done::Told(effect))
    }

    async fn inputs(&self, which: Which) -> Result<Option<(Run, String)>, Error> {
        let resolved = match which {
            Which::Current => self.seen.resolved.as_ref(),
            Which::Candidate => self.seen.candidate.as_ref().and_then(|found| found.as_ref().ok()),
            Which::Kept => return Ok(self.kept().await?.zip(self.seen.record.kept.clone())),
        };
        let Some(resolved) = resolved else { return Ok(None) };
        let mut run = resolved.run.clone();
        // The state still holds what went in before: nothing printed may contain that either.
        run.hidden.extend(self.kept().await?.as_ref().map(capt_terraform::carried).unwrap_or_default());
        Ok(Some((run, resolved.fingerprint.clone())))
    }

    /// What went into the last apply, if it is kept.
    async fn kept(&self) -> Result<Option<Run>, Error> {
        if self.seen.record.kept.is_none() {
            return Ok(None);
        }
        let artifacts = &self.terraform.options.artifacts;
        self.terraform.records.inputs(&self.context.client, self.place, artifacts).await
    }

    /// Everything that must be safe before something changes: the state is held and copied, what goes in is kept, and it is on
    /// record that an apply begins. Whether it may begin: where somebody has paused it meanwhile, it is not on record any more.
    async fn prepare(&self, run: &Run, fingerprint: &str, plan: &str, keeps: bool) -> Result<bool, Error> {
        let client = &self.context.client;
        let elsewhere = self.elsewhere();
        if elsewhere.is_none()
            && let Some(found) = &self.seen.found
        {
            if !self.seen.terminating {
                snapshot::take(client, self.place, found, None).await?;
            }
            state::note(client, self.place, self.seen.state_note.as_deref(), true).await?;
        }
        self.note_name(elsewhere.as_deref()).await?;
        self.drop_unused_state(elsewhere.as_deref()).await?;
        let memory = Memory {
            begun: Some(self.begun(fingerprint, plan)),
            elsewhere,
            workspace: Some(self.place.workspace_uid.clone()),
            interrupted: self.interrupted(),
            ..self.seen.record.memory.clone()
        };
        let (lock, calls) = (self.provider_lock(), self.carried_calls());
        let inputs = keeps.then_some((run, fingerprint));
        let wanted =
            Saving { inputs, provider_lock: lock.as_deref(), calls: Some(&calls), ..saving(&memory, true) };
        let saved = self.save(wanted).await?;
        if saved.too_large {
            warn!("what goes in is too large to be kept: a destroy will need its sources again");
        }
        if self.is_put_off().await? {
            let record = &self.seen.record;
            self.save(Saving { calls: Some(&record.calls), ..saving(&record.memory, false) }).await?;
            return Ok(false);
        }
        Ok(true)
    }

    /// A run that finds a state which could not be stored stores it first, under the lock: it is on record who holds that then.
    async fn note_who_stores(&self) -> Result<(), Error> {
        let before = &self.seen.record;
        let Some(begun) = &before.memory.begun else { return Ok(()) };
        if begun.by == self.starter() || !self.terraform.left(&self.place.workspace_uid).await.unstored {
            return Ok(());
        }
        let begun = BegunRecord { at: begun.at, ..self.begun(&begun.fingerprint, &begun.plan) };
        let memory = Memory { begun: Some(begun), ..before.memory.clone() };
        self.save(saving(&memory, before.blocks_move)).await.map(drop)
    }

    /// An apply that begins now.
    fn begun(&self, fingerprint: &str, plan: &str) -> BegunRecord {
        let by = self.starter();
        BegunRecord {
            fingerprint: fingerprint.to_owned(),
            plan: plan.to_owned(),
            at: self.terraform.now(),
            earlier: earlier(self.seen.record.memory.begun.as_ref(), &by),
            by,
        }
    }

    /// This manager, as it is put on record.
    fn starter(&self) -> Starter {
        let options = &self.terraform.options;
        Starter {
            host: options.host.clone(),
            pod_namespace: options.runner.pod.as_ref().map(|pod| pod.namespace.clone()),
            runner: Some(options.runner.clone()),
        }
    }

    /// A state that is kept elsewhere has a name there, which has to be known wherever the apply is moved to.
    async fn note_name(&self, elsewhere: Option<&str>) -> Result<(), Error> {
        match elsewhere {
            Some(_) => state::note_name(&self.context.client, self.place, self.seen.kept_as.as_deref()).await,
            None => Ok(()),
        }
    }

    /// Whether somebody has paused the apply or its Cluster by now, or has moved the apply away. `clusterctl` looks once who holds
    /// up a move and then pauses: whoever begins in between must see that.
    async fn is_put_off(&self) -> Result<bool, Error> {
        let Some(owner) = &self.place.apply else { return Ok(false) };
        let (client, namespace) = (&self.context.client, &owner.key.namespace);
        let doing = format!("looking whether WorkspaceTemplateApply `{}` is paused", owner.key);
        let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), namespace);
        let found = applies.get_metadata_opt(&owner.key.name).await.map_err(Error::api(doing))?;
        let Some(apply) = found else { return Ok(true) };
        let cluster = pause::cluster_now(namespace, cluster_name(&apply.metadata), client).await?;
        Ok(match standing(&apply.metadata, cluster.as_ref()) {
            Standing::Active | Standing::Deleting => false,
            Standing::ExternallyManaged | Standing::Moved | Standing::Paused(_) => true,
        })
    }

    /// Before a first plan nobody knows that the module declares a backend of its own.
    async fn drop_unused_state(&self, elsewhere: Option<&str>) -> Result<(), Error> {
        if elsewhere.is_some() && self.seen.record.memory.elsewhere.is_none() {
            state::discard_empty(&self.context.client, self.place).await?;
        }
        Ok(())
    }

    /// Takes away the text of a plan that nobody waits for any more.
    async fn tidy_plan_text(&self) -> Result<(), Error> {
        plan_text::remove(&self.context.client, self.place, self.has_shown_plan()).await
    }

    /// The backend that keeps the state, where it is not CAPT's choice.
    fn elsewhere(&self) -> Option<String> {
        let known = self.seen.over.as_ref().map(|over| over.elsewhere.clone());
        known.unwrap_or_else(|| self.seen.record.memory.elsewhere.clone())
    }

    fn provider_lock(&self) -> Option<String> {
        let identity = capt_terraform::Identity::try_from(self.place.workspace_uid.clone()).ok()?;
        let found = self.terraform.options.engine.provider_lock(&identity);
        found.ok().flatten().or_else(|| self.seen.record.provider_lock.clone())
    }

    /// Puts on record that reality was looked at, and whether it was found in line.
    async fn confirm(&self, in_line: bool) -> Result<(), Error> {
        let Some(over) = &self.seen.over else { return Ok(()) };
        let before = &self.seen.record.memory;
        let memory = before.clone().confirmed_by(&over.ended, in_line, &self.place.workspace_uid);
        // An earlier version did not tell the places of a backend apart.
        let elsewhere = match &over.elsewhere {
            Some(now) if in_line && backend::is_same(memory.elsewhere.as_deref(), Some(now)) => {
                Some(now.clone())
            }
            _ => memory.elsewhere.clone(),
        };
        let interrupted = if in_line { self.interrupted() } else { memory.interrupted.clone() };
        let memory = Memory { elsewhere, interrupted, ..memory };
        self.note_name(memory.elsewhere.as_deref()).await?;
        if memory == *before && !self.seen.record.blocks_move {
            return Ok(());
        }
        self.save(saving(&memory, false)).await.map(drop)
    }

    /// Puts on record what is remembered, and with it the logs of runs that ended: nothing is written for them alone then.
    async fn save(&self, saving: Saving<'_>) -> Result<Saved, Error> {
        let (runs, uid) = (&self.terraform.runs, &self.place.workspace_uid);
        let logs = runs.logs(uid);
        let (client, records) = (&self.context.client, &self.terraform.records);
        let saved = records.save(client, self.place, Saving { logs: &logs, ..saving }).await?;
        runs.stored(uid, &logs);
        Ok(saved)
    }

    /// Stores the logs of runs after which nothing else is put on record: what failed is what people look for. A move is not
    /// held up any more, unless a process of an earlier manager still works or a state could not be stored.
    async fn keep_logs(&self) {
        if matches!(self.seen.observed, Observed::LeftBehind { .. }) {
            // What is kept has moved.
            return;
        }
        let blocks_move = self.seen.record.blocks_move && self.is_worked_on().await;
        let is_stored = self.terraform.runs.logs(&self.place.workspace_uid).is_empty();
        if is_stored && blocks_move == self.seen.record.blocks_move {
            return;
        }
        // A log that cannot be stored changes nothing about what it tells of.
        if let Err(error) = self.save(saving(&self.seen.record.memory, blocks_move)).await {
            warn!(error = &error as &dyn std::error::Error, "the log of a run is not stored yet");
        }
    }

    /// Whether a process works on this Workspace that an earlier manager left behind, or what it made is stored nowhere else, as
    /// far as this machine knows.
    async fn is_worked_on(&self) -> bool {
        let left = self.terraform.left(&self.place.workspace_uid).await;
        left.alive || left.unstored
    }

    /// Puts the plan where people can read it.
    async fn show_plan(&self) -> Result<Done, Error> {
        if let Some(plan) = self.seen.over.as_ref().and_then(|over| over.plan.as_ref()) {
            plan_text::show(&self.context.client, self.place, plan).await?;
        }
        Ok(Done::Told(Effect::Nothing))
    }
}

/// Only what is remembered.
fn saving(memory: &Memory, blocks_move: bool) -> Saving<'_> {
    Saving { memory, inputs: None, provider_lock: None, logs: &[], blocks_move, calls: None }
}

fn operation(operation: &Operation) -> capt_terraform::Operation {
    match operation {
        Operation::Plan | Operation::Preview => capt_terraform::Operation::Plan,
        Operation::PlanDestroy => capt_terraform::Operation::PlanDestroy,
        Operation::Apply { hash } | Operation::Destroy { hash } => {
            capt_terraform::Operation::Apply { plan: PlanHash::from_text(hash) }
        }
        Operation::Outputs => capt_terraform::Operation::Outputs,
        Operation::Unlock { id, .. } => capt_terraform::Operation::ForceUnlock { id: id.clone() },
    }
}
