//! Add-ons, on real API servers: one for management, others for the clusters that are made.

mod flow;
mod manifests;
mod scene;
