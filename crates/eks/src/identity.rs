//! Tokens as others ask for them.

use std::pin::Pin;

use crate::arn::is_role;
use crate::error::Error;
use crate::mint::{Token, TokenRequest};

/// What a minter answers in its own time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Makes tokens with some identity.
pub trait Minter: Send + Sync {
    /// Makes a token. It is new each time; when to ask again is told by [`renew_at`](crate::renew_at).
    fn mint<'a>(&'a self, request: &'a Request) -> Answer<'a, Token>;

    /// The ARN that the cluster has to give access to, for these tokens to be worth anything.
    fn caller<'a>(&'a self, request: &'a Request) -> Answer<'a, String>;
}

/// What a token is for, and who is to sign it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// The region of the cluster.
    pub region: String,
    /// The name of the cluster, as EKS has it.
    pub cluster_name: String,
    /// The role to assume first, if any.
    pub role: Option<Role>,
}

/// A role to assume.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Role {
    /// Its ARN, `arn:aws:iam::<account>:role/<name>`.
    pub arn: String,
    /// What its trust policy wants to hear, if anything.
    pub external_id: Option<String>,
}

impl Request {
    pub(crate) fn token(&self) -> TokenRequest<'_> {
        TokenRequest { region: &self.region, cluster_name: &self.cluster_name }
    }

    /// Whether it can be put into host names and requests.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.token().check()?;
        match &self.role {
            Some(role) if !is_role(&role.arn) => Err(Error::InvalidRole),
            _ => Ok(()),
        }
    }
}
