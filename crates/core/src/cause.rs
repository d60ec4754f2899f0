//! What lies behind an error, for people.

use std::error::Error;
use std::iter::successors;

use kube::core::Status;

/// What the client writes as the reason where the answer was no `Status`: the message is then all that came.
const UNREADABLE: &str = "Failed to parse error data";

/// The most that is quoted of an answer that was no `Status`, in characters.
const QUOTED: usize = 200;

/// The error and what caused it in one sentence, each once. Answers of an API server are told by their message: what the
/// client prints of them has the whole answer in it, in the form for programmers.
pub fn sentence(error: &(dyn Error + 'static)) -> String {
    let answer = causes(error).find_map(status);
    let mut text = String::new();
    for cause in causes(error) {
        let told = told(cause, answer);
        if text.is_empty() {
            text = told;
        } else if !text.contains(&told) {
            text = format!("{text}: {told}");
        }
    }
    text
}

/// The innermost cause says what happened; those around it only repeat it.
pub fn innermost(error: &(dyn Error + 'static)) -> String {
    causes(error).last().map(|cause| told(cause, None)).unwrap_or_default()
}

/// What an API server answered, in one line.
pub fn answered(status: &Status) -> String {
    let message = status.message.split_whitespace().collect::<Vec<_>>().join(" ");
    if status.reason == UNREADABLE {
        let quoted: String = message.chars().take(QUOTED).collect();
        return format!("answer {} without a reason that can be read: {quoted}", status.code);
    }
    match (message.is_empty(), status.reason.is_empty()) {
        (false, _) => message,
        (true, false) => status.reason.clone(),
        (true, true) => format!("answer {} without a reason", status.code),
    }
}

/// The error, and what lies behind it, from the outside in.
fn causes<'error>(
    error: &'error (dyn Error + 'static),
) -> impl Iterator<Item = &'error (dyn Error + 'static)> {
    successors(Some(error), |cause: &&'error (dyn Error + 'static)| (**cause).source())
}

/// The answer of an API server that this error is, if it is one. The client keeps them in boxes.
fn status<'error>(error: &'error (dyn Error + 'static)) -> Option<&'error Status> {
    error.downcast_ref::<Status>().or_else(|| error.downcast_ref::<Box<Status>>().map(AsRef::as_ref))
}

/// What one error says itself, where this answer lies behind it.
fn told(error: &(dyn Error + 'static), answer: Option<&Status>) -> String {
    if let Some(status) = status(error) {
        return answered(status);
    }
    let text = error.to_string();
    let Some(status) = answer else { return text };
    let plain = answered(status);
    // As the client writes it, and as it would be without its heading.
    let whole = format!("{status} ({status:?})");
    text.replace(&format!("ApiError: {whole}"), &plain).replace(&whole, &plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("reading the file")]
    struct Outer(#[source] std::fmt::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("starting: {0}")]
    struct Wordy(#[source] std::fmt::Error);

    /// As the client and those around it have it.
    #[derive(Debug, thiserror::Error)]
    #[error("ApiError: {0} ({0:?})")]
    struct Refused(#[source] Box<Status>);

    #[derive(Debug, thiserror::Error)]
    #[error("failed to start watching object: {0}")]
    struct Watching(#[source] Refused);

    fn refused(message: &str, reason: &str, code: u16) -> Refused {
        Refused(Status::failure(message, reason).with_code(code).boxed())
    }

    #[test]
    fn causes_are_told_in_their_order_or_the_last_one_alone() {
        let cause = std::fmt::Error;
        assert_eq!(sentence(&Outer(cause)), format!("reading the file: {cause}"));
        assert_eq!(sentence(&Wordy(cause)), format!("starting: {cause}"));
        assert_eq!(innermost(&Outer(cause)), cause.to_string());
    }

    #[test]
    fn an_answer_of_an_api_server_is_told_by_its_message_alone() {
        let missing = || refused("namespaces \"a\" not found", "NotFound", 404);

        assert_eq!(sentence(&missing()), "namespaces \"a\" not found");
        assert_eq!(innermost(&missing()), "namespaces \"a\" not found");
        assert_eq!(
            sentence(&Watching(missing())),
            "failed to start watching object: namespaces \"a\" not found"
        );
    }

    #[test]
    fn an_answer_without_a_message_is_told_all_the_same() {
        assert_eq!(sentence(&refused("", "Conflict", 409)), "Conflict");
        assert_eq!(sentence(&refused("", "", 500)), "answer 500 without a reason");
    }

    #[test]
    fn an_answer_that_is_no_status_stays_one_short_line() {
        let page = format!("<html>\n<h1>502</h1>\n{}", "x".repeat(10_000));

        let told = sentence(&refused(&page, UNREADABLE, 502));

        assert!(
            told.starts_with("answer 502 without a reason that can be read: <html> <h1>502</h1> xxx"),
            "{told}"
        );
        assert!(told.len() < 300, "{}", told.len());
    }
}
