//! Why something could not be put together: it is missing or wrong, or nobody could be asked.

use capt_core::apply::Blocked;

use crate::error::Error;

/// Why something could not be put together.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something is missing or wrong.
    Blocked(Blocked),
    /// The API server could not be asked.
    Failed(Error),
}

impl From<Blocked> for Stop {
    fn from(blocked: Blocked) -> Self {
        Self::Blocked(blocked)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
