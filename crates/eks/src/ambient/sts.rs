//! Questions to AWS STS.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::sts::AssumeRoleProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials as _;
use aws_sdk_sts::config::{IdentityCache, Region, SharedHttpClient};

use super::failure::Failure;
use crate::arn::with_access;
use crate::error::Error;
use crate::identity::Role;

pub(super) const ASSUMING: &str = "assuming the role";
pub(super) const ASKING: &str = "asking AWS STS who we are";

/// What AWS's own log shows for what we do with a role.
const SESSION_NAME: &str = "capt";
const CONNECTING: Duration = Duration::from_secs(3);
const READING: Duration = Duration::from_secs(5);

/// Credentials of a role, for an hour.
pub(super) async fn assume(
    http: &SharedHttpClient,
    own: Credentials,
    role: &Role,
    region: &str,
) -> Result<Credentials, Error> {
    let mut provider = AssumeRoleProvider::builder(&role.arn)
        .session_name(SESSION_NAME)
        .configure(&configuration(http, own, region).await);
    if let Some(external_id) = &role.external_id {
        provider = provider.external_id(external_id);
    }
    let assumed = provider.build().await.provide_credentials().await;
    assumed.map_err(|error| match Failure::of(&error) {
        Failure::Refused { code, message } if code == "AccessDenied" => Error::RoleRefused {
            role: role.arn.clone(),
            caller: told_caller(&message).unwrap_or_else(|| "the identity of this process".to_owned()),
            with_external_id: role.external_id.is_some(),
        },
        failure => failed(ASSUMING, failure),
    })
}

/// Whose credentials these are: what is to be given access.
pub(super) async fn caller(http: &SharedHttpClient, own: Credentials, region: &str) -> Result<String, Error> {
    let client = aws_sdk_sts::Client::new(&configuration(http, own, region).await);
    match client.get_caller_identity().send().await {
        Ok(identity) => match identity.arn() {
            Some(arn) => Ok(with_access(arn)),
            None => Err(Error::Rejected { doing: ASKING, code: "an answer without a name".to_owned() }),
        },
        Err(error) => Err(failed(ASKING, Failure::of(&error))),
    }
}

async fn configuration(http: &SharedHttpClient, own: Credentials, region: &str) -> SdkConfig {
    aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new(region.to_owned()))
        .http_client(http.clone())
        .credentials_provider(own)
        .identity_cache(IdentityCache::no_cache())
        .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECTING).read_timeout(READING).build())
        .retry_config(RetryConfig::standard().with_max_attempts(2))
        .load()
        .await
}

fn failed(doing: &'static str, failure: Failure) -> Error {
    match failure {
        Failure::Refused { code, .. } | Failure::Other(code) => Error::Rejected { doing, code },
        Failure::Unreachable(why) => Error::Unreachable { doing, why },
    }
}

/// The ARN in `User: <arn> is not authorized to perform: …`.
fn told_caller(message: &str) -> Option<String> {
    let told = message.strip_prefix("User: ")?.split(' ').next()?;
    told.starts_with("arn:").then(|| with_access(told))
}
