//! Scenes of clusters: what blocks each, and what people see.

mod blockers;
mod news;
mod scenes;
mod secrets;
mod text;
mod world;
