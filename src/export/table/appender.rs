//! A table that is written part by part.

use std::io::{self, Write};

use super::Table;
use super::parquet::Parquet;
use super::text::Text;

/// Writes tables of the same columns as one, each when it is there.
pub struct Appender<W: Write + Send>(Format<W>);

enum Format<W: Write + Send> {
    Text(Box<Text<W>>),
    Parquet(Box<Parquet<W>>),
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

    /// Writes the rows of a table, which has the columns of those before.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn append(&mut self, table: &Table<'_>) -> io::Result<()> {
        match &mut self.0 {
            Format::Text(text) => text.append(table),
            Format::Parquet(parquet) => parquet.append(table),
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
        }
    }
}
