//! What an apply that died had begun and finished, kept while what it printed has to go: that may hold secrets.

use serde::{Deserialize, Serialize};

use super::Workdir;
use super::stamp::Stamp;
use crate::calls::Calls;
use crate::error::Error;
use crate::redact::Redactor;
use crate::stream::Fold;

/// The calls of an apply whose end nobody saw.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct LeftCalls {
    calls: Calls,
}

impl Stamp for LeftCalls {
    const NAME: &'static str = "calls.json";
    const DURABLE: bool = true;
}

impl LeftCalls {
    /// Keeps what the stream of an apply tells. One that told nothing leaves what is kept as it is.
    pub(crate) fn keep(workdir: &Workdir, fold: &Fold, redactor: &Redactor) -> Result<(), Error> {
        let calls = fold.calls(redactor);
        if calls.is_empty() {
            return Ok(());
        }
        let unstored = workdir.holds_unstored_state().map_err(Error::file(workdir.path()))?;
        let over = fold.has_ended_by_itself() && !unstored;
        Self { calls: if over { Calls::default() } else { calls } }.write(workdir)
    }

    /// What is kept.
    pub(crate) fn kept(workdir: &Workdir, redactor: &Redactor) -> Option<Calls> {
        Self::read(workdir).map(|left| left.calls.redacted(redactor))
    }
}
