use super::*;
use crate::table::Values;

/// The values of some rows of a table.
fn rows_of(values: &[f64], width: usize, rows: impl IntoIterator<Item = usize>) -> Vec<f64> {
    rows.into_iter().flat_map(|row| values[row * width..][..width].to_vec()).collect()
}

fn list(values: &Values) -> Vec<f64> {
    values.iter().collect()
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
    ] {
        let sample = SampleFile::new(name, content);
        let (names, values) = sample.table(columns);
        let choice: ColumnChoice = columns.parse().unwrap();
        let opened = open_blocks(&sample.path, &choice, AutoColumns::Inferred, &NoProgress).unwrap();
        let (blocks, _) = opened.expect(name);
        let width = names.len();
        let found: Vec<&str> = blocks.columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!((blocks.rows() as usize * width, found.join(",")), (values.len(), names.join(",")));
        assert_eq!(list(&blocks.read(0..blocks.rows()).unwrap()), values, "{name}");
        assert_eq!(list(&blocks.read(7..29).unwrap()), rows_of(&values, width, 7..29), "{name}");
        let rows = [0, 1, 2, 9, 11, 28];
        let expected = rows_of(&values, width, rows.map(|row| row as usize));
        assert_eq!(list(&blocks.gather(&rows).unwrap()), expected, "{name}");
    }
}

#[test]
fn files_without_fixed_rows_have_no_blocks() {
    for (name, content) in [("a.csv", b"x,y\n1,2\n".to_vec()), ("a.laz", las::scan(0, true, 10))] {
        let sample = SampleFile::new(name, content);
        let opened = open_blocks(&sample.path, &ColumnChoice::Default, AutoColumns::Inferred, &NoProgress);
        assert!(opened.unwrap().is_none(), "{name}");
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
    assert_eq!(list(&blocks.read(13..14).unwrap()), [1.0, 2.0]);
}
