//! What an apply has begun and finished, as its `-json` stream says.
//!
//! A tool that dies takes along what it has not stored. What its calls had made by then is known from here alone.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::imports::Import;
use crate::redact::Redactor;

/// Of more finished calls than these the oldest are only counted. Calls in flight are never dropped: the tool bounds their number.
const MOST_FINISHED: usize = 2000;
/// All texts of finished calls together have so many bytes at most, so that they fit into a Secret beside what else is there.
const MOST_BYTES: usize = 192 << 10;
/// A longer address is cut. It names nothing that could be imported then.
const LONGEST_ADDRESS: usize = 1024;
/// A longer identifier is refused: cut, it would name another object.
const LONGEST_ID: usize = 2048;
/// Longer words of the tool are cut.
const LONGEST_WORD: usize = 128;

/// What an apply has begun and finished.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Calls {
    /// Calls whose success was not reported, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begun: Vec<BegunCall>,
    /// Calls that succeeded, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finished: Vec<FinishedCall>,
    /// How many more calls succeeded than are listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_finished: u64,
}

/// A call whose success was not reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BegunCall {
    /// The address of the resource.
    pub address: String,
    /// The type of the resource.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resource_type: String,
    /// For example `create`.
    pub action: String,
    /// When it began.
    pub at: Timestamp,
    /// What the object is known by, where it was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_value: Option<String>,
    /// Whether the tool reported its failure. The provider may have made something all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// A call that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinishedCall {
    /// The address of the resource.
    pub address: String,
    /// The type of the resource.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resource_type: String,
    /// For example `create`. After `delete` the object is gone.
    pub action: String,
    /// The attribute that names the object, for example `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_key: Option<String>,
    /// Its value; none where the tool reported none, or one that cannot be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_value: Option<String>,
    /// When it ended.
    pub at: Timestamp,
}

impl Calls {
    /// Whether nothing was begun.
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.finished.is_empty() && self.more_finished == 0
    }

    /// What creations that succeeded have made, also where no identifier is known. An object that was deleted at the same address is another one: a creation comes
    /// after the deletion of what it replaces, or before it.
    pub fn made(&self) -> Vec<Import> {
        let mut made: Vec<Import> = Vec::new();
        for call in self.finished.iter().filter(|call| call.action == "create") {
            let is_deletion =
                |other: &&FinishedCall| other.address == call.address && other.action == "delete";
            let deleted = self.finished.iter().filter(is_deletion).filter_map(|other| other.id_value.clone());
            made.retain(|import| import.address != call.address);
            made.push(Import {
                address: call.address.clone(),
                id: call.id_value.clone().unwrap_or_default(),
                replaces: deleted.collect(),
            });
        }
        made
    }

    /// The same without any secret. An identifier that holds one names nothing any more, and is left out.
    #[must_use]
    pub(crate) fn redacted(self, redactor: &Redactor) -> Self {
        let shown = |address: &str, id: Option<String>| {
            let shown = redactor.redact(address);
            let id = id.filter(|id| shown == address && redactor.redact(id) == *id);
            (shown, id)
        };
        Self {
            begun: self
                .begun
                .into_iter()
                .map(|mut call| {
                    (call.address, call.id_value) = shown(&call.address, call.id_value);
                    call
                })
                .collect(),
            finished: self
                .finished
                .into_iter()
                .map(|mut call| {
                    (call.address, call.id_value) = shown(&call.address, call.id_value);
                    call
                })
                .collect(),
            more_finished: self.more_finished,
        }
    }

    pub(crate) fn begin(&mut self, hook: &Hook<'_>, at: Timestamp) {
        if !hook.changes_something() {
            return;
        }
        self.begun.push(BegunCall {
            address: cut(hook.address, LONGEST_ADDRESS),
            resource_type: cut(hook.resource_type, LONGEST_WORD),
            action: cut(hook.action, LONGEST_WORD),
            at,
            id_value: known_id(hook),
            failed: false,
        });
    }

    pub(crate) fn fail(&mut self, hook: &Hook<'_>) {
        if let Some(index) = self.find(hook) {
            self.begun[index].failed = true;
        }
    }

    pub(crate) fn finish(&mut self, hook: &Hook<'_>, at: Timestamp) {
        if !hook.changes_something() {
            return;
        }
        let begun = self.find(hook).map(|index| self.begun.remove(index));
        // The end of a deletion does not name its object, but its beginning does.
        let id = known_id(hook).or_else(|| begun?.id_value);
        let call = FinishedCall {
            address: cut(hook.address, LONGEST_ADDRESS),
            resource_type: cut(hook.resource_type, LONGEST_WORD),
            action: cut(hook.action, LONGEST_WORD),
            id_key: hook.id_key.filter(|_| id.is_some()).map(|key| cut(key, LONGEST_WORD)),
            id_value: id,
            at,
        };
        self.finished.push(call);
        let mut bytes: usize = self.finished.iter().map(FinishedCall::len).sum();
        // The oldest are in the stored state by now: the tool stores it several times a minute.
        let mut dropped = 0;
        while self.finished.len() - dropped > MOST_FINISHED || bytes > MOST_BYTES {
            bytes -= self.finished[dropped].len();
            dropped += 1;
        }
        self.finished.drain(..dropped);
        self.more_finished += dropped as u64;
    }

    /// The oldest call of this kind that has not ended.
    fn find(&self, hook: &Hook<'_>) -> Option<usize> {
        let address = cut(hook.address, LONGEST_ADDRESS);
        let action = cut(hook.action, LONGEST_WORD);
        self.begun.iter().position(|call| !call.failed && call.address == address && call.action == action)
    }
}

impl FinishedCall {
    fn len(&self) -> usize {
        let id = self.id_value.as_ref().map_or(0, String::len);
        // About what the JSON around the texts takes.
        self.address.len() + self.resource_type.len() + id + 128
    }
}

/// What a message of the stream says of a call.
pub(crate) struct Hook<'message> {
    pub(crate) address: &'message str,
    pub(crate) resource_type: &'message str,
    pub(crate) action: &'message str,
    pub(crate) id_key: Option<&'message str>,
    pub(crate) id_value: Option<&'message str>,
}

impl Hook<'_> {
    /// Whether it may change something outside of the state. What CAPT does not know may.
    fn changes_something(&self) -> bool {
        !["read", "noop", "no-op", "move", "import", "forget", "open", "renew", "close"]
            .contains(&self.action)
    }
}

/// The identifier of a message; nothing where it is cut, or could not be kept whole.
fn known_id(hook: &Hook<'_>) -> Option<String> {
    let whole = hook.address.len() <= LONGEST_ADDRESS;
    let id = hook.id_value.filter(|id| whole && !id.is_empty() && id.len() <= LONGEST_ID);
    id.map(ToOwned::to_owned)
}

fn cut(text: &str, longest: usize) -> String {
    match (0..=longest).rev().find(|end| text.is_char_boundary(*end)) {
        Some(end) if text.len() > longest => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook<'a>(address: &'a str, action: &'a str, id: Option<&'a str>) -> Hook<'a> {
        Hook { address, resource_type: "a", action, id_key: id.map(|_| "id"), id_value: id }
    }

    #[test]
    fn finished_calls_above_the_limit_are_counted_and_begun_ones_are_kept() {
        let mut calls = Calls::default();
        for index in 0..MOST_FINISHED + 10 {
            let address = format!("a.b[{index}]");
            calls.begin(&hook(&address, "create", None), Timestamp::UNIX_EPOCH);
            calls.begin(&hook(&address, "read", None), Timestamp::UNIX_EPOCH);
            if index % 2 == 0 {
                calls.finish(&hook(&address, "create", Some("x")), Timestamp::UNIX_EPOCH);
            }
        }
        assert_eq!(calls.begun.len(), MOST_FINISHED / 2 + 5);
        assert_eq!(calls.finished.len() as u64 + calls.more_finished, MOST_FINISHED as u64 / 2 + 5);
        assert_eq!(
            calls.finished.last().unwrap().address,
            format!("a.b[{}]", MOST_FINISHED + 8),
            "the newest stay"
        );
        assert!(serde_json::to_vec(&calls.finished).unwrap().len() < MOST_BYTES + MOST_BYTES / 2);
    }

    #[test]
    fn what_was_made_last_at_an_address_is_imported() {
        let mut calls = Calls::default();
        for (address, action, before, after) in [
            ("a.new", "create", None, Some("1")),
            ("a.changed", "update", Some("2"), Some("2")),
            ("a.gone", "delete", Some("0"), None),
            ("a.replaced", "delete", Some("00"), None),
            ("a.replaced", "create", None, Some("3")),
            ("a.made_before", "create", None, Some("4")),
            ("a.made_before", "delete", Some("000"), None),
            ("a.nameless", "create", None, None),
        ] {
            calls.begin(&hook(address, action, before), Timestamp::UNIX_EPOCH);
            calls.finish(&hook(address, action, after), Timestamp::UNIX_EPOCH);
        }
        let made = calls.made();
        let told: Vec<(&str, &str, String)> =
            made.iter().map(|import| (&*import.address, &*import.id, import.replaces.concat())).collect();
        let expected = [
            ("a.new", "1", ""),
            ("a.replaced", "3", "00"),
            ("a.made_before", "4", "000"),
            ("a.nameless", "", ""),
        ];
        assert_eq!(told, expected.map(|(address, id, replaces)| (address, id, replaces.to_owned())));
    }

    #[test]
    fn what_is_too_long_is_cut_or_refused() {
        let mut calls = Calls::default();
        let (long, id) = ("é".repeat(LONGEST_ADDRESS), "i".repeat(LONGEST_ID + 1));
        calls.begin(&hook(&long, "create", None), Timestamp::UNIX_EPOCH);
        calls.finish(&hook(&long, "create", Some("short")), Timestamp::UNIX_EPOCH);
        calls.finish(&hook("a.b", "create", Some(&id)), Timestamp::UNIX_EPOCH);

        assert!(calls.begun.is_empty());
        assert!(calls.finished[0].address.len() <= LONGEST_ADDRESS + 3);
        assert_eq!(calls.finished.iter().map(|call| &call.id_value).collect::<Vec<_>>(), [&None, &None]);
    }

    #[test]
    fn an_identifier_or_address_that_holds_a_secret_is_not_kept() {
        let redactor = Redactor::new([b"hunter22".to_vec()]);
        let mut calls = Calls::default();
        calls.begin(&hook("a.b[\"hunter22\"]", "create", None), Timestamp::UNIX_EPOCH);
        calls.finish(&hook("a.c[\"hunter22\"]", "create", Some("x")), Timestamp::UNIX_EPOCH);
        calls.finish(&hook("a.d", "create", Some("hunter22")), Timestamp::UNIX_EPOCH);
        calls.finish(&hook("a.e", "create", Some("vpc-1")), Timestamp::UNIX_EPOCH);

        let calls = calls.redacted(&redactor);

        assert!(!serde_json::to_string(&calls).unwrap().contains("hunter22"));
        let ids: Vec<_> = calls.finished.iter().map(|call| call.id_value.as_deref()).collect();
        assert_eq!(ids, [None, None, Some("vpc-1")]);
    }
}
