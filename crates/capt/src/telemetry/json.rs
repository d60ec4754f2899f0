//! Log lines for programs: one JSON object each.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};
use tracing::{Event, Subscriber};
use tracing_subscriber::field::VisitOutput;
use tracing_subscriber::fmt::format::{JsonVisitor, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormattedFields};
use tracing_subscriber::registry::{LookupSpan, Scope, SpanRef};

use super::fields::{JsonFields, Sentences};

/// One JSON object for each line, with the fields beside time, level and target.
pub(super) struct JsonLine;

#[derive(Serialize)]
struct Line<'event> {
    timestamp: &'event str,
    level: &'event str,
    #[serde(flatten)]
    fields: Map<String, Value>,
    target: &'event str,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spans: Vec<Value>,
}

impl<S> FormatEvent<S, JsonFields> for JsonLine
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut timestamp = String::new();
        SystemTime.format_time(&mut Writer::new(&mut timestamp))?;
        let scope = context.event_scope().into_iter().flat_map(Scope::from_root);
        let spans: Vec<Value> = scope.map(|span| described(&span)).collect();
        let line = Line {
            timestamp: &timestamp,
            level: event.metadata().level().as_str(),
            fields: fields(event)?,
            target: event.metadata().target(),
            span: spans.last().cloned(),
            spans,
        };
        writeln!(writer, "{}", serde_json::to_string(&line).map_err(|_| fmt::Error)?)
    }
}

fn fields(event: &Event<'_>) -> Result<Map<String, Value>, fmt::Error> {
    let mut text = String::new();
    let mut visitor = Sentences(JsonVisitor::new(&mut text));
    event.record(&mut visitor);
    visitor.0.finish()?;
    serde_json::from_str(&text).map_err(|_| fmt::Error)
}

/// The name of a span, and its fields.
fn described<S>(span: &SpanRef<'_, S>) -> Value
where
    S: for<'lookup> LookupSpan<'lookup>,
{
    let extensions = span.extensions();
    let fields = extensions.get::<FormattedFields<JsonFields>>().map(|fields| fields.fields.as_str());
    let fields = fields.and_then(|text| serde_json::from_str(text).ok());
    let mut described: Map<String, Value> = fields.unwrap_or_default();
    described.insert("name".to_owned(), span.name().into());
    described.into()
}
