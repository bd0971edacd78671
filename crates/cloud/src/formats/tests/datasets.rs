//! `FILE:NAME` in every format.

use std::path::Path;

use super::npy::npy;
use super::npz::npz;
use super::*;

fn two() -> Vec<u8> {
    let array = |value: u8| npy("|u1", false, "(2, 2)", &[value; 4]);
    npz(&[("a.npy", array(1)), ("group/b:c.npy", array(2))])
}

#[test]
fn file_names_may_contain_colons() {
    let text = SampleFile::new("12:30.csv", "1,2\n");
    assert_eq!(text.table("").1, [1.0, 2.0]);
    assert_eq!(file_of(&text.path), text.path);
    let archive = SampleFile::new("12:30.npz", two());
    assert_eq!(archive.dataset("a"), [1.0; 4]);
    // Names may contain colons too, and only existing files are split.
    assert_eq!(archive.dataset("group/b:c"), [2.0; 4]);
    assert_eq!(archive.dataset("/group/b:c/"), [2.0; 4]);
    assert_eq!(file_of(&path_of(&archive.path, "group/b:c")), archive.path);
    assert_eq!(path_of(&path_of(&archive.path, "a"), "b"), path_of(&archive.path, "b"));
    let nowhere = Path::new("/nowhere/a.npz:b");
    assert_eq!(file_of(nowhere), nowhere);
    assert!(archive.read_dataset("").unwrap_err().to_string().starts_with("cannot read"));
}

#[test]
fn single_cloud_formats_have_no_data_sets() {
    let text = SampleFile::new("a.csv", "1,2\n");
    assert_eq!(datasets(&text.path, &NoProgress).unwrap(), []);
    let message = text.read_dataset("x").unwrap_err().to_string();
    assert!(message.starts_with("part `x`: a delimited text holds one cloud"), "{message}");
    let feature = r#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{}}"#;
    let features = format!(r#"{{"type":"FeatureCollection","features":[{feature}]}}"#);
    for (name, text) in [("a.json", "[[1,2]]"), ("a.jsonl", "[1,2]\n[3,4]\n"), ("a.geojson", &features)] {
        let sample = SampleFile::new(name, text);
        assert_eq!(sample.table("0").1[0], 1.0);
        let message = sample.read_dataset("typo").unwrap_err().to_string();
        assert!(
            message.starts_with("part `typo`: a ") && message.contains("holds one cloud; leave the name out"),
            "{message}"
        );
    }
}

#[test]
fn ambiguous_files_list_their_data_sets() {
    let sample = SampleFile::new("a.npz", two());
    let Err(FormatError::Ambiguous { datasets, path }) = sample.read("") else { panic!("one was chosen") };
    assert_eq!(datasets.iter().map(|dataset| dataset.name.as_str()).collect::<Vec<_>>(), ["a", "group/b:c"]);
    assert_eq!(path, sample.path);
    let train = npz(&[
        ("test.npy", npy("|u1", false, "(2, 2)", &[1; 4])),
        ("train.npy", npy("|u1", false, "(1, 2)", &[9; 2])),
    ]);
    assert_eq!(SampleFile::new("a.npz", train).table("").1, [9.0, 9.0]);
}
