//! The table as it is.

use std::iter::once;

use capt_core::compatibility::{Sheet, Table, sheets};

use crate::printer::Printer;

pub(super) fn print(printer: Printer) -> anyhow::Result<()> {
    let table = Table::embedded();
    let text: Vec<_> = sheets(table).iter().map(aligned).collect();
    let when = format!("Versions that go together, as of {}", table.date);
    printer.value(table, &once(when).chain(text).collect::<Vec<_>>().join("\n\n"))
}

/// The columns below each other. Names of columns are in capital letters, as `kubectl` has them.
fn aligned(sheet: &Sheet) -> String {
    let header: Vec<_> = sheet.columns.iter().map(|column| column.to_uppercase()).collect();
    let lines: Vec<&Vec<String>> = once(&header).chain(&sheet.rows).collect();
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..header.len()).map(width).collect();
    let line = |cells: &&Vec<String>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
