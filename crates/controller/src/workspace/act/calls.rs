//! What becomes of the calls that are on record when something is done.

use capt_core::workspace::decide::Operation;
use capt_core::workspace::interrupted::{InterruptedCall, shows_at_next_plan};
use capt_terraform::Calls;

use super::Acting;
use crate::workspace::journal::{self, Journal};

impl Acting<'_> {
    /// Who puts on record what a run begins and finishes. Calls of another manager's apply that may still go on stay there.
    pub(super) fn journal(&self, operation: &Operation) -> Journal {
        let is_apply = matches!(operation, Operation::Apply { .. } | Operation::Destroy { .. });
        let undecided = if is_apply { self.carried_calls().begun } else { Vec::new() };
        Journal::new(&self.context.client, self.place, self.terraform, &self.seen.record, undecided)
    }

    pub(super) fn carried_calls(&self) -> Calls {
        let over = self.seen.interrupted.as_ref().is_some_and(|interrupted| interrupted.over);
        journal::carried(&self.seen.record, over)
    }

    /// Whether the plan was made with everything that the record says was made. A run of another manager may have gone on since: then
    /// the plan is made again.
    pub(super) fn plan_knows_all(&self) -> bool {
        let Some(over) = &self.seen.over else { return true };
        let made = journal::imports(&self.seen.record);
        let knows = made.iter().all(|import| over.imports.contains(import));
        if !knows {
            self.terraform.runs.settle(&self.place.workspace_uid);
        }
        knows
    }

    /// The calls that a person has to look after, and that are remembered once another apply begins or all is in line. What a
    /// comparison with reality shows is not among them.
    pub(super) fn interrupted(&self) -> Vec<InterruptedCall> {
        let remembered = &self.seen.record.memory.interrupted;
        let known = self.seen.interrupted.as_ref().map_or(remembered, |interrupted| &interrupted.calls);
        known.iter().filter(|call| !shows_at_next_plan(call)).cloned().collect()
    }
}
