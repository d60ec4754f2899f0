//! Whether a Workspace may be run at all.

use std::fmt;

use capt_api::names::annotation;
use capt_api::{Cluster, WorkspaceTemplateApply};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::handover::is_paused;
use crate::standing::{self, Standing as ApplyStanding};
use crate::tie::{self, ApplyKey};

/// Whether a Workspace may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Somebody else looks after it.
    NotOurs,
    /// Its apply says that it is to be left alone.
    Frozen(Freeze),
    /// It is being deleted, and its apply lives on elsewhere or is gone: it is let go without a destroy.
    Abandoned(Freeze),
    /// Its apply is known to live on elsewhere and is gone from here: it is removed without a destroy.
    LeftBehind(Freeze),
    /// Its user says that it is to be left alone.
    Paused,
    /// It is to be taken down.
    Deleting,
    /// It is to be kept in line.
    Active,
}

/// Why a Workspace is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freeze {
    /// Its apply is paused.
    ApplyPaused(ApplyKey),
    /// Its apply lives on in another cluster.
    ApplyMoved(ApplyKey),
    /// Its apply is gone.
    ApplyGone(ApplyKey),
    /// Its apply came back from another cluster and has another Workspace now.
    Superseded {
        /// The apply.
        apply: ApplyKey,
        /// Its Workspace.
        by: String,
    },
}

impl fmt::Display for Freeze {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApplyPaused(key) => write!(formatter, "WorkspaceTemplateApply `{key}` is paused"),
            Self::ApplyMoved(key) => {
                write!(formatter, "WorkspaceTemplateApply `{key}` lives on in another cluster")
            }
            Self::ApplyGone(key) => write!(
                formatter,
                "WorkspaceTemplateApply `{key}` is gone. If it was moved to another cluster, delete this Workspace: nothing is destroyed by that. Else make it again"
            ),
            Self::Superseded { apply, by } => {
                write!(formatter, "WorkspaceTemplateApply `{apply}` has Workspace `{by}` now")
            }
        }
    }
}

/// What is known of the apply that a Workspace is derived from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody derived it.
    Nobody,
    /// This apply did.
    Apply(ApplyKey, ApplyStanding),
    /// This apply did before it was moved away: it is back, and has not taken the Workspace up again.
    Former(ApplyKey, ApplyStanding),
    /// This apply did, and it is gone.
    Gone {
        /// The apply.
        apply: ApplyKey,
        /// Whether it was seen to go because it lives on elsewhere. Where nobody looked, it may as well be lost.
        moved: bool,
    },
    /// This apply did, and it has another Workspace now.
    Superseded {
        /// The apply.
        apply: ApplyKey,
        /// Its Workspace.
        by: String,
        /// Whether that one has what was kept of this: then nobody misses it.
        keeps: bool,
    },
    /// This apply did, and another manager looks after it.
    Unseen(ApplyKey),
}

impl Origin {
    /// The origin of a Workspace whose apply is there and has no other one.
    pub fn of(workspace: &ObjectMeta, apply: &WorkspaceTemplateApply, cluster: Option<&Cluster>) -> Self {
        let (key, standing) = (ApplyKey::of(apply), standing::standing(&apply.metadata, cluster));
        if tie::is_of_former(workspace, apply) {
            Self::Former(key, standing)
        } else {
            Self::Apply(key, standing)
        }
    }
}

/// Whether the Workspace with this metadata, of this origin, may be run.
///
/// A pause comes before a deletion: during `clusterctl move` objects are deleted while they are paused, and whoever honours
/// the deletion destroys a live cluster. An apply that lives on elsewhere takes the Workspace's deletion with it. What was left
/// behind by a move is never destroyed, not even when its apply comes back while it goes: only an apply that is itself taken
/// down has that done. Whoever deleted a Workspace while its apply was away was told that nothing is destroyed by that.
pub fn standing(workspace: &ObjectMeta, origin: &Origin) -> Standing {
    let annotations = workspace.annotations.as_ref();
    let noted = |key: &str| annotations.and_then(|annotations| annotations.get(key)).map(String::as_str);
    let deleting = workspace.deletion_timestamp.is_some();
    let frozen = noted(annotation::FROZEN).is_some();
    let paused = is_paused(workspace);
    let freeze = match origin {
        Origin::Unseen(_)
        | Origin::Apply(_, ApplyStanding::ExternallyManaged)
        | Origin::Former(_, ApplyStanding::ExternallyManaged) => return Standing::NotOurs,
        Origin::Gone { apply, moved } if *moved || frozen => {
            let freeze = Freeze::ApplyMoved(apply.clone());
            return if deleting { Standing::Abandoned(freeze) } else { Standing::LeftBehind(freeze) };
        }
        Origin::Gone { apply, moved: _ } => Some(Freeze::ApplyGone(apply.clone())),
        Origin::Superseded { apply, by, keeps } => {
            let freeze = Freeze::Superseded { apply: apply.clone(), by: by.clone() };
            if (frozen || *keeps) && !deleting {
                return Standing::LeftBehind(freeze);
            }
            Some(freeze)
        }
        Origin::Apply(key, ApplyStanding::Moved) | Origin::Former(key, ApplyStanding::Moved) => {
            Some(Freeze::ApplyMoved(key.clone()))
        }
        Origin::Apply(key, ApplyStanding::Paused(_)) | Origin::Former(key, ApplyStanding::Paused(_)) => {
            return Standing::Frozen(Freeze::ApplyPaused(key.clone()));
        }
        // The apply takes it back.
        Origin::Apply(key, ApplyStanding::Active) => frozen.then(|| Freeze::ApplyMoved(key.clone())),
        // One that goes is not taken back but made again.
        Origin::Former(key, ApplyStanding::Active) => {
            (frozen || deleting).then(|| Freeze::ApplyMoved(key.clone()))
        }
        // The apply takes it down: then there is nothing to wait for.
        Origin::Apply(key, ApplyStanding::Deleting) | Origin::Former(key, ApplyStanding::Deleting) => {
            frozen.then(|| Freeze::ApplyMoved(key.clone())).filter(|_| !deleting)
        }
        Origin::Nobody => None,
    };
    match freeze {
        Some(freeze) if deleting => Standing::Abandoned(freeze),
        Some(freeze) => Standing::Frozen(freeze),
        None if paused && !(frozen && deleting) => Standing::Paused,
        None if deleting => Standing::Deleting,
        None => Standing::Active,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;
    use rstest::rstest;

    use super::*;
    use crate::standing::Pause;

    fn key() -> ApplyKey {
        ApplyKey { namespace: "a".to_owned(), name: "x".to_owned() }
    }

    fn derived(standing: ApplyStanding) -> Origin {
        Origin::Apply(key(), standing)
    }

    fn former(standing: ApplyStanding) -> Origin {
        Origin::Former(key(), standing)
    }

    fn gone(moved: bool) -> Origin {
        Origin::Gone { apply: key(), moved }
    }

    fn superseded(keeps: bool) -> Origin {
        Origin::Superseded { apply: key(), by: "y".to_owned(), keeps }
    }

    fn has_another() -> Freeze {
        Freeze::Superseded { apply: key(), by: "y".to_owned() }
    }

    const PAUSE: Pause = Pause { cluster: true, annotation: false, moving: false };
    const PAUSED: (&str, &str) = (annotation::CROSSPLANE_PAUSED, "true");
    const FROZEN: (&str, &str) = (annotation::FROZEN, "true");

    #[rstest]
    #[case::by_itself(Origin::Nobody, &[], false, Standing::Active)]
    #[case::by_itself_deleted(Origin::Nobody, &[], true, Standing::Deleting)]
    #[case::paused(Origin::Nobody, &[PAUSED], false, Standing::Paused)]
    #[case::not_quite_paused(Origin::Nobody, &[(annotation::CROSSPLANE_PAUSED, "false")], false, Standing::Active)]
    #[case::paused_for_crossplane(Origin::Nobody, &[PAUSED, (annotation::HANDOVER, "taken")], false, Standing::Active)]
    #[case::pause_comes_before_deletion(Origin::Nobody, &[PAUSED], true, Standing::Paused)]
    #[case::derived(derived(ApplyStanding::Active), &[], false, Standing::Active)]
    #[case::taken_down_by_its_apply(derived(ApplyStanding::Deleting), &[], true, Standing::Deleting)]
    #[case::deleted_by_hand(derived(ApplyStanding::Active), &[], true, Standing::Deleting)]
    #[case::apply_paused(derived(ApplyStanding::Paused(PAUSE)), &[], false, Standing::Frozen(Freeze::ApplyPaused(key())))]
    #[case::apply_paused_then_deleted(derived(ApplyStanding::Paused(PAUSE)), &[], true, Standing::Frozen(Freeze::ApplyPaused(key())))]
    #[case::moved(derived(ApplyStanding::Moved), &[], false, Standing::Frozen(Freeze::ApplyMoved(key())))]
    #[case::moved_then_deleted(derived(ApplyStanding::Moved), &[PAUSED, FROZEN], true, Standing::Abandoned(Freeze::ApplyMoved(key())))]
    #[case::gone(gone(false), &[], false, Standing::Frozen(Freeze::ApplyGone(key())))]
    #[case::gone_then_deleted(gone(false), &[], true, Standing::Abandoned(Freeze::ApplyGone(key())))]
    #[case::seen_to_be_moved(gone(true), &[], false, Standing::LeftBehind(Freeze::ApplyMoved(key())))]
    #[case::seen_to_be_moved_then_deleted(gone(true), &[], true, Standing::Abandoned(Freeze::ApplyMoved(key())))]
    #[case::frozen_by_a_move(gone(false), &[PAUSED, FROZEN], false, Standing::LeftBehind(Freeze::ApplyMoved(key())))]
    #[case::frozen_by_a_move_then_deleted(gone(false), &[PAUSED, FROZEN], true, Standing::Abandoned(Freeze::ApplyMoved(key())))]
    #[case::superseded(superseded(false), &[], false, Standing::Frozen(has_another()))]
    #[case::superseded_and_frozen(superseded(false), &[PAUSED, FROZEN], false, Standing::LeftBehind(has_another()))]
    #[case::superseded_by_what_has_all_of_it(superseded(true), &[], false, Standing::LeftBehind(has_another()))]
    #[case::superseded_by_what_has_all_of_it_then_deleted(superseded(true), &[], true, Standing::Abandoned(has_another()))]
    #[case::superseded_then_deleted(superseded(false), &[], true, Standing::Abandoned(has_another()))]
    #[case::not_taken_back_yet(derived(ApplyStanding::Active), &[PAUSED, FROZEN], false, Standing::Frozen(Freeze::ApplyMoved(key())))]
    #[case::back_while_it_goes(derived(ApplyStanding::Active), &[PAUSED, FROZEN], true, Standing::Abandoned(Freeze::ApplyMoved(key())))]
    #[case::back_and_paused_while_it_goes(derived(ApplyStanding::Paused(PAUSE)), &[PAUSED, FROZEN], true, Standing::Frozen(Freeze::ApplyPaused(key())))]
    #[case::back_and_taken_down(derived(ApplyStanding::Deleting), &[PAUSED, FROZEN], true, Standing::Deleting)]
    #[case::back_and_not_taken_up_yet(former(ApplyStanding::Active), &[], false, Standing::Active)]
    #[case::deleted_while_its_apply_was_away(former(ApplyStanding::Active), &[], true, Standing::Abandoned(Freeze::ApplyMoved(key())))]
    #[case::deleted_while_its_apply_was_away_and_paused(former(ApplyStanding::Active), &[PAUSED], true, Standing::Abandoned(Freeze::ApplyMoved(key())))]
    #[case::deleted_while_its_apply_was_away_which_is_paused(former(ApplyStanding::Paused(PAUSE)), &[], true, Standing::Frozen(Freeze::ApplyPaused(key())))]
    #[case::deleted_while_its_apply_was_away_which_is_taken_down(former(ApplyStanding::Deleting), &[], true, Standing::Deleting)]
    #[case::deleted_while_its_apply_was_away_which_is_moved_on(former(ApplyStanding::Moved), &[], true, Standing::Abandoned(Freeze::ApplyMoved(key())))]
    #[case::of_another_manager(Origin::Unseen(key()), &[], true, Standing::NotOurs)]
    #[case::externally_managed(derived(ApplyStanding::ExternallyManaged), &[], false, Standing::NotOurs)]
    fn a_workspace_is_run_only_when_its_apply_and_its_user_want_it(
        #[case] origin: Origin,
        #[case] annotations: &[(&str, &str)],
        #[case] deleting: bool,
        #[case] expected: Standing,
    ) {
        let metadata = ObjectMeta {
            annotations: Some(
                annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            ),
            deletion_timestamp: deleting.then_some(Time(Timestamp::UNIX_EPOCH)),
            ..ObjectMeta::default()
        };
        assert_eq!(standing(&metadata, &origin), expected);
    }
}
