//! Neighbours that are written one part after the other to anything that takes bytes.

use std::io::{self, Write};
use std::ops::Range;

use super::Size;
use crate::export::beside::FileColumns;
use crate::export::npy::Npy;
use crate::export::table::Appender;
use crate::export::tables;
use crate::run::RunRecord;

/// A format that is written from its first byte to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFormat {
    Csv,
    Tsv,
    Parquet,
    /// An Arrow IPC stream.
    Arrow,
    /// Record numbers alone, q × k (i64).
    Npy,
}

impl StreamFormat {
    /// Writes tables in this format.
    ///
    /// # Errors
    /// The writer again, of a matrix.
    pub fn appender<W: Write + Send>(self, out: W) -> Result<Appender<W>, W> {
        match self {
            Self::Csv => Ok(Appender::csv(out)),
            Self::Tsv => Ok(Appender::tsv(out)),
            Self::Parquet => Ok(Appender::parquet(out)),
            Self::Arrow => Ok(Appender::arrow_stream(out)),
            Self::Npy => Err(out),
        }
    }
}

/// Neighbours that are being written.
pub struct NeighborStream<'a, W: Write + Send> {
    form: Form<W>,
    columns: &'a FileColumns,
}

enum Form<W: Write + Send> {
    Table(Appender<W>),
    Npy(Npy<W>),
}

impl<'a, W: Write + Send> NeighborStream<'a, W> {
    /// Of so many neighbours; tables have columns of the files beside them.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn new(format: StreamFormat, size: Size, columns: &'a FileColumns, out: W) -> io::Result<Self> {
        let form = match format.appender(out) {
            Ok(appender) => Form::Table(appender),
            Err(out) => Form::Npy(Npy::matrix(out, "<i8", (size.q, size.k))?),
        };
        Ok(Self { form, columns })
    }

    /// Of tables.
    pub(super) fn of_tables(appender: Appender<W>, columns: &'a FileColumns) -> Self {
        Self { form: Form::Table(appender), columns }
    }

    /// Appends the neighbours of some of a record's queries, of which the first has this number.
    ///
    /// # Errors
    /// I/O errors of the writer.
    ///
    /// # Panics
    /// If the range exceeds the record's queries.
    pub fn append(&mut self, record: &RunRecord, queries: Range<usize>, number: usize) -> io::Result<()> {
        match &mut self.form {
            Form::Table(appender) => appender.append(&tables::neighbors_from(record, queries, number, self.columns)),
            Form::Npy(npy) => {
                let found = &record.neighbors;
                let rows = &found.indices[queries.start * found.k..queries.end * found.k];
                npy.values(rows.iter().map(|&row| tables::index(record, row).to_le_bytes()))
            }
        }
    }

    /// Writes what is still to be written.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Table(appender) => appender.finish(),
            Form::Npy(npy) => npy.finish(),
        }
    }
}
