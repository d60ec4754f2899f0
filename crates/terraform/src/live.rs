//! Follows what people may read of the runs of one identity, from another process on the same machine.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

use crate::engine::Verb;
use crate::run::Identity;
use crate::stream::Tail;
use crate::workdir::Workdir;

/// Commands in the order in which a run has them.
const VERBS: [Verb; 6] =
    [Verb::Fetch, Verb::Init, Verb::StatePush, Verb::Plan, Verb::Apply, Verb::ForceUnlock];

/// What is printed in a working directory, without secrets.
#[derive(Debug)]
pub struct LiveLog {
    workdir: Workdir,
    files: Vec<Followed>,
}

#[derive(Debug)]
struct Followed {
    verb: Verb,
    /// The file that is being read: each run makes it anew.
    file: Option<u64>,
    tail: Tail,
    /// Whether what is there was printed before anybody followed.
    is_old: bool,
}

impl LiveLog {
    /// Follows the runs of an identity that began at this time or later; `None` where it has no working directory.
    pub fn of(root: &Path, identity: &Identity, since: SystemTime) -> Option<Self> {
        let workdir = Workdir::new(root, identity);
        if !workdir.logs().is_dir() {
            return None;
        }
        let follow = |verb: Verb| {
            let path = workdir.log(verb);
            let found = fs::metadata(&path).ok();
            let is_old = found.as_ref().and_then(|found| found.modified().ok()).is_some_and(|at| at < since);
            Followed { verb, file: found.map(|found| found.ino()), tail: Tail::of(&path), is_old }
        };
        let files = VERBS.into_iter().map(follow).collect();
        Some(Self { workdir, files })
    }

    /// The whole lines that came since the last call.
    pub fn lines(&mut self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        for followed in &mut self.files {
            let path = self.workdir.log(followed.verb);
            let file = match fs::metadata(&path) {
                Ok(found) => found.ino(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if followed.file != Some(file) {
                *followed = Followed { file: Some(file), tail: Tail::of(&path), is_old: false, ..*followed };
            }
            if !followed.is_old {
                lines.extend(followed.tail.lines()?);
            }
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_printed_before_is_passed_over_and_a_file_that_is_made_anew_is_read_from_its_beginning() {
        let root = tempfile::tempdir().unwrap();
        let identity = Identity::try_from("uid-1".to_owned()).unwrap();
        assert!(LiveLog::of(root.path(), &identity, SystemTime::now()).is_none());
        let workdir = Workdir::new(root.path(), &identity);
        workdir.create().unwrap();
        fs::write(workdir.log(Verb::Plan), "of before\n").unwrap();

        let later = SystemTime::now() + Duration::from_secs(60);
        let mut live = LiveLog::of(root.path(), &identity, later).unwrap();
        assert_eq!(live.lines().unwrap(), Vec::<String>::new());
        fs::write(workdir.log(Verb::Init), "one\ntw").unwrap();
        assert_eq!(live.lines().unwrap(), ["one"]);

        // Another file under the same name.
        fs::write(workdir.path().join("new"), "planned\n").unwrap();
        fs::rename(workdir.path().join("new"), workdir.log(Verb::Plan)).unwrap();
        assert_eq!(live.lines().unwrap(), ["planned"]);
    }
}
