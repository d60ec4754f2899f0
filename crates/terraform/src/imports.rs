//! Objects that were made and that the state does not hold: a plan takes them in by `import` blocks.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Severity};

/// The file with the blocks, beside the module. Its name comes after that of the backend.
pub(crate) const FILE: &str = "zz_capt_imports.tf";

/// How many lines a block has.
const LINES: u64 = 4;

/// An object that is to be taken into the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The address that it gets.
    pub address: String,
    /// What the provider knows it by; nothing where that is not known.
    pub id: String,
    /// Objects of the same address that were deleted, and that the state may still hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<String>,
}

/// An import that a plan failed of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedImport {
    /// The address of the resource.
    pub address: String,
    /// What the tool says, without secrets.
    pub why: String,
}

/// The file with one block for each import.
pub(crate) fn file(imports: &[Import]) -> String {
    imports.iter().fold(String::new(), |mut text, Import { address, id, replaces: _ }| {
        // An address that is none could say anything: its block stays empty, so that the lines of the others are as they were.
        if is_address(address) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "import {{\n  to = {address}\n  id = {}\n}}", quoted(id));
        } else {
            text.push_str(&"\n".repeat(usize::try_from(LINES).unwrap_or_default()));
        }
        text
    })
}

/// The imports that these diagnostics are about.
pub fn failed_imports(imports: &[Import], diagnostics: &[Diagnostic]) -> Vec<FailedImport> {
    let errors: Vec<&Diagnostic> =
        diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    let about = |index: usize, import: &Import| {
        let found = errors.iter().find(|error| {
            let line = error.line.filter(|_| error.file.as_deref() == Some(FILE));
            let here = line.is_some_and(|line| line.saturating_sub(1) / LINES == index as u64);
            here || error.address.as_deref() == Some(&import.address)
                || is_named(&error.summary, &import.address)
                || is_named(&error.detail, &import.address)
        });
        found.map(|error| FailedImport { address: import.address.clone(), why: error.to_string() })
    };
    imports.iter().enumerate().filter_map(|(index, import)| about(index, import)).collect()
}

/// Whether a text names exactly this address: `a.b` is not named by `a.bc`, `a.b[0]` or `module.m.a.b`.
fn is_named(text: &str, address: &str) -> bool {
    text.match_indices(address).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + address.len()..].chars();
        let is_part = |char: char| char.is_alphanumeric() || ['_', '-'].contains(&char);
        let ends = match (after.next(), after.next()) {
            (Some('['), _) => false,
            // A full stop ends a sentence; otherwise an attribute follows.
            (Some('.'), Some(next)) | (Some(next), _) => !is_part(next),
            (None, _) => true,
        };
        before.is_none_or(|char| !is_part(char) && char != '.') && ends
    })
}

/// Whether it is the address of an instance of a managed resource, as the tool prints it.
pub fn is_address(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some(first) = identifier(&mut rest) else { return false };
        let Some(()) = literal(&mut rest, '.') else { return false };
        let Some(_) = identifier(&mut rest) else { return false };
        let Some(()) = index(&mut rest) else { return false };
        match first {
            "module" => {
                let Some(()) = literal(&mut rest, '.') else { return false };
            }
            "data" | "ephemeral" => return false,
            _ => return rest.is_empty(),
        }
    }
}

fn identifier<'text>(rest: &mut &'text str) -> Option<&'text str> {
    let is_part = |char: char| char.is_alphanumeric() || ['_', '-'].contains(&char);
    let end = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
    let (found, after) = rest.split_at(end);
    *rest = after;
    found.starts_with(|char: char| char.is_alphabetic() || char == '_').then_some(found)
}

fn literal(rest: &mut &str, char: char) -> Option<()> {
    *rest = rest.strip_prefix(char)?;
    Some(())
}

/// Passes over `[0]` or `["key"]`, if one is there. A key that is not quoted as the tool does it is none.
fn index(rest: &mut &str) -> Option<()> {
    let Some(after) = rest.strip_prefix('[') else { return Some(()) };
    let end = if after.starts_with('"') {
        let mut escaped = false;
        let close = after.char_indices().skip(1).find(|(_, char)| {
            let is_close = *char == '"' && !escaped;
            escaped = *char == '\\' && !escaped;
            is_close
        })?;
        let key = &after[1..close.0];
        if key.chars().any(char::is_control) || has_template(key) {
            return None;
        }
        close.0 + 1
    } else {
        let end = after.find(|char: char| !char.is_ascii_digit()).unwrap_or(after.len());
        if end == 0 {
            return None;
        }
        end
    };
    *rest = after[end..].strip_prefix(']')?;
    Some(())
}

/// Whether something in a quoted text would be computed: `${` and `%{` that are not doubled.
fn has_template(text: &str) -> bool {
    ["$", "%"].iter().any(|sign| {
        text.match_indices(&format!("{sign}{{")).any(|(at, _)| {
            let doubled = text[..at].chars().rev().take_while(|char| char.to_string() == **sign).count();
            doubled % 2 == 0
        })
    })
}

/// A text as HCL has it, in which nothing is computed.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '$' | '%' if chars.peek() == Some(&'{') => quoted.extend([char, char]),
            char if is_shown(char) => quoted.push(char),
            char if u32::from(char) < 0x10000 => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(char));
            }
            char => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(char));
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Nearly what Go calls printable. Where the two differ, an address of the state does not look as the tool prints it, and an
/// import is proposed that the tool passes over.
fn is_shown(char: char) -> bool {
    let is_space = char.is_whitespace() && char != ' ';
    let is_format = matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let is_private = matches!(char, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    !char.is_control() && !is_space && !is_format && !is_private
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("aws_vpc.main", true)]
    #[case::counted("aws_vpc.main[0]", true)]
    #[case::in_modules(r#"module.a["k"].module.b[12].aws_vpc.main["x"]"#, true)]
    #[case::escaped(r#"module.m["a \"b\" $${x} %%{y} \\"].terraform_data.x"#, true)]
    #[case::brackets_in_a_key(r#"a.b["]\"["]"#, true)]
    #[case::a_data_source("data.a.b", false)]
    #[case::in_a_module_only("module.a", false)]
    #[case::a_data_source_in_a_module("module.a.data.b.c", false)]
    #[case::something_behind_it("a.b\n}\nresource \"x\" \"y\" {", false)]
    #[case::computed(r#"a.b["${file("/etc/passwd")}"]"#, false)]
    #[case::computed_behind_a_doubled_one(r#"a.b["$$${x}"]"#, false)]
    #[case::a_key_that_does_not_end(r#"a.b["x\"]"#, false)]
    #[case::a_line_break_in_a_key("a.b[\"\n\"]", false)]
    #[case::redacted("a.b[(sensitive value)]", false)]
    #[case::cut("a.bcdefg…", false)]
    #[case::nothing("", false)]
    fn only_addresses_of_managed_resources_are_imported(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_address(text), expected);
        let import = Import { address: text.to_owned(), id: "x".to_owned(), replaces: Vec::new() };
        let file = file(&[import]);
        assert_eq!((file.contains("import"), file.lines().count()), (expected, 4));
    }

    #[rstest]
    #[case::plain("vpc-1", r#""vpc-1""#)]
    #[case::quotes(r#"a"b\c"#, r#""a\"b\\c""#)]
    #[case::templates("${x} %{y} $ {z} $${", r#""$${x} %%{y} $ {z} $$${""#)]
    #[case::lines("a\nb\tc\r", r#""a\nb\tc\r""#)]
    #[case::not_printable("\u{0}\u{200b}\u{f0000}é", "\"\\u0000\\u200b\\U000f0000é\"")]
    fn nothing_in_a_quoted_text_is_computed(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(quoted(text), expected);
    }

    #[test]
    fn a_failed_import_is_known_by_its_line_its_address_or_its_name() {
        let import =
            |address: &str| Import { address: address.to_owned(), id: "x".to_owned(), replaces: Vec::new() };
        let imports = [import("a.b"), import("a.b[0]"), import("a.bc"), import("a.d"), import("a.e")];
        let at =
            |line| Diagnostic { file: Some(FILE.to_owned()), line: Some(line), ..Diagnostic::error("no") };
        let addressed = Diagnostic { address: Some("a.e".to_owned()), ..Diagnostic::error("no") };
        let warning = Diagnostic { severity: Severity::Warning, ..Diagnostic::error("a.d") };
        let failed = |diagnostics: &[Diagnostic]| {
            let failed = failed_imports(&imports, diagnostics);
            failed.into_iter().map(|failed| failed.address).collect::<Vec<_>>()
        };
        assert_eq!(failed(&[Diagnostic::error("importing \"a.b\" failed")]), ["a.b"]);
        assert_eq!(failed(&[Diagnostic::error("There is no a.b[0].")]), ["a.b[0]"]);
        assert_eq!(failed(&[at(9), addressed.clone(), warning.clone()]), ["a.bc", "a.e"]);
        assert_eq!(failed(&[at(99), Diagnostic::error("no"), warning]), [""; 0]);
    }
}
