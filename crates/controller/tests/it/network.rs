//! `CAPTCluster` on a real API server: the network by template or as it is, and everything that can come between.

mod deletion;
mod making;
mod ownership;
mod stage;
mod survival;
