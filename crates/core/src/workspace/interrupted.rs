//! Calls of an apply that died, of which nobody knows what they made.

use capt_api::names::annotation;
use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// So many calls are remembered until a person has checked them; the newest stay.
const MOST: usize = 64;
/// So many calls are named in a message.
const SHOWN: usize = 20;

/// A call whose result is not in the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptedCall {
    /// The address of the resource.
    pub address: String,
    /// For example `create`.
    pub action: String,
    /// When it began; when it ended, where that is known.
    pub at: Timestamp,
    /// What it is known to have made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<MadeObject>,
}

/// An object that a call made, and that was not imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MadeObject {
    /// Its identifier, where the tool reported one that can be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why it was not imported.
    pub why: String,
}

/// Adds calls to those that are remembered, each once.
#[must_use]
pub fn remember(mut known: Vec<InterruptedCall>, new: &[InterruptedCall]) -> Vec<InterruptedCall> {
    for call in new {
        match known.iter_mut().find(|old| old.address == call.address && old.at == call.at) {
            Some(old) => old.clone_from(call),
            None => known.push(call.clone()),
        }
    }
    known.sort_by(|left, right| (left.at, &left.address).cmp(&(right.at, &right.address)));
    // What was made is known by its address; of a call in flight nobody knows anything else.
    while known.len() > MOST {
        let oldest = known.iter().position(|call| call.made.is_some()).unwrap_or_default();
        known.remove(oldest);
    }
    known
}

/// The calls that nobody has checked yet. `checked` is the user's word: the time of the newest call that was checked.
#[must_use]
pub fn unchecked(calls: Vec<InterruptedCall>, checked: Option<&str>) -> Vec<InterruptedCall> {
    let checked: Option<Timestamp> = checked.and_then(|text| text.trim().parse().ok());
    calls.into_iter().filter(|call| checked.is_none_or(|checked| call.at > checked)).collect()
}

/// Whether the next comparison with reality shows what became of it. Only of what a creation made, nobody knows the identifier.
pub fn shows_at_next_plan(call: &InterruptedCall) -> bool {
    call.made.is_none() && call.action != "create"
}

/// What to report of calls, and what a person does about them.
pub fn message(calls: &[InterruptedCall], workspace: &str) -> String {
    let of_kind = |is_made: bool| calls.iter().filter(move |call| call.made.is_some() == is_made);
    let in_flight: Vec<String> =
        of_kind(false).map(|call| format!("{} {} (since {})", call.action, call.address, call.at)).collect();
    let made: Vec<String> = of_kind(true)
        .filter_map(|call| {
            let MadeObject { id, why } = call.made.as_ref()?;
            let id = id.as_ref().map(|id| format!(", id {id}")).unwrap_or_default();
            Some(format!("{} (at {}{id}: {why})", call.address, call.at))
        })
        .collect();
    let sentences = [
        (
            "a run died while these calls were in flight, and nobody knows whether they made something",
            in_flight,
        ),
        ("a run that died made these objects, and they are not imported", made),
    ];
    let told: Vec<String> = sentences
        .into_iter()
        .filter(|(_, named)| !named.is_empty())
        .map(|(sentence, named)| format!("{sentence}: {}", shortened(&named)))
        .collect();
    let newest = calls.iter().map(|call| call.at).max().unwrap_or_default();
    format!(
        "{}. Look for them where they would be; then: kubectl annotate --overwrite workspace {workspace} {}={newest}",
        told.join(". "),
        annotation::CHECKED_INTERRUPTED_CALLS
    )
}

fn shortened(named: &[String]) -> String {
    let shown = named.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match named.len().checked_sub(SHOWN) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn in_flight(address: &str, action: &str, second: i64) -> InterruptedCall {
        InterruptedCall { address: address.to_owned(), action: action.to_owned(), at: at(second), made: None }
    }

    fn made(address: &str, id: Option<&str>, second: i64) -> InterruptedCall {
        let object = MadeObject { id: id.map(str::to_owned), why: "no importer".to_owned() };
        InterruptedCall { made: Some(object), ..in_flight(address, "create", second) }
    }

    fn addresses(calls: &[InterruptedCall]) -> Vec<&str> {
        calls.iter().map(|call| call.address.as_str()).collect()
    }

    #[test]
    fn each_call_is_remembered_once_and_the_newest_stay() {
        let known =
            remember(vec![in_flight("a.a", "create", 1)], &[made("a.a", Some("1"), 1), made("a.b", None, 0)]);
        assert_eq!(known, [made("a.b", None, 0), made("a.a", Some("1"), 1)]);

        let many: Vec<_> = (0..100).map(|index| in_flight("a.a", "create", index)).collect();
        let known = remember(Vec::new(), &many);
        assert_eq!((known.len(), known[0].at), (MOST, at(100 - 64)));

        let made: Vec<_> = (1..100).map(|index| made("a.b", None, index)).collect();
        let known = remember(vec![in_flight("a.a", "create", 0)], &made);
        assert_eq!((known.len(), known[0].address.as_str()), (MOST, "a.a"), "calls in flight stay");
    }

    #[test]
    fn what_was_checked_is_dropped_and_what_came_later_stays() {
        let calls = vec![in_flight("a.a", "create", 1), in_flight("a.b", "create", 2)];
        assert_eq!(addresses(&unchecked(calls.clone(), None)), ["a.a", "a.b"]);
        assert_eq!(addresses(&unchecked(calls.clone(), Some("nonsense"))), ["a.a", "a.b"]);
        assert_eq!(addresses(&unchecked(calls.clone(), Some(&at(1).to_string()))), ["a.b"]);
        assert_eq!(addresses(&unchecked(calls, Some(&at(2).to_string()))), [""; 0]);
    }

    #[test]
    fn only_creations_stay_unknown_after_a_plan() {
        assert!(shows_at_next_plan(&in_flight("a.a", "update", 1)));
        assert!(shows_at_next_plan(&in_flight("a.a", "delete", 1)));
        assert!(!shows_at_next_plan(&in_flight("a.a", "create", 1)));
        assert!(!shows_at_next_plan(&made("a.a", None, 1)));
    }

    #[test]
    fn the_message_names_each_call_and_what_to_do() {
        let calls = [
            in_flight("aws_vpc.a", "create", 0),
            made("aws_eip.b", Some("eip-1"), 1),
            made("aws_eip.c", None, 2),
        ];
        assert_eq!(
            message(&calls, "demo"),
            "a run died while these calls were in flight, and nobody knows whether they made something: create aws_vpc.a (since 2023-11-14T22:13:20Z). \
            a run that died made these objects, and they are not imported: aws_eip.b (at 2023-11-14T22:13:21Z, id eip-1: no importer), \
            aws_eip.c (at 2023-11-14T22:13:22Z: no importer). Look for them where they would be; then: \
            kubectl annotate --overwrite workspace demo capt.cluster.x-k8s.io/checked-interrupted-calls=2023-11-14T22:13:22Z"
        );
        let many: Vec<_> = (0..22).map(|index| in_flight("a.a", "create", index)).collect();
        assert!(message(&many, "demo").contains(" and 2 more. "), "{}", message(&many, "demo"));
    }
}
