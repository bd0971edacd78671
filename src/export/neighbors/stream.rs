//! Neighbours that are written one part after the other to anything that takes bytes.

use std::io::{self, Write};

use super::{NeighborFormat, Size};
use crate::export::answers::{self, Context};
use crate::export::npy::Npy;
use crate::export::table::Appender;
use crate::run::Batch;

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
    /// Of so many neighbours, which a matrix begins with; Arrow is an IPC stream.
    ///
    /// # Errors
    /// I/O errors of the writer, and that a format is not written from its first byte to its last.
    pub fn new(format: NeighborFormat, size: Size, context: Context<'a>, out: W) -> io::Result<Self> {
        let form = match format {
            NeighborFormat::Csv => Form::Table(Appender::csv(out)),
            NeighborFormat::Tsv => Form::Table(Appender::tsv(out)),
            NeighborFormat::Parquet => Form::Table(Appender::parquet(out)),
            NeighborFormat::Arrow => Form::Table(Appender::arrow_stream(out)),
            NeighborFormat::Npy => Form::Npy(Npy::matrix(out, "<i8", (size.q, size.k))?),
            NeighborFormat::Npz | NeighborFormat::Vecs | NeighborFormat::Bin => return Err(io::ErrorKind::NotSeekable.into()),
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
