//! Which machine, boot and process this is, and whether processes of a run are there: what proves that the holder of a lock is
//! dead. Where the kernel does not say (no `/proc`), nothing is known and nothing is proved.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::run::Identity;
use crate::workdir::LOCK_FILE;

/// The inode of the first pid namespace of every Linux: whoever is in it sees all processes of the machine.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// This process, in words that no other process has, on any machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    /// Names the machine, whatever it is called; missing in most containers.
    pub machine: Option<String>,
    /// Names the time since the machine started last.
    pub boot: String,
    /// The processes that can see each other.
    pub pid_namespace: String,
    /// The process, within those.
    pub process: u32,
    /// When it began, in the kernel's own count: another process of this number has another one.
    pub process_start: u64,
    /// The same by the clock of the machine.
    pub started_at: Timestamp,
}

impl Whereabouts {
    /// Of this process.
    pub fn here() -> Option<Self> {
        let process = std::process::id();
        let process_start = start_of(process)?;
        Some(Self {
            machine: read("/etc/machine-id").map(|id| crate::fingerprint::digest(&id.into())),
            boot: read("/proc/sys/kernel/random/boot_id")?,
            pid_namespace: namespace_of("self")?,
            process,
            process_start,
            started_at: by_the_clock(process_start)?,
        })
    }

    /// Whether this process sees every process of its machine.
    pub fn sees_all(&self) -> bool {
        self.pid_namespace == FIRST_PID_NAMESPACE
    }
}

/// Whether a process of these pid namespaces is there, which began at that time.
pub fn is_there(process: u32, start: u64) -> bool {
    start_of(process) == Some(start)
}

/// Whether any process is in this pid namespace, as far as can be seen. One that cannot be looked into may be.
pub fn is_pid_namespace_in_use(namespace: &str) -> bool {
    processes().any(|process| namespace_of(&process).is_none_or(|found| found == namespace))
}

/// Whether a process of a run in this directory is there, even if the directory is deleted. It is known by the locked file of
/// the directory, which is its standard input. One that cannot be looked into may be it, if it is a Terraform at all.
pub(crate) fn is_worked_on(directory: &Path) -> bool {
    let directory = resolved(directory);
    processes().any(|process| match input_of(&process) {
        Input::File(path) => path.starts_with(&directory),
        Input::Hidden => is_tool(&process),
        Input::None => false,
    })
}

/// The directory as the kernel calls it. What is deleted has a parent still, at least.
fn resolved(directory: &Path) -> PathBuf {
    let parent = directory.parent().and_then(|parent| fs::canonicalize(parent).ok());
    match (parent, directory.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => directory.to_owned(),
    }
}

/// Whether a process is there that may hold the lock on the state of this identity: one of its runs, or a Terraform that
/// somebody else started. Runs of other identities hold other locks.
pub fn may_hold_lock(identity: &Identity) -> bool {
    processes().any(|process| match input_of(&process) {
        Input::File(path) if path.iter().any(|part| part == identity.as_str()) => true,
        Input::File(path) => !is_lock_file(&path) && is_tool(&process),
        Input::Hidden => is_tool(&process),
        // A zombie has no input any more, and holds no lock.
        Input::None => is_tool(&process) && start_of(process.parse().unwrap_or_default()).is_some(),
    })
}

/// Whether a process is Terraform or OpenTofu.
fn is_tool(process: &str) -> bool {
    let name = read(&format!("/proc/{process}/comm")).unwrap_or_default();
    ["terraform", "tofu"].contains(&name.as_str())
}

/// What a process reads from.
enum Input {
    File(PathBuf),
    /// Nothing, or the process has ended.
    None,
    /// It is not for us to know.
    Hidden,
}

fn input_of(process: &str) -> Input {
    match fs::read_link(format!("/proc/{process}/fd/0")) {
        Ok(path) => Input::File(path),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Input::Hidden,
        Err(_) => Input::None,
    }
}

/// A file that is deleted has ` (deleted)` behind its name.
fn is_lock_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_suffix(" (deleted)").unwrap_or(&name) == LOCK_FILE
}

/// The names of all processes in `/proc`.
fn processes() -> impl Iterator<Item = String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|letter| letter.is_ascii_digit()))
}

fn namespace_of(process: &str) -> Option<String> {
    Some(fs::read_link(format!("/proc/{process}/ns/pid")).ok()?.to_string_lossy().into_owned())
}

/// When a process began, in the kernel's own count: the 22nd field of `stat`. The second one, the program's name, may hold anything.
pub fn start_of(process: u32) -> Option<u64> {
    let stat = read(&format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    // A zombie does nothing any more.
    let state = fields.next()?;
    (state != "Z").then(|| fields.nth(18)?.parse().ok()).flatten()
}

/// Ticks since the boot, as a time of today's clock.
fn by_the_clock(ticks: u64) -> Option<Timestamp> {
    let per_second =
        i64::try_from(rustix::param::clock_ticks_per_second()).ok().filter(|ticks| *ticks > 0)?;
    let began = SignedDuration::from_millis(i64::try_from(ticks).ok()?.checked_mul(1000)? / per_second);
    Timestamp::now().checked_sub(since_boot()?.checked_sub(began)?).ok()
}

#[cfg(target_os = "linux")]
fn since_boot() -> Option<SignedDuration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Some(SignedDuration::new(time.tv_sec, i32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> Option<SignedDuration> {
    None
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn this_process_is_there_and_no_other_of_its_number() {
        let us = Whereabouts::here().unwrap();

        assert!(is_there(us.process, us.process_start));
        assert!(!is_there(us.process, us.process_start + 1));
        assert!(is_pid_namespace_in_use(&us.pid_namespace));
        assert!(us.started_at <= Timestamp::now());
        assert_eq!(Whereabouts::here().unwrap().process_start, us.process_start);
    }

    #[test]
    fn a_process_that_ended_is_not_there_even_while_nobody_has_asked_for_its_end() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let start = start_of(child.id()).unwrap();
        assert!(is_there(child.id(), start));

        child.kill().unwrap();
        while is_there(child.id(), start) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_run_is_found_by_its_locked_file_even_after_that_was_deleted() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("uid-1");
        fs::create_dir_all(&directory).unwrap();
        let locked = fs::File::create_new(directory.join("lock")).unwrap();
        // Somebody who looks around there is no run.
        let mut visitor = Command::new("cat").stdin(Stdio::piped()).current_dir(&directory).spawn().unwrap();
        assert!(!is_worked_on(&directory));

        let mut run = Command::new("sleep").arg("600").stdin(locked).spawn().unwrap();
        assert!(is_worked_on(&directory));
        fs::remove_dir_all(&directory).unwrap();
        assert!(is_worked_on(&directory));

        for child in [&mut run, &mut visitor] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(!is_worked_on(&directory));
    }

    #[test]
    fn a_terraform_of_somebody_else_may_hold_a_lock_and_a_run_of_another_identity_does_not() {
        let root = tempfile::tempdir().unwrap();
        let identity = |name: &str| Identity::try_from(format!("{name}-{}", std::process::id())).unwrap();
        let (ours, other) = (identity("ours"), identity("other"));
        let directory = root.path().join(other.as_str());
        fs::create_dir_all(&directory).unwrap();
        let tool = root.path().join("tofu");
        fs::copy("/bin/sleep", &tool).unwrap();
        let begin = |stdin: Stdio| Command::new(&tool).arg("600").stdin(stdin).spawn().unwrap();

        let locked = fs::File::create_new(directory.join(LOCK_FILE)).unwrap();
        let mut run = begin(locked.into());
        assert!(may_hold_lock(&other));
        let mut somebody = begin(Stdio::null());
        assert!(may_hold_lock(&ours));

        for child in [&mut run, &mut somebody] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
