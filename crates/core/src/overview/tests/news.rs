//! What has changed.

use super::scenes::*;
use super::world::seen;
use crate::overview::{Line, Overview, news};

fn told(before: Option<&Overview>, now: &Overview) -> Vec<String> {
    news(before, now).iter().map(Line::text).collect()
}

#[test]
fn everything_is_new_at_first_and_nothing_is_told_twice() {
    let first = seen(&waiting_for_network());
    let all = told(None, &first);
    assert_eq!(all.len(), 9, "{all:#?}");
    assert_eq!(told(Some(&first), &first), Vec::<String>::new());
}

#[test]
fn only_what_differs_is_told_and_what_has_gone() {
    let (before, after) = (seen(&addon_waiting_on_flux()), seen(&addon_failed()));
    let lines = told(Some(&before), &after);
    assert_eq!(
        lines,
        [
            "✗ AddonStackBinding/base.demo  ObjectRefused: HelmRelease karpenter/karpenter was refused: spec.chart is missing",
            "✓ Addon/flux  AddonReady",
            "✗ Addon/karpenter  ObjectRefused: HelmRelease karpenter/karpenter was refused: spec.chart is missing",
        ]
    );
    let gone = told(Some(&after), &seen(&missing_reference()));
    assert!(gone.contains(&"✓ AddonStackBinding/base.demo  is gone".to_owned()), "{gone:#?}");
}
