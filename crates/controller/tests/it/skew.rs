//! CRDs of another version than the manager, and managers of different versions at once.

mod crds;
mod newer;
mod older;
mod rivals;
mod unaware;
