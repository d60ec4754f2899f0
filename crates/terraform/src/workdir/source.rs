//! Makes a module's directory from what is at hand.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;

use crate::error::Error;
use crate::private;
use crate::run::{Format, Source};

/// Fills an empty directory.
pub(super) fn unpack(source: &Source, target: &Path) -> Result<(), Error> {
    match source {
        Source::Inline { format, content } => {
            let name = match format {
                Format::Hcl => "main.tf",
                Format::Json => "main.tf.json",
            };
            private::put(&target.join(name), content.expose()).map_err(Error::file(target))
        }
        Source::Directory { path } => copy(path, path, target).map_err(Error::file(path)),
        // Entries that would land outside are left out by `unpack`.
        Source::Archive { path } => File::open(path)
            .and_then(|file| {
                let mut archive = tar::Archive::new(GzDecoder::new(file));
                archive.set_mask(0o077);
                archive.unpack(target)
            })
            .map_err(Error::file(path)),
        // Terraform fetches it itself.
        Source::Remote { .. } => Ok(()),
    }
}

fn copy(root: &Path, from: &Path, to: &Path) -> io::Result<()> {
    private::directory(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy(root, &path, &target)?;
        } else if kind.is_symlink() {
            let link = fs::read_link(&path)?;
            if !stays_inside(root, from, &link) {
                return Err(io::Error::other(format!(
                    "the link `{}` leads out of the module",
                    path.display()
                )));
            }
            std::os::unix::fs::symlink(link, target)?;
        } else if kind.is_file() {
            fs::copy(&path, &target)?;
            let mode = entry.metadata()?.permissions().mode() & 0o700;
            fs::set_permissions(target, Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

/// Whether a link in a directory ends below the root, going by names alone.
fn stays_inside(root: &Path, directory: &Path, link: &Path) -> bool {
    let mut place: PathBuf = directory.strip_prefix(root).unwrap_or(directory).to_owned();
    link.components().all(|part| match part {
        Component::Normal(name) => {
            place.push(name);
            true
        }
        Component::CurDir => true,
        Component::ParentDir => place.pop(),
        Component::RootDir | Component::Prefix(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("../shared", true)]
    #[case("../../secrets", false)]
    #[case("/etc/passwd", false)]
    #[case("x/../../y", true)]
    fn links_may_not_lead_out_of_the_module(#[case] link: &str, #[case] inside: bool) {
        assert_eq!(stays_inside(Path::new("/m"), Path::new("/m/network"), Path::new(link)), inside);
    }
}
