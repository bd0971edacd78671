//! Pages that are packed with zstd, which `parquet` unpacks by a library in C only: it is told that they are not packed, and
//! they are unpacked on the way to its decoder.

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use ruzstd::decoding::FrameDecoder;

use super::super::super::contained;
use super::super::super::limits::MAX_ZSTD_WINDOW;
use super::Source;

/// Whether a column is packed with zstd.
pub(super) fn packs(chunk: &ColumnChunkMetaData) -> bool {
    matches!(chunk.compression(), Compression::ZSTD(_))
}

/// The pages of a column, unpacked; `largest` is the number of bytes of the largest one.
pub(super) fn pages(source: &Source, chunk: &ColumnChunkMetaData, largest: u64) -> Result<Box<dyn PageReader>, ParquetError> {
    // The number of rows is used with an index of pages only.
    let stored = |chunk: &ColumnChunkMetaData| SerializedPageReader::new(Arc::new(source.clone()), chunk, 0, None);
    if !packs(chunk) {
        return Ok(Box::new(stored(chunk)?));
    }
    let plain = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
    Ok(Box::new(Unpacked { stored: stored(&plain)?, largest: usize::try_from(largest).unwrap_or(usize::MAX) }))
}

/// Unpacks pages as they are read.
struct Unpacked {
    stored: SerializedPageReader<Source>,
    largest: usize,
}

impl Unpacked {
    /// Unpacks what follows the first `plain` bytes of a page, which are not packed.
    fn unpack(&self, page: &[u8], plain: usize) -> Result<bytes::Bytes, ParquetError> {
        let damaged = |why: String| ParquetError::General(format!("a page is damaged, and cannot be unpacked: {why}"));
        let (plain, packed) = page.split_at_checked(plain).ok_or_else(|| damaged("it ends within its levels".to_owned()))?;
        let mut unpacked = Vec::new();
        unpacked.try_reserve_exact(self.largest).map_err(|why| damaged(why.to_string()))?;
        unpacked.extend_from_slice(plain);
        // A page without values may have nothing that is packed.
        let work = || {
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(MAX_ZSTD_WINDOW);
            decoder.decode_all_to_vec(packed, &mut unpacked).map_err(|why| why.to_string())?;
            match (decoder.get_checksum_from_data(), decoder.get_calculated_checksum()) {
                (Some(stored), Some(found)) if stored != found => Err("its checksum differs".to_owned()),
                _ => Ok(()),
            }
        };
        contained(work).map_err(|why| damaged(why.to_string()))?.map_err(damaged)?;
        Ok(unpacked.into())
    }

    fn unpacked(&self, page: Page) -> Result<Page, ParquetError> {
        Ok(match page {
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics } => {
                let buf = self.unpack(&buf, 0)?;
                Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics }
            }
            Page::DictionaryPage { buf, num_values, encoding, is_sorted } => {
                Page::DictionaryPage { buf: self.unpack(&buf, 0)?, num_values, encoding, is_sorted }
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                statistics,
            } => {
                let levels = (def_levels_byte_len as usize).saturating_add(rep_levels_byte_len as usize);
                let buf = if is_compressed { self.unpack(&buf, levels)? } else { buf };
                Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    num_nulls,
                    num_rows,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    is_compressed: false,
                    statistics,
                }
            }
        })
    }
}

impl Iterator for Unpacked {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Unpacked {
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
