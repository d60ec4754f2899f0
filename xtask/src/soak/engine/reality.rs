//! The world that Terraform changes: a directory for each resource, with a file for each time that it was made.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// The world.
pub(super) struct Reality {
    root: PathBuf,
}

impl Reality {
    pub(super) fn new(root: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(root).with_context(|| format!("making {}", root.display()))?;
        Ok(Self { root: root.to_owned() })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where what the state of a Workspace names differs from what is there. What was interrupted is excused.
    pub(super) fn differences(
        &self,
        workspace: &str,
        known: &BTreeSet<String>,
        excused: &BTreeSet<String>,
    ) -> anyhow::Result<Vec<String>> {
        let there = self.of(workspace)?;
        let unknown = there.difference(known).filter(|it| !excused.contains(*it));
        let unknown = unknown.map(|it| format!("{workspace}: {it} is there and not in the state"));
        let missing = known.difference(&there);
        let missing = missing.map(|it| format!("{workspace}: {it} is in the state and not there"));
        Ok(unknown.chain(missing).collect())
    }

    /// What is there although everything was destroyed.
    pub(super) fn leftovers(&self, excused: &BTreeSet<String>) -> anyhow::Result<Vec<String>> {
        let mut left = Vec::new();
        for workspace in names(&self.root)? {
            let there = self.of(&workspace)?;
            let unexcused = there.difference(excused);
            left.extend(unexcused.map(|it| format!("{workspace}: {it} was left behind")));
        }
        Ok(left)
    }

    /// `<number>/<id>` of everything that was made and not destroyed.
    fn of(&self, workspace: &str) -> anyhow::Result<BTreeSet<String>> {
        let directory = self.root.join(workspace);
        let mut found = BTreeSet::new();
        for number in names(&directory)? {
            for id in names(&directory.join(&number))? {
                found.insert(format!("{number}/{id}"));
            }
        }
        Ok(found)
    }
}

fn names(directory: &Path) -> anyhow::Result<Vec<String>> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(directory).with_context(|| format!("reading {}", directory.display()))?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_twice_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let reality = Reality::new(place.path()).unwrap();
        let made = place.path().join("one/0");
        fs::create_dir_all(&made).unwrap();
        fs::write(made.join("first"), "").unwrap();
        fs::write(made.join("second"), "").unwrap();
        let known = BTreeSet::from(["0/second".to_owned(), "1/third".to_owned()]);
        let differences = reality.differences("one", &known, &BTreeSet::new()).unwrap();
        assert_eq!(
            differences,
            ["one: 0/first is there and not in the state", "one: 1/third is in the state and not there"]
        );
        assert_eq!(reality.leftovers(&BTreeSet::from(["0/first".to_owned()])).unwrap().len(), 1);
    }
}
