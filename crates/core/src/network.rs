//! `CAPTCluster`: the network of a cluster, made by an apply of its own or there already.
//!
//! `wanted` says what the apply should be, `decide` what to do, `outputs` reads what Terraform reported, `status` what to tell.

pub mod decide;
pub mod observed;
pub mod outputs;
pub mod status;
pub mod wanted;
