//! What the program saves and opens again.

use std::io::Cursor;

use warpscope::progress::Silent;
use warpscope::run::RunFile;
use warpscope::run::compare::{SavedRun, compare};
use warpscope::run::recording::{self, Keep, Points};

use super::{scratch, seeds};

/// A recording. One that opens can be written, and then opens as the same.
pub fn recording(data: &[u8]) {
    let path = scratch::file("a.warpscope", data);
    let _ = recording::read(&path, Points::Leave, &Silent).map_err(|why| one_line(&why.to_string()));
    let read = match recording::read(&path, Points::Restore, &Silent) {
        Ok(read) => read,
        Err(why) => return one_line(&why.to_string()),
    };
    let mut again = Cursor::new(Vec::new());
    recording::write(&read.runs, Keep::Points, &mut again, &Silent)
        .expect("a recording that was read can be written");
    let path = scratch::file("b.warpscope", again.get_ref());
    let back = recording::read(&path, Points::Restore, &Silent)
        .unwrap_or_else(|why| panic!("written again it does not open: {why}"));
    assert_eq!(read.runs.len(), back.runs.len());
    for (a, b) in read.runs.iter().zip(&back.runs) {
        assert_eq!((&a.name, a.pinned), (&b.name, b.pinned));
        assert_eq!(a.run.neighbors().indices, b.run.neighbors().indices, "neighbours of {}", a.name);
        assert_eq!(a.run.samples().len(), b.run.samples().len(), "samples of {}", a.name);
    }
}

/// A run's folder: the first byte says which of its files the rest is; the others are whole.
pub fn folder(data: &[u8]) {
    let Some((&which, content)) = data.split_first() else { return };
    let dir = scratch::folder().join("run");
    std::fs::create_dir_all(&dir).expect("there is room for a folder");
    for (at, (name, whole)) in seeds::FOLDER.iter().enumerate() {
        let content = if at == usize::from(which) % seeds::FOLDER.len() { content } else { whole };
        std::fs::write(dir.join(name), content).expect("there is room for a small file");
    }
    match SavedRun::read(&dir) {
        Ok(run) => {
            let itself = compare(&run, &run);
            let mut out = Vec::new();
            warpscope::export::comparison(&itself, &mut out).expect("memory takes all");
        }
        // It quotes what it found, control characters too; what prints it replaces them.
        Err(why) => drop(why.to_string()),
    }
}

/// `run.json` alone.
pub fn run_json(data: &[u8]) {
    let Ok(file) = RunFile::read(data) else { return };
    let written = serde_json::to_vec(&file).expect("a run's head is plain data");
    let again = RunFile::read(&written).expect("what is written can be read");
    assert_eq!(serde_json::to_vec(&again).expect("a run's head is plain data"), written);
    let _ = file.title();
}

/// What a window showed.
#[cfg(feature = "gui")]
pub fn session(data: &[u8]) {
    use warpscope::app::saved::SavedSession;
    if let Ok(session) = SavedSession::read(data) {
        let written = session.text().expect("a session is plain data");
        let again = SavedSession::read(&written).expect("what is written can be read");
        assert_eq!(again.text().expect("a session is plain data"), written);
    }
}

fn one_line(text: &str) {
    assert!(!text.contains(char::is_control), "{text:?}");
}
