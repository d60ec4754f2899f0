//! The home on this machine that a cluster is of, and its local clusters.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_core::archive::{FilePart, LONGEST_PART};
use capt_local::workload::{Request, Status, WorkloadName, ask, names_in, passing_directory};
use kube::config::Kubeconfig;

use crate::cli::ConnectionArguments;
use crate::directory;
use crate::printer::Printer;

/// How long a local cluster may take to stop, to be copied and to start.
const PATIENCE: Duration = Duration::from_secs(300);
/// Names the backup that a local cluster was put back from.
const MARK: &str = "restored-from";

/// A home on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Home(PathBuf);

impl Home {
    /// The home whose API server has this address, if it is on this machine: the directory of the kubeconfig in use, or the
    /// usual one.
    pub(crate) fn find(connection: &ConnectionArguments, server: &str) -> Option<Self> {
        let parent = |file: &Path| file.parent().map(Path::to_owned);
        let named = connection.kubeconfig.as_deref().and_then(parent);
        let variable = env::var_os("KUBECONFIG").unwrap_or_default();
        let variable: Vec<PathBuf> = env::split_paths(&variable).filter_map(|file| parent(&file)).collect();
        let usual = directory::of_user("XDG_DATA_HOME", ".local/share");
        let candidates = named.into_iter().chain(variable).chain(usual);
        candidates
            .filter_map(|directory| std::path::absolute(directory).ok())
            .find(|directory| serves(directory, server))
            .map(Self)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.0
    }

    /// Whether it runs.
    pub(crate) fn answers(&self, within: Duration) -> bool {
        // It has an answer for any name.
        "capt".parse().is_ok_and(|name| ask(&self.0, &Request::Status { name }, within, |_| ()).is_ok())
    }

    /// The local clusters, by name.
    pub(crate) fn workloads(&self) -> anyhow::Result<Vec<WorkloadName>> {
        names_in(&self.0).with_context(|| format!("reading the local clusters of {}", self.0.display()))
    }

    /// Where the API server of a local cluster listens, if it has run.
    pub(crate) fn server(&self, name: &WorkloadName) -> Option<String> {
        let facts = self.0.join("workloads").join(name.as_str()).join("workload.json");
        let facts: serde_json::Value = serde_json::from_slice(&fs::read(facts).ok()?).ok()?;
        facts["server"].as_str().map(ToOwned::to_owned)
    }

    /// Stops a local cluster for a moment, and hands over its files piece by piece.
    pub(crate) fn copy(
        &self,
        name: &WorkloadName,
        printer: Printer,
        mut take: impl FnMut(FilePart) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        printer.message(&format!("local cluster {name} is stopped for a moment, so that its data is whole"));
        ask(&self.0, &Request::Copy { name: name.clone() }, PATIENCE, |_| ())?;
        let _passing = Passing(passing_directory(&self.0, name));
        let root = passing_directory(&self.0, name);
        for path in files(&root).with_context(|| format!("reading the copy of local cluster {name}"))? {
            let relative = path.strip_prefix(&root).ok().and_then(Path::to_str);
            let Some(relative) = relative else { bail!("{} has no name that can be kept", path.display()) };
            // It says of which backup this cluster was, not what is in it.
            if relative != MARK {
                pieces(&path, name, relative, &mut take)?;
            }
        }
        Ok(())
    }

    /// Whether a local cluster of this name was put back from this backup; an error where there is another one.
    pub(crate) fn has(&self, name: &WorkloadName, backup: &str) -> anyhow::Result<bool> {
        let directory = self.0.join("workloads").join(name.as_str());
        if !directory.exists() {
            return Ok(false);
        }
        let mark = fs::read_to_string(directory.join(MARK)).unwrap_or_default();
        if mark.trim() != backup {
            bail!(
                "there is a local cluster {name} in {} already, which is not of this backup: delete its Cluster first, or restore into an empty home",
                self.0.display()
            );
        }
        Ok(true)
    }

    /// A place for the files of a local cluster.
    pub(crate) fn receive(&self, name: &WorkloadName, backup: &str) -> anyhow::Result<Receiving<'_>> {
        let root = passing_directory(&self.0, name);
        let doing = || format!("making {}", root.display());
        match fs::remove_dir_all(&root) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(doing),
            _ => {}
        }
        private_directory(&root).with_context(doing)?;
        let receiving = Receiving { home: self, name: name.clone(), passing: Passing(root) };
        receiving.put(&FilePart {
            workload: name.to_string(),
            path: MARK.to_owned(),
            offset: 0,
            data: STANDARD.encode(backup),
        })?;
        Ok(receiving)
    }

    /// Waits until a local cluster that is there answers.
    pub(crate) fn start(&self, name: &WorkloadName) -> anyhow::Result<()> {
        match ask(&self.0, &Request::Status { name: name.clone() }, PATIENCE, |_| ())? {
            capt_local::workload::Answer::Status(Status::Ready(_)) => Ok(()),
            _ => ask(&self.0, &Request::Start { name: name.clone() }, PATIENCE, |_| ())
                .map(drop)
                .map_err(Into::into),
        }
    }
}

/// Whether the control plane of a directory has this address.
fn serves(directory: &Path, server: &str) -> bool {
    let Ok(kubeconfig) = Kubeconfig::read_from(directory.join("kubeconfig")) else { return false };
    let of_it = |cluster: &kube::config::NamedCluster| {
        let address = cluster.cluster.as_ref().and_then(|cluster| cluster.server.as_deref());
        address.is_some_and(|address| address.trim_end_matches('/') == server)
    };
    directory.join("workloads").is_dir() && kubeconfig.clusters.iter().any(of_it)
}

/// The files of a local cluster on their way in.
pub(crate) struct Receiving<'home> {
    home: &'home Home,
    name: WorkloadName,
    passing: Passing,
}

impl Receiving<'_> {
    pub(crate) fn name(&self) -> &WorkloadName {
        &self.name
    }

    /// Whether a piece is of this local cluster.
    pub(crate) fn is_for(&self, part: &FilePart) -> bool {
        part.workload == self.name.as_str()
    }

    /// Writes a piece of a file. Its path was looked at when the backup was read: it leads nowhere else.
    pub(crate) fn put(&self, part: &FilePart) -> anyhow::Result<()> {
        let path = self.passing.0.join(&part.path);
        let written = STANDARD.decode(&part.data).map_err(io::Error::other).and_then(|data| {
            private_directory(path.parent().unwrap_or(&self.passing.0))?;
            let mut file = File::options()
                .create(true)
                .append(false)
                .write(true)
                .truncate(false)
                .mode(0o600)
                .open(&path)?;
            file.seek(SeekFrom::Start(part.offset))?;
            file.write_all(&data)
        });
        written.with_context(|| format!("writing {}", path.display()))
    }

    /// Makes a local cluster of the files, and waits until it answers.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        ask(&self.home.0, &Request::Adopt { name: self.name.clone() }, PATIENCE, |_| ())?;
        Ok(())
    }
}

/// A directory that nobody needs any more when this is dropped.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// All files below a directory.
fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                left.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn pieces(
    path: &Path,
    name: &WorkloadName,
    relative: &str,
    take: &mut impl FnMut(FilePart) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let doing = || format!("reading {}", path.display());
    let mut file = File::open(path).with_context(doing)?;
    let mut offset = 0;
    loop {
        let mut piece = Vec::new();
        (&mut file).take(LONGEST_PART as u64).read_to_end(&mut piece).with_context(doing)?;
        // An empty file is a file too.
        if piece.is_empty() && offset > 0 {
            return Ok(());
        }
        let length = piece.len() as u64;
        take(FilePart {
            workload: name.to_string(),
            path: relative.to_owned(),
            offset,
            data: STANDARD.encode(&piece),
        })?;
        offset += length;
        if length == 0 {
            return Ok(());
        }
    }
}
