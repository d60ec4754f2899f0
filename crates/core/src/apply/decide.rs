//! What to do with an apply, from the facts.

mod adoption;

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{Reason, annotation, finalizer};
use capt_api::workspace_template_apply::UpdatePolicy;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use super::Blocked;
use super::render::Rendered;
use crate::standing::Pause;
use crate::tie::{self, ApplyKey, Belongs};
use crate::workspace::handover::made::{self, Note, Work};

/// An apply as it was seen.
#[derive(Clone, Debug)]
pub enum Observed {
    /// Somebody else looks after it.
    ExternallyManaged,
    /// It is paused.
    Paused(Pause),
    /// It lives on elsewhere.
    Moved {
        /// Its Workspace, if it is there and ours.
        workspace: Option<WorkspaceFacts>,
    },
    /// It is being deleted.
    Deleting {
        /// Its Workspace, if it is there and ours.
        workspace: Option<WorkspaceFacts>,
        /// Applies whose Workspaces still use ours.
        dependents: Vec<ApplyKey>,
        /// The state that is noted on the apply as it is now, where the Workspace is not there.
        state: Option<String>,
    },
    /// It is to be kept in line.
    Active {
        /// The Workspace of the recorded name, or of the name it would get, whoever it belongs to.
        workspace: Option<WorkspaceFacts>,
        /// The Workspace's spec as it is, where somebody else may have written it: see [`needs_spec`].
        found: Option<Found>,
        /// What the Workspace should be.
        rendered: Result<Rendered, Blocked>,
    },
}

/// What somebody else may have written.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The spec of the Workspace.
    pub spec: Value,
    /// The version of the Workspace that it is of.
    pub resource_version: Option<String>,
}

/// Whether the decision needs the whole spec of the Workspace: it may be taken over, or was taken over as it was.
pub fn needs_spec(apply: &WorkspaceTemplateApply, workspace: &WorkspaceFacts) -> bool {
    match tie::belongs(&workspace.metadata, &ApplyKey::of(apply)) {
        Belongs::ToNobody => tie::may_adopt(apply, workspace.name()),
        Belongs::ToUs => noted(apply, annotation::FOUND_DIGEST).is_some(),
        Belongs::ToApply(_) => false,
    }
}

/// What is known of a Workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkspaceFacts {
    /// Its metadata.
    pub metadata: ObjectMeta,
    /// Its Ready condition.
    pub ready: Option<Verdict>,
    /// Its Synced condition.
    pub synced: Option<Verdict>,
    /// What Crossplane does with it, where Crossplane runs it.
    pub crossplane: Work,
}

/// A condition of a Workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is True.
    pub holds: bool,
    /// One word.
    pub reason: String,
    /// A sentence.
    pub message: String,
}

impl WorkspaceFacts {
    /// Its name.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// Whether it was left behind by a move; an apply that is active again takes it back.
    pub fn is_frozen(&self) -> bool {
        self.metadata.annotations.as_ref().is_some_and(|all| all.contains_key(annotation::FROZEN))
    }

    fn applied_digest(&self) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(annotation::APPLIED_DIGEST).map(String::as_str)
    }
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing at all.
    Leave,
    /// Tell that it is paused.
    Pause(Pause),
    /// Freeze the Workspace and let go of the apply.
    LetGo {
        /// The Workspace to be frozen.
        workspace: Option<String>,
    },
    /// Cut the tie to the Workspace and let go of the apply.
    Retain {
        /// The Workspace that stays.
        workspace: String,
    },
    /// Wait until nothing uses the Workspace any more.
    AwaitDependents(Vec<ApplyKey>),
    /// Ask for the Workspace's deletion.
    DeleteWorkspace {
        /// Its name.
        name: String,
        /// Its uid, so that no other of the same name is hit.
        uid: Option<String>,
    },
    /// Wait until the Workspace is gone.
    AwaitDeletion {
        /// Its name.
        name: String,
    },
    /// The Workspace is gone: let go of the apply.
    Finish,
    /// Hold the apply, and write down on it what must survive a move: its Workspace's name and what was applied.
    Claim(Record),
    /// Write down on the apply what Crossplane has made for it, which must survive a move as well.
    Note(Note),
    /// Wait until something changes.
    Hold(Blocked),
    /// A change is there but not to be carried over now.
    HoldChange {
        /// Its digest.
        pending: String,
        /// Why.
        blocked: Blocked,
    },
    /// Tie the Workspace to the apply as it is: what template and variables would change of it waits.
    TakeOver {
        /// Take over, or renew the tie.
        mode: Mode,
        /// The Workspace as it is.
        found: Rendered,
        /// The digest of what waits.
        pending: String,
        /// Why.
        blocked: Blocked,
    },
    /// Write the Workspace.
    Write {
        /// Create, change or take over.
        mode: Mode,
        /// What is written.
        rendered: Rendered,
    },
    /// All is as it should be.
    Settled {
        /// What the Workspace carries.
        rendered: Rendered,
    },
}

/// What an apply has on record about its Workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The Workspace's name.
    pub workspace: String,
    /// The digest that was applied last, where a change needs approval.
    pub digest: Option<String>,
    /// The digest of the spec that it had when it was taken over, as long as that is not what template and variables give.
    pub found: Option<String>,
    /// The name that what is kept of the Workspace goes by, where that is not its own.
    pub kept_as: Option<String>,
}

/// How a Workspace is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is not there.
    Create,
    /// It is ours and is changed.
    Update {
        /// Its uid.
        uid: Option<String>,
    },
    /// It is nobody's and is taken over.
    Adopt {
        /// Its uid.
        uid: Option<String>,
    },
}

/// Decides what to do.
pub fn decide(apply: &WorkspaceTemplateApply, seen: &Observed) -> Step {
    match seen {
        Observed::ExternallyManaged => Step::Leave,
        Observed::Paused(pause) => Step::Pause(*pause),
        Observed::Moved { workspace } => {
            Step::LetGo { workspace: workspace.as_ref().map(|workspace| workspace.name().to_owned()) }
        }
        Observed::Deleting { workspace, dependents, state } => {
            take_down(apply, workspace.as_ref(), dependents, state.as_deref())
        }
        Observed::Active { workspace, found, rendered } => {
            keep(apply, workspace.as_ref(), found.as_ref(), rendered)
        }
    }
}

fn take_down(
    apply: &WorkspaceTemplateApply,
    workspace: Option<&WorkspaceFacts>,
    dependents: &[ApplyKey],
    state: Option<&str>,
) -> Step {
    match workspace {
        None => match state.filter(|_| !apply.spec.retain_workspace_on_delete) {
            Some(state) => Step::Hold(lost(apply, state)),
            None => Step::Finish,
        },
        Some(workspace) if workspace.metadata.deletion_timestamp.is_some() => {
            Step::AwaitDeletion { name: workspace.name().to_owned() }
        }
        Some(workspace) if apply.spec.retain_workspace_on_delete => {
            Step::Retain { workspace: workspace.name().to_owned() }
        }
        Some(_) if !dependents.is_empty() => Step::AwaitDependents(dependents.to_vec()),
        Some(workspace) => {
            Step::DeleteWorkspace { name: workspace.name().to_owned(), uid: workspace.metadata.uid.clone() }
        }
    }
}

/// Whoever took the Workspace away took away what would have destroyed the infrastructure.
fn lost(apply: &WorkspaceTemplateApply, state: &str) -> Blocked {
    Blocked::new(
        Reason::WorkspaceMissing,
        format!(
            "Workspace `{}` is gone, but nothing says that what it made was destroyed: its state is noted to be in Secret `{state}`. Destroy what is left with that state and remove the annotation {} from this apply, or set its spec.retainWorkspaceOnDelete to true to leave it",
            tie::workspace_name(apply),
            annotation::STATE
        ),
    )
}

fn keep(
    apply: &WorkspaceTemplateApply,
    workspace: Option<&WorkspaceFacts>,
    found: Option<&Found>,
    rendered: &Result<Rendered, Blocked>,
) -> Step {
    let key = ApplyKey::of(apply);
    let name = tie::workspace_name(apply);
    let whose = workspace.map(|workspace| tie::belongs(&workspace.metadata, &key));

    if let Some(Belongs::ToApply(other)) = &whose {
        let alternative = key.alternative_workspace_name();
        return if name == alternative || tie::is_wished(apply, &name) {
            Step::Hold(not_ours(&name, &format!("belongs to WorkspaceTemplateApply `{other}`")))
        } else {
            Step::Claim(record(apply, alternative))
        };
    }
    if whose == Some(Belongs::ToNobody) && !tie::may_adopt(apply, &name) {
        return Step::Hold(not_ours(&name, "was not made by this apply"));
    }
    if let Some(note) = unnoted(apply, workspace) {
        return Step::Note(note);
    }
    let rendered = match rendered {
        Ok(rendered) => rendered.clone(),
        Err(blocked) => return Step::Hold(blocked.clone()),
    };
    if !is_claimed(apply, &name) {
        return Step::Claim(record(apply, name));
    }
    match (workspace, whose) {
        (Some(workspace), _) if workspace.metadata.deletion_timestamp.is_some() => Step::Hold(Blocked::new(
            Reason::WorkspaceMissing,
            format!("Workspace `{name}` is being deleted; it is made again when it is gone"),
        )),
        (None, _) => begin(apply, rendered),
        (Some(workspace), Some(Belongs::ToUs)) => update(apply, workspace, found, rendered),
        (Some(workspace), _) => {
            let mode = Mode::Adopt { uid: workspace.metadata.uid.clone() };
            adoption::adopt(apply, workspace, found, rendered, mode)
        }
    }
}

/// What Crossplane has made or destroyed, and the apply does not know yet.
fn unnoted(apply: &WorkspaceTemplateApply, workspace: Option<&WorkspaceFacts>) -> Option<Note> {
    let work = workspace.map(|workspace| workspace.crossplane);
    // A status does not move along: who has one has seen his Workspace here.
    let known_here = tie::reported_workspace_name(apply).is_some();
    made::to_note(&apply.metadata, work, known_here)
}

fn not_ours(name: &str, why: &str) -> Blocked {
    Blocked::new(
        Reason::WorkspaceNotOwned,
        format!(
            "Workspace `{name}` exists and {why}: rename this apply, or annotate it with {}={name} to take over a Workspace that nobody else uses",
            annotation::ADOPT_WORKSPACE
        ),
    )
}

/// Whether the apply is held by our finalizer and has the Workspace's name on record where it survives a move.
fn is_claimed(apply: &WorkspaceTemplateApply, name: &str) -> bool {
    let held = apply.metadata.finalizers.iter().flatten().any(|entry| entry == finalizer::WORKSPACE);
    held && noted(apply, annotation::WORKSPACE_NAME) == Some(name)
}

fn noted<'apply>(apply: &'apply WorkspaceTemplateApply, key: &str) -> Option<&'apply str> {
    apply.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

/// What is on record under this name, with what was applied under an earlier one. What is kept since then goes by that one.
fn record(apply: &WorkspaceTemplateApply, workspace: String) -> Record {
    let noted = |key| noted(apply, key).map(ToOwned::to_owned);
    let kept_as = noted(annotation::STATE).map(|_| tie::kept_name(apply));
    let kept_as = kept_as.or_else(|| noted(annotation::KEPT_AS));
    Record {
        digest: noted(annotation::APPLIED_DIGEST),
        found: noted(annotation::FOUND_DIGEST),
        kept_as: kept_as.filter(|kept_as| *kept_as != workspace),
        workspace,
    }
}

/// A Workspace that was there before is made again as it was: where changes need approval, a changed template does not slip
/// in by way of a Workspace that was lost or moved.
fn begin(apply: &WorkspaceTemplateApply, rendered: Rendered) -> Step {
    if noted(apply, annotation::FOUND_DIGEST).is_some() {
        return adoption::lost(apply, rendered);
    }
    match noted(apply, annotation::APPLIED_DIGEST) {
        Some(before) if before != rendered.digest => held_back(apply, rendered, Mode::Create),
        _ => Step::Write { mode: Mode::Create, rendered },
    }
}

fn update(
    apply: &WorkspaceTemplateApply,
    workspace: &WorkspaceFacts,
    found: Option<&Found>,
    rendered: Rendered,
) -> Step {
    let mode = Mode::Update { uid: workspace.metadata.uid.clone() };
    let adopted = noted(apply, annotation::FOUND_DIGEST).is_some();
    if workspace.applied_digest() != Some(rendered.digest.as_str()) {
        return if adopted {
            adoption::adopt(apply, workspace, found, rendered, mode)
        } else {
            held_back(apply, rendered, mode)
        };
    }
    if !is_tied(apply, workspace) || !is_untouched(apply, workspace) || workspace.is_frozen() {
        return Step::Write { mode, rendered };
    }
    let guarded = match apply.spec.update_policy {
        UpdatePolicy::Automatic => false,
        UpdatePolicy::Approve | UpdatePolicy::Pinned => true,
    };
    let unnoted = guarded && noted(apply, annotation::APPLIED_DIGEST) != Some(rendered.digest.as_str());
    if unnoted || adopted {
        let before = record(apply, workspace.name().to_owned());
        let digest = if guarded { Some(rendered.digest) } else { before.digest };
        return Step::Claim(Record { digest, found: None, ..before });
    }
    Step::Settled { rendered }
}

/// A change goes through at once, with approval, or not at all.
fn held_back(apply: &WorkspaceTemplateApply, rendered: Rendered, mode: Mode) -> Step {
    let blocked = match apply.spec.update_policy {
        UpdatePolicy::Automatic => return Step::Write { mode, rendered },
        UpdatePolicy::Approve if is_approved(apply, &rendered) => return Step::Write { mode, rendered },
        UpdatePolicy::Approve => Blocked::new(
            Reason::ApprovalRequired,
            format!(
                "template or variables have changed; to carry the change over, annotate this apply with {}={}",
                annotation::APPROVE,
                rendered.digest
            ),
        ),
        UpdatePolicy::Pinned => Blocked::new(
            Reason::Pinned,
            "template or variables have changed, and spec.updatePolicy is Pinned; set it to Approve or Automatic to carry the change over",
        ),
    };
    Step::HoldChange { pending: rendered.digest, blocked }
}

/// Whether the user has approved exactly this.
fn is_approved(apply: &WorkspaceTemplateApply, rendered: &Rendered) -> bool {
    noted(apply, annotation::APPROVE) == Some(rendered.digest.as_str())
}

/// The labels still name the apply as it is now; after a restore or a move the uid differs.
fn is_tied(apply: &WorkspaceTemplateApply, workspace: &WorkspaceFacts) -> bool {
    let wanted = tie::labels(
        &ApplyKey::of(apply),
        apply.metadata.uid.as_deref().unwrap_or_default(),
        crate::standing::cluster_name(&apply.metadata),
    );
    let labels = workspace.metadata.labels.as_ref();
    wanted.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
}

/// Nobody else has changed the Workspace's spec since we wrote it. Only an optimisation rests on the status: where it is
/// missing, the Workspace is written once more, and nothing changes by it.
fn is_untouched(apply: &WorkspaceTemplateApply, workspace: &WorkspaceFacts) -> bool {
    let written = apply.status.as_ref().and_then(|status| status.workspace_generation);
    written.is_some() && written == workspace.metadata.generation
}

#[cfg(test)]
mod tests;
