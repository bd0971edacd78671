//! Parquet: row groups of compressed columns, of which only the wanted ones are read.

use std::fs;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::super::FormatError;
use super::super::input::Input;
use super::{BATCH, Batches, error};

/// A file whose footer was read.
pub(super) struct File<'a, 'i> {
    input: &'a Input<'i>,
    source: Source,
    metadata: ArrowReaderMetadata,
}

impl<'a, 'i> File<'a, 'i> {
    pub fn open(input: &'a Input<'i>) -> Result<Self, FormatError> {
        let file = fs::File::open(input.path()).map_err(|why| input.io(why))?;
        let source = Source { file: Arc::new(file), size: input.size() };
        let metadata = ArrowReaderMetadata::load(&source, Default::default()).map_err(|why| failed(input, "footer", why))?;
        Ok(Self { input, source, metadata })
    }
}

fn failed(input: &Input<'_>, what: &str, why: ParquetError) -> FormatError {
    error(input, what, why.into())
}

impl Batches for File<'_, '_> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.metadata.schema())
    }

    fn about(&self) -> (u64, String) {
        let metadata = self.metadata.metadata();
        let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        let groups = metadata.num_row_groups();
        (rows, format!("Parquet, {groups} row group{}", if groups == 1 { "" } else { "s" }))
    }

    fn read(&self, columns: &[usize], each: &mut dyn FnMut(&RecordBatch) -> Result<bool, FormatError>) -> Result<(), FormatError> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.source.clone(), self.metadata.clone());
        let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(|why| failed(self.input, "columns", why))?;
        for batch in reader {
            if !each(&batch.map_err(|why: ArrowError| error(self.input, "data", why))?)? {
                break;
            }
        }
        Ok(())
    }
}

/// The file, of which nothing is asked that is not there.
#[derive(Clone)]
struct Source {
    file: Arc<fs::File>,
    size: u64,
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Source {
    type T = BufReader<fs::File>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.saturating_add(length as u64) > self.size {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are outside of the file")));
        }
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
