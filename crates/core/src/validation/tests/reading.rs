use super::super::node::{Node, steps};
use super::super::position::{Origin, Position};
use super::super::read::read;
use super::*;

fn place(text: &str, path: &str) -> (usize, usize) {
    let Position { line, column } = read(text).documents[0].place(&steps(path));
    (line, column)
}

#[test]
fn everything_has_its_place() {
    let text = "# first\na:\n  b: 1\n  c:\n  - x: y\n  - 'two'\nd: {e: [1, 22]}\n";
    assert_eq!(place(text, "a"), (2, 1));
    assert_eq!(place(text, "a.b"), (3, 6));
    assert_eq!(place(text, "a.b.c"), (3, 3));
    assert_eq!(place(text, "a.c[0]"), (5, 5));
    assert_eq!(place(text, "a.c[0].x"), (5, 8));
    assert_eq!(place(text, "a.c[1]"), (6, 5));
    assert_eq!(place(text, "d.e[1]"), (7, 12));
    assert_eq!(place(text, "d.nothing.there"), (7, 1));
}

#[test]
fn lines_of_a_block_have_their_places() {
    let text = "data:\n  é: |\n\n    first\n      second\n";
    let reading = read(text);
    let node: &Node = reading.documents[0].get(&steps("data.é")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let origin = Origin::of_scalar(&lines, node.at, node.text().unwrap());
    assert_eq!(origin.place(Position { line: 3, column: 3 }), Position { line: 5, column: 7 });
}

#[test]
fn a_broken_document_does_not_hide_the_next() {
    let reading = read("a: [\n---\nb: 1\n---\nc: {\n---\nd: 2\n");
    assert_eq!(reading.documents.len(), 2, "{reading:?}");
    assert_eq!(reading.documents[1].place(&steps("d")), Position { line: 7, column: 4 });
    assert_eq!(reading.problems.len(), 2);
}

#[test]
fn aliases_and_nesting_have_an_end() {
    let bomb = (1..30).fold("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, index| {
        let before = index - 1;
        text + &format!("a{index}: &a{index} [{}]\n", vec![format!("*a{before}"); 10].join(", "))
    });
    assert_eq!(read(&bomb).documents.len(), 0);
    assert_eq!(read(&"[".repeat(100_000)).documents.len(), 0);
    assert_eq!(
        read(&(0..200).map(|depth| " ".repeat(depth) + "a:\n").collect::<String>()).documents.len(),
        0
    );
    let deep = (0..48).map(|depth| " ".repeat(depth) + "a:\n").collect::<String>();
    assert_eq!(read(&deep).documents.len(), 1, "{:?}", read(&deep).problems);
}

#[test]
fn json_with_tabs_is_read() {
    assert_eq!(place("{\n\t\"a\": {\n\t\t\"b\": 1 }\n}", "a.b"), (3, 8));
}

#[test]
fn lists_are_taken_apart() {
    let text = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a, labels: {x: 1}}\n";
    assert_eq!(
        found(text),
        [
            "a.yaml:4:35: error: `metadata.labels` has a number for `x`, and only texts are allowed; put it in quotes"
        ]
    );
}
