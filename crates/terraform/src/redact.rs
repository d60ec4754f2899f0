//! The one door for text that leaves: secret values do not pass it.

mod collect;

use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::run::{HiddenValue, Run};
use crate::secret::Secret;

/// What stands where a secret stood.
pub const REDACTED: &str = "(sensitive value)";

/// Shorter values would hide half of every sentence.
const SHORTEST: usize = 4;

/// Replaces every secret value it knows, in each form that tools print it in.
#[derive(Clone, Default)]
pub struct Redactor {
    forms: BTreeSet<String>,
    search: Option<AhoCorasick>,
}

impl Redactor {
    /// Knows all the secrets of a run.
    pub fn of(run: &Run) -> Self {
        Self::new(collect::secrets(run))
    }

    /// Knows these values.
    pub fn new(values: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self::default().and(values)
    }

    /// Knows these values as well.
    #[must_use]
    pub fn and(mut self, values: impl IntoIterator<Item = Vec<u8>>) -> Self {
        for value in values {
            self.forms.extend(forms(&value));
        }
        // Only a set of patterns beyond all bounds is refused; then everything is hidden, see `redact`.
        self.search = AhoCorasick::new(&self.forms).ok();
        self
    }

    /// The text without any secret.
    pub fn redact(&self, text: &str) -> String {
        if self.forms.is_empty() {
            return text.to_owned();
        }
        let Some(search) = &self.search else { return REDACTED.to_owned() };
        let mut clean = String::with_capacity(text.len());
        let mut end = 0;
        for (from, to) in
            merged(search.find_overlapping_iter(text).map(|found| (found.start(), found.end())).collect())
        {
            clean.push_str(&text[end..from]);
            clean.push_str(REDACTED);
            end = to;
        }
        clean.push_str(&text[end..]);
        clean
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Redactor")
    }
}

/// What a later run is told of the secrets of earlier ones is no longer than this.
const MOST_CARRIED: usize = 64 << 10;

/// The secret values of an earlier run, for one that meets them in the state; the newest first, as far as there is room.
pub fn carried(earlier: &Run) -> Vec<HiddenValue> {
    let own = collect::secrets(&Run { hidden: Vec::new(), ..earlier.clone() });
    let older = earlier.hidden.iter().map(|hidden| hidden.value.expose().to_vec());
    let (mut known, mut room) = (BTreeSet::new(), MOST_CARRIED);
    let mut fits = |value: &Vec<u8>| {
        let left = room.checked_sub(value.len()).filter(|_| known.insert(value.clone()));
        room = left.unwrap_or(room);
        left.is_some()
    };
    let values = own.into_iter().chain(older).filter(|value| fits(value));
    values.map(|value| HiddenValue { value: Secret::new(value) }).collect()
}

/// Secrets that overlap are hidden as one: no end of the shorter may be left standing.
fn merged(mut spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    spans.sort_unstable();
    let mut whole: Vec<(usize, usize)> = Vec::new();
    for (from, to) in spans {
        match whole.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => whole.push((from, to)),
        }
    }
    whole
}

/// The ways in which a value can appear in a text.
fn forms(value: &[u8]) -> Vec<String> {
    let mut forms = base64_forms(value);
    if let Ok(text) = std::str::from_utf8(value) {
        let trimmed = text.trim();
        forms.extend([text.to_owned(), trimmed.to_owned(), percent_encoded(trimmed)]);
        if let Ok(quoted) = serde_json::to_string(trimmed) {
            let escaped = quoted[1..quoted.len() - 1].to_owned();
            // Go writes these three as escapes too.
            let go = escaped.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
            // HCL writes templates with a doubled sign.
            forms.extend([escaped.replace("${", "$${").replace("%{", "%%{"), escaped, go]);
        }
        // Human-readable messages are wrapped at spaces, and shells print line by line.
        forms.push(trimmed.split_whitespace().collect::<Vec<_>>().join(" "));
        forms.extend(trimmed.lines().map(str::trim).filter(|line| is_value(line)).map(str::to_owned));
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

/// Whether a line of a longer secret is a secret by itself. `clusters:` and `kind: Config` are not; what stands behind
/// the colon is known as a value of its own.
fn is_value(line: &str) -> bool {
    line.len() >= 8 && !line.ends_with(':') && !line.contains(": ") && !line.contains(" = ")
}

/// Base64 of the value by itself, and of the value in the middle of something longer.
fn base64_forms(value: &[u8]) -> Vec<String> {
    if value.len() < SHORTEST {
        return Vec::new();
    }
    let mut forms = vec![STANDARD_NO_PAD.encode(value), URL_SAFE_NO_PAD.encode(value)];
    for offset in 0..3 {
        // Only whole groups of three bytes look the same whatever stands before and after.
        let skip = (3 - offset) % 3;
        let whole = (value.len().saturating_sub(skip)) / 3 * 3;
        if whole >= 6 {
            let inner = &value[skip..skip + whole];
            forms.extend([STANDARD_NO_PAD.encode(inner), URL_SAFE_NO_PAD.encode(inner)]);
        }
    }
    // Tools print it in lines of 76 letters, and OpenSSL in lines of 64.
    for width in [57, 48].into_iter().filter(|width| value.len() > *width) {
        let lines = value.chunks(width).map(|line| &line[..line.len() / 3 * 3]);
        forms.extend(lines.filter(|line| line.len() >= 6).map(|line| STANDARD_NO_PAD.encode(line)));
    }
    forms
}

fn percent_encoded(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("it is p<ss\"word!".to_owned())]
    #[case::json(r#"{"a":"p<ss\"word!"}"#.to_owned())]
    #[case::go_json(r#"{"a":"p\u003css\"word!"}"#.to_owned())]
    #[case::base64(STANDARD.encode("p<ss\"word!"))]
    #[case::inside_base64(STANDARD.encode("user:p<ss\"word!\n"))]
    #[case::inside_base64_shifted(STANDARD.encode("user1:p<ss\"word!;"))]
    #[case::inside_base64_shifted_again(STANDARD.encode("user12:p<ss\"word!;;"))]
    #[case::address("https://u:p%3Css%22word%21@example.org".to_owned())]
    fn a_secret_is_hidden_in_every_form(#[case] text: String) {
        let clean = Redactor::new([b"p<ss\"word!".to_vec()]).redact(&text);

        assert!(clean.contains(REDACTED), "{clean}");
        assert!(!clean.contains("word"), "{clean}");
    }

    #[test]
    fn a_long_secret_is_hidden_in_lines_of_base64() {
        let secret: Vec<u8> = (b' '..b'~').collect();
        let printed = STANDARD.encode([&secret[..], b"\n"].concat());
        for width in [76, 64] {
            let (first, second) = printed.split_at(width);
            let clean = Redactor::new([secret.clone()]).redact(&format!("{first}\n{second}"));

            assert_eq!(clean.matches(REDACTED).count(), 2, "{clean}");
            assert!(!clean.contains(&first[..8]) && !clean.contains(&second[..8]), "{clean}");
        }
    }

    #[test]
    fn secrets_are_carried_from_run_to_run_the_newest_first_as_far_as_there_is_room() {
        let hidden = |text: &str| HiddenValue { value: Secret::from(text) };
        let earlier: Run = serde_json::from_value(serde_json::json!({
            "identity": "uid-1", "workspace": "w", "operation": "plan", "backend": "local",
            "source": { "inline": { "format": "Hcl", "content": "" } },
            "environment": [{ "name": "T", "sensitive": true, "value": STANDARD.encode("newest") }],
        }))
        .unwrap();
        let large = "x".repeat(MOST_CARRIED);
        let earlier = Run {
            hidden: vec![hidden("older"), hidden(&large), hidden("newest"), hidden("oldest")],
            ..earlier
        };

        assert_eq!(carried(&earlier), [hidden("newest"), hidden("older"), hidden("oldest")]);
    }

    #[test]
    fn overlapping_secrets_leave_no_end_standing() {
        let redactor = Redactor::new([b"abcdef".to_vec(), b"defghi".to_vec()]);

        assert_eq!(redactor.redact("-abcdefghi-"), format!("-{REDACTED}-"));
    }

    #[test]
    fn text_without_secrets_stays_as_it_is() {
        assert_eq!(Redactor::new([b"abc".to_vec()]).redact("abc é"), "abc é");
    }
}
