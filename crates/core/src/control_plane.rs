//! `CAPTControlPlane`: the control plane, its endpoint and its credentials.
//!
//! `wanted` makes the apply, `decide` says what to do with it, `connection` reads what the module gave, `secrets` makes of it
//! what others read, and `status` tells about all of it.

pub mod connection;
pub mod decide;
pub mod names;
pub mod observed;
pub mod secret_state;
pub mod secrets;
pub mod status;
pub mod wanted;
