//! What a run prints, as far as there is room for it.

use std::collections::VecDeque;

use super::Gap;

/// Of a run that prints without end, so much is kept of its beginning and of its end.
const BEGINNING: usize = 64 << 10;
const END: usize = 192 << 10;
/// A longer line is cut.
const LONGEST_LINE: usize = 4 << 10;

/// Lines of a run: its first ones and its last ones.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    first: Vec<String>,
    first_bytes: usize,
    last: VecDeque<String>,
    last_bytes: usize,
    left_out: u64,
}

impl Lines {
    /// Adds a line; one in the middle may leave for it.
    pub fn add(&mut self, line: &str) {
        let line = cut(line);
        if self.last.is_empty() && self.first_bytes + line.len() <= BEGINNING {
            self.first_bytes += line.len();
            self.first.push(line);
            return;
        }
        self.last_bytes += line.len();
        self.last.push_back(line);
        while self.last_bytes > END {
            let Some(gone) = self.last.pop_front() else { return };
            self.last_bytes -= gone.len();
            self.left_out += 1;
        }
    }

    /// All that is kept, and what is missing.
    pub fn into_parts(self) -> (Vec<String>, Option<Gap>) {
        let gap = (self.left_out > 0).then_some(Gap { after: self.first.len(), lines: self.left_out });
        (self.first.into_iter().chain(self.last).collect(), gap)
    }
}

fn cut(line: &str) -> String {
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let end = (0..=LONGEST_LINE).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
    format!("{}…", &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_prints_little_is_kept_as_it_is() {
        let mut lines = Lines::default();
        lines.add("one");
        lines.add("two");
        assert_eq!(lines.into_parts(), (vec!["one".to_owned(), "two".to_owned()], None));
    }

    #[test]
    fn a_run_that_prints_without_end_keeps_its_beginning_and_its_end() {
        let mut lines = Lines::default();
        for number in 0..100_000 {
            lines.add(&format!("line {number}"));
        }
        let (kept, gap) = lines.into_parts();
        let gap = gap.unwrap();
        assert_eq!(kept[0], "line 0");
        assert_eq!(kept.last().unwrap(), "line 99999");
        assert_eq!(kept.len() as u64 + gap.lines, 100_000);
        assert_eq!(kept[gap.after], format!("line {}", gap.after as u64 + gap.lines));
        assert!(kept.iter().map(String::len).sum::<usize>() <= BEGINNING + END);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let mut lines = Lines::default();
        lines.add(&format!("x{}", "ö".repeat(LONGEST_LINE)));
        let (kept, _) = lines.into_parts();
        assert!(kept[0].len() < LONGEST_LINE + 8 && kept[0].ends_with("ö…"));
    }
}
