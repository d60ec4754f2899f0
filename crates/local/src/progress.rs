//! Telling a person what takes so long.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

const TICK: Duration = Duration::from_millis(100);

/// Where progress is told: a bar on a terminal, plain lines elsewhere, or nowhere. A clone tells it in the same place.
#[derive(Clone)]
pub struct Progress(Sink);

#[derive(Clone)]
enum Sink {
    Silent,
    Terminal(MultiProgress),
    Lines(Arc<Mutex<Box<dyn Write + Send>>>),
}

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.0 {
            Sink::Silent => "silent",
            Sink::Terminal(_) => "terminal",
            Sink::Lines(_) => "lines",
        };
        formatter.debug_tuple("Progress").field(&kind).finish()
    }
}

impl Progress {
    /// To the error stream: bars and spinners when it is a terminal, otherwise one line for each step.
    pub fn stderr() -> Self {
        if io::stderr().is_terminal() {
            Self(Sink::Terminal(MultiProgress::new()))
        } else {
            Self::lines(io::stderr())
        }
    }

    /// One line for each step.
    pub fn lines(writer: impl Write + Send + 'static) -> Self {
        Self(Sink::Lines(Arc::new(Mutex::new(Box::new(writer)))))
    }

    /// Says nothing.
    pub fn silent() -> Self {
        Self(Sink::Silent)
    }

    /// One line, at once.
    pub(crate) fn say(&self, message: &str) {
        match &self.0 {
            Sink::Silent => {}
            Sink::Terminal(bars) => {
                let _ = bars.suspend(|| writeln!(io::stderr(), "{message}"));
            }
            Sink::Lines(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = writeln!(writer, "{message}").and_then(|()| writer.flush());
            }
        }
    }

    /// A step that takes an unknown time.
    pub(crate) fn task(&self, message: &str) -> Task<'_> {
        self.begin(message, ProgressBar::new_spinner, "{spinner} {msg} {elapsed}")
    }

    /// A step whose size in bytes may be known.
    pub(crate) fn transfer(&self, message: &str, length: Option<u64>) -> Task<'_> {
        match length {
            Some(length) => {
                self.begin(message, || ProgressBar::new(length), "{msg} {wide_bar} {bytes}/{total_bytes}")
            }
            None => self.begin(message, ProgressBar::new_spinner, "{spinner} {msg} {bytes}"),
        }
    }

    fn begin(&self, message: &str, bar: impl FnOnce() -> ProgressBar, style: &str) -> Task<'_> {
        let bar = match &self.0 {
            Sink::Terminal(bars) => bars.add(bar()),
            Sink::Silent | Sink::Lines(_) => {
                self.say(&format!("{message} …"));
                ProgressBar::hidden()
            }
        };
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(message.to_owned());
        if matches!(self.0, Sink::Terminal(_)) {
            bar.enable_steady_tick(TICK);
        }
        Task { progress: self, bar }
    }
}

/// A step under way. Dropped, it leaves no trace: what went wrong is told by its error.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    progress: &'a Progress,
    bar: ProgressBar,
}

impl Task<'_> {
    pub(crate) fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    pub(crate) fn finish(self, message: &str) {
        self.bar.finish_and_clear();
        self.progress.say(message);
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
