//! One request to the webhook.

use std::fmt::Write as _;
use std::time::Duration;

use http::StatusCode;
use ring::hmac;
use secrecy::ExposeSecret;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use super::news::News;
use crate::options::{Notifications, WebhookUrl};

/// How long a whole request may take.
pub(super) const WITHIN: Duration = Duration::from_secs(10);

/// How much of an answer is read, so that whoever sends a short one is not cut off. Nobody looks at it.
const MOST_OF_AN_ANSWER: u64 = 1024;

/// What a receiver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It has the news.
    Taken,
    /// It does not want it, now or ever.
    Refused(String),
    /// It could not take it now.
    Later(String),
}

/// The way to the webhook.
pub(super) struct Post {
    agent: Agent,
    webhook: WebhookUrl,
    key: Option<hmac::Key>,
}

impl Post {
    pub(super) fn new(options: Notifications, within: Duration) -> Self {
        let Notifications { webhook, key } = options;
        let trusted = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let configuration = Agent::config_builder()
            .tls_config(trusted)
            .timeout_global(Some(within))
            .http_status_as_error(false)
            // News of one cluster must not go where nobody has sent it.
            .max_redirects(0)
            // News is rare: a kept connection would be dead when it is needed.
            .max_idle_connections(0)
            .user_agent("capt")
            .build();
        let key = key.map(|key| hmac::Key::new(hmac::HMAC_SHA256, key.expose_secret().as_bytes()));
        Self { agent: configuration.into(), webhook, key }
    }

    /// What may be shown of where it leads.
    pub(super) fn webhook(&self) -> &WebhookUrl {
        &self.webhook
    }

    /// Tells the news. Blocks.
    pub(super) fn send(&self, news: &News) -> Answer {
        let line = news.line();
        let mut request = self
            .agent
            .post(self.webhook.whole())
            .header("Content-Type", "application/json")
            .header("X-Capt-Event", news.event.as_str());
        if let Some(key) = &self.key {
            request = request.header("X-Capt-Signature", signature(key, line.as_bytes()));
        }
        match request.send(line.as_bytes()) {
            Ok(mut response) => {
                // What is said beside the status does not matter, nor that it could not be heard.
                let _ = response.body_mut().with_config().limit(MOST_OF_AN_ANSWER).read_to_vec();
                judge(response.status())
            }
            Err(error) => Answer::Later(plain(&error)),
        }
    }
}

/// The signature of a body, in the form that GitHub's webhooks have.
fn signature(key: &hmac::Key, body: &[u8]) -> String {
    let tag = hmac::sign(key, body);
    tag.as_ref().iter().fold("sha256=".to_owned(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn judge(status: StatusCode) -> Answer {
    let said = format!("it answered with status {}", status.as_u16());
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Answer::Later(said),
        _ if status.is_success() => Answer::Taken,
        _ if status.is_server_error() => Answer::Later(said),
        _ if status.is_redirection() => {
            Answer::Refused(format!("{said}: write the address that it leads to, redirects are not followed"))
        }
        _ => Answer::Refused(said),
    }
}

/// What went wrong, without the address.
fn plain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => "the address cannot be asked".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_signature_is_what_receivers_of_such_webhooks_expect() {
        // The example of GitHub's documentation on validating webhook deliveries.
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"It's a Secret to Everybody");
        let expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(signature(&key, b"Hello, World!"), expected);
    }

    #[rstest]
    #[case::ok(200, "Taken")]
    #[case::accepted(202, "Taken")]
    #[case::no_content(204, "Taken")]
    #[case::moved(301, "Refused")]
    #[case::see_other(303, "Refused")]
    #[case::bad_request(400, "Refused")]
    #[case::unauthorized(401, "Refused")]
    #[case::gone(410, "Refused")]
    #[case::too_slow(408, "Later")]
    #[case::too_many(429, "Later")]
    #[case::broken(500, "Later")]
    #[case::unavailable(503, "Later")]
    fn only_what_may_pass_is_tried_again(#[case] status: u16, #[case] expected: &str) {
        let answer = judge(StatusCode::from_u16(status).unwrap());
        assert!(format!("{answer:?}").starts_with(expected), "{answer:?}");
    }
}
