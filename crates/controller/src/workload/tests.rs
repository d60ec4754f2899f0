mod clients;
mod contact;
pub(crate) mod stage;
