//! What differs from one run to the next.

use std::path::Path;

use regex_lite::{Captures, Regex};

/// What differs, with the room behind it, and what stands for it.
const DIFFERENT: [(&str, &str); 10] = [
    (r"127\.0\.0\.1:\d+ *", "ADDRESS"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z *", "TIME"),
    // Cut off at the end of the line.
    (r"\bat \d[\dTZ:.-]*…", "at TIME…"),
    (r"\(in \d+\w+\)", "(in AGE)"),
    (r"\b(\d+[smhdy])+( +|$)", "AGE"),
    (r"v?\d+\.\d+\.\d+ *", "VERSION"),
    (r"pid \d+", "pid PID"),
    (r"\d{5} \(kube-apiserver\), \d{5}, \d{5} \(etcd\)", "PORTS"),
    (r"\d+ MiB", "SIZE"),
    (r"/\S+/(tofu|terraform)\b", "/TERRAFORM"),
];

/// The screen with the same text for everything that differs; columns stay where they are.
pub(crate) fn redacted(screen: &str, root: &Path) -> String {
    let mut text = screen.replace(&*root.to_string_lossy(), "/home/you");
    let pids = (r"(VERSION +)\d+\n", "${1}PID\n");
    for (pattern, replacement) in DIFFERENT {
        text = Regex::new(&format!("(?m){pattern}"))
            .unwrap()
            .replace_all(&text, filling(replacement))
            .into_owned();
    }
    text = Regex::new(pids.0).unwrap().replace_all(&text, pids.1).into_owned();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Takes the room of what it stands for.
fn filling(replacement: &str) -> impl Fn(&Captures<'_>) -> String {
    move |found| {
        let found = &found[0];
        let room = if found.ends_with(' ') { found.chars().count() } else { 0 };
        let text = format!("{replacement:room$}");
        // What is longer than what it stands for is still a word of its own.
        if found.ends_with(' ') && !text.ends_with(' ') { text + " " } else { text }
    }
}
