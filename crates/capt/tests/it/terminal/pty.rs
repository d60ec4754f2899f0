//! A pseudo-terminal with a program in it, and what its screen shows.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use capt_testkit::home;
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const ROWS: u16 = 48;
const COLUMNS: u16 = 120;
/// What a whole demo may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A program in a terminal. Dropped, it is killed.
pub(crate) struct Terminal {
    child: Mutex<Child>,
    controller: File,
    shown: Arc<Shown>,
}

struct Shown {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser,
    /// Nobody has the terminal open any more.
    closed: bool,
}

impl Terminal {
    /// Runs the command with the terminal as its input and its output.
    pub(crate) fn run(mut command: Command) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let terminal =
            OpenOptions::new().read(true).write(true).open(OsStr::from_bytes(name.as_bytes())).unwrap();
        command.stdin(terminal.try_clone().unwrap());
        command.stdout(terminal.try_clone().unwrap()).stderr(terminal);
        let child = command.spawn().unwrap();
        // It has the terminal open as well.
        drop(command);
        let controller = File::from(controller);
        let parser = vt100::Parser::new(ROWS, COLUMNS, 0);
        let state = Mutex::new(State { parser, closed: false });
        let shown = Arc::new(Shown { state, changed: Condvar::new() });
        let (reader, listener) = (controller.try_clone().unwrap(), Arc::clone(&shown));
        thread::spawn(move || listener.read(reader));
        Self { child: Mutex::new(child), controller, shown }
    }

    /// Waits until the screen shows this, and answers with all of it.
    pub(crate) fn until(&self, text: &str) -> String {
        self.shown.wait(|state| state.parser.screen().contents().contains(text), text)
    }

    /// Waits until the screen shows this, clears it, so that the next wait sees only what comes afterwards, and types.
    pub(crate) fn answer(&self, text: &str, typed: &str) {
        self.until(text);
        let mut state = self.shown.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.parser = vt100::Parser::new(ROWS, COLUMNS, 0);
        drop(state);
        self.types(typed);
    }

    pub(crate) fn types(&self, text: &str) {
        (&self.controller).write_all(text.as_bytes()).unwrap();
    }

    /// What Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        home::signal(&child, Signal::INT).unwrap();
    }

    /// Waits until the program has ended, and answers with the last screen and its exit code.
    pub(crate) fn end(self) -> (String, Option<i32>) {
        let screen = self.shown.wait(|state| state.closed, "the end");
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let status = home::wait(&mut child, PATIENCE).unwrap();
        (screen, status.code())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Both fail when it has ended already.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Shown {
    fn read(&self, mut controller: File) {
        let mut buffer = [0; 4096];
        // When nobody has the terminal open any more, reading fails.
        while let Ok(length @ 1..) = controller.read(&mut buffer) {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.parser.process(&buffer[..length]);
            drop(state);
            self.changed.notify_all();
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.notify_all();
    }

    fn wait(&self, holds: impl Fn(&State) -> bool, what: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !holds(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            let screen = state.parser.screen().contents();
            assert!(!left.is_zero() && !state.closed, "{what} was not seen; the last screen:\n{screen}");
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.parser.screen().contents()
    }
}
