//! The shell of CAPT: one driver per kind, watches, apply, leadership, metrics, probes.
//!
//! Decisions are made in `capt-core`; this crate sees, acts and tells.

mod addons;
mod clearing;
mod cluster;
mod context;
mod control_plane;
mod definitions;
mod deliver;
mod diagnostics;
mod drive;
mod error;
mod events;
mod feed;
mod freezing;
mod gate;
mod grants;
mod index;
pub mod install;
mod leader;
mod leftovers;
pub mod manager;
mod metrics;
mod moved;
mod namespace;
mod network;
mod notify;
pub mod options;
mod owned_apply;
mod pause;
pub mod rbac;
mod repetition;
mod resource_set;
mod resources;
mod rivals;
mod secret_versions;
mod stop;
mod store;
mod term;
mod unseen;
mod uptime;
mod watches;
mod workload;
mod workspace;
mod workspace_template;
mod workspace_template_apply;
mod write;

pub use metrics::reference as metrics_reference;
pub use workspace::by_hand;
