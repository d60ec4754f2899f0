//! A Workspace as it was seen: all that a decision rests on.

use capt_api::workspace_template_apply::{DriftPolicy, UpdatePolicy};
use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::handover::Move;
use super::interrupted::InterruptedCall;
use super::lock::Lock;
use super::policy::Permissions;
use super::protection::Protection;
use super::runner::Starter;
use super::standing::Freeze;
use super::traces::Traces;
use crate::apply::Blocked;

/// A Workspace as it was seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// Somebody else runs it.
    NotOurs,
    /// It passes from Crossplane to CAPT, or back.
    Passing(Move),
    /// Crossplane is asked to put it down, and has not said that it has.
    Asked {
        /// What is told then.
        unanswered: Blocked,
        /// When that is overdue.
        due: Timestamp,
        /// Now.
        now: Timestamp,
    },
    /// Its apply says that it is to be left alone.
    Frozen(Freeze),
    /// It is being deleted, and its apply lives on elsewhere or is gone.
    Abandoned(Freeze),
    /// Its apply lives on elsewhere and is gone from here.
    LeftBehind {
        /// Where its apply is.
        freeze: Freeze,
        /// What of it is here and may be nowhere else.
        remains: Remains,
        /// Now.
        now: Timestamp,
    },
    /// Its apply is paused, and an apply of Terraform has ended since.
    Unsettled {
        /// Who paused it.
        freeze: Freeze,
        /// Whether it gave outputs that are not published yet.
        publishes: bool,
    },
    /// Its user says that it is to be left alone.
    Paused,
    /// A run of it waits for its turn or goes on.
    Busy {
        /// Whether the Workspace is being deleted while the run makes or changes things.
        outdated: bool,
    },
    /// It is being deleted.
    Deleting(Box<Deleting>),
    /// It is to be kept in line.
    Active(Box<Active>),
}

/// What is here of a Workspace whose apply lives on elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remains {
    /// Nothing that its apply has not taken along.
    Nothing,
    /// A state with nothing in it: a run that found its own moved away has made it.
    EmptyState,
    /// A process that an earlier manager began, as far as this machine knows.
    Process,
    /// A state that could not be stored, in its working directory.
    Unstored,
    /// A state in this Secret, as `namespace/name`: whoever moves an apply takes its state away before it, so this one was written
    /// afterwards.
    State(String),
}

/// A Workspace that is to be kept in line.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "these are independent facts")]
pub struct Active {
    /// Whether our finalizer holds it.
    pub held: bool,
    /// What goes into Terraform, by its fingerprint.
    pub inputs: Result<Inputs, Blocked>,
    /// What is on record.
    pub memory: Memory,
    /// Its state.
    pub state: State,
    /// Whether a state was there once.
    pub state_noted: bool,
    /// Whether the user accepts that the state is missing.
    pub missing_state_accepted: bool,
    /// Whether somebody put an earlier state or all of it back, and nothing was applied or seen to be in line since.
    pub restored: bool,
    /// Whether what is on record is of the Workspace that this one was in another cluster, and nothing was applied or seen to
    /// be in line since.
    pub moved: bool,
    /// What Crossplane left on it.
    pub traces: Traces,
    /// Whether it is to be handed back to Crossplane, and what is in the way of that.
    pub hand_back: Option<Result<(), Blocked>>,
    /// Whether a state that could not be stored, or a command whose end nobody saw, is on this machine. It is looked for only
    /// where it is to be handed back.
    pub unstored: bool,
    /// What came of the last run.
    pub ended: Option<Ended>,
    /// Whether somebody wants to see a plan.
    pub preview: Preview,
    /// Whether its outputs are where they should be.
    pub connection: Connection,
    /// What may be done.
    pub permissions: Result<Permissions, Blocked>,
    /// How changes that did not come through the apply are treated.
    pub update_policy: UpdatePolicy,
    /// How changes behind Terraform's back are treated.
    pub drift_policy: DriftPolicy,
    /// What is not destroyed or replaced without approval.
    pub protection: Protection,
    /// Plans that the user approves.
    pub approvals: Vec<String>,
    /// The lock that the user wants released.
    pub force_unlock: Option<String>,
    /// Whether the user asks for a look right now.
    pub requested: bool,
    /// When it is to be compared with reality next, if ever.
    pub next_check: Option<Timestamp>,
    /// Now.
    pub now: Timestamp,
}

/// A Workspace that is being deleted.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "these are independent facts")]
pub struct Deleting {
    /// Whether our finalizer holds it.
    pub held: bool,
    /// Whether the infrastructure is to be destroyed; otherwise it stays.
    pub destroys: bool,
    /// Finalizers of others.
    pub others: Vec<String>,
    /// What goes into Terraform now.
    pub inputs: Result<Inputs, Blocked>,
    /// The fingerprint of what went into the last apply, if that is kept.
    pub kept: Option<String>,
    /// What is on record.
    pub memory: Memory,
    /// Its state.
    pub state: State,
    /// Whether a state was there once.
    pub state_noted: bool,
    /// Whether the user accepts that the state is missing.
    pub missing_state_accepted: bool,
    /// What Crossplane left on it.
    pub traces: Traces,
    /// What came of the last run.
    pub ended: Option<Ended>,
    /// Plans that the user approves.
    pub approvals: Vec<String>,
    /// The lock that the user wants released.
    pub force_unlock: Option<String>,
    /// Now.
    pub now: Timestamp,
}

/// What goes into Terraform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Names all of it.
    pub fingerprint: String,
    /// The digest that the apply wrote, for a Workspace that has one.
    pub digest: Option<String>,
}

/// What is on record about earlier runs. It outlives the manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The last apply that succeeded, or the last plan of nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedRecord>,
    /// An apply that was begun and whose end is not on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<BegunRecord>,
    /// The fingerprint of what went in when something was only looked at, because the policies permit no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    /// When reality was compared with the Workspace last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Timestamp>,
    /// The backend that keeps the state, where it is not CAPT's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
    /// The digest of what was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// Whether it comes from a backup, and nothing was applied or seen to be in line since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restored: bool,
    /// The uid of the Workspace that it is of. It is another one after a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Calls of applies that died, of which nobody knows what they made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupted: Vec<InterruptedCall>,
}

/// An apply that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedRecord {
    /// What went in.
    pub fingerprint: String,
    /// The digest that the Workspace's apply had written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// An apply that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunRecord {
    /// What went in.
    pub fingerprint: String,
    /// The hash of the plan.
    pub plan: String,
    /// When.
    pub at: Timestamp,
    /// Who runs it.
    #[serde(flatten)]
    pub by: Starter,
    /// Who began applies before it whose end is not on record. Each of them may hold the lock on the state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Starter>,
}

/// What is known of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is kept where CAPT does not look.
    Elsewhere,
    /// There is none.
    Absent,
    /// It is there.
    Present {
        /// Whether nothing is in it.
        empty: bool,
    },
    /// It is another Workspace's.
    NotOurs {
        /// Whose it is.
        workspace: String,
    },
}

/// A plan that is made only because somebody wants to see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preview {
    /// Nobody asks for one, or it is there.
    NotWanted,
    /// Somebody asks for one.
    Wanted,
    /// Somebody asks for one of other content than the Workspace has.
    CandidateWanted,
    /// It was tried, and what came of it is not shown yet.
    Made,
}

/// Whether the outputs are where they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Nobody wants them.
    NotWanted,
    /// They are there as they were published.
    Complete,
    /// They are not there, or not all of them.
    Incomplete,
    /// They cannot be put there.
    Refused(Blocked),
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The fingerprint of what went in.
    pub fingerprint: String,
    /// When it ended.
    pub at: Timestamp,
    /// How it ended.
    pub result: Ending,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// A plan was made.
    Planned(Planned),
    /// A plan was applied and its outputs are at hand.
    Applied {
        /// Whether it destroyed everything.
        destroyed: bool,
    },
    /// The outputs were read.
    Outputs,
    /// A lock was released.
    Unlocked,
    /// It failed.
    Failed(Failure),
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Names what it would do.
    pub hash: String,
    /// Whether it destroys everything.
    pub destroy: bool,
    /// What it would do, in one line.
    pub summary: String,
    /// What it would do to each resource.
    pub changes: Vec<PlannedChange>,
    /// What applying it changes.
    pub effect: Effect,
    /// The backend that keeps the state, where it is not CAPT's choice.
    pub elsewhere: Option<String>,
    /// The addresses of what an interrupted apply has made, what this plan does not take in, and what nobody has checked.
    pub not_imported: Vec<String>,
}

impl Planned {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.effect == Effect::Nothing
    }
}

/// What applying a plan changes: Terraform's own verdict, whether or not CAPT can name each change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// Outputs and nothing else. Such a plan may come back after every apply, as that of `timestamp()` does.
    OutputsAlone,
    /// Resources, or what the state says of them.
    Resources,
}

/// What a plan would do to one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    /// The address of the resource.
    pub address: String,
    /// What happens to it.
    pub action: PlannedAction,
}

/// What happens to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedAction {
    /// It is made.
    Create,
    /// It is changed in place.
    Update,
    /// It is deleted and made anew.
    Replace,
    /// It is deleted.
    Delete,
    /// A data source is read.
    Read,
    /// It is dropped from the state and stays as it is.
    Forget,
    /// It is taken into the state as it is.
    Import,
    /// It gets another address in the state and stays as it is.
    Move,
    /// Something that this version of CAPT does not know.
    Unknown,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// One word and a sentence.
    pub blocked: Blocked,
    /// When another try is worth it.
    pub retry: Retry,
    /// How many runs failed in a row with the same inputs, this one included. A plan that succeeds in between ends no row: its
    /// apply may be what fails. In a deletion, both kinds of inputs are one row.
    pub attempt: u32,
    /// The lock that was in the way.
    pub lock: Option<Lock>,
    /// Whether the inputs of the last apply were used.
    pub kept_inputs: bool,
    /// Whether it was to plan a destroy, or to destroy.
    pub destroying: bool,
}

/// When another try is worth it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// When something that goes in changes.
    OnChange,
    /// After a while.
    Backoff,
    /// At once, beginning with a plan.
    Replan,
}
