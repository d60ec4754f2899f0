//! What a release sets in its chart, with the expressions that it takes it from.

use hcl_edit::expr::{Array, Expression, FuncCall, Object, ObjectKey};
use hcl_edit::structure::{Block, Body};

use super::template;
use crate::migration::source::Source;

/// Objects in values are followed this deep.
const DEEPEST: usize = 16;

/// One value of a chart.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Where the chart has it.
    pub(super) path: Vec<String>,
    /// The text of the expression that gives it.
    pub(super) expression: String,
    /// The expressions that are in it.
    pub(super) parts: Vec<Expression>,
    /// Whether it must not be shown.
    pub(super) sensitive: bool,
}

/// What was read.
#[derive(Default)]
pub(super) struct Settings {
    /// In the order in which they win.
    pub(super) settings: Vec<Setting>,
    /// What could not be read, in words.
    pub(super) unread: Vec<String>,
}

/// Reads what a release sets. What is set one by one wins over whole values.
pub(super) fn read(source: &Source<'_>, release: &Block) -> Settings {
    let mut reader = Reader { source, result: Settings::default() };
    if let Some(values) = release.body.get_attribute("values") {
        reader.values(&values.value);
    }
    for key in ["set", "set_sensitive"] {
        let sensitive = key == "set_sensitive";
        if let Some(attribute) = release.body.get_attribute(key) {
            match &attribute.value {
                Expression::Array(list) => reader.list(list, sensitive),
                other => reader.unread(&format!("`{key}`"), other),
            }
        }
        for block in release.body.get_blocks(key) {
            reader.set(&block.body, sensitive);
        }
    }
    for dynamic in release.body.get_blocks("dynamic") {
        reader.dynamic(dynamic);
    }
    reader.result
}

struct Reader<'source> {
    source: &'source Source<'source>,
    result: Settings,
}

impl Reader<'_> {
    fn unread(&mut self, what: &str, node: &impl hcl_edit::Span) {
        let line = node.span().map_or(0, |span| self.source.line(span.start));
        self.result.unread.push(format!("{what} on line {line}"));
    }

    /// One value of which the text is in the module.
    fn add(&mut self, path: Vec<String>, expression: &Expression, sensitive: bool) {
        let Some(text) = self.source.slice(expression) else {
            return self.unread(&format!("the value at {}", path.join(".")), expression);
        };
        let (expression, parts) = (text.to_owned(), vec![expression.clone()]);
        self.result.settings.push(Setting { path, expression, parts, sensitive });
    }

    /// `set { name = … value = … }`
    fn set(&mut self, body: &Body, sensitive: bool) {
        let value = |key: &str| body.get_attribute(key).map(|attribute| &attribute.value);
        self.pair(value("name"), value("value"), sensitive, body);
    }

    fn pair(
        &mut self,
        name: Option<&Expression>,
        value: Option<&Expression>,
        sensitive: bool,
        node: &impl hcl_edit::Span,
    ) {
        match (name, value) {
            (Some(Expression::String(name)), Some(value)) => self.add(path(name.as_str()), value, sensitive),
            _ => self.unread("what is set", node),
        }
    }

    /// `set = [{ name = …, value = … }]`
    fn list(&mut self, list: &Array, sensitive: bool) {
        for entry in list {
            match entry {
                Expression::Object(entry) => {
                    self.pair(field(entry, "name"), field(entry, "value"), sensitive, entry);
                }
                other => self.unread("what is set", other),
            }
        }
    }

    /// `dynamic "set"` over what is written out there.
    fn dynamic(&mut self, dynamic: &Block) {
        let label = dynamic.labels.first().map(|label| label.as_str().to_owned()).unwrap_or_default();
        if label != "set" && label != "set_sensitive" {
            return;
        }
        let sensitive = label == "set_sensitive";
        let content = dynamic.body.get_blocks("content").next().map(|content| &content.body);
        let text = |key: &str| self.source.slice(&content?.get_attribute(key)?.value);
        let (by_key, by_value) = (format!("{label}.key"), format!("{label}.value"));
        let over = dynamic.body.get_attribute("for_each").map(|attribute| &attribute.value);
        match (over, text("name"), text("value")) {
            (Some(Expression::Object(over)), Some(name), Some(value))
                if name == by_key && value == by_value =>
            {
                for (key, value) in over {
                    match key_text(key) {
                        Some(key) => self.add(path(key), value.expr(), sensitive),
                        None => self.unread("what is set", value.expr()),
                    }
                }
            }
            (Some(Expression::Array(over)), Some(name), Some(value))
                if name == format!("{by_value}.name") && value == format!("{by_value}.value") =>
            {
                self.list(over, sensitive);
            }
            _ => self.unread(&format!("dynamic \"{label}\""), dynamic),
        }
    }

    /// `values = [yamlencode({…}), <<EOT …]`
    fn values(&mut self, values: &Expression) {
        let Expression::Array(documents) = values else { return self.unread("`values`", values) };
        for document in documents {
            let known = match document {
                Expression::FuncCall(call) => self.encoded(call),
                Expression::HeredocTemplate(heredoc) => self.text(&heredoc.template),
                Expression::StringTemplate(text) => self.text(text),
                Expression::String(text) => self.plain(text.as_str()),
                _ => None,
            };
            if known.is_none() {
                self.unread("an entry of `values`", document);
            }
        }
    }

    fn encoded(&mut self, call: &FuncCall) -> Option<()> {
        let is_known = call.name.namespace.is_empty()
            && matches!(call.name.name.as_str(), "yamlencode" | "jsonencode")
            && call.args.len() == 1;
        match call.args.get(0) {
            Some(Expression::Object(object)) if is_known => {
                self.object(object, &mut Vec::new());
                Some(())
            }
            _ => None,
        }
    }

    fn object(&mut self, object: &Object, path: &mut Vec<String>) {
        for (key, value) in object {
            let Some(key) = key_text(key) else { continue };
            path.push(key.to_owned());
            match value.expr() {
                Expression::Object(inner) if path.len() < DEEPEST => self.object(inner, path),
                leaf => self.add(path.clone(), leaf, false),
            }
            path.pop();
        }
    }

    fn text(&mut self, template: &hcl_edit::template::Template) -> Option<()> {
        self.result.settings.extend(template::read(self.source, template)?);
        Some(())
    }

    fn plain(&mut self, text: &str) -> Option<()> {
        self.result.settings.extend(template::read_plain(text)?);
        Some(())
    }
}

fn field<'object>(object: &'object Object, name: &str) -> Option<&'object Expression> {
    object.iter().find(|(key, _)| key_text(key) == Some(name)).map(|(_, value)| value.expr())
}

fn key_text(key: &ObjectKey) -> Option<&str> {
    match key {
        ObjectKey::Ident(name) | ObjectKey::Expression(Expression::Variable(name)) => Some(name.as_str()),
        ObjectKey::Expression(Expression::String(name)) => Some(name.as_str()),
        ObjectKey::Expression(_) => None,
    }
}

/// The parts of a path in which a dot that is no separator is escaped.
fn path(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, parts.last_mut()) {
            ('.', _) => parts.push(String::new()),
            ('\\', Some(part)) => part.extend(characters.next()),
            (character, Some(part)) => part.push(character),
            (_, None) => {}
        }
    }
    parts
}
