//! The parts found, fetched, built, started and stopped, for real.

#![expect(clippy::panic, clippy::unwrap_used, reason = "what goes wrong here fails a test")]

mod api;
mod control_plane;
mod finding;
mod http;
mod process;
mod supervisor;
mod workload;
