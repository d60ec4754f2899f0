//! What a program of others answers, within a time.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use capt_testkit::home::wait;
use serde_json::Value;

/// What it said.
pub(crate) struct Answer {
    pub(super) question: String,
    pub(super) succeeded: bool,
    pub(super) data: String,
    pub(super) messages: String,
}

impl Answer {
    /// What it said must have all of these.
    pub(super) fn names(&self, texts: &[&str]) -> anyhow::Result<()> {
        let said = format!("{}{}", self.data, self.messages);
        for text in texts {
            ensure!(said.contains(text), "{} does not say `{text}`:\n{said}", self.question);
        }
        Ok(())
    }

    /// The objects that it printed.
    pub(super) fn objects(&self) -> anyhow::Result<Vec<Value>> {
        let objects = serde_saphyr::from_multiple(&self.data);
        objects.with_context(|| format!("reading what {} printed", self.question))
    }
}

/// Runs a command, and kills it after this time: then there is no answer.
pub(super) fn finish(
    mut command: Command,
    question: String,
    within: Duration,
) -> anyhow::Result<Option<Answer>> {
    let (data, messages) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdout(data.try_clone()?).stderr(messages.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("starting {question}"))?;
    let Ok(status) = wait(&mut child, within) else {
        // Both fail when it has ended already.
        let _ = child.kill();
        let _ = child.wait();
        println!("{question} was killed after {within:?}:\n{}", text(messages)?);
        return Ok(None);
    };
    let (data, messages) = (text(data)?, text(messages)?);
    Ok(Some(Answer { question, succeeded: status.success(), data, messages }))
}

fn text(mut file: File) -> anyhow::Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}
