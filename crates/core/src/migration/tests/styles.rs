//! Modules as people write them, each with what is to become of it: lines that begin with `-` go, lines that begin with
//! `+` come, all others stay.

use rstest::rstest;

use super::{all, edited, which};
use crate::migration::Which;

/// The module before, and the module after.
fn sides(drawn: &str) -> (String, String) {
    let side = |left_out: char| -> String {
        let lines = drawn.split_inclusive('\n').filter(|line| !line.starts_with(left_out));
        lines.map(|line| line.get(1..).unwrap_or(line)).collect()
    };
    (side('+'), side('-'))
}

#[rstest]
#[case::of_the_proposals(include_str!("styles/proposals.txt"), which(&["karpenter"]))]
#[case::blueprints(include_str!("styles/blueprints.txt"), all())]
#[case::provider_three(include_str!("styles/provider_three.txt"), which(&["karpenter"]))]
#[case::comments_everywhere(include_str!("styles/comments.txt"), which(&["karpenter"]))]
#[case::heredocs(include_str!("styles/heredocs.txt"), which(&["karpenter"]))]
#[case::expressions(include_str!("styles/expressions.txt"), which(&["karpenter", "karpenter_crd"]))]
#[case::one_of_many(include_str!("styles/one_of_many.txt"), which(&["karpenter"]))]
fn a_module_of_this_style(#[case] drawn: &str, #[case] which: Which) {
    for line_break in ["\n", "\r\n"] {
        let (before, after) = sides(drawn);
        let [before, after] = [before, after].map(|text| text.replace('\n', line_break));
        for before in [before.clone(), format!("\u{feff}{before}")] {
            let expected =
                if before.starts_with('\u{feff}') { format!("\u{feff}{after}") } else { after.clone() };
            let edit = edited(&before, &which);
            assert_eq!(edit.text, expected, "{:?}", edit.remarks);
        }
    }
}
