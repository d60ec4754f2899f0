//! The best way through all states.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::super::product::{Product, Versions};
use super::super::table::Table;
use super::super::version::Version;
use super::axis::Axis;
use super::conflicts;

/// Where each product stands on its axis.
type State = Vec<usize>;
/// How many states on the way are unsupported, then how many steps there are.
type Cost = (usize, usize);

/// Which product goes to which version, one after the other.
///
/// There always is a way: the one on which every product goes straight to its end.
pub(super) fn search(table: &Table, axes: &[Axis]) -> Vec<(Product, Version)> {
    let start: State = vec![0; axes.len()];
    let mut open = BinaryHeap::from([Reverse(((0, 0), 0, start.clone()))]);
    let mut best: BTreeMap<State, (Cost, Option<State>)> = BTreeMap::from([(start, ((0, 0), None))]);
    // Of equals, the one that was found first goes on first.
    let mut found = 0;
    while let Some(Reverse((cost, _, state))) = open.pop() {
        if is_end(axes, &state) {
            return way(axes, &best, state);
        }
        if best.get(&state).is_some_and(|(known, _)| *known < cost) {
            continue;
        }
        for next in moves(axes, &state) {
            let unsupported = usize::from(!conflicts(table, &versions(axes, &next)).is_empty());
            let cost = (cost.0 + unsupported, cost.1 + 1);
            if best.get(&next).is_none_or(|(known, _)| cost < *known) {
                best.insert(next.clone(), (cost, Some(state.clone())));
                found += 1;
                open.push(Reverse((cost, found, next)));
            }
        }
    }
    Vec::new()
}

fn is_end(axes: &[Axis], state: &State) -> bool {
    axes.iter().zip(state).all(|(axis, stop)| !axis.must_arrive || stop + 1 == axis.stops.len())
}

/// Every state that is one step away: an add-on may go to any newer version, Kubernetes to the next.
fn moves(axes: &[Axis], state: &State) -> Vec<State> {
    let mut reached = Vec::new();
    for (index, axis) in axes.iter().enumerate() {
        let next = state[index] + 1;
        let stops = match axis.product {
            Product::Kubernetes => next..axis.stops.len().min(next + 1),
            Product::Flux | Product::Karpenter | Product::Helm => next..axis.stops.len(),
        };
        // The newest first.
        reached.extend(stops.rev().map(|stop| {
            let mut moved = state.clone();
            moved[index] = stop;
            moved
        }));
    }
    reached
}

fn versions(axes: &[Axis], state: &State) -> Versions {
    let stands =
        axes.iter().zip(state).filter_map(|(axis, stop)| Some((axis.product, *axis.stops.get(*stop)?)));
    stands.fold(Versions::default(), |versions, (product, version)| versions.with(product, version))
}

/// The steps that lead to a state.
fn way(axes: &[Axis], best: &BTreeMap<State, (Cost, Option<State>)>, end: State) -> Vec<(Product, Version)> {
    let mut steps = Vec::new();
    let mut state = end;
    while let Some((_, Some(before))) = best.get(&state) {
        let moved = axes.iter().zip(state.iter().zip(before)).find(|(_, (after, before))| after != before);
        steps.extend(moved.and_then(|(axis, (after, _))| Some((axis.product, *axis.stops.get(*after)?))));
        state.clone_from(before);
    }
    steps.reverse();
    steps
}
