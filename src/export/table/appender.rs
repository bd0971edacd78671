//! A table that is written part by part.

use std::io::{self, Write};

use super::Table;
use super::arrow::Arrow;
use super::parquet::Parquet;
use super::text::Text;

/// Writes tables of the same columns as one, each when it is there.
pub struct Appender<W: Write + Send>(Format<W>);

enum Format<W: Write + Send> {
    Text(Box<Text<W>>),
    Parquet(Box<Parquet<W>>),
    Arrow(Box<Arrow<W>>),
}

impl<W: Write + Send> Appender<W> {
    /// Comma-separated text.
    pub fn csv(out: W) -> Self {
        Self(Format::Text(Box::new(Text::new(b',', out))))
    }

    /// Tab-separated text.
    pub fn tsv(out: W) -> Self {
        Self(Format::Text(Box::new(Text::new(b'\t', out))))
    }

    /// Parquet, with row groups of each table's own.
    pub fn parquet(out: W) -> Self {
        Self(Format::Parquet(Box::new(Parquet::new(out))))
    }

    /// An Arrow IPC stream, which is read while it is written; a batch has rows of one table only.
    pub fn arrow_stream(out: W) -> Self {
        Self(Format::Arrow(Box::new(Arrow::stream(out))))
    }

    /// An Arrow IPC file: the same with a list of its batches at the end.
    pub fn arrow_file(out: W) -> Self {
        Self(Format::Arrow(Box::new(Arrow::file(out))))
    }

    /// Writes the rows of a table, which has the columns of those before.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn append(&mut self, table: &Table<'_>) -> io::Result<()> {
        match &mut self.0 {
            Format::Text(text) => text.append(table),
            Format::Parquet(parquet) => parquet.append(table),
            Format::Arrow(arrow) => arrow.append(table),
        }
    }

    /// Writes what is still to be written.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Format::Text(text) => text.finish(),
            Format::Parquet(parquet) => parquet.finish(),
            Format::Arrow(arrow) => arrow.finish(),
        }
    }
}
