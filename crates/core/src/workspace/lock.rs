//! Locks on states: who holds one, and whether it may be released.

use capt_api::names::annotation;

/// A lock that was in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Its identifier.
    pub id: String,
    /// Who took it, as `user@machine`.
    pub who: String,
    /// What for.
    pub operation: String,
    /// When, as Terraform wrote it.
    pub since: String,
    /// What is known of its holder.
    pub holder: Holder,
}

/// What is known of the holder of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// It is dead: nobody will ever release the lock.
    Dead,
    /// It may be alive.
    Unknown,
}

/// The machine that a lock was taken on, in `user@machine`.
pub fn machine(who: &str) -> Option<&str> {
    who.rsplit_once('@').map(|(_, machine)| machine)
}

/// Why a lock is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Its holder is dead.
    Orphaned,
    /// The user says so.
    Forced,
}

/// Whether a lock is released: when its holder is known to be dead, or when the user names exactly this lock.
pub fn release(lock: &Lock, forced: Option<&str>) -> Option<Release> {
    match lock.holder {
        _ if forced == Some(lock.id.as_str()) => Some(Release::Forced),
        Holder::Dead => Some(Release::Orphaned),
        Holder::Unknown => None,
    }
}

/// What to tell about a lock that is waited for.
pub fn describe(lock: &Lock, workspace: &str) -> String {
    let Lock { id, who, operation, since, holder: _ } = lock;
    format!(
        "the state is locked by {who} for {operation} since {since}; it is tried again. If that run is known to be dead, release the lock with: kubectl annotate --overwrite workspace {workspace} {}={id}",
        annotation::FORCE_UNLOCK
    )
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn lock(who: &str, holder: Holder) -> Lock {
        Lock {
            id: "1".to_owned(),
            who: who.to_owned(),
            operation: "OperationTypeApply".to_owned(),
            since: "today".to_owned(),
            holder,
        }
    }

    #[rstest]
    #[case::dead(Holder::Dead, None, Some(Release::Orphaned))]
    #[case::perhaps_alive(Holder::Unknown, None, None)]
    #[case::forced(Holder::Unknown, Some("1"), Some(Release::Forced))]
    #[case::another_one_forced(Holder::Unknown, Some("2"), None)]
    fn a_lock_is_released_only_when_its_holder_is_dead_or_the_user_names_it(
        #[case] holder: Holder,
        #[case] forced: Option<&str>,
        #[case] expected: Option<Release>,
    ) {
        assert_eq!(release(&lock("me@here", holder), forced), expected);
    }
}
