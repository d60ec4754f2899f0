//! Waits for the lock on a state.

use std::time::{Duration, Instant};

use anyhow::bail;
use capt_controller::by_hand::{Attempt, Holder, Lock, LockHolder, Purpose, StateOf};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

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
    let mut seen: Option<(LockHolder, Instant)> = None;
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
    held.alike.as_ref().is_some_and(|(host, process)| {
        (*host == us.host && !is_alive(*process)) || unchanged_for > ABANDONED_AFTER
    })
}

fn is_alive(process: u32) -> bool {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

fn holder(purpose: Purpose) -> Holder {
    let user = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    Holder {
        purpose,
        user: user.unwrap_or_else(|| "somebody".to_owned()),
        host: engine::host(),
        process: std::process::id(),
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
    fn a_process_that_runs_is_alive_and_one_that_cannot_be_is_not() {
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(0) && !is_alive(u32::MAX));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(child.id()));
    }
}
