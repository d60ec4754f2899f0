//! Modules whose resources leave traces in files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// How many resources [`slow`] makes.
pub(crate) const COUNT: usize = 5;

/// Makes a file, and removes it when it is destroyed.
pub(crate) fn touching(file: &Path) -> String {
    format!(
        r#"
resource "terraform_data" "file" {{
  input = "{}"
  provisioner "local-exec" {{ command = "touch '${{self.input}}'" }}
  provisioner "local-exec" {{
    when    = destroy
    command = "rm '${{self.input}}'"
  }}
}}
output "file" {{ value = terraform_data.file.output }}
"#,
        file.display()
    )
}

/// Makes a resource that is what a file says: whoever writes to the file changes reality.
pub(crate) fn following(file: &Path) -> String {
    format!(
        r#"
resource "terraform_data" "real" {{ input = file("{}") }}
output "real" {{ value = terraform_data.real.output }}
"#,
        file.display()
    )
}

/// Makes resources that take a while each and leave a line in `made`, and in `destroyed` when they go.
pub(crate) fn slow(directory: &Path) -> String {
    format!(
        r#"
resource "terraform_data" "slow" {{
  count = {COUNT}
  input = "{}"
  provisioner "local-exec" {{ command = "sleep 0.5; echo ${{count.index}} >> '${{self.input}}/made'" }}
  provisioner "local-exec" {{
    when    = destroy
    command = "echo ${{count.index}} >> '${{self.input}}/destroyed'"
  }}
}}
output "count" {{ value = length(terraform_data.slow) }}
"#,
        directory.display()
    )
}

/// Makes a file, takes its time, and makes another.
pub(crate) fn lingering(begun: &Path, made: &Path) -> String {
    format!(
        r#"
resource "terraform_data" "lingering" {{
  provisioner "local-exec" {{ command = "touch '{}'; sleep 2; touch '{}'" }}
}}
"#,
        begun.display(),
        made.display()
    )
}

/// The lines of a file, in order.
pub(crate) fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(ToOwned::to_owned).collect()
}

/// The lines of a file in which each is there once.
pub(crate) fn unique_lines(file: &Path) -> BTreeSet<String> {
    let all = lines(file);
    let unique: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(unique.len(), all.len(), "something was done twice: {all:?}");
    unique
}
