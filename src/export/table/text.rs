//! Tables as delimited text: CSV and TSV.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use super::{Cells, Table};
use crate::printable::cell;
use crate::text::Exact;

/// Rows between two looks at whether to go on.
const TOLD: usize = 1 << 12;

/// Writes tables of the same columns below one another, a line per row, under one header; missing values are empty. Text that a
/// spreadsheet would take for a formula gets a `'`.
pub(super) struct Text<W: Write> {
    writer: csv::Writer<W>,
    headed: bool,
}

impl<W: Write> Text<W> {
    pub fn new(delimiter: u8, out: W) -> Self {
        Self { writer: csv::WriterBuilder::new().delimiter(delimiter).from_writer(out), headed: false }
    }

    pub fn append(&mut self, table: &Table<'_>) -> io::Result<()> {
        self.rows(table).map_err(plain)
    }

    fn rows(&mut self, table: &Table<'_>) -> csv::Result<()> {
        let writer = &mut self.writer;
        if !std::mem::replace(&mut self.headed, true) {
            for column in &table.columns {
                writer.write_field(cell(&column.name).as_bytes()).map_err(plain)?;
            }
            writer.write_record(None::<&[u8]>).map_err(plain)?;
        }
        let mut field = String::new();
        let shown = |field: &mut String, value: Option<&dyn Display>| {
            field.clear();
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = write!(field, "{value}");
            }
        };
        for row in 0..table.rows {
            if row.is_multiple_of(TOLD) {
                table.tell(row * table.columns.len())?;
            }
            for column in &table.columns {
                match &column.cells {
                    Cells::U32(of) => shown(&mut field, of(row).as_ref().map(|value| value as &dyn Display)),
                    Cells::U64(of) => shown(&mut field, of(row).as_ref().map(|value| value as &dyn Display)),
                    Cells::I64(of) => shown(&mut field, of(row).as_ref().map(|value| value as &dyn Display)),
                    Cells::F32(of) => shown(&mut field, of(row).map(Exact).as_ref().map(|value| value as &dyn Display)),
                    Cells::F64(of) => shown(&mut field, of(row).map(Exact).as_ref().map(|value| value as &dyn Display)),
                    Cells::Text(of) => shown(&mut field, of(row).as_deref().map(cell).as_ref().map(|value| value as &dyn Display)),
                }
                writer.write_field(field.as_bytes()).map_err(plain)?;
            }
            writer.write_record(None::<&[u8]>).map_err(plain)?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The system's own error where there is one: of a pipe that nobody reads any more.
fn plain(why: csv::Error) -> io::Error {
    let shown = why.to_string();
    match why.into_kind() {
        csv::ErrorKind::Io(why) => why,
        _ => io::Error::other(shown),
    }
}
