//! Injects system faults. Whatever fails, and whenever the program is killed, each destination must be
//! entirely old or new, and no temporary files may remain.
//!
//! `faults/faults.c` is compiled and preloaded into the program. By default this tests one kind of fault at
//! every call of each command, and kills `run --out` between any two calls. `scripts/faults`
//! (`WARPSCOPE_FAULTS=all`) tests everything and prints the table.

#![cfg(target_os = "linux")]

#[path = "common/folder.rs"]
mod folder;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use folder::{Files, files};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use warpscope::export;
use warpscope::progress::NoProgress;
use warpscope::run::recording::{self, CloudLoadMode, WindowState};

/// Whether to test everything.
fn everything() -> bool {
    std::env::var_os("WARPSCOPE_FAULTS").is_some_and(|value| value == "all")
}

/// The preloaded library, compiled once.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/faults.c");
        // Tests may run in parallel processes.
        let library =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{}.so", std::process::id()));
        let done = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(&source)
            .arg("-ldl")
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        library
    })
}

/// A command, and its outputs.
struct Job {
    name: &'static str,
    /// Creates the old state.
    old: &'static [&'static str],
    /// The calls that fail.
    new: &'static str,
    /// The destinations.
    writes: &'static [Destination],
}

enum Destination {
    /// A run's folder.
    Run(&'static str),
    Recording(&'static str),
    /// A file with the same content each time.
    File(&'static str),
    /// A folder of files with the same content each time.
    Folder(&'static str),
    /// Rows, one more with each run.
    Rows(&'static str),
}

const RUN_OUT: Job = Job {
    name: "run --out",
    old: &["run --generate uniform:n=200,d=2 --queries 11 --k 3 --engine lockstep --warmup 0 --repeats 2 \
            --seed 1 --out out"],
    new: "run --generate uniform:n=300,d=2 --queries 13 --k 5 --engine lockstep --warmup 0 --repeats 3 \
          --seed 2 --out out",
    writes: &[Destination::Run("out")],
};

const RECORD: Job = Job {
    name: "run --record",
    old: &["run --generate uniform:n=200,d=2 --queries 11 --k 3 --engine lockstep --warmup 0 --repeats 2 \
            --seed 1 --record r.warpscope"],
    new: "run --generate uniform:n=300,d=2 --queries 13 --k 5 --engine lockstep --warmup 0 --repeats 3 \
          --seed 2 --record r.warpscope",
    writes: &[Destination::Recording("r.warpscope")],
};

const SWEEP: Job = Job {
    name: "sweep --out",
    old: &["sweep --generate uniform:d=2 --n 50 --q 5 --k 3 --engine lockstep --warmup 0 --repeats 1 --out \
            rows.csv"],
    new: "sweep --generate uniform:d=2 --n 60,70 --q 5 --k 5 --engine lockstep --warmup 0 --repeats 1 --out \
          rows.csv",
    writes: &[Destination::Rows("rows.csv")],
};

const GENERATE: Job = Job {
    name: "generate",
    old: &["generate uniform:n=900,d=3 cloud.npy --seed 1"],
    new: "generate uniform:n=2900,d=3 cloud.npy --seed 2",
    writes: &[Destination::File("cloud.npy")],
};

const KNN: Job = Job {
    name: "knn -o",
    old: &[
        "generate uniform:n=900,d=3 cloud.npy --seed 1",
        "knn cloud.npy 40 -k 3 --engine lockstep -o a.npz",
    ],
    new: "knn cloud.npy 50 -k 5 --engine lockstep -o a.npz",
    writes: &[Destination::File("a.npz")],
};

/// The neighbours do not fit into memory.
const ANALYSE: Job = Job {
    name: "analyse --out",
    old: &[
        "generate uniform:n=9000,d=3 cloud.npy --seed 1",
        "analyse cloud.npy -k 3 --engine kdtree --density --out a.npz",
    ],
    new: "analyse cloud.npy -k 200 --engine kdtree --lof --out a.npz --memory 40M",
    writes: &[Destination::File("a.npz")],
};

const LESSON: Job = Job {
    name: "lesson",
    old: &["lesson --lesson sort --most 2 --size 960x540 --look dark --svg a.svg --frames film"],
    new: "lesson --lesson sort --most 2 --size 960x540 --look light --svg a.svg --frames film",
    writes: &[Destination::File("a.svg"), Destination::Folder("film")],
};

/// Saves a session as the window does, in a separate process.
const SESSION: Job = Job {
    name: "session",
    old: &[
        "run --generate uniform:n=200,d=2 --queries 11 --k 3 --engine lockstep --warmup 0 --repeats 2 \
         --seed 1 --record a.warpscope",
        "run --generate uniform:n=300,d=2 --queries 13 --k 5 --engine lockstep --warmup 0 --repeats 2 \
         --seed 2 --record b.warpscope",
        "save-session a.warpscope s.warpscope",
    ],
    new: "save-session b.warpscope s.warpscope",
    writes: &[Destination::Recording("s.warpscope")],
};

/// The failing calls, the error, and whether all later ones fail too.
const FAULTS: [(&str, &str, bool); 16] = [
    ("write", "ENOSPC", true),
    ("write", "EIO", false),
    ("write", "EINTR", false),
    ("write", "short", false),
    ("open", "ENOSPC", false),
    ("open", "EACCES", false),
    ("open", "EINTR", false),
    ("rename", "EIO", false),
    ("rename", "EACCES", false),
    ("fsync", "EIO", false),
    ("fsync", "EINTR", false),
    ("mkdir", "ENOSPC", false),
    ("chmod", "EIO", false),
    ("unlink", "EACCES", false),
    ("rmdir", "EIO", false),
    ("all", "kill", false),
];

/// A folder in which a job's command runs repeatedly from the same old state.
struct JobFixture {
    place: tempfile::TempDir,
    job: &'static Job,
    old: Files,
    new: Files,
}

impl JobFixture {
    fn new(job: &'static Job) -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("work")).unwrap();
        let mut bench = Self { place, job, old: Files::new(), new: Files::new() };
        for old in job.old {
            bench.must(old);
        }
        // A file of another program, which must not change.
        for destination in job.writes {
            if let Destination::Run(folder) | Destination::Folder(folder) = destination {
                fs::create_dir_all(bench.work().join(folder).join("mine")).unwrap();
                fs::write(bench.work().join(folder).join("mine/notes.txt"), "kept").unwrap();
            }
        }
        bench.old = files(&bench.work());
        bench.must(job.new);
        bench.new = files(&bench.work());
        bench
    }

    fn work(&self) -> PathBuf {
        // As the kernel reports it: the preloaded library compares paths.
        self.place.path().canonicalize().unwrap().join("work")
    }

    fn log(&self) -> PathBuf {
        self.place.path().join("reached")
    }

    fn command(&self, args: &str) -> Command {
        let mut command = match args.strip_prefix("save-session ") {
            None => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_warpscope"));
                command.args(args.split_whitespace());
                command
            }
            // Saving a session with the program itself would need a window.
            Some(paths) => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command
                    .args(["--exact", "child_process_saves_a_session", "--ignored", "--nocapture"])
                    .env("SAVE_SESSION", paths);
                command
            }
        };
        command.current_dir(self.work()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Measured rates are stored elsewhere.
        command.env("XDG_CACHE_HOME", self.place.path().join("cache")).env("HOME", self.place.path());
        command
    }

    fn must(&self, args: &str) -> Output {
        let done = self.command(args).output().unwrap();
        assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
        done
    }

    /// Restores the old state.
    fn reset(&self) {
        let work = self.work();
        fs::remove_dir_all(&work).unwrap();
        for (path, bytes) in &self.old {
            fs::create_dir_all(work.join(path).parent().unwrap()).unwrap();
            fs::write(work.join(path), bytes).unwrap();
            // Permissions other than a new file's, so that the program must set them.
            fs::set_permissions(work.join(path), fs::Permissions::from_mode(0o666)).unwrap();
        }
        let _ = fs::remove_file(self.log());
    }

    /// Runs the command with one fault; returns whether the fault occurred.
    fn with_fault(&self, (call, kind, stays): (&str, &str, bool), at: u32) -> (Output, bool) {
        let mut command = self.command(self.job.new);
        command.env("LD_PRELOAD", library()).env("FAULT_DIR", self.work()).env("FAULT_LOG", self.log());
        command.env("FAULT_CALL", call).env("FAULT_KIND", kind).env("FAULT_AT", at.to_string());
        if stays {
            command.env("FAULT_STAYS", "1");
        }
        (command.output().unwrap(), self.log().exists())
    }

    /// Whether all destinations are new (otherwise some are old). Each must be one or the other.
    fn check(&self, context: &str) -> bool {
        let now = files(&self.work());
        let temporary = now.keys().find(|path| path.to_string_lossy().contains(".warpscope-"));
        assert_eq!(temporary, None, "{context}: temporary files remain");
        // Collects all results first, so that every destination is checked.
        let new: Vec<bool> =
            self.job.writes.iter().map(|destination| self.is_new(destination, &now, context)).collect();
        new.into_iter().all(|new| new)
    }

    fn is_new(&self, destination: &Destination, now: &Files, context: &str) -> bool {
        let (Destination::Run(name)
        | Destination::Recording(name)
        | Destination::File(name)
        | Destination::Folder(name)
        | Destination::Rows(name)) = destination;
        let of = |files: &Files| {
            files
                .iter()
                .filter(|(path, _)| path.starts_with(name))
                .map(|(path, bytes)| (path.clone(), bytes.clone()))
                .collect::<Files>()
        };
        let (now, old, new) = (of(now), of(&self.old), of(&self.new));
        if matches!(destination, Destination::Run(_) | Destination::Folder(_)) {
            let notes = Path::new(name).join("mine/notes.txt");
            assert_eq!(
                now.get(&notes).map(Vec::as_slice),
                Some(&b"kept"[..]),
                "{context}: a file of another program is gone"
            );
        }
        if matches!(destination, Destination::Run(_) | Destination::Recording(_)) {
            let info = self.command(&format!("info {name} --json")).output().unwrap();
            assert!(info.status.success(), "{context}: {}", String::from_utf8_lossy(&info.stderr));
            let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
            let k = if now == old { 3 } else { 5 };
            assert_eq!(
                info["runs"][0]["run"]["spec"]["k"], k,
                "{context}: files of different runs are mixed"
            );
        }
        if now == old {
            return false;
        }
        match destination {
            Destination::File(_) | Destination::Folder(_) => {
                assert!(now == new, "{context}: {name} is neither old nor new")
            }
            Destination::Run(_) => {
                assert!(now.keys().eq(new.keys()), "{context}: {:?}", now.keys());
                // Two runs differ in times but not in results.
                for (path, bytes) in &now {
                    let same = ["merges.csv", "convergence.csv", "neighbors.npz", "notes.txt"]
                        .iter()
                        .any(|name| path.ends_with(name));
                    assert!(
                        !same || new[path] == *bytes,
                        "{context}: {} is neither old nor new",
                        path.display()
                    );
                    assert!(
                        path.ends_with("notes.txt") || old.get(path) != Some(bytes),
                        "{context}: {} is the old one",
                        path.display()
                    );
                }
                let repeats = String::from_utf8(now[&Path::new(name).join("timings.csv")].clone()).unwrap();
                assert!(repeats.ends_with('\n') && repeats.contains("search,2,"), "{context}: {repeats}");
                serde_json::from_slice::<serde_json::Value>(&now[&Path::new(name).join("trace.json")])
                    .unwrap();
            }
            Destination::Recording(_) => {}
            Destination::Rows(_) => {
                let whole = String::from_utf8(new[Path::new(name)].clone()).unwrap();
                let rows = String::from_utf8(now[Path::new(name)].clone()).unwrap();
                assert!(
                    rows.ends_with('\n') && whole.lines().next() == rows.lines().next(),
                    "{context}: {rows}"
                );
                // Rows of unequal length are an error.
                assert!(
                    csv::Reader::from_reader(rows.as_bytes()).records().all(|row| row.is_ok()),
                    "{context}: {rows}"
                );
                return rows.lines().count() == whole.lines().count();
            }
        }
        true
    }

    /// Readers must see the old or the new state before any clean-up, and the next writer must clean up.
    fn check_after_next(&self, context: &str) -> bool {
        for destination in self.job.writes {
            if let Destination::Run(name) | Destination::Recording(name) = destination {
                let compared = self.command(&format!("compare {name} {name}")).output().unwrap();
                assert!(
                    compared.status.success(),
                    "{context}: {}",
                    String::from_utf8_lossy(&compared.stderr)
                );
            }
        }
        // A command that checks its destination and then fails before writing.
        for destination in self.job.writes {
            let next = match destination {
                Destination::Run(name) => format!("run --input none.csv --out {name}"),
                Destination::Folder(name) => format!("lesson --lesson sort --frames {name} --from 9999999"),
                _ => "run --input none.csv --neighbors none.npz".to_owned(),
            };
            assert_eq!(self.command(&next).output().unwrap().status.code(), Some(1), "{context}: {next}");
        }
        self.check(context)
    }
}

/// How often a fault occurred, and its outcomes.
#[derive(Default)]
struct Tally {
    tried: u32,
    old: u32,
    new: u32,
}

/// Each call of a kind that the command makes, in turn.
fn every_call(bench: &JobFixture, fault: (&str, &str, bool)) -> Tally {
    let (call, kind, _) = fault;
    let mut tally = Tally::default();
    for at in 1.. {
        bench.reset();
        let (done, reached) = bench.with_fault(fault, at);
        let stderr = String::from_utf8(done.stderr).unwrap();
        let context = format!("{}: {kind} at {call} {at}: {stderr}", bench.job.name);
        if !reached {
            assert_eq!(done.status.code(), Some(0), "{context}");
            break;
        }
        tally.tried += 1;
        if kind == "kill" {
            assert_eq!(done.status.signal(), Some(9), "{context}");
        }
        let may_leave = kind == "kill" || matches!(call, "unlink" | "rmdir");
        let new = if may_leave { bench.check_after_next(&context) } else { bench.check(&context) };
        if kind != "kill" {
            // Libraries must not print anything.
            let errors: Vec<&str> = stderr.lines().filter(|line| !line.starts_with("note: ")).collect();
            match done.status.code() {
                // Some calls are retried after a failure.
                Some(0) => assert!(new && errors.is_empty(), "{context}"),
                Some(1) => {
                    // A library may reword the error; the system's own reason is required otherwise.
                    let reasons = [
                        ("ENOSPC", "No space left"),
                        ("EIO", "Input/output error"),
                        ("EACCES", "Permission denied"),
                    ];
                    let reason = reasons
                        .iter()
                        .find_map(|(known, text)| (*known == kind).then_some(*text))
                        .expect(&context);
                    assert!(
                        errors.len() == 1 && errors[0].starts_with("error: ") && errors[0].contains(reason),
                        "{context}"
                    );
                }
                _ => panic!("{context}"),
            }
        }
        *(if new { &mut tally.new } else { &mut tally.old }) += 1;
    }
    tally
}

/// SIGKILL at random times of a whole command, from a seed.
fn kills(bench: &JobFixture, count: u32) -> Tally {
    bench.reset();
    let began = Instant::now();
    bench.must(bench.job.new);
    let whole = began.elapsed();
    let mut random = ChaCha8Rng::seed_from_u64(14);
    let mut tally = Tally::default();
    for at in 0..count {
        bench.reset();
        let mut child = bench.command(bench.job.new).spawn().unwrap();
        let share = f64::from(random.next_u32()) / f64::from(u32::MAX);
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * share));
        // The program may already have finished.
        let _ = child.kill();
        child.wait().unwrap();
        tally.tried += 1;
        let new =
            bench.check_after_next(&format!("{}: kill {at} after {share} of {whole:?}", bench.job.name));
        *(if new { &mut tally.new } else { &mut tally.old }) += 1;
    }
    tally
}

fn print(job: &Job, what: &str, tally: &Tally) {
    println!("{:14}  {what:22}  {:5}  {:5} old  {:5} new", job.name, tally.tried, tally.old, tally.new);
}

fn faults(job: &'static Job, reduced: &[(&str, &str)], kills_of: u32) {
    let bench = JobFixture::new(job);
    for fault in FAULTS.into_iter().filter(|(call, kind, _)| everything() || reduced.contains(&(call, kind)))
    {
        let tally = every_call(&bench, fault);
        // Folders already exist, and not every command removes files.
        assert!(
            tally.tried > 0 || matches!(fault.0, "mkdir" | "unlink" | "rmdir"),
            "{}: {fault:?} never occurred",
            job.name
        );
        print(job, &format!("{} {}", fault.0, fault.1), &tally);
    }
    if kills_of > 0 {
        let count = if everything() { 100 } else { kills_of };
        print(job, "kill −9 at random", &kills(&bench, count));
    }
}

#[test]
fn faults_leave_a_complete_run_folder() {
    faults(
        &RUN_OUT,
        &[
            ("write", "ENOSPC"),
            ("rename", "EIO"),
            ("chmod", "EIO"),
            ("unlink", "EACCES"),
            ("rmdir", "EIO"),
            ("all", "kill"),
        ],
        10,
    );
}

#[test]
fn faults_leave_a_complete_recording() {
    faults(&RECORD, &[("write", "ENOSPC"), ("all", "kill")], 10);
}

#[test]
fn faults_leave_a_complete_session() {
    faults(&SESSION, &[("write", "ENOSPC"), ("all", "kill")], 10);
}

/// Saves a session in its own process: the runs of a recording, with the state of a window.
#[test]
#[ignore = "started by faults_leave_a_complete_session"]
fn child_process_saves_a_session() {
    // A run of all ignored tests starts this one without arguments.
    let Ok(paths) = std::env::var("SAVE_SESSION") else { return };
    let (from, to) = paths.split_once(' ').unwrap();
    let recording = recording::read(Path::new(from), CloudLoadMode::Restore, &NoProgress).unwrap();
    let shown =
        WindowState { session: b"{\"schema_version\": 1, \"saved_unix\": 0, \"points\": true}", cloud: None };
    let saved = export::session(shown, &recording.runs, true, Path::new(to), &NoProgress);
    std::process::exit(match saved {
        Ok(_) => 0,
        Err(why) => {
            eprintln!("error: {why}");
            1
        }
    });
}

#[test]
fn faults_never_truncate_sweep_rows() {
    faults(&SWEEP, &[("write", "ENOSPC")], 0);
}

#[test]
fn faults_leave_a_complete_generated_cloud() {
    faults(&GENERATE, &[("write", "ENOSPC"), ("write", "short"), ("write", "EINTR"), ("fsync", "EIO")], 0);
}

#[test]
fn faults_leave_complete_neighbours() {
    faults(&KNN, &[("write", "ENOSPC"), ("write", "short"), ("write", "EINTR"), ("all", "kill")], 0);
}

#[test]
fn faults_leave_complete_analyses() {
    faults(&ANALYSE, &[("write", "ENOSPC"), ("fsync", "EIO")], 0);
}

#[test]
fn faults_leave_complete_lesson_pictures() {
    faults(&LESSON, &[("rename", "EACCES")], 0);
}

#[test]
fn a_clock_that_jumps_back_is_harmless() {
    let bench = JobFixture::new(&RUN_OUT);
    let began = |back: &str| -> u64 {
        bench.reset();
        let done = bench
            .command(bench.job.new)
            .env("LD_PRELOAD", library())
            .env("FAULT_CLOCK", back)
            .output()
            .unwrap();
        assert!(done.status.success(), "{back}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(bench.check(&format!("a clock {back} seconds back")));
        let run: serde_json::Value =
            serde_json::from_slice(&fs::read(bench.work().join("out/run.json")).unwrap()).unwrap();
        run["started_unix"].as_u64().unwrap()
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let yesterday = began("86400");
    assert!(0 < yesterday && yesterday + 80_000 < now, "{yesterday} of {now}");
    assert_eq!(began("4000000000"), 0, "times before 1970 are shown as 0");
}
