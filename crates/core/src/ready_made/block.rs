//! Texts as blocks of YAML in literal style.

/// A text that can be written as a block: its lines end in line feeds, the last one too, and nothing in it would be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block(String);

/// A text with one kind of line break, without the marks of editors and without empty lines at its end.
pub(super) fn normalized(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    format!("{}\n", text.trim_end())
}

impl Block {
    /// A text that is [`normalized`]; the error is the line that has what no block can have.
    pub(super) fn new(text: String) -> Result<Self, usize> {
        let is_bad = |character: char| {
            (character.is_control() && !matches!(character, '\n' | '\t'))
                || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        };
        match text.lines().position(|line| line.contains(is_bad)) {
            Some(line) => Err(line + 1),
            None => Ok(Self(text)),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The mark and the lines, so far to the right; what comes before stands on the line already.
    pub(super) fn written(&self, indent: usize) -> String {
        // A reader takes the blanks of the first line for the indentation, unless it is told.
        let first = self.0.lines().find(|line| !line.is_empty()).unwrap_or_default();
        let mark = if first.starts_with([' ', '\t']) { "|2" } else { "|" };
        let blanks = " ".repeat(indent);
        let lines = self
            .0
            .lines()
            .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{blanks}{line}\n") });
        format!("{mark}\n{}", lines.collect::<String>())
    }
}
