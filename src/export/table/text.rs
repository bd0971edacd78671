//! Tables as delimited text: CSV and TSV.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use super::{Cells, Table};
use crate::printable::cell;
use crate::text::Exact;

/// Rows between two looks at whether to go on.
const TOLD: usize = 1 << 12;

/// Writes a header and one line per row; missing values are empty. Text that a spreadsheet would take for a formula gets a `'`.
pub(super) fn write(table: &Table<'_>, delimiter: u8, out: impl Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    for column in &table.columns {
        writer.write_field(cell(&column.name).as_bytes())?;
    }
    writer.write_record(None::<&[u8]>)?;
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
            writer.write_field(field.as_bytes())?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}
