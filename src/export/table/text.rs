//! CSV and TSV.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use super::{Cells, Table};

/// A float as it reads back exactly: shortest, `inf` for infinity, an exponent where digits would be many.
pub(in crate::export) struct Exact<T>(pub T);

macro_rules! exact {
    ($float:ty) => {
        impl Display for Exact<$float> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let size = self.0.abs();
                if size == 0.0 || size.is_infinite() || (1e-5..1e16).contains(&size) { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
            }
        }
    };
}
exact!(f32);
exact!(f64);

/// A header and a line for each row; what is missing is empty.
pub(super) fn write(table: &Table<'_>, delimiter: u8, out: impl Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    for column in &table.columns {
        writer.write_field(column.name.as_bytes())?;
    }
    writer.write_record(None::<&[u8]>)?;
    let mut field = String::new();
    let shown = |field: &mut String, value: Option<&dyn Display>| {
        field.clear();
        if let Some(value) = value {
            // A string takes everything.
            let _ = write!(field, "{value}");
        }
    };
    for row in 0..table.rows {
        for column in &table.columns {
            match &column.cells {
                Cells::U32(of) => shown(&mut field, of(row).as_ref().map(|value| value as &dyn Display)),
                Cells::U64(of) => shown(&mut field, of(row).as_ref().map(|value| value as &dyn Display)),
                Cells::I64(of) => shown(&mut field, of(row).as_ref().map(|value| value as &dyn Display)),
                Cells::F32(of) => shown(&mut field, of(row).map(Exact).as_ref().map(|value| value as &dyn Display)),
                Cells::F64(of) => shown(&mut field, of(row).map(Exact).as_ref().map(|value| value as &dyn Display)),
                Cells::Text(of) => shown(&mut field, of(row).as_ref().map(|value| value as &dyn Display)),
            }
            writer.write_field(field.as_bytes())?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}
