//! What lies behind an error, for people.

use std::error::Error;

/// The error and what caused it in one sentence, each once.
pub fn sentence(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let told = source.to_string();
        if !text.contains(&told) {
            text = format!("{text}: {told}");
        }
        cause = source.source();
    }
    text
}

/// The innermost cause says what happened; those around it only repeat it.
pub fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
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

    #[test]
    fn causes_are_told_in_their_order_or_the_last_one_alone() {
        let cause = std::fmt::Error;
        assert_eq!(sentence(&Outer(cause)), format!("reading the file: {cause}"));
        assert_eq!(sentence(&Wordy(cause)), format!("starting: {cause}"));
        assert_eq!(innermost(&Outer(cause)), cause.to_string());
    }
}
