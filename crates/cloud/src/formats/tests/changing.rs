//! Files that are written, cut or replaced while they are read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use super::*;
use crate::progress::Progress;

type Change = fn(&Path);

/// A call that reads a file, and its error.
type Call<'a> = &'a dyn Fn(&Path, &dyn Progress) -> Option<FormatError>;

/// Changes a file at the first progress report, while it is being read.
struct FileModifier {
    path: PathBuf,
    change: Mutex<Option<Change>>,
}

impl Progress for FileModifier {
    fn update(&self, _done: u64, _total: u64) {
        if let Some(change) = self.change.lock().unwrap().take() {
            change(&self.path);
        }
    }

    fn cancelled(&self) -> bool {
        false
    }
}

/// 20,000 rows × 3, more than a buffer holds.
fn samples() -> [SampleFile; 4] {
    let value = |at: usize| (at * 37 % 101) as f32;
    let csv: String = (0..20_000)
        .map(|row| format!("{},{},{}\n", value(3 * row), value(3 * row + 1), value(3 * row + 2)))
        .collect();
    let bytes: Vec<u8> = (0..60_000).flat_map(|at| value(at).to_le_bytes()).collect();
    let ply = "ply\nformat binary_little_endian 1.0\nelement vertex 20000\nproperty float x\nproperty float \
               y\nproperty float z\nend_header\n";
    let big_ann = [20_000_u32.to_le_bytes(), 3_u32.to_le_bytes()].concat();
    [
        SampleFile::new("a.csv", csv),
        SampleFile::new("a.npy", npy::npy("<f4", false, "(20000, 3)", &bytes)),
        SampleFile::new("a.fbin", [big_ann, bytes.clone()].concat()),
        SampleFile::new("a.ply", [ply.as_bytes(), &bytes].concat()),
    ]
}

/// Backdates the file by an hour, because some file systems store times in coarse steps.
fn put(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(SystemTime::now() - Duration::from_hours(1))
        .unwrap();
}

#[test]
fn file_changes_during_reading_are_detected() {
    let changes: [(&str, Change); 4] = [
        ("cut", |path| File::options().write(true).open(path).unwrap().set_len(1000).unwrap()),
        ("grown", |path| File::options().append(true).open(path).unwrap().write_all(b"1,2,3\n").unwrap()),
        ("overwritten", |path| {
            let mut content = fs::read(path).unwrap();
            let end = content.len() - 9;
            content[end] ^= 1;
            fs::write(path, content).unwrap();
        }),
        ("replaced", |path| {
            let new = path.with_extension("new");
            fs::copy(path, &new).unwrap();
            fs::rename(new, path).unwrap();
        }),
    ];
    for sample in samples() {
        let whole = fs::read(&sample.path).unwrap();
        for (what, change) in changes {
            let calls: [(&str, Call<'_>); 4] = [
                ("read", &|path, progress| read(path, &ColumnChoice::Default, progress).err()),
                ("describe", &|path, progress| describe(path, progress).err()),
                ("column", &|path, progress| column(path, "1", progress).err()),
                ("records", &|path, progress| records(path, &[19_000], progress).err()),
            ];
            for (call, work) in calls {
                put(&sample.path, &whole);
                let changing = FileModifier { path: sample.path.clone(), change: Mutex::new(Some(change)) };
                let why = work(&sample.path, &changing);
                let path = sample.path.display();
                assert!(matches!(why, Some(FormatError::Changed { .. })), "{call}, {what}: {why:?}: {path}");
                assert!(changing.change.lock().unwrap().is_none(), "{call} reports no progress: {path}");
            }
        }
        put(&sample.path, &whole);
        assert!(read(&sample.path, &ColumnChoice::Default, &NoProgress).is_ok(), "{}", sample.path.display());
    }
}
