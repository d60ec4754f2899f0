//! Backups as files: encrypted with a passphrase, whole or not there at all.
//!
//! A backup is what `age --decrypt FILE | gunzip` shows: one JSON value a line (`capt_core::archive`).

pub(crate) mod home;
pub(crate) mod live;
mod open;
pub(crate) mod passphrase;
mod seal;

pub(crate) use open::open;
pub(crate) use seal::Sealing;
