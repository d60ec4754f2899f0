//! The manager and its kinds against a real API server.
//!
//! Every test has a namespace of its own and a manager that looks at that namespace only, with exactly the permissions that
//! the drivers declare.
#![expect(clippy::unwrap_used, reason = "a fixture that fails fails its test")]

mod addons;
mod applies;
mod bad_input;
mod cluster;
mod control_plane;
mod deletion;
mod engine;
mod from_go;
mod kinds;
mod leadership;
mod managers;
mod network;
mod ownership;
mod resource_set;
mod skew;
mod sources;
mod stage;
mod upgrade;
