//! Lines on a terminal that are redrawn in place.
//!
//! Whatever else is printed meanwhile goes above them: everything that writes to the terminal asks [`above`] first.
//! The cursor is never hidden, and stands below the last line between two redraws: however the program ends, nothing
//! has to be put right.

mod canvas;
mod width;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anstream::{AutoStream, ColorChoice};

use crate::printer::Printer;
use canvas::{Canvas, Size};

/// What stands at the bottom of the terminal; there is only one.
static CANVAS: Mutex<Canvas> = Mutex::new(Canvas::new());

/// Lines that change while they are looked at. Where they cannot be redrawn, each change is a line of its own.
pub(crate) struct Live {
    printer: Printer,
    form: Form,
}

enum Form {
    Redrawn,
    /// With what was shown last.
    Appended(Vec<String>),
}

impl Live {
    /// Shows nothing yet.
    pub(crate) fn start(printer: Printer) -> Self {
        let form = if can_redraw() { Form::Redrawn } else { Form::Appended(Vec::new()) };
        Self { printer, form }
    }

    /// Whether lines are redrawn. Where they are not, lines that change all the time, by a clock for example, would never end.
    pub(crate) fn is_redrawn(&self) -> bool {
        matches!(self.form, Form::Redrawn)
    }

    /// Shows these lines in place of those before; where that cannot be, those among them that are new.
    pub(crate) fn show(&mut self, lines: &[String]) {
        match &mut self.form {
            Form::Redrawn => write(&lock().replace(lines, size())),
            Form::Appended(before) => {
                for line in lines.iter().filter(|line| !before.contains(line)) {
                    self.printer.message(line);
                }
                *before = lines.to_vec();
            }
        }
    }

    /// Leaves the lines that were shown last to the terminal.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if self.is_redrawn() {
            write(&lock().release(size()));
        }
    }
}

/// Writes something else to the terminal, above the lines that are redrawn.
pub(crate) fn above<T>(other: impl FnOnce() -> T) -> T {
    let mut canvas = lock();
    if canvas.is_empty() {
        return other();
    }
    write(&canvas.erase(size()));
    let result = other();
    write(&canvas.draw(size()));
    result
}

/// Whether a person looks at standard error, on something that can be redrawn.
pub(crate) fn can_redraw() -> bool {
    let dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    let stream = io::stderr();
    stream.is_terminal() && !dumb && AutoStream::choice(&stream) != ColorChoice::Never
}

fn lock() -> MutexGuard<'static, Canvas> {
    CANVAS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn size() -> Size {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    Size::new(size.map(|size| (size.ws_col, size.ws_row)))
}

fn write(text: &str) {
    // In one piece, so that nothing is seen half drawn. With nobody there to see it, the work still goes on.
    let mut stream = io::stderr().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}
