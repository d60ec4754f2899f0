//! The objects of several resources, one after the other.

use std::ops::Range;
use std::sync::Arc;

use capt_core::manifest::{Manifest, order};
use capt_core::resource_set::entry::Fate;

use crate::deliver::{Delivered, Outcome};
use crate::resources::Loaded;

/// How many objects are named.
const NAMED: usize = 3;

/// The objects of several resources, in the order in which they are brought.
pub(super) struct Goods {
    pub(super) manifests: Vec<Manifest>,
    /// Which of them are of which resource, by its place among the resources of the set.
    parts: Vec<(usize, Range<usize>)>,
}

impl Goods {
    /// Takes the objects of the resources at these places.
    pub(super) fn load(places: &[usize], contents: &[Arc<Loaded>]) -> Self {
        let mut goods = Self { manifests: Vec::new(), parts: Vec::new() };
        for place in places {
            let found = match contents.get(*place).map(|content| &**content) {
                Some(Loaded::There(there)) => there.manifests.clone().unwrap_or_default(),
                Some(Loaded::Missing | Loaded::WrongType(_)) | None => Vec::new(),
            };
            let start = goods.manifests.len();
            goods.manifests.extend(order(found));
            goods.parts.push((*place, start..goods.manifests.len()));
        }
        goods
    }

    /// What became of each resource.
    pub(super) fn fates(&self, delivered: &Delivered) -> Vec<Fate> {
        self.parts.iter().map(|(_, part)| fate(part, delivered)).collect()
    }

    /// The objects that were made or changed, in words, of those resources that are asked for.
    pub(super) fn written(&self, delivered: &Delivered, is_asked_for: impl Fn(usize) -> bool) -> String {
        let parts = self.parts.iter().filter(|(place, _)| is_asked_for(*place));
        let outcomes = parts.flat_map(|(_, part)| tried(part, delivered));
        let written = outcomes.filter(|(_, outcome)| is_written(outcome));
        let names: Vec<_> = written.map(|(key, _)| key.to_string()).collect();
        let first = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        match names.len().saturating_sub(NAMED) {
            0 => first,
            more => format!("{first} and {more} more"),
        }
    }
}

type Tried<'delivered> = &'delivered [(capt_core::manifest::ObjectKey, Outcome)];

/// What became of those objects that it was the turn of.
fn tried<'delivered>(part: &Range<usize>, delivered: &'delivered Delivered) -> Tried<'delivered> {
    let end = part.end.min(delivered.outcomes.len());
    delivered.outcomes.get(part.start.min(end)..end).unwrap_or_default()
}

fn fate(part: &Range<usize>, delivered: &Delivered) -> Fate {
    let tried = tried(part, delivered);
    let is_complete = tried.len() == part.len();
    let has_failed = tried.iter().any(|(_, outcome)| matches!(outcome, Outcome::Failed(_)));
    match (is_complete, has_failed) {
        (true, false) if part.is_empty() && delivered.stopped.is_some() => Fate::Untried,
        (true, false) => Fate::Brought { changed: tried.iter().any(|(_, outcome)| is_written(outcome)) },
        (false, false) if tried.is_empty() => Fate::Untried,
        (false, false) | (_, true) => Fate::Failed,
    }
}

fn is_written(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Created | Outcome::Changed => true,
        Outcome::Unchanged | Outcome::Failed(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use capt_api::names::Reason;
    use capt_core::manifest::ObjectKey;
    use rstest::rstest;

    use super::*;
    use crate::deliver::Trouble;
    use crate::error::Retry;

    fn delivered(outcomes: &[Outcome], stopped: bool) -> Delivered {
        let key = |number: usize| ObjectKey {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: None,
            name: format!("o-{number}"),
        };
        let outcomes = outcomes.iter().enumerate().map(|(number, outcome)| (key(number), outcome.clone()));
        let trouble = || Trouble::new(Reason::ClusterUnreachable, "gone", Retry::Backoff);
        Delivered { outcomes: outcomes.collect(), stopped: stopped.then(trouble), ..Delivered::default() }
    }

    fn failed() -> Outcome {
        Outcome::Failed(Trouble::new(Reason::ObjectRefused, "no", Retry::Rarely))
    }

    /// Two objects of the first resource, none of the second, two of the third.
    fn goods() -> Goods {
        Goods { manifests: Vec::new(), parts: vec![(0, 0..2), (3, 2..2), (4, 2..4)] }
    }

    const BROUGHT: Fate = Fate::Brought { changed: true };
    const THERE: Fate = Fate::Brought { changed: false };
    use Outcome::{Changed, Created, Unchanged};

    #[rstest]
    #[case::all_new(&[Created, Created, Created, Created], false, [BROUGHT, THERE, BROUGHT])]
    #[case::all_there(&[Unchanged, Unchanged, Unchanged, Unchanged], false, [THERE, THERE, THERE])]
    #[case::one_refused(&[Created, failed(), Created, Changed], false, [Fate::Failed, THERE, BROUGHT])]
    #[case::gone_before_it_began(&[], true, [Fate::Untried, Fate::Untried, Fate::Untried])]
    #[case::gone_half_way(&[Created, Created, Created], true, [BROUGHT, Fate::Untried, Fate::Failed])]
    #[case::gone_in_the_first(&[Unchanged], true, [Fate::Failed, Fate::Untried, Fate::Untried])]
    fn each_resource_has_its_own_fate(
        #[case] outcomes: &[Outcome],
        #[case] stopped: bool,
        #[case] expected: [Fate; 3],
    ) {
        assert_eq!(goods().fates(&delivered(outcomes, stopped)), expected);
    }

    #[test]
    fn what_was_written_is_named() {
        let all = delivered(&[Created, Unchanged, Changed, Created], false);
        assert_eq!(goods().written(&all, |_| true), "ConfigMap `o-0`, ConfigMap `o-2`, ConfigMap `o-3`");
        assert_eq!(goods().written(&all, |place| place == 0), "ConfigMap `o-0`");
        assert_eq!(goods().written(&all, |place| place == 3), "");
    }
}
