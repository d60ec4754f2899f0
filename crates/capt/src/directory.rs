//! Directories of the user, where nothing else is said.

use std::env;
use std::path::PathBuf;

/// `capt` in the directory that the variable names, or else in this one below the user's home.
///
/// Relative paths are passed over, as the specification of these variables has it.
pub(crate) fn of_user(name: &str, below_home: &str) -> Option<PathBuf> {
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let directory = variable(name).or_else(|| Some(variable("HOME")?.join(below_home)))?;
    Some(directory.join("capt"))
}
