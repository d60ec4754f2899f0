//! Finds the placeholders in HCL, and what surrounds each of them.
//!
//! It follows Terraform's own scanner: templates hold interpolations, which hold expressions, which hold
//! templates. It reads any text to its end, well formed or not, and takes memory only for what it finds.

use std::ops::Range;

use hcl_edit::Ident;

use super::name;

/// What the text begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Attributes and blocks.
    Body,
    /// The text of a template, as in a string of Terraform's JSON syntax.
    Template,
}

/// Where in HCL a placeholder stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context<'text> {
    /// Outside of any string, where HCL has expressions.
    Expression,
    /// In a quoted string.
    Quoted,
    /// In a heredoc that ends at this marker.
    Heredoc(&'text str),
    /// In a template without delimiters.
    Template,
    /// After `#` or `//`.
    LineComment,
    /// Between `/*` and `*/`.
    BlockComment,
}

/// One placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site<'text> {
    pub(crate) range: Range<usize>,
    pub(crate) name: &'text str,
    pub(crate) context: Context<'text>,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(crate) struct Scan<'text> {
    /// The placeholders in order.
    pub(crate) sites: Vec<Site<'text>>,
    /// How many brackets, strings and interpolations are open at the deepest place.
    pub(crate) depth: usize,
    /// Where that place is.
    pub(crate) deepest: usize,
    /// The first line break in a quoted string, where Terraform allows none.
    pub(crate) split_string: Option<usize>,
    /// Characters that other readers stumble over and Terraform does not: a carriage return in a comment or at the
    /// end of a line, and the first letter of a heredoc's marker where more text follows it on the line.
    pub(crate) obstacles: Vec<usize>,
}

/// Reads `text` to its end.
pub(crate) fn scan(text: &str, start: Start) -> Scan<'_> {
    let frame = match start {
        Start::Body => Frame::Expression { brackets: 0, braces: 0 },
        Start::Template => Frame::Template,
    };
    let mut scanner =
        Scanner { text, position: 0, outer: Vec::new(), frame, depth: 0, found: Scan::default() };
    while scanner.position < text.len() {
        match scanner.frame {
            Frame::Expression { .. } => scanner.expression(),
            Frame::Quoted => scanner.quoted(),
            Frame::Heredoc { marker, line_start } => scanner.heredoc(marker, line_start),
            Frame::Template => scanner.template(Context::Template),
        }
    }
    scanner.found
}

#[derive(Clone, Copy)]
enum Frame<'text> {
    Expression { brackets: usize, braces: usize },
    Quoted,
    Heredoc { marker: &'text str, line_start: bool },
    Template,
}

struct Scanner<'text> {
    text: &'text str,
    /// May stand inside a character of several bytes; everything looked for is ASCII.
    position: usize,
    outer: Vec<Frame<'text>>,
    frame: Frame<'text>,
    depth: usize,
    found: Scan<'text>,
}

impl<'text> Scanner<'text> {
    fn rest(&self) -> &'text [u8] {
        &self.text.as_bytes()[self.position..]
    }

    fn expression(&mut self) {
        match self.rest() {
            [b'"', ..] => self.enter(Frame::Quoted, 1),
            [b'#', ..] | [b'/', b'/', ..] => self.comment(Context::LineComment, 0, "\n"),
            [b'/', b'*', ..] => self.comment(Context::BlockComment, 2, "*/"),
            [b'<', b'<', ..] => self.heredoc_start(),
            [b'$', ..] => self.dollar_in_expression(),
            [b'{' | b'[' | b'(', ..] => self.open_bracket(),
            [b'}' | b']' | b')', ..] => self.close_bracket(),
            [b'\r', b'\n', ..] => {
                self.found.obstacles.push(self.position);
                self.position += 2;
            }
            _ => self.position += 1,
        }
    }

    fn open_bracket(&mut self) {
        self.deepen();
        if let Frame::Expression { brackets, braces } = &mut self.frame {
            *brackets += 1;
            *braces += usize::from(self.text.as_bytes()[self.position] == b'{');
        }
        self.position += 1;
    }

    /// Only braces decide where an interpolation ends, as in Terraform's scanner; the other brackets are counted.
    fn close_bracket(&mut self) {
        let is_brace = self.text.as_bytes()[self.position] == b'}';
        self.position += 1;
        let Frame::Expression { brackets, braces } = &mut self.frame else {
            return;
        };
        if is_brace && *braces == 0 && !self.outer.is_empty() {
            self.leave();
            return;
        }
        *braces = braces.saturating_sub(usize::from(is_brace));
        if *brackets > 0 {
            *brackets -= 1;
            self.depth -= 1;
        }
    }

    fn dollar_in_expression(&mut self) {
        let run = run_length(self.rest());
        match name::at(self.text, self.position) {
            Some((end, name)) if run == 1 => self.site(end, name, Context::Expression),
            _ => self.position += run,
        }
    }

    fn comment(&mut self, context: Context<'text>, introducer: usize, end: &str) {
        let start = self.position;
        let end = self.text[start + introducer..]
            .find(end)
            .map_or(self.text.len(), |found| start + introducer + found + end.len());
        let inside = name::find_all(self.text, start..end);
        self.found.sites.extend(inside.map(|(range, name)| Site { range, name, context }));
        let returns = self.text[start..end].match_indices('\r').map(|(index, _)| start + index);
        self.found.obstacles.extend(returns);
        self.position = end;
    }

    fn heredoc_start(&mut self) {
        let introducer = 2 + usize::from(self.rest().get(2) == Some(&b'-'));
        let start = self.position + introducer;
        let rest = &self.text[start..];
        let is_outside = |character: char| character.is_ascii() && !is_in_name(character);
        let (marker, after) = rest.split_at(rest.find(is_outside).unwrap_or(rest.len()));
        let line_break = ["\n", "\r\n"].into_iter().find(|line_break| after.starts_with(line_break));
        match line_break {
            Some(line_break) if Ident::try_new(marker).is_ok() => {
                let introducer = introducer + marker.len() + line_break.len();
                self.enter(Frame::Heredoc { marker, line_start: true }, introducer);
            }
            _ => self.position += 2,
        }
    }

    fn quoted(&mut self) {
        match self.rest() {
            [b'"', ..] => {
                self.position += 1;
                self.leave();
            }
            [b'\\', _, ..] => self.position += 2,
            [b'\r' | b'\n', ..] => {
                self.found.split_string.get_or_insert(self.position);
                self.position += 1;
            }
            _ => self.template(Context::Quoted),
        }
    }

    fn heredoc(&mut self, marker: &'text str, line_start: bool) {
        if line_start {
            let line = self.text[self.position..].split('\n').next().unwrap_or_default();
            if line.trim() == marker {
                self.position += line.trim_end().len();
                self.leave();
                return;
            }
            if line.trim_start().starts_with(marker) {
                self.found.obstacles.push(self.position + line.len() - line.trim_start().len());
            }
        }
        let line_start = self.rest().first() == Some(&b'\n');
        self.frame = Frame::Heredoc { marker, line_start };
        self.template(Context::Heredoc(marker));
    }

    /// Takes one step in a template: a marker or its escape, or one byte of text.
    fn template(&mut self, context: Context<'text>) {
        let rest = self.rest();
        if !matches!(rest, [b'$' | b'%', ..]) {
            self.position += 1;
            return;
        }
        let run = run_length(rest);
        if rest.get(run) != Some(&b'{') {
            self.position += run;
        } else if run > 1 {
            self.position += run + 1;
        } else if let Some((end, name)) = name::at(self.text, self.position) {
            self.site(end, name, context);
        } else {
            self.enter(Frame::Expression { brackets: 0, braces: 0 }, 2);
        }
    }

    fn site(&mut self, end: usize, name: &'text str, context: Context<'text>) {
        self.found.sites.push(Site { range: self.position..end, name, context });
        self.position = end;
    }

    fn enter(&mut self, frame: Frame<'text>, introducer: usize) {
        self.deepen();
        self.outer.push(std::mem::replace(&mut self.frame, frame));
        self.position += introducer;
    }

    fn leave(&mut self) {
        let Some(outer) = self.outer.pop() else { return };
        let left = std::mem::replace(&mut self.frame, outer);
        self.depth -= 1;
        if let Frame::Expression { brackets, .. } = left {
            self.depth -= brackets;
        }
    }

    fn deepen(&mut self) {
        self.depth += 1;
        if self.depth > self.found.depth {
            self.found.depth = self.depth;
            self.found.deepest = self.position;
        }
    }
}

fn is_in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// How often the first byte is repeated.
fn run_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| Some(*byte) == bytes.first()).count()
}
