//! Anything that may be seen.

use capt_api::workspace_template_apply::{DriftPolicy, UpdatePolicy};

use super::super::super::super::observed::{
    AppliedRecord, BegunRecord, Effect, Inputs, Planned, PlannedAction, PlannedChange, Preview,
};
use super::super::super::super::policy::Permissions;
use super::super::super::super::protection::Protection;
use super::super::world::Going;
use super::*;

const HASH: &str = "0123456789abcdef";

pub(super) fn standing() -> impl Strategy<Value = Observed> {
    prop_oneof![
        Just(Observed::NotOurs),
        Just(Observed::Frozen(freeze())),
        Just(Observed::Abandoned(freeze())),
        Just(Observed::Paused),
        any::<bool>().prop_map(|outdated| Observed::Busy { outdated }),
    ]
}

fn fingerprint() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["first", "second", "third"]).prop_map(ToOwned::to_owned)
}

fn time() -> impl Strategy<Value = Timestamp> {
    (0..100_000_i64).prop_map(|second| Timestamp::from_second(second).unwrap())
}

fn blocked() -> Blocked {
    Blocked::new(Reason::InputMissing, "it is not there")
}

fn inputs() -> impl Strategy<Value = Result<Inputs, Blocked>> {
    let digest = prop::option::of(Just("sha256:applied".to_owned()));
    let inputs = (fingerprint(), digest).prop_map(|(fingerprint, digest)| Inputs { fingerprint, digest });
    prop_oneof![4 => inputs.prop_map(Ok), 1 => Just(Err(blocked()))]
}

fn memory() -> impl Strategy<Value = Memory> {
    let digest = || prop::option::of(Just("sha256:applied".to_owned()));
    let applied = (fingerprint(), digest(), time()).prop_map(|(fingerprint, digest, at)| AppliedRecord {
        fingerprint,
        digest,
        at,
    });
    let begun = (fingerprint(), time()).prop_map(|(fingerprint, at)| BegunRecord {
        fingerprint,
        plan: HASH.to_owned(),
        at,
        by: crate::workspace::runner::Starter {
            host: "there".to_owned(),
            pod_namespace: Some("capt-system".to_owned()),
            runner: None,
        },
        earlier: Vec::new(),
    });
    let several = (
        prop::option::of(applied),
        prop::option::of(begun),
        prop::option::of(fingerprint()),
        prop::option::of(time()),
        any::<bool>(),
    );
    several.prop_map(|(applied, begun, observed, checked_at, moved)| Memory {
        applied,
        begun,
        observed,
        checked_at,
        workspace: moved.then(|| "before".to_owned()),
        ..Memory::default()
    })
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        Just(State::Elsewhere),
        Just(State::Absent),
        any::<bool>().prop_map(|empty| State::Present { empty }),
        Just(State::NotOurs { workspace: "theirs".to_owned() }),
    ]
}

fn action() -> impl Strategy<Value = PlannedAction> {
    use PlannedAction::{Create, Delete, Forget, Import, Move, Read, Replace, Unknown, Update};
    prop::sample::select(vec![Create, Update, Replace, Delete, Read, Forget, Import, Move, Unknown])
}

fn planned() -> impl Strategy<Value = Planned> {
    let change = (prop::sample::select(vec!["aws_vpc.main", "terraform_data.x"]), action())
        .prop_map(|(address, action)| PlannedChange { address: address.to_owned(), action });
    let effect = prop::sample::select(vec![Effect::Nothing, Effect::OutputsAlone, Effect::Resources]);
    (any::<bool>(), prop::collection::vec(change, 0..3), effect).prop_map(|(destroy, changes, effect)| {
        Planned {
            hash: HASH.to_owned(),
            destroy,
            summary: String::new(),
            // Terraform may see an effect that nothing names; it sees one wherever something is named.
            effect: if changes.is_empty() { effect } else { Effect::Resources },
            changes,
            elsewhere: None,
            not_imported: Vec::new(),
        }
    })
}

fn trouble() -> impl Strategy<Value = Failure> {
    let retry = prop::sample::select(vec![Retry::OnChange, Retry::Backoff, Retry::Replan]);
    let lock = prop::option::of(prop::sample::select(vec![Holder::Dead, Holder::Unknown]));
    (retry, lock, 1..8_u32, any::<bool>(), any::<bool>()).prop_map(
        |(retry, holder, attempt, kept_inputs, destroying)| {
            let lock = holder.and_then(|holder| locked(holder)?.lock);
            Failure { retry, attempt, lock, kept_inputs, destroying, ..failure(retry).unwrap() }
        },
    )
}

fn ended() -> impl Strategy<Value = Option<Ended>> {
    let result = prop_oneof![
        3 => planned().prop_map(Ending::Planned),
        1 => any::<bool>().prop_map(|destroyed| Ending::Applied { destroyed }),
        1 => Just(Ending::Outputs),
        1 => Just(Ending::Unlocked),
        3 => trouble().prop_map(Ending::Failed),
    ];
    let ended = (fingerprint(), time(), result).prop_map(|(fingerprint, at, result)| Ended {
        fingerprint,
        at,
        result,
    });
    prop::option::of(ended)
}

fn permissions() -> impl Strategy<Value = Result<Permissions, Blocked>> {
    let permitted = any::<(bool, bool, bool)>()
        .prop_map(|(create, update, delete)| Ok(Permissions { any: true, create, update, delete }));
    let none = Permissions { any: false, create: false, update: false, delete: false };
    prop_oneof![8 => permitted, 1 => Just(Ok(none)), 1 => Just(Err(blocked()))]
}

fn connection() -> impl Strategy<Value = Connection> {
    prop_oneof![
        Just(Connection::NotWanted),
        Just(Connection::Complete),
        Just(Connection::Incomplete),
        Just(Connection::Refused(blocked())),
    ]
}

fn approvals() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(vec![HASH, "another plan"]).prop_map(ToOwned::to_owned), 0..2)
}

fn force_unlock() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop::sample::select(vec!["id", "another"]).prop_map(ToOwned::to_owned))
}

pub(super) fn active() -> impl Strategy<Value = Active> {
    use DriftPolicy::{Correct, Ignore, Report};
    use UpdatePolicy::{Approve, Automatic, Pinned};
    let policies = (
        permissions(),
        prop::sample::select(vec![Automatic, Approve, Pinned]),
        prop::sample::select(vec![Correct, Report, Ignore]),
        approvals(),
    );
    let facts = (inputs(), memory(), state(), ended(), connection());
    let previews = vec![Preview::NotWanted, Preview::Wanted, Preview::CandidateWanted, Preview::Made];
    let back = prop_oneof![8 => Just(None), 1 => Just(Some(Ok(()))), 1 => Just(Some(Err(blocked())))];
    let traces = any::<(bool, bool, bool, bool)>().prop_map(|(ran, made, theirs, noted)| Traces {
        ran,
        made: made || theirs || noted,
        theirs,
        noted,
    });
    let switches = (any::<(bool, bool, bool, bool)>(), prop::sample::select(previews), traces, back);
    let times = (prop::option::of(time()), time(), force_unlock(), prop::bool::weighted(0.9));
    (facts, switches, policies, times).prop_map(
        |(
            (inputs, memory, state, ended, connection),
            ((state_noted, missing_state_accepted, requested, restored), preview, traces, hand_back),
            (permissions, update_policy, drift_policy, approvals),
            (next_check, now, force_unlock, held),
        )| Active {
            held,
            inputs,
            moved: memory.is_of_another("uid"),
            memory,
            state,
            state_noted,
            missing_state_accepted,
            restored,
            traces,
            hand_back,
            unstored: false,
            ended,
            preview,
            connection,
            permissions,
            update_policy,
            drift_policy,
            protection: Protection::new([]),
            approvals,
            force_unlock,
            requested,
            next_check,
            now,
        },
    )
}

pub(super) fn deleting() -> impl Strategy<Value = Deleting> {
    let others = prop::collection::vec(Just("example.com/hold".to_owned()), 0..2);
    let going = (prop::bool::weighted(0.8), prop_oneof![4 => Just(Vec::new()), 1 => others]);
    (active(), going, prop::option::of(fingerprint())).prop_map(|(active, (destroys, others), kept)| {
        Deleting {
            held: active.held,
            destroys,
            others,
            inputs: active.inputs,
            kept,
            memory: active.memory,
            state: active.state,
            state_noted: active.state_noted,
            missing_state_accepted: active.missing_state_accepted,
            traces: active.traces,
            ended: active.ended,
            approvals: active.approvals,
            force_unlock: active.force_unlock,
            now: active.now,
        }
    })
}

/// A world in which anything may have happened, and in which some runs fail.
pub(super) fn world() -> impl Strategy<Value = World> {
    let troubles = prop::collection::vec(prop::option::of(trouble()), 0..6);
    let going = prop::option::of(Just(Going { destroys: true, others: Vec::new() }));
    let real = (prop::option::of(fingerprint()), prop::option::of(action()));
    (active(), going, prop::option::of(fingerprint()), real, troubles).prop_map(
        |(active, going, kept, (real, action), troubles)| {
            let mut world = World::new().failing(troubles);
            world.active = active;
            (world.going, world.kept, world.real, world.action) = (going, kept, real, action);
            world
        },
    )
}
