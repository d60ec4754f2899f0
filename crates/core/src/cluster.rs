//! Cluster API's Cluster, for homes without Cluster API: what its core does for a Cluster of CAPT's kinds, and no more.
//!
//! Whoever reads a Cluster must not be able to tell who looks after it, so the words of phases, conditions and reasons are those
//! of Cluster API. Cluster API can take over at any moment: nothing is remembered but what it would remember itself.

pub mod decide;
pub mod endpoint;
pub mod observed;
pub mod status;

#[cfg(test)]
mod tests;
