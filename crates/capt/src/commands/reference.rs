//! `capt reference`: the whole command line as a page of the documentation.

use clap::{Arg, Command, CommandFactory};

use crate::cli::Arguments;
use crate::printer::Printer;

const INTRODUCTION: &str = "\
# Command line

Every verb has `--help`, which says the same.
";

pub(crate) fn run(printer: Printer) -> anyhow::Result<()> {
    let mut command = Arguments::command();
    command.build();
    printer.text(&page(&command))
}

fn page(command: &Command) -> String {
    let mut parts = vec![
        INTRODUCTION.to_owned(),
        block(&after_help(command)),
        "\n## Flags of every verb\n".to_owned(),
        flags(command.get_arguments().filter(|argument| argument.is_global_set())),
    ];
    parts.extend(verbs(command).map(|verb| chapter(verb, 2)));
    parts.concat()
}

/// What users type; the rest is for programs of ours.
fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
}

fn chapter(command: &Command, level: usize) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let about = escaped(about.unwrap_or_default().trim());
    let usage = command.clone().render_usage().to_string();
    let own = command
        .get_arguments()
        .filter(|argument| !argument.is_global_set() && !argument.is_hide_set())
        .filter(|argument| !["help", "version"].contains(&argument.get_id().as_str()));
    let mut parts = vec![
        format!("\n{} {name}\n\n{about}\n", "#".repeat(level)),
        block(usage.trim_start_matches("Usage:")),
        flags(own),
        block(&after_help(command)),
    ];
    parts.extend(verbs(command).map(|verb| chapter(verb, (level + 1).min(6))));
    parts.concat()
}

fn after_help(command: &Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

/// A block of text as it is, after an empty line; nothing where it has none.
fn block(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("\n```text\n{text}\n```\n") }
}

/// A table of flags, after an empty line; nothing where there are none.
fn flags<'arguments>(arguments: impl Iterator<Item = &'arguments Arg>) -> String {
    let rows: Vec<_> = arguments.map(row).collect();
    if rows.is_empty() {
        String::new()
    } else {
        format!("\n| | default | |\n|---|---|---|\n{}", rows.concat())
    }
}

fn row(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = escaped(&help.split_whitespace().collect::<Vec<_>>().join(" "));
    let choices = Some(choices(argument)).filter(|choices| !choices.is_empty());
    let choices = choices.map(|choices| format!(": {choices}")).unwrap_or_default();
    let variable = argument.get_env().map(|variable| format!(" (variable `{}`)", variable.to_string_lossy()));
    let variable = variable.unwrap_or_default();
    let takes_value = argument.get_action().takes_values();
    let defaults = argument.get_default_values().iter().filter(|_| takes_value);
    let defaults: Vec<_> = defaults.map(|value| format!("`{}`", value.to_string_lossy())).collect();
    format!("| `{}` | {} | {help}{choices}{variable} |\n", name(argument), defaults.join(", "))
}

/// As it is typed: `-f, --file <FILE>`, or `<NAME>` for what has no flag.
fn name(argument: &Arg) -> String {
    let values: Vec<_> =
        argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect();
    let values = if argument.get_action().takes_values() { values.join(" ") } else { String::new() };
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let flag = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    [flag, values].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn choices(argument: &Arg) -> String {
    if !argument.get_action().takes_values() {
        return String::new();
    }
    let choices = argument.get_possible_values();
    let choices = choices.iter().filter(|choice| !choice.is_hide_set());
    let choices = choices.map(|choice| {
        let help = choice.get_help().map(|help| format!(" ({})", escaped(&help.to_string())));
        format!("`{}`{}", choice.get_name(), help.unwrap_or_default())
    });
    choices.collect::<Vec<_>>().join(", ")
}

/// Help texts are no Markdown: nothing in them is markup, and a line that is one of code stays one.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '<' | '>' | '|' | '*' | '[' | ']' | '_') {
            result.push('\\');
        }
        result.push(letter);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_that_users_see_has_a_chapter_with_its_flags() {
        let mut command = Arguments::command();
        command.build();
        let page = page(&command);

        for verb in verbs(&command) {
            assert!(page.contains(&format!("\n## capt {}\n", verb.get_name())), "{}", verb.get_name());
        }
        assert!(page.contains("\n### capt reconcile cluster\n"), "{page}");
        assert!(page.contains("| `--dir <DIR>` |  |"), "{page}");
        assert!(!page.contains("capt reference"), "{page}");
    }

    #[test]
    fn flags_that_every_verb_has_are_told_once() {
        let mut command = Arguments::command();
        command.build();

        assert_eq!(page(&command).matches("--log-format").count(), 1);
    }
}
