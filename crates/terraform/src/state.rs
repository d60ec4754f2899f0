//! A version of a state, and which of several versions counts.

use serde::{Deserialize, Serialize};

use crate::fingerprint::content_digest;
use crate::secret::Secret;

/// One whole version of a state, as the tool writes it. A torn file is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateVersion {
    /// The text.
    pub text: Secret,
    /// Names the state and all versions that follow from it.
    pub lineage: String,
    /// How often the state was written.
    pub serial: u64,
    /// Names this very text.
    pub digest: String,
}

/// What tells a state from any other JSON. A state that OpenTofu has encrypted has both fields, too.
#[derive(Deserialize)]
struct Written {
    lineage: String,
    serial: u64,
}

impl StateVersion {
    /// Reads a version; nothing where the text is torn, empty or no state.
    pub fn read(text: Vec<u8>) -> Option<Self> {
        let Written { lineage, serial } = serde_json::from_slice(&text).ok()?;
        // A lineage names the state: without one, nobody knows what follows from what.
        let digest = (!lineage.is_empty()).then(|| content_digest(&text))?;
        Some(Self { text: Secret::new(text), lineage, serial, digest })
    }
}

/// The digests of the versions in a working directory that are known to be stored, or may be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// The last version that was loaded from the keeper, or that the keeper has stored.
    pub(crate) stored: Option<String>,
    /// Versions that were given to the keeper since; whether one of them was stored is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sent: Vec<String>,
    /// Lineage and serial of the version that is known to be stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) known: Option<(String, u64)>,
}

/// So many versions are remembered while the keeper does not answer. A version that is forgotten counts as somebody else's.
const MOST_SENT: usize = 256;

impl Marks {
    /// The versions from which the one in the directory follows.
    pub(crate) fn earlier(&self) -> Vec<String> {
        self.stored.iter().chain(&self.sent).cloned().collect()
    }

    /// The marks of a version that is known to be stored.
    pub(crate) fn stored(version: &StateVersion) -> Self {
        Self {
            stored: Some(version.digest.clone()),
            sent: Vec::new(),
            known: Some((version.lineage.clone(), version.serial)),
        }
    }

    /// Whether a version goes on from the one that is stored. A module can write whatever it likes into the file.
    pub(crate) fn are_followed_by(&self, version: &StateVersion) -> bool {
        let follows =
            |(lineage, serial): &(String, u64)| version.lineage == *lineage && version.serial >= *serial;
        self.known.as_ref().is_none_or(follows)
    }

    /// The same after one more version was given to the keeper.
    pub(crate) fn sending(mut self, digest: &str) -> Self {
        self.sent.retain(|sent| sent != digest);
        self.sent.push(digest.to_owned());
        let forgotten = self.sent.len().saturating_sub(MOST_SENT);
        self.sent.drain(..forgotten);
        self
    }

    fn has(&self, digest: &str) -> bool {
        self.stored.as_deref() == Some(digest) || self.sent.iter().any(|sent| sent == digest)
    }
}

/// What becomes of the file in a working directory and the version that the keeper has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reconciled {
    /// Both are the same.
    Same,
    /// The stored version replaces the file.
    TakeStored,
    /// The file is newer and is stored before anything else.
    StoreFile,
    /// Both hold something that the other does not: a person decides.
    Fork,
}

/// Decides between the file of an interrupted run and the version that is stored.
pub(crate) fn reconcile(
    file: Option<&StateVersion>,
    stored: Option<&StateVersion>,
    marks: &Marks,
) -> Reconciled {
    let Some(file) = file else { return Reconciled::TakeStored };
    let Some(stored) = stored else { return Reconciled::StoreFile };
    if file.digest == stored.digest {
        return Reconciled::Same;
    }
    if marks.stored.as_deref() == Some(file.digest.as_str()) {
        // Nothing is in the file that was not stored once: somebody else has gone on since.
        return Reconciled::TakeStored;
    }
    let follows = file.lineage == stored.lineage && file.serial > stored.serial;
    // Without marks (a machine that lost its power) the serials alone tell.
    let is_known = marks.has(&stored.digest) || *marks == Marks::default();
    if follows && is_known { Reconciled::StoreFile } else { Reconciled::Fork }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn version(lineage: &str, serial: u64, content: &str) -> StateVersion {
        let text =
            format!(r#"{{"version":4,"lineage":"{lineage}","serial":{serial},"resources":[{content}]}}"#);
        StateVersion::read(text.into_bytes()).unwrap()
    }

    fn marks(stored: Option<&StateVersion>, sent: Option<&StateVersion>) -> Marks {
        let digest = |version: &StateVersion| version.digest.clone();
        let known = stored.map(|version| (version.lineage.clone(), version.serial));
        Marks { stored: stored.map(digest), sent: sent.map(digest).into_iter().collect(), known }
    }

    #[rstest]
    #[case::nothing(b"")]
    #[case::torn(br#"{"version":4,"lineage":"l","serial":3,"resources":["#)]
    #[case::two(br#"{"lineage":"l","serial":3}{"lineage":"l","serial":4}"#)]
    #[case::zeros(&[0; 64])]
    #[case::no_lineage(br#"{"serial":3,"resources":[]}"#)]
    #[case::an_empty_lineage(br#"{"lineage":"","serial":3}"#)]
    #[case::a_serial_below_zero(br#"{"lineage":"l","serial":-3}"#)]
    #[case::a_list(br#"[{"lineage":"l","serial":3}]"#)]
    fn what_is_torn_or_no_state_is_no_version(#[case] text: &[u8]) {
        assert_eq!(StateVersion::read(text.to_vec()), None);
    }

    #[test]
    fn an_encrypted_state_is_a_version() {
        let text =
            br#"{"serial":3,"lineage":"l","meta":{},"encrypted_data":"YQ==","encryption_version":"v0"}"#;
        let read = StateVersion::read(text.to_vec()).unwrap();
        assert_eq!((read.lineage.as_str(), read.serial), ("l", 3));
    }

    #[test]
    fn without_a_file_the_stored_version_counts() {
        assert_eq!(reconcile(None, Some(&version("l", 3, "")), &Marks::default()), Reconciled::TakeStored);
        assert_eq!(reconcile(None, None, &Marks::default()), Reconciled::TakeStored);
    }

    #[test]
    fn a_file_whose_stored_version_is_gone_is_stored() {
        let file = version("l", 3, "1");
        assert_eq!(reconcile(Some(&file), None, &marks(Some(&file), None)), Reconciled::StoreFile);
    }

    /// The file, what is stored, what was known to be stored and what was sent, each by serial and content.
    #[rstest]
    #[case::both_are_the_same((7, "7"), (7, "7"), Some((5, "5")), None, Reconciled::Same)]
    #[case::the_file_went_on((7, "7"), (5, "5"), Some((5, "5")), None, Reconciled::StoreFile)]
    #[case::the_last_one_that_was_sent_arrived((7, "7"), (6, "6"), Some((5, "5")), Some((6, "6")), Reconciled::StoreFile)]
    #[case::marks_were_lost((7, "7"), (5, "5"), None, None, Reconciled::StoreFile)]
    #[case::somebody_else_went_on((5, "5"), (8, "8"), Some((5, "5")), None, Reconciled::TakeStored)]
    #[case::somebody_else_put_an_earlier_one_back((5, "5"), (3, "3"), Some((5, "5")), None, Reconciled::TakeStored)]
    #[case::both_went_on((7, "7"), (8, "8"), Some((5, "5")), None, Reconciled::Fork)]
    #[case::both_went_on_equally_often((7, "7"), (7, "other"), Some((5, "5")), None, Reconciled::Fork)]
    #[case::somebody_else_went_on_less_often((7, "7"), (6, "other"), Some((5, "5")), None, Reconciled::Fork)]
    #[case::the_file_was_set_back((4, "4"), (5, "5"), Some((5, "5")), None, Reconciled::Fork)]
    #[case::the_file_was_edited((5, "edited"), (5, "5"), Some((5, "5")), None, Reconciled::Fork)]
    fn what_follows_is_stored_and_what_forks_waits(
        #[case] file: (u64, &str),
        #[case] stored: (u64, &str),
        #[case] known: Option<(u64, &str)>,
        #[case] sent: Option<(u64, &str)>,
        #[case] expected: Reconciled,
    ) {
        let of = |(serial, content): (u64, &str)| version("l", serial, &format!("{content:?}"));
        let (known, sent) = (known.map(of), sent.map(of));
        let marks = marks(known.as_ref(), sent.as_ref());
        assert_eq!(reconcile(Some(&of(file)), Some(&of(stored)), &marks), expected);
    }

    #[test]
    fn while_the_keeper_does_not_answer_the_version_that_was_stored_last_stays_known() {
        let sending = |marks: Marks, number: usize| marks.sending(&number.to_string());
        let first = version("l", 1, "");
        let marks = (0..MOST_SENT * 2).fold(Marks::stored(&first), sending);
        assert!(marks.has(&first.digest) && marks.has(&(MOST_SENT * 2 - 1).to_string()));
        assert_eq!(marks.sent.len(), MOST_SENT);
        assert_eq!(marks.clone().sending(&MOST_SENT.to_string()).sent.len(), MOST_SENT);
    }

    #[rstest]
    #[case::the_next("l", 6, true)]
    #[case::written_again("l", 5, true)]
    #[case::set_back("l", 4, false)]
    #[case::of_another_state("other", 6, false)]
    fn only_what_goes_on_from_the_stored_version_is_stored(
        #[case] lineage: &str,
        #[case] serial: u64,
        #[case] expected: bool,
    ) {
        let marks = Marks::stored(&version("l", 5, ""));
        let next = version(lineage, serial, "1");
        assert_eq!(marks.clone().sending("x").are_followed_by(&next), expected);
        assert!(Marks::default().are_followed_by(&next), "a state that begins");
    }

    #[test]
    fn another_lineage_is_a_fork_unless_nothing_new_is_in_the_file() {
        let (file, stored) = (version("l", 9, ""), version("other", 3, ""));
        assert_eq!(reconcile(Some(&file), Some(&stored), &Marks::default()), Reconciled::Fork);
        assert_eq!(reconcile(Some(&file), Some(&stored), &marks(Some(&file), None)), Reconciled::TakeStored);
    }
}
