//! Waiting for an API server that does not answer yet.

use std::time::Duration;

use capt_core::cause::innermost;
use kube::Client;

use super::Connection;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// A server that is not there may not say so.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Returns when the API server answers.
pub(crate) async fn until_it_answers(connection: &Connection) {
    let mut pause = FIRST_PAUSE;
    while let Err(reason) = ask(&connection.client).await {
        tracing::warn!(
            server = connection.server.address,
            reason,
            seconds = pause.as_secs(),
            "the API server does not answer; trying again"
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn ask(client: &Client) -> Result<(), String> {
    match tokio::time::timeout(ANSWER_WITHIN, client.apiserver_version()).await {
        Ok(Ok(_)) => Ok(()),
        // An answer all the same: whether we may do our work is for the controllers to find out.
        Ok(Err(kube::Error::Api(status))) if status.code != 401 && status.code < 500 => Ok(()),
        Ok(Err(error)) => Err(innermost(&error)),
        Err(_) => Err(format!("no answer within {} s", ANSWER_WITHIN.as_secs())),
    }
}
