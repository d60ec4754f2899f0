//! Reads diagnostics from the text of commands that speak no JSON.

use super::{Diagnostic, Severity};

/// Every diagnostic in the text. Source code that is quoted there is left out.
pub(crate) fn parse(text: &str) -> Vec<Diagnostic> {
    let mut found: Vec<(Diagnostic, Vec<&str>)> = Vec::new();
    for line in text.lines().map(without_frame) {
        if let Some(diagnostic) = heading(line) {
            found.push((diagnostic, Vec::new()));
        } else if let Some((_, body)) = found.last_mut() {
            body.push(line);
        }
    }
    found.into_iter().map(|(diagnostic, body)| with_body(diagnostic, &body)).collect()
}

/// Without `-no-color`, and in some versions with it, a bar stands before each line.
fn without_frame(line: &str) -> &str {
    match line {
        "╷" | "╵" => "",
        line => line.strip_prefix('│').map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest)).trim_end(),
    }
}

fn heading(line: &str) -> Option<Diagnostic> {
    let (severity, summary) = match (line.strip_prefix("Error: "), line.strip_prefix("Warning: ")) {
        (Some(summary), _) => (Severity::Error, summary),
        (_, Some(summary)) => (Severity::Warning, summary),
        (None, None) => return None,
    };
    Some(Diagnostic { severity, ..Diagnostic::error(summary) })
}

/// The paragraphs below the heading. The summary goes on to the first empty line.
fn with_body(mut diagnostic: Diagnostic, body: &[&str]) -> Diagnostic {
    let mut paragraphs = body.split(|line| line.is_empty());
    for line in paragraphs.next().unwrap_or_default() {
        diagnostic.summary = format!("{} {}", diagnostic.summary, line.trim());
    }
    let mut detail: Vec<String> = Vec::new();
    for paragraph in paragraphs.filter(|lines| !lines.is_empty()) {
        match paragraph.first().and_then(|first| position(first)) {
            Some((file, line)) => (diagnostic.file, diagnostic.line) = (Some(file), Some(line)),
            None => detail.push(joined(paragraph)),
        }
    }
    diagnostic.detail = detail.join("\n\n");
    diagnostic
}

/// Lines were wrapped at spaces; indented ones stand by themselves, such as those of a lock.
fn joined(lines: &[&str]) -> String {
    lines.iter().fold(String::new(), |text, line| match (text.is_empty(), line.starts_with(' ')) {
        (true, _) => (*line).to_owned(),
        (false, true) => format!("{text}\n{line}"),
        (false, false) => format!("{text} {line}"),
    })
}

/// `  on main.tf line 3, in resource "terraform_data" "a":`
fn position(line: &str) -> Option<(String, u64)> {
    let (file, rest) = line.strip_prefix("  on ")?.split_once(" line ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((file.to_owned(), digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: &str = r#"
Error: Terraform encountered problems during initialisation, including problems
with the configuration, described below.

The Terraform configuration must be valid before initialization so that
Terraform can determine which modules and providers need to be installed.


Error: Invalid expression

  on main.tf line 3, in resource "terraform_data" "a":
   3:   input = "hunter2
   4: }

Expected the start of an expression, but found an invalid expression token.
"#;

    #[test]
    fn file_and_line_are_read_and_the_source_is_left_out() {
        let found = parse(SYNTAX);

        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0].summary,
            "Terraform encountered problems during initialisation, including problems with the configuration, described below."
        );
        assert_eq!(
            found[1].to_string(),
            "Invalid expression (main.tf line 3): Expected the start of an expression, but found an invalid expression token."
        );
        assert!(!format!("{found:?}").contains("hunter2"));
    }

    #[test]
    fn a_frame_around_the_text_is_taken_off() {
        let found = parse("╷\n│ Error: No such thing\n│ \n│ Because.\n╵\n");

        assert_eq!(found[0].summary, "No such thing");
        assert_eq!(found[0].detail, "Because.");
    }
}
