//! Neighbours that are written one part after the other to anything that takes bytes.

use std::io::{self, Write};

use super::Size;
use crate::export::answers::{self, Context};
use crate::export::npy::Npy;
use crate::export::table::Appender;
use crate::run::Batch;

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
    fn appender<W: Write + Send>(self, out: W) -> Result<Appender<W>, W> {
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
    context: Context<'a>,
}

enum Form<W: Write + Send> {
    Table(Appender<W>),
    Npy(Npy<W>),
}

impl<'a, W: Write + Send> NeighborStream<'a, W> {
    /// Of so many neighbours, which a matrix begins with.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn new(format: StreamFormat, size: Size, context: Context<'a>, out: W) -> io::Result<Self> {
        let form = match format.appender(out) {
            Ok(appender) => Form::Table(appender),
            Err(out) => Form::Npy(Npy::matrix(out, "<i8", (size.q, size.k))?),
        };
        Ok(Self { form, context })
    }

    /// Of tables.
    pub(super) fn of_tables(appender: Appender<W>, context: Context<'a>) -> Self {
        Self { form: Form::Table(appender), context }
    }

    /// Appends a batch.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn append(&mut self, batch: Batch<'_>) -> io::Result<()> {
        match &mut self.form {
            Form::Table(appender) => appender.append(&answers::table(batch, self.context.columns, self.context.provenance)),
            Form::Npy(npy) => npy.values((0..batch.len()).map(|at| batch.record(at).to_le_bytes())),
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
