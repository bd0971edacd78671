//! Files that change while they are read: an answer comes from one version, or there is an error.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::everything;
use crate::jobs::TestDir;

/// Rows of each version of the file.
const ROWS: usize = 60_000;

/// Rows of one version. All values are equal, so that a mixture is visible.
fn content(value: u8, rows: usize) -> Vec<u8> {
    let row = format!("{value}.5,{value}.25,{value}.125\n");
    std::iter::once("x,y,z\n").chain(std::iter::repeat_n(row.as_str(), rows)).collect::<String>().into_bytes()
}

/// Overwrites, truncates and extends a file until stopped.
fn disturb(path: &Path, stop: &AtomicBool) {
    let [one, two] = [1, 2].map(|value| content(value, ROWS));
    let mut file = File::options().write(true).open(path).unwrap();
    for turn in 0_usize.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let content = if turn % 2 == 0 { &one } else { &two };
        file.seek(SeekFrom::Start(0)).unwrap();
        let half = content.len() / 2;
        file.write_all(&content[..half]).unwrap();
        file.set_len(if turn % 3 == 0 { half as u64 } else { content.len() as u64 }).unwrap();
        file.write_all(&content[half..]).unwrap();
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn info(place: &TestDir) -> Output {
    place
        .run_in(Command::new(env!("CARGO_BIN_EXE_warpscope")).args(["info", "a.csv", "--json"]))
        .output()
        .unwrap()
}

#[test]
fn answers_never_mix_two_versions_of_a_file() {
    let place = TestDir::new(false);
    let path = place.path("a.csv");
    fs::write(&path, content(1, ROWS)).unwrap();
    let (stop, mut refused) = (AtomicBool::new(false), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| disturb(&path, &stop));
        for _ in 0..if everything() { 30 } else { 3 } {
            let done = info(&place);
            if done.status.success() {
                // All values must be equal, and the cloud must have as many rows as the file.
                let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
                assert_eq!(report["rows"], report["cloud"]["points"], "{report}");
                let x = &report["columns"][0];
                assert_eq!(x["min"], x["max"], "a mixture: {report}");
            } else {
                let why = String::from_utf8_lossy(&done.stderr);
                assert!(
                    why.contains("changed while it was being read") || why.contains("the file is empty"),
                    "{why}"
                );
                refused += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(refused > 0, "no change was detected during a read");
    let done = info(&place);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
