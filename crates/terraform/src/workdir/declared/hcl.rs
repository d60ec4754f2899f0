//! Finds `terraform { backend "kind" { … } }` and `terraform { cloud { … } }` in Terraform's own language.

/// What the lexer tells apart. Everything between two of these says nothing about blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'text> {
    Word(&'text [u8]),
    /// Without its quotation marks.
    Text(&'text [u8]),
    Open,
    Close,
    LineBreak,
    Other,
}

/// The kind of the last backend that is declared.
pub(super) fn backend(text: &[u8]) -> Option<String> {
    let mut lexer = Lexer { text, at: 0 };
    let mut depth = 0_usize;
    let mut in_settings = false;
    // The tokens since the line or the block began.
    let mut statement: Vec<Token<'_>> = Vec::new();
    let mut found = None;
    while let Some(token) = lexer.next() {
        match token {
            Token::Open => {
                match (depth, statement.as_slice()) {
                    (0, header) => in_settings = header == [Token::Word(b"terraform")],
                    (1, [Token::Word(b"backend"), Token::Word(kind) | Token::Text(kind)]) if in_settings => {
                        found = Some(String::from_utf8_lossy(kind).into_owned());
                    }
                    (1, [Token::Word(b"cloud")]) if in_settings => found = Some("cloud".to_owned()),
                    _ => {}
                }
                depth += 1;
                statement.clear();
            }
            Token::Close => {
                depth = depth.saturating_sub(1);
                statement.clear();
            }
            Token::LineBreak => statement.clear(),
            // No header that counts is longer.
            token if statement.len() < 3 => statement.push(token),
            _ => {}
        }
    }
    found
}

struct Lexer<'text> {
    text: &'text [u8],
    at: usize,
}

impl<'text> Lexer<'text> {
    fn next(&mut self) -> Option<Token<'text>> {
        loop {
            let rest = &self.text[self.at..];
            match rest {
                [] => return None,
                [b' ' | b'\t' | b'\r', ..] => self.at += 1,
                [b'#', ..] | [b'/', b'/', ..] => self.skip_to(b"\n"),
                [b'/', b'*', ..] => {
                    self.at += 2;
                    self.skip_to(b"*/");
                    self.at = (self.at + 2).min(self.text.len());
                }
                [b'\n', ..] => return Some(self.one(Token::LineBreak)),
                [b'{', ..] => return Some(self.one(Token::Open)),
                [b'}', ..] => return Some(self.one(Token::Close)),
                [b'"', ..] => return Some(self.quoted()),
                [b'<', b'<', ..] => return Some(self.heredoc()),
                [byte, ..] if is_word(*byte) => {
                    let length = rest.iter().take_while(|byte| is_word(**byte)).count();
                    self.at += length;
                    return Some(Token::Word(&rest[..length]));
                }
                [_, ..] => return Some(self.one(Token::Other)),
            }
        }
    }

    fn one(&mut self, token: Token<'text>) -> Token<'text> {
        self.at += 1;
        token
    }

    /// To the next such text, or to the end.
    fn skip_to(&mut self, end: &[u8]) {
        let rest = &self.text[self.at..];
        self.at += rest.windows(end.len()).position(|window| window == end).unwrap_or(rest.len());
    }

    /// A string. In a template of it there may be strings again, and so on without end: those that are open are counted.
    fn quoted(&mut self) -> Token<'text> {
        let begin = self.at + 1;
        // How many braces are open in each template that is open.
        let mut templates: Vec<usize> = Vec::new();
        let mut in_string = true;
        self.at = begin;
        while let Some(byte) = self.text.get(self.at).copied() {
            let next = self.text.get(self.at + 1).copied();
            self.at += 1;
            match (in_string, byte) {
                (true, b'\\') => self.at += 1,
                // `$${` is the text `${`.
                (true, b'$' | b'%') if next == Some(byte) => self.at += 1,
                (true, b'$' | b'%') if next == Some(b'{') => {
                    self.at += 1;
                    templates.push(0);
                    in_string = false;
                }
                (true, b'"') if templates.is_empty() => {
                    return Token::Text(&self.text[begin..self.at - 1]);
                }
                (true, b'"') => in_string = false,
                // A string that was not closed ends with its line.
                (true, b'\n') if templates.is_empty() => {
                    self.at -= 1;
                    return Token::Other;
                }
                (false, b'"') => in_string = true,
                (false, b'{') => {
                    if let Some(open) = templates.last_mut() {
                        *open += 1;
                    }
                }
                (false, b'}') => match templates.last_mut() {
                    Some(0) => {
                        templates.pop();
                        in_string = true;
                    }
                    Some(open) => *open -= 1,
                    None => {}
                },
                _ => {}
            }
        }
        self.at = self.text.len();
        Token::Other
    }

    /// `<<MARK` or `<<-MARK`, up to the line that is the mark alone.
    fn heredoc(&mut self) -> Token<'text> {
        self.at += 2;
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        let mark = &rest[..length];
        self.at += length;
        if mark.is_empty() {
            return Token::Other;
        }
        self.skip_to(b"\n");
        while self.at < self.text.len() {
            let line = &self.text[self.at + 1..];
            let length = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
            if line[..length].trim_ascii() == mark {
                self.at += 1 + length;
                return Token::Other;
            }
            self.at += 1 + length;
        }
        Token::Other
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::quoted("terraform {\n  backend \"s3\" {}\n}\n", Some("s3"))]
    #[case::bare("terraform {\r\n\tbackend s3 {\r\n}\r\n}\r\n", Some("s3"))]
    #[case::cloud("terraform {\n  cloud {\n    organization = \"a\"\n  }\n}\n", Some("cloud"))]
    #[case::after_others(
        "terraform {\n required_providers {\n a = {\n source = \"a/b\"\n}\n}\n backend \"s3\" {\n}\n}",
        Some("s3")
    )]
    #[case::second_block("terraform {\n}\nlocals {\n}\nterraform {\nbackend \"gcs\" {}\n}", Some("gcs"))]
    #[case::comments("# terraform {\n/* { */ terraform { // {\n  backend /* x */ \"s3\" {}\n}\n", Some("s3"))]
    #[case::commented_out(
        "terraform {\n# backend \"s3\" {}\n/*\nbackend \"gcs\" {}\n*/\n// cloud {}\n}\n",
        None
    )]
    #[case::braces_in_strings(
        "locals {\n a = \"}${ {x = \"}\"}[\"x\"] }%{ if true }{%{ endif }\"\n}\nterraform {\nbackend \"s3\" {}\n}",
        Some("s3")
    )]
    #[case::escapes(
        "locals {\n a = \"\\\"}$${{\"\n b = \"$$\"\n}\nterraform {\nbackend \"s3\" {}\n}",
        Some("s3")
    )]
    #[case::heredoc(
        "locals {\n a = <<-EOT\n  }}} \"\n terraform {\n backend \"gcs\" {}\n  EOT\n}\nterraform {\nbackend \"s3\" {}\n}",
        Some("s3")
    )]
    #[case::only_in_a_heredoc("locals {\n a = <<EOT\nterraform {\nbackend \"gcs\" {}\n}\nEOT\n}", None)]
    #[case::another_block("resource \"a\" \"terraform\" {\n backend \"s3\" {}\n}", None)]
    #[case::an_attribute("terraform = {\n backend = \"s3\"\n}", None)]
    #[case::deeper("terraform {\n x {\n backend \"s3\" {}\n}\n}", None)]
    #[case::a_word_of_another_header("module \"x\" terraform {\n backend \"s3\" {}\n}", None)]
    #[case::a_comparison("locals {\n a = 1 << 2\n}\nterraform {\nbackend \"s3\" {}\n}", Some("s3"))]
    #[case::not_closed("terraform {\n backend \"s3\" {", Some("s3"))]
    #[case::a_string_that_is_not_closed(
        "locals {\n a = \"x\n}\nterraform {\nbackend \"s3\" {}\n}",
        Some("s3")
    )]
    fn a_declaration_is_found_and_nothing_else_is(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(backend(text.as_bytes()).as_deref(), expected);
    }

    #[rstest]
    #[case(b"{".repeat(300_000))]
    #[case(b"\"${".repeat(300_000))]
    #[case(b"}".repeat(300_000))]
    #[case(b"<<A\n".repeat(300_000))]
    #[case(b"/*".repeat(300_000))]
    #[case(b"terraform {\nbackend\n".repeat(100_000))]
    #[case((0..=255).collect())]
    #[case(b"\"\\".to_vec())]
    #[case(b"<<".to_vec())]
    #[case(b"<<-".to_vec())]
    fn hostile_text_comes_to_an_end(#[case] text: Vec<u8>) {
        assert_eq!(backend(&text), None);
    }
}
