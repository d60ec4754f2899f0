//! What a placeholder looks like: `${` + `[A-Z][A-Z0-9_]*` + `}`.

/// Replaces every placeholder that has a value, and takes the first `$` off every escaped one.
pub(super) fn replace<'value>(text: &str, mut value: impl FnMut(&str) -> Option<&'value str>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find('$') {
        result.push_str(&rest[..position]);
        rest = &rest[position..];
        let written;
        if let Some((name, after)) = placeholder(&rest[1..]) {
            written = &rest[1..name.len() + "$${}".len()];
            rest = after;
        } else if let Some((name, after)) = placeholder(rest) {
            written = value(name).unwrap_or(&rest[..name.len() + "${}".len()]);
            rest = after;
        } else {
            written = "$";
            rest = &rest[1..];
        }
        result.push_str(written);
    }
    result + rest
}

/// Whether a placeholder can have this name.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.chars().all(is_part_of_name)
}

/// The name of the placeholder that the text begins with, and what comes after it.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix("${")?;
    let (name, after) = inside.split_at(inside.find(|character| !is_part_of_name(character))?);
    Some((name, after.strip_prefix('}')?)).filter(|(name, _)| is_name(name))
}

fn is_part_of_name(character: char) -> bool {
    character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_'
}
