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

/// A file without rows, with these elements of its schema, of which there are said to be `count`; `before` and `after` are
/// fields around them.
fn file(before: &[u8], count: u64, elements: &[Vec<u8>], after: &[u8]) -> Vec<u8> {
    let mut footer = before.to_vec();
    // Version, elements, no rows in no groups.
    footer.extend([vec![0x15, 2, 0x19], list(count, STRUCT), elements.concat(), vec![0x16, 0, 0x19, STRUCT], after.to_vec(), vec![0]].concat());
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", &footer[..], &length, b"PAR1"].concat()
}

fn schema(elements: &[Vec<u8>]) -> Sample {
    Sample::new("a.parquet", file(&[], elements.len() as u64, elements, &[]))
}

/// A number within groups within the root.
fn nested(groups: usize) -> Sample {
    let groups = std::iter::repeat_with(|| group("g", 1)).take(groups);
    schema(&[root(1)].into_iter().chain(groups).chain([leaf("x")]).collect::<Vec<_>>())
}

#[test]
fn groups_within_groups() {
    assert_eq!(nested(3000).error(), "columns within 3001 groups: the most that are read is 64");
    assert_eq!(nested(64).error(), "columns within 65 groups: the most that are read is 64");
    // What nests as deep as may be is opened.
    assert!(nested(63).error().starts_with("no coordinates: "), "{}", nested(63).error());
}

#[test]
fn children_that_are_not_there() {
    let most = i64::from(i32::MAX);
    assert_eq!(schema(&[root(most)]).error(), "footer: its groups promise 2147483647 columns more than it describes");
    assert_eq!(schema(&[root(1), group("g", most)]).error(), "footer: its groups promise 2147483647 columns more than it describes");
    assert_eq!(schema(&[root(1), group("g", -1)]).error(), "footer: element 1 of its schema has -1 children");
    assert_eq!(schema(&[root(1), leaf("x"), leaf("y")]).error(), "footer: element 2 of its schema is in no group");
}

#[test]
fn elements_that_are_not_there() {
    let error = |count| Sample::new("a.parquet", file(&[], count, &[root(1), leaf("x")], &[])).error();
    assert_eq!(error(1 << 31), "footer: a list promises 2147483648 elements, and 22 bytes follow");
    assert_eq!(error(3), "footer: field 2 of SchemaElement is of another type");
}

#[test]
fn long_names_of_groups_with_many_columns() {
    // Each column gets the names of all groups around it.
    let columns = (0..10_000).map(|_| leaf("x"));
    let elements: Vec<_> = [root(1), group(&"n".repeat(100_000), 10_000)].into_iter().chain(columns).collect();
    assert_eq!(
        schema(&elements).error(),
        "names of columns with those of their groups: they take 1000010000 bytes, and the most that are read are 268435456"
    );
}

/// Field 20, in its long form.
fn unknown(value: &[u8]) -> Vec<u8> {
    [&[0x09, 40][..], value].concat()
}

/// One column, and fields before and after the schema.
fn between(before: &[u8], after: &[u8]) -> Sample {
    Sample::new("a.parquet", file(before, 2, &[root(1), leaf("x")], after))
}

#[test]
fn fields_that_nobody_knows() {
    assert_eq!(between(&[], &unknown(&[0x19; 100_000])).error(), "footer: it nests more than 64 deep");
    // What is harmless is passed over.
    let short = unknown(&[list(2, 9), list(2, 5), vec![1, 2], list(1, 8), text("a")].concat());
    assert!(between(&[], &short).read("").is_ok());
    // The number of rows as text, in which the decoder would read fields of its own.
    let disguised = [vec![0x38], text("\x02\x19\x0c")].concat();
    assert_eq!(between(&disguised, &[]).error(), "footer: field 3 of FileMetaData is of another type");
}

#[test]
fn truth_values_that_take_no_bytes() {
    let most = list(i32::MAX as u64, 1);
    let message = between(&[], &unknown(&[list(1000, 9), most.repeat(1000)].concat())).error();
    assert_eq!(message, "footer: a list promises 2147483647 elements, and 5995 bytes follow");
}
