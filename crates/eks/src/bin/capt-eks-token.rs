//! Answers each line `mint REGION CLUSTER [ROLE [EXTERNAL_ID]]` or `caller …` with one line, by the identity of this
//! process.
//!
//! Tests give it environments of which there can be only one in a process.

use std::io::{self, Write as _};
use std::process::ExitCode;

use capt_eks::{AmbientIdentity, Error, Minter, Request, Role};
use secrecy::ExposeSecret as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let identity = AmbientIdentity::new();
    for line in io::stdin().lines() {
        let Ok(line) = line else { return ExitCode::FAILURE };
        let answer = match answer(&identity, &line).await {
            Ok(answer) => format!("ok {answer}"),
            Err(error) => format!("error {} {error}", kind(&error)),
        };
        if writeln!(io::stdout(), "{answer}").is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

async fn answer(identity: &AmbientIdentity, line: &str) -> Result<String, Error> {
    let mut words = line.split(' ').map(ToOwned::to_owned);
    let question = words.next().unwrap_or_default();
    let request = Request {
        region: words.next().unwrap_or_default(),
        cluster_name: words.next().unwrap_or_default(),
        role: words.next().map(|arn| Role { arn, external_id: words.next() }),
    };
    if question == "caller" {
        return identity.caller(&request).await;
    }
    Ok(identity.mint(&request).await?.value.expose_secret().to_owned())
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::Mint(_) | Error::InvalidRole => "invalid",
        Error::NoIdentity { .. } => "no-identity",
        Error::RoleRefused { .. } => "role-refused",
        Error::Rejected { .. } => "rejected",
        Error::Unreachable { .. } => "unreachable",
    }
}
