//! Everything that is decided about a Workspace that CAPT itself runs.
//!
//! ```text
//! standing ─▶ observed ─▶ decide ─▶ step ─▶ (effect) ─▶ status
//! ```

pub mod backend;
pub mod decide;
pub mod handover;
pub mod interrupted;
pub mod literals;
pub mod lock;
mod memory;
pub mod observed;
pub mod policy;
pub mod protection;
pub mod run_log;
pub mod runner;
pub mod schedule;
pub mod standing;
pub mod status;
pub mod traces;
