//! Rewrites JSON text token by token, so that numbers never pass through a float.

/// The text without the white space between tokens.
pub(super) fn compact(json: &str) -> String {
    rewrite(json, str::to_owned)
}

/// The text with every number that neither int64 nor float64 holds exactly as a string.
pub(super) fn storable(json: &str) -> String {
    rewrite(json, |number| if survives(number) { number.to_owned() } else { format!("\"{number}\"") })
}

/// Every string in the text that is a value.
pub(crate) fn strings(json: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = json;
    while let Some(begin) = rest.find('"') {
        rest = &rest[begin..];
        let (token, after) = rest.split_at(string_length(rest));
        // The key of an object is none.
        if !after.trim_ascii_start().starts_with(':') {
            found.extend(serde_json::from_str::<String>(token).ok());
        }
        rest = after;
    }
    found
}

fn rewrite(json: &str, number: impl Fn(&str) -> String) -> String {
    let mut written = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '-' | '0'..='9' => {
                rest.find(|c| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9')).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        match first {
            '-' | '0'..='9' => written.push_str(&number(token)),
            ' ' | '\n' | '\r' | '\t' => {}
            _ => written.push_str(token),
        }
        rest = after;
    }
    written
}

/// The length of the string that the text begins with, quotation marks included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

fn survives(number: &str) -> bool {
    if number.parse::<i64>().is_ok() {
        return true;
    }
    number
        .parse::<f64>()
        .is_ok_and(|float| float.is_finite() && decimal(&format!("{float:e}")) == decimal(number))
}

/// The digits without zeros at either end, and the power of ten of the last one.
fn decimal(number: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - trimmed.len()).ok()?;
    let scale = exponent - i64::try_from(fraction.len()).ok()? + dropped;
    let trimmed = trimmed.trim_start_matches('0');
    Some(if trimmed.is_empty() { (false, String::new(), 0) } else { (negative, trimmed.to_owned(), scale) })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0", true)]
    #[case("-0.0", true)]
    #[case("0.1", true)]
    #[case("1e3", true)]
    #[case("10000000000000000000", true)]
    #[case("10000000000000000001", false)]
    #[case("18446744073709551615", false)]
    #[case("-9223372036854775808", true)]
    #[case("0.30000000000000004", true)]
    #[case("0.300000000000000041", false)]
    #[case("1e400", false)]
    fn only_exact_numbers_stay_numbers(#[case] number: &str, #[case] kept: bool) {
        assert_eq!(survives(number), kept);
    }
}
