use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Encoding;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use arrow_array::{Array as _, ArrayRef, Int32Array, ListArray, RecordBatch, StringArray, new_null_array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};

use super::*;

/// Thrift's type of an element that is a struct.
const STRUCT: u8 = 12;

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn zigzag(value: i64) -> Vec<u8> {
    varint(((value << 1) ^ (value >> 63)).cast_unsigned())
}

fn list(count: u64, of: u8) -> Vec<u8> {
    [vec![0xf0 | of], varint(count)].concat()
}

fn text(name: &str) -> Vec<u8> {
    [varint(name.len() as u64), name.as_bytes().to_vec()].concat()
}

fn root(children: i64) -> Vec<u8> {
    [vec![0x48], text("root"), vec![0x15], zigzag(children), vec![0]].concat()
}

/// An optional group.
fn group(name: &str, children: i64) -> Vec<u8> {
    [vec![0x35, 2, 0x18], text(name), vec![0x15], zigzag(children), vec![0]].concat()
}

/// An optional i32.
fn leaf(name: &str) -> Vec<u8> {
    [vec![0x15, 2, 0x25, 2, 0x18], text(name), vec![0]].concat()
}

/// A file without rows, with these schema elements and a declared `count` of them; `before` and `after` are
/// fields around them.
fn file(before: &[u8], count: u64, elements: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
    let mut footer = before.to_vec();
    // Version, elements, 0 rows and 0 row groups.
    footer.extend(
        [
            vec![0x15, 2, 0x19],
            list(count, STRUCT),
            elements.concat(),
            vec![0x16, 0, 0x19, STRUCT],
            after.to_vec(),
            vec![0],
        ]
        .concat(),
    );
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", &footer[..], &length, b"PAR1"].concat()
}

fn schema(elements: &[Vec<u8>]) -> SampleFile {
    SampleFile::new("a.parquet", file(&[], elements.len() as u64, elements, &[]))
}

/// A number in nested groups under the root.
fn nested(groups: usize) -> SampleFile {
    let groups = std::iter::repeat_with(|| group("g", 1)).take(groups);
    schema(&[root(1)].into_iter().chain(groups).chain([leaf("x")]).collect::<Vec<_>>())
}

#[test]
fn deeply_nested_groups_are_refused() {
    assert_eq!(nested(3000).error(), "columns within 3001 groups: at most 64 are supported");
    assert_eq!(nested(64).error(), "columns within 65 groups: at most 64 are supported");
    // The maximum depth is accepted.
    assert!(nested(63).error().starts_with("no coordinates: "), "{}", nested(63).error());
}

#[test]
fn wrong_schema_child_counts_are_refused() {
    let most = i64::from(i32::MAX);
    assert_eq!(
        schema(&[root(most)]).error(),
        "footer: its groups declare 2147483647 more columns than it describes"
    );
    assert_eq!(
        schema(&[root(1), group("g", most)]).error(),
        "footer: its groups declare 2147483647 more columns than it describes"
    );
    assert_eq!(schema(&[root(1), group("g", -1)]).error(), "footer: element 1 of its schema has -1 children");
    assert_eq!(
        schema(&[root(1), leaf("x"), leaf("y")]).error(),
        "footer: element 2 of its schema is in no group"
    );
}

#[test]
fn missing_list_elements_are_refused() {
    let error = |count| SampleFile::new("a.parquet", file(&[], count, &[root(1), leaf("x")], &[])).error();
    assert_eq!(error(1 << 31), "footer: a list declares 2147483648 elements, but only 22 bytes follow");
    assert_eq!(error(3), "footer: field 2 of SchemaElement has the wrong type");
}

#[test]
fn total_length_of_column_names_is_limited() {
    // The name of each column includes those of all groups around it.
    let columns = (0..10_000).map(|_| leaf("x"));
    let elements: Vec<_> =
        [root(1), group(&"n".repeat(100_000), 10_000)].into_iter().chain(columns).collect();
    assert_eq!(
        schema(&elements).error(),
        "names of columns with those of their groups: they take 1000010000 bytes; at most 268435456 \
         are supported"
    );
}

/// Field 20, in its long form.
fn unknown(value: &[u8]) -> Vec<u8> {
    [&[0x09, 40][..], value].concat()
}

/// One column, and fields before and after the schema.
fn between(before: &[u8], after: &[u8]) -> SampleFile {
    SampleFile::new("a.parquet", file(before, 2, &[root(1), leaf("x")], after))
}

#[test]
fn unknown_fields_are_skipped_up_to_a_depth_limit() {
    assert_eq!(between(&[], &unknown(&[0x19; 100_000])).error(), "footer: nests more than 64 deep");
    // Harmless fields are skipped.
    let short = unknown(&[list(2, 9), list(2, 5), vec![1, 2], list(1, 8), text("a")].concat());
    assert!(between(&[], &short).read("").is_ok());
    // The number of rows stored as text. The decoder would misread its bytes as fields.
    let disguised = [vec![0x38], text("\x02\x19\x0c")].concat();
    assert_eq!(between(&disguised, &[]).error(), "footer: field 3 of FileMetaData has the wrong type");
}

#[test]
fn lists_of_booleans_are_checked_against_the_file_size() {
    let most = list(i32::MAX as u64, 1);
    let message = between(&[], &unknown(&[list(1000, 9), most.repeat(1000)].concat())).error();
    assert_eq!(message, "footer: a list declares 2147483647 elements, but only 5995 bytes follow");
}

/// CRC-32.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The declared values of an integer column: row counts in the file, group, column and page; the codec, the
/// page sizes, its checksum, and what follows it.
struct DeclaredMetadata {
    rows: i64,
    in_group: i64,
    in_column: i64,
    in_page: i64,
    codec: i64,
    unpacked: i64,
    crc: Option<u32>,
    more: Vec<u8>,
}

/// One column of these numbers with these declared values.
fn told(numbers: &[i32], change: impl FnOnce(&mut DeclaredMetadata)) -> SampleFile {
    let int = |head: u8, value: i64| [vec![head], zigzag(value)].concat();
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let (count, size) = (numbers.len() as i64, data.len() as i64);
    let mut told = DeclaredMetadata {
        rows: count,
        in_group: count,
        in_column: count,
        in_page: count,
        codec: 0,
        unpacked: size,
        crc: None,
        more: Vec::new(),
    };
    change(&mut told);
    // A data page without levels: its type and sizes, its checksum, the number of values and three encodings.
    let crc = told.crc.map(|crc| int(0x15, i64::from(crc.cast_signed())));
    let about = [int(0x15, told.in_page), int(0x15, 0), int(0x15, 3), int(0x15, 3), vec![0]].concat();
    let head = if crc.is_some() { 0x1c } else { 0x2c };
    let page = [
        int(0x15, 0),
        int(0x15, told.unpacked),
        int(0x15, size),
        crc.unwrap_or_default(),
        vec![head],
        about,
        told.more.clone(),
        vec![0],
        data,
    ]
    .concat();
    let column = [
        // Type, encodings, path, codec, number of values and sizes; field 8 is omitted.
        [int(0x15, 1), vec![0x19, 0x15], zigzag(0), vec![0x19, 0x18], text("x"), int(0x15, told.codec)]
            .concat(),
        [
            int(0x16, told.in_column),
            int(0x16, page.len() as i64),
            int(0x16, page.len() as i64),
            int(0x26, 4),
            vec![0],
        ]
        .concat(),
    ]
    .concat();
    let group = [
        [vec![0x19, 0x1c], int(0x26, 4), vec![0x1c], column, vec![0]].concat(),
        [int(0x16, page.len() as i64), int(0x16, told.in_group), vec![0]].concat(),
    ]
    .concat();
    // A required i32.
    let leaf = [int(0x15, 1), int(0x25, 0), vec![0x18], text("x"), vec![0]].concat();
    let footer = [
        [vec![0x15, 2, 0x19], list(2, STRUCT), root(1), leaf].concat(),
        [int(0x16, told.rows), vec![0x19, 0x1c], group, vec![0]].concat(),
    ]
    .concat();
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    SampleFile::new("a.parquet", [b"PAR1", &page[..], &footer, &length, b"PAR1"].concat())
}

#[test]
fn row_count_mismatches_are_refused() {
    let numbers: Vec<i32> = (0..1000).collect();
    assert_eq!(told(&numbers, |_| {}).table("").1.len(), 1000);
    let error = |change: fn(&mut DeclaredMetadata)| {
        let sample = told(&numbers, change);
        // `info` and single rows fail too.
        assert!(
            describe(&sample.path, &NoProgress).is_err() && records(&sample.path, &[0], &NoProgress).is_err()
        );
        sample.error()
    };
    assert_eq!(error(|told| told.rows = 2000), "footer: it declares 2000 rows, but its row groups have 1000");
    assert_eq!(
        error(|told| (told.rows, told.in_group) = (2000, 2000)),
        "column `x`: it has 1000 values in a group of 2000 rows"
    );
    let in_column =
        |told: &mut DeclaredMetadata| (told.rows, told.in_group, told.in_column) = (2000, 2000, 2000);
    assert_eq!(error(in_column), "column `x`: its pages have 1000 values, but 2000 are declared");
    let everywhere = |told: &mut DeclaredMetadata| {
        (told.rows, told.in_group, told.in_column, told.in_page) = (2000, 2000, 2000, 2000)
    };
    assert_eq!(error(everywhere), "data: damaged, and cannot be decoded");
    let fewer = |told: &mut DeclaredMetadata| (told.rows, told.in_group, told.in_column) = (500, 500, 500);
    assert_eq!(error(fewer), "column `x`: its pages have 1000 values, but 500 are declared");
    assert_eq!(error(|told| told.rows = -5), "footer: it declares -5 rows, but its row groups have 1000");
}

#[test]
fn page_checksums_are_verified() {
    let numbers: Vec<i32> = (0..1000).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let sum = checksum(&bytes);
    assert_eq!(told(&numbers, |told| told.crc = Some(sum)).table("").1[999], 999.0);
    assert_eq!(
        told(&numbers, |told| told.crc = Some(sum ^ 1)).error(),
        "data: damaged, and cannot be decoded"
    );
}

#[test]
fn oversized_pages_are_refused() {
    let numbers = [1; 1000];
    let promising = |codec: i64, unpacked: i64| {
        let change = |told: &mut DeclaredMetadata| (told.codec, told.unpacked) = (codec, unpacked);
        told(&numbers, change).error()
    };
    let most = i64::from(i32::MAX);
    assert_eq!(
        promising(0, most),
        "column `x`: a page declares 2147483647 bytes, which 4000 compressed bytes cannot hold"
    );
    assert_eq!(
        promising(1, 100_000),
        "column `x`: a page declares 100000 bytes, which 4000 compressed bytes cannot hold"
    );
    assert_eq!(
        promising(2, most),
        "column `x`: a page declares 2147483647 bytes, which 4000 compressed bytes cannot hold"
    );
    assert_eq!(promising(0, -1), "column `x`: a page has a negative number of bytes or values");
    // Lists of booleans, which take no bytes, in unknown fields.
    let many = unknown(&[list(100, 9), list(i32::MAX as u64, 1).repeat(100)].concat());
    let message = told(&numbers, |told| told.more = many).error();
    assert!(
        message
            .starts_with("column `x`: the header of a page is damaged: a list declares 2147483647 elements"),
        "{message}"
    );
}

/// A column of these arrays and one of whole numbers, written with these settings.
fn written(
    column: ArrayRef,
    change: impl FnOnce(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
) -> Vec<u8> {
    let numbers: ArrayRef = Arc::new((0..column.len() as i32).collect::<Int32Array>());
    let batch =
        RecordBatch::try_from_iter_with_nullable([("x", numbers, false), ("other", column, true)]).unwrap();
    let properties = change(WriterProperties::builder().set_dictionary_enabled(false)).build();
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    out
}

#[test]
fn delta_encoded_texts_are_read() {
    // One value is null, so a page of 201 values has 200 texts. Each shares a prefix with the previous text.
    let texts: ArrayRef =
        Arc::new((0..201).map(|at| (at != 7).then(|| format!("text {}", at / 3))).collect::<StringArray>());
    let all: Vec<u64> = (0..201).collect();
    let cells = |content: &[u8]| {
        records(&SampleFile::new("a.parquet", content).path, &all, &NoProgress).unwrap().rows
    };
    let want = cells(&written(Arc::clone(&texts), |properties| properties));
    // Delta header: blocks of 128 in 4 miniblocks, 200 values in total.
    let head = [0x80, 1, 4, 0xc8, 1];
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for (encoding, heads) in [(Encoding::DELTA_LENGTH_BYTE_ARRAY, 1), (Encoding::DELTA_BYTE_ARRAY, 2)] {
            let whole = written(Arc::clone(&texts), |properties| {
                properties.set_column_encoding("other".into(), encoding).set_writer_version(version)
            });
            assert!(cells(&whole) == want, "{encoding:?} of {version:?}");
            let places: Vec<usize> = (0..whole.len()).filter(|&at| whole[at..].starts_with(&head)).collect();
            // Newer files compress the whole numbers separately.
            assert!(places.len() >= heads, "{places:?}");
            for &at in &places[places.len() - heads..] {
                let mut content = whole.clone();
                content[at + 3..at + 5].copy_from_slice(&[0xff, 0x7f]);
                let message = describe(&SampleFile::new("a.parquet", content).path, &NoProgress)
                    .unwrap_err()
                    .to_string();
                assert!(
                    message.starts_with("column `other`: a page of 201 values declares 16383 strings"),
                    "{message}"
                );
            }
        }
    }
}

#[test]
fn memory_is_claimed_for_rows_with_millions_of_values() {
    // Nulls need almost no bytes.
    let count = 8_400_000;
    let nulls: ArrayRef = new_null_array(&DataType::Int32, count);
    let item = Arc::new(Field::new("item", DataType::Int32, true));
    let lists = ListArray::new(item, OffsetBuffer::from_lengths([1, count - 2, 1]), nulls, None);
    let sample = SampleFile::new("a.parquet", written(Arc::new(lists), |properties| properties));
    assert!(sample.path.metadata().unwrap().len() < 10_000);
    let input = Input::new(&sample.path, &NoProgress).unwrap().with_free(100 << 20);
    let FormatError::Memory { needed, .. } =
        super::super::super::arrow::read_parquet(&input, &ColumnRequest::Everything).unwrap_err()
    else {
        panic!("it fits");
    };
    assert!(needed > 268_000_000, "{needed}");
}
