//! Tables for people: columns below each other.

/// The rows with each column as wide as its widest cell and so many blanks between two. No line ends in a blank.
pub fn aligned<Row: AsRef<[String]>>(rows: &[Row], gap: usize) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.as_ref().iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let line = |row: &Row| {
        let cells = row.as_ref().iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join(&" ".repeat(gap)).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_no_line_ends_in_a_blank() {
        let rows = [["A", "LONGER", "C"], ["über", "b", ""]].map(|row| row.map(ToOwned::to_owned));
        assert_eq!(aligned(&rows, 2), ["A     LONGER  C", "über  b"]);
        assert_eq!(aligned::<[String; 1]>(&[], 2), Vec::<String>::new());
    }
}
