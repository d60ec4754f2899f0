//! Starts a command, follows it, and looks at how it ended.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use jiff::Timestamp;
use rustix::process::{Pid, Signal as Kill, kill_process_group};
use tokio::process::Child;
use tokio::time::{Instant, sleep, sleep_until};

use super::active::given;
use super::ended::{Ended, Stopped};
use super::session::{Command, Session};
use super::spawn::{Start, spawn};
use super::survivor::{self, LOOK};
use crate::engine::{Event, Verb};
use crate::environment::{WORKSPACE, environment, joined};
use crate::error::Error;
use crate::private;
use crate::stream::{Fold, Tail};
use crate::workdir::{Journal, Worked};

/// Longer than anybody waits.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

impl Session<'_> {
    /// Runs a command to its end. The journal tells of it from before its start until after its end.
    pub(super) async fn command(&self, command: Command) -> Result<Ended, Error> {
        let verb = command.verb;
        self.go_on(verb)?;
        let (plan, steps) = command.plan.clone().unzip();
        let steps = steps.unwrap_or_default();
        let started_at = Timestamp::now();
        let journal =
            Journal { verb, pid: None, started_at, plan, steps, interrupted: false, completed: false };
        let start = self.prepare(&command)?;
        journal.write(self.workdir)?;
        tracing::info!(verb = %verb, identity = %self.run.identity, "command starts");
        self.observer.observe(Event::Started(verb));
        let mut child = match start() {
            Ok(child) => child,
            Err(source) => {
                Journal::remove(self.workdir)?;
                return Err(Error::Start { verb, program: self.settings.binary.clone(), source });
            }
        };
        // The process is there: nothing that fails from here on may hide it.
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        if let Err(error) = Journal::note_process(self.workdir, pid) {
            tracing::warn!(verb = %verb, error = &error as &dyn std::error::Error, "journal without process");
        }
        let (exit, stopped, fold) = self.follow(&mut child, verb, steps).await?;
        tracing::info!(verb = %verb, identity = %self.run.identity, exit = %exit, "command ended");
        let ended = Ended::read(self.workdir, &self.redactor, verb, exit, stopped, fold)?;
        self.log_text(&ended);
        // After the end was judged: this command's own request for the lock is not one that it left behind. One that another's
        // lock kept from its work never had it.
        if !ended.is_clean() && !ended.is_locked_out() {
            Worked::note(self.workdir, verb, started_at)?;
        }
        Journal::remove(self.workdir)?;
        Ok(ended)
    }

    /// Everything that can fail before the journal is written.
    fn prepare<'s>(
        &'s self,
        command: &'s Command,
    ) -> Result<impl FnOnce() -> std::io::Result<Child> + 's, Error> {
        let verb = command.verb;
        let mut variables = environment(self.settings, &self.run, self.workdir, verb);
        if let Some((word, extra)) = &command.extra
            && !extra.is_empty()
        {
            variables.insert(format!("TF_CLI_ARGS_{word}").into(), joined(extra));
        }
        if !command.in_workspace {
            variables.remove(OsStr::new(WORKSPACE));
        }
        let empty = |stream: &str| {
            let path = self.workdir.raw(verb, stream);
            private::empty(&path).map_err(Error::file(path))
        };
        let (stdout, stderr) = (empty("out")?, empty("err")?);
        let stdin = self.lock.share().map_err(Error::file(self.workdir.path()))?;
        Ok(move || {
            spawn(Start {
                program: &self.settings.binary,
                arguments: &command.arguments,
                environment: &variables,
                directory: &command.directory,
                stdin,
                stdout,
                stderr,
                expendable: false,
            })
        })
    }

    /// Waits for the end, and asks for it when the time is over or the caller wants it. An apply is asked once and
    /// then waited for; what changes nothing is killed in the end.
    async fn follow(
        &self,
        child: &mut Child,
        verb: Verb,
        steps: u64,
    ) -> Result<(ExitStatus, Stopped, Fold), Error> {
        let limits = &self.run.limits;
        let limit = if verb == Verb::Apply { limits.apply } else { Some(limits.plan) };
        let mut end = Instant::now() + limit.unwrap_or(FOR_EVER).min(FOR_EVER);
        let mut stop = self.stop.clone();
        let mut stopped = Stopped::No;
        let mut log = self.follow_log(verb, steps);
        loop {
            tokio::select! {
                exit = child.wait() => {
                    log.look(self, true);
                    let exit = exit.map_err(|source| Error::Start { verb, program: self.settings.binary.clone(), source })?;
                    return Ok((exit, stopped, log.fold));
                }
                () = given(&mut stop), if stopped == Stopped::No => {
                    stopped = Stopped::Asked;
                    end = Instant::now() + limits.grace;
                    self.ask(verb);
                }
                () = sleep_until(end), if stopped == Stopped::No => {
                    stopped = Stopped::TooLong(limit.unwrap_or(FOR_EVER));
                    end = Instant::now() + limits.grace;
                    self.ask(verb);
                }
                () = sleep_until(end), if stopped != Stopped::No && verb.may_be_killed() => {
                    end = Instant::now() + FOR_EVER;
                    tracing::warn!(verb = %verb, identity = %self.run.identity, "command did not stop and is killed");
                    if let Some(pid) = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
                        // Gone already is as good.
                        let _ = kill_process_group(pid, Kill::KILL);
                    }
                }
                () = sleep(LOOK), if verb.streams() => log.look(self, false),
            }
        }
    }

    /// One SIGINT to the main process, unless somebody else was quicker.
    fn ask(&self, verb: Verb) {
        self.observer.observe(Event::Interrupting(verb));
        if let Err(error) = survivor::interrupt(self.workdir) {
            tracing::warn!(verb = %verb, error = &error as &dyn std::error::Error, "command not interrupted");
        }
    }

    fn follow_log(&self, verb: Verb, steps: u64) -> Follower {
        let log = self.workdir.log(verb);
        // See `file`.
        let _ = private::remove(&log);
        let tail = Tail::of(&self.workdir.raw(verb, "out"));
        Follower { verb, tail, fold: Fold::starting(steps), log, file: None }
    }

    /// The log of a command that is not a stream.
    fn log_text(&self, ended: &Ended) {
        if ended.verb.streams() {
            return;
        }
        let mut log = self.follow_log(ended.verb, 0);
        for line in &ended.lines {
            log.tell(self, line.clone());
        }
    }
}

/// Passes on what a command prints.
struct Follower {
    verb: Verb,
    tail: Tail,
    fold: Fold,
    log: PathBuf,
    /// Made for the first line. A log that cannot be written does not stop an apply.
    file: Option<File>,
}

impl Follower {
    fn look(&mut self, session: &Session<'_>, last: bool) {
        if !self.verb.streams() {
            return;
        }
        let mut lines = self.tail.lines().unwrap_or_default();
        if last {
            lines.extend(self.tail.rest());
        }
        let mut called = false;
        for line in lines {
            let told = self.fold.take(&line, &session.redactor);
            called |= told.called;
            if let Some(line) = told.line {
                self.tell(session, line);
            }
            if told.progressed {
                session.observer.observe(Event::Progress(self.fold.progress.clone()));
            }
        }
        if called && self.verb == Verb::Apply {
            session.observer.observe(Event::Calls(self.fold.calls(&session.redactor)));
        }
    }

    fn tell(&mut self, session: &Session<'_>, mut line: String) {
        if self.file.is_none() {
            self.file = private::empty(&self.log).ok();
        }
        if let Some(file) = &mut self.file {
            line.push('\n');
            // See `file`.
            let _ = file.write_all(line.as_bytes());
            line.pop();
        }
        session.observer.observe(Event::Line(self.verb, line));
    }
}
