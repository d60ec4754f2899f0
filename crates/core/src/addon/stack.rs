//! What is told of a stack over all its clusters.

use capt_api::addon_stack::{
    AddonCounts, AddonStackBindingStatus, AddonStackSpec, AddonStackStatus, StepState,
};
use capt_api::names::{Reason, condition as type_};

use super::order::order;
use crate::condition::{Stamp, Statement, Truth, upsert};
use crate::selector;

/// How many clusters are named in a message.
const NAMED: usize = 3;

/// Why a stack cannot be used at all.
pub fn problem(spec: &AddonStackSpec) -> Option<(Reason, String)> {
    if let Some(problem) = selector::problem(&spec.cluster_selector) {
        return Some((Reason::SpecInvalid, format!("spec.clusterSelector: {problem}")));
    }
    order(&spec.addons).err().map(|circle| (Reason::DependencyCycle, circle.to_string()))
}

/// One cluster of a stack.
#[derive(Clone, Copy, Debug)]
pub struct Member<'status> {
    /// The Cluster.
    pub cluster: &'status str,
    /// How far the stack has come there.
    pub status: Option<&'status AddonStackBindingStatus>,
}

/// What is told of a stack.
pub fn status(
    before: Option<&AddonStackStatus>,
    spec: &AddonStackSpec,
    members: &[Member<'_>],
    paused: bool,
    stamp: &Stamp,
) -> AddonStackStatus {
    let mut conditions = before.map(|before| before.conditions.clone()).unwrap_or_default();
    upsert(&mut conditions, ready(spec, members).into_condition(type_::READY, stamp));
    let pause = if paused {
        Statement::new(Truth::True, Reason::Paused, "nothing is brought to any cluster")
    } else {
        Statement::new(Truth::False, Reason::NotPaused, "")
    };
    upsert(&mut conditions, pause.into_condition(type_::PAUSED, stamp));
    AddonStackStatus {
        clusters: count(members, |_| true),
        ready: count(members, |member| standing(*member) == Standing::Ready),
        failed: count(members, |member| standing(*member) == Standing::Failed),
        addons: spec.addons.iter().map(|addon| counts(&addon.name, members)).collect(),
        observed_generation: stamp.generation,
        conditions,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Ready,
    Failed,
    OnItsWay,
}

fn standing(member: Member<'_>) -> Standing {
    match member.status.and_then(|status| status.state) {
        Some(StepState::Ready) => Standing::Ready,
        Some(StepState::Failed | StepState::Blocked) => Standing::Failed,
        _ => Standing::OnItsWay,
    }
}

fn count(members: &[Member<'_>], which: impl Fn(&Member<'_>) -> bool) -> u32 {
    u32::try_from(members.iter().filter(|member| which(member)).count()).unwrap_or(u32::MAX)
}

fn counts(name: &str, members: &[Member<'_>]) -> AddonCounts {
    let state = |member: &Member<'_>| {
        let steps = member.status.map(|status| status.addons.as_slice()).unwrap_or_default();
        steps.iter().find(|step| step.name == name).map(|step| step.state)
    };
    let mut counts = AddonCounts { name: name.to_owned(), ..AddonCounts::default() };
    for member in members {
        let counter = match state(member) {
            Some(StepState::Ready) => &mut counts.ready,
            Some(StepState::Delivering | StepState::WaitingForReady | StepState::Removing) => {
                &mut counts.progressing
            }
            Some(StepState::Failed | StepState::Blocked) => &mut counts.failed,
            Some(StepState::Pending) | None => &mut counts.waiting,
        };
        *counter = counter.saturating_add(1);
    }
    counts
}

fn ready(spec: &AddonStackSpec, members: &[Member<'_>]) -> Statement {
    if let Some((reason, message)) = problem(spec) {
        return Statement::new(Truth::False, reason, message);
    }
    if members.is_empty() {
        return Statement::new(
            Truth::True,
            Reason::NoClusters,
            "the selector matches no Cluster of this namespace",
        );
    }
    let of = |which: Standing| members.iter().filter(move |member| standing(**member) == which);
    let named = |which| {
        let names: Vec<_> = of(which).map(|member| format!("`{}`", member.cluster)).collect();
        let more = names.len().saturating_sub(NAMED);
        let told = names[..names.len().min(NAMED)].join(", ");
        if more == 0 { told } else { format!("{told} and {more} more") }
    };
    match (of(Standing::Failed).next(), of(Standing::OnItsWay).next()) {
        (Some(_), _) => {
            Statement::new(Truth::False, Reason::AddonFailed, format!("stuck in {}", named(Standing::Failed)))
        }
        (None, Some(_)) => Statement::new(
            Truth::False,
            Reason::AddonNotReady,
            format!("on its way in {}", named(Standing::OnItsWay)),
        ),
        (None, None) => Statement::new(Truth::True, Reason::AddonsReady, ""),
    }
}

#[cfg(test)]
mod tests;
