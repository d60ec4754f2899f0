//! The kubeconfig of the person: found, locked, and written whole or not at all.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use capt_core::kubeconfig::merge::{LARGEST, Merged, Wish, merge};
use capt_local::private;
use secrecy::ExposeSecret as _;
use tokio::time::{Instant, sleep};

/// How long another program may work on the file.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// The file that is meant: the given one, the first of the variable `KUBECONFIG`, or that of the user.
pub(super) fn path(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let listed = || {
        let value = env::var_os("KUBECONFIG")?;
        env::split_paths(&value).find(|path| path != Path::new(""))
    };
    let of_user = || Some(PathBuf::from(env::var_os("HOME")?).join(".kube/config"));
    given
        .or_else(listed)
        .or_else(of_user)
        .context("there is no HOME to look for .kube/config in: name a file with --file")
}

/// Puts the cluster into the file, and answers whether that changed it.
pub(super) async fn change(path: &Path, wish: Wish<'_>) -> anyhow::Result<bool> {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    if let Some(directory) = directory
        && !directory.exists()
    {
        private::directory(directory)
            .with_context(|| format!("making the directory {}", directory.display()))?;
    }
    let lock = Lock::take(path).await?;
    let changed = replace(path, wish);
    drop(lock);
    changed
}

fn replace(path: &Path, wish: Wish<'_>) -> anyhow::Result<bool> {
    let existing = read(path)?;
    let merged = merge(existing.as_deref(), wish);
    match merged.with_context(|| format!("merging into the kubeconfig {}", path.display()))? {
        Merged::Unchanged => Ok(false),
        Merged::Changed(text) => {
            let target =
                behind_links(path).with_context(|| format!("following the link {}", path.display()))?;
            let written = private::write(&target, text.expose_secret());
            written.with_context(|| format!("writing the kubeconfig {}", target.display()))?;
            Ok(true)
        }
    }
}

/// What is in the file; nothing where there is none.
fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let doing = || format!("reading the kubeconfig {}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(doing),
    };
    let mut text = String::new();
    // One more than is taken, so that it is seen to be too large.
    let most = u64::try_from(LARGEST).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_string(&mut text).with_context(doing)?;
    Ok(Some(text))
}

/// The file itself where the path is a link, also one to a file that is not there yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Ok(path.parent().unwrap_or(Path::new("")).join(target)),
            Err(_) => std::path::absolute(path),
        },
        found => found,
    }
}

/// Keeps others away from the file as kubectl does: by a file beside it.
struct Lock(PathBuf);

impl Lock {
    async fn take(path: &Path) -> anyhow::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = PathBuf::from(name);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match File::create_new(&lock) {
                Ok(_) => return Ok(Self(lock)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if Instant::now() >= deadline {
                        bail!(
                            "another program works on {}: {} is there; if none does, remove that file",
                            path.display(),
                            lock.display()
                        );
                    }
                }
                Err(error) => return Err(error).with_context(|| format!("making {}", lock.display())),
            }
            sleep(PAUSE).await;
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Whoever comes next is told of a lock that stays.
        let _ = fs::remove_file(&self.0);
    }
}
