//! Steps in files of earlier versions.

use std::collections::BTreeSet;

use super::*;

#[test]
fn steps_of_every_kind_are_read_from_old_files() {
    let file = include_str!("steps.jsonl");
    let (_, steps) = jsonl::read(file.as_bytes()).unwrap();
    let mut kinds = BTreeSet::new();
    for (line, (_, step)) in file.lines().skip(1).zip(&steps) {
        // The line also has position, level and sentence.
        let written = serde_json::to_string(step).unwrap().replace("\"pruned\"", "\"left_out\"");
        assert!(line.contains(&written[1..written.len() - 1]), "{line}\n{written}");
        kinds.insert(written.split('"').nth(3).unwrap().to_owned());
    }
    assert_eq!((steps.len(), kinds.len()), (41, 41));
}
