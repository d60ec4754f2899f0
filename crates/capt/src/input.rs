//! Files that a person names, standard input among them.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// How standard input is written among files.
const STANDARD_INPUT: &str = "-";

/// Whether standard input is meant.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// What it is called in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Its content, and no more of it than this many bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    if is_standard(path) {
        io::stdin().lock().take(most).read_to_end(&mut content)?;
    } else {
        File::open(path)?.take(most).read_to_end(&mut content)?;
    }
    Ok(content)
}
