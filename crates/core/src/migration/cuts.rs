//! Pieces that are cut out of a text.

use std::ops::Range;

/// Pieces of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts(Vec<Range<usize>>);

impl Cuts {
    /// Cuts out one more piece; what was cut out already stays so.
    pub(super) fn add(&mut self, piece: Range<usize>) {
        if !piece.is_empty() {
            self.0.push(piece);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pieces in order, none of which touches another.
    pub(super) fn pieces(&self) -> Vec<Range<usize>> {
        let mut pieces = self.0.clone();
        pieces.sort_by_key(|piece| piece.start);
        pieces.dedup_by(|next, piece| {
            let touches = next.start <= piece.end;
            if touches {
                piece.end = piece.end.max(next.end);
            }
            touches
        });
        pieces
    }

    /// What is left of the text.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut rest = String::with_capacity(text.len());
        let mut copied = 0;
        for piece in self.pieces() {
            rest.push_str(&text[copied..piece.start]);
            copied = piece.end;
        }
        rest.push_str(&text[copied..]);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_meet_become_one() {
        let mut cuts = Cuts::default();
        for piece in [6..8, 0..2, 1..3, 3..4, 5..5] {
            cuts.add(piece);
        }
        assert_eq!(cuts.pieces(), [0..4, 6..8]);
        assert_eq!(cuts.apply("0123456789"), "4589");
    }
}
