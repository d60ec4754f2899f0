//! A stand-in for STS, for the agent of EKS Pod Identity and for the metadata service of an instance.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};

/// A question that was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

#[derive(Default)]
struct World {
    answers: VecDeque<(StatusCode, String)>,
    asked: Vec<Asked>,
}

/// Answers what it is told to, in that order; then with an error that nobody tries again.
pub(crate) struct Stub {
    world: Arc<Mutex<World>>,
    pub(crate) url: String,
}

impl Stub {
    pub(crate) async fn start() -> Self {
        let world = Arc::<Mutex<World>>::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(world.clone());
        tokio::spawn(async { axum::serve(listener, router).await });
        Self { world, url }
    }

    pub(crate) fn answer(&self, status: u16, body: impl Into<String>) {
        let status = StatusCode::from_u16(status).unwrap();
        self.world.lock().unwrap().answers.push_back((status, body.into()));
    }

    /// What was asked since the last time.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.world.lock().unwrap().asked)
    }
}

async fn answer(
    State(world): State<Arc<Mutex<World>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let mut world = world.lock().unwrap();
    world.asked.push(Asked { method, path: uri.path().to_owned(), headers, body });
    let (status, body) = world.answers.pop_front().unwrap_or((StatusCode::BAD_REQUEST, String::new()));
    // The metadata service says so of its session; nobody else looks at it.
    (status, [("x-aws-ec2-metadata-token-ttl-seconds", "21600")], body)
}

/// An answer of STS with credentials that last an hour.
pub(crate) fn session(action: &str, key: &str) -> String {
    let end = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    format!(
        "<{action}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{action}Result>\
         <AssumedRoleUser><AssumedRoleId>AROA:capt</AssumedRoleId>\
         <Arn>arn:aws:sts::111122223333:assumed-role/a/capt</Arn></AssumedRoleUser>\
         <Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>s3cr3t</SecretAccessKey>\
         <SessionToken>t0k3n</SessionToken><Expiration>{}</Expiration></Credentials>\
         </{action}Result></{action}Response>",
        end.strftime("%Y-%m-%dT%H:%M:%SZ")
    )
}

/// An answer of STS that says no.
pub(crate) fn refusal(code: &str, message: &str) -> String {
    format!(
        "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>Sender</Type>\
         <Code>{code}</Code><Message>{message}</Message></Error><RequestId>1</RequestId></ErrorResponse>"
    )
}

/// An answer of STS about whose credentials were used.
pub(crate) fn caller(arn: &str) -> String {
    format!(
        "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><GetCallerIdentityResult>\
         <Arn>{arn}</Arn><UserId>AROA:x</UserId><Account>111122223333</Account>\
         </GetCallerIdentityResult></GetCallerIdentityResponse>"
    )
}

/// Credentials as containers and instances get them, lasting an hour.
pub(crate) fn document(key: &str) -> String {
    let end = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    format!(
        "{{\"Code\":\"Success\",\"Type\":\"AWS-HMAC\",\"AccessKeyId\":\"{key}\",\"SecretAccessKey\":\"s3cr3t\",\
         \"Token\":\"t0k3n\",\"Expiration\":\"{}\"}}",
        end.strftime("%Y-%m-%dT%H:%M:%SZ")
    )
}
