//! Processes that outlived the engine that started them.

use std::time::Duration;

use rustix::process::{Signal as Kill, kill_process};

use super::active::{Signal, given};
use crate::calls::Calls;
use crate::engine::{Event, Left, Observer, Survived, Unfinished, Verb};
use crate::error::Error;
use crate::machine;
use crate::private;
use crate::redact::Redactor;
use crate::run::{Identity, Run};
use crate::stream::{Fold, Tail};
use crate::workdir::{Journal, LeftCalls, Lock, SavedPlan, Stamp, Workdir, Worked, holder};

/// How often the log of a running process is inspected: a call that begins and dies in between is known to nobody.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// Waits until nobody works in the directory; tells what became of a command whose end nobody saw.
pub(super) async fn take_over(
    workdir: &Workdir,
    run: &Run,
    redactor: &Redactor,
    observer: &dyn Observer,
    stop: Signal,
) -> Result<(Lock, Option<Survived>), Error> {
    let lock = loop {
        workdir.create()?;
        let lock = match Lock::try_take(workdir).map_err(Error::file(workdir.path()))? {
            Some(lock) => lock,
            None => wait(workdir, run, redactor, observer, stop.clone()).await?,
        };
        if lock.is_current(workdir) {
            break lock;
        }
    };
    let Some(journal) = Journal::read(workdir)? else { return Ok((lock, None)) };
    let (mut fold, lines) = read_log(workdir, &journal, redactor)?;
    fold.completed |= journal.completed;
    if !lines.is_empty() {
        let path = workdir.log(journal.verb);
        private::put(&path, (lines.join("\n") + "\n").as_bytes()).map_err(Error::file(path))?;
    }
    let calls = keep_calls(workdir, &journal, &fold, redactor)?;
    drop_begun_plan(workdir, &journal)?;
    workdir.forget_raw_logs()?;
    Worked::note(workdir, journal.verb, journal.started_at)?;
    Journal::remove(workdir)?;
    let Journal { verb, started_at, plan, pid: _, steps: _, interrupted: _, completed: _ } = journal;
    tracing::info!(verb = %verb, completed = fold.completed, "command of an earlier engine has ended");
    let Fold { completed, diagnostics, .. } = fold;
    Ok((lock, Some(Survived { verb, started_at, plan, completed, diagnostics, calls })))
}

/// What a command that has ended had told, if it still is there, and its log.
pub(super) fn read_log(
    workdir: &Workdir,
    journal: &Journal,
    redactor: &Redactor,
) -> Result<(Fold, Vec<String>), Error> {
    let mut fold = Fold::starting(journal.steps);
    if !journal.verb.streams() {
        return Ok((fold, Vec::new()));
    }
    let path = workdir.raw(journal.verb, "out");
    let mut tail = Tail::of(&path);
    let lines = tail.lines().map_err(Error::file(path))?;
    let lines = lines.into_iter().chain(tail.rest());
    let told = lines.filter_map(|line| fold.take(&line, redactor).line).collect();
    Ok((fold, told))
}

/// Keeps what an apply whose end nobody saw had begun and finished, until the run that found it has ended.
pub(super) fn keep_calls(
    workdir: &Workdir,
    journal: &Journal,
    fold: &Fold,
    redactor: &Redactor,
) -> Result<Option<Calls>, Error> {
    if journal.verb != Verb::Apply {
        return Ok(None);
    }
    LeftCalls::keep(workdir, fold, redactor)?;
    Ok(LeftCalls::kept(workdir, redactor))
}

/// A plan whose apply was begun is applied, or stale.
pub(super) fn drop_begun_plan(workdir: &Workdir, journal: &Journal) -> Result<(), Error> {
    if journal.plan.is_none() {
        return Ok(());
    }
    SavedPlan::remove(workdir)?;
    private::remove(&workdir.plan()).map_err(Error::file(workdir.plan()))
}

async fn wait(
    workdir: &Workdir,
    run: &Run,
    redactor: &Redactor,
    observer: &dyn Observer,
    mut stop: Signal,
) -> Result<Lock, Error> {
    observer.observe(Event::Waiting(unfinished(&run.identity, Journal::read(workdir)?, true)));
    let ended = Lock::take(workdir);
    tokio::pin!(ended);
    let mut followed = Followed::default();
    let mut asked = false;
    loop {
        tokio::select! {
            lock = &mut ended => return lock.map_err(Error::file(workdir.path())),
            () = given(&mut stop), if !asked => {
                asked = true;
                interrupt(workdir)?;
            }
            () = tokio::time::sleep(LOOK) => followed.look(workdir, redactor, observer)?,
        }
    }
}

/// The log of a process that somebody else started.
#[derive(Default)]
struct Followed {
    current: Option<(Journal, Tail, Fold)>,
}

impl Followed {
    fn look(&mut self, workdir: &Workdir, redactor: &Redactor, observer: &dyn Observer) -> Result<(), Error> {
        let Some(journal) = Journal::read(workdir)?.filter(|journal| journal.verb.streams()) else {
            return Ok(());
        };
        if self.current.as_ref().is_none_or(|(known, ..)| known.started_at != journal.started_at) {
            let tail = Tail::of(&workdir.raw(journal.verb, "out"));
            let fold = Fold::starting(journal.steps);
            self.current = Some((journal, tail, fold));
        }
        let Some((journal, tail, fold)) = &mut self.current else { return Ok(()) };
        let (mut progressed, mut called) = (false, false);
        for line in tail.lines().map_err(Error::file(workdir.logs()))? {
            let told = fold.take(&line, redactor);
            progressed |= told.progressed;
            called |= told.called;
        }
        if progressed {
            observer.observe(Event::Progress(fold.progress.clone()));
        }
        if called && journal.verb == Verb::Apply {
            observer.observe(Event::Calls(fold.calls(redactor)));
        }
        Ok(())
    }
}

/// What a directory tells about commands whose end was not seen.
pub(super) fn look(workdir: &Workdir, identity: &Identity) -> Result<Option<Unfinished>, Error> {
    let alive = Lock::is_held(workdir).map_err(Error::file(workdir.path()))?;
    let journal = Journal::read(workdir)?;
    Ok((alive || journal.is_some()).then(|| unfinished(identity, journal, alive)))
}

/// What a directory holds that must not be passed over. A process in a directory that is lost holds no lock that can be found.
pub(super) fn left(workdir: &Workdir) -> Result<Left, Error> {
    let file = || Error::file(workdir.path());
    Ok(Left {
        alive: Lock::is_held(workdir).map_err(file())? || machine::is_worked_on(workdir.path()),
        unfinished: Journal::read(workdir)?.is_some(),
        unstored: workdir.holds_unstored_state().map_err(file())?,
    })
}

fn unfinished(identity: &Identity, journal: Option<Journal>, alive: bool) -> Unfinished {
    let (verb, started_at) = journal.map(|journal| (journal.verb, journal.started_at)).unzip();
    Unfinished { identity: identity.clone(), verb, started_at, alive }
}

/// One SIGINT to the main process in a directory, unless it had one already; `false` when there is no such process.
pub(super) fn interrupt(workdir: &Workdir) -> Result<bool, Error> {
    let _guard = Journal::guard(workdir)?;
    let Some(journal) = Journal::read(workdir)? else { return Ok(false) };
    if journal.interrupted {
        return Ok(true);
    }
    let Some(pid) = holder(workdir, journal.pid) else { return Ok(false) };
    if let Err(error) = (Journal { interrupted: true, ..journal }).write(workdir) {
        tracing::warn!(error = &error as &dyn std::error::Error, "interrupt not noted");
    }
    Ok(kill_process(pid, Kill::INT).is_ok())
}
