//! Making a token out of credentials. Pure: no network, no clock.

use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    SignableBody, SignableRequest, SignatureLocation, SigningError, SigningSettings, sign,
};
use aws_sigv4::sign::v4::SigningParams;
use aws_sigv4::sign::v4::signing_params::BuildError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use form_urlencoded::Serializer;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;

use crate::partition::{is_region, sts_host};

/// How every token begins.
pub(crate) const PREFIX: &str = "k8s-aws-v1.";
/// The longest token that EKS looks at, in bytes.
pub(crate) const LONGEST: usize = 4096;
/// The header that ties a token to a cluster.
pub(crate) const CLUSTER_HEADER: &str = "x-k8s-aws-id";
/// How long we count on a token. EKS accepts it for a minute more, which is left to clocks that differ.
const LIFETIME: SignedDuration = SignedDuration::from_mins(14);
/// Has to be there; nobody looks at it.
const EXPIRES_IN: Duration = Duration::from_secs(60);

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRequest<'a> {
    /// The region of the cluster.
    pub region: &'a str,
    /// The name of the cluster, as EKS has it.
    pub cluster_name: &'a str,
}

/// A token for the API server of an EKS cluster.
#[derive(Debug, Clone)]
pub struct Token {
    /// The token itself.
    pub value: SecretString,
    /// Until when it is good for certain: 14 minutes, or as long as the credentials that it was signed with.
    pub expires_at: Timestamp,
}

/// Why there is no token.
#[derive(Debug, Clone, thiserror::Error)]
pub enum MintError {
    /// The region could lead to another host.
    #[error("the region of the cluster is not one of AWS: write it like `eu-west-1`")]
    Region,
    /// EKS has no such name.
    #[error(
        "the name of the cluster is not one that EKS takes: write 1 to 100 letters, digits, `-` and `_`, a letter or digit first"
    )]
    ClusterName,
    /// EKS would not look at the token.
    #[error(
        "the token would take {length} bytes or more, but EKS takes no more than {LONGEST}: use an identity with a shorter session token"
    )]
    TooLong {
        /// How long it would be at least.
        length: usize,
    },
    /// The credentials cannot sign any more.
    #[error("the credentials that would sign the token ended at {ended_at}")]
    Expired {
        /// When they ended.
        ended_at: Timestamp,
    },
    /// The parameters of a signature do not fit together.
    #[error("preparing the signature of the token")]
    Prepare(#[source] Arc<BuildError>),
    /// The token could not be signed.
    #[error("signing the token")]
    Sign(#[source] Arc<SigningError>),
}

impl TokenRequest<'_> {
    /// Whether it can be put into a host name and a header.
    pub(crate) fn check(&self) -> Result<(), MintError> {
        if !is_region(self.region) {
            return Err(MintError::Region);
        }
        if !is_cluster_name(self.cluster_name) {
            return Err(MintError::ClusterName);
        }
        Ok(())
    }
}

/// Makes a token that was signed at `now`.
pub fn mint(
    credentials: &Credentials,
    request: &TokenRequest<'_>,
    now: Timestamp,
) -> Result<Token, MintError> {
    request.check()?;
    let session_ends_at = session_end(credentials);
    if let Some(ended_at) = session_ends_at.filter(|end| *end <= now) {
        return Err(MintError::Expired { ended_at });
    }
    // Looked at before signing too: the signer panics on what cannot be in an address.
    let carried = credentials.access_key_id().len() + credentials.session_token().map_or(0, str::len);
    if carried > LONGEST {
        return Err(MintError::TooLong { length: carried });
    }
    let value = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(presign(credentials, request, now)?));
    if value.len() > LONGEST {
        return Err(MintError::TooLong { length: value.len() });
    }
    let expires_at = now.checked_add(LIFETIME).unwrap_or(Timestamp::MAX);
    let expires_at = session_ends_at.map_or(expires_at, |end| end.min(expires_at));
    Ok(Token { value: value.into(), expires_at })
}

/// When credentials end; those that end later than time can be told do not.
pub(crate) fn session_end(credentials: &Credentials) -> Option<Timestamp> {
    credentials.expiry().and_then(|end| Timestamp::try_from(end).ok())
}

/// The question to STS with everything that is signed in its query.
fn presign(
    credentials: &Credentials,
    request: &TokenRequest<'_>,
    now: Timestamp,
) -> Result<String, MintError> {
    let mut settings = SigningSettings::default();
    settings.expires_in = Some(EXPIRES_IN);
    settings.signature_location = SignatureLocation::QueryParams;
    let identity = credentials.clone().into();
    let parameters = SigningParams::builder()
        .identity(&identity)
        .region(request.region)
        .name("sts")
        .time(now.into())
        .settings(settings)
        .build()
        .map_err(|error| MintError::Prepare(Arc::new(error)))?
        .into();
    let base = format!("https://{}/?", sts_host(request.region));
    let mut url = Serializer::for_suffix(base.clone(), base.len());
    url.append_pair("Action", "GetCallerIdentity").append_pair("Version", "2011-06-15");
    let question = url.finish();
    let header = [(CLUSTER_HEADER, request.cluster_name)];
    let signed = SignableRequest::new("GET", &question, header.into_iter(), SignableBody::Bytes(&[]))
        .and_then(|signable| sign(signable, &parameters))
        .map_err(|error| MintError::Sign(Arc::new(error)))?;
    let (_, signature) = signed.into_parts().0.into_parts();
    Ok(Serializer::for_suffix(question, base.len()).extend_pairs(signature).finish())
}

fn is_cluster_name(text: &str) -> bool {
    text.len() <= 100
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use rstest::rstest;
    use secrecy::ExposeSecret as _;

    use super::*;

    const EUROPE: TokenRequest<'static> = TokenRequest { region: "eu-west-1", cluster_name: "demo" };

    fn now() -> Timestamp {
        "2026-03-01T12:00:00Z".parse().unwrap()
    }

    fn ending(minutes: i64) -> Credentials {
        let end = now() + SignedDuration::from_mins(minutes);
        Credentials::new("AKIDEXAMPLE", "secret", None, Some(end.into()), "test")
    }

    #[rstest]
    #[case::no_region("", "demo")]
    #[case::a_host("example.com/", "demo")]
    #[case::no_name("eu-west-1", "")]
    #[case::a_hyphen_first("eu-west-1", "-demo")]
    #[case::a_header_more("eu-west-1", "demo\r\nx-evil: 1")]
    #[case::not_ascii("eu-west-1", "démo")]
    #[case::a_long_name("eu-west-1", &"a".repeat(101))]
    fn what_aws_does_not_permit_is_refused(#[case] region: &str, #[case] cluster_name: &str) {
        let result = mint(&ending(60), &TokenRequest { region, cluster_name }, now());

        assert!(matches!(result, Err(MintError::Region | MintError::ClusterName)), "{result:?}");
    }

    #[rstest]
    #[case::just_now(0)]
    #[case::long_ago(-600)]
    fn credentials_that_are_over_sign_nothing(#[case] minutes: i64) {
        assert!(matches!(mint(&ending(minutes), &EUROPE, now()), Err(MintError::Expired { .. })));
    }

    #[rstest]
    #[case::longer_than_eks_takes(3000)]
    #[case::longer_than_an_address_can_be(100_000)]
    fn a_token_that_eks_would_not_look_at_is_refused(#[case] length: usize) {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", Some("s".repeat(length)), None, "test");

        assert!(matches!(mint(&credentials, &EUROPE, now()), Err(MintError::TooLong { .. })));
    }

    #[rstest]
    #[case::a_long_session(60, 14)]
    #[case::a_short_session(5, 5)]
    fn a_token_is_good_as_long_as_its_session(#[case] session: i64, #[case] minutes: i64) {
        let token = mint(&ending(session), &EUROPE, now()).unwrap();

        assert_eq!(token.expires_at, now() + SignedDuration::from_mins(minutes));
    }

    #[test]
    fn a_session_that_never_ends_ends_no_token() {
        let never = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, Some(never), "test");

        let token = mint(&credentials, &EUROPE, now()).unwrap();

        assert_eq!(token.expires_at, now() + LIFETIME);
    }

    #[test]
    fn debug_does_not_show_a_token() {
        let token = mint(&ending(60), &EUROPE, now()).unwrap();

        assert!(token.value.expose_secret().starts_with(PREFIX));
        assert!(!format!("{token:?}").contains(PREFIX));
    }
}
