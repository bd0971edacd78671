//! Parquet with typed columns; columns that may have missing values are optional.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::{Cells, Column, Table};

/// Rows per row group, which readers hold in memory.
const GROUP: usize = 1 << 20;
/// Rows to convert at a time.
const PIECE: usize = 1 << 16;

/// Writes tables with the same columns one after the other.
pub(super) struct ParquetWriter<W: Write + Send> {
    /// Held until the first table defines the columns.
    out: Option<W>,
    file: Option<SerializedFileWriter<W>>,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub fn new(out: W) -> Self {
        Self { out: Some(out), file: None }
    }

    pub fn append(&mut self, table: &Table<'_>) -> io::Result<()> {
        if let Some(out) = self.out.take() {
            self.file = Some(start(table, out).map_err(io_error)?);
        }
        match &mut self.file {
            Some(file) => write_groups(table, file).map_err(io_error),
            None => Err(io::Error::other("the writer was not started")),
        }
    }

    pub fn finish(self) -> io::Result<()> {
        match self.file {
            Some(file) => file.close().map(drop).map_err(io_error),
            None => Err(io::Error::other("the table has no columns")),
        }
    }
}

/// Unwraps an I/O error, if it is one.
fn io_error(why: ParquetError) -> io::Error {
    match why {
        ParquetError::External(why) => why.downcast::<io::Error>().map_or_else(io::Error::other, |why| *why),
        why => io::Error::other(why),
    }
}

fn start<W: Write + Send>(table: &Table<'_>, out: W) -> Result<SerializedFileWriter<W>, ParquetError> {
    let fields = table
        .columns
        .iter()
        .zip(table.unique_names())
        .map(|(column, name)| field(column, &name).map(Arc::new))
        .collect::<Result<_, _>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let attributes =
        table.attribute.as_ref().map(|(key, text)| vec![KeyValue::new((*key).to_owned(), text.clone())]);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(attributes)
        .build();
    SerializedFileWriter::new(out, schema, Arc::new(properties))
}

fn write_groups<W: Write + Send>(
    table: &Table<'_>,
    file: &mut SerializedFileWriter<W>,
) -> Result<(), ParquetError> {
    for start in (0..table.rows).step_by(GROUP) {
        let rows = start..(start + GROUP).min(table.rows);
        let mut group = file.next_row_group()?;
        for (at, column) in table.columns.iter().enumerate() {
            table
                .report(start * table.columns.len() + at * rows.len())
                .map_err(|why| ParquetError::External(Box::new(why)))?;
            if let Some(mut writer) = group.next_column()? {
                write_column(column, rows.clone(), &mut writer)?;
                writer.close()?;
            }
        }
        group.close()?;
    }
    Ok(())
}

fn field(column: &Column<'_>, name: &str) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.cells {
        Cells::U32(_) => (Physical::INT32, Some(LogicalType::integer(32, false))),
        Cells::U64(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Cells::I64(_) => (Physical::INT64, None),
        Cells::F32(_) => (Physical::FLOAT, None),
        Cells::F64(_) => (Physical::DOUBLE, None),
        Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

fn write_column(
    column: &Column<'_>,
    rows: Range<usize>,
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let optional = column.optional;
    match &column.cells {
        // Unsigned numbers are stored as signed ones with the same bits and an unsigned logical type.
        Cells::U32(of) => pieces::<Int32Type>(writer, rows, optional, |row| of(row).map(u32::cast_signed)),
        Cells::U64(of) => pieces::<Int64Type>(writer, rows, optional, |row| of(row).map(u64::cast_signed)),
        Cells::I64(of) => pieces::<Int64Type>(writer, rows, optional, of),
        Cells::F32(of) => pieces::<FloatType>(writer, rows, optional, of),
        Cells::F64(of) => pieces::<DoubleType>(writer, rows, optional, of),
        Cells::Text(of) => {
            pieces::<ByteArrayType>(writer, rows, optional, |row| of(row).map(|text| ByteArray::from(&*text)))
        }
    }
}

/// Writes a column some rows at a time; optional columns have a definition level per row.
fn pieces<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    rows: Range<usize>,
    optional: bool,
    value: impl Fn(usize) -> Option<T::T>,
) -> Result<(), ParquetError> {
    for start in rows.clone().step_by(PIECE) {
        let piece = start..(start + PIECE).min(rows.end);
        let values: Vec<Option<T::T>> = piece.map(&value).collect();
        let levels: Option<Vec<i16>> =
            optional.then(|| values.iter().map(|value| i16::from(value.is_some())).collect());
        let values: Vec<T::T> = values.into_iter().flatten().collect();
        writer.typed::<T>().write_batch(&values, levels.as_deref(), None)?;
    }
    Ok(())
}
