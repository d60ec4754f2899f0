//! CAPT's own care for `ClusterResourceSets`, where Cluster API is not: one management cluster, two others that things are
//! brought to.

mod bad_input;
mod binding;
mod clusters;
mod deletion;
mod gate;
mod keeping;
mod once;
mod requests;
mod scene;
mod stepping_back;
mod survival;
