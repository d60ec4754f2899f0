//! What people and programs see.

use rstest::rstest;

use super::scenes::*;
use super::world::{now, seen};
use crate::overview::{Facts, Line, Overview, lines, table};

fn drawn(overview: &Overview, width: Option<usize>) -> String {
    let lines: Vec<_> = lines(overview, now(), width).iter().map(Line::text).collect();
    lines.join("\n") + "\n"
}

#[rstest]
#[case(all_ready, "all-ready")]
#[case(waiting_for_network, "waiting-for-network")]
#[case(apply_failing, "apply-failing")]
#[case(approval_needed, "approval-needed")]
#[case(credentials_rejected, "credentials-rejected")]
#[case(secret_not_owned, "secret-not-owned")]
#[case(addon_waiting_on_flux, "addon-waiting-on-flux")]
#[case(addon_failed, "addon-failed")]
#[case(paused, "paused")]
#[case(deleting_held_by_a_node_claim, "deleting")]
#[case(missing_reference, "missing-reference")]
#[case(foreign_providers, "foreign-providers")]
#[case(crossplane_runs_terraform, "crossplane")]
#[case(most_may_not_be_read, "forbidden")]
fn a_cluster_is_drawn_as_a_tree(#[case] scene: fn() -> Facts, #[case] name: &str) {
    insta::assert_snapshot!(name, drawn(&seen(&scene()), Some(140)));
}

#[test]
fn programs_get_the_same_with_names_that_stay() {
    insta::assert_yaml_snapshot!("data", seen(&apply_failing()));
}

#[test]
fn no_line_of_the_tree_is_wider_than_the_screen() {
    let overview = seen(&approval_needed());
    for width in [0, 1, 20, 60, 80] {
        let tree = lines(&overview, now(), Some(width));
        let tree = tree.iter().take_while(|line| !line.spans.is_empty());
        assert!(tree.clone().all(|line| line.text().chars().count() <= width), "{width}");
    }
}

#[test]
fn a_pipe_gets_every_message_in_full() {
    let text = drawn(&seen(&approval_needed()), None);
    assert!(text.contains("approve-plan=0123456789abcdef"), "{text}");
    assert!(text.lines().count() < 25, "messages stay in one line: {text}");
}

#[test]
fn clusters_are_told_in_a_table() {
    let summaries: Vec<_> =
        [all_ready, waiting_for_network, addon_failed, foreign_providers, nobody_looks_after_it]
            .iter()
            .map(|scene| seen(&scene()).summary)
            .collect();
    insta::assert_snapshot!("table", table(&summaries, true, now()));
    let alone = table(&summaries[..1], false, now());
    assert!(alone.starts_with("NAME "), "{alone}");
}
