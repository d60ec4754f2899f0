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
static SCREEN: Mutex<Screen> = Mutex::new(Screen { canvas: Canvas::new(), stream: Stream::Messages });

/// Lines, and where they are drawn.
struct Screen {
    canvas: Canvas,
    stream: Stream,
}

/// Where lines are redrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output: they are what was asked for.
    Output,
    /// Standard error: they tell how far the work is.
    Messages,
}

/// Lines that change while they are looked at. Where they cannot be redrawn, each change is a line of its own.
pub(crate) struct Live {
    printer: Printer,
    stream: Stream,
    form: Form,
}

enum Form {
    Redrawn,
    /// With what was shown last.
    Appended(Vec<String>),
}

impl Live {
    /// Shows nothing yet.
    pub(crate) fn start(printer: Printer, stream: Stream) -> Self {
        let form = if stream.can_redraw() { Form::Redrawn } else { Form::Appended(Vec::new()) };
        if stream.can_redraw() {
            lock().stream = stream;
        }
        Self { printer, stream, form }
    }

    /// Whether lines are redrawn. Where they are not, lines that change all the time, by a clock for example, would never end.
    pub(crate) fn is_redrawn(&self) -> bool {
        matches!(self.form, Form::Redrawn)
    }

    /// Shows these lines in place of those before; where that cannot be, those among them that are new.
    pub(crate) fn show(&mut self, lines: &[String]) -> anyhow::Result<()> {
        match &mut self.form {
            Form::Redrawn => {
                let text = lock().canvas.replace(lines, self.stream.room());
                self.stream.write(&text)?;
            }
            Form::Appended(before) => {
                for line in lines.iter().filter(|line| !before.contains(line)) {
                    match self.stream {
                        Stream::Output => self.printer.text(&format!("{line}\n"))?,
                        Stream::Messages => self.printer.message(line),
                    }
                }
                *before = lines.to_vec();
            }
        }
        Ok(())
    }

    /// Leaves the lines that were shown last to the terminal.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if self.is_redrawn() {
            let text = lock().canvas.release(self.stream.room());
            // With nobody there to see it, nothing is left to do.
            let _ = self.stream.write(&text);
        }
    }
}

/// Writes something else to the terminal, above the lines that are redrawn.
pub(crate) fn above<T>(other: impl FnOnce() -> T) -> T {
    let mut screen = lock();
    if screen.canvas.is_empty() {
        return other();
    }
    let stream = screen.stream;
    // With nobody there to see it, the work still goes on.
    let _ = stream.write(&screen.canvas.erase(stream.room()));
    let result = other();
    let _ = stream.write(&screen.canvas.draw(stream.room()));
    result
}

impl Stream {
    /// Whether a person looks at it, on something that can be redrawn.
    pub(crate) fn can_redraw(self) -> bool {
        let dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
        let choice = match self {
            Self::Output => AutoStream::choice(&io::stdout()),
            Self::Messages => AutoStream::choice(&io::stderr()),
        };
        self.is_terminal() && !dumb && choice != ColorChoice::Never
    }

    /// How many characters a line has and how many lines there are; none where it is no terminal, or does not know.
    pub(crate) fn size(self) -> Option<(usize, usize)> {
        let told = self.is_terminal().then(|| self.told()).flatten();
        told.filter(|(columns, rows)| *columns > 0 && *rows > 0)
            .map(|(columns, rows)| (columns.into(), rows.into()))
    }

    fn is_terminal(self) -> bool {
        match self {
            Self::Output => io::stdout().is_terminal(),
            Self::Messages => io::stderr().is_terminal(),
        }
    }

    fn told(self) -> Option<(u16, u16)> {
        let size = match self {
            Self::Output => rustix::termios::tcgetwinsize(io::stdout()),
            Self::Messages => rustix::termios::tcgetwinsize(io::stderr()),
        };
        size.ok().map(|size| (size.ws_col, size.ws_row))
    }

    fn room(self) -> Size {
        Size::new(self.told())
    }

    /// In one piece, so that nothing is seen half drawn. Nobody has to be there to see how far the work is.
    fn write(self, text: &str) -> io::Result<()> {
        match self {
            Self::Output => {
                let mut stream = io::stdout().lock();
                stream.write_all(text.as_bytes()).and_then(|()| stream.flush())
            }
            Self::Messages => {
                let mut stream = io::stderr().lock();
                let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
                Ok(())
            }
        }
    }
}

fn lock() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}
