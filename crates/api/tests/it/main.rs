//! What the CRDs promise, and that the Rust kinds keep every field of an object.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crds;
mod every_field;
mod reasons;
mod schema;
