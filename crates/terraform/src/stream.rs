//! Reads the `-json` stream of a command and folds it into what people want to know.
//!
//! Every text passes the redactor here; nothing else looks at the raw lines.

mod tail;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::calls::{self, Calls};
use crate::diagnostic::{Diagnostic, Severity};
use crate::redact::Redactor;

pub(crate) use tail::Tail;

/// How far an apply is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Steps that are finished.
    pub done: u64,
    /// Steps that the plan takes: one for each resource, two for one that is replaced.
    pub total: u64,
    /// What is being worked on, oldest first.
    pub current: Vec<Activity>,
}

/// A resource that is being worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// The address of the resource.
    pub address: String,
    /// For example `create`.
    pub action: String,
    /// When it began.
    pub since: Timestamp,
}

/// What one line told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Told {
    /// For people, without secrets.
    pub(crate) line: Option<String>,
    /// Whether [`Progress`] is another now.
    pub(crate) progressed: bool,
    /// Whether [`Calls`] are others now.
    pub(crate) called: bool,
}

/// Everything a stream told so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fold {
    pub(crate) progress: Progress,
    /// Without secrets only as [`Fold::calls`].
    raw_calls: Calls,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Terraform said that the apply is complete.
    pub(crate) completed: bool,
}

impl Fold {
    pub(crate) fn starting(total: u64) -> Self {
        Self { progress: Progress { total, ..Progress::default() }, ..Self::default() }
    }

    /// Takes one line in. A line that is not JSON (a plugin's, a panic's) is passed on as it is, redacted.
    pub(crate) fn take(&mut self, line: &str, redactor: &Redactor) -> Told {
        let Ok(message) = serde_json::from_str::<Message>(line) else {
            return Told { line: Some(redactor.redact(line)), ..Told::default() };
        };
        let before = self.progress.clone();
        let called = self.call(&message);
        match (message.kind.as_str(), &message.hook) {
            ("apply_start", Some(hook)) => self.began(hook, message.timestamp, redactor),
            ("apply_complete", Some(hook)) => self.ended(hook, redactor, 1),
            ("apply_errored", Some(hook)) => self.ended(hook, redactor, 0),
            ("change_summary", _) if message.changes.as_ref().is_some_and(|it| it.operation != "plan") => {
                self.completed = true;
            }
            ("diagnostic", _) => {
                if let Some(told) = message.diagnostic.map(|it| it.typed().redacted(redactor)) {
                    // The message alone does not say what is wrong, nor where.
                    let line = format!("{}: {told}", told.severity);
                    self.diagnostics.push(told);
                    return Told { line: Some(line), ..Told::default() };
                }
            }
            _ => {}
        }
        Told { line: Some(redactor.redact(&message.text)), progressed: self.progress != before, called }
    }

    /// What was begun and finished, without secrets.
    pub(crate) fn calls(&self, redactor: &Redactor) -> Calls {
        self.raw_calls.clone().redacted(redactor)
    }

    /// Whether the command came to its own end, and so has stored its state or left it in a file: it reports its errors after
    /// that.
    pub(crate) fn has_ended_by_itself(&self) -> bool {
        let failed = self.diagnostics.iter().any(|told| told.severity == Severity::Error);
        self.completed || (failed && self.raw_calls.begun.iter().all(|call| call.failed))
    }

    /// Takes in what a message says of calls; whether it says anything of them.
    fn call(&mut self, message: &Message) -> bool {
        let Some(hook) = &message.hook else { return false };
        let at = message.timestamp.unwrap_or_default();
        let call = calls::Hook {
            address: &hook.resource.addr,
            resource_type: &hook.resource.resource_type,
            action: &hook.action,
            id_key: hook.id_key.as_deref(),
            id_value: hook.id_value.as_deref(),
        };
        match message.kind.as_str() {
            "apply_start" => self.raw_calls.begin(&call, at),
            "apply_complete" => self.raw_calls.finish(&call, at),
            "apply_errored" => self.raw_calls.fail(&call),
            _ => return false,
        }
        true
    }

    fn began(&mut self, hook: &Hook, since: Option<Timestamp>, redactor: &Redactor) {
        self.progress.current.push(Activity {
            address: redactor.redact(&hook.resource.addr),
            action: hook.action.clone(),
            since: since.unwrap_or_default(),
        });
    }

    fn ended(&mut self, hook: &Hook, redactor: &Redactor, done: u64) {
        let address = redactor.redact(&hook.resource.addr);
        if let Some(index) = self.progress.current.iter().position(|activity| activity.address == address) {
            self.progress.current.remove(index);
            self.progress.done += done;
        }
    }
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(rename = "@message", default)]
    text: String,
    #[serde(rename = "@timestamp", default)]
    timestamp: Option<Timestamp>,
    #[serde(default)]
    hook: Option<Hook>,
    #[serde(default)]
    changes: Option<Changes>,
    #[serde(default)]
    diagnostic: Option<RawDiagnostic>,
}

#[derive(Deserialize)]
struct Hook {
    resource: Resource,
    #[serde(default)]
    action: String,
    #[serde(default)]
    id_key: Option<String>,
    #[serde(default)]
    id_value: Option<String>,
}

#[derive(Deserialize)]
struct Resource {
    addr: String,
    #[serde(default)]
    resource_type: String,
}

#[derive(Deserialize)]
struct Changes {
    operation: String,
}

#[derive(Deserialize)]
struct RawDiagnostic {
    #[serde(flatten)]
    told: Diagnostic,
    #[serde(default)]
    range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    filename: String,
    start: Position,
}

#[derive(Deserialize)]
struct Position {
    line: u64,
}

impl RawDiagnostic {
    fn typed(self) -> Diagnostic {
        let (file, line) = self.range.map(|range| (range.filename, range.start.line)).unzip();
        Diagnostic { file, line, ..self.told }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(kind: &str, address: &str) -> String {
        format!(
            r#"{{"@message":"{address}: hunter22","@timestamp":"2026-11-15T23:13:32.711901Z","hook":{{"resource":{{"addr":"{address}"}},"action":"create"}},"type":"{kind}"}}"#
        )
    }

    #[test]
    fn applies_are_counted_and_what_is_being_made_is_named() {
        let redactor = Redactor::new([b"hunter22".to_vec()]);
        let mut fold = Fold::starting(2);

        assert!(fold.take(&hook("apply_start", "a.b"), &redactor).progressed);
        assert!(fold.take(&hook("apply_start", "a.c"), &redactor).progressed);
        let told = fold.take(&hook("apply_complete", "a.b"), &redactor);

        assert_eq!(told.line.as_deref(), Some("a.b: (sensitive value)"));
        assert_eq!((fold.progress.done, fold.progress.total), (1, 2));
        assert_eq!(fold.progress.current[0].address, "a.c");
        assert_eq!(fold.progress.current[0].since.to_string(), "2026-11-15T23:13:32.711901Z");
    }

    #[test]
    fn a_diagnostic_keeps_file_and_line_and_drops_the_source() {
        let mut fold = Fold::default();
        let told = fold.take(
            r#"{"@message":"Error: Bad","type":"diagnostic","diagnostic":{"severity":"error","summary":"Bad","detail":"Very.","range":{"filename":"main.tf","start":{"line":7}},"snippet":{"code":"x = \"hunter22\""}}}"#,
            &Redactor::default(),
        );

        assert_eq!(fold.diagnostics[0].to_string(), "Bad (main.tf line 7): Very.");
        assert_eq!(told.line.as_deref(), Some("Error: Bad (main.tf line 7): Very."));
        assert!(!format!("{fold:?}").contains("hunter22"));
    }

    #[test]
    fn a_line_that_is_no_json_is_passed_on_redacted() {
        let told = Fold::default().take("panic: hunter22", &Redactor::new([b"hunter22".to_vec()]));

        assert_eq!(told.line.as_deref(), Some("panic: (sensitive value)"));
    }

    /// A message of a call; a quote in the address is escaped as JSON has it.
    fn call(kind: &str, address: &str, action: &str, id: Option<&str>) -> String {
        let mut hook =
            serde_json::json!({ "resource": { "addr": address, "resource_type": "a" }, "action": action });
        if let Some(id) = id {
            hook["id_key"] = "id".into();
            hook["id_value"] = id.into();
        }
        serde_json::json!({
            "@message": "", "@timestamp": "2026-11-15T23:13:32.711901Z", "type": kind, "hook": hook,
        })
        .to_string()
    }

    fn begun_and_finished(lines: &[String]) -> (Vec<String>, Vec<String>) {
        let mut fold = Fold::default();
        for line in lines {
            fold.take(line, &Redactor::default());
        }
        let calls = fold.calls(&Redactor::default());
        let begun =
            calls.begun.iter().map(|call| format!("{} {} {}", call.action, call.address, call.failed));
        let finished = calls.finished.iter().map(|call| {
            format!("{} {} {}", call.action, call.address, call.id_value.as_deref().unwrap_or("-"))
        });
        (begun.collect(), finished.collect())
    }

    #[rstest::rstest]
    #[case::in_flight(vec![call("apply_start", "a.b", "create", None)], &["create a.b false"], &[])]
    #[case::made(
        vec![call("apply_start", "a.b", "create", None), call("apply_complete", "a.b", "create", Some("\"${x}\""))],
        &[], &["create a.b \"${x}\""],
    )]
    #[case::failed(
        vec![call("apply_start", "a.b", "create", None), call("apply_errored", "a.b", "create", None)],
        &["create a.b true"], &[],
    )]
    #[case::replaced_in_part(
        vec![
            call("apply_start", "a.b", "delete", Some("1")), call("apply_complete", "a.b", "delete", None),
            call("apply_start", "a.b", "create", None),
        ],
        &["create a.b false"], &["delete a.b 1"],
    )]
    #[case::made_before_the_other_is_deleted(
        vec![
            call("apply_start", "a.b", "create", None), call("apply_complete", "a.b", "create", Some("2")),
            call("apply_start", "a.b", "delete", Some("1")),
        ],
        &["delete a.b false"], &["create a.b 2"],
    )]
    #[case::in_a_module(
        vec![call("apply_start", r#"module.m["a \"b\" $${x}"].a.b[0]"#, "update", None)],
        &[r#"update module.m["a \"b\" $${x}"].a.b[0] false"#], &[],
    )]
    #[case::only_read(vec![call("apply_start", "data.a.b", "read", None)], &[], &[])]
    #[case::half_a_line(
        vec![call("apply_start", "a.b", "create", None), call("apply_complete", "a.b", "create", Some("1"))[..90].to_owned()],
        &["create a.b false"], &[],
    )]
    #[case::no_json(vec!["panic: oops".to_owned(), "[]".to_owned(), String::new()], &[], &[])]
    #[case::an_end_without_a_beginning(vec![call("apply_complete", "a.b", "create", Some("1"))], &[], &["create a.b 1"])]
    #[case::a_hook_without_a_resource(vec![r#"{"type":"apply_start","hook":{"action":"create"}}"#.to_owned()], &[], &[])]
    fn calls_are_begun_until_their_success_is_reported(
        #[case] lines: Vec<String>,
        #[case] begun: &[&str],
        #[case] finished: &[&str],
    ) {
        let (seen_begun, seen_finished) = begun_and_finished(&lines);
        assert_eq!(
            (seen_begun, seen_finished),
            (
                begun.iter().map(|it| (*it).to_owned()).collect(),
                finished.iter().map(|it| (*it).to_owned()).collect()
            )
        );
    }
}
