//! Whether configuration declares where the state is kept.

use capt_core::module::{self, Format};
use hcl_edit::parser::parse_body;
use hcl_edit::structure::{Block, Body};

/// Whether the text declares a backend or `cloud`. `local` counts as none: its file would be lost.
///
/// What cannot be read declares nothing here: Terraform will say what is wrong with it, and where only our reading of it is
/// too narrow, the engine keeps a backend that it finds declared all the same.
pub(super) fn is_declared(configuration: &str) -> bool {
    // Refuses what is too large or too deep for a parser.
    if module::read(configuration, Format::Hcl).is_err() {
        return false;
    }
    let text = configuration.strip_prefix('\u{feff}').unwrap_or(configuration);
    let Ok(body) = parse_body(text) else { return false };
    blocks(&body, "terraform").flat_map(|settings| settings.body.blocks()).any(declares)
}

fn blocks<'body>(body: &'body Body, kind: &'static str) -> impl Iterator<Item = &'body Block> {
    body.blocks().filter(move |block| block.ident.as_str() == kind)
}

fn declares(block: &Block) -> bool {
    match block.ident.as_str() {
        "cloud" => true,
        "backend" => block.labels.first().is_some_and(|label| label.as_str() != "local"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty("", false)]
    #[case::broken("terraform {\n  backend \"s3\" {", false)]
    #[case::too_deep(&"a {\n".repeat(100_000), false)]
    #[case::providers_only("provider \"aws\" {\n  region = \"eu-west-1\"\n}\n", false)]
    #[case::commented_out("terraform {\n  # backend \"s3\" {}\n}\n", false)]
    #[case::elsewhere("provider \"x\" {\n  backend \"s3\" {}\n}\n", false)]
    #[case::local("terraform {\n  backend \"local\" {}\n}\n", false)]
    #[case::backend("terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n  }\n}\n", true)]
    #[case::second_block(
        "terraform {\n  required_version = \">= 1.5\"\n}\nterraform {\n  backend \"gcs\" {}\n}\n",
        true
    )]
    #[case::cloud("terraform {\n  cloud {\n    organization = \"o\"\n  }\n}\n", true)]
    #[case::byte_order_mark("\u{feff}terraform {\n  backend \"s3\" {}\n}\n", true)]
    fn a_declaration_is_found(#[case] configuration: &str, #[case] expected: bool) {
        assert_eq!(is_declared(configuration), expected);
    }
}
