//! Files that the program saves and opens again.

use std::io::Cursor;

use warpscope::progress::NoProgress;
use warpscope::run::RunFile;
use warpscope::run::compare::{SavedRun, compare};
use warpscope::run::recording::{self, CloudLoadMode, CloudStorage};

use super::{scratch, seeds};

/// A recording that opens can be written, and reads back with the same content.
pub fn recording(data: &[u8]) {
    let path = scratch::file("a.warpscope", data);
    let _ =
        recording::read(&path, CloudLoadMode::Skip, &NoProgress).map_err(|why| one_line(&why.to_string()));
    let read = match recording::read(&path, CloudLoadMode::Restore, &NoProgress) {
        Ok(read) => read,
        Err(why) => return one_line(&why.to_string()),
    };
    let mut again = Cursor::new(Vec::new());
    recording::write(&read.runs, CloudStorage::Points, &mut again, &NoProgress).expect("writing a recording");
    let path = scratch::file("b.warpscope", again.get_ref());
    let back = recording::read(&path, CloudLoadMode::Restore, &NoProgress)
        .unwrap_or_else(|why| panic!("a rewritten recording does not open: {why}"));
    assert_eq!(read.runs.len(), back.runs.len());
    for (a, b) in read.runs.iter().zip(&back.runs) {
        assert_eq!((&a.name, a.pinned), (&b.name, b.pinned));
        assert_eq!(a.run.neighbors().indices, b.run.neighbors().indices, "neighbours of {}", a.name);
        assert_eq!(a.run.samples().len(), b.run.samples().len(), "samples of {}", a.name);
    }
}

/// A run's folder: the first byte selects a file, and the rest replaces its content.
pub fn folder(data: &[u8]) {
    let Some((&which, content)) = data.split_first() else { return };
    let dir = scratch::folder().join("run");
    std::fs::create_dir_all(&dir).expect("creating a folder");
    for (at, (name, whole)) in seeds::FOLDER.iter().enumerate() {
        let content = if at == usize::from(which) % seeds::FOLDER.len() { content } else { whole };
        std::fs::write(dir.join(name), content).expect("writing a temporary file");
    }
    match SavedRun::read(&dir) {
        Ok(run) => {
            let itself = compare(&run, &run);
            let mut out = Vec::new();
            warpscope::export::comparison(&itself, &mut out).expect("writing to memory");
        }
        // Errors quote file contents, including control characters, which are escaped when printed.
        Err(why) => drop(why.to_string()),
    }
}

/// `run.json` alone.
pub fn run_json(data: &[u8]) {
    let Ok(file) = RunFile::read(data) else { return };
    let written = serde_json::to_vec(&file).expect("a serialisable run");
    let again = RunFile::read(&written).expect("reading what was written");
    assert_eq!(serde_json::to_vec(&again).expect("a serialisable run"), written);
    let _ = file.title();
}

/// A window's session.
#[cfg(feature = "gui")]
pub fn session(data: &[u8]) {
    use warpscope::app::saved::SavedSession;
    if let Ok(session) = SavedSession::read(data) {
        let written = session.text().expect("a serialisable session");
        let again = SavedSession::read(&written).expect("reading what was written");
        assert_eq!(again.text().expect("a serialisable session"), written);
    }
}

fn one_line(text: &str) {
    assert!(!text.contains(char::is_control), "{text:?}");
}
