//! Broken files, and the whole of what is said of each.
//!
//! A case is a line `=== what it is`, the file (more of them each after a line `##### name`), a line `>>>`, and what is found.

use rstest::rstest;

use super::*;

struct Case<'text> {
    title: &'text str,
    files: Vec<File<'text>>,
    expected: &'text str,
}

fn cases(table: &str) -> Vec<Case<'_>> {
    table.split("=== ").skip(1).map(case).collect()
}

fn case(text: &str) -> Case<'_> {
    let (title, rest) = text.split_once('\n').unwrap();
    let (files, expected) = rest.split_once("\n>>>\n").unwrap();
    let mut files = files.split("\n##### ");
    let mut all = vec![File { name: "a.yaml", text: files.next().unwrap() }];
    all.extend(files.map(|file| file.split_once('\n').unwrap()).map(|(name, text)| File { name, text }));
    Case { title, files: all, expected: expected.trim_end() }
}

#[rstest]
#[case::reading(include_str!("broken/reading.txt"), 8)]
#[case::kinds(include_str!("broken/kinds.txt"), 20)]
#[case::references(include_str!("broken/references.txt"), 14)]
#[case::classes(include_str!("broken/classes.txt"), 12)]
#[case::stacks(include_str!("broken/stacks.txt"), 18)]
fn broken_files_are_told_of(#[case] table: &str, #[case] least: usize) {
    let cases = cases(table);
    assert!(cases.len() >= least, "{}", cases.len());
    let told_of = |case: &Case<'_>, told: &str| format!("=== {}\n{told}\n", case.title);
    let actual: Vec<String> = cases.iter().map(|case| told_of(case, &told(&case.files).join("\n"))).collect();
    let expected: Vec<String> = cases.iter().map(|case| told_of(case, case.expected)).collect();
    assert_eq!(actual, expected, "\n{}", actual.join("\n"));
    assert!(cases.iter().all(|case| !case.expected.is_empty()));
}
