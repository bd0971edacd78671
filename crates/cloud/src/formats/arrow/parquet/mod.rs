//! Parquet: row groups of compressed columns, of which only the required ones are read.

mod footer;
mod pages;

use std::fs;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{ArrowError, DataType, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowGroups, RowSelector};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Compression;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use ruzstd::decoding::FrameDecoder;

use super::{BATCH, BatchReader, Each, error, ipc};
use crate::formats::blocks::hull;
use crate::formats::limits::{BATCH_TEXTS, BATCH_VALUES, MAX_ZSTD_WINDOW};
use crate::formats::{FormatError, Input, Result, catch_panics, whole};
use footer::FooterError;

/// The footer's length and the magic at the end.
const TRAILER: u64 = 8;
/// Approximate memory per byte of the footer.
const FOOTER: u64 = 8;
/// Memory per column of the schema: structures of the decoder, of Arrow and of the reader. Its description in
/// the file may have only eight bytes.
const COLUMN: u64 = 1 << 10;
/// Memory per value of a list: the stored value, the decoded number, its copy in the list, and its levels.
const VALUE: u64 = 32;
/// The texts of a batch may use at most the free memory divided by this.
const SHARE: u64 = 4;

/// A file with its parsed footer.
pub(super) struct File<'a, 'i> {
    input: &'a Input<'i>,
    source: CheckedFile,
    metadata: ArrowReaderMetadata,
}

impl<'a, 'i> File<'a, 'i> {
    pub fn open(input: &'a Input<'i>) -> Result<Self> {
        let file = fs::File::open(&input.path).map_err(|why| input.io(why))?;
        let source = CheckedFile { file: Arc::new(file), size: input.size };
        let failed = |why| failed(input, "footer", why);
        let end = source.get_bytes(input.size.saturating_sub(TRAILER), TRAILER as usize).map_err(failed)?;
        let (length, magic) = end.split_at(4);
        match magic {
            b"PAR1" => {}
            b"PARE" => return Err(input.unsupported("encrypted Parquet", "write it without encryption")),
            _ => {
                return Err(input.malformed("cut short", "the footer with its columns is missing"));
            }
        }
        let length = whole(length);
        let start = input
            .size
            .checked_sub(TRAILER + length)
            .ok_or_else(|| input.malformed("footer", "longer than the file"))?;
        let footer = source.get_bytes(start, length as usize).map_err(failed)?;
        let columns = footer::check(&footer).map_err(|why| match why {
            FooterError::Malformed(why) => input.malformed("footer", why),
            FooterError::TooMuch(what, why) => input.unsupported(what, why),
        })?;
        input.claim(
            length.saturating_mul(FOOTER).saturating_add(columns * COLUMN),
            "the description of the columns",
        )?;
        let metadata = ParquetMetaDataReader::decode_metadata(&footer).map_err(failed)?;
        let promised = metadata.file_metadata().num_rows();
        let rows =
            metadata.row_groups().iter().fold(0i64, |sum, group| sum.saturating_add(group.num_rows().max(0)));
        if rows != promised {
            return Err(input.malformed(
                "footer",
                format!("it declares {promised} rows, but its row groups have {rows}"),
            ));
        }
        ipc::check_embedded(metadata.file_metadata().key_value_metadata(), input)?;
        let metadata =
            ArrowReaderMetadata::try_new(Arc::new(metadata), Default::default()).map_err(failed)?;
        Ok(Self { input, source, metadata })
    }
}

fn failed(input: &Input<'_>, what: &str, why: ParquetError) -> FormatError {
    error(input, what, why.into())
}

/// The name of an unsupported compression codec.
fn unread(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::BROTLI(_) => Some("brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    }
}

impl File<'_, '_> {
    /// Fails if one of the columns uses an unsupported codec.
    fn check(&self, columns: &[usize]) -> Result<()> {
        let schema = self.metadata.parquet_schema();
        let chunks =
            self.metadata.metadata().row_groups().iter().flat_map(|group| group.columns().iter().enumerate());
        for (leaf, chunk) in chunks {
            let root = if leaf < schema.num_columns() { schema.get_column_root_idx(leaf) } else { continue };
            if let Some(codec) = unread(chunk.compression()).filter(|_| columns.binary_search(&root).is_ok())
            {
                let what = format!("{codec} compression of column `{}`", self.schema().field(root).name());
                let why = "not supported; write the file with Snappy: pandas, polars and pyarrow take \
                           compression=\"snappy\"";
                return Err(self.input.unsupported(what, why));
            }
        }
        Ok(())
    }
}

impl BatchReader for File<'_, '_> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.metadata.schema())
    }

    fn about(&self) -> (u64, String) {
        let metadata = self.metadata.metadata();
        let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        let groups = metadata.num_row_groups();
        (rows, format!("Parquet, {groups} row group{}", if groups == 1 { "" } else { "s" }))
    }

    fn buffer(&self) -> u64 {
        let size = |group: &RowGroupMetaData| {
            let window = if group.columns().iter().any(packs) { MAX_ZSTD_WINDOW } else { 0 };
            group.total_byte_size().max(0).unsigned_abs().saturating_add(window)
        };
        self.metadata.metadata().row_groups().iter().map(size).max().unwrap_or(0)
    }

    fn read(&self, columns: &[usize], wanted: &[Range<u64>], each: &mut Each<'_>) -> Result<()> {
        self.check(columns)?;
        let mut start = 0;
        for (group, about) in self.metadata.metadata().row_groups().iter().enumerate() {
            let rows = u64::try_from(about.num_rows()).unwrap_or(0);
            let end = start + rows;
            if let Some(needed) = hull(wanted, start..end)
                && !self.read_group(columns, (group, start), needed, &mut |first, batch| {
                    let rows = first..first + batch.num_rows() as u64;
                    Ok(hull(wanted, rows).is_none() || each(first, batch)?)
                })?
            {
                break;
            }
            start = end;
        }
        Ok(())
    }
}

impl File<'_, '_> {
    /// Reads some rows of a group, given as rows of the file; `start` is the group's first row. False if
    /// `each` stopped.
    fn read_group(
        &self,
        columns: &[usize],
        (group, start): (usize, u64),
        wanted: Range<u64>,
        each: &mut Each<'_>,
    ) -> Result<bool> {
        let about = self.metadata.metadata().row_group(group);
        let rows = u64::try_from(about.num_rows()).unwrap_or(0);
        let schema = self.metadata.parquet_schema();
        let (mut bytes, mut batch, mut texts, mut window) = (0u64, BATCH as u64, 0u64, 0u64);
        let mut largest = vec![0; about.num_columns()];
        let mut hold = |most: u64, each: u64| batch = batch.min((most / each.max(1)).max(1));
        for (leaf, chunk) in about.columns().iter().enumerate() {
            if leaf >= schema.num_columns()
                || columns.binary_search(&schema.get_column_root_idx(leaf)).is_err()
            {
                continue;
            }
            let single = (schema.column(leaf).max_rep_level() == 0).then_some(about.num_rows());
            let size = pages::check(&self.source, chunk, single, self.input)?;
            bytes = bytes.saturating_add(size.bytes).saturating_add(size.row.saturating_mul(VALUE));
            texts = texts.saturating_add(size.text);
            largest[leaf] = size.page;
            // One page is decompressed at a time.
            window = window.max(if packs(chunk) { MAX_ZSTD_WINDOW } else { 0 });
            hold(BATCH_TEXTS, size.text);
            hold(BATCH_VALUES, size.row);
        }
        for &column in columns {
            // Null lists are padded to the fixed size.
            if let DataType::FixedSizeList(_, length) = self.schema().field(column).data_type() {
                hold(BATCH_VALUES, u64::try_from(*length).unwrap_or(0));
            }
        }
        let bytes = bytes.saturating_add(window);
        self.input.claim(bytes, "pages")?;
        while batch > 1 && !self.input.can_claim(batch.saturating_mul(texts).saturating_mul(SHARE)) {
            batch /= 2;
        }
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        // Select up to the end of the group, not only to the last wanted row: whole batches reveal damage.
        let skipped = wanted.start - start;
        let selection = (skipped > 0).then(|| {
            vec![RowSelector::skip(skipped as usize), RowSelector::select((rows - skipped) as usize)].into()
        });
        let group = RowGroup {
            source: self.source.clone(),
            metadata: Arc::clone(self.metadata.metadata()),
            group,
            largest,
        };
        let reader = parquet_to_arrow_field_levels(schema, mask, Some(self.metadata.schema().fields()))
            .and_then(|levels| {
                ParquetRecordBatchReader::try_new_with_row_groups(&levels, &group, batch as usize, selection)
            });
        let mut at = wanted.start;
        for batch in reader.map_err(|why| failed(self.input, "columns", why))? {
            let batch = batch.map_err(|why: ArrowError| error(self.input, "data", why))?;
            if !each(at, &batch)? {
                self.input.release(bytes);
                return Ok(false);
            }
            at += batch.num_rows() as u64;
            if at >= wanted.end && wanted.end < start + rows {
                break;
            }
        }
        self.input.release(bytes);
        if at < wanted.end {
            return Err(self.input.malformed(
                "cut short",
                format!("a row group declares {} rows but has {}", rows, at - start),
            ));
        }
        Ok(true)
    }
}

/// A row group, whose pages are decompressed here if `parquet` cannot.
struct RowGroup {
    source: CheckedFile,
    metadata: Arc<ParquetMetaData>,
    group: usize,
    /// Uncompressed bytes of the largest page of each column.
    largest: Vec<u64>,
}

impl RowGroups for RowGroup {
    fn num_rows(&self) -> usize {
        usize::try_from(self.metadata.row_group(self.group).num_rows()).unwrap_or(0)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let chunk = self.metadata.row_group(self.group).column(column);
        Ok(Box::new(SingleChunk(Some(open_pages(&self.source, chunk, self.largest[column])))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.metadata.row_group(self.group)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The pages of a column in the only group read.
struct SingleChunk(Option<Result<Box<dyn PageReader>, ParquetError>>);

impl Iterator for SingleChunk {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take()
    }
}

impl PageIterator for SingleChunk {}

/// The file, with every read checked against its length.
#[derive(Clone)]
struct CheckedFile {
    file: Arc<fs::File>,
    size: u64,
}

impl Length for CheckedFile {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for CheckedFile {
    type T = BufReader<fs::File>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.saturating_add(length as u64) > self.size {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are outside the file")));
        }
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

// Decompresses zstd pages, for which `parquet` would need a C library. The pages are declared as uncompressed
// and decompressed before they reach its decoder.

/// Whether a column is compressed with zstd.
fn packs(chunk: &ColumnChunkMetaData) -> bool {
    matches!(chunk.compression(), Compression::ZSTD(_))
}

/// The decompressed pages of a column; `largest` is the size of the largest in bytes.
fn open_pages(
    source: &CheckedFile,
    chunk: &ColumnChunkMetaData,
    largest: u64,
) -> Result<Box<dyn PageReader>, ParquetError> {
    // The number of rows is only used with a page index.
    let stored =
        |chunk: &ColumnChunkMetaData| SerializedPageReader::new(Arc::new(source.clone()), chunk, 0, None);
    if !packs(chunk) {
        return Ok(Box::new(stored(chunk)?));
    }
    let plain = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
    Ok(Box::new(PageDecompressor {
        stored: stored(&plain)?,
        largest: usize::try_from(largest).unwrap_or(usize::MAX),
    }))
}

/// Decompresses pages as they are read.
struct PageDecompressor {
    stored: SerializedPageReader<CheckedFile>,
    largest: usize,
}

impl PageDecompressor {
    /// Decompresses a page after its first `plain` bytes, which are not compressed.
    fn unpack(&self, page: &[u8], plain: usize) -> Result<bytes::Bytes, ParquetError> {
        let damaged =
            |why: String| ParquetError::General(format!("a page is damaged, and cannot be unpacked: {why}"));
        let (plain, packed) =
            page.split_at_checked(plain).ok_or_else(|| damaged("it ends within its levels".to_owned()))?;
        let mut unpacked = Vec::new();
        unpacked.try_reserve_exact(self.largest).map_err(|why| damaged(why.to_string()))?;
        unpacked.extend_from_slice(plain);
        // A page without values may have no compressed data.
        let work = || {
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(MAX_ZSTD_WINDOW);
            decoder.decode_all_to_vec(packed, &mut unpacked).map_err(|why| why.to_string())?;
            match (decoder.get_checksum_from_data(), decoder.get_calculated_checksum()) {
                (Some(stored), Some(found)) if stored != found => Err("its checksum differs".to_owned()),
                _ => Ok(()),
            }
        };
        catch_panics(work).map_err(|why| damaged(why.to_string()))?.map_err(damaged)?;
        Ok(unpacked.into())
    }

    fn unpacked(&self, mut page: Page) -> Result<Page, ParquetError> {
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = self.unpack(buf, 0)?,
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } => {
                if std::mem::take(is_compressed) {
                    *buf = self.unpack(
                        buf,
                        (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize),
                    )?;
                }
            }
        }
        Ok(page)
    }
}

impl Iterator for PageDecompressor {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for PageDecompressor {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        self.stored.get_next_page()?.map(|page| self.unpacked(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.stored.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.stored.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.stored.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>, ParquetError> {
        self.stored.take_deferred_dictionary()?.map(|page| self.unpacked(page)).transpose()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.stored.at_record_boundary()
    }
}
