//! `capt backup` and `capt restore`: what is kept, what comes back, and what is refused.

mod cluster;
mod files;
mod home;
mod interrupted;
mod stage;
