//! Errors in log lines: the error and its causes in one sentence, each once.
//!
//! What the client prints of an answer of the API server holds the whole answer in the form for programmers, so no error is
//! printed by its own words alone.

use std::error::Error;
use std::fmt;

use capt_core::cause::sentence;
use tracing::field::{Field, Visit};
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultVisitor, JsonVisitor, Writer};

/// Fields as people read them.
pub(super) struct PlainFields;

impl<'writer> FormatFields<'writer> for PlainFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = Sentences(DefaultVisitor::new(writer, true));
        fields.record(&mut visitor);
        visitor.0.finish()
    }
}

/// Fields of spans as programs read them.
pub(super) struct JsonFields;

impl<'writer> FormatFields<'writer> for JsonFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = Sentences(JsonVisitor::new(&mut writer));
        fields.record(&mut visitor);
        visitor.0.finish()
    }
}

/// Hands everything on, errors as sentences.
pub(super) struct Sentences<V>(pub(super) V);

impl<V: Visit> Visit for Sentences<V> {
    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.0.record_str(field, &sentence(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.record_debug(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.record_str(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.record_bool(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.record_i64(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.record_u64(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.record_f64(field, value);
    }
}
