//! Reading a token that somebody else made, for example one in the kubeconfig that a module put out.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::fmt::strtime;
use jiff::{SignedDuration, Timestamp};

use crate::mint::{CLUSTER_HEADER, LONGEST, PREFIX};
use crate::partition::{is_region, is_sts_host};

/// For how long after its signing EKS accepts a token.
const ACCEPTED: SignedDuration = SignedDuration::from_mins(15);

/// What a token for EKS tells. Not the cluster: its name is signed, but not said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EksToken {
    /// The region that it was signed for.
    pub region: String,
    /// When it was signed.
    pub signed_at: Timestamp,
    /// After this nobody accepts it; sooner, if the credentials that signed it ended, which it does not tell.
    pub expires_at: Timestamp,
}

/// Why a text is no token for EKS. Never repeats any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    /// Another beginning.
    #[error("a token for EKS begins with `{PREFIX}`")]
    Prefix,
    /// EKS would not look at it.
    #[error("the token is longer than the {LONGEST} bytes that EKS takes")]
    TooLong,
    /// Not base64url without padding, or not text.
    #[error("the token is not text in base64url")]
    Encoding,
    /// Not the question that it should be.
    #[error("the token is not a signed GetCallerIdentity over https")]
    NotAQuestion,
    /// A question to somebody else.
    #[error("the token does not ask the STS of the region that it was signed for")]
    Host,
    /// Not tied to a cluster.
    #[error("the token does not sign `{CLUSTER_HEADER}`, the name of the cluster")]
    NoCluster,
    /// When it was signed cannot be read.
    #[error("the token does not tell when it was signed")]
    Time,
}

/// Reads a token.
pub fn describe(token: &str) -> Result<EksToken, DescribeError> {
    let encoded = token.strip_prefix(PREFIX).ok_or(DescribeError::Prefix)?;
    if token.len() > LONGEST {
        return Err(DescribeError::TooLong);
    }
    let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| DescribeError::Encoding)?;
    let url = std::str::from_utf8(&bytes).map_err(|_| DescribeError::Encoding)?;
    let (host, query) = url
        .strip_prefix("https://")
        .and_then(|rest| rest.split_once("/?"))
        .ok_or(DescribeError::NotAQuestion)?;
    let query = parameters(query).ok_or(DescribeError::NotAQuestion)?;
    let parameter = |name: &str| query.get(name).map(String::as_str);
    if parameter("action") != Some("GetCallerIdentity") {
        return Err(DescribeError::NotAQuestion);
    }
    let region = parameter("x-amz-credential").and_then(scope_region).ok_or(DescribeError::NotAQuestion)?;
    if !is_sts_host(host, region) {
        return Err(DescribeError::Host);
    }
    let headers = parameter("x-amz-signedheaders").unwrap_or_default();
    if !headers.split(';').any(|header| header == CLUSTER_HEADER) {
        return Err(DescribeError::NoCluster);
    }
    let signed_at = parameter("x-amz-date").and_then(instant).ok_or(DescribeError::Time)?;
    let expires_at = signed_at.checked_add(ACCEPTED).map_err(|_| DescribeError::Time)?;
    Ok(EksToken { region: region.to_owned(), signed_at, expires_at })
}

/// The parameters of a query by their names in lower case, as EKS looks at them; nothing when one comes twice.
fn parameters(query: &str) -> Option<BTreeMap<String, String>> {
    let mut parameters = BTreeMap::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if parameters.insert(name.to_ascii_lowercase(), value.into_owned()).is_some() {
            return None;
        }
    }
    Some(parameters)
}

/// The region in `<access key>/<date>/<region>/sts/aws4_request`.
fn scope_region(credential: &str) -> Option<&str> {
    let scope = credential.strip_suffix("/sts/aws4_request")?;
    let mut parts = scope.rsplit('/');
    let region = parts.next()?;
    (parts.count() == 2 && is_region(region)).then_some(region)
}

fn instant(text: &str) -> Option<Timestamp> {
    // Without a fixed length `1T1Z` would be a time too.
    if text.len() != "20260301T120000Z".len() {
        return None;
    }
    let time = strtime::parse("%Y%m%dT%H%M%SZ", text).ok()?.to_datetime().ok()?;
    jiff::tz::Offset::UTC.to_timestamp(time).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const GOOD: &str = "https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15\
        &X-Amz-Credential=AKIDEXAMPLE%2F20260301%2Feu-west-1%2Fsts%2Faws4_request&X-Amz-Date=20260301T120000Z\
        &X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=00";

    fn token(url: &str) -> String {
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(url))
    }

    #[rstest]
    #[case::nothing("", DescribeError::Prefix)]
    #[case::another_kind("eyJhbGciOi", DescribeError::Prefix)]
    #[case::another_version("k8s-aws-v2.aHR0cHM", DescribeError::Prefix)]
    #[case::empty(PREFIX, DescribeError::NotAQuestion)]
    #[case::not_base64(&format!("{PREFIX}%%%"), DescribeError::Encoding)]
    #[case::padded(&format!("{PREFIX}YQ=="), DescribeError::Encoding)]
    #[case::not_text(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode([0xff_u8])), DescribeError::Encoding)]
    #[case::huge(&token(&"a".repeat(1_000_000)), DescribeError::TooLong)]
    fn a_text_that_is_no_token_is_refused(#[case] text: &str, #[case] expected: DescribeError) {
        assert_eq!(describe(text), Err(expected));
    }

    #[rstest]
    #[case::in_clear("https://", "http://", DescribeError::NotAQuestion)]
    #[case::a_path("/?", "/deep/?", DescribeError::Host)]
    #[case::another_host("sts.eu-west-1.amazonaws.com", "sts.example.com", DescribeError::Host)]
    #[case::a_login("https://", "https://user@", DescribeError::Host)]
    #[case::another_port("amazonaws.com/", "amazonaws.com:1/", DescribeError::Host)]
    #[case::another_region("%2Feu-west-1", "%2Feu-west-2", DescribeError::Host)]
    #[case::another_action("GetCallerIdentity", "DeleteEverything", DescribeError::NotAQuestion)]
    #[case::twice("&X-Amz-Expires=60", "&action=GetCallerIdentity", DescribeError::NotAQuestion)]
    #[case::no_region("%2Feu-west-1", "", DescribeError::NotAQuestion)]
    #[case::odd_region("%2Feu-west-1", "%2F..", DescribeError::NotAQuestion)]
    #[case::another_service("%2Fsts%2F", "%2Fs3%2F", DescribeError::NotAQuestion)]
    #[case::no_cluster("%3Bx-k8s-aws-id", "", DescribeError::NoCluster)]
    #[case::no_time("X-Amz-Date", "X-Amz-When", DescribeError::Time)]
    #[case::no_such_day("20260301T", "20260231T", DescribeError::Time)]
    #[case::a_short_time("20260301T120000Z", "1T1Z", DescribeError::Time)]
    fn a_question_that_eks_would_not_ask_is_refused(
        #[case] from: &str,
        #[case] to: &str,
        #[case] expected: DescribeError,
    ) {
        let url = GOOD.replacen(from, to, 1);
        assert_ne!(url, GOOD);

        assert_eq!(describe(&token(&url)), Err(expected));
    }

    #[rstest]
    #[case::regional("sts.eu-west-1.amazonaws.com")]
    #[case::global("sts.amazonaws.com")]
    fn a_token_tells_its_region_and_its_time(#[case] host: &str) {
        let described = describe(&token(&GOOD.replace("sts.eu-west-1.amazonaws.com", host))).unwrap();

        assert_eq!(described.region, "eu-west-1");
        assert_eq!(described.signed_at, "2026-03-01T12:00:00Z".parse().unwrap());
        assert_eq!(described.expires_at, "2026-03-01T12:15:00Z".parse().unwrap());
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in ".*") {
            let _ = describe(&text);
            let _ = describe(&token(&text));
        }

        #[test]
        fn no_change_of_a_token_is_too_odd(place in 0..GOOD.len(), byte in 0..128_u8) {
            let mut url = GOOD.as_bytes().to_vec();
            url[place] = byte;
            let text = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(url));
            if let Ok(described) = describe(&text) {
                prop_assert_eq!(described.region, "eu-west-1");
            }
        }
    }
}
