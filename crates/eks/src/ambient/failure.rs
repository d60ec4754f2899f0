//! What the errors of the AWS libraries come to, without what must not be told.
//!
//! Some of them repeat tokens or what a program of the user's printed, so their texts are told only where all that can be
//! in them is known.

use std::error::Error as StdError;
use std::io;
use std::iter::successors;

use aws_sdk_sts::error::ConnectorError;
use aws_sdk_sts::operation::assume_role::AssumeRoleError;
use aws_sdk_sts::operation::assume_role_with_web_identity::AssumeRoleWithWebIdentityError;
use aws_sdk_sts::operation::get_caller_identity::GetCallerIdentityError;

/// How texts begin that have nothing secret in them.
const HARMLESS: [&str; 4] = [
    "AWS_ROLE_ARN environment variable must be set",
    "Error retrieving credentials: external process exited with code",
    "Non-success status from HTTP credential provider",
    "ProfileFile provider could not be built",
];
/// Where in such a text others may have written.
const FOREIGN: &str = ". Stderr:";
/// How the libraries say that they were made without what a profile needs.
const LEFT_OUT: &str = "cargo feature";

/// How much is told of what happened on the way: a server can put what it likes into its certificate.
const LONGEST: usize = 200;

/// What happened.
#[derive(Debug, PartialEq)]
pub(super) enum Failure {
    /// STS said no.
    Refused { code: String, message: String },
    /// Nobody answered.
    Unreachable(String),
    /// All else.
    Other(String),
}

impl Failure {
    pub(super) fn of(error: &(dyn StdError + 'static)) -> Self {
        causes(error)
            .find_map(|cause| refusal(cause).or_else(|| way(cause)).or_else(|| other(cause)))
            .unwrap_or_else(|| Self::Other("its answer cannot be used".to_owned()))
    }
}

fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    successors(Some(error), |error: &&'a (dyn StdError + 'static)| (*error).source())
}

fn refusal(cause: &(dyn StdError + 'static)) -> Option<Failure> {
    let meta = (cause.downcast_ref().map(AssumeRoleError::meta))
        .or_else(|| cause.downcast_ref().map(AssumeRoleWithWebIdentityError::meta))
        .or_else(|| cause.downcast_ref().map(GetCallerIdentityError::meta))?;
    let code = meta.code().unwrap_or("an answer that cannot be read").to_owned();
    Some(Failure::Refused { code, message: meta.message().unwrap_or_default().to_owned() })
}

/// The innermost cause of a failure on the way, which has nothing in it but names and numbers of hosts.
fn way(cause: &(dyn StdError + 'static)) -> Option<Failure> {
    cause.downcast_ref::<ConnectorError>()?;
    let root = causes(cause).last()?.to_string();
    Some(Failure::Unreachable(root.chars().take(LONGEST).collect()))
}

fn other(cause: &(dyn StdError + 'static)) -> Option<Failure> {
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        return Some(Failure::Other(format!("reading its file: {error}")));
    }
    let text = cause.to_string();
    if !HARMLESS.iter().any(|beginning| text.starts_with(beginning)) {
        return None;
    }
    if text.contains(LEFT_OUT) {
        return Some(Failure::Other(
            "its way to sign in is not supported here; write a profile with `credential_process = aws configure export-credentials --format process --profile <name>`"
                .to_owned(),
        ));
    }
    let told = text.split_once(FOREIGN).map_or(text.as_str(), |(told, _)| told);
    Some(Failure::Other(told.to_owned()))
}

#[cfg(test)]
mod tests {
    use aws_credential_types::provider::error::CredentialsError;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_header("`hunter2` could not be used as a header value for the auth token")]
    #[case::what_a_program_printed(
        "Error retrieving credentials: external process exited with code exit status: 1. Stderr: hunter2"
    )]
    #[case::an_answer("failed to load credentials [Nope]: hunter2")]
    fn what_may_be_secret_is_not_told(#[case] text: &str) {
        let Failure::Other(told) = Failure::of(&CredentialsError::provider_error(text)) else { panic!() };

        assert!(!told.contains("hunter2"), "{told}");
    }

    #[rstest]
    #[case::status("Non-success status from HTTP credential provider: StatusCode(403)", "StatusCode(403)")]
    #[case::profile("ProfileFile provider could not be built: profile `x` was not defined", "profile `x`")]
    #[case::sign_in(
        "ProfileFile provider could not be built: This behavior requires following cargo feature(s) enabled: sso.",
        "export-credentials"
    )]
    fn what_helps_is_told(#[case] text: &str, #[case] expected: &str) {
        let Failure::Other(told) = Failure::of(&CredentialsError::invalid_configuration(text)) else {
            panic!()
        };

        assert!(told.contains(expected), "{told}");
    }
}
