//! Which known word was likely meant.

/// The known word that differs least, if it differs so little that it was likely meant.
pub fn nearest<'words>(word: &str, known: impl IntoIterator<Item = &'words str>) -> Option<&'words str> {
    const LONGEST: usize = 128;
    if word.len() > LONGEST {
        return None;
    }
    // Of short words every other one is near.
    let most = if word.len() < 3 { 0 } else { word.len() / 3 };
    let distance = |other: &str| {
        if plain(word) == plain(other) { 0 } else { strsim::osa_distance(word, other) }
    };
    let (distance, nearest) = known.into_iter().map(|other| (distance(other), other)).min()?;
    (distance <= most).then_some(nearest)
}

/// A word without what people mix up.
fn plain(word: &str) -> String {
    word.replace(['-', '_', '.'], "").to_ascii_lowercase()
}
