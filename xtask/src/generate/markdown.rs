//! Pieces of Markdown that are made from texts of others.

/// A text as it stands outside of code, in a cell of a table too: no character of it is taken for markup.
pub(super) fn plain(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut in_code = false;
    for letter in text.trim().chars() {
        match letter {
            '`' => in_code = !in_code,
            '<' | '>' | '*' | '[' | ']' if !in_code => result.push('\\'),
            '|' => result.push('\\'),
            _ => {}
        }
        result.push(if letter == '\n' { ' ' } else { letter });
    }
    result
}

/// A text as code, in a cell of a table too.
pub(super) fn code(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", text.replace('|', "\\|").replace('\n', " "))
}

/// A table, or nothing where it has no rows.
pub(super) fn table<const COLUMNS: usize>(
    columns: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let rows: String = rows.into_iter().map(|row| line(&row.each_ref().map(String::as_str))).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("{}{}{rows}", line(&columns), line(&["---"; COLUMNS]))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("a text", "a text")]
    #[case::brackets("NAME is <name>", r"NAME is \<name\>")]
    #[case::code_stays("write `<name>`", "write `<name>`")]
    #[case::cells("a | b", r"a \| b")]
    #[case::cells_in_code("`a|b`", r"`a\|b`")]
    #[case::lines("one\ntwo", "one two")]
    fn no_character_is_taken_for_markup(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(plain(text), expected);
    }

    #[rstest]
    #[case::plain("x", "`x`")]
    #[case::cells("a|b", r"`a\|b`")]
    #[case::with_backticks("`x`", "`` `x` ``")]
    fn code_is_code(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(code(text), expected);
    }

    #[test]
    fn a_table_without_rows_is_nothing() {
        assert_eq!(table(["a"], Vec::<[String; 1]>::new()), "");
    }
}
