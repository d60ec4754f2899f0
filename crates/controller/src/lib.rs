//! The shell of CAPT: one driver per kind, watches, apply, leadership, metrics, probes.
//!
//! Decisions are made in `capt-core`; this crate sees, acts and tells.

mod cluster;
mod context;
mod control_plane;
mod diagnostics;
mod drive;
mod error;
mod events;
mod feed;
mod grants;
mod index;
pub mod install;
mod leader;
pub mod manager;
mod metrics;
mod network;
pub mod options;
mod owned_apply;
pub mod rbac;
mod secret_versions;
mod stop;
mod store;
mod watches;
mod workspace;
mod workspace_template;
mod workspace_template_apply;
mod write;
