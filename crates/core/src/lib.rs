//! Every decision of CAPT, as pure functions on facts.
//!
//! No runtime, no client, no file system, no clock: `Cargo.toml` and `clippy.toml` of this crate keep it so.

pub mod apply;
pub mod condition;
pub mod digest;
pub mod grant;
pub mod graph;
pub mod lease;
pub mod module;
pub mod name;
pub mod note;
pub mod placeholder;
pub mod standing;
pub mod template;
pub mod tie;
pub mod workspace;
