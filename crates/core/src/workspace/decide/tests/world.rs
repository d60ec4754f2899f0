//! A Workspace with its infrastructure, and a driver that does what is decided.

use std::collections::VecDeque;
use std::time::Duration;

use capt_api::workspace_template_apply::{DriftPolicy, UpdatePolicy};

use super::super::super::observed::{
    BegunRecord, Effect, Inputs, Planned, PlannedAction, PlannedChange, Preview,
};
use super::super::super::policy::Permissions;
use super::super::super::protection::Protection;
use super::*;
use crate::digest::short_digest;

pub(super) const INTERVAL: Duration = Duration::from_secs(6 * 3600);
const ENOUGH: usize = 30;

/// A Workspace, all that is known of it, and what is really there.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) uid: String,
    pub(super) active: Active,
    /// What only a Workspace that is being deleted has.
    pub(super) going: Option<Going>,
    pub(super) kept: Option<String>,
    pub(super) interval: Duration,
    /// The inputs that made what is there; somebody who changes it leaves another name.
    pub(super) real: Option<String>,
    /// What a plan does to the only resource.
    pub(super) action: Option<PlannedAction>,
    /// Whether every plan shows other outputs.
    pub(super) volatile_outputs: bool,
    /// The backend that plans are made with, where it is not CAPT's choice.
    pub(super) elsewhere: Option<String>,
    /// What an interrupted apply has made, and what plans do not take in.
    pub(super) not_imported: Vec<String>,
    /// How the next runs end, where they fail.
    pub(super) troubles: VecDeque<Option<Failure>>,
    failures: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Going {
    pub(super) destroys: bool,
    pub(super) others: Vec<String>,
}

pub(super) fn inputs(fingerprint: &str) -> Inputs {
    Inputs { fingerprint: fingerprint.to_owned(), digest: Some("sha256:applied".to_owned()) }
}

pub(super) const ALL: Permissions = Permissions { any: true, create: true, update: true, delete: true };

impl World {
    /// A Workspace that somebody has just written.
    pub(super) fn new() -> Self {
        let active = Active {
            held: false,
            inputs: Ok(inputs("first")),
            memory: Memory::default(),
            state: State::Absent,
            state_noted: false,
            missing_state_accepted: false,
            restored: false,
            moved: false,
            traces: Traces::default(),
            hand_back: None,
            unstored: false,
            ended: None,
            preview: Preview::NotWanted,
            connection: Connection::NotWanted,
            permissions: Ok(ALL),
            update_policy: UpdatePolicy::Automatic,
            drift_policy: DriftPolicy::Correct,
            protection: Protection::new([]),
            approvals: Vec::new(),
            force_unlock: None,
            requested: false,
            next_check: None,
            now: Timestamp::UNIX_EPOCH,
        };
        Self {
            uid: "uid".to_owned(),
            active,
            going: None,
            kept: None,
            interval: INTERVAL,
            real: None,
            action: None,
            volatile_outputs: false,
            elsewhere: None,
            not_imported: Vec::new(),
            troubles: VecDeque::new(),
            failures: 0,
        }
    }

    /// A Workspace that was applied, and nothing has happened since.
    pub(super) fn settled() -> Self {
        let mut world = Self::new();
        assert_eq!(world.walk(), ["claim", "plan", "apply", "publish", "settled"]);
        world
    }

    /// A Workspace whose infrastructure and state somebody else made.
    pub(super) fn taken_over(real: &str) -> Self {
        let mut world = Self::new();
        world.active.state = State::Present { empty: false };
        world.real = Some(real.to_owned());
        world
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Active)) -> Self {
        change(&mut self.active);
        self
    }

    /// Other inputs.
    pub(super) fn changed(mut self, fingerprint: &str) -> Self {
        self.active.inputs = Ok(inputs(fingerprint));
        self
    }

    /// Somebody changed what is there.
    pub(super) fn drifted(mut self) -> Self {
        self.real = Some("somebody's".to_owned());
        self
    }

    pub(super) fn permitting(self, create: bool, update: bool) -> Self {
        self.with(|active| active.permissions = Ok(Permissions { create, update, ..ALL }))
    }

    pub(super) fn failing(mut self, troubles: impl IntoIterator<Item = Option<Failure>>) -> Self {
        self.troubles.extend(troubles);
        self
    }

    /// Derived again in another cluster, where it has another uid. What it was in this one is forgotten but for what is on record.
    pub(super) fn moved(mut self) -> Self {
        self.uid = "uid-elsewhere".to_owned();
        self.restarted()
    }

    pub(super) fn deleted(mut self) -> Self {
        self.going = Some(Going { destroys: true, others: Vec::new() });
        self
    }

    pub(super) fn later(mut self, pause: Duration) -> Self {
        self.pass(pause);
        self
    }

    pub(super) fn pass(&mut self, pause: Duration) {
        self.active.now = self.active.now.saturating_add(pause).unwrap();
    }

    /// The manager dies: what it had not written down is lost.
    pub(super) fn restarted(mut self) -> Self {
        self.active.ended = None;
        self.failures = 0;
        self
    }

    pub(super) fn observed(&self) -> Observed {
        let Self { active, going, kept, .. } = self;
        let Some(Going { destroys, others }) = going.clone() else {
            let moved = active.memory.is_of_another(&self.uid);
            let next_check = self.next_check();
            return Observed::Active(Box::new(Active { moved, next_check, ..active.clone() }));
        };
        let Active { held, inputs, memory, state, state_noted, missing_state_accepted, .. } = active.clone();
        let Active { traces, ended, approvals, force_unlock, now, .. } = active.clone();
        Observed::Deleting(Box::new(Deleting {
            held,
            destroys,
            others,
            inputs,
            kept: kept.clone(),
            memory,
            state,
            state_noted,
            missing_state_accepted,
            traces,
            ended,
            approvals,
            force_unlock,
            now,
        }))
    }

    /// As the driver has it: a plan that was made since counts as a look.
    fn next_check(&self) -> Option<Timestamp> {
        let Active { memory, ended, drift_policy, .. } = &self.active;
        let planned = ended.as_ref().filter(|ended| matches!(ended.result, Ending::Planned(_)));
        let memory = Memory { checked_at: memory.checked_at.max(planned.map(|it| it.at)), ..memory.clone() };
        schedule::next_check(&memory, *drift_policy, self.interval, &self.uid)
    }

    pub(super) fn decide(&self) -> Step {
        decide(&self.observed())
    }

    /// Goes on until there is nothing to do now. Each step is a word.
    pub(super) fn walk(&mut self) -> Vec<&'static str> {
        let mut way = Vec::new();
        loop {
            assert!(way.len() < ENOUGH, "this never ends: {way:?}");
            let step = self.decide();
            way.push(word(&step));
            if !self.act(&step) {
                return way;
            }
        }
    }

    /// Does what was decided; `false` if that is to wait.
    pub(super) fn act(&mut self, step: &Step) -> bool {
        self.pass(Duration::from_secs(1));
        let ended = self.active.ended.clone();
        let memory = self.active.memory.clone();
        match step {
            Step::Claim => self.active.held = true,
            Step::Start(start) => self.run(start),
            Step::Publish => {
                let may_change = self.active.permissions.as_ref().is_ok_and(|permissions| permissions.update);
                let digest = self.active.inputs.as_ref().ok().and_then(|inputs| inputs.digest.clone());
                let ended = ended.unwrap();
                self.active.restored &= !matches!(ended.result, Ending::Applied { .. });
                self.active.memory = memory.published_by(&ended, digest, may_change, &self.uid);
                self.active.state_noted = true;
                self.active.missing_state_accepted = false;
                self.active.traces.ran = false;
                if self.active.connection == Connection::Incomplete {
                    self.active.connection = Connection::Complete;
                }
                self.active.ended = None;
                self.failures = 0;
            }
            Step::Confirm => {
                self.active.restored = false;
                self.active.memory = memory.confirmed_by(&ended.unwrap(), true, &self.uid);
                self.active.ended = None;
            }
            Step::ShowPreview => self.active.preview = Preview::NotWanted,
            Step::ReportDrift { .. } => {
                self.active.memory = memory.confirmed_by(&ended.unwrap(), false, &self.uid);
                return false;
            }
            _ => return false,
        }
        true
    }

    fn run(&mut self, start: &Start) {
        if start.operation == Operation::Preview {
            // What came of the run before it stays known.
            self.active.preview = Preview::Made;
            return;
        }
        let fingerprint = match start.inputs {
            Which::Current => self.active.inputs.clone().unwrap().fingerprint,
            Which::Kept => self.kept.clone().unwrap(),
            Which::Candidate => panic!("other content is only ever shown"),
        };
        self.active.requested = false;
        if let Operation::Apply { hash } | Operation::Destroy { hash } = &start.operation {
            self.begin(hash, &fingerprint);
            if matches!(start.operation, Operation::Apply { .. }) {
                self.kept = Some(fingerprint.clone());
            }
        }
        let destroying = matches!(start.operation, Operation::PlanDestroy | Operation::Destroy { .. });
        let result = match self.troubles.pop_front().flatten() {
            Some(failure) => {
                self.failures += 1;
                let kept_inputs = start.inputs == Which::Kept;
                Ending::Failed(Failure { attempt: self.failures, kept_inputs, destroying, ..failure })
            }
            None => self.succeed(&start.operation, &fingerprint),
        };
        self.active.ended = Some(Ended { fingerprint, at: self.active.now, result });
    }

    fn begin(&mut self, plan: &str, fingerprint: &str) {
        self.active.state_noted = true;
        self.active.memory.workspace = Some(self.uid.clone());
        self.active.memory.begun = Some(BegunRecord {
            fingerprint: fingerprint.to_owned(),
            plan: plan.to_owned(),
            at: self.active.now,
            by: crate::workspace::runner::Starter {
                host: "here".to_owned(),
                pod_namespace: None,
                runner: None,
            },
            earlier: Vec::new(),
        });
    }

    fn succeed(&mut self, operation: &Operation, fingerprint: &str) -> Ending {
        self.active.unstored = false;
        match operation {
            Operation::Plan | Operation::Preview => Ending::Planned(self.plan(fingerprint, false)),
            Operation::PlanDestroy => Ending::Planned(self.plan(fingerprint, true)),
            Operation::Apply { .. } => {
                self.real = Some(fingerprint.to_owned());
                self.active.state = State::Present { empty: false };
                Ending::Applied { destroyed: false }
            }
            Operation::Destroy { .. } => {
                self.real = None;
                self.active.state = State::Present { empty: true };
                Ending::Applied { destroyed: true }
            }
            Operation::Outputs => Ending::Outputs,
            Operation::Unlock { .. } => Ending::Unlocked,
        }
    }

    fn plan(&mut self, fingerprint: &str, destroy: bool) -> Planned {
        if self.active.state == State::Absent {
            self.active.state = State::Present { empty: true };
        }
        let action = match &self.real {
            Some(_) if destroy => Some(PlannedAction::Delete),
            None if destroy => None,
            Some(real) if real == fingerprint => None,
            Some(_) => Some(self.action.unwrap_or(PlannedAction::Update)),
            None => Some(PlannedAction::Create),
        };
        let effect = match action {
            Some(_) => Effect::Resources,
            None if self.volatile_outputs && !destroy => Effect::OutputsAlone,
            None => Effect::Nothing,
        };
        let from = self.real.clone().unwrap_or_default();
        let address = "aws_vpc.main".to_owned();
        Planned {
            hash: short_digest([from.as_str(), fingerprint, if destroy { "destroy" } else { "" }], 64),
            destroy,
            summary: "a summary".to_owned(),
            changes: action.map(|action| PlannedChange { address, action }).into_iter().collect(),
            effect,
            elsewhere: self.elsewhere.clone(),
            not_imported: self.not_imported.clone(),
        }
    }
}

/// A run that fails.
#[expect(clippy::unnecessary_wraps, reason = "beside it stand runs that do not fail")]
pub(super) fn failure(retry: Retry) -> Option<Failure> {
    let blocked = Blocked::new(Reason::ApplyFailed, "no quota");
    Some(Failure { blocked, retry, attempt: 0, lock: None, kept_inputs: false, destroying: false })
}

/// A run that finds a lock.
pub(super) fn locked(holder: Holder) -> Option<Failure> {
    let text = ToOwned::to_owned;
    let lock = Lock {
        id: text("id"),
        who: text("me@there"),
        operation: text("apply"),
        since: text("today"),
        holder,
    };
    failure(Retry::Backoff).map(|failure| Failure { lock: Some(lock), ..failure })
}

/// Why it waits.
pub(super) fn reason(step: &Step) -> Option<Reason> {
    match step {
        Step::Hold { blocked, .. } => Some(blocked.reason),
        _ => None,
    }
}

pub(super) fn word(step: &Step) -> &'static str {
    match step {
        Step::Leave => "leave",
        Step::Pass(_) => "pass",
        Step::AwaitCrossplane { .. } => "await crossplane",
        Step::HandBack => "hand back",
        Step::Freeze(_) => "freeze",
        Step::Abandon(_) => "abandon",
        Step::Drop(_) => "drop",
        Step::Settle(_) => "settle",
        Step::Pause => "pause",
        Step::Wait => "wait",
        Step::Interrupt => "interrupt",
        Step::Claim => "claim",
        Step::Start(Start { operation, inputs, .. }) => match (operation, inputs) {
            (Operation::Plan, _) => "plan",
            (Operation::Preview, _) => "preview",
            (Operation::PlanDestroy, Which::Current) => "plan destroy",
            (Operation::PlanDestroy, Which::Kept) => "plan destroy (kept)",
            (Operation::PlanDestroy | Operation::Destroy { .. }, Which::Candidate) => "never",
            (Operation::Apply { .. }, _) => "apply",
            (Operation::Destroy { .. }, Which::Current) => "destroy",
            (Operation::Destroy { .. }, Which::Kept) => "destroy (kept)",
            (Operation::Outputs, _) => "outputs",
            (Operation::Unlock { .. }, _) => "unlock",
        },
        Step::Publish => "publish",
        Step::Confirm => "confirm",
        Step::ShowPreview => "show",
        Step::Hold { .. } => "hold",
        Step::AwaitLock { .. } => "await lock",
        Step::AwaitApproval { .. } => "await approval",
        Step::ReportDrift { .. } => "report drift",
        Step::AwaitOthers(_) => "await others",
        Step::Orphan => "orphan",
        Step::Finish => "finish",
        Step::Settled { .. } => "settled",
    }
}
