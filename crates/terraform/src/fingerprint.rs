//! Tells whether anything that goes into a run changed.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::binary::Version;
use crate::run::{Backend, Run, Source};

/// The digest of everything that decides what a run makes, the version of the binary included.
///
/// Not in it: the operation, the limits, how the state is locked, the kubeconfig that leads to it, values that are only
/// hidden, the lock file of the providers, where an earlier state has to be, and what is imported after an apply that died.
///
/// Two runs with the same fingerprint would do the same: where the first one succeeded, no process is needed for the
/// second. A directory or archive that the module comes from is read for it, which takes its
/// time, and fails when it cannot be.
pub fn fingerprint(run: &Run, version: &Version) -> io::Result<String> {
    let Run {
        identity,
        workspace,
        operation: _,
        source,
        entrypoint,
        files,
        variables,
        environment,
        arguments,
        backend,
        locking: _,
        limits: _,
        hidden: _,
        provider_lock: _,
        plugin_cache: _,
        earlier_state: _,
        imports: _,
    } = run;
    // Its kubeconfig holds a token that changes often and does not change what is done.
    let backend = match backend {
        Backend::Kubernetes { namespace, suffix, kubeconfig: _, declared: _ } => {
            json!(["kubernetes", namespace, suffix])
        }
        Backend::Local | Backend::Declared { .. } => json!(backend),
    };
    let module = match source {
        Source::Inline { .. } | Source::Remote { .. } => String::new(),
        Source::Directory { path } => tree(path)?,
        Source::Archive { path } => content_digest(&fs::read(path)?),
    };
    // The place of an unpacked module says nothing about what is in it.
    let source = match source {
        Source::Inline { .. } | Source::Remote { .. } => json!(source),
        Source::Directory { .. } | Source::Archive { .. } => json!(null),
    };
    Ok(digest(&json!([
        "2",
        identity,
        workspace,
        source,
        module,
        entrypoint,
        files,
        variables,
        environment,
        arguments,
        backend,
        version
    ])))
}

/// The digest of a JSON value. Keys of objects come in one order, since serde writes structs as they are declared.
pub(crate) fn digest(value: &serde_json::Value) -> String {
    content_digest(value.to_string().as_bytes())
}

/// The digest of a file's content.
pub(crate) fn content_digest(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content))
}

/// The digest of the files below a directory: names, content and whether they can be executed.
pub(crate) fn tree(directory: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    feed(directory, directory, &mut hasher)?;
    Ok(hexadecimal(&hasher.finalize()))
}

fn feed(root: &Path, directory: &Path, hasher: &mut Sha256) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type()?;
        if [".git", ".terraform"].iter().any(|skipped| entry.file_name() == *skipped) {
            continue;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_encoded_bytes();
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name);
        if kind.is_dir() {
            feed(root, &path, hasher)?;
        } else {
            let content = if kind.is_symlink() {
                fs::read_link(&path)?.as_os_str().as_encoded_bytes().to_vec()
            } else {
                fs::read(&path)?
            };
            hasher.update((content.len() as u64).to_le_bytes());
            hasher.update(content);
        }
    }
    Ok(())
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
