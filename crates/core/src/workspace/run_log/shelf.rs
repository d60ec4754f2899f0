//! Which runs are kept.

/// The runs of one Workspace that are kept.
const MOST: usize = 8;

/// A run that is kept, by what has to be known to decide whether it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Runs are counted from 1.
    pub number: u64,
    /// Whether it was a plan that found nothing to do.
    pub quiet: bool,
    /// How much room it takes.
    pub bytes: usize,
}

impl Stored {
    /// What it is called where it is kept.
    pub fn key(&self) -> String {
        format!("{}-{}", if self.quiet { "check" } else { "run" }, self.number)
    }

    /// Reads what [`Self::key`] writes.
    pub fn parse(key: &str, bytes: usize) -> Option<Self> {
        let (kind, number) = key.split_once('-')?;
        let quiet = match kind {
            "run" => false,
            "check" => true,
            _ => return None,
        };
        // Written by us: no sign, no zeros before it.
        let parsed = number.parse().ok().filter(|parsed: &u64| parsed.to_string() == number)?;
        Some(Self { number: parsed, quiet, bytes })
    }
}

/// The runs that are kept of one Workspace, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelf(Vec<Stored>);

impl Shelf {
    /// The runs that are there.
    pub fn new(mut stored: Vec<Stored>) -> Self {
        stored.sort_unstable_by_key(|run| run.number);
        Self(stored)
    }

    /// Puts one more there.
    pub fn add(&mut self, quiet: bool, bytes: usize) -> Stored {
        let number = self.0.last().map_or(1, |last| last.number.saturating_add(1));
        let new = Stored { number, quiet, bytes };
        self.0.push(new);
        new
    }

    /// Answers with those that leave, so that the others have room: first looks that found nothing, then the oldest. The newest
    /// one is the last to leave.
    pub fn trim(&mut self, room: usize) -> Vec<Stored> {
        let mut leaving = Vec::new();
        while self.0.len() > MOST || self.0.iter().map(|run| run.bytes).sum::<usize>() > room {
            let older = &self.0[..self.0.len() - 1];
            let at = older.iter().position(|run| run.quiet).unwrap_or_default();
            leaving.push(self.0.remove(at));
        }
        leaving
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn shelf(runs: &[(u64, bool)]) -> Shelf {
        Shelf::new(
            runs.iter().map(|(number, quiet)| Stored { number: *number, quiet: *quiet, bytes: 10 }).collect(),
        )
    }

    fn numbers(stored: &[Stored]) -> Vec<u64> {
        stored.iter().map(|run| run.number).collect()
    }

    #[test]
    fn runs_are_counted_on() {
        assert_eq!(Shelf::default().add(false, 1).number, 1);
        assert_eq!(shelf(&[(7, false), (3, false)]).add(false, 1).number, 8);
    }

    #[rstest]
    #[case::there_is_room(&[(1, false), (2, true)], 1000, &[])]
    #[case::looks_that_found_nothing_leave_first(&[(1, false), (2, true), (3, false), (4, true)], 40, &[2])]
    #[case::then_the_oldest(&[(1, false), (2, false), (3, false)], 30, &[1])]
    #[case::too_many(&[(1, false), (2, false), (3, false), (4, false), (5, false), (6, false), (7, false), (8, false)], 1000, &[1])]
    #[case::no_room_for_the_new_one_either(&[(1, false)], 5, &[1, 2])]
    fn what_leaves(#[case] there: &[(u64, bool)], #[case] room: usize, #[case] leaving: &[u64]) {
        let mut shelf = shelf(there);
        shelf.add(false, 10);
        assert_eq!(numbers(&shelf.trim(room)), leaving);
    }

    #[test]
    fn a_look_that_found_nothing_takes_the_place_of_the_one_before_it_and_of_nothing_else() {
        let mut shelf = shelf(&[(1, false), (2, false)]);
        for _ in 0..50 {
            shelf.add(true, 10);
            shelf.trim(1000);
        }
        assert_eq!(numbers(&shelf.0)[..2], [1, 2]);
    }

    #[rstest]
    #[case::a_run("run-12", Some((12, false)))]
    #[case::a_look("check-3", Some((3, true)))]
    #[case::something_else("memory", None)]
    #[case::a_sign("run-+1", None)]
    #[case::zeros("run-01", None)]
    #[case::too_large("run-99999999999999999999", None)]
    fn keys(#[case] key: &str, #[case] expected: Option<(u64, bool)>) {
        let parsed = Stored::parse(key, 5);
        assert_eq!(parsed.map(|run| (run.number, run.quiet)), expected);
        assert!(parsed.is_none_or(|run| run.key() == key && run.bytes == 5));
    }
}
