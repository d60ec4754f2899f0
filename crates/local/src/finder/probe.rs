//! Whether a file is a program that this machine can run.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const ANSWER_WITHIN: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(5);
const BUSY_FOR: Duration = Duration::from_secs(2);

/// Why a file is not usable.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("no such file")]
    Missing,
    #[error("it is not executable")]
    NotExecutable,
    #[error("it cannot be run: {0}")]
    NotRunnable(String),
    #[error("asked for its version, it ended with {0}")]
    Failed(String),
    #[error("asked for its version, it did not answer within {} s", ANSWER_WITHIN.as_secs())]
    Silent,
}

/// Looks at the file only.
pub(crate) fn is_executable(program: &Path) -> Result<(), Unusable> {
    let metadata = fs::metadata(program).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unusable::Missing,
        _ => Unusable::NotRunnable(error.to_string()),
    })?;
    if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
        Ok(())
    } else {
        Err(Unusable::NotExecutable)
    }
}

/// Runs the file too: one made for another machine has every permission and still does not run.
pub(crate) fn is_runnable(program: &Path) -> Result<(), Unusable> {
    is_executable(program)?;
    let mut child = spawn(program).map_err(|error| Unusable::NotRunnable(error.to_string()))?;
    let deadline = Instant::now() + ANSWER_WITHIN;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(Unusable::Failed(status.to_string())),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            Ok(None) => {
                let _ = child.kill().and_then(|()| child.wait().map(drop));
                return Err(Unusable::Silent);
            }
            Err(error) => return Err(Unusable::NotRunnable(error.to_string())),
        }
    }
}

fn spawn(program: &Path) -> io::Result<std::process::Child> {
    let deadline = Instant::now() + BUSY_FOR;
    loop {
        let result = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match result {
            // A child that another thread is just starting may still hold the file open for writing.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < deadline => {
                thread::sleep(PAUSE);
            }
            result => return result,
        }
    }
}
