//! From the text of one document to a tree.

use serde_json::Value;
use serde_saphyr::{Error, UserMessageFormatter};

use super::problem::{Problem, Shown};

/// Reads one document of YAML or JSON; an empty one is null. The error has the line in the text, counted from 1.
///
/// Values are read as Kubernetes reads them, which speaks YAML 1.1: `yes` is true and `0644` is octal.
pub(super) fn read(text: &str, visible: bool) -> Result<Value, (Option<usize>, Problem)> {
    let options = serde_saphyr::options! {
        // Aliases can make much of little. What they add stays in proportion to what somebody had to write.
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            // So that it is the depth that is told of.
            flow_nesting_limit: DEEPEST * 2,
            max_nodes: 1_000 + text.len() / 2,
            max_total_scalar_bytes: 1_000 + text.len() * 4,
            max_recorded_anchor_events: 100_000,
        },
        legacy_octal_numbers: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).or_else(|error| {
        let (line, problem) = told(&error, text, visible);
        match problem {
            // JSON may have tabs where YAML must not.
            Problem::NotYaml { .. } => {
                serde_json::from_str(text.trim_start_matches("---")).map_err(|_| (line, problem))
            }
            _ => Err((line, problem)),
        }
    })
}

/// How deep lists and mappings may be in each other. The deepest CRDs need two thirds of it, and the reader needs some
/// stack for each.
const DEEPEST: usize = 50;

fn told(error: &Error, text: &str, visible: bool) -> (Option<usize>, Problem) {
    let line = error.location().and_then(|location| usize::try_from(location.line()).ok());
    let line = line.filter(|line| *line > 0);
    let mut innermost = error;
    while let Error::AliasError { error, .. } | Error::WithSnippet { error, .. } = innermost {
        innermost = error;
    }
    let problem = match innermost {
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => Problem::TooComplex,
        Error::DuplicateMappingKey { key, .. } => {
            Problem::DuplicateKey { key: Shown::of(key.as_deref(), visible) }
        }
        other => {
            let excerpt = line.and_then(|line| text.lines().nth(line - 1)).map(str::trim);
            let words = other.render_with_formatter(&UserMessageFormatter);
            // It has its own count of lines.
            let detail = words.split(" at line ").next();
            Problem::NotYaml { excerpt: Shown::of(excerpt, visible), detail: Shown::of(detail, visible) }
        }
    };
    (line, problem)
}
