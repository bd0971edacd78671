//! Arrow IPC: files (Feather version 2), whose footer lists the record batches, and streams of the same
//! batches.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{
    Block, CompressionType, Footer, Message, MetadataVersion, root_as_footer_with_opts,
    root_as_message_with_opts,
};
use arrow_schema::{ArrowError, SchemaRef};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flatbuffers::{InvalidFlatbuffer, VerifierOptions};
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::file::metadata::KeyValue;

use super::{BATCH, BatchReader, Each, error};
use crate::formats::blocks;
use crate::formats::limits::{LZ4, MAX_ARROW_DEPTH};
use crate::formats::{FormatError, Input, Result};

/// The footer's length and the magic at the end.
const TRAILER: u64 = 10;

/// The marker before a message's length.
const CONTINUED: [u8; 4] = [0xff; 4];

/// A file with the locations of its batches.
pub(super) struct File<'a, 'i> {
    input: &'a Input<'i>,
    schema: SchemaRef,
    version: MetadataVersion,
    /// In reading order: a dictionary precedes the rows that need it.
    batches: Vec<Batch>,
    stream: bool,
}

/// A record batch or a dictionary batch.
struct Batch {
    block: Block,
    /// Number of rows; `None` for a dictionary.
    rows: Option<u64>,
}

/// Whether bytes look like the beginning of a stream, which has no magic number.
pub(in super::super) fn is_stream(head: &[u8]) -> bool {
    let length = head
        .get(4..8)
        .and_then(|length| length.first_chunk())
        .map_or(0, |length| u32::from_le_bytes(*length));
    head.starts_with(&CONTINUED) && length > 0 && length % 8 == 0
}

impl<'a, 'i> File<'a, 'i> {
    pub fn open(input: &'a Input<'i>) -> Result<Self> {
        let mut file = fs::File::open(&input.path).map_err(|why| input.io(why))?;
        let head = bytes(&mut file, input, 0, input.size.min(8))?;
        if is_stream(&head) { Self::stream(&mut file, input) } else { Self::with_footer(&mut file, input) }
    }

    fn with_footer(file: &mut fs::File, input: &'a Input<'i>) -> Result<Self> {
        let trailer = bytes(file, input, input.size.saturating_sub(TRAILER), TRAILER)?;
        let length = trailer.try_into().ok().and_then(|trailer| read_footer_length(trailer).ok());
        let length = length
            .ok_or_else(|| input.malformed("cut short", "the footer with its batches is missing"))?
            as u64;
        let start = input
            .size
            .checked_sub(TRAILER + length)
            .ok_or_else(|| input.malformed("footer", "longer than the file"))?;
        let footer = bytes(file, input, start, length)?;
        let footer = verified_footer(&footer, input)?;
        let schema = footer.schema().ok_or_else(|| input.malformed("footer", "no columns"))?;
        let schema = Arc::new(try_fb_to_schema(schema).map_err(|why| error(input, "footer", why))?);
        // Overlapping batches would be read repeatedly.
        let length = |block: &Block| {
            u64::from(block.metaDataLength().cast_unsigned())
                .saturating_add(block.bodyLength().cast_unsigned())
        };
        let all =
            footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        let promised = all.map(length).fold(0, u64::saturating_add);
        if promised > input.size {
            return Err(input.malformed(
                "footer",
                format!("its batches have {promised} bytes in a file of {}", input.size),
            ));
        }
        let mut batches: Vec<Batch> =
            footer.dictionaries().iter().flatten().map(|&block| Batch { block, rows: None }).collect();
        for &block in footer.recordBatches().iter().flatten() {
            let head = bytes(file, input, block.offset() as u64, block.metaDataLength() as u64)?;
            let rows = rows(&described(&head, input)?, input)?;
            batches.push(Batch { block, rows: Some(rows) });
        }
        Ok(Self { input, schema, version: footer.version(), batches, stream: false })
    }

    /// Reads the message headers of a stream; the first message is the schema.
    fn stream(file: &mut fs::File, input: &'a Input<'i>) -> Result<Self> {
        let (mut at, mut found, mut batches) = (0, None, Vec::new());
        while at < input.size {
            input.check()?;
            let damaged = || input.malformed(format!("byte {at}"), "expected an Arrow message");
            let start = bytes(file, input, at, 8)?;
            let length = start
                .strip_prefix(&CONTINUED)
                .and_then(|length| length.try_into().ok())
                .map(u32::from_le_bytes)
                .ok_or_else(damaged)?;
            if length == 0 {
                if at + 8 < input.size {
                    let what = format!("byte {}", at + 8);
                    return Err(input.malformed(
                        what,
                        "data follows the end of the stream; write each stream to a separate file",
                    ));
                }
                break;
            }
            let head = bytes(file, input, at + 8, length.into())?;
            let message = verified_message(&head, input, damaged)?;
            let (head, body) =
                (i32::try_from(length).ok().and_then(|length| length.checked_add(8)), message.bodyLength());
            let block = Block::new(at as i64, head.ok_or_else(damaged)?, body);
            let end = u64::try_from(body)
                .ok()
                .and_then(|body| at.checked_add(8 + u64::from(length))?.checked_add(body))
                .ok_or_else(damaged)?;
            if end > input.size {
                return Err(
                    input.malformed("cut short", format!("a batch ends at byte {end} of {}", input.size))
                );
            }
            if let Some(schema) = message.header_as_schema() {
                found = Some((
                    try_fb_to_schema(schema).map_err(|why| error(input, "columns", why))?,
                    message.version(),
                ));
            } else if let Some(batch) = message.header_as_record_batch() {
                batches.push(Batch { block, rows: Some(rows(&batch, input)?) });
            } else if message.header_as_dictionary_batch().is_some() {
                batches.push(Batch { block, rows: None });
            }
            at = end;
        }
        let (schema, version) = found.ok_or_else(|| input.malformed("stream", "no columns"))?;
        Ok(Self { input, schema: Arc::new(schema), version, batches, stream: true })
    }

    /// Reads a block after checking its size, and the declared sizes of its compressed buffers, against the
    /// file. Also returns the bytes claimed for it, decompressed data included.
    fn block(&self, file: &mut fs::File, block: &Block) -> Result<(Buffer, u64)> {
        let (head, body) = (block.metaDataLength() as u64, block.bodyLength() as u64);
        let mut taken = head.saturating_add(body);
        if taken <= self.input.size {
            self.input.claim(taken, "a batch")?;
        }
        let data = bytes(file, self.input, block.offset() as u64, head.saturating_add(body))?;
        let (message, body) = data.split_at(head as usize);
        let batch = described(message, self.input)?;
        if let Some(compression) = batch.compression() {
            if compression.codec() == CompressionType::ZSTD {
                let why = "not supported; write the file with LZ4: pandas, polars and pyarrow take \
                           compression=\"lz4\"";
                return Err(self.input.unsupported("zstd compression of all columns", why));
            }
            // An empty buffer, such as a validity bitmap without nulls, does not even store its size.
            for part in batch.buffers().iter().flatten().filter(|part| part.length() != 0) {
                let start = usize::try_from(part.offset()).unwrap_or(usize::MAX);
                let Some(promised) = body.get(start..).and_then(|part| part.first_chunk()) else { continue };
                if i64::from_le_bytes(*promised)
                    > (part.length().unsigned_abs().saturating_mul(LZ4)).cast_signed()
                {
                    return Err(self
                        .input
                        .malformed("data", "a compressed buffer declares more bytes than it can hold"));
                }
                // A negative size means uncompressed.
                let unpacked = u64::try_from(i64::from_le_bytes(*promised)).unwrap_or(0);
                self.input.claim(unpacked, "a batch")?;
                taken += unpacked;
            }
        }
        Ok((Buffer::from_vec(data), taken))
    }
}

/// The declared number of rows of a batch.
fn rows(batch: &arrow_ipc::RecordBatch<'_>, input: &Input<'_>) -> Result<u64> {
    u64::try_from(batch.length())
        .map_err(|_| input.malformed("data", format!("a batch declares {} rows", batch.length())))
}

/// The record batch in a message, of rows or dictionary values. The decoder would also accept a batch at
/// another position and use unchecked bytes as its body.
fn described<'m>(message: &'m [u8], input: &Input<'_>) -> Result<arrow_ipc::RecordBatch<'m>> {
    // Newer files write a marker before the length.
    let skipped = if message.starts_with(&CONTINUED) { 8 } else { 4 };
    let damaged = || input.malformed("data", "a batch does not begin with its description");
    let message = verified_message(message.get(skipped..).unwrap_or_default(), input, damaged)?;
    message
        .header_as_record_batch()
        .or_else(|| message.header_as_dictionary_batch()?.data())
        .ok_or_else(damaged)
}

fn bytes(file: &mut fs::File, input: &Input<'_>, start: u64, length: u64) -> Result<Vec<u8>> {
    if start.saturating_add(length) > input.size {
        return Err(input.malformed("cut short", format!("{length} bytes at {start} are outside the file")));
    }
    let mut bytes = vec![0; length as usize];
    file.seek(SeekFrom::Start(start))
        .and_then(|_| file.read_exact(&mut bytes))
        .map_err(|why| input.io(why))?;
    Ok(bytes)
}

impl BatchReader for File<'_, '_> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn about(&self) -> (u64, String) {
        let rows = self.batches.iter().filter_map(|batch| batch.rows);
        let batches = rows.clone().count();
        let name = if self.stream { "Arrow IPC stream" } else { "Arrow IPC" };
        (
            rows.fold(0, u64::saturating_add),
            format!("{name}, {batches} batch{}", if batches == 1 { "" } else { "es" }),
        )
    }

    fn buffer(&self) -> u64 {
        let size = |batch: &Batch| 2 * batch.block.bodyLength().max(0).unsigned_abs();
        let (rows, dictionaries) =
            self.batches.iter().partition::<Vec<&Batch>, _>(|batch| batch.rows.is_some());
        let largest = rows.into_iter().map(size).max().unwrap_or(0);
        dictionaries.into_iter().map(size).fold(largest, u64::saturating_add)
    }

    fn read(&self, columns: &[usize], wanted: &[Range<u64>], each: &mut Each<'_>) -> Result<()> {
        let mut file = fs::File::open(&self.input.path).map_err(|why| self.input.io(why))?;
        let fail = |why: ArrowError| error(self.input, "data", why);
        let mut decoder = FileDecoder::new(self.schema(), self.version).with_projection(columns.to_vec());
        let (mut start, mut dictionaries) = (0u64, 0u64);
        for Batch { block, rows } in &self.batches {
            self.input.check()?;
            let Some(rows) = rows else {
                let (data, taken) = self.block(&mut file, block)?;
                dictionaries += taken;
                decoder.read_dictionary(block, &data).map_err(fail)?;
                continue;
            };
            let end = start.saturating_add(*rows);
            if let Some(hull) = blocks::hull(wanted, start..end) {
                let (data, taken) = self.block(&mut file, block)?;
                let mut goes_on = true;
                if let Some(batch) = decoder.read_record_batch(block, &data).map_err(fail)? {
                    if batch.num_rows() as u64 != *rows {
                        let why = format!("a batch declares {rows} rows but has {}", batch.num_rows());
                        return Err(self.input.malformed("cut short", why));
                    }
                    for first in hull.clone().step_by(BATCH) {
                        let part = first..hull.end.min(first + BATCH as u64);
                        let rows = batch.slice((first - start) as usize, (part.end - first) as usize);
                        goes_on = blocks::hull(wanted, part).is_none() || each(first, &rows)?;
                        if !goes_on {
                            break;
                        }
                    }
                }
                // Unlike a batch, a dictionary stays in memory to the end.
                self.input.release(taken);
                if !goes_on {
                    break;
                }
            }
            start = end;
        }
        self.input.release(dictionaries);
        Ok(())
    }
}

// Verifies Arrow schemas with limits that depend on their size.
//
// A flatbuffer may refer to a table any number of times, so a few kilobytes can expand to millions of
// columns. The decoder's own limits would allow gigabytes.

/// Minimum bytes of a table, also counted for each reference to it.
const TABLE: usize = 4;
/// Upper bound on how often a byte is read if only lists of fields and names are shared.
const MAX_READ: usize = 64;

/// The limits for a schema, at most those of the decoder.
fn limits(bytes: &[u8]) -> VerifierOptions {
    let most = VerifierOptions::default();
    VerifierOptions {
        max_depth: MAX_ARROW_DEPTH,
        max_tables: (bytes.len() / TABLE).min(most.max_tables),
        max_apparent_size: bytes.len().saturating_mul(MAX_READ).min(most.max_apparent_size),
        ..most
    }
}

/// Verifies a message; `damaged` builds the error for an invalid one.
fn verified_message<'m>(
    bytes: &'m [u8],
    input: &Input<'_>,
    damaged: impl FnOnce() -> FormatError,
) -> Result<Message<'m>> {
    let limits = limits(bytes);
    root_as_message_with_opts(&limits, bytes)
        .map_err(|why| refused(&why, bytes, &limits, input).unwrap_or_else(damaged))
}

/// Verifies the footer of an Arrow file before the decoder expands it.
fn verified_footer<'f>(bytes: &'f [u8], input: &Input<'_>) -> Result<Footer<'f>> {
    let (limits, damaged) = (limits(bytes), || input.malformed("footer", "it is damaged"));
    root_as_footer_with_opts(&limits, bytes)
        .map_err(|why| refused(&why, bytes, &limits, input).unwrap_or_else(damaged))
}

/// Verifies the Arrow schema that a Parquet file may embed.
pub(super) fn check_embedded(entries: Option<&Vec<KeyValue>>, input: &Input<'_>) -> Result<()> {
    let values = entries
        .into_iter()
        .flatten()
        .filter(|entry| entry.key == ARROW_SCHEMA_META_KEY)
        .filter_map(|entry| entry.value.as_ref());
    for value in values {
        // The decoder reports other errors.
        let Ok(bytes) = BASE64_STANDARD.decode(value) else { continue };
        let bytes = if bytes.len() > 8 && bytes.starts_with(&[0xff; 4]) { &bytes[8..] } else { &bytes };
        let limits = limits(bytes);
        if let Err(why) = root_as_message_with_opts(&limits, bytes)
            && let Some(refusal) = refused(&why, bytes, &limits, input)
        {
            return Err(refusal);
        }
    }
    Ok(())
}

/// The error, if a limit was exceeded.
fn refused(
    why: &InvalidFlatbuffer,
    bytes: &[u8],
    limits: &VerifierOptions,
    input: &Input<'_>,
) -> Option<FormatError> {
    let unfolds = |most: usize, what: &str| {
        let why =
            format!("its {} bytes unfold to more than {most} {what}, the supported maximum", bytes.len());
        Some(input.unsupported("description of columns", why))
    };
    match why {
        InvalidFlatbuffer::DepthLimitReached => {
            let why = format!("nests more than {MAX_ARROW_DEPTH} levels deep, the supported maximum");
            Some(input.unsupported("description of columns", why))
        }
        InvalidFlatbuffer::TooManyTables => unfolds(limits.max_tables, "tables"),
        InvalidFlatbuffer::ApparentSizeTooLarge => unfolds(limits.max_apparent_size, "bytes"),
        _ => None,
    }
}
