//! `knn` and `analyse` among points that are larger than `--memory`.

use std::fs;

use super::{TestDir, json};

/// A `.npy` file of `rows` points in three dimensions along a line, with some noise.
pub fn write_points(dir: &TestDir, name: &str, rows: usize) {
    write_wide(dir, name, rows, 3);
}

/// As [`write_points`], in three or more dimensions.
fn write_wide(dir: &TestDir, name: &str, rows: usize, columns: usize) {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    let noise = |at: usize, axis: usize| ((at * 2_654_435_761 + axis * 40_503) >> 7 & 1023) as f32 / 64.0;
    for at in 0..rows {
        let place = [at as f32 / 100.0, 0.0, 5e6].into_iter().chain(std::iter::repeat(0.0));
        for (axis, place) in place.take(columns).enumerate() {
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
fn radius_searches_in_tiles_write_the_same_file() {
    let dir = TestDir::new();
    write_points(&dir, "line.npy", ROWS);
    for (flags, extension) in [
        ("500 --radius 4.5 --exclude-self", "npz"),
        ("500 --radius 3.25 --radius-open", "csv"),
        ("rows:0-9,399999 --radius 0.00001deg --metric angular --self-first", "parquet"),
        ("300 --radius 0", "arrow"),
        ("at:7,8,5000001.5 --radius 12", "csv"),
        ("at:7,8,5000001.5 --radius 0", "npz"),
    ] {
        let knn = format!("knn line.npy {flags}");
        dir.ok(&format!("{knn} -o resident.{extension}"));
        let done = dir.ok(&format!("{knn} -o tiled.{extension} --json {LIMIT}"));
        assert!(json(&done.stdout)["tiles"]["tiles"].as_u64() > Some(1), "{}", done.stdout);
        let written = |name| fs::read(dir.path(&format!("{name}.{extension}"))).unwrap();
        assert!(written("resident") == written("tiled"), "{flags}");
    }
    let all = "knn line.npy 3 --radius 1e9 -o all.npz --memory 38M";
    let error = dir.fails(1, all);
    assert!(error.contains(" of 3 queries need ") && error.contains("use a smaller --radius"), "{error}");
    let shown = |limit| dir.ok(&format!("knn line.npy rows:7 --radius 2 {limit}")).stdout;
    let table = |text: String| text.split_once("rank").map(|(_, table)| table.to_owned());
    assert_eq!(table(shown(LIMIT)), table(shown("")), "the neighbours of one query have coordinates");
}

#[test]
fn what_needs_all_points_is_refused_under_a_limit() {
    let dir = TestDir::new();
    write_points(&dir, "line.npy", ROWS);
    for command in [
        "knn line.npy 10 --metric inner-product",
        "knn line.npy 10 -o a.csv --with x",
        "analyse line.npy --labels x",
        "analyse line.npy --lof --metric cosine --drop-nonfinite",
    ] {
        let error = dir.fails(1, &format!("{command} {LIMIT}"));
        assert!(error.contains(" needs all points in memory: 400,000 points"), "{command}: {error}");
    }
    let mut text = "x,y,z\n".to_owned();
    (0..ROWS).for_each(|at| text += &format!("{at},{},0.5\n", at % 1000));
    dir.write("line.csv", &text);
    let error = dir.fails(1, "knn line.csv 10 --memory 24M");
    assert!(
        error.contains(
            "convert it to .npy (in C order), .parquet, .arrow or .las, which are searched in tiles"
        ),
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

/// The files that two commands with the same outputs write.
fn both(dir: &TestDir, command: &str, outputs: &[&str], limit: &str) -> [Vec<Vec<u8>>; 2] {
    [("", false), (limit, true)].map(|(limit, is_limited)| {
        let done = dir.ok(&format!("{command} {limit}"));
        let is_stored = done.stderr.contains("they are stored in a scratch file: ");
        assert_eq!(is_stored, is_limited, "{command}: {}", done.stderr);
        let report: serde_json::Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        let mut written: Vec<Vec<u8>> = vec![without(report, "tiles").to_string().into_bytes()];
        written.extend(outputs.iter().map(|name| fs::read(dir.path(name)).unwrap()));
        outputs.iter().for_each(|name| fs::remove_file(dir.path(name)).unwrap());
        written
    })
}

fn without(mut report: serde_json::Value, key: &str) -> serde_json::Value {
    report.as_object_mut().map(|report| report.remove(key));
    report
}

#[test]
fn analyses_in_tiles_write_the_same_files() {
    let dir = TestDir::new();
    write_wide(&dir, "wide.npy", 60_000, 16);
    write_wide(&dir, "other.npy", 500, 16);
    let limit = "--memory 31M";
    for (flags, outputs) in [
        ("--density --lof --lid --hubness --duplicates 9 --components --out a.csv", &["a.csv"][..]),
        ("--lof --graph g.npz --graph-as umap --out a.parquet", &["g.npz", "a.parquet"]),
        ("--overlap wide.npy --metric cosine --out a.npz", &["a.npz"]),
        ("--graph g.csv --mutual", &["g.csv"]),
    ] {
        let command = format!("analyse wide.npy -k 4 --engine bvh {flags} --json");
        let [resident, tiled] = both(&dir, &command, outputs, limit);
        assert_eq!(String::from_utf8_lossy(&resident[0]), String::from_utf8_lossy(&tiled[0]));
        assert!(resident[1..] == tiled[1..], "{flags}");
        assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 2, "nothing is left behind");
    }
    let [resident, tiled] = both(
        &dir,
        "knn wide.npy -k 3 --engine bvh -o n.ibin --graph g.csv",
        &["n.ibin", "n.fbin", "g.csv"],
        limit,
    );
    assert!(resident[1..] == tiled[1..]);
    for other in ["other.npy", "wide.npy"] {
        let leaks = format!("analyse wide.npy --leaks {other} --eps 0.5 --out leaks.csv --json --engine bvh");
        let done = dir.ok(&format!("{leaks} {limit}"));
        assert!(json(&done.stdout)["tiles"]["tiles"].as_u64() > Some(1), "{}", done.stdout);
        let tiled = fs::read(dir.path("leaks.csv")).unwrap();
        dir.ok(&leaks);
        assert!(fs::read(dir.path("leaks.csv")).unwrap() == tiled, "{other}");
    }
    let shown = dir.ok(&format!("analyse wide.npy -k 2 --density {limit}")).stdout;
    assert!(
        shown.contains("\ntiles ") && shown.contains("60,000 points with an index need about"),
        "{shown}"
    );
}

#[test]
fn a_graph_that_does_not_fit_is_stored_in_a_scratch_file() {
    let dir = TestDir::new();
    write_points(&dir, "line.npy", 20_000);
    let command = "analyse line.npy -k 100 --engine bvh --density --lof --components --out a.csv --json";
    let [resident, stored] = both(&dir, command, &["a.csv"], "--memory 40M");
    assert!(resident == stored);
    assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 1, "nothing is left behind");
    let error = dir.fails(1, "analyse line.npy -k 100 --density --memory 10M");
    assert!(error.contains("needs") || error.contains("free"), "{error}");
}

#[test]
fn tables_are_searched_in_tiles() {
    let dir = TestDir::new();
    write_points(&dir, "line.npy", ROWS);
    // A table of numbers of several types.
    for extension in ["parquet", "arrow"] {
        let table = format!("table.{extension}");
        dir.ok(&format!("knn line.npy rows:0-3999 -k 100 --engine bvh -o {table}"));
        let knn = format!("knn {table} 300 -k 5 --engine bvh --columns index,distance,query");
        dir.ok(&format!("{knn} -o resident.csv"));
        let done = dir.ok(&format!("{knn} -o tiled.csv --json {LIMIT}"));
        let note = "rows are decoded once, into a scratch file of 9.60 MB: ";
        assert!(done.stderr.contains(note), "{}", done.stderr);
        assert!(json(&done.stdout)["tiles"]["tiles"].as_u64() > Some(1), "{}", done.stdout);
        assert!(fs::read(dir.path("resident.csv")).unwrap() == fs::read(dir.path("tiled.csv")).unwrap());
    }
}
