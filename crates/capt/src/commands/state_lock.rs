//! Waits for the lock on a state.

use std::time::{Duration, Instant};

use anyhow::bail;
use capt_controller::by_hand::{Attempt, Holder, Lock, LockHolder, Purpose, StateOf};
use capt_controller::options::this_process;
use capt_core::workspace::runner::{Question, Runner, Starter, question};
use capt_terraform::machine;

use crate::engine;
use crate::printer::Printer;

/// How long the lock is held at most: whoever holds it longer has stopped writing.
pub(crate) const HELD_FOR: Duration = Duration::from_secs(20);
/// A lock of ours that has not moved for so long has no holder any more.
const ABANDONED_AFTER: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(300);

/// Takes the lock, once whoever has it lets go of it or is known to be dead.
pub(crate) async fn take(
    state: &StateOf,
    purpose: Purpose,
    timeout: Duration,
    printer: Printer,
) -> anyhow::Result<Lock> {
    let holder = holder(purpose);
    let begun = Instant::now();
    let mut seen: Option<(Box<LockHolder>, Instant)> = None;
    loop {
        let held = match state.lock(&holder).await {
            Ok(Attempt::Taken(lock)) => return Ok(lock),
            Ok(Attempt::Held(held)) => held,
            // Somebody else took it at the same moment.
            Err(failure) if failure.conflict => continue,
            Err(failure) => return Err(failure.into()),
        };
        let since = match &seen {
            Some((before, since)) if *before == held => *since,
            _ => {
                printer.message(&format!("waiting for the lock on {}, {}", state.secret(), told(&held)));
                Instant::now()
            }
        };
        if is_over(&held, &holder, since.elapsed()) {
            match state.take_over(&held, &holder).await {
                Ok(Attempt::Taken(lock)) => return Ok(lock),
                Ok(Attempt::Held(_)) => {}
                Err(failure) if failure.conflict => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        if begun.elapsed() > timeout {
            bail!(
                "the state in Secret {} is locked, {}: wait for that to end, or release the lock if it is known to be dead",
                state.secret(),
                told(&held)
            );
        }
        seen = Some((held, since));
        tokio::time::sleep(PAUSE).await;
    }
}

/// Whether nobody will ever let go of a lock. Only one of our own kind can be judged: its holder ends soon by itself.
fn is_over(held: &LockHolder, us: &Holder, unchanged_for: Duration) -> bool {
    held.alike.as_ref().is_some_and(|starter| is_dead(starter, us) || unchanged_for > ABANDONED_AFTER)
}

/// Whether a process that took a lock is known to be dead. Two machines can have one name.
fn is_dead(starter: &Starter, us: &Holder) -> bool {
    let runner = Runner { pod: None, process: us.process.clone() };
    match question(starter, &runner, ("", &us.host)) {
        Question::Dead => true,
        Question::Process(then) => !machine::is_there(then.process, then.process_start),
        Question::PidNamespace(namespace) => !machine::is_pid_namespace_in_use(namespace),
        Question::None | Question::Pod(_) | Question::PodName(_) => false,
    }
}

fn holder(purpose: Purpose) -> Holder {
    let user = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    Holder {
        purpose,
        user: user.unwrap_or_else(|| "somebody".to_owned()),
        host: engine::host(),
        pod: None,
        process: this_process(),
    }
}

fn told(held: &LockHolder) -> String {
    let LockHolder { id, who, operation, since, .. } = held;
    let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    format!(
        "held by {} for {} since {} (lock {id})",
        or(who, "somebody"),
        or(operation, "something"),
        or(since, "some time")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_that_is_not_there_any_more_is_dead() {
        let us = holder(Purpose::Restore);
        let starter = |host: &str, process| Starter {
            host: host.to_owned(),
            pod_namespace: None,
            runner: Some(Runner { pod: None, process }),
        };
        let ours = us.process.clone().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (process, process_start) = (child.id(), ours.process_start + 1);
        child.wait().unwrap();
        let gone = capt_core::workspace::runner::ProcessOfRunner { process, process_start, ..ours.clone() };

        assert!(!is_dead(&starter(&us.host, Some(ours)), &us));
        assert!(is_dead(&starter(&us.host, Some(gone.clone())), &us));
        assert!(!is_dead(&starter("another", Some(gone)), &us), "who knows of another machine");
        assert!(!is_dead(&starter(&us.host, None), &us), "an earlier version wrote too little");
    }
}
