//! What to write instead of a word that is not known.

pub(super) use crate::near::nearest;

/// What to write instead of a word: the one that is near, or else what is known, as far as somebody reads it.
pub(super) fn instead(word: &str, known: &[&str]) -> String {
    const MOST: usize = 12;
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("write `{near}`"),
        None if known.is_empty() => "leave it out".to_owned(),
        None => {
            let more = if known.len() > MOST { ", …" } else { "" };
            let some: Vec<_> = known.iter().take(MOST).map(|word| format!("`{word}`")).collect();
            format!("known here: {}{more}", some.join(", "))
        }
    }
}
