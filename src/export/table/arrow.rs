//! Arrow IPC, as a stream or a file of typed columns in batches. Columns that may have missing values are
//! nullable.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::{Cells, Column, Table};

/// Limit on rows per batch, so that readers get the first while later ones are computed.
const BATCH: usize = 1 << 16;

/// Writes tables with the same columns one after the other.
pub(super) struct ArrowWriter<W: Write> {
    /// Held until the first table defines the columns.
    out: Option<W>,
    open: Option<(SchemaRef, IpcWriter<W>)>,
    streamed: bool,
}

enum IpcWriter<W: Write> {
    Stream(StreamWriter<W>),
    /// Ends with a list of its batches.
    File(FileWriter<W>),
}

impl<W: Write> ArrowWriter<W> {
    pub fn stream(out: W) -> Self {
        Self { out: Some(out), open: None, streamed: true }
    }

    pub fn file(out: W) -> Self {
        Self { out: Some(out), open: None, streamed: false }
    }

    pub fn append(&mut self, table: &Table<'_>) -> io::Result<()> {
        if let Some(out) = self.out.take() {
            let schema = Arc::new(schema(table));
            let open = if self.streamed {
                StreamWriter::try_new(out, &schema).map(IpcWriter::Stream)
            } else {
                FileWriter::try_new(out, &schema).map(IpcWriter::File)
            };
            self.open = Some((schema, open.map_err(io_error)?));
        }
        let Some((schema, open)) = &mut self.open else {
            return Err(io::Error::other("the writer was not started"));
        };
        for start in (0..table.rows).step_by(BATCH) {
            table.report(start * table.columns.len())?;
            let rows = start..(start + BATCH).min(table.rows);
            let arrays = table.columns.iter().map(|column| array(column, rows.clone())).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let batch =
                RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options).map_err(io_error)?;
            match open {
                IpcWriter::Stream(out) => out.write(&batch),
                IpcWriter::File(out) => out.write(&batch),
            }
            .map_err(io_error)?;
        }
        Ok(())
    }

    pub fn finish(self) -> io::Result<()> {
        match self.open {
            Some((_, IpcWriter::Stream(mut out))) => {
                out.finish().and_then(|()| out.flush()).map_err(io_error)
            }
            Some((_, IpcWriter::File(mut out))) => out.finish().and_then(|()| out.flush()).map_err(io_error),
            None => Err(io::Error::other("the table has no columns")),
        }
    }
}

/// Unwraps an I/O error, if it is one.
fn io_error(why: ArrowError) -> io::Error {
    match why {
        ArrowError::IoError(_, why) => why,
        why => io::Error::other(why),
    }
}

fn schema(table: &Table<'_>) -> Schema {
    let field = |(column, name): (&Column<'_>, String)| {
        let kind = match column.cells {
            Cells::U32(_) => DataType::UInt32,
            Cells::U64(_) => DataType::UInt64,
            Cells::I64(_) => DataType::Int64,
            Cells::F32(_) => DataType::Float32,
            Cells::F64(_) => DataType::Float64,
            Cells::Text(_) => DataType::Utf8,
        };
        Field::new(name, kind, column.optional)
    };
    let fields = table.columns.iter().zip(table.unique_names()).map(field).collect::<Vec<_>>();
    let attributes: HashMap<String, String> =
        table.attribute.iter().map(|(key, text)| ((*key).to_owned(), text.clone())).collect();
    Schema::new_with_metadata(fields, attributes)
}

fn array(column: &Column<'_>, rows: Range<usize>) -> ArrayRef {
    match &column.cells {
        Cells::U32(of) => Arc::new(rows.map(of).collect::<UInt32Array>()),
        Cells::U64(of) => Arc::new(rows.map(of).collect::<UInt64Array>()),
        Cells::I64(of) => Arc::new(rows.map(of).collect::<Int64Array>()),
        Cells::F32(of) => Arc::new(rows.map(of).collect::<Float32Array>()),
        Cells::F64(of) => Arc::new(rows.map(of).collect::<Float64Array>()),
        Cells::Text(of) => Arc::new(rows.map(of).collect::<StringArray>()),
    }
}
