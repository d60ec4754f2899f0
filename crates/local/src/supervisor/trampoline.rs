//! The step between the supervisor and the program it runs: ties the two lives together, then becomes the program.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::{CommandExt, parent_id};
use std::process::{Command, ExitCode};

/// Arguments: the pid of the supervisor, the program, its arguments. Returns only when the program cannot be run.
pub(super) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let parent = arguments.next().and_then(|pid| pid.to_str()?.parse::<u32>().ok());
    let (Some(parent), Some(program)) = (parent, arguments.next()) else {
        return ExitCode::from(2);
    };
    if let Err(error) = die_with_parent() {
        return failed(&format!("cannot tie {} to its supervisor: {error}", program.display()));
    }
    // The supervisor may have died before the kernel was asked; then nobody would send the signal.
    if parent_id() != parent {
        return ExitCode::FAILURE;
    }
    let error = Command::new(&program).args(arguments).exec();
    failed(&format!("cannot run {}: {error}", program.display()))
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> std::io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Only Linux has such a signal; elsewhere the pipe of the supervisor is the only tie.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
fn die_with_parent() -> std::io::Result<()> {
    Ok(())
}

fn failed(message: &str) -> ExitCode {
    // The error stream is the log file of the process, which its parent reads.
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::from(127)
}
