//! The home's end of its socket: a thread for each connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::WorkloadsError;
use super::protocol::{Answer, Request};
use super::registry::Registry;
use super::socket::{self, Address};

/// How long a client may take to say what it wants, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_REQUEST: u64 = 4096;
/// After a connection that could not be accepted, for want of file descriptors for example.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves requests until it is stopped.
#[derive(Debug)]
pub(super) struct Server {
    home: PathBuf,
    stopping: Arc<AtomicBool>,
    listening: Mutex<Option<(JoinHandle<()>, Address)>>,
}

impl Server {
    pub(super) fn start(registry: &Arc<Registry>) -> Result<Self, WorkloadsError> {
        let home = registry.home().to_owned();
        let (listener, address) = socket::listen(&home)
            .map_err(|source| WorkloadsError::Socket { socket: socket::path_in(&home), source })?;
        let stopping = Arc::new(AtomicBool::new(false));
        let thread = {
            let (registry, stopping) = (Arc::clone(registry), Arc::clone(&stopping));
            thread::spawn(move || accept(&listener, &registry, &stopping))
        };
        Ok(Self { home, stopping, listening: Mutex::new(Some((thread, address))) })
    }

    /// Takes no more requests. Those that were taken get their answers from whoever works on them.
    pub(super) fn stop(&self) {
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((thread, address)) = listening else { return };
        self.stopping.store(true, Ordering::Release);
        // Whoever accepts looks up at the next connection. Without a way in there is none, and nobody to wait for.
        if socket::connect(&self.home).is_ok() {
            let _ = thread.join();
        }
        drop(address);
    }
}

fn accept(listener: &UnixListener, registry: &Arc<Registry>, stopping: &AtomicBool) {
    for stream in listener.incoming() {
        if stopping.load(Ordering::Acquire) {
            return;
        }
        match stream {
            Ok(stream) => {
                let registry = Arc::clone(registry);
                // A client that went away gets no answer, and needs none.
                thread::spawn(move || converse(&stream, &registry));
            }
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

fn converse(stream: &UnixStream, registry: &Arc<Registry>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST_REQUEST)).read_line(&mut line)?;
    match serde_json::from_str::<Request>(&line) {
        Err(error) => {
            tell(stream, &Answer::Failed { message: format!("the request is not understood: {error}") })
        }
        Ok(request) => {
            for answer in registry.ask(request) {
                tell(stream, &answer)?;
                if !matches!(answer, Answer::Progress { .. }) {
                    return Ok(());
                }
            }
            tell(stream, &Answer::Failed { message: "the home is being stopped".to_owned() })
        }
    }
}

fn tell(mut stream: &UnixStream, answer: &Answer) -> io::Result<()> {
    let line = serde_json::to_string(answer)?;
    writeln!(stream, "{line}")
}
