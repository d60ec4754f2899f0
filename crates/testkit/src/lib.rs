//! Fixtures for tests: a real API server, and waiting for conditions under a deadline.
//!
//! ```no_run
//! # async fn test() {
//! let cluster = capt_testkit::TestCluster::shared().await;
//! let namespace = cluster.namespace("outputs").await;
//! let client = cluster.client();
//! # }
//! ```
//!
//! Everything here panics when it fails: in a test that is the message one wants.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a fixture that fails fails its test"
)]

mod cluster;
mod definition;
mod helper;
pub mod home;
pub mod kubectl;
pub mod pages;
mod request;
pub mod terraform;
mod wait;
pub mod way;

pub use cluster::TestCluster;
pub use definition::loose_definition;
pub use request::verb_and_resource;
pub use wait::{DEADLINE, Seen, eventually, watch_until};
