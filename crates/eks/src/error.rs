//! Why there is no token.

use std::fmt;

use crate::mint::MintError;

/// Why there is no token, or nobody to give access to.
///
/// Carries no error of the AWS libraries, because some of theirs repeat tokens.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// What was asked for is wrong, or the credentials do not do.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// Not a role.
    #[error("the role to assume is not one: write its ARN, like `arn:aws:iam::111122223333:role/name`")]
    InvalidRole,
    /// This process has no identity.
    #[error(
        "no AWS identity found: {}; give one to this process, in a cluster by IRSA or EKS Pod Identity, elsewhere by AWS_PROFILE or AWS_ACCESS_KEY_ID",
        listed(tried)
    )]
    NoIdentity {
        /// Where it was looked for, in this order. The last one may have been found but is not usable.
        tried: Vec<Tried>,
    },
    /// A role does not let itself be assumed.
    #[error(
        "the role {role} may not be assumed by {caller}: its trust policy must allow `sts:AssumeRole` to that identity{}, which must itself be permitted `sts:AssumeRole` on the role",
        if *with_external_id { " with the external id that is given here" } else { "" }
    )]
    RoleRefused {
        /// The role.
        role: String,
        /// Who tried: an ARN, if AWS told it.
        caller: String,
        /// Whether an external id was given.
        with_external_id: bool,
    },
    /// AWS STS answered, but not with what was asked for.
    #[error("AWS STS refused {doing}: {code}{}", advice(code))]
    Rejected {
        /// What we wanted.
        doing: &'static str,
        /// What AWS calls the reason.
        code: String,
    },
    /// There was no answer.
    #[error("no answer while {doing}: {why}")]
    Unreachable {
        /// What we wanted.
        doing: &'static str,
        /// What happened on the way.
        why: String,
    },
}

/// A place where an identity was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Which.
    pub source: Source,
    /// Why it is not usable, if it is there.
    pub why: Option<String>,
}

/// Where this process can have an identity from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `AWS_ACCESS_KEY_ID` and its companions.
    Environment,
    /// The files of the AWS CLI.
    Profile,
    /// IRSA and other web identities.
    WebIdentity,
    /// EKS Pod Identity and other containers.
    Container,
    /// The role of the instance.
    InstanceMetadata,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Environment => "keys in the environment (AWS_ACCESS_KEY_ID)",
            Self::Profile => "a profile in the files of the AWS CLI (AWS_PROFILE)",
            Self::WebIdentity => "a web identity as of IRSA (AWS_WEB_IDENTITY_TOKEN_FILE)",
            Self::Container => {
                "a container's identity as of EKS Pod Identity (AWS_CONTAINER_CREDENTIALS_FULL_URI)"
            }
            Self::InstanceMetadata => "a role of an instance (from its metadata service)",
        })
    }
}

fn listed(tried: &[Tried]) -> String {
    let told: Vec<String> = tried
        .iter()
        .map(|Tried { source, why }| match why {
            None => format!("no {}", source.to_string().trim_start_matches("a ")),
            Some(why) => format!("{source} is there but not usable ({why})"),
        })
        .collect();
    told.join(", ")
}

/// What to do about an answer of STS, to be put behind its code.
pub(crate) fn advice(code: &str) -> &'static str {
    match code {
        "ExpiredToken" | "ExpiredTokenException" | "InvalidClientTokenId" | "UnrecognizedClientException" => {
            "; our own credentials are no longer valid, renew them"
        }
        "AccessDenied" => "; the trust policy of the role must allow it to this identity",
        "InvalidIdentityToken" => "; the role must trust the identity provider of this cluster",
        "RegionDisabledException" => "; the account has to enable the region first",
        "SignatureDoesNotMatch" => "; see whether the secret key is complete and the clock is right",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_the_trust_policy_needs() {
        let error = Error::RoleRefused {
            role: "arn:aws:iam::111122223333:role/a".to_owned(),
            caller: "arn:aws:iam::111122223333:role/b".to_owned(),
            with_external_id: true,
        };

        assert_eq!(
            error.to_string(),
            "the role arn:aws:iam::111122223333:role/a may not be assumed by arn:aws:iam::111122223333:role/b: \
             its trust policy must allow `sts:AssumeRole` to that identity with the external id that is given here, \
             which must itself be permitted `sts:AssumeRole` on the role"
        );
    }

    #[test]
    fn a_missing_identity_says_where_it_was_looked_for() {
        let tried = vec![
            Tried { source: Source::Environment, why: None },
            Tried { source: Source::Container, why: Some("it answered 403".to_owned()) },
        ];

        assert_eq!(
            Error::NoIdentity { tried }.to_string(),
            "no AWS identity found: no keys in the environment (AWS_ACCESS_KEY_ID), a container's identity as of EKS \
             Pod Identity (AWS_CONTAINER_CREDENTIALS_FULL_URI) is there but not usable (it answered 403); give one to \
             this process, in a cluster by IRSA or EKS Pod Identity, elsewhere by AWS_PROFILE or AWS_ACCESS_KEY_ID"
        );
    }
}
