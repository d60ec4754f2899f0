//! Asking a home for something.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::protocol::{Answer, Request};
use super::socket;

/// Why there is no good answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody listens.
    #[error(
        "the home in {home} does not run: start it with `capt up --dir {home}`",
        home = home.display()
    )]
    NotRunning {
        /// Its directory.
        home: PathBuf,
    },
    /// The home went away, or cannot be reached.
    #[error("talking to the home in {home}", home = home.display())]
    Connection {
        /// Its directory.
        home: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There was no answer in time.
    #[error(
        "the home in {home} did not answer within {seconds} s; it goes on with what it has begun",
        home = home.display()
    )]
    TooLate {
        /// Its directory.
        home: PathBuf,
        /// How long it was given.
        seconds: u64,
    },
    /// The home could not do it.
    #[error("{0}")]
    Failed(String),
}

/// Asks the home of a directory and waits for the answer, at most for this time. Hears what takes so long.
pub fn ask(
    home: &Path,
    request: &Request,
    within: Duration,
    progress: impl FnMut(&str),
) -> Result<Answer, AskError> {
    let deadline = Instant::now() + within;
    let stream = socket::connect(home).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            AskError::NotRunning { home: home.to_owned() }
        }
        _ => AskError::Connection { home: home.to_owned(), source: error },
    })?;
    let answer = converse(stream, request, deadline, progress).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            AskError::TooLate { home: home.to_owned(), seconds: within.as_secs() }
        }
        _ => AskError::Connection { home: home.to_owned(), source },
    })?;
    match answer {
        Answer::Failed { message } => Err(AskError::Failed(message)),
        answer => Ok(answer),
    }
}

fn converse(
    mut stream: UnixStream,
    request: &Request,
    deadline: Instant,
    mut progress: impl FnMut(&str),
) -> io::Result<Answer> {
    let request = serde_json::to_string(request)?;
    stream.set_write_timeout(Some(left(deadline)?))?;
    writeln!(stream, "{request}")?;
    let mut answers = BufReader::new(stream);
    loop {
        answers.get_ref().set_read_timeout(Some(left(deadline)?))?;
        let mut line = String::new();
        if answers.read_line(&mut line)? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it went away without an answer"));
        }
        match serde_json::from_str(&line)? {
            Answer::Progress { message } => progress(&message),
            answer => return Ok(answer),
        }
    }
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}
