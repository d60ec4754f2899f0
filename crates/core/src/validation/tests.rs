mod broken;
mod given;
mod other_tools;
mod reading;
mod robust;

use super::*;

/// Everything that is found in one file, as people read it.
fn found(text: &str) -> Vec<String> {
    told(&[File { name: "a.yaml", text }])
}

fn told(files: &[File<'_>]) -> Vec<String> {
    let line = |Finding { file, position: Position { line, column }, severity, message, .. }: Finding| {
        format!("{file}:{line}:{column}: {}: {message}", severity.as_str())
    };
    validate(files, &[]).into_iter().map(line).collect()
}
