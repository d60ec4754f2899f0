//! Tokens against those of others, and identities against a stand-in for AWS on this machine.
#![expect(clippy::unwrap_used, reason = "a fixture that fails fails its test")]
#![expect(clippy::panic, reason = "a fixture that fails fails its test")]

mod identity;
mod process;
mod scripted;
mod stub;
mod vectors;
