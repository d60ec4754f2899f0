//! Where failed and recovered add-ons are told.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use secrecy::{ExposeSecret, SecretString};

/// Where failed and recovered add-ons are told.
#[derive(Clone, Debug)]
pub struct Notifications {
    /// Who is told.
    pub webhook: WebhookUrl,
    /// What each notification is signed with; none is signed if there is no key.
    pub key: Option<SecretString>,
}

/// An address of http or https.
///
/// It may hold a password, and often is one: whoever is shown it sees scheme, host and port.
#[derive(Clone)]
pub struct WebhookUrl {
    whole: SecretString,
    shown: String,
}

/// The text is not an address that can be asked. It is not repeated here, because it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not an address of http or https: write for example https://example.org/hooks/capt")]
pub struct InvalidWebhookUrl;

impl WebhookUrl {
    /// All of it.
    pub(crate) fn whole(&self) -> &str {
        self.whole.expose_secret()
    }
}

impl FromStr for WebhookUrl {
    type Err = InvalidWebhookUrl;

    fn from_str(text: &str) -> Result<Self, InvalidWebhookUrl> {
        let shown = shown(text).ok_or(InvalidWebhookUrl)?;
        Ok(Self { whole: text.into(), shown })
    }
}

/// What may be shown of an address, if it is one.
fn shown(text: &str) -> Option<String> {
    let uri: Uri = text.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = uri.authority()?.as_str();
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let host = uri.host().filter(|host| !host.is_empty())?;
    let port = place.strip_prefix(host)?;
    let legal = port.is_empty() || port.strip_prefix(':')?.parse::<u16>().is_ok();
    legal.then(|| format!("{scheme}://{place}"))
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown)
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing("")]
    #[case::no_scheme("example.org/hooks")]
    #[case::a_path("/hooks")]
    #[case::another_scheme("ftp://example.org/hooks")]
    #[case::a_file("file:///etc/passwd")]
    #[case::no_host("https:///hooks")]
    #[case::only_a_password("https://me:hunter2@/hooks")]
    #[case::a_port_that_is_none("https://example.org:99999/")]
    #[case::a_port_in_letters("https://example.org:http/")]
    #[case::a_space("https://example.org/my hooks")]
    #[case::a_line_break("https://example.org/\nX-Other: header")]
    fn what_cannot_be_asked_is_refused_without_being_repeated(#[case] text: &str) {
        let error = text.parse::<WebhookUrl>().unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
    }

    #[rstest]
    #[case::plain("https://example.org/hooks/T0/s3cret?token=s3cret", "https://example.org")]
    #[case::with_a_password("http://me:s3cret@example.org:8080/", "http://example.org:8080")]
    #[case::by_number("https://s3cret@[::1]:8443", "https://[::1]:8443")]
    fn of_an_address_only_scheme_host_and_port_are_shown(#[case] text: &str, #[case] expected: &str) {
        let url: WebhookUrl = text.parse().unwrap();
        let notifications = Notifications { webhook: url.clone(), key: Some("s3cret".into()) };
        assert_eq!(url.to_string(), expected);
        assert_eq!(url.whole(), text);
        assert!(!format!("{notifications:?}").contains("s3cret"));
    }
}
