//! The identity that this process has from where it runs.

mod failure;
mod session;
mod sources;
mod sts;

use std::fmt;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_sts::config::SharedHttpClient;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use jiff::Timestamp;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber as _;

use crate::error::Error;
use crate::identity::{Answer, Minter, Request, Role};
use crate::mint::{Token, mint};
use session::{Session, Sessions};

/// How long finding an identity, assuming a role or asking who we are may take.
const LIMIT: Duration = Duration::from_secs(15);

/// Signs with the identity of this process: keys in the environment, the files of the AWS CLI, IRSA, EKS Pod Identity or
/// the role of the instance, whichever is found first; or with a role that it assumes.
///
/// Nothing is looked for before the first token is asked for. Credentials are kept until they are about to end, and a
/// failure for a few seconds, so that a fleet does not ask for the same a thousand times.
pub struct AmbientIdentity {
    http: SharedHttpClient,
    ambient: Session,
    roles: Sessions,
    /// The access key that was asked about last, and whose it is.
    caller: Mutex<Option<(String, String)>>,
}

impl AmbientIdentity {
    /// An identity that has not been looked for yet.
    pub fn new() -> Self {
        let http = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring));
        Self {
            http: http.build_https(),
            ambient: Session::default(),
            roles: Sessions::default(),
            caller: Mutex::default(),
        }
    }

    async fn token(&self, request: &Request) -> Result<Token, Error> {
        request.check()?;
        let credentials = match &request.role {
            None => self.own(&request.region).await?,
            Some(role) => self.assumed(role, &request.region).await?,
        };
        Ok(mint(&credentials, &request.token(), Timestamp::now())?)
    }

    async fn own(&self, region: &str) -> Result<Credentials, Error> {
        let found = limited("looking for an AWS identity", sources::find(&self.http, region));
        self.ambient.credentials(found).await
    }

    async fn assumed(&self, role: &Role, region: &str) -> Result<Credentials, Error> {
        let session = self.roles.session(role, region);
        let assume = async {
            let own = self.own(region).await?;
            self.ask(sts::ASSUMING, sts::assume(&self.http, own, role, region)).await
        };
        session.credentials(assume).await
    }

    /// Asks STS with our own credentials.
    fn ask<'a, T: Send + 'a>(
        &'a self,
        doing: &'static str,
        question: impl Future<Output = Result<T, Error>> + Send + 'a,
    ) -> Answer<'a, T> {
        let question = limited(doing, question);
        Box::pin(async {
            let answer = question.await;
            if matches!(answer, Err(Error::Rejected { .. })) {
                // Whoever renews our credentials need not wait until we would have looked again.
                self.ambient.forget().await;
            }
            answer
        })
    }

    async fn identity(&self, request: &Request) -> Result<String, Error> {
        request.check()?;
        if let Some(role) = &request.role {
            return Ok(role.arn.clone());
        }
        let own = self.own(&request.region).await?;
        let key = own.access_key_id().to_owned();
        let mut known = self.caller.lock().await;
        match &*known {
            Some((of, arn)) if *of == key => Ok(arn.clone()),
            _ => {
                let arn = self.ask(sts::ASKING, sts::caller(&self.http, own, &request.region)).await?;
                *known = Some((key, arn.clone()));
                Ok(arn)
            }
        }
    }
}

impl Default for AmbientIdentity {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for AmbientIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AmbientIdentity")
    }
}

impl Minter for AmbientIdentity {
    fn mint<'a>(&'a self, request: &'a Request) -> Answer<'a, Token> {
        Box::pin(self.token(request))
    }

    fn caller<'a>(&'a self, request: &'a Request) -> Answer<'a, String> {
        Box::pin(self.identity(request))
    }
}

/// Work of the AWS libraries with a limit, and without logs of theirs: they log tokens that they cannot use.
fn limited<'a, T>(
    doing: &'static str,
    work: impl Future<Output = Result<T, Error>> + Send + 'a,
) -> Answer<'a, T> {
    // In a box, because it is tens of kilobytes and every token is asked for through it.
    Box::pin(async move {
        match timeout(LIMIT, work.with_subscriber(Dispatch::none())).await {
            Ok(result) => result,
            Err(_) => Err(Error::Unreachable { doing, why: format!("nothing within {} s", LIMIT.as_secs()) }),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::util::SubscriberInitExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn what_the_libraries_log_is_not_logged() {
        let log = Log::default();
        let writer = log.clone();
        let _guard = tracing_subscriber::fmt().with_writer(move || writer.clone()).set_default();

        let theirs = async {
            tracing::warn!("invalid auth token t0k3n");
            Ok(())
        };
        limited("testing", theirs).await.unwrap();
        tracing::warn!("ours");

        let told = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert!(told.contains("ours") && !told.contains("t0k3n"), "{told}");
    }
}
