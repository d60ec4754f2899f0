//! How a person runs this program again.

use std::env;
use std::path::{Path, PathBuf};

/// The text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:@%,".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// What has to be typed to run this program, in any directory: its name where that finds it, else its path.
pub(crate) fn name() -> String {
    let program = env::current_exe().unwrap_or_else(|_| PathBuf::from("capt"));
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if in_path(&name).is_some_and(|found| same(&found, &program)) {
        return quoted(&name);
    }
    quoted(&program.display().to_string())
}

/// The program of this name that a shell would run.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(name)).find(|candidate| candidate.is_file())
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_path_stays_one_word_of_a_shell() {
        assert_eq!(quoted("/home/me/.local/share/capt/kubeconfig"), "/home/me/.local/share/capt/kubeconfig");
        assert_eq!(quoted("/my files/it's"), r"'/my files/it'\''s'");
    }
}
