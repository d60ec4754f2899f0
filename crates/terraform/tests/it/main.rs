//! The engine with the real binary, and with scripts in its place for what the real one rarely does.
#![expect(clippy::unwrap_used, reason = "a fixture that fails fails its test")]
#![expect(clippy::panic, reason = "a fixture that fails fails its test")]

mod bed;
mod calls;
mod declared;
mod diagnostics;
mod fake;
mod faults;
mod kept;
mod kubernetes;
mod leaks;
mod lifecycle;
mod outputs;
mod scripted;
mod server;
mod sources;
mod state;
mod state_only;
mod survival;
mod sweep;
