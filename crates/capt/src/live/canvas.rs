//! What is drawn, and what has to be written to draw something else in its place.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::width;

const CLEAR_TO_END_OF_LINE: &str = "\u{1b}[K";
const CLEAR_BELOW: &str = "\u{1b}[J";
/// What a terminal has that does not say how large it is.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// How large the terminal is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    columns: usize,
    rows: usize,
}

impl Size {
    /// The columns and rows that a terminal says it has, which may be none.
    pub(super) fn new(told: Option<(u16, u16)>) -> Self {
        match told {
            Some((columns, rows)) if columns > 0 && rows > 0 => {
                Self { columns: columns.into(), rows: rows.into() }
            }
            _ => USUAL,
        }
    }

    /// As much of the line as there is room for. The last column is left free: what terminals do behind it differs.
    fn fitted(self, line: &str) -> Cow<'_, str> {
        width::cut(line, self.columns.saturating_sub(1))
    }
}

/// The lines at the bottom of a terminal. The cursor stands below them, at the left.
#[derive(Debug)]
pub(super) struct Canvas {
    lines: Vec<String>,
    /// How wide each line is that was written last.
    drawn: Vec<usize>,
}

impl Canvas {
    pub(super) const fn new() -> Self {
        Self { lines: Vec::new(), drawn: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drawn.is_empty()
    }

    /// Other lines in the same place.
    pub(super) fn replace(&mut self, lines: &[String], size: Size) -> String {
        self.lines = lines.to_vec();
        let up = self.up(size);
        up + &self.draw(size)
    }

    /// Takes the lines away, until they are drawn again.
    pub(super) fn erase(&mut self, size: Size) -> String {
        let up = self.up(size);
        self.drawn.clear();
        up + CLEAR_BELOW
    }

    /// The lines where the cursor is, as far as there is room.
    pub(super) fn draw(&mut self, size: Size) -> String {
        let room = size.rows.saturating_sub(1).max(1);
        let hidden = if self.lines.len() > room { self.lines.len() + 1 - room } else { 0 };
        let more = (hidden > 0).then(|| format!("… {hidden} more lines"));
        let shown = self.lines[..self.lines.len() - hidden].iter().chain(&more);
        let mut text = String::new();
        self.drawn.clear();
        for line in shown {
            let line = size.fitted(line);
            self.drawn.push(width::of(&line));
            let _ = write!(text, "{line}{CLEAR_TO_END_OF_LINE}\r\n");
        }
        text + CLEAR_BELOW
    }

    /// Leaves the lines to the terminal, all of them.
    pub(super) fn release(&mut self, size: Size) -> String {
        let mut text = self.up(size);
        for line in self.lines.drain(..) {
            let _ = write!(text, "{}{CLEAR_TO_END_OF_LINE}\r\n", size.fitted(&line));
        }
        self.drawn.clear();
        text + CLEAR_BELOW
    }

    /// To the beginning of the first line. A terminal that was made narrower since has broken lines into several.
    fn up(&self, size: Size) -> String {
        let rows: usize = self.drawn.iter().map(|width| width.div_ceil(size.columns).max(1)).sum();
        match rows {
            0 => "\r".to_owned(),
            rows => format!("\r\u{1b}[{rows}A"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { columns: 20, rows: 6 };

    /// A terminal with what was printed before.
    fn terminal() -> vt100::Parser {
        let mut terminal = vt100::Parser::new(6, 20, 0);
        terminal.process(b"before\r\n");
        terminal
    }

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn fewer_and_shorter_lines_leave_nothing_of_those_before() {
        let (mut terminal, mut canvas) = (terminal(), Canvas::new());
        terminal
            .process(canvas.replace(&lines(&["network: applying", "cluster", "add-ons"]), SIZE).as_bytes());
        terminal.process(canvas.replace(&lines(&["network: ok", "cluster: ok"]), SIZE).as_bytes());
        assert_eq!(terminal.screen().contents(), "before\nnetwork: ok\ncluster: ok");
        assert_eq!(terminal.screen().cursor_position(), (3, 0));
    }

    #[test]
    fn what_else_is_printed_stays_above() {
        let (mut terminal, mut canvas) = (terminal(), Canvas::new());
        terminal.process(canvas.replace(&lines(&["network", "cluster"]), SIZE).as_bytes());
        terminal.process(canvas.erase(SIZE).as_bytes());
        terminal.process(b"warning: careful\r\n");
        terminal.process(canvas.draw(SIZE).as_bytes());
        terminal.process(canvas.replace(&lines(&["network: ok", "cluster"]), SIZE).as_bytes());
        assert_eq!(terminal.screen().contents(), "before\nwarning: careful\nnetwork: ok\ncluster");
    }

    #[test]
    fn what_does_not_fit_is_cut_and_all_lines_are_left_at_the_end() {
        let (mut terminal, mut canvas) = (terminal(), Canvas::new());
        let all = lines(&["a line of 25 columns 4567", "2", "3", "4", "5", "6", "7"]);
        for _ in 0..3 {
            terminal.process(canvas.replace(&all, SIZE).as_bytes());
        }
        assert_eq!(terminal.screen().contents(), "a line of 25 colum…\n2\n3\n4\n… 3 more lines");
        let mut terminal = vt100::Parser::new(20, 20, 0);
        terminal.process(canvas.release(SIZE).as_bytes());
        assert_eq!(terminal.screen().contents(), "a line of 25 colum…\n2\n3\n4\n5\n6\n7");
        assert!(canvas.is_empty());
    }

    #[test]
    fn a_terminal_that_was_made_narrower_is_cleared_as_far_as_it_was_drawn() {
        let mut canvas = Canvas::new();
        canvas.replace(&lines(&["twelve wide.", "x"]), SIZE);
        let narrower = Size { columns: 8, rows: 6 };
        assert!(canvas.replace(&lines(&["x"]), narrower).starts_with("\r\u{1b}[3A"));
    }

    #[test]
    fn a_terminal_that_does_not_know_its_size_has_the_usual_one() {
        for told in [None, Some((0, 0)), Some((80, 0))] {
            let Size { columns, rows } = Size::new(told);
            assert_eq!((columns, rows), (80, 24));
        }
    }
}
