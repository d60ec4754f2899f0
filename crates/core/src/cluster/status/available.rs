//! `Available`: whether all of a Cluster's conditions say that it can be used.

use capt_api::Cluster;
use capt_api::capi::Polarity;
use capt_api::names::{Reason, condition as type_};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use crate::condition::{Stamp, Truth, condition, cut, find};

const LONGEST_MESSAGE: usize = 10_240;

/// What Cluster API looks at in any case.
const ALWAYS: [(&str, Polarity); 5] = [
    (type_::DELETING, Polarity::Negative),
    (type_::REMOTE_CONNECTION_PROBE, Polarity::Positive),
    (type_::INFRASTRUCTURE_READY, Polarity::Positive),
    (type_::CONTROL_PLANE_AVAILABLE, Polarity::Positive),
    (type_::WORKERS_AVAILABLE, Polarity::Positive),
];

/// What a condition means for the whole, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Issue,
    Unknown,
    Fine,
}

/// Sums up the conditions in `ours`, and those of others that `spec.availabilityGates` names.
pub(super) fn available(cluster: &Cluster, deleting: bool, ours: &[Condition], stamp: &Stamp) -> Condition {
    let gates = cluster
        .spec
        .availability_gates
        .iter()
        .map(|gate| (gate.condition_type.as_str(), gate.polarity.unwrap_or(Polarity::Positive)));
    let theirs = cluster.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let mut parts: Vec<(Weight, String)> = Vec::new();
    for (name, polarity) in ALWAYS.into_iter().chain(gates) {
        if name == type_::AVAILABLE {
            let why = "spec.availabilityGates names Available itself: take it out";
            parts.push((Weight::Unknown, line(name, why)));
            continue;
        }
        // A condition of ours is looked up among the new ones only.
        let found = find(ours, name).or_else(|| find(theirs, name));
        parts.push(match found {
            Some(condition) => part(condition, polarity, deleting),
            None => (Weight::Unknown, line(name, "Condition not yet reported")),
        });
    }
    let worst = parts.iter().map(|(weight, _)| *weight).min().unwrap_or(Weight::Unknown);
    let (truth, reason) = match worst {
        Weight::Issue => (Truth::False, Reason::NotAvailable),
        Weight::Unknown => (Truth::Unknown, Reason::AvailableUnknown),
        Weight::Fine => (Truth::True, Reason::Available),
    };
    let told = |(weight, line): &(Weight, String)| match weight {
        Weight::Issue | Weight::Unknown => Some(line.clone()),
        Weight::Fine => (worst == Weight::Fine && !line.is_empty()).then(|| line.clone()),
    };
    let message = parts.iter().filter_map(told).collect::<Vec<_>>().join("\n");
    condition(type_::AVAILABLE, truth, reason, &cut(&message, LONGEST_MESSAGE), stamp)
}

/// What a condition means, and the line that tells it. What is fine and says nothing has no line.
fn part(condition: &Condition, polarity: Polarity, deleting: bool) -> (Weight, String) {
    let good = match polarity {
        Polarity::Positive => Truth::True,
        Polarity::Negative => Truth::False,
    };
    let gone = [Reason::ObjectDeleted, Reason::ObjectDoesNotExist].map(Reason::as_str);
    let of_part = [type_::INFRASTRUCTURE_READY, type_::CONTROL_PLANE_AVAILABLE];
    let weight = if condition.status == good.as_str() {
        Weight::Fine
    } else if ![Truth::True, Truth::False].map(Truth::as_str).contains(&condition.status.as_str()) {
        Weight::Unknown
    } else if deleting
        && of_part.contains(&condition.type_.as_str())
        && gone.contains(&condition.reason.as_str())
    {
        // That parts are gone is what a deletion is about.
        Weight::Fine
    } else {
        Weight::Issue
    };
    let text = match (weight, condition.message.as_str()) {
        (Weight::Fine, "") => String::new(),
        (Weight::Issue | Weight::Unknown, "") => line(&condition.type_, &condition.reason),
        (_, message) => line(&condition.type_, message),
    };
    (weight, text)
}

fn line(name: &str, text: &str) -> String {
    if !text.contains('\n') {
        return format!("* {name}: {text}");
    }
    let lines = text.lines().map(|line| format!("\n  {line}"));
    format!("* {name}:{}", lines.collect::<String>())
}
