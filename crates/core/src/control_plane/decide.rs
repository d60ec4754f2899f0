//! What to do with a control plane's apply, from the facts.

use capt_api::names::{Reason, finalizer};
use capt_api::{CAPTControlPlane, WorkspaceTemplateApply};
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::names;
use super::observed::{Network, Observed, OurNetwork, Scene};
use crate::apply::Blocked;
use crate::clearing::{self, Policy, Verdict};
use crate::condition::cut;
use crate::name::is_object_name;
use crate::owned_apply::{Belongs, Owner, Wanted};
use crate::owned_state::{is_remembered, to_remember};
use crate::standing::Pause;

/// Minutes until a network should be there, if nothing is said.
const NETWORK_MINUTES: i32 = 15;
/// Minutes until a control plane should be there, if nothing is said.
const CONTROL_PLANE_MINUTES: i32 = 30;

/// How long a new control plane may take to be found by its Cluster, before it is told that it waits for one.
const TO_BE_FOUND: SignedDuration = SignedDuration::from_secs(5);

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing at all.
    Leave,
    /// Tell that it is paused.
    Pause(Pause),
    /// It lives on elsewhere: let go of it.
    LetGo,
    /// Hold the control plane before anything is made for it.
    Claim {
        /// The name of its apply.
        apply: String,
        /// What it is to remember of the apply's state.
        state: Option<String>,
    },
    /// Wait until something changes, or until `until` to tell more.
    Hold {
        /// Why.
        blocked: Blocked,
        /// When there is more to tell.
        until: Option<Timestamp>,
    },
    /// Write the apply.
    Write {
        /// What is written.
        wanted: Wanted,
        /// Whether there is none yet.
        create: bool,
    },
    /// The apply is as it should be.
    Settled,
    /// Wait until what Terraform does not know of is gone from the cluster, or until `until` to decide anew.
    AwaitClearing {
        /// Why.
        blocked: Blocked,
        /// When the time is over.
        until: Option<Timestamp>,
    },
    /// Ask for the apply's deletion.
    DeleteApply {
        /// What is left in the cluster although the time is over.
        left: Option<String>,
    },
    /// Wait until the apply is gone.
    AwaitDeletion {
        /// Its name.
        apply: String,
        /// What it says about itself.
        message: String,
    },
    /// All is gone: let go of the control plane.
    Finish,
}

/// Decides.
pub fn decide(control_plane: &CAPTControlPlane, observed: &Observed) -> Step {
    match observed {
        Observed::ExternallyManaged => Step::Leave,
        Observed::Paused(pause) => Step::Pause(*pause),
        Observed::Moved => Step::LetGo,
        Observed::Deleting { apply: None, .. } => Step::Finish,
        Observed::Deleting { apply: Some(apply), .. } if apply.metadata.deletion_timestamp.is_some() => {
            Step::AwaitDeletion {
                apply: apply.metadata.name.clone().unwrap_or_default(),
                message: ready_message(apply),
            }
        }
        // A cluster that stays is left as it is.
        Observed::Deleting { apply: Some(apply), .. } if apply.spec.retain_workspace_on_delete => {
            Step::DeleteApply { left: None }
        }
        Observed::Deleting { apply: Some(_), inside, since, now } => {
            match clearing::judge(&Policy::of(control_plane), inside, *since, *now) {
                Verdict::Destroy { left } => Step::DeleteApply { left },
                Verdict::Wait { blocked, until } => Step::AwaitClearing { blocked, until },
            }
        }
        Observed::Alone { now } => {
            let message =
                "no Cluster names this control plane: a Cluster's spec.controlPlaneRef must lead to it";
            let created = control_plane.metadata.creation_timestamp.as_ref().map(|time| time.0);
            let found_by = created.and_then(|created| created.checked_add(TO_BE_FOUND).ok());
            let until = found_by.filter(|found_by| now < found_by);
            Step::Hold { blocked: Blocked::new(Reason::WaitingForCluster, message), until }
        }
        Observed::Active(scene) => active(control_plane, scene),
    }
}

fn active(control_plane: &CAPTControlPlane, scene: &Scene) -> Step {
    let Scene { network, apply, wanted, now } = scene;
    if !is_object_name(&wanted.name) {
        let message = format!(
            "spec.workspaceTemplateApplyName: `{}` cannot be the name of an object: use lower case letters, digits, hyphens and dots",
            cut(&wanted.name, 100)
        );
        return Step::Hold { blocked: Blocked::new(Reason::SpecInvalid, message), until: None };
    }
    match apply {
        None => {
            if let Some(hold) = await_network(control_plane, network, *now) {
                return hold;
            }
            if !is_claimed(control_plane) {
                return claim(control_plane, wanted, None);
            }
            Step::Write { wanted: wanted.clone(), create: true }
        }
        Some((_, Belongs::ToOther(other))) => hold_apply(wanted, &format!("belongs to {other}")),
        Some((_, Belongs::ToNobody)) if !is_named(control_plane, &wanted.name) => {
            hold_apply(wanted, "was made by somebody else")
        }
        Some((apply, _)) if apply.metadata.deletion_timestamp.is_some() => {
            let message = format!(
                "WorkspaceTemplateApply `{}` is being deleted; it is made again when it is gone",
                wanted.name
            );
            Step::Hold { blocked: Blocked::new(Reason::ControlPlaneNotReady, message), until: None }
        }
        Some((apply, _))
            if !is_claimed(control_plane) || !is_remembered(&control_plane.metadata, Some(apply)) =>
        {
            claim(control_plane, wanted, Some(apply))
        }
        Some((apply, _)) if wanted.is_met_by(apply, &Owner::of(control_plane)) => Step::Settled,
        Some(_) => Step::Write { wanted: wanted.clone(), create: false },
    }
}

fn claim(control_plane: &CAPTControlPlane, wanted: &Wanted, apply: Option<&WorkspaceTemplateApply>) -> Step {
    Step::Claim { apply: wanted.name.clone(), state: to_remember(&control_plane.metadata, apply) }
}

/// Whether the control plane is held by us and names its apply.
fn is_claimed(control_plane: &CAPTControlPlane) -> bool {
    let held =
        control_plane.metadata.finalizers.iter().flatten().any(|entry| entry == finalizer::CONTROL_PLANE);
    held && is_named(control_plane, &names::apply(control_plane))
}

/// Whether the user, or CAPT before, has written the apply's name into the spec.
fn is_named(control_plane: &CAPTControlPlane, apply: &str) -> bool {
    control_plane.spec.workspace_template_apply_name.as_deref() == Some(apply)
}

fn hold_apply(wanted: &Wanted, whose: &str) -> Step {
    let Wanted { name, .. } = wanted;
    let message = format!(
        "WorkspaceTemplateApply `{name}` {whose} and is left alone: delete it, or write the name of another into spec.workspaceTemplateApplyName"
    );
    Step::Hold { blocked: Blocked::new(Reason::ApplyNotOwned, message), until: None }
}

/// A wait holds up only the making of a control plane: one that is there is not held up by what it once waited for.
fn await_network(control_plane: &CAPTControlPlane, network: &Network, now: Timestamp) -> Option<Step> {
    let why = match network {
        Network::None
        | Network::Foreign { provisioned: true, .. }
        | Network::Ours(OurNetwork { provisioned: true, .. }) => return None,
        Network::Missing { name } => format!("{name} does not exist"),
        Network::Foreign { name, provisioned: false } => format!("{name} is not ready"),
        Network::Ours(OurNetwork { name, message, .. }) if message.is_empty() => {
            format!("CAPTCluster `{name}` is not ready")
        }
        Network::Ours(OurNetwork { name, message, .. }) => {
            format!("CAPTCluster `{name}` is not ready: {message}")
        }
    };
    let minutes = timeouts(control_plane).0;
    let deadline =
        deadline(control_plane.metadata.creation_timestamp.as_ref().map(|time| time.0), minutes, now);
    Some(if now < deadline {
        let blocked = Blocked::new(Reason::WaitingForNetwork, format!("waiting for the network: {why}"));
        Step::Hold { blocked, until: Some(deadline) }
    } else {
        let message = format!(
            "the network is not there after {minutes} minutes (controlPlaneConfig.timeouts.vpcReadyTimeout) and is waited for: {why}"
        );
        Step::Hold { blocked: Blocked::new(Reason::NetworkOverdue, message), until: None }
    })
}

/// When the control plane should be there; from then on it is told as late.
pub fn control_plane_deadline(
    control_plane: &CAPTControlPlane,
    apply: Option<&WorkspaceTemplateApply>,
    now: Timestamp,
) -> Timestamp {
    let since = apply.and_then(|apply| apply.metadata.creation_timestamp.as_ref()).map(|time| time.0);
    deadline(since, timeouts(control_plane).1, now)
}

/// Minutes for the network, and for the control plane.
pub fn timeouts(control_plane: &CAPTControlPlane) -> (i32, i32) {
    let timeouts =
        control_plane.spec.control_plane_config.as_ref().and_then(|config| config.timeouts.as_ref());
    timeouts.map_or((NETWORK_MINUTES, CONTROL_PLANE_MINUTES), |timeouts| {
        (timeouts.vpc_ready_timeout, timeouts.control_plane_timeout)
    })
}

fn deadline(since: Option<Timestamp>, minutes: i32, now: Timestamp) -> Timestamp {
    let since = since.unwrap_or(now);
    since.checked_add(SignedDuration::from_mins(minutes.into())).unwrap_or(since)
}

/// What an apply says about its readiness.
fn ready_message(apply: &WorkspaceTemplateApply) -> String {
    let conditions = apply.status.iter().flat_map(|status| &status.conditions);
    let ready = conditions.filter(|condition| condition.type_ == capt_api::names::condition::READY);
    ready.map(|condition| condition.message.clone()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
