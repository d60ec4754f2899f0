//! Sees everything that the decision about a Workspace rests on.

mod facts;
mod interrupted;
mod left;
mod origin;
mod previews;
mod wishes;

use std::sync::{Arc, OnceLock};

use capt_api::Workspace;
use capt_api::engine_status::RunOperation;
use capt_api::names::annotation;
use capt_core::apply::Blocked;
use capt_core::workspace::backend::is_declared;
use capt_core::workspace::handover::made::is_made_by_crossplane;
use capt_core::workspace::handover::{Move, Turn, is_asked, unanswered};
use capt_core::workspace::observed::{Connection, Ended, Ending, Observed, State};
use capt_core::workspace::standing::{Freeze, Standing, standing};
use capt_core::workspace::traces::traces;
use capt_terraform::{Left, Secret};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::jiff::Timestamp;
use kube::{Api, ResourceExt};

use super::connection_secret::Looked;
use super::handover::Seat;
use super::inputs::{Resolved, Resolving};
use super::place::Place;
use super::provider_config::Keeping;
use super::record::Record;
use super::runs::Over;
use super::{Terraform, connection_secret, handover, lock_holder, state};
use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::stop::Stop;
use facts::Facts;
pub(super) use interrupted::Interrupted;
pub(super) use origin::Source;
use previews::Previewing;
use wishes::Wishes;

/// What was seen, and what acting on it needs beside the decision.
pub(super) struct Seen {
    pub(super) observed: Observed,
    /// The Workspace with everything in it; the watch's store keeps less.
    pub(super) full: Option<Workspace>,
    pub(super) place: Option<Place>,
    pub(super) record: Record,
    /// What became of the calls of applies that died; nothing where it was not looked.
    pub(super) interrupted: Option<Interrupted>,
    pub(super) resolved: Option<Resolved>,
    pub(super) found: Option<state::Found>,
    pub(super) over: Option<Arc<Over>>,
    /// Whether the namespace of the state is being deleted.
    pub(super) terminating: bool,
    /// The annotation with the state's name, as it is on the apply or the Workspace.
    pub(super) state_note: Option<String>,
    /// The annotation with the name that all that is kept goes by, as it is on the apply.
    pub(super) kept_as: Option<String>,
    /// Whether the apply knows that Crossplane has made something for it.
    pub(super) made_noted: bool,
    /// The request of the user that is not handled yet.
    pub(super) request: Option<String>,
    /// The request for a plan that is not answered yet.
    pub(super) preview: Option<String>,
    /// The other content that this request is for, or why there is none.
    pub(super) candidate: Option<Result<Resolved, Blocked>>,
    /// What the Secret with the outputs lacks beside them.
    pub(super) outputs_lack: Option<serde_json::Value>,
}

impl Seen {
    fn bare(observed: Observed) -> Self {
        Self {
            observed,
            full: None,
            place: None,
            record: Record::default(),
            interrupted: None,
            resolved: None,
            found: None,
            over: None,
            terminating: false,
            state_note: None,
            kept_as: None,
            made_noted: false,
            request: None,
            preview: None,
            candidate: None,
            outputs_lack: None,
        }
    }
}

/// Sees what there is, and notes it so that a change brings the Workspace up again.
pub(super) async fn observe(
    workspace: &Workspace,
    context: &Context,
    terraform: &Terraform,
) -> Result<Seen, Error> {
    let name = workspace.name_any();
    let uid = workspace.uid().unwrap_or_default();
    let notes = context.index.note(Dependent::Workspace(name.clone()));
    let source = origin::find(workspace, context, &notes).await?;
    let standing =
        if source.ours { standing(&workspace.metadata, &source.origin) } else { Standing::NotOurs };
    let moved = matches!(
        standing,
        Standing::LeftBehind(Freeze::ApplyMoved(_)) | Standing::Abandoned(Freeze::ApplyMoved(_))
    );
    let seat = Seat { source: &source, moved, notes: &notes, context, terraform };
    let turn = match standing {
        Standing::NotOurs => Turn::Theirs,
        _ => seat.turn(workspace).await?,
    };
    let going = terraform.runs.going(&uid);
    // A run of CAPT's that goes on is not interrupted by the question.
    let waits = turn == Turn::Theirs && standing != Standing::NotOurs && going.is_none();
    let asked = waits && is_asked(workspace);
    let due = terraform.asked.due(&uid, asked, terraform.now());
    let standing = match turn {
        Turn::Ours | Turn::HandBack => standing,
        Turn::Theirs => match due {
            Some(due) => return await_crossplane(workspace, due, context, terraform).await,
            None => Standing::NotOurs,
        },
        Turn::Pass(wanted) => return passing(wanted, workspace, &seat).await,
    };
    let observed = match (standing, &going) {
        (Standing::NotOurs, _) => Observed::NotOurs,
        (Standing::Frozen(freeze @ Freeze::ApplyPaused(_)), None) => {
            return look_at_paused(workspace, freeze, &source, &notes, context, terraform).await;
        }
        (Standing::Frozen(freeze), None) => {
            // What comes back may be another.
            terraform.records.forget(&uid);
            terraform.runs.forget(&uid);
            Observed::Frozen(freeze)
        }
        (Standing::Frozen(freeze), Some(_)) => Observed::Frozen(freeze),
        (Standing::Paused, _) => Observed::Paused,
        (Standing::Deleting, Some(going)) => Observed::Busy { outdated: is_outdated(going.operation) },
        (Standing::Abandoned(_) | Standing::LeftBehind(_) | Standing::Active, Some(_)) => {
            Observed::Busy { outdated: false }
        }
        (Standing::LeftBehind(freeze), None) => {
            return left::look_at_left(workspace, freeze, &seat).await;
        }
        (Standing::Abandoned(freeze), None) => {
            return left::look_at_abandoned(workspace, freeze, &seat).await;
        }
        (Standing::Deleting | Standing::Active, None) => {
            return look_closely(workspace, &source, &notes, context, terraform).await;
        }
    };
    let full = match observed {
        Observed::NotOurs => None,
        _ => full(&name, &uid, context).await?,
    };
    Ok(Seen { full, ..Seen::bare(observed) })
}

/// Something is to be noted on the Workspace, if it still is what the watch has shown.
async fn passing(wanted: Move, workspace: &Workspace, seat: &Seat<'_>) -> Result<Seen, Error> {
    let full = full(&workspace.name_any(), &workspace.uid().unwrap_or_default(), seat.context).await?;
    let Some(full) = full else { return Ok(Seen::bare(Observed::NotOurs)) };
    match seat.turn(&full).await? {
        Turn::Pass(still) if still == wanted => {
            Ok(Seen { full: Some(full), ..Seen::bare(Observed::Passing(wanted)) })
        }
        // The watch will show it.
        Turn::Pass(_) | Turn::Ours | Turn::HandBack | Turn::Theirs => Ok(Seen::bare(Observed::NotOurs)),
    }
}

/// Crossplane is asked to put the Workspace down. Once that is overdue it is told, of the Workspace as it is now: what Crossplane
/// has said meanwhile is not written over.
async fn await_crossplane(
    workspace: &Workspace,
    due: Timestamp,
    context: &Context,
    terraform: &Terraform,
) -> Result<Seen, Error> {
    let now = terraform.now();
    let observed = Observed::Asked { unanswered: unanswered(workspace), due, now };
    if now < due {
        return Ok(Seen::bare(observed));
    }
    let full = full(&workspace.name_any(), &workspace.uid().unwrap_or_default(), context).await?;
    match full.filter(is_asked) {
        Some(full) => Ok(Seen { full: Some(full), ..Seen::bare(observed) }),
        // The watch will show it.
        None => Ok(Seen::bare(Observed::NotOurs)),
    }
}

/// Whether a run makes or changes things, or finds out how, so that a deletion need not wait for its end.
fn is_outdated(operation: RunOperation) -> bool {
    match operation {
        RunOperation::Apply | RunOperation::Plan | RunOperation::Preview => true,
        RunOperation::PlanDestroy | RunOperation::Destroy | RunOperation::Outputs | RunOperation::Unlock => {
            false
        }
    }
}

/// Whether it is being deleted.
fn is_going(workspace: &Workspace) -> bool {
    workspace.metadata.deletion_timestamp.is_some()
}

/// The Workspace with everything in it, unless another of its name has taken its place.
async fn full(name: &str, uid: &str, context: &Context) -> Result<Option<Workspace>, Error> {
    let workspaces: Api<Workspace> = Api::all(context.client.clone());
    let found = workspaces.get_opt(name).await.map_err(Error::api(format!("reading Workspace `{name}`")))?;
    Ok(found.filter(|found| found.uid().as_deref() == Some(uid)))
}

/// Its apply is paused and nothing goes on. `clusterctl` pauses a Cluster and then waits for runs that began before: what came
/// of one is published all the same, and a run that nobody knows the end of holds up nobody for ever.
async fn look_at_paused(
    workspace: &Workspace,
    freeze: Freeze,
    source: &Source,
    notes: &Notes<'_, Dependent>,
    context: &Context,
    terraform: &Terraform,
) -> Result<Seen, Error> {
    let (name, uid) = (workspace.name_any(), workspace.uid().unwrap_or_default());
    let applied = |over: &Arc<Over>| matches!(over.ended.result, Ending::Applied { destroyed: false });
    if terraform.runs.over(&uid).is_some_and(|over| applied(&over)) {
        let seen = look_closely(workspace, source, notes, context, terraform).await?;
        let is_owned = match &seen.observed {
            Observed::Active(seen) => !matches!(seen.state, State::NotOurs { .. }),
            _ => false,
        };
        if is_owned && seen.over.as_ref().is_some_and(applied) {
            return Ok(Seen { observed: Observed::Unsettled { freeze, publishes: true }, ..seen });
        }
    }
    let place = Place::of(workspace, source.owner(), &terraform.options.home_namespace);
    let record = terraform.records.load(&context.client, &place).await?;
    let full = full(&name, &uid, context).await?;
    if record == Record::default() {
        // During a move it arrives after its apply.
        terraform.records.forget(&uid);
    }
    if !record.blocks_move {
        return Ok(Seen { full, ..Seen::bare(Observed::Frozen(freeze)) });
    }
    let observed = Observed::Unsettled { freeze, publishes: false };
    Ok(Seen { full, place: Some(place), record, ..Seen::bare(observed) })
}

/// Nothing goes on: everything has to be known.
async fn look_closely(
    workspace: &Workspace,
    source: &Source,
    notes: &Notes<'_, Dependent>,
    context: &Context,
    terraform: &Terraform,
) -> Result<Seen, Error> {
    let (name, uid) = (workspace.name_any(), workspace.uid().unwrap_or_default());
    let Some(full) = full(&name, &uid, context).await? else { return Ok(Seen::bare(Observed::NotOurs)) };
    if is_going(&full) != is_going(workspace) {
        // Whether it may be taken down was not looked at yet. The watch will show it.
        return Ok(Seen::bare(Observed::NotOurs));
    }
    // Whoever has handed it to somebody else since must be able to rely on that.
    let turn = Seat { source, moved: false, notes, context, terraform }.turn(&full).await?;
    if !matches!(turn, Turn::Ours | Turn::HandBack) {
        return Ok(Seen::bare(Observed::NotOurs));
    }
    let place = Place::of(&full, source.owner(), &terraform.options.home_namespace);
    let client = &context.client;
    let mut record = terraform.records.load(client, &place).await?;
    record.memory = record.memory.beside(full.creation_timestamp().map(|created| created.0));
    let state_note = source.noted(annotation::STATE, &full);
    let kept_as = source.noted(annotation::KEPT_AS, &full);
    let made_noted = source.apply.as_ref().is_some_and(|apply| is_made_by_crossplane(&apply.metadata));
    let (resolved, keeping) = resolve(&full, &place, &record, notes, context, terraform).await?;
    let place = locate(place, keeping.as_ref(), state_note.as_deref());
    if matches!(keeping, Some(Keeping::Here(_))) {
        // An earlier version did not look there.
        record.memory.elsewhere = record.memory.elsewhere.filter(|backend| !is_declared(backend));
    }
    let mut over = terraform.runs.over(&uid);
    let elsewhere = record.memory.elsewhere.is_some()
        || over.as_ref().is_some_and(|over| over.elsewhere.is_some())
        || matches!(keeping, Some(Keeping::Declared(_)));
    let found = if elsewhere {
        None
    } else {
        notes.on(Dependency::Secret(Name::new(&place.state.namespace, place.state_secret())));
        Some(state::look(client, &place).await?)
    };
    // What came of a run before somebody put an earlier state back says nothing about that one.
    over = over.filter(|over| over.restored == found.as_ref().and_then(|found| found.restored.clone()));
    let mut ended = over.as_ref().map(|over| over.ended.clone());
    if let Some(Ended { result: Ending::Failed(failure), .. }) = &mut ended
        && let (Some(lock), Some(begun)) = (failure.lock.as_mut(), &record.memory.begun)
    {
        lock_holder::judge(lock, begun, client, &place, found.is_some(), terraform).await?;
    }
    let deleting = is_going(&full);
    let terminating = deleting && is_terminating(&place.state.namespace, context).await?;
    let leaving = handover::Seen {
        place: &place,
        record: &record,
        found: found.as_ref(),
        config: &full.spec.provider_config_ref.name,
        keeping: keeping.as_ref(),
        note: state_note.as_deref(),
    };
    let hand_back = (turn == Turn::HandBack).then(|| leaving.check());
    let unstored = match &hand_back {
        Some(_) => terraform.left(&uid).await != Left::default(),
        None => false,
    };
    let request = request(&full, terraform);
    let Previewing { wanted: preview, request: preview_request, candidate } =
        previews::look(&full, &place, &record, notes, context, terraform).await?;
    let interrupted =
        interrupted::look(&full, &place, &record, over.as_deref(), &mut ended, client, terraform).await?;
    let facts = Facts {
        workspace: &full,
        record: &record,
        inputs: resolved.as_ref().map(|it| it.fingerprint.clone()).map_err(Blocked::clone),
        state: found.as_ref().map_or(State::Elsewhere, |found| found.state.clone()),
        state_note: state_note.as_deref(),
        wishes: Wishes::of(&full, source, &record.memory, ended.as_ref(), terraform),
        ended,
        requested: request.is_some(),
        restored: found.as_ref().is_some_and(|found| found.restored.is_some()) || record.memory.restored,
        traces: traces(&full).with_note(made_noted),
        hand_back,
        unstored,
        preview,
        now: terraform.now(),
    };
    let (observed, outputs_lack) = if deleting {
        (Observed::Deleting(Box::new(facts.deleting())), None)
    } else {
        let Looked { connection, lacks } = connection(&full, &place, &record, notes, context).await?;
        (Observed::Active(Box::new(facts.active(connection))), lacks)
    };
    Ok(Seen {
        observed,
        full: Some(full),
        place: Some(place),
        record,
        interrupted: Some(interrupted),
        resolved: resolved.ok(),
        found,
        over,
        terminating,
        state_note,
        kept_as,
        made_noted,
        request,
        preview: preview_request,
        candidate,
        outputs_lack,
    })
}

/// What goes into Terraform, as far as it can be had, and where its state is kept.
async fn resolve(
    workspace: &Workspace,
    place: &Place,
    record: &Record,
    notes: &Notes<'_, Dependent>,
    context: &Context,
    terraform: &Terraform,
) -> Result<(Result<Resolved, Blocked>, Option<Keeping>), Error> {
    let resolving = Resolving {
        workspace,
        place,
        context,
        options: &terraform.options,
        notes,
        // Made when a run needs it: nothing that is decided depends on it.
        kubeconfig: Secret::new(String::new()),
        provider_lock: record.provider_lock.clone(),
        located: OnceLock::new(),
    };
    let resolved = match resolving.resolve().await {
        Ok(resolved) => Ok(resolved),
        Err(Stop::Blocked(blocked)) => Err(blocked),
        Err(Stop::Failed(error)) => return Err(error),
    };
    Ok((resolved, resolving.located.into_inner()))
}

/// Whether the outputs are where they should be, once there are some.
async fn connection(
    workspace: &Workspace,
    place: &Place,
    record: &Record,
    notes: &Notes<'_, Dependent>,
    context: &Context,
) -> Result<Looked, Error> {
    let target = workspace.spec.write_connection_secret_to_ref.as_ref();
    if let Some(target) = target {
        notes.on(Dependency::Secret(Name::new(&target.namespace, &target.name)));
    }
    if record.memory.applied.is_none() && record.memory.observed.is_none() {
        return Ok(Connection::NotWanted.into());
    }
    connection_secret::look(&context.client, place, target, record.memory.published.as_deref()).await
}

/// Where the state is: as the `ProviderConfig` says, or, where that cannot be read any more, as it is noted.
fn locate(place: Place, keeping: Option<&Keeping>, note: Option<&str>) -> Place {
    let state = match keeping {
        Some(Keeping::Here(state)) => Some(state.clone()),
        Some(Keeping::Ours | Keeping::Declared(_)) => None,
        None => note.and_then(|note| place.noted_elsewhere(note)),
    };
    match state {
        Some(state) => place.with_state(state),
        None => place,
    }
}

/// The request that neither the status nor this process has handled.
fn request(workspace: &Workspace, terraform: &Terraform) -> Option<String> {
    let asked = workspace
        .annotations()
        .get(annotation::RECONCILE_REQUESTED_AT)
        .cloned()
        .filter(|asked| !asked.is_empty())?;
    let told = workspace.status.as_ref().and_then(|status| status.last_handled_reconcile_at.as_ref());
    let handled = terraform.runs.handled(&workspace.uid().unwrap_or_default());
    (told != Some(&asked) && handled.as_ref() != Some(&asked)).then_some(asked)
}

async fn is_terminating(namespace: &str, context: &Context) -> Result<bool, Error> {
    let namespaces: Api<Namespace> = Api::all(context.client.clone());
    let doing = format!("reading Namespace `{namespace}`");
    match namespaces.get_metadata_opt(namespace).await.map_err(Error::api(doing)) {
        Ok(found) => Ok(found.is_none_or(|found| found.metadata.deletion_timestamp.is_some())),
        // A manager of one namespace may not be allowed to look.
        Err(error) if error.is_forbidden() => Ok(false),
        Err(error) => Err(error),
    }
}
