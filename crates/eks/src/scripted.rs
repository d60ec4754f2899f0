//! A minter without AWS, for tests of those who use one.
//!
//! Its tokens are real, but signed with keys that nobody has.

use std::future::ready;
use std::sync::{Mutex, PoisonError};

use aws_credential_types::Credentials;
use jiff::Timestamp;

use crate::error::Error;
use crate::identity::{Answer, Minter, Request};
use crate::mint::{Token, mint};

/// The identity that [`ScriptedMinter`] has.
pub const CALLER: &str = "arn:aws:iam::111122223333:role/scripted";

/// Mints at once, and fails when it is told to.
#[derive(Debug, Default)]
pub struct ScriptedMinter {
    world: Mutex<World>,
}

#[derive(Debug, Default)]
struct World {
    failure: Option<Error>,
    session_ends_at: Option<Timestamp>,
    now: Option<Timestamp>,
    requests: Vec<Request>,
}

impl ScriptedMinter {
    /// Lets everything fail from now on, or nothing any more.
    pub fn fail(&self, failure: Option<Error>) {
        self.world().failure = failure;
    }

    /// Lets the session that signs end then; it has no end otherwise.
    pub fn end_session_at(&self, end: Timestamp) {
        self.world().session_ends_at = Some(end);
    }

    /// Stops the clock; it is the real one otherwise.
    pub fn stop_clock_at(&self, now: Timestamp) {
        self.world().now = Some(now);
    }

    /// The tokens that were asked for so far, whether they were made or not.
    pub fn requests(&self) -> Vec<Request> {
        self.world().requests.clone()
    }

    fn world(&self) -> std::sync::MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn token(&self, request: &Request) -> Result<Token, Error> {
        let mut world = self.world();
        world.requests.push(request.clone());
        if let Some(failure) = &world.failure {
            return Err(failure.clone());
        }
        request.check()?;
        // Numbered, so that no two tokens are equal.
        let session = format!("session-{}", world.requests.len());
        let end = world.session_ends_at.map(Into::into);
        let credentials = Credentials::new("AKIDEXAMPLE", "scripted", Some(session), end, "scripted");
        Ok(mint(&credentials, &request.token(), world.now.unwrap_or_else(Timestamp::now))?)
    }

    fn identity(&self, request: &Request) -> Result<String, Error> {
        if let Some(failure) = &self.world().failure {
            return Err(failure.clone());
        }
        Ok(request.role.as_ref().map_or_else(|| CALLER.to_owned(), |role| role.arn.clone()))
    }
}

impl Minter for ScriptedMinter {
    fn mint<'a>(&'a self, request: &'a Request) -> Answer<'a, Token> {
        Box::pin(ready(self.token(request)))
    }

    fn caller<'a>(&'a self, request: &'a Request) -> Answer<'a, String> {
        Box::pin(ready(self.identity(request)))
    }
}
