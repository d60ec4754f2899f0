//! Where the cluster keeps its data when the user does not say.

use std::env;
use std::path::PathBuf;

use anyhow::Context;

/// `$XDG_DATA_HOME/capt`, or `~/.local/share/capt`.
pub(super) fn default() -> anyhow::Result<PathBuf> {
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let data = variable("XDG_DATA_HOME").or_else(|| Some(variable("HOME")?.join(".local/share")));
    let data =
        data.context("neither XDG_DATA_HOME nor HOME is set: say where the data goes with --dir DIR")?;
    Ok(data.join("capt"))
}
