//! Workspaces that CAPT runs itself, with the real Terraform on the real API server.

mod approvals;
mod bad_input;
mod by_hand;
mod candidates;
mod dead_holders;
mod deletion;
mod drift;
mod fields;
mod flux;
mod handover;
mod late_runs;
mod lifecycle;
mod locks;
mod lost_applies;
pub(crate) mod modules;
pub(crate) mod moves;
mod recording;
pub(crate) mod stage;
mod state_only;
mod survival;
