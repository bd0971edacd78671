//! Arrow IPC files, which are Feather of version 2: batches of rows, found through a footer.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::super::FormatError;
use super::super::input::Input;
use super::{Batches, error};

/// The footer's length and the magic at the end.
const TRAILER: u64 = 10;

/// Bytes that a compressed byte can stand for, and more.
const MOST_UNPACKED: u64 = 1 << 12;

/// A file whose footer was read.
pub(super) struct File<'a, 'i> {
    input: &'a Input<'i>,
    schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
    rows: u64,
}

impl<'a, 'i> File<'a, 'i> {
    pub fn open(input: &'a Input<'i>) -> Result<Self, FormatError> {
        let mut file = fs::File::open(input.path()).map_err(|why| input.io(why))?;
        let fail = |why: ArrowError| error(input, "footer", why);
        let trailer = bytes(&mut file, input, input.size().saturating_sub(TRAILER), TRAILER)?;
        let trailer = trailer.try_into().map_err(|_| input.malformed("cut short", "there is no footer"))?;
        let length = read_footer_length(trailer).map_err(fail)? as u64;
        let start = input.size().checked_sub(TRAILER + length).ok_or_else(|| input.malformed("footer", "it is longer than the file"))?;
        let footer = bytes(&mut file, input, start, length)?;
        let footer = root_as_footer(&footer).map_err(|why| input.malformed("footer", why.to_string()))?;
        let schema = footer.schema().ok_or_else(|| input.malformed("footer", "there is no schema"))?;
        let schema = Arc::new(try_fb_to_schema(schema).map_err(fail)?);
        let batches: Vec<Block> = footer.recordBatches().iter().flatten().copied().collect();
        let dictionaries = footer.dictionaries().iter().flatten().copied().collect();
        let mut rows = 0u64;
        for block in &batches {
            let head = bytes(&mut file, input, block.offset() as u64, block.metaDataLength() as u64)?;
            rows = rows.saturating_add(header(&head).and_then(|batch| u64::try_from(batch.length()).ok()).unwrap_or(0));
        }
        Ok(Self { input, schema, version: footer.version(), dictionaries, batches, rows })
    }

    /// A block, held against the file, and so are the sizes that its compressed parts promise.
    fn block(&self, file: &mut fs::File, block: &Block) -> Result<Buffer, FormatError> {
        let (head, body) = (block.metaDataLength() as u64, block.bodyLength() as u64);
        let data = bytes(file, self.input, block.offset() as u64, head.saturating_add(body))?;
        let (message, body) = data.split_at(head as usize);
        if let Some(batch) = header(message).filter(|batch| batch.compression().is_some()) {
            for part in batch.buffers().iter().flatten() {
                let start = usize::try_from(part.offset()).unwrap_or(usize::MAX);
                let Some(promised) = body.get(start..).and_then(|part| part.first_chunk()) else { continue };
                if i64::from_le_bytes(*promised) > (part.length().unsigned_abs().saturating_mul(MOST_UNPACKED)).cast_signed() {
                    return Err(self.input.malformed("data", "a compressed part promises more than it can hold"));
                }
            }
        }
        Ok(Buffer::from_vec(data))
    }
}

/// The record batch that a message announces, be it rows or the values of a dictionary.
fn header(message: &[u8]) -> Option<arrow_ipc::RecordBatch<'_>> {
    // Newer files mark the length with a word before it.
    let skipped = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = root_as_message(message.get(skipped..)?).ok()?;
    message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch()?.data())
}

fn bytes(file: &mut fs::File, input: &Input<'_>, start: u64, length: u64) -> Result<Vec<u8>, FormatError> {
    if start.saturating_add(length) > input.size() {
        return Err(input.malformed("cut short", format!("{length} bytes at {start} are outside of the file")));
    }
    let mut bytes = vec![0; length as usize];
    file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut bytes)).map_err(|why| input.io(why))?;
    Ok(bytes)
}

impl Batches for File<'_, '_> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn about(&self) -> (u64, String) {
        let batches = self.batches.len();
        (self.rows, format!("Arrow IPC, {batches} batch{}", if batches == 1 { "" } else { "es" }))
    }

    fn read(&self, columns: &[usize], each: &mut dyn FnMut(&RecordBatch) -> Result<bool, FormatError>) -> Result<(), FormatError> {
        let mut file = fs::File::open(self.input.path()).map_err(|why| self.input.io(why))?;
        let fail = |why: ArrowError| error(self.input, "data", why);
        let mut decoder = FileDecoder::new(self.schema(), self.version).with_projection(columns.to_vec());
        for block in &self.dictionaries {
            let data = self.block(&mut file, block)?;
            decoder.read_dictionary(block, &data).map_err(fail)?;
        }
        for block in &self.batches {
            self.input.check()?;
            let data = self.block(&mut file, block)?;
            if let Some(batch) = decoder.read_record_batch(block, &data).map_err(fail)?
                && !each(&batch)?
            {
                break;
            }
        }
        Ok(())
    }
}
