//! How wide text is on a terminal.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

const ESCAPE: char = '\u{1b}';
const RESET: &str = "\u{1b}[0m";
const ELLIPSIS: char = '…';

/// The number of columns that the text takes.
pub(super) fn of(text: &str) -> usize {
    visible(text).map(|(_, width)| width).sum()
}

/// The text, or as much of it as fits with an ellipsis. Colours end where it ends.
pub(super) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if of(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut room = columns.saturating_sub(1);
    let end = visible(text).find_map(|(position, width)| {
        let fits = width <= room;
        room = room.saturating_sub(width);
        (!fits).then_some(position)
    });
    let kept = &text[..end.unwrap_or(text.len())];
    let reset = if kept.contains(ESCAPE) { RESET } else { "" };
    let ellipsis = if columns == 0 { String::new() } else { ELLIPSIS.to_string() };
    Cow::Owned(format!("{kept}{ellipsis}{reset}"))
}

/// Where each letter is and how wide. Sequences that set colours are passed over.
fn visible(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut letters = text.char_indices();
    std::iter::from_fn(move || {
        loop {
            let (position, letter) = letters.next()?;
            if letter != ESCAPE {
                return Some((position, letter.width().unwrap_or(0)));
            }
            // They end with a letter.
            letters.find(|(_, letter)| letter.is_ascii_alphabetic())?;
        }
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::fits("ready", 5, "ready")]
    #[case::too_long("applying", 5, "appl…")]
    #[case::no_room_at_all("x", 0, "")]
    #[case::only_the_ellipsis("ready", 1, "…")]
    #[case::wide_letters_fit("準備完了", 8, "準備完了")]
    #[case::half_a_wide_letter_is_none("準備完了", 6, "準備…")]
    #[case::combining_marks_take_no_room("e\u{301}te\u{301}", 3, "e\u{301}te\u{301}")]
    #[case::colours_take_no_room("\u{1b}[32mready\u{1b}[0m", 5, "\u{1b}[32mready\u{1b}[0m")]
    #[case::colours_end("\u{1b}[32mapplying\u{1b}[0m", 4, "\u{1b}[32mapp…\u{1b}[0m")]
    #[case::a_colour_that_is_cut_off("\u{1b}[3", 4, "\u{1b}[3")]
    fn text_is_cut_at_the_width_of_its_letters(
        #[case] text: &str,
        #[case] columns: usize,
        #[case] expected: &str,
    ) {
        let cut = cut(text, columns);

        assert_eq!(cut, expected);
        assert!(of(&cut) <= columns);
    }
}
