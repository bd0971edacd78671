//! A signal ends the program at once, with one line, and no temporary files remain.

#![cfg(unix)]

#[path = "common/folder.rs"]
mod folder;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use folder::files;

/// Starts a command, waits for a condition, and sends it a signal.
fn stopped(work: &Path, args: &str, signal: &str, so_far: impl Fn() -> bool) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpscope"));
    command
        .args(args.split_whitespace())
        .current_dir(work)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Measured rates are stored elsewhere.
    let cache = work.with_file_name("cache");
    let mut child =
        command.env("XDG_CACHE_HOME", &cache).env("HOME", &cache).env("TMPDIR", work).spawn().unwrap();
    while !so_far() {
        assert_eq!(child.try_wait().unwrap(), None, "{args} ended before the signal");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let done = child.wait_with_output().unwrap();
    (done.status.code(), String::from_utf8(done.stderr).unwrap())
}

#[test]
fn signals_end_the_program_and_remove_temporary_files() {
    let place = tempfile::tempdir().unwrap();
    let work = place.path().join("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("cloud.csv"), "old").unwrap();
    let old = files(&work);
    let search = "run --generate uniform:n=2e5,d=3 --queries all --engine lockstep --warmup 0 --repeats \
                  100000 --out made/by/run";
    for (signal, code, name) in [("-INT", 130, "SIGINT"), ("-TERM", 143, "SIGTERM")] {
        let (status, stderr) = stopped(&work, search, signal, || work.join("made/by/run").exists());
        assert_eq!(status, Some(code), "{stderr}");
        assert_eq!(stderr, format!("error: stopped by {name}; incomplete files were removed\n"));
        assert!(!work.join("made").exists());

        // Writing a table does not poll for cancellation, but must be stopped all the same.
        let temporary = || files(&work).keys().any(|path| path.to_string_lossy().contains(".warpscope-"));
        let (status, stderr) = stopped(&work, "generate uniform:n=4e6,d=9 cloud.csv", signal, temporary);
        assert_eq!((status, stderr.lines().count()), (Some(code), 1), "{stderr}");
        assert_eq!(files(&work), old);
    }
    // Programs run by `compare` end with it.
    let in_turn = "compare --method lockstep --method lockstep -- run --generate uniform:n=2e5,d=3 \
                   --queries all --warmup 0 --repeats 100000";
    let folders = || {
        fs::read_dir(&work).unwrap().filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir())
    };
    let runs = || folders().any(|folder| folder.join("first").exists());
    for (signal, code, name) in [("-INT", 130, "SIGINT"), ("-TERM", 143, "SIGTERM")] {
        let (status, stderr) = stopped(&work, in_turn, signal, runs);
        assert_eq!(
            (status, stderr),
            (Some(code), format!("error: stopped by {name}; incomplete files were removed\n"))
        );
        assert_eq!((files(&work), folders().count()), (old.clone(), 0));
    }
    // Neighbours are streamed to the file.
    fs::write(
        work.join("cloud.csv"),
        (0..200_000).fold("x,y,z\n".to_owned(), |rows, at| {
            rows + &format!("{},{},1\n", at * 7919 % 10_007, at % 101)
        }),
    )
    .unwrap();
    fs::write(work.join("found.ivecs"), "old").unwrap();
    let old = files(&work);
    let both = || files(&work).len() == old.len() + 2;
    let (status, stderr) =
        stopped(&work, "knn cloud.csv --engine lockstep -k 1000 -o found.ivecs", "-INT", both);
    assert_eq!(
        (status, stderr.lines().last()),
        (Some(130), Some("error: stopped by SIGINT; incomplete files were removed"))
    );
    assert_eq!(files(&work), old);
}
