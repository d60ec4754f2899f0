//! Remembers when commands ran here, to tell a lock that one of them left behind from a lock that somebody holds.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Workdir;
use super::stamp::Stamp;
use crate::diagnostic::LockInfo;
use crate::engine::Verb;
use crate::error::Error;
use crate::redact::Redactor;

/// Locks older than so many commands are told, not judged.
const REMEMBERED: usize = 32;

/// A command asks for its lock within so long: it is the first thing that it does.
const LOCKS_WITHIN: SignedDuration = SignedDuration::from_secs(120);

/// The times of the last commands that may have left a lock, oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Worked {
    commands: Vec<(Verb, Timestamp, Timestamp)>,
}

impl Stamp for Worked {
    const NAME: &'static str = "worked.json";
    const DURABLE: bool = true;
}

impl Worked {
    /// Notes a command that ended otherwise than well.
    pub(crate) fn note(workdir: &Workdir, verb: Verb, since: Timestamp) -> Result<(), Error> {
        let mut worked = Self::read(workdir).unwrap_or_default();
        worked.commands.push((verb, since, Timestamp::now()));
        let old = worked.commands.len().saturating_sub(REMEMBERED);
        worked.commands.drain(..old);
        worked.write(workdir)
    }

    /// Whether the lock was taken on this machine by a command of ours that ran here. To be asked by one who holds the
    /// lock of the directory: then all of those commands are over, and the holder is dead.
    pub(crate) fn left(workdir: &Workdir, lock: &LockInfo, redactor: &Redactor) -> bool {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        // What is told of the lock has passed the redactor.
        let hosts = [redactor.redact(&host), host];
        Self::read(workdir).is_some_and(|worked| hosts.iter().any(|host| worked.covers(lock, host)))
    }

    fn covers(&self, lock: &LockInfo, host: &str) -> bool {
        let here = lock.who.rsplit_once('@').is_some_and(|(_, machine)| machine == host);
        let Some(created) = created(&lock.created) else { return false };
        let mut ours = self.commands.iter().filter(|(verb, ..)| takes(*verb, &lock.operation));
        here && ours.any(|(_, since, until)| {
            // Nobody saw the end of a command that was killed: the time until it was looked for is not all its own.
            let latest = since.saturating_add(LOCKS_WITHIN).unwrap_or(Timestamp::MAX).min(*until);
            (*since..=latest).contains(&created)
        })
    }
}

/// Whether the command takes locks for this operation. Without a lock of its own, plan still takes one to make a state.
fn takes(verb: Verb, operation: &str) -> bool {
    match verb {
        Verb::Apply | Verb::StatePush | Verb::StateRemove | Verb::Import => true,
        Verb::Init | Verb::Plan | Verb::Output => operation == "init",
        Verb::Version | Verb::Fetch | Verb::Show | Verb::ForceUnlock | Verb::StatePull => false,
    }
}

/// `2026-11-15 23:13:32.703728568 +0000 UTC`, as Go prints a time.
fn created(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix(" +0000 UTC")?;
    format!("{}Z", text.replace(' ', "T")).parse().ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::left_by_our_apply("root@here", "2026-11-15 23:13:32.703728568 +0000 UTC", Verb::Apply, true)]
    #[case::while_we_only_planned("root@here", "2026-11-15 23:13:32.703728568 +0000 UTC", Verb::Plan, false)]
    #[case::on_another_machine("root@there", "2026-11-15 23:13:32.703728568 +0000 UTC", Verb::Apply, false)]
    #[case::between_our_commands("root@here", "2026-11-15 23:20:00 +0000 UTC", Verb::Apply, false)]
    #[case::long_after_our_command_began("root@here", "2026-11-15 23:15:31 +0000 UTC", Verb::Apply, false)]
    #[case::at_no_known_time("root@here", "yesterday", Verb::Apply, false)]
    fn only_a_lock_that_our_own_command_left_has_a_dead_holder(
        #[case] who: &str,
        #[case] created: &str,
        #[case] verb: Verb,
        #[case] dead: bool,
    ) {
        let window = (verb, "2026-11-15T23:13:30Z".parse().unwrap(), "2026-11-15T23:16:00Z".parse().unwrap());
        let lock = LockInfo { who: who.to_owned(), created: created.to_owned(), ..LockInfo::default() };

        assert_eq!(Worked { commands: vec![window] }.covers(&lock, "here"), dead);
    }
}
