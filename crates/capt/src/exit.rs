//! Exit codes that tell a result, and no failure.

use std::process::ExitCode;

/// Everything is told; only the exit code is left.
#[derive(Debug, thiserror::Error)]
#[error("ended with exit code {0}")]
pub(crate) struct ExitWith(pub(crate) u8);

/// The exit code that tells a result.
pub(crate) fn code(error: &anyhow::Error) -> Option<ExitCode> {
    error.downcast_ref::<ExitWith>().map(|ExitWith(code)| ExitCode::from(*code))
}
