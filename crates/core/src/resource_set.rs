//! `ClusterResourceSet`, where CAPT looks after those itself: which manifests go to which clusters, and what is told of it.

pub mod binding;
pub mod decide;
pub mod entry;
pub mod observed;
pub mod status;
