//! Texts of others as they are shown.

/// Without characters that could do more than be read: what objects say may come from anybody.
pub(super) fn plain(text: &str) -> String {
    let shown = |character: char| match character {
        '\n' => '\n',
        character if character.is_control() || is_direction(character) => ' ',
        character => character,
    };
    let shown: String = text.chars().map(shown).collect();
    shown.trim().to_owned()
}

/// Characters that turn around what follows.
const fn is_direction(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// All of it in one line. Cluster API tells several things as points of a list.
pub(super) fn one_line(text: &str) -> String {
    let points = text.lines().map(|line| {
        let line = line.trim();
        line.strip_prefix("* ").map_or_else(|| line.to_owned(), |point| format!("; {point}"))
    });
    let line = points.collect::<Vec<_>>().join(" ");
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_start_matches("; ").replace(" ; ", "; ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_terminal_is_not_told_what_to_do("a\u{1b}[2Jb\u{7}", "a [2Jb")]
    #[case::lines_stay_lines("a\nb\r", "a\nb")]
    #[case::nothing_is_turned_around("a\u{202e}b", "a b")]
    #[case::other_languages_are_left_alone("クラスタ é", "クラスタ é")]
    fn what_others_say_can_only_be_read(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(plain(text), expected);
    }

    #[test]
    fn several_lines_become_one() {
        assert_eq!(one_line(" a\n\n  b\tc "), "a b c");
        assert_eq!(one_line("* A: one\n* B:\n  * two\n"), "A: one; B:; two");
    }
}
