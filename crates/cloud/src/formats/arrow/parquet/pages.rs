//! Checks the pages of a column before decoding: the decoder allocates by the sizes in their headers, and
//! does not check the number of values.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type as PhysicalType};
use parquet::column::page::Page;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader as _;

use super::footer::Kind::{Bool, Int, Struct};
use super::footer::{ByteReader, Event, NOTHING, STATISTICS, StructSchema, walk};
use super::{CheckedFile, failed, open_pages, packs};
use crate::formats::limits::{
    BATCH_TEXTS, BATCH_VALUES, DEFLATE, LZ4, MAX_PAGE_HEADER, MAX_ZSTD_WINDOW, SNAPPY, ZSTD,
};
use crate::formats::{FormatError, Input, Result};

/// Bytes first read for a page header. A header with long minimum and maximum texts needs more.
const WINDOW: u64 = 1 << 12;
/// Size that any page may decompress to.
const ALWAYS: u64 = 1 << 10;

/// Encodings of texts that store all lengths first. In the second one, a text shares a prefix with the
/// previous text.
const LENGTHS: i64 = 6;
const CONTINUED: i64 = 7;
/// Bytes of a length. A text that shares a prefix has two lengths.
const LENGTH: u64 = 8;
/// Copies of a dictionary: as stored, as values, and their positions.
const DICTIONARY_COPIES: u64 = 3;

/// Memory that a column needs while it is read.
#[derive(Default)]
pub(super) struct ColumnMemory {
    /// Bytes of the dictionary and the largest page, compressed and uncompressed.
    pub bytes: u64,
    /// Maximum bytes of a row's text; 0 if all texts together are small.
    pub text: u64,
    /// Maximum number of values in a row; 0 if all rows together have few.
    pub row: u64,
    /// Uncompressed bytes of the largest page.
    pub page: u64,
}

/// The header of a page.
#[derive(Default)]
struct PageHeader {
    /// Bytes of the header.
    length: u64,
    unpacked: i64,
    packed: i64,
    /// Number of values, if it has any.
    values: Option<i64>,
    encoding: Option<i64>,
    dictionary: Option<i64>,
}

impl PageHeader {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut page = Self::default();
        let mut each = |event: Event| {
            if let Event::Int { of, field, value } = event {
                let is = |shape: &'static StructSchema| std::ptr::eq(of, shape);
                match field {
                    2 if is(&PAGE) => page.unpacked = value,
                    3 if is(&PAGE) => page.packed = value,
                    // With two headers, the decoder might use the other one.
                    1 if (is(&DATA) || is(&DATA_2)) && page.values.replace(value).is_some() => {
                        return Err("it has several numbers of values".to_owned());
                    }
                    2 if is(&DATA) => page.encoding = Some(value),
                    4 if is(&DATA_2) => page.encoding = Some(value),
                    1 if is(&DICTIONARY) => page.dictionary = Some(value),
                    _ => {}
                }
            }
            Ok(())
        };
        page.length = walk(bytes, &PAGE, &mut each)? as u64;
        Ok(page)
    }
}

/// Compares the declared sizes of a column's pages with their content. `rows` is the number of rows in the
/// row group, if each has one value.
pub(super) fn check(
    source: &CheckedFile,
    chunk: &ColumnChunkMetaData,
    rows: Option<i64>,
    input: &Input<'_>,
) -> Result<ColumnMemory> {
    let name = chunk.column_path().string();
    let bad = |why: String| input.malformed(format!("column `{name}`"), why);
    if let Some(rows) = rows.filter(|&rows| rows != chunk.num_values()) {
        return Err(bad(format!("it has {} values in a group of {rows} rows", chunk.num_values())));
    }
    let (start, length) = chunk.byte_range();
    let end = start.saturating_add(length);
    if end > input.size {
        return Err(
            input.malformed("cut short", format!("column `{name}` ends at byte {end} of {}", input.size))
        );
    }
    let texts = chunk.column_type() == PhysicalType::BYTE_ARRAY;
    let (mut at, mut values, mut size) = (start, 0i64, ColumnMemory::default());
    // Bytes of the dictionary, the largest page, all pages, and the largest single text; whether lengths come
    // first.
    let (mut dictionary, mut largest, mut all, mut single, mut lengths) = (0u64, 0u64, 0u64, 0u64, false);
    while values < chunk.num_values() && at < end {
        input.check()?;
        let page = header(source, at, end, input).map_err(|why| {
            why.unwrap_or_else(|why| bad(format!("the header of a page is damaged: {why}")))
        })?;
        let negative = || bad("a page has a negative number of bytes or values".to_owned());
        let (packed, unpacked) = (
            u64::try_from(page.packed).map_err(|_| negative())?,
            u64::try_from(page.unpacked).map_err(|_| negative())?,
        );
        if unpacked > packed.saturating_mul(ratio(chunk.compression())).saturating_add(ALWAYS) {
            return Err(bad(format!(
                "a page declares {unpacked} bytes, which {packed} compressed bytes cannot hold"
            )));
        }
        at = at.saturating_add(page.length).saturating_add(packed);
        if at > input.size {
            return Err(input.malformed(
                "cut short",
                format!("a page of column `{name}` ends at byte {at} of {}", input.size),
            ));
        }
        if let Some(count) = page.dictionary {
            if u64::try_from(count).map_err(|_| negative())?.saturating_mul(least(chunk)) > unpacked {
                return Err(bad(format!("its dictionary declares {count} values in {unpacked} bytes")));
            }
            dictionary = dictionary.max(unpacked);
        }
        let mut held = packed.saturating_add(unpacked);
        if let Some(count) = page.values {
            let count = u64::try_from(count).map_err(|_| negative())?;
            values = values.saturating_add(count.cast_signed());
            single = single.max(unpacked.div_ceil(count.max(1)));
            if matches!(page.encoding, Some(LENGTHS | CONTINUED)) {
                lengths = true;
                held = held.saturating_add(count.saturating_mul(LENGTH));
            }
            if page.encoding == Some(CONTINUED) {
                size.text = size.text.max(unpacked);
            }
        }
        all = all.saturating_add(unpacked);
        size.page = size.page.max(unpacked);
        largest = largest.max(held);
    }
    if values != chunk.num_values() {
        return Err(bad(format!("its pages have {values} values, but {} are declared", chunk.num_values())));
    }
    size.text =
        if texts { size.text.max(dictionary).max(if all > BATCH_TEXTS { single } else { 0 }) } else { 0 };
    size.bytes = largest.saturating_add(dictionary.saturating_mul(DICTIONARY_COPIES));
    let window = if packs(chunk) { MAX_ZSTD_WINDOW } else { 0 };
    // With few values in total, no row can be too long.
    let long = chunk.column_descr().max_rep_level() > 0 && values.cast_unsigned() > BATCH_VALUES;
    if long || lengths {
        let held = size.bytes.saturating_add(window);
        input.claim(held, "pages")?;
        let row = check_values(source, chunk, size.page, input)?;
        size.row = if long { row } else { 0 };
        input.release(held);
    }
    Ok(size)
}

/// Minimum bytes of a value; for a text, the size of its length field.
fn least(chunk: &ColumnChunkMetaData) -> u64 {
    match chunk.column_type() {
        PhysicalType::BOOLEAN => 1,
        PhysicalType::INT32 | PhysicalType::FLOAT | PhysicalType::BYTE_ARRAY => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
        PhysicalType::INT96 => 12,
        PhysicalType::FIXED_LEN_BYTE_ARRAY => {
            u64::try_from(chunk.column_descr().type_length()).unwrap_or(0).max(1)
        }
    }
}

/// Reads the page header at a byte offset of a column that ends at `end`. The error is `Ok` for a failed read
/// and `Err` for an invalid header.
fn header(
    source: &CheckedFile,
    at: u64,
    end: u64,
    input: &Input<'_>,
) -> Result<PageHeader, Result<FormatError, String>> {
    let left = (end - at).min(MAX_PAGE_HEADER);
    let mut window = WINDOW;
    loop {
        let bytes = source
            .get_bytes(at, window.min(left) as usize)
            .map_err(|why| Ok(failed(input, "columns", why)))?;
        match PageHeader::read(&bytes) {
            Ok(page) => return Ok(page),
            // It may just exceed the window.
            Err(_) if window < left => window = window.saturating_mul(16),
            Err(why) => return Err(Err(why)),
        }
    }
}

/// Upper bound on the bytes that one compressed byte expands to.
fn ratio(compression: Compression) -> u64 {
    match compression {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => SNAPPY,
        Compression::LZ4 | Compression::LZ4_RAW => LZ4,
        Compression::ZSTD(_) => ZSTD,
        _ => DEFLATE,
    }
}

// The subset of parquet.thrift known to the decoder.

static PAGE: StructSchema = StructSchema {
    name: "PageHeader",
    fields: &[Int, Int, Int, Int, Struct(&DATA), NOTHING, Struct(&DICTIONARY), Struct(&DATA_2)],
};

static DATA: StructSchema =
    StructSchema { name: "DataPageHeader", fields: &[Int, Int, Int, Int, Struct(&STATISTICS)] };

static DICTIONARY: StructSchema = StructSchema { name: "DictionaryPageHeader", fields: &[Int, Int, Bool] };

static DATA_2: StructSchema = StructSchema {
    name: "DataPageHeaderV2",
    fields: &[Int, Int, Int, Int, Int, Int, Bool, Struct(&STATISTICS)],
};

// Checks counts inside pages that the decoder allocates by: the number of delta-encoded text lengths, and the
// number of values per row.

/// Decompresses all pages of a column, at most `largest` bytes each, and returns the maximum number of values
/// in a row. The caller claims the memory of a page.
fn check_values(
    source: &CheckedFile,
    chunk: &ColumnChunkMetaData,
    largest: u64,
    input: &Input<'_>,
) -> Result<u64> {
    let bad = |why: String| input.malformed(format!("column `{}`", chunk.column_path().string()), why);
    let failed = |why| failed(input, "data", why);
    let column = chunk.column_descr();
    let (repeats, defines) = (column.max_rep_level(), column.max_def_level());
    let mut rows = RowLengthCounter::default();
    let mut pages = open_pages(source, chunk, largest).map_err(failed)?;
    while let Some(page) = pages.get_next_page().map_err(failed)? {
        input.check()?;
        if let Some(page) = DataPage::parse(&page, repeats, defines).map_err(bad)? {
            if repeats > 0 {
                rows.page(&page, width(repeats)).map_err(bad)?;
            }
            texts(&page).map_err(bad)?;
        }
    }
    Ok(rows.longest)
}

/// The number of bits of a level.
fn width(most: i16) -> u32 {
    i16::BITS - most.leading_zeros()
}

/// A page of data.
struct DataPage {
    encoding: Encoding,
    values: u64,
    /// Repetition levels, and whether they are run-length encoded.
    repeats: Bytes,
    runs: bool,
    data: Bytes,
}

impl DataPage {
    fn parse(page: &Page, repeats: i16, defines: i16) -> Result<Option<Self>, String> {
        let short = || "a page ends within its levels".to_owned();
        Ok(match page {
            Page::DictionaryPage { .. } => None,
            &Page::DataPage {
                ref buf, num_values, encoding, def_level_encoding, rep_level_encoding, ..
            } => {
                let mut rest = buf.clone();
                let mut levels = |most: i16, how: Encoding| {
                    let (before, length) = match how {
                        _ if most == 0 => (0, 0),
                        Encoding::RLE => {
                            let length = rest.first_chunk().ok_or_else(short)?;
                            (4, u64::from(u32::from_le_bytes(*length)))
                        }
                        // Deprecated encoding: a fixed number of bits each.
                        _ => (0, (u64::from(num_values) * u64::from(width(most))).div_ceil(8)),
                    };
                    let end = usize::try_from(before + length)
                        .ok()
                        .filter(|&end| end <= rest.len())
                        .ok_or_else(short)?;
                    Ok::<_, String>(rest.split_to(end).split_off(before as usize))
                };
                let repeats = levels(repeats, rep_level_encoding)?;
                levels(defines, def_level_encoding)?;
                Some(Self {
                    encoding,
                    values: num_values.into(),
                    repeats,
                    runs: rep_level_encoding == Encoding::RLE,
                    data: rest,
                })
            }
            &Page::DataPageV2 {
                ref buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let (repeats, defines) = (rep_levels_byte_len as usize, def_levels_byte_len as usize);
                let data = repeats.checked_add(defines).filter(|&end| end <= buf.len()).ok_or_else(short)?;
                Some(Self {
                    encoding,
                    values: num_values.into(),
                    repeats: buf.slice(..repeats),
                    runs: true,
                    data: buf.slice(data..),
                })
            }
        })
    }
}

/// Fails if a page declares more texts than values.
fn texts(page: &DataPage) -> Result<(), String> {
    let mut rest = ByteReader(&page.data);
    match page.encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => DeltaHeader::parse(&mut rest, page.values).map(|_| ()),
        // Lengths of the prefix shared with the previous text, then of the suffix.
        Encoding::DELTA_BYTE_ARRAY => {
            DeltaHeader::parse(&mut rest, page.values)?.pass(&mut rest)?;
            DeltaHeader::parse(&mut rest, page.values).map(|_| ())
        }
        _ => Ok(()),
    }
}

/// The header of delta-encoded numbers (DELTA_BINARY_PACKED): blocks of miniblocks, each with its own bit
/// width.
struct DeltaHeader {
    block: u64,
    parts: u64,
    count: u64,
}

impl DeltaHeader {
    fn parse(rest: &mut ByteReader<'_>, most: u64) -> Result<Self, String> {
        let [block, parts, count] = [rest.varint()?, rest.varint()?, rest.varint()?];
        // The first number.
        rest.varint()?;
        if count > most {
            return Err(format!("a page of {most} values declares {count} strings"));
        }
        Ok(Self { block, parts, count })
    }

    /// Skips the blocks.
    fn pass(self, rest: &mut ByteReader<'_>) -> Result<(), String> {
        let mut left = self.count.saturating_sub(1);
        let numbers = self
            .block
            .checked_div(self.parts)
            .filter(|&numbers| numbers > 0 || left == 0)
            .ok_or("a page has empty blocks")?;
        while left > 0 {
            // The minimum delta.
            rest.varint()?;
            let mut bytes = 0u64;
            for _ in 0..self.parts {
                let bits = rest.byte()?;
                if left > 0 {
                    bytes = bytes.saturating_add(numbers.saturating_mul(bits.into()) / 8);
                    left = left.saturating_sub(numbers);
                }
            }
            rest.skip(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }
}

/// Counts the values per row. A value with repetition level 0 begins a row, which may continue over several
/// pages.
#[derive(Default)]
struct RowLengthCounter {
    current: u64,
    longest: u64,
}

impl RowLengthCounter {
    fn take(&mut self, level: u64, count: u64) {
        self.current = if level == 0 { count.min(1) } else { self.current.saturating_add(count) };
        self.longest = self.longest.max(self.current);
    }

    fn page(&mut self, page: &DataPage, width: u32) -> Result<(), String> {
        let mut rest = ByteReader(&page.repeats);
        if !page.runs {
            return self.packed(&mut rest, width, page.values);
        }
        let mut left = page.values;
        while left > 0 {
            let head = rest.varint()?;
            if head & 1 == 0 {
                let count = (head >> 1).min(left);
                let mut level = 0;
                for shift in (0..width).step_by(8) {
                    level |= u64::from(rest.byte()?) << shift;
                }
                if count > 0 {
                    self.take(level, count);
                }
                left -= count;
            } else {
                let count = (head >> 1).saturating_mul(8).min(left);
                self.packed(&mut rest, width, count)?;
                left -= count;
            }
        }
        Ok(())
    }

    /// Bit-packed levels, in whole bytes for eight of them.
    fn packed(&mut self, rest: &mut ByteReader<'_>, width: u32, count: u64) -> Result<(), String> {
        let mut left = count;
        while left > 0 {
            let mut bits = 0u128;
            for shift in (0..width * 8).step_by(8) {
                // The last bytes may be missing.
                bits |=
                    u128::from(rest.byte().or_else(|why| if shift > 0 { Ok(0) } else { Err(why) })?) << shift;
            }
            let now = left.min(8);
            for _ in 0..now {
                self.take((bits & ((1 << width) - 1)) as u64, 1);
                bits >>= width;
            }
            left -= now;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum number of values in a row, from the levels of pages: their bytes and count.
    fn longest(pages: &[(&[u8], u64)], runs: bool, width: u32) -> Result<u64, String> {
        let mut rows = RowLengthCounter::default();
        for &(repeats, values) in pages {
            let page = DataPage {
                encoding: Encoding::PLAIN,
                values,
                repeats: Bytes::copy_from_slice(repeats),
                runs,
                data: Bytes::new(),
            };
            rows.page(&page, width)?;
        }
        Ok(rows.longest)
    }

    #[test]
    fn row_lengths_are_counted_from_run_length_encoded_levels() {
        // A run of one 0 and a run of 2²⁹ ones, which continues in the next page.
        let run = [2, 0, 0x80, 0x80, 0x80, 0x80, 4, 1];
        assert_eq!(longest(&[(&run, (1 << 29) + 1), (&[20, 1], 10)], true, 1), Ok((1 << 29) + 11));
        // A run longer than the page.
        assert_eq!(longest(&[(&run, 100)], true, 1), Ok(100));
        // Eight of one bit each, 0 1 1 0 1 1 1 0, and a run of zeros.
        assert_eq!(longest(&[(&[3, 0b0111_0110, 200, 1, 0], 108)], true, 1), Ok(4));
        // Two bits each: 0 1 2 3 0 0 0 0.
        assert_eq!(longest(&[(&[0b1110_0100, 0], 8)], false, 2), Ok(4));
        assert!(longest(&[(&[2, 0], 3)], true, 1).is_err());
    }
}
