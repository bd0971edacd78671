use ::parquet::basic::Compression;

use super::*;
use crate::table::Values;

/// The values of some rows of a table.
fn rows_of(values: &[f64], width: usize, rows: impl IntoIterator<Item = usize>) -> Vec<u64> {
    rows.into_iter().flat_map(|row| bits(values[row * width..][..width].iter().copied())).collect()
}

fn bits(values: impl IntoIterator<Item = f64>) -> Vec<u64> {
    values.into_iter().map(f64::to_bits).collect()
}

fn list(values: &Values) -> Vec<u64> {
    bits(values.iter())
}

#[test]
fn blocks_have_the_values_of_the_whole_file() {
    let texmex: Vec<u8> =
        (0..50u8).flat_map(|row| [&3i32.to_le_bytes()[..], &[row, row ^ 7, 200]].concat()).collect();
    let floats: Vec<u8> = (0..90).flat_map(|at| (at as f32 * 0.3).to_le_bytes()).collect();
    let big_ann = [&30u32.to_le_bytes()[..], &3u32.to_le_bytes(), &floats].concat();
    for (name, content, columns) in [
        ("a.las", las::scan(0, false, 3000), ""),
        ("a.las", las::scan(3, false, 70), "intensity,z"),
        ("a.bvecs", texmex, ""),
        ("a.fbin", big_ann, "2,0"),
        ("a.laz", las::scan(3, true, 60_000), ""),
        ("a.laz", las::scan(6, true, 60_000), "intensity,z"),
        ("a.laz", las::scan(7, true, 60_000), ""),
    ]
    .into_iter()
    .chain(arrow::tables(20_000, 9000).map(|(name, content)| (name, content, "")))
    .chain(arrow::tables(100, 7).map(|(name, content)| (name, content, "id,z,y")))
    .chain([("a.parquet", arrow::parquet(Compression::SNAPPY), "vector2,id")])
    {
        let sample = SampleFile::new(name, content);
        let (names, values) = sample.table(columns);
        let choice: ColumnChoice = columns.parse().unwrap();
        let opened = open_blocks(&sample.path, &choice, AutoColumns::Inferred, &NoProgress).unwrap();
        let (mut blocks, _) = opened.expect(name);
        let width = names.len();
        let found: Vec<&str> = blocks.columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!((blocks.rows() as usize * width, found.join(",")), (values.len(), names.join(",")));
        let n = blocks.rows();
        for is_stored in [false, true] {
            if is_stored {
                let folder = tempfile::tempdir().unwrap();
                blocks.store(folder.path(), &NoProgress).unwrap();
                assert_eq!(blocks.buffer(), 0);
                std::fs::write(&sample.path, "").unwrap();
            }
            let whole = blocks.read(0..n).unwrap();
            assert_eq!(list(&whole), bits(values.clone()), "{name}");
            let width_of_value = if matches!(whole, Values::F32(_)) { 4 } else { 8 };
            assert_eq!(blocks.bytes(), width_of_value * values.len() as u64);
            for rows in [n / 4..n / 2, n - 1..n, n / 3..n / 3] {
                let expected = rows_of(&values, width, rows.start as usize..rows.end as usize);
                assert_eq!(list(&blocks.read(rows).unwrap()), expected, "{name}");
            }
            for step in [2, 97, 9001] {
                let rows: Vec<u32> = (0..n as u32).filter(|row| row % step < 2 && row % 5 < 3).collect();
                let expected = rows_of(&values, width, rows.iter().map(|&row| row as usize));
                assert_eq!(list(&blocks.gather(&rows).unwrap()), expected, "{name}, {step}");
            }
        }
    }
}

#[test]
fn rows_that_cannot_be_stored_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let sample = SampleFile::new("a.laz", las::scan(3, true, 100));
    let open = || {
        let (choice, how) = (ColumnChoice::Default, AutoColumns::Inferred);
        open_blocks(&sample.path, &choice, how, &NoProgress).unwrap().unwrap().0
    };
    let missing = folder.path().join("none");
    let why = open().store(&missing, &NoProgress).unwrap_err();
    assert_eq!(why.path(), Some(&*missing));
    assert!(why.reason().starts_with("cannot write a scratch file: "), "{why}");
    let cancelled = std::sync::atomic::AtomicBool::new(true);
    assert!(matches!(open().store(folder.path(), &cancelled), Err(FormatError::Cancelled)));
    let mut changed = open();
    std::fs::write(&sample.path, "").unwrap();
    assert!(matches!(changed.store(folder.path(), &NoProgress), Err(FormatError::Changed { .. })));
}

#[test]
fn files_that_must_be_read_whole_have_no_blocks() {
    // The offset of the chunk table, without which points are decoded one after the other.
    let mut without_table = las::scan(0, true, 10);
    let start = u32::from_le_bytes(without_table[96..100].try_into().unwrap()) as usize;
    without_table[start..start + 8].fill(0xff);
    let text = arrow::tables(9, 9)[0].1.clone();
    for (name, content, columns) in
        [("a.csv", b"x,y\n1,2\n".to_vec(), ""), ("a.laz", without_table, ""), ("a.parquet", text, "x,name")]
    {
        let sample = SampleFile::new(name, content);
        let choice: ColumnChoice = columns.parse().unwrap();
        let opened = open_blocks(&sample.path, &choice, AutoColumns::Inferred, &NoProgress);
        assert!(opened.unwrap().is_none(), "{name}");
    }
}

#[test]
fn chunks_of_a_file_that_changes_are_an_error() {
    for (name, content) in arrow::tables(100, 30).into_iter().chain([("a.laz", las::scan(3, true, 100))]) {
        let sample = SampleFile::new(name, &content);
        let open = || {
            let (choice, how) = (ColumnChoice::Default, AutoColumns::Inferred);
            open_blocks(&sample.path, &choice, how, &NoProgress).unwrap().expect(name).0
        };
        let other = [&content[..content.len() / 2], &[7; 99], &content[content.len() / 2..]].concat();
        for changed in [&content[..content.len() / 2], &other, b""] {
            std::fs::write(&sample.path, &content).unwrap();
            let blocks = open();
            assert_eq!(blocks.read(3..5).unwrap().len(), 6);
            std::fs::write(&sample.path, changed).unwrap();
            for read in [blocks.read(0..100), blocks.gather(&[1, 99])] {
                let why = read.unwrap_err().to_string();
                assert!(why.starts_with("the file changed while it was being read"), "{name}: {why}");
            }
        }
    }
}

#[test]
fn a_vector_of_another_dimension_is_refused() {
    let mut vectors: Vec<u8> = (0..20).flat_map(|_| [&2i32.to_le_bytes()[..], &[1, 2]].concat()).collect();
    vectors[6 * 12] = 3;
    let sample = SampleFile::new("a.bvecs", vectors);
    let opened = open_blocks(&sample.path, &ColumnChoice::Default, AutoColumns::Inferred, &NoProgress);
    let (blocks, _) = opened.unwrap().unwrap();
    let message = blocks.read(0..20).unwrap_err().to_string();
    assert!(message.contains("its dimension is 3, but the first one's is 2: "), "{message}");
    assert_eq!(list(&blocks.read(13..14).unwrap()), bits([1.0, 2.0]));
}
