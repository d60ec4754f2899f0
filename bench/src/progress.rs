//! What is going on, for whoever waits.

/// Says what is going on, since some parts take minutes.
#[expect(clippy::print_stderr, reason = "the report alone goes to standard output")]
pub(crate) fn tell(message: &str) {
    eprintln!("{message}");
}
