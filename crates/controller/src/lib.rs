//! The shell of CAPT: one driver per kind, watches, apply, leadership, metrics, probes.

pub mod manager;
pub mod options;
pub mod rbac;
