//! The table as it is.

use std::iter::once;

use capt_core::columns;
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
    columns::aligned(&lines, 2).join("\n")
}
