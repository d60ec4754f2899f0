//! Names as the API server takes them.
//!
//! Names become parts of URLs: one that is not checked could lead anywhere.

/// What the API server takes as the name of most objects.
pub fn is_object_name(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_part_of_name)
}

/// What the API server takes as the name of a namespace.
pub fn is_namespace_name(name: &str) -> bool {
    name.len() <= 63 && is_part_of_name(name)
}

fn is_part_of_name(part: &str) -> bool {
    let edge = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    part.starts_with(edge)
        && part.ends_with(edge)
        && part.chars().all(|character| edge(character) || character == '-')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("demo-1", true, true)]
    #[case::with_a_dot("demo.example", true, false)]
    #[case::empty("", false, false)]
    #[case::upper_case("Demo", false, false)]
    #[case::a_path("../../secrets/x", false, false)]
    #[case::a_query("x?force=true", false, false)]
    #[case::two_dots("a..b", false, false)]
    #[case::hyphen_at_an_edge("-a", false, false)]
    fn names_are_told_from_what_could_lead_anywhere(
        #[case] name: &str,
        #[case] object: bool,
        #[case] namespace: bool,
    ) {
        assert_eq!((is_object_name(name), is_namespace_name(name)), (object, namespace));
    }
}
