//! Who ran which command of Terraform, in their order.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, bail, ensure};

pub(super) const CAPT: &str = "capt";
pub(super) const CROSSPLANE: &str = "crossplane";

/// What both sides write to.
pub(super) struct Diary {
    file: PathBuf,
    /// How much was read.
    read: Mutex<usize>,
}

/// Commands that were run.
#[derive(Debug, Default)]
pub(super) struct Entries(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    who: String,
    /// The Terraform workspace, where it is known.
    workspace: String,
    verb: String,
}

impl Diary {
    pub(super) fn new(directory: &Path) -> anyhow::Result<Self> {
        let file = directory.join("diary");
        fs::write(&file, "")?;
        Ok(Self { file, read: Mutex::new(0) })
    }

    /// A program called `terraform` that does what the real one does, and notes it. The directory of the module names the Workspace: by
    /// its uid, which the caller knows.
    pub(super) fn wrap(&self, who: &str, real: &Path, directory: &Path) -> anyhow::Result<PathBuf> {
        fs::create_dir_all(directory)?;
        let program = directory.join("terraform");
        let (diary, real) = (self.file.display(), real.display());
        // One line is written at once. Nothing but what the shell has itself: the environment may be empty.
        let script = format!(
            "#!/bin/sh\nhere=$(pwd)\necho \"begin {who} $$ $here $1\" >> '{diary}'\n'{real}' \"$@\"\ncode=$?\necho \"end {who} $$ $here $1\" >> '{diary}'\nexit $code\n"
        );
        fs::write(&program, script)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        Ok(program)
    }

    /// What was noted since this was called last. An error where two worked on the same Workspace at the same time.
    pub(super) fn take(&self) -> anyhow::Result<Entries> {
        let (entries, lines) = self.look()?;
        *self.read.lock().ok().context("a diary that nobody can read any more")? = lines;
        Ok(entries)
    }

    /// What was noted since [`Self::take`] was called last, and how many lines there are.
    pub(super) fn look(&self) -> anyhow::Result<(Entries, usize)> {
        let text = fs::read_to_string(&self.file)?;
        let read = *self.read.lock().ok().context("a diary that nobody can read any more")?;
        let mut entries = Vec::new();
        let mut working: Vec<(String, String, String)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap_or_default().to_owned();
            let (what, who, process, place, verb) = (word(), word(), word(), word(), word());
            let workspace = uid_in(&place);
            match what.as_str() {
                "begin" => {
                    let rival = working.iter().find(|(other, _, of)| *other != who && *of == workspace);
                    ensure!(
                        workspace.is_empty() || rival.is_none(),
                        "{who} began `{verb}` in {workspace} while {rival:?} was at work:\n{text}"
                    );
                    working.push((who.clone(), process, workspace.clone()));
                    if index >= read {
                        entries.push(Entry { who, workspace, verb });
                    }
                }
                "end" => working.retain(|(_, other, _)| *other != process),
                _ => bail!("a line of the diary that nobody wrote: {line}"),
            }
        }
        Ok((Entries(entries), text.lines().count()))
    }
}

/// The uid of the Workspace whose directory this is: both sides name their directories so.
fn uid_in(place: &str) -> String {
    let is_uid = |part: &&str| part.len() == 36 && part.split('-').count() == 5;
    place.split('/').find(is_uid).unwrap_or_default().to_owned()
}

impl Entries {
    /// How often somebody ran a command.
    pub(super) fn count(&self, who: &str, verb: &str) -> usize {
        self.0.iter().filter(|entry| entry.who == who && entry.verb == verb).count()
    }

    /// How often somebody ran a command for the Workspace with this uid.
    pub(super) fn of_verb(&self, uid: &str, who: &str, verb: &str) -> usize {
        let is_it = |entry: &&Entry| entry.workspace == uid && entry.who == who && entry.verb == verb;
        self.0.iter().filter(is_it).count()
    }

    /// How often somebody ran anything for the Workspace with this uid.
    pub(super) fn of(&self, uid: &str, who: &str) -> usize {
        self.0.iter().filter(|entry| entry.workspace == uid && entry.who == who).count()
    }
}
