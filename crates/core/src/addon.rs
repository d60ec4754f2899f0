//! Add-ons: what happens to each add-on of a stack in one cluster.

pub mod decide;
pub mod gate;
pub mod identity;
pub mod members;
pub mod names;
pub mod order;
pub mod pace;
pub mod route;
pub mod scrutiny;
pub mod sets;
pub mod stack;
pub mod status;
