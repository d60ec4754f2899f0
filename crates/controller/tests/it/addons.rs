//! Add-ons, on real API servers: one for management, others for the clusters that are made.

mod bad_input;
mod flow;
mod life;
mod manifests;
mod proposals;
mod scene;
mod scrutiny;
mod watches;
