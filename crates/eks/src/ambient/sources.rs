//! Where this process can have an identity from, in the order of all AWS tools.

use std::time::Duration;

use aws_config::ecs::EcsCredentialsProvider;
use aws_config::environment::{EnvironmentVariableCredentialsProvider, EnvironmentVariableRegionProvider};
use aws_config::imds;
use aws_config::imds::credentials::ImdsCredentialsProvider;
use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::{ProfileFileCredentialsProvider, ProfileFileRegionProvider};
use aws_config::provider_config::ProviderConfig;
use aws_config::retry::RetryConfig;
use aws_config::web_identity_token::WebIdentityTokenCredentialsProvider;
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use aws_sdk_sts::config::{Region, SharedHttpClient};

use super::failure::Failure;
use crate::error::{Error, Source, Tried, advice};

/// How long the metadata service of an instance may take. Where there is none, nobody answers.
const METADATA_LIMIT: Duration = Duration::from_secs(1);

/// Looks for an identity. All is read anew each time, so that what was mended is seen.
///
/// A role of a profile or a service account is assumed in the region of this process; where it has none, in `region`.
pub(super) async fn find(http: &SharedHttpClient, region: &str) -> Result<Credentials, Error> {
    let mut tried = Vec::new();
    for (source, provider) in providers(&configuration(http, region).await) {
        let error = match provider.provide_credentials().await {
            Ok(credentials) => return Ok(credentials),
            Err(error) => error,
        };
        let why = match (source, error) {
            // Where there is no such service, the network may say so in many ways.
            (Source::InstanceMetadata, _) | (_, CredentialsError::CredentialsNotLoaded(_)) => None,
            (_, error) => match Failure::of(&error) {
                Failure::Unreachable(why) => return Err(Error::Unreachable { doing: doing(source), why }),
                Failure::Refused { code, .. } => Some(format!("AWS STS answered {code}{}", advice(&code))),
                Failure::Other(why) => Some(why),
            },
        };
        let found = why.is_some();
        tried.push(Tried { source, why });
        if found {
            // As in all AWS tools: what is set up has to work, the next is no replacement for it.
            break;
        }
    }
    Err(Error::NoIdentity { tried })
}

async fn configuration(http: &SharedHttpClient, region: &str) -> ProviderConfig {
    let region = RegionProviderChain::first_try(EnvironmentVariableRegionProvider::new())
        .or_else(ProfileFileRegionProvider::new())
        .or_else(Region::new(region.to_owned()))
        .region()
        .await;
    ProviderConfig::without_region()
        .with_region(region)
        .with_http_client(http.clone())
        .with_retry_config(RetryConfig::standard().with_max_attempts(2))
}

fn providers(configuration: &ProviderConfig) -> [(Source, SharedCredentialsProvider); 5] {
    let profile = ProfileFileCredentialsProvider::builder().configure(configuration).build();
    let web_identity = WebIdentityTokenCredentialsProvider::builder().configure(configuration).build();
    let container = EcsCredentialsProvider::builder().configure(configuration).build();
    let metadata = imds::Client::builder()
        .configure(configuration)
        .max_attempts(1)
        .connect_timeout(METADATA_LIMIT)
        .read_timeout(METADATA_LIMIT)
        .operation_attempt_timeout(METADATA_LIMIT)
        .operation_timeout(METADATA_LIMIT);
    let instance =
        ImdsCredentialsProvider::builder().configure(configuration).imds_client(metadata.build()).build();
    [
        (Source::Environment, SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new())),
        (Source::Profile, SharedCredentialsProvider::new(profile)),
        (Source::WebIdentity, SharedCredentialsProvider::new(web_identity)),
        (Source::Container, SharedCredentialsProvider::new(container)),
        (Source::InstanceMetadata, SharedCredentialsProvider::new(instance)),
    ]
}

fn doing(source: Source) -> &'static str {
    match source {
        Source::Environment => "reading the environment",
        Source::Profile => "getting credentials for the AWS profile",
        Source::WebIdentity => "asking AWS STS for credentials for our web identity",
        Source::Container => "asking for the credentials of this container",
        Source::InstanceMetadata => "asking for the credentials of this instance",
    }
}
