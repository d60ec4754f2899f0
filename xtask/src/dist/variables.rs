//! Variables of clusterctl in a text, and everything else kept from being taken for one.
//!
//! clusterctl replaces `${NAME}` wherever it stands: in modules of Terraform and in descriptions, too. There `$$` stands for `$`.

use std::collections::BTreeSet;

/// What stands for a variable until the text is written: no text of ours has it.
const OPEN: &str = "@capt-variable(";
const CLOSE: &str = ")@";
const OPEN_LIST: &str = "@capt-list(";
const CLOSE_LIST: &str = ")list@";

/// A value for a field that clusterctl fills, as `NAME` or `NAME:=default`; the default may have [`variable`]s as well.
pub(super) fn variable(name: &str) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

/// A value for a field that takes several values, which the user separates by commas.
pub(super) fn list(name: &str) -> String {
    format!("{OPEN_LIST}{name}{CLOSE_LIST}")
}

/// The text as clusterctl has to get it: with variables where [`variable`] and [`list`] put them, and nowhere else.
pub(super) fn finish(text: &str) -> String {
    let mut text = escape(text).replace(OPEN, "${").replace(CLOSE, "}");
    // A list is written as YAML has it, and not as a text in quotes.
    for quote in ['"', '\''] {
        text = text
            .replace(&format!("{quote}{OPEN_LIST}"), "[${")
            .replace(&format!("{CLOSE_LIST}{quote}"), "}]");
    }
    text
}

/// The names that clusterctl asks for; not those that a default is made of.
pub(super) fn names(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        rest = match (after.strip_prefix('$'), after.strip_prefix('{')) {
            (Some(escaped), _) => escaped,
            (_, Some(name)) => {
                names.extend(name.split([':', '}']).next());
                after_closing_brace(name)
            }
            _ => after,
        };
    }
    names
}

/// What follows a variable, whose default may have variables too.
fn after_closing_brace(text: &str) -> &str {
    let mut open = 1;
    let end = text.find(|letter| {
        match letter {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        open == 0
    });
    end.map_or("", |end| &text[end + 1..])
}

fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '$' && letters.peek().is_some_and(|next| matches!(next, '$' | '{')) {
            result.push(letter);
        }
        result.push(letter);
    }
    result
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("a text", "a text")]
    #[case::an_expression_of_terraform("${var.region}", "$${var.region}")]
    #[case::an_escape_of_terraform("$${var.region}", "$$$${var.region}")]
    #[case::the_end_of_a_pattern("^[a-z]+$", "^[a-z]+$")]
    #[case::two_dollars("$$", "$$$")]
    #[case::backslashes(r"a\\b\/c\.d", r"a\\b\/c\.d")]
    fn nothing_but_variables_is_replaced_by_clusterctl(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(finish(text), expected);
    }

    #[test]
    fn a_variable_stays_one() {
        assert_eq!(finish(&variable("REGION:=local")), "${REGION:=local}");
    }

    #[rstest]
    #[case::double('"')]
    #[case::single('\'')]
    fn a_list_loses_its_quotes(#[case] quote: char) {
        assert_eq!(finish(&format!("a: {quote}{}{quote}", list("CIDRS"))), "a: [${CIDRS}]");
    }

    #[test]
    fn names_are_those_that_are_not_escaped() {
        let text = "${A} $${b} ${C:=${D}} $$${E} $ $f ${";

        assert_eq!(names(text), BTreeSet::from(["", "A", "C", "E"]));
    }
}
