//! What to do with a network, from the facts.

use capt_api::names::{Reason, finalizer};
use capt_api::{CAPTCluster, WorkspaceTemplateApply};

use super::observed::{ControlPlane, Observed};
use super::wanted::{is_named, wanted_at_the_end};
use crate::apply::Blocked;
use crate::owned_apply::{Belongs, Owner, Wanted, belongs};
use crate::owned_state::{is_remembered, to_remember};
use crate::standing::Pause;

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing at all.
    Leave,
    /// Tell that it is paused.
    Pause(Pause),
    /// Let go of the network, which lives on elsewhere.
    LetGo,
    /// Wait until the control planes in the network are gone.
    AwaitControlPlanes(Vec<ControlPlane>),
    /// Tell the apply whether its infrastructure is to stay, before it is deleted.
    Align {
        /// The apply as it should be.
        wanted: Wanted,
    },
    /// Ask for the apply's deletion.
    DeleteApply {
        /// Its name.
        name: String,
    },
    /// Wait until the apply is gone.
    AwaitDeletion {
        /// Its name.
        name: String,
    },
    /// Nothing is left to be taken down: let go of the network.
    Finish,
    /// Wait until something changes.
    Hold(Blocked),
    /// The network is there and is not ours to change.
    Use {
        /// Its identifier.
        vpc: String,
    },
    /// Hold the network and write down the name of its apply, before there is an apply.
    Claim {
        /// The apply's name.
        apply: String,
        /// What it is to remember of the apply's state.
        state: Option<String>,
    },
    /// Write the apply.
    Write {
        /// Create, change or take over.
        mode: Mode,
        /// What is written.
        wanted: Wanted,
    },
    /// The apply is as it should be.
    Settled {
        /// The apply's name.
        apply: String,
    },
}

/// How an apply is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is not there.
    Create,
    /// It is ours and is changed.
    Update,
    /// It is nobody's and is taken over.
    Adopt,
}

impl Step {
    /// Whether it is about taking the network down, or letting go of it.
    pub fn takes_down(&self) -> bool {
        match self {
            Self::LetGo
            | Self::AwaitControlPlanes(_)
            | Self::Align { .. }
            | Self::DeleteApply { .. }
            | Self::AwaitDeletion { .. }
            | Self::Finish => true,
            Self::Leave
            | Self::Pause(_)
            | Self::Hold(_)
            | Self::Use { .. }
            | Self::Claim { .. }
            | Self::Write { .. }
            | Self::Settled { .. } => false,
        }
    }
}

/// Decides what to do.
pub fn decide(network: &CAPTCluster, seen: &Observed) -> Step {
    match seen {
        Observed::ExternallyManaged => Step::Leave,
        Observed::Paused(pause) => Step::Pause(*pause),
        Observed::Moved => Step::LetGo,
        Observed::Deleting { apply, control_planes } => take_down(network, apply.as_deref(), control_planes),
        Observed::Existing { vpc } => Step::Use { vpc: vpc.clone() },
        Observed::Templated { wanted, apply } => keep(network, wanted, apply.as_deref()),
        Observed::Blocked(blocked) => Step::Hold(blocked.clone()),
    }
}

fn take_down(
    network: &CAPTCluster,
    apply: Option<&WorkspaceTemplateApply>,
    control_planes: &[ControlPlane],
) -> Step {
    let Some(apply) = apply else {
        return if control_planes.is_empty() {
            Step::Finish
        } else {
            Step::AwaitControlPlanes(control_planes.to_vec())
        };
    };
    let going = apply.metadata.deletion_timestamp.is_some();
    let wanted = wanted_at_the_end(network, apply);
    let unprotected = network.spec.retain_vpc_on_delete && !apply.spec.retain_workspace_on_delete;
    if unprotected || (control_planes.is_empty() && !going && !wanted.is_met_by(apply, &Owner::of(network))) {
        return Step::Align { wanted };
    }
    match wanted.name {
        _ if !control_planes.is_empty() => Step::AwaitControlPlanes(control_planes.to_vec()),
        name if going => Step::AwaitDeletion { name },
        name => Step::DeleteApply { name },
    }
}

fn keep(network: &CAPTCluster, wanted: &Wanted, apply: Option<&WorkspaceTemplateApply>) -> Step {
    let owner = Owner::of(network);
    let name = &wanted.name;
    let whose = apply.map(|apply| belongs(&apply.metadata, &owner));
    let mode = match whose {
        None => Mode::Create,
        Some(Belongs::ToUs | Belongs::ToOurPast) => Mode::Update,
        Some(Belongs::ToNobody) if is_named(network, name) => Mode::Adopt,
        Some(Belongs::ToNobody) => return Step::Hold(not_ours(name, "was not made by this CAPTCluster")),
        Some(Belongs::ToOther(other)) => return Step::Hold(not_ours(name, &format!("belongs to {other}"))),
    };
    if !is_claimed(network, name) || !is_remembered(&network.metadata, apply) {
        return Step::Claim { apply: name.clone(), state: to_remember(&network.metadata, apply) };
    }
    match apply {
        Some(apply) if apply.metadata.deletion_timestamp.is_some() => Step::Hold(Blocked::new(
            Reason::NetworkNotReady,
            format!("WorkspaceTemplateApply `{name}` is being deleted; it is made again when it is gone"),
        )),
        Some(apply) if wanted.is_met_by(apply, &owner) => Step::Settled { apply: name.clone() },
        Some(_) | None => Step::Write { mode, wanted: wanted.clone() },
    }
}

fn not_ours(name: &str, why: &str) -> Blocked {
    Blocked::new(
        Reason::ApplyNotOwned,
        format!(
            "WorkspaceTemplateApply `{name}` exists and {why}: write another name into spec.workspaceTemplateApplyName, or this one to take over an apply that has no owner"
        ),
    )
}

/// Whether the network is held by our finalizer and has the apply's name on record where it survives a move.
fn is_claimed(network: &CAPTCluster, apply: &str) -> bool {
    let held = network.metadata.finalizers.iter().flatten().any(|entry| entry == finalizer::NETWORK);
    held && network.spec.workspace_template_apply_name.as_deref() == Some(apply)
}

#[cfg(test)]
mod tests;
