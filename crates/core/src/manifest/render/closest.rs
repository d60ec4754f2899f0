//! Which known name was likely meant.

/// The known name that differs least, if it differs so little that it was likely meant.
pub(super) fn closest(name: &str, known: &[String]) -> Option<String> {
    let most = (name.len() / 3).max(1);
    let nearest = known.iter().map(|other| (distance(name, other), other)).min()?;
    (nearest.0 <= most).then(|| nearest.1.clone())
}

/// How many letters have to be put in, taken out or changed to make one name of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, wanted) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(letter != wanted);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
