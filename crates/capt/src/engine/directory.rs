//! Where Terraform works when nobody says.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{Access, access};

use crate::directory;

/// Where a pod has a volume for it.
const VOLUME: &str = "/var/lib/capt";

/// In a pod the volume, if there is one; else a directory of the user's, one for each cluster: whoever runs the Workspaces of
/// one cluster clears away the working directories that it does not know.
pub(crate) fn default(server: &str) -> anyhow::Result<PathBuf> {
    let volume = Path::new(VOLUME);
    if in_a_pod() && is_usable(volume) {
        return Ok(volume.to_owned());
    }
    let state = directory::of_user("XDG_STATE_HOME", ".local/state").context(
        "neither XDG_STATE_HOME nor HOME is set: say where working directories go with --terraform-directory DIR",
    )?;
    Ok(state.join(file_name(server)))
}

/// Whether this process runs in a pod.
pub(crate) fn in_a_pod() -> bool {
    env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

fn is_usable(directory: &Path) -> bool {
    fs::create_dir_all(directory).is_ok() && access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// The address of a server as the name of a file.
fn file_name(server: &str) -> String {
    let address = server.split_once("://").map_or(server, |(_, address)| address);
    let legal = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    address.chars().map(legal).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::address("https://127.0.0.1:6443", "127.0.0.1-6443")]
    #[case::six("https://[::1]:6443", "---1--6443")]
    #[case::one_of_many_at_one_address("https://example.com/k8s/clusters/a", "example.com-k8s-clusters-a")]
    fn every_cluster_has_a_directory_of_its_own(#[case] server: &str, #[case] name: &str) {
        assert_eq!(file_name(server), name);
    }
}
