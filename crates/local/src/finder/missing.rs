//! Everything that was not found, told at once: who goes to get one part should not come back for the next.

use std::fmt::{self, Write as _};

use super::Attempt;
use crate::catalog::{Module, Part, module};
use crate::environment::Platform;

/// Parts that were not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    platform: Platform,
    parts: Vec<MissingPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct MissingPart {
    name: String,
    version: String,
    /// Where people get it.
    source: Option<String>,
    go: Option<&'static str>,
    /// None of a part that was not looked for.
    attempts: Vec<Attempt>,
}

impl std::error::Error for Missing {}

impl Missing {
    pub(super) fn new(platform: &Platform) -> Self {
        Self { platform: platform.clone(), parts: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn add(&mut self, part: &Part, attempts: Vec<Attempt>) {
        let source = part.download.as_ref().map(|download| part.fill(&download.url, &self.platform));
        let go = part.go.as_ref().and_then(|build| module(&build.module)).and_then(Module::go_version);
        let (name, version) = (part.name.clone(), part.version.clone());
        self.parts.push(MissingPart { name, version, source, go, attempts });
    }

    /// What was tried, each thing once, with the parts that it was tried for where it was not all of them.
    fn tried(&self) -> Vec<String> {
        let sought: Vec<&MissingPart> = self.parts.iter().filter(|part| !part.attempts.is_empty()).collect();
        let mut tried: Vec<(&Attempt, Vec<&str>)> = Vec::new();
        for part in &sought {
            for attempt in &part.attempts {
                match tried.iter_mut().find(|(other, _)| *other == attempt) {
                    Some((_, names)) => names.push(&part.name),
                    None => tried.push((attempt, vec![&part.name])),
                }
            }
        }
        // By step, in the order of the first that tells of it.
        let mut lines: Vec<(&str, String)> = Vec::new();
        for (attempt, names) in tried {
            let whose =
                if names.len() == sought.len() { String::new() } else { format!("{}: ", names.join(", ")) };
            let line = format!("{}: {whose}{}", attempt.step, attempt.reason.replace('\n', "\n    "));
            let place = lines.iter().rposition(|(step, _)| *step == attempt.step);
            lines.insert(place.map_or(lines.len(), |place| place + 1), (&attempt.step, line));
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }

    fn go_version(&self) -> Option<&'static str> {
        let numbers = |version: &&'static str| -> Vec<u32> {
            version.split('.').map(|number| number.parse().unwrap_or_default()).collect()
        };
        self.parts.iter().filter_map(|part| part.go).max_by_key(numbers)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.parts.len() {
            1 => "a program is missing on this machine, and could be neither downloaded nor built".to_owned(),
            count => format!(
                "{count} programs are missing on this machine, and could be neither downloaded nor built"
            ),
        };
        let mut text = format!("{what}\n\nWhat was tried:\n");
        for line in self.tried() {
            let _ = writeln!(text, "  {line}");
        }
        text.push_str("\nWhat helps, one of these:\n");
        if let Some(version) = self.go_version() {
            let _ =
                writeln!(text, "  - Go {version} or newer in PATH: they are built then, which takes minutes");
        }
        let _ = write!(
            text,
            "  - a way to the hosts above; a proxy is named by HTTPS_PROXY\n  \
             - these files for {} in a directory that CAPT_ASSETS names:",
            self.platform
        );
        let width = |texts: fn(&MissingPart) -> &String| {
            self.parts.iter().map(|part| texts(part).len()).max().unwrap_or_default()
        };
        let (names, versions) = (width(|part| &part.name), width(|part| &part.version));
        for part in &self.parts {
            let MissingPart { name, version, source, .. } = part;
            let source = source.as_deref().unwrap_or_default();
            let line = format!("      {name:names$}  {version:versions$}  {source}");
            let _ = write!(text, "\n{}", line.trim_end());
        }
        formatter.write_str(&text)
    }
}
