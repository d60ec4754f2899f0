//! Who we are towards AWS, and tokens for EKS. No Kubernetes client.
//!
//! ```text
//! Request ──▶ Minter ──▶ the identity of this process ──(role? AssumeRole)──▶ credentials ──▶ mint ──▶ Token
//! ```
//!
//! A token for EKS is a signed question to AWS STS ("who am I?"), which the cluster puts to STS in our place. Making one
//! needs no network, only credentials; it is accepted for a quarter of an hour, and no longer than the credentials.
//!
//! Invariants: nothing that a user wrote gets into a host name unchecked; no error and no log has a credential in it.

mod ambient;
mod arn;
mod describe;
mod error;
mod identity;
mod mint;
mod partition;
mod renewal;
pub mod scripted;

pub use ambient::AmbientIdentity;
pub use aws_credential_types::Credentials;
pub use describe::{DescribeError, EksToken, describe};
pub use error::{Error, Source, Tried};
pub use identity::{Answer, Minter, Request, Role};
pub use mint::{MintError, Token, TokenRequest, mint};
pub use partition::sts_host;
pub use renewal::renew_at;
