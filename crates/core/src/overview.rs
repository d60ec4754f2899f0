//! A cluster at one look: everything that makes it up as a tree, what blocks it first, and both as text.
//!
//! [`Facts`] are what was read, [`overview`] is what they mean, [`lines`] is what people see of it.

mod advised;
mod age;
mod blocker;
mod conditions;
mod facts;
mod line;
mod news;
mod node;
mod parts;
mod plain;
mod secret;
mod state;
mod summary;
mod table;

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;

pub use age::age;
pub use blocker::Blocker;
pub use facts::{Applied, Facts, Foreign, OwnPart, Part, Seen};
pub use line::{Line, Role, Span, lines};
pub use news::news;
pub use node::{Mark, Node, Place};
pub use secret::{SecretFacts, SecretSeen, SecretUse};
pub use summary::{AddonCount, Summary};
pub use table::table;

/// A cluster at one look. The names of its fields are stable: programs read them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// What one line tells.
    #[serde(flatten)]
    pub summary: Summary,
    /// Everything that makes up the cluster.
    pub tree: Node,
}

/// What the facts mean at this time.
pub fn overview(facts: &Facts, now: Timestamp) -> Overview {
    let mut tree = parts::cluster(facts, now);
    let blocker = blocker::find(&mut tree);
    Overview { summary: summary::of(facts, &tree, blocker), tree }
}

#[cfg(test)]
mod tests;
