//! References beside each other.

use super::Entry;
use super::finding::Finding;
use super::problem::Problem;
use crate::helm_values::path::Segment;

/// How the way of a later path is to that of an earlier one.
#[derive(Clone, Copy)]
enum Relation {
    Apart,
    Same,
    /// It goes on where the earlier one ends.
    Through,
    /// It ends where the earlier one goes on.
    Over,
    /// One wants a mapping where the other wants a list.
    Split,
}

/// What the others leave of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its value is set, and stays.
    Stays,
    /// Its value is set, and a later one replaces all around it.
    Replaced,
    /// Its path cannot be set, or it has none.
    Unset,
}

/// Tells of paths that meet, and what becomes of each entry.
pub(super) fn check(entries: &[Entry], findings: &mut Vec<Finding>) -> Vec<Standing> {
    let mut standings = vec![Standing::Stays; entries.len()];
    for (position, entry) in entries.iter().enumerate() {
        if entry.path.is_none() {
            standings[position] = Standing::Unset;
        }
        for (before, earlier) in entries[..position].iter().enumerate() {
            let relation = relation(earlier, entry);
            match relation {
                Relation::Through | Relation::Split => standings[position] = Standing::Unset,
                Relation::Over if standings[before] == Standing::Stays => {
                    standings[before] = Standing::Replaced;
                }
                Relation::Apart | Relation::Same | Relation::Over => {}
            }
            let problem = told(relation, earlier, entry);
            findings.extend(problem.map(|problem| Finding::new(entry.place("targetPath"), problem)));
        }
    }
    standings
}

fn told(relation: Relation, earlier: &Entry, later: &Entry) -> Option<Problem> {
    let (index, other) = (earlier.index, earlier.path.as_ref()?);
    match relation {
        Relation::Apart => None,
        // What may be missing is there to replace what always is.
        Relation::Same if later.reference.optional && !earlier.reference.optional => None,
        Relation::Same => Some(Problem::SamePath { other: index }),
        Relation::Through => Some(Problem::ThroughReference { other: index, path: other.to_string() }),
        Relation::Over => Some(Problem::OverReference { other: index, path: other.to_string() }),
        Relation::Split => Some(Problem::SplitReference { other: index, path: other.to_string() }),
    }
}

fn relation(earlier: &Entry, later: &Entry) -> Relation {
    let (Some(earlier), Some(later)) = (&earlier.path, &later.path) else { return Relation::Apart };
    let (earlier, later) = (earlier.segments(), later.segments());
    for (one, another) in earlier.iter().zip(later) {
        match (one, another) {
            (one, another) if one == another => {}
            (Segment::Key(_), Segment::Key(_)) | (Segment::Index(_), Segment::Index(_)) => {
                return Relation::Apart;
            }
            (Segment::Key(_), Segment::Index(_)) | (Segment::Index(_), Segment::Key(_)) => {
                return Relation::Split;
            }
        }
    }
    match earlier.len().cmp(&later.len()) {
        std::cmp::Ordering::Less => Relation::Through,
        std::cmp::Ordering::Equal => Relation::Same,
        std::cmp::Ordering::Greater => Relation::Over,
    }
}
