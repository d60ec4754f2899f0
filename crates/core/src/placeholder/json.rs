//! Placeholders in Terraform's JSON syntax.
//!
//! Every string is a template to Terraform, so it is decoded and read as HCL. What is written into it is encoded
//! again; the bytes around it are never touched.

use super::{Edit, Lookup, escape, literal, name, scan, template_edits};

pub(super) fn edits(text: &str, lookup: Lookup<'_, '_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut position = 0;
    while let Some(found) = text[position..].find(['"', '$']) {
        let start = position + found;
        if text[start..].starts_with('"') {
            let length = literal::string_length(&text[start..]);
            edits.extend(string_edits(text, start + 1, start + length, lookup));
            position = start + length;
        } else {
            let dollars = text[start..].bytes().take_while(|byte| *byte == b'$').count();
            position = start + dollars;
            if let Some((end, name)) = name::at(text, start).filter(|_| dollars == 1) {
                let value = lookup(name);
                edits.extend(
                    value.map(|value| Edit { range: start..end, replacement: outside_string(value) }),
                );
                position = end;
            }
        }
    }
    edits
}

fn outside_string(value: &str) -> String {
    let string = |text: &str| escape::json(&escape::bare_template_text(text));
    literal::rewrite(value, string).unwrap_or_else(|| string(value))
}

/// The edits inside the string whose content begins at `start` and which ends, quote included, at `end`.
fn string_edits(text: &str, start: usize, end: usize, lookup: Lookup<'_, '_>) -> Vec<Edit> {
    let content = text[start..end].strip_suffix('"').unwrap_or(&text[start..end]);
    let (decoded, origins) = decode(content);
    template_edits(&decoded, scan::Start::Template, lookup)
        .into_iter()
        .map(|edit| Edit {
            range: start + origins[edit.range.start]..start + origins[edit.range.end],
            replacement: escape::json_text(&edit.replacement),
        })
        .collect()
}

/// The content of a JSON string as Terraform sees it, and for every byte of that (and its end) where it came from.
///
/// An escape that JSON does not have stays as it is written.
fn decode(content: &str) -> (String, Vec<usize>) {
    let mut decoded = String::with_capacity(content.len());
    let mut origins = Vec::with_capacity(content.len() + 1);
    let mut position = 0;
    while let Some(first) = content[position..].chars().next() {
        let (character, length) = escaped(&content[position..]).unwrap_or((first, first.len_utf8()));
        decoded.push(character);
        origins.resize(decoded.len(), position);
        position += length;
    }
    origins.push(position);
    (decoded, origins)
}

/// The character that an escape at the beginning of `text` stands for, and how long the escape is.
fn escaped(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix('\\')?;
    let character = match rest.chars().next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => return unicode(text),
        same @ ('"' | '\\' | '/') => same,
        _ => return None,
    };
    Some((character, 2))
}

fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        all_digits.then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let high = unit(0)?;
    if let Some(character) = char::from_u32(u32::from(high)) {
        return Some((character, 6));
    }
    let pair = [high, unit(6)?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, 12))
}
