//! The terminal that standard output goes to, if it is one.

use std::io::{self, IsTerminal};

use anstream::{AutoStream, ColorChoice};

/// How many characters a line has and how many lines there are. None where standard output is no terminal, or does not know.
pub(crate) fn size() -> Option<(usize, usize)> {
    let output = io::stdout();
    if !output.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&output).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| (size.ws_col.into(), size.ws_row.into()))
}

/// Whether what was drawn can be drawn over.
pub(crate) fn is_live() -> bool {
    let output = io::stdout();
    output.is_terminal() && AutoStream::choice(&output) != ColorChoice::Never
}
