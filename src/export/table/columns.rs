//! `.npz`: one array per column. Integer columns with missing values become f64, with NaN.

use std::fs::File;
use std::io::{self, BufWriter};

use super::{Cells, Table};
use crate::export::npz::Npz;

pub(super) fn write(table: &Table<'_>, out: &mut BufWriter<File>) -> io::Result<()> {
    let mut npz = Npz::new(out);
    let rows = || 0..table.rows;
    for (at, (column, name)) in table.columns.iter().zip(table.unique_names()).enumerate() {
        table.tell(at * table.rows)?;
        let name = name.as_str();
        let float = |value: Option<f64>| value.unwrap_or(f64::NAN).to_le_bytes();
        match &column.cells {
            Cells::U32(of) if column.optional => npz.column(name, "<f8", table.rows, rows().map(|row| float(of(row).map(f64::from))))?,
            Cells::U64(of) if column.optional => npz.column(name, "<f8", table.rows, rows().map(|row| float(of(row).map(|value| value as f64))))?,
            Cells::I64(of) if column.optional => npz.column(name, "<f8", table.rows, rows().map(|row| float(of(row).map(|value| value as f64))))?,
            Cells::U32(of) => npz.column(name, "<u4", table.rows, rows().map(|row| of(row).unwrap_or_default().to_le_bytes()))?,
            Cells::U64(of) => npz.column(name, "<u8", table.rows, rows().map(|row| of(row).unwrap_or_default().to_le_bytes()))?,
            Cells::I64(of) => npz.column(name, "<i8", table.rows, rows().map(|row| of(row).unwrap_or_default().to_le_bytes()))?,
            Cells::F32(of) => npz.column(name, "<f4", table.rows, rows().map(|row| of(row).unwrap_or(f32::NAN).to_le_bytes()))?,
            Cells::F64(of) => npz.column(name, "<f8", table.rows, rows().map(|row| float(of(row))))?,
            Cells::Text(of) => {
                // NumPy strings have a fixed length, in UTF-32.
                let length = rows().map(|row| of(row).map_or(0, |text| text.chars().count())).max().unwrap_or(0).max(1);
                let padded = |row: usize| of(row).unwrap_or_default().chars().chain(std::iter::repeat('\0')).take(length).collect::<Vec<_>>();
                let letters = rows().flat_map(padded).map(|letter| u32::from(letter).to_le_bytes());
                npz.column(name, &format!("<U{length}"), table.rows, letters)?;
            }
        }
    }
    npz.finish()
}
