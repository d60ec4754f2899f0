//! Clusters in tables: hostile values first, then the way up and the way down.

mod conditions;
mod decide;
mod events;
mod latches;
mod references;
mod world;
