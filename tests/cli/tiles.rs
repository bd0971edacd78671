//! `knn` among points that are larger than `--memory`.

use std::fs;

use super::{TestDir, json};

/// A `.npy` file of `rows` points in three dimensions along a line, with some noise.
pub fn write_points(dir: &TestDir, name: &str, rows: usize) {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 3), }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    let noise = |at: usize, axis: usize| ((at * 2_654_435_761 + axis * 40_503) >> 7 & 1023) as f32 / 64.0;
    for at in 0..rows {
        let place = [at as f32 / 100.0, 0.0, 5e6];
        for (axis, place) in place.into_iter().enumerate() {
            file.extend((place + noise(at, axis)).to_le_bytes());
        }
    }
    fs::write(dir.path(name), file).unwrap();
}

const ROWS: usize = 400_000;

/// Less than the points need with an index.
const LIMIT: &str = "--memory 40M";

#[test]
fn tiles_write_the_same_file_and_the_answer_says_so() {
    let dir = TestDir::new();
    write_points(&dir, "line.npy", ROWS);
    for (queries, extension) in [
        ("500 --exclude-self", "csv"),
        ("rows:0-99,399999 --metric cosine", "npz"),
        ("at:7,8,5000000", "csv"),
    ] {
        let knn = format!("knn line.npy {queries} -k 5 --engine bvh");
        dir.ok(&format!("{knn} -o resident.{extension}"));
        let tiled = dir.ok(&format!("{knn} -o tiled.{extension} --json {LIMIT}"));
        assert!(tiled.stderr.contains(" of --memory 41.9 MB; searching in tiles"), "{}", tiled.stderr);
        let report = json(&tiled.stdout);
        assert!(report["tiles"]["tiles"].as_u64() > Some(1), "{report}");
        assert_eq!(
            fs::read(dir.path(&format!("resident.{extension}"))).unwrap(),
            fs::read(dir.path(&format!("tiled.{extension}"))).unwrap(),
            "{queries}"
        );
    }
    let text = dir.ok(&format!("knn line.npy rows:7 -k 3 {LIMIT}")).stdout;
    assert!(text.contains("400,000 points with an index need about 36.8 MB, but only"), "{text}");
    let resident = dir.ok("knn line.npy rows:7 -k 3").stdout;
    let shown = |text: &str| text.split_once("rank").map(|(_, table)| table.to_owned());
    assert_eq!(shown(&text), shown(&resident), "the neighbours of one query have coordinates");
}

#[test]
fn what_needs_all_points_is_refused_under_a_limit() {
    let dir = TestDir::new();
    write_points(&dir, "line.npy", ROWS);
    for flags in ["10 --radius 3", "--graph g.csv", "10 --metric inner-product", "10 -o a.csv --with x"] {
        let error = dir.fails(1, &format!("knn line.npy {flags} {LIMIT}"));
        assert!(error.contains(" needs all points in memory: 400,000 points"), "{flags}: {error}");
    }
    let mut text = "x,y,z\n".to_owned();
    (0..ROWS).for_each(|at| text += &format!("{at},{},0.5\n", at % 1000));
    dir.write("line.csv", &text);
    let error = dir.fails(1, "knn line.csv 10 --memory 24M");
    assert!(
        error.contains("convert it to .npy (in C order), .fbin, .fvecs or .las, which are searched in tiles"),
        "{error}"
    );
    assert!(error.ends_with("line.csv"), "{error}");
}

#[test]
fn sizes_of_memory_are_checked() {
    let dir = TestDir::new();
    write_points(&dir, "line.npy", 100);
    assert!(dir.fails(2, "knn line.npy --memory lots").contains("expected a size, such as 4G"));
    let error = dir.fails(1, "knn line.npy --memory 1M");
    assert!(
        error.contains("only 0 B is free of --memory 1.05 MB") || error.contains("0 MiB is free"),
        "{error}"
    );
}
