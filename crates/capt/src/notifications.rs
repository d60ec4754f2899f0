//! Who is told of failed and recovered add-ons, as the command line asks for it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, ensure};
use capt_controller::options::Notifications;

use crate::cli::WebhookArguments;

/// More is no key but some other file.
const LONGEST_KEY: u64 = 4096;

/// Reads the key, where there is one.
pub(crate) fn read(arguments: &WebhookArguments) -> anyhow::Result<Option<Notifications>> {
    let Some(webhook) = arguments.url.clone() else { return Ok(None) };
    let key = arguments.key_file.as_deref().map(key).transpose().context("--addon-webhook-key-file")?;
    Ok(Some(Notifications { webhook, key: key.map(Into::into) }))
}

fn key(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST_KEY + 1).read_to_end(&mut content));
    read.with_context(|| format!("reading {shown}"))?;
    ensure!(content.len() as u64 <= LONGEST_KEY, "{shown} has more than {LONGEST_KEY} bytes: it is no key");
    let Ok(content) = String::from_utf8(content) else {
        anyhow::bail!(
            "{shown} is not text: write a key of letters and digits, for example by `openssl rand -hex 32`"
        )
    };
    let key = content.trim_end_matches(['\r', '\n']);
    ensure!(!key.is_empty(), "{shown} is empty: write a key into it, for example by `openssl rand -hex 32`");
    Ok(key.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rstest::rstest;

    use super::*;

    fn key_in(content: &[u8]) -> anyhow::Result<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        fs::write(&path, content).unwrap();
        key(&path)
    }

    #[rstest]
    #[case::nothing(b"", "is empty")]
    #[case::only_line_breaks(b"\r\n\n", "is empty")]
    #[case::no_text(b"\xff\xfe", "is not text")]
    #[case::too_much(&[b'x'; 4097], "has more than 4096 bytes")]
    fn a_file_that_holds_no_key_is_told(#[case] content: &[u8], #[case] complaint: &str) {
        let told = key_in(content).unwrap_err().to_string();
        assert!(told.contains(complaint), "{told}");
    }

    #[rstest]
    #[case::without_a_line_break(b"hunter2")]
    #[case::with_one(b"hunter2\n")]
    #[case::with_one_of_windows(b"hunter2\r\n")]
    fn the_line_break_at_the_end_is_not_part_of_the_key(#[case] content: &[u8]) {
        assert_eq!(key_in(content).unwrap(), "hunter2");
    }
}
