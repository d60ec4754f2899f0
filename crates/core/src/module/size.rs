//! How much text a module may have.

use super::Invalid;

/// More than an object in Kubernetes can hold.
const MAX_BYTES: usize = 2 * 1024 * 1024;

pub(super) fn check(text: &str) -> Result<(), Invalid> {
    if text.len() <= MAX_BYTES {
        return Ok(());
    }
    let message = format!(
        "the module has {} bytes, and an inline module may have {MAX_BYTES}: keep it in a repository and use \
         `source: Remote`",
        text.len()
    );
    Err(Invalid::at(text, 0, message, false))
}
