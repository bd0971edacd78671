use std::sync::Arc;

use ::parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_ipc::{
    Block, CompressionType, FieldBuilder, FooterBuilder, IntBuilder, MessageBuilder, MessageHeader,
    MetadataVersion, SchemaBuilder, Struct_Builder, Type, root_as_footer, root_as_message,
};
use arrow_schema::{DataType, Field, Schema};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flatbuffers::{FlatBufferBuilder, WIPOffset};

use super::*;

type Made<'b> = WIPOffset<arrow_ipc::Schema<'b>>;

/// A column of nested structs, each with several copies of the same child; the innermost are numbers with a
/// name of this length.
fn shared<'b>(to: &mut FlatBufferBuilder<'b>, times: &[usize], name: usize) -> Made<'b> {
    let name = to.create_string(&"n".repeat(name));
    let mut kind = IntBuilder::new(to);
    kind.add_bitWidth(32);
    kind.add_is_signed(true);
    let kind = kind.finish();
    let mut field = FieldBuilder::new(to);
    field.add_name(name);
    field.add_type_type(Type::Int);
    field.add_type_(kind.as_union_value());
    let mut inner = field.finish();
    for &times in times {
        let name = to.create_string("s");
        let kind = Struct_Builder::new(to).finish();
        let children = to.create_vector(&vec![inner; times]);
        let mut field = FieldBuilder::new(to);
        field.add_name(name);
        field.add_type_type(Type::Struct_);
        field.add_type_(kind.as_union_value());
        field.add_children(children);
        inner = field.finish();
    }
    let fields = to.create_vector(&[inner]);
    let mut schema = SchemaBuilder::new(to);
    schema.add_fields(fields);
    schema.finish()
}

/// A message with a schema, as a stream begins.
fn message(times: &[usize], name: usize) -> Vec<u8> {
    let mut to = FlatBufferBuilder::new();
    let schema = shared(&mut to, times, name);
    let mut message = MessageBuilder::new(&mut to);
    message.add_version(MetadataVersion::V5);
    message.add_header_type(MessageHeader::Schema);
    message.add_header(schema.as_union_value());
    let message = message.finish();
    to.finish(message, None);
    let mut content = to.finished_data().to_vec();
    content.resize(content.len().next_multiple_of(8), 0);
    [&[0xff; 4][..], &(content.len() as u32).to_le_bytes(), &content].concat()
}

/// A file with a footer whose batches all overlap.
fn file(times: &[usize], batches: usize) -> Vec<u8> {
    let mut to = FlatBufferBuilder::new();
    let schema = shared(&mut to, times, 1);
    let place = message(&[], 1);
    let batches = to.create_vector(&vec![Block::new(8, place.len() as i32, 0); batches]);
    let mut footer = FooterBuilder::new(&mut to);
    footer.add_version(MetadataVersion::V5);
    footer.add_schema(schema);
    footer.add_recordBatches(batches);
    let footer = footer.finish();
    to.finish(footer, None);
    let footer = to.finished_data();
    [b"ARROW1\0\0", &place[..], footer, &(footer.len() as u32).to_le_bytes(), b"ARROW1"].concat()
}

/// A Parquet file whose only column has this embedded Arrow schema.
fn parquet(schema: &[u8]) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([("x", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap();
    let schema = KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), BASE64_STANDARD.encode(schema));
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![schema])).build();
    let options = ::parquet::arrow::arrow_writer::ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new_with_options(&mut out, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    out
}

#[test]
fn deeply_nested_columns_are_refused() {
    const SAID: &str = "description of columns: nests more than 64 levels deep, the supported maximum";
    let error = |name: &str, content: Vec<u8>| SampleFile::new(name, content).error();
    let deep = [1; 3000];
    assert_eq!(error("a.arrows", message(&deep, 1)), SAID);
    assert_eq!(error("a.arrow", file(&deep, 0)), SAID);
    assert_eq!(error("a.parquet", parquet(&message(&deep, 1))), SAID);
    // The type of the innermost column and the schema with its message add levels.
    assert_eq!(error("a.arrows", message(&[1; 61], 1)), SAID);
    for (name, content) in [("a.arrows", message(&[1; 60], 1)), ("a.arrow", file(&[1; 60], 0))] {
        let message = error(name, content);
        assert!(message.starts_with("no coordinates: ") && message.len() < 300, "{message}");
    }
}

#[test]
fn schemas_that_expand_too_much_are_refused() {
    let error = |name: &str, content: Vec<u8>| SampleFile::new(name, content).error();
    // 409,600 columns of 870,000 tables, and names of 1.6 GB; then 2³⁰ columns.
    let wide = [100, 16, 16, 16];
    for (name, content) in [
        ("a.arrows", message(&wide, 4000)),
        ("a.arrow", file(&wide, 0)),
        ("a.parquet", parquet(&message(&wide, 4000))),
        ("a.arrows", message(&[2; 30], 1)),
        ("a.arrows", message(&[100], 40_000)),
    ] {
        let message = error(name, content);
        assert!(
            message.starts_with("description of columns: its ")
                && message.contains(" bytes unfold to more than "),
            "{message}"
        );
    }
}

#[test]
fn overlapping_batches_are_refused() {
    let message = SampleFile::new("a.arrow", file(&[], 1000)).error();
    assert!(
        message.starts_with("footer: its batches have ") && message.contains(" bytes in a file of "),
        "{message}"
    );
}

#[test]
fn batches_with_an_empty_description_are_refused() {
    // The decoder would treat the description as data and allocate memory by its content.
    let whole = super::super::arrow::ipc(Some(CompressionType::LZ4_FRAME));
    let end = whole.len() - 10;
    let length = u32::from_le_bytes(*whole[end..].first_chunk().unwrap()) as usize;
    let footer = root_as_footer(&whole[end - length..end]).unwrap();
    for block in footer.recordBatches().unwrap() {
        let place = [block.offset(), block.metaDataLength().into(), block.bodyLength()]
            .map(i64::to_le_bytes)
            .concat();
        let at = whole.windows(place.len()).position(|bytes| bytes == place).unwrap();
        let mut content = whole.clone();
        content[at + 8..at + 12].fill(0);
        assert_eq!(
            SampleFile::new("a.arrow", content).error(),
            "data: a batch does not begin with its description"
        );
    }
}

#[test]
fn long_lists_with_long_names_are_refused() {
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let list = Field::new("n".repeat(100_000), DataType::FixedSizeList(item, 1 << 20), true);
    let mut out = Vec::new();
    StreamWriter::try_new(&mut out, &Schema::new(vec![list])).unwrap().finish().unwrap();
    let message = SampleFile::new("a.arrows", out).error();
    assert_eq!(
        message,
        "columns of lists: with their lists' names they take 104924708864 bytes; the limit \
         is 536870912"
    );
}

#[test]
fn lists_longer_than_the_file_are_refused() {
    let stream = |length: i32| {
        let item = Arc::new(Field::new("item", DataType::Float32, true));
        let mut out = Vec::new();
        let list = Field::new("a", DataType::FixedSizeList(item, length), true);
        StreamWriter::try_new(&mut out, &Schema::new(vec![list])).unwrap().finish().unwrap();
        SampleFile::new("a.arrows", out)
    };
    let message = stream(1 << 20).error();
    assert!(message.starts_with("columns of lists: a list has 1048576 elements, and the file "), "{message}");
    // A list with few elements is read even if the file is short.
    assert_eq!(describe(&stream(1 << 12).path, &NoProgress).unwrap().columns.len(), 1 << 12);
}

#[test]
fn batches_with_a_wrong_row_count_are_refused() {
    let whole = super::super::arrow::ipc(None);
    let end = whole.len() - 10;
    let length = u32::from_le_bytes(*whole[end..].first_chunk().unwrap()) as usize;
    let footer = root_as_footer(&whole[end - length..end]).unwrap();
    for block in footer.recordBatches().unwrap() {
        // The description follows a marker and its length.
        let at = block.offset() as usize + 8;
        let message = root_as_message(&whole[at..]).unwrap();
        let batch = message.header_as_record_batch().unwrap();
        let place =
            at + batch._tab.loc() + usize::from(batch._tab.vtable().get(arrow_ipc::RecordBatch::VT_LENGTH));
        assert_eq!(i64::from_le_bytes(*whole[place..].first_chunk().unwrap()), batch.length());
        let damaged = "data: damaged, and cannot be decoded";
        for (promised, want) in
            [(batch.length() + 1, damaged), (i64::MAX, damaged), (-1, "data: a batch declares -1 rows")]
        {
            let mut content = whole.clone();
            content[place..place + 8].copy_from_slice(&promised.to_le_bytes());
            let sample = SampleFile::new("a.arrow", content);
            assert_eq!(sample.error(), want);
            assert!(describe(&sample.path, &NoProgress).is_err());
        }
    }
}
