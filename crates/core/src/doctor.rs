//! What is wrong, judged from facts: each finding says what holds, and where something is wrong, what to type.
//!
//! Nothing here looks at anything. Content of Secrets is compared and never repeated.

mod aws;
mod clock;
mod cluster;
mod definition;
mod finding;
mod manager;
mod part;
mod permission;
mod secret;
mod server;
mod service;
mod state;
#[cfg(test)]
mod tests;

pub use aws::AwsFacts;
pub use clock::ClockFacts;
pub use cluster::{BindingFacts, ClusterFacts, region_of};
pub use definition::DefinitionFacts;
pub use finding::{Finding, Level, Report};
pub use manager::{LeaseFacts, ManagerFacts};
pub use part::PartFacts;
pub use permission::{Asked, PermissionFacts, Whose};
pub use server::ServerFacts;
pub use service::{ConversionFacts, Kind as ServedKind, ServiceFacts, Trace};
pub use state::{LockFacts, StateFacts};
