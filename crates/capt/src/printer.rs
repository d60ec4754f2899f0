//! The only door to standard output and standard error.
//!
//! Data goes to standard output in the form that was asked for; everything else goes to standard error. Colours
//! appear on a terminal only, and never where `NO_COLOR` is set.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use capt_core::cause::sentence;
use capt_local::Progress;
use serde::Serialize;

use crate::cli::Output;
use crate::live;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Prints what a verb has to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    output: Output,
}

impl Printer {
    pub(crate) fn new(output: Output) -> Self {
        Self { output }
    }

    /// The form that was asked for.
    pub(crate) fn output(self) -> Output {
        self.output
    }

    /// One value: a sentence for people, or the value itself for programs.
    pub(crate) fn value<T: Serialize>(self, value: &T, sentence: &str) -> anyhow::Result<()> {
        match self.output {
            Output::Human => self.text(&format!("{sentence}\n")),
            Output::Json => self.text(&format!("{}\n", serde_json::to_string_pretty(value)?)),
            Output::Yaml => self.text(&serde_saphyr::to_string(value)?),
        }
    }

    /// One value for programs; people have been told already.
    pub(crate) fn value_or_nothing<T: Serialize>(self, value: &T) -> anyhow::Result<()> {
        match self.output {
            Output::Human => Ok(()),
            Output::Json | Output::Yaml => self.value(value, ""),
        }
    }

    /// Text that is in its final form already.
    #[expect(clippy::unused_self, reason = "whoever prints was given a printer")]
    pub(crate) fn text(self, text: &str) -> anyhow::Result<()> {
        live::above(|| {
            let mut stream = anstream::stdout().lock();
            stream.write_all(text.as_bytes())?;
            stream.flush()
        })?;
        Ok(())
    }

    /// A message to the person who waits.
    #[expect(clippy::unused_self, reason = "whoever prints was given a printer")]
    pub(crate) fn message(self, text: &str) {
        // With nobody there to read it, the work still goes on.
        let _ = live::above(|| writeln!(anstream::stderr().lock(), "{text}"));
    }

    /// A question, whose answer comes on the same line.
    #[expect(clippy::unused_self, reason = "whoever prints was given a printer")]
    pub(crate) fn prompt(self, text: &str) {
        let mut stream = anstream::stderr().lock();
        let _ = write!(stream, "{text}").and_then(|()| stream.flush());
    }

    /// Something that the person should know, though the work goes on.
    pub(crate) fn warning(self, text: &str) {
        self.message(&format!("{WARNING}warning:{WARNING:#} {text}"));
    }

    /// Why the work ended: the error and what caused it, in one sentence.
    pub(crate) fn error(self, error: &anyhow::Error) {
        self.message(&format!("{ERROR}error:{ERROR:#} {}", sentence(error.as_ref())));
    }

    /// Where long steps tell how far they are.
    #[expect(clippy::unused_self, reason = "whoever prints was given a printer")]
    pub(crate) fn progress(self) -> Progress {
        if live::Stream::Messages.can_redraw() { Progress::stderr() } else { Progress::lines(io::stderr()) }
    }
}

/// Whether an error only says that the reader of our output has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
