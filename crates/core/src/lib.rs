//! Every decision of CAPT, as pure functions on facts.
//!
//! No runtime, no client, no file system, no clock: `Cargo.toml` and `clippy.toml` of this crate keep it so.

pub mod addon;
pub mod advice;
pub mod apply;
pub mod archive;
pub mod cause;
pub mod certificate;
pub mod clearing;
pub mod cluster;
pub mod columns;
pub mod compatibility;
pub mod condition;
pub mod control_plane;
pub mod digest;
pub mod doctor;
pub mod duration;
pub mod endpoint;
pub mod forecast;
pub mod grant;
pub mod graph;
pub mod helm_values;
pub mod kubeconfig;
pub mod kubernetes_version;
pub mod lease;
pub mod manifest;
pub mod migration;
pub mod module;
pub mod name;
pub mod near;
pub mod network;
pub mod note;
pub mod overview;
pub mod owned_apply;
pub mod placeholder;
pub mod readiness;
pub mod ready_made;
pub mod resource_set;
pub mod selector;
pub mod standing;
pub mod template;
pub mod terraform_state;
pub mod tie;
pub mod validation;
pub mod values;
pub mod workspace;
mod yaml;
