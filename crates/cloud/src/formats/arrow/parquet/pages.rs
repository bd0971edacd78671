//! Checks the pages of a column before the decoder gets them, which allocates what their headers promise, and reads as many
//! values as it finds.

use parquet::basic::{Compression, Type as PhysicalType};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader as _;

use super::super::super::FormatError;
use super::super::super::input::Input;
use super::super::super::limits::{BATCH_TEXTS, BATCH_VALUES, DEFLATE, LZ4, MAX_PAGE_HEADER, MAX_ZSTD_WINDOW, SNAPPY, ZSTD};
use super::footer::{EMPTY, STATISTICS};
use super::thrift::{Event, Kind, Shape, walk};
use super::{Source, failed, inside, zstd};

/// Bytes in which the header of a page is looked for at first; one with long texts as least and largest values takes more.
const WINDOW: u64 = 1 << 12;
/// Bytes that any page may unpack to.
const ALWAYS: u64 = 1 << 10;

/// Encodings of texts that begin with the lengths of all of them, the second one with texts that continue those before.
const LENGTHS: i64 = 6;
const CONTINUED: i64 = 7;
/// Bytes of a length, of which there are two for a text that continues another.
const LENGTH: u64 = 8;
/// How often the bytes of a dictionary are held: as they are stored, as values, and their places.
const DICTIONARY_COPIES: u64 = 3;

/// What a column takes while it is read.
#[derive(Default)]
pub(super) struct Size {
    /// Bytes of the dictionary and of the largest page, packed and unpacked.
    pub bytes: u64,
    /// Bytes that the text of a row may have; 0 if all of them together are few.
    pub text: u64,
    /// Values that a row has at most; 0 if all rows together have few.
    pub row: u64,
    /// Bytes of the largest page, unpacked.
    pub page: u64,
}

/// The header of a page.
#[derive(Default)]
struct Page {
    /// Bytes of the header.
    length: u64,
    unpacked: i64,
    packed: i64,
    /// Number of values, if it has any.
    values: Option<i64>,
    encoding: Option<i64>,
    dictionary: Option<i64>,
}

impl Page {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut page = Self::default();
        let mut each = |event: Event| {
            if let Event::Int { of, field, value } = event {
                let is = |shape: &'static Shape| std::ptr::eq(of, shape);
                match field {
                    2 if is(&PAGE) => page.unpacked = value,
                    3 if is(&PAGE) => page.packed = value,
                    // Of two headers the decoder could take the other one.
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

/// Walks over the pages of a column and holds what they promise against what there is of them. `rows` is the number of rows in
/// the row group, if each has one value.
pub(super) fn check(source: &Source, chunk: &ColumnChunkMetaData, rows: Option<i64>, input: &Input<'_>) -> Result<Size, FormatError> {
    let name = chunk.column_path().string();
    let bad = |why: String| input.malformed(format!("column `{name}`"), why);
    if let Some(rows) = rows.filter(|&rows| rows != chunk.num_values()) {
        return Err(bad(format!("it has {} values in a group of {rows} rows", chunk.num_values())));
    }
    let (start, length) = chunk.byte_range();
    let end = start.saturating_add(length);
    if end > input.size() {
        return Err(input.malformed("cut short", format!("column `{name}` ends at byte {end} of {}", input.size())));
    }
    let texts = chunk.column_type() == PhysicalType::BYTE_ARRAY;
    let (mut at, mut values, mut size) = (start, 0i64, Size::default());
    // Bytes of the dictionary, the largest page, all pages, and a text of those that are stored one by one; whether lengths come first.
    let (mut dictionary, mut largest, mut all, mut single, mut lengths) = (0u64, 0u64, 0u64, 0u64, false);
    while values < chunk.num_values() && at < end {
        input.check()?;
        let page = header(source, at, end, input).map_err(|why| why.unwrap_or_else(|why| bad(format!("the header of a page is damaged: {why}"))))?;
        let negative = || bad("a page has a negative number of bytes or values".to_owned());
        let (packed, unpacked) = (u64::try_from(page.packed).map_err(|_| negative())?, u64::try_from(page.unpacked).map_err(|_| negative())?);
        if unpacked > packed.saturating_mul(ratio(chunk.compression())).saturating_add(ALWAYS) {
            return Err(bad(format!("a page promises {unpacked} bytes, which {packed} packed ones cannot hold")));
        }
        at = at.saturating_add(page.length).saturating_add(packed);
        if at > input.size() {
            return Err(input.malformed("cut short", format!("a page of column `{name}` ends at byte {at} of {}", input.size())));
        }
        if let Some(count) = page.dictionary {
            if u64::try_from(count).map_err(|_| negative())?.saturating_mul(least(chunk)) > unpacked {
                return Err(bad(format!("its dictionary promises {count} values in {unpacked} bytes")));
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
        return Err(bad(format!("its pages have {values} values, and {} are promised", chunk.num_values())));
    }
    size.text = if texts { size.text.max(dictionary).max(if all > BATCH_TEXTS { single } else { 0 }) } else { 0 };
    size.bytes = largest.saturating_add(dictionary.saturating_mul(DICTIONARY_COPIES));
    let window = if zstd::packs(chunk) { MAX_ZSTD_WINDOW } else { 0 };
    // Rows of few values need no look into the pages, even if a single one has all of them.
    let long = chunk.column_descr().max_rep_level() > 0 && values.cast_unsigned() > BATCH_VALUES;
    if long || lengths {
        let held = size.bytes.saturating_add(window);
        input.claim(held, "pages")?;
        let row = inside::check(source, chunk, size.page, input)?;
        size.row = if long { row } else { 0 };
        input.release(held);
    }
    Ok(size)
}

/// Bytes that a value takes at least, of which a text has the number of its own.
fn least(chunk: &ColumnChunkMetaData) -> u64 {
    match chunk.column_type() {
        PhysicalType::BOOLEAN => 1,
        PhysicalType::INT32 | PhysicalType::FLOAT | PhysicalType::BYTE_ARRAY => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
        PhysicalType::INT96 => 12,
        PhysicalType::FIXED_LEN_BYTE_ARRAY => u64::try_from(chunk.column_descr().type_length()).unwrap_or(0).max(1),
    }
}

/// Reads the header of the page at a byte offset of a column that ends at another. The error is a reason to doubt the header,
/// or one to stop.
fn header(source: &Source, at: u64, end: u64, input: &Input<'_>) -> Result<Page, Result<FormatError, String>> {
    let left = (end - at).min(MAX_PAGE_HEADER);
    let mut window = WINDOW;
    loop {
        let bytes = source.get_bytes(at, window.min(left) as usize).map_err(|why| Ok(failed(input, "columns", why)))?;
        match Page::read(&bytes) {
            Ok(page) => return Ok(page),
            // It may only be cut off by the window.
            Err(_) if window < left => window = window.saturating_mul(16),
            Err(why) => return Err(Err(why)),
        }
    }
}

/// Upper bound on the bytes that one packed byte can stand for.
fn ratio(compression: Compression) -> u64 {
    match compression {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => SNAPPY,
        Compression::LZ4 | Compression::LZ4_RAW => LZ4,
        Compression::ZSTD(_) => ZSTD,
        _ => DEFLATE,
    }
}

// What the decoder knows of parquet.thrift.

static PAGE: Shape = Shape {
    name: "PageHeader",
    fields: &[
        (1, Kind::Int),
        (2, Kind::Int),
        (3, Kind::Int),
        (4, Kind::Int),
        (5, Kind::Struct(&DATA)),
        (6, Kind::Struct(&EMPTY)),
        (7, Kind::Struct(&DICTIONARY)),
        (8, Kind::Struct(&DATA_2)),
    ],
};

static DATA: Shape =
    Shape { name: "DataPageHeader", fields: &[(1, Kind::Int), (2, Kind::Int), (3, Kind::Int), (4, Kind::Int), (5, Kind::Struct(&STATISTICS))] };

static DICTIONARY: Shape = Shape { name: "DictionaryPageHeader", fields: &[(1, Kind::Int), (2, Kind::Int), (3, Kind::Bool)] };

static DATA_2: Shape = Shape {
    name: "DataPageHeaderV2",
    fields: &[
        (1, Kind::Int),
        (2, Kind::Int),
        (3, Kind::Int),
        (4, Kind::Int),
        (5, Kind::Int),
        (6, Kind::Int),
        (7, Kind::Bool),
        (8, Kind::Struct(&STATISTICS)),
    ],
};
