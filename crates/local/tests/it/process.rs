//! Looking at processes from outside.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use capt_local::Helper;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const DEADLINE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) const HELPER: &str = env!("CARGO_BIN_EXE_capt-local-helper");

pub(crate) fn helper() -> Helper {
    Helper::at(HELPER)
}

/// Makes a program of a shell script.
///
/// Another process writes it: a file that is open for writing cannot be run, and the children that other tests start
/// hold copies of our open files for a moment.
pub(crate) fn program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let status = Command::new("/bin/sh")
        .args(["-c", "printf '%s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh"])
        .arg(format!("#!/bin/sh\n{script}"))
        .arg(path)
        .status();
    assert!(status.unwrap().success());
}

/// Waits for a condition under a deadline.
#[track_caller]
pub(crate) fn eventually(what: &str, holds: impl FnMut() -> bool) {
    eventually_within(DEADLINE, what, holds);
}

/// Waits for a condition that takes its time.
#[track_caller]
pub(crate) fn eventually_within(time: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + time;
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not happen within {time:?}");
        std::thread::sleep(PAUSE);
    }
}

pub(crate) fn pid(number: u32) -> Pid {
    Pid::from_raw(number.try_into().unwrap()).unwrap()
}

pub(crate) fn is_gone(number: u32) -> bool {
    test_kill_process(pid(number)).is_err() || is_zombie(number)
}

/// Dead, but nobody has asked how it ended: an orphan here may have no parent that asks.
fn is_zombie(number: u32) -> bool {
    fs::read_to_string(format!("/proc/{number}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

pub(crate) fn kill(number: u32) {
    kill_process(pid(number), Signal::KILL).unwrap();
}

/// The processes that a directory is an argument of.
pub(crate) fn processes_in(directory: &Path) -> Vec<(u32, String)> {
    let commands = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let pid = entry.file_name().to_str()?.parse().ok()?;
        // A process may end while we look at it.
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&command).replace('\0', " ")))
    });
    commands.filter(|(_, command)| command.contains(&*directory.to_string_lossy())).collect()
}
