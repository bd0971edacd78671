//! `knn` over several processes, started as launchers start them.

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::tiles::write_points;
use super::{TestDir, json};

/// An address of this machine at which nothing listens.
fn address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// A process of a job that `mpirun` would start.
fn process(dir: &TestDir, (rank, world): (usize, usize), args: &str) -> Command {
    let mut command = dir.command(args);
    command
        .env("OMPI_COMM_WORLD_RANK", rank.to_string())
        .env("OMPI_COMM_WORLD_SIZE", world.to_string())
        .env("OMPI_COMM_WORLD_LOCAL_RANK", rank.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn started(dir: &TestDir, world: usize, args: &str) -> Vec<Child> {
    // Rank 0 comes last, as it may.
    let mut all: Vec<Child> =
        (0..world).rev().map(|rank| process(dir, (rank, world), args).spawn().unwrap()).collect();
    all.reverse();
    all
}

/// The exit code, standard output and standard error of processes. Only the first prints much.
fn ended(processes: Vec<Child>) -> Vec<(Option<i32>, String, String)> {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let told = |Output { status, stdout, stderr }| (status.code(), text(stdout), text(stderr));
    processes.into_iter().map(|process| told(process.wait_with_output().unwrap())).collect()
}

/// Runs a job that must succeed, and returns what rank 0 printed. The others print nothing.
fn together(dir: &TestDir, world: usize, args: &str) -> (String, String) {
    let mut all = ended(started(dir, world, args));
    assert!(all.iter().all(|(code, ..)| *code == Some(0)), "{args}: {all:?}");
    let (_, stdout, stderr) = all.remove(0);
    assert!(all.iter().all(|(_, stdout, stderr)| stdout.is_empty() && stderr.is_empty()), "{args}: {all:?}");
    (stdout, stderr)
}

/// The errors of a job that must fail, without notes. Every process prints one line.
fn failures(processes: Vec<Child>) -> Vec<String> {
    let error = |(code, stdout, stderr): (Option<i32>, String, String)| {
        assert!(code.is_none_or(|code| code > 0) && stdout.is_empty(), "{code:?}: {stdout}{stderr}");
        let lines: Vec<&str> = stderr.lines().filter(|line| !line.starts_with("note: ")).collect();
        assert!(lines.len() <= 1 && !stderr.contains("panicked"), "{stderr}");
        lines.concat().trim_start_matches("error: ").to_owned()
    };
    ended(processes).into_iter().map(error).collect()
}

/// The names of temporary files and of what processes leave where they meet.
fn leftovers(dir: &TestDir) -> Vec<String> {
    let names = fs::read_dir(dir.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    let meeting = fs::read_dir(dir.path("meeting")).into_iter().flatten();
    let names = names.chain(meeting.map(|entry| entry.unwrap().file_name()));
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.starts_with(".warpscope-") || name == "warpscope.job").collect()
}

/// A folder with points, for jobs that meet in a folder, too.
fn folder(points: &str) -> TestDir {
    let dir = TestDir::new();
    fs::create_dir(dir.path("meeting")).unwrap();
    dir.ok(&format!("generate {points} cloud.npy"));
    dir
}

#[test]
fn several_processes_write_the_bytes_of_one() {
    let dir = folder("gaussian-mixture:n=3000,d=3");
    dir.ok("generate uniform:n=700,d=3 queries.csv");
    for (world, flags, extension) in [
        (2, "-k 7", "npz"),
        (3, "-k 7 --exclude-self", "csv"),
        (4, "-k 5 --self-first", "npz"),
        (3, "queries.csv -k 5 --metric cosine", "csv"),
        (2, "1000 -k 6 --arithmetic f32", "npz"),
        // More processes than queries.
        (4, "rows:5,0 -k 3", "csv"),
        (3, "at:0.1,0.2,0.3 -k 3", "csv"),
        (2, "-k 3", "ivecs"),
    ] {
        let args = format!("knn cloud.npy {flags} --threads 1 -o");
        dir.ok(&format!("{args} one.{extension}"));
        for place in [address(), "file:meeting".to_owned()] {
            let (stdout, stderr) =
                together(&dir, world, &format!("{args} several.{extension} --rendezvous {place} --json"));
            assert!(stderr.contains(&format!("note: {world} processes meet at {place}\n")), "{stderr}");
            assert_eq!(json(&stdout)["ranks"], world);
            let bytes = |name: &str| fs::read(dir.path(&format!("{name}.{extension}"))).unwrap();
            assert!(bytes("one") == bytes("several"), "{world} processes, {place}: {flags}");
            assert_eq!(leftovers(&dir), [""; 0]);
        }
    }
    assert!(fs::read(dir.path("one.fvecs")).unwrap() == fs::read(dir.path("several.fvecs")).unwrap());
}

#[test]
fn answers_go_to_standard_output_of_rank_0() {
    let dir = folder("uniform:n=500,d=2");
    let one = dir.ok("knn cloud.npy -k 4 -o -").stdout;
    assert_eq!(together(&dir, 3, &format!("knn cloud.npy -k 4 -o - --rendezvous {}", address())).0, one);
    let table = dir.ok("knn cloud.npy rows:7 -k 4").stdout;
    let (text, _) = together(&dir, 2, "knn cloud.npy rows:7 -k 4 --rendezvous file:meeting");
    let shown = |text: &str| text.split_once("rank ").map(|(_, table)| table.to_owned());
    assert_eq!(shown(&text), shown(&table));
    assert!(text.contains("2 processes"), "{text}");
}

#[test]
fn processes_of_torchrun_meet_at_the_port_after_its_own() {
    let dir = folder("uniform:n=500,d=2");
    let agent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = agent.local_addr().unwrap().port();
    let rank = |rank: usize| {
        let mut command = process(&dir, (rank, 2), "knn cloud.npy -k 4 -o several.csv");
        command.env("RANK", rank.to_string()).env("WORLD_SIZE", "2").env("LOCAL_RANK", rank.to_string());
        command.env("MASTER_ADDR", "127.0.0.1").env("MASTER_PORT", port.to_string());
        command.env("TORCHELASTIC_USE_AGENT_STORE", "True").spawn().unwrap()
    };
    let done = ended(vec![rank(0), rank(1)]);
    let note = format!("2 processes meet at 127.0.0.1:{} (from torchrun; or pass --rendezvous)", port + 1);
    assert!(done[0].0 == Some(0) && done[1].0 == Some(0) && done[0].2.contains(&note), "{done:?}");
}

#[test]
fn tiles_of_several_processes_write_the_bytes_of_one() {
    let dir = TestDir::new();
    write_points(&dir, "line.npy", 400_000);
    for (world, queries) in [(2, "3000 --exclude-self"), (3, "rows:1000-1999,250000-251999")] {
        let knn = format!("knn line.npy {queries} -k 5 --engine bvh");
        dir.ok(&format!("{knn} -o one.npz"));
        let place = address();
        let several = format!("{knn} -o several.npz --memory 40M --json --rendezvous {place}");
        let report = json(&together(&dir, world, &several).0);
        assert!(report["tiles"]["tiles"].as_u64() > Some(1), "{report}");
        assert!(report["tiles"]["query_blocks"].as_u64() >= Some(world as u64), "{report}");
        assert!(fs::read(dir.path("one.npz")).unwrap() == fs::read(dir.path("several.npz")).unwrap());
    }
}

#[test]
fn a_killed_process_ends_the_others() {
    let dir = folder("uniform:n=60000,d=3");
    dir.write("found.csv", "old");
    for (place, rank, expected) in [
        (address(), 2, "rank 2: ended without a message (was it killed?)"),
        (address(), 0, "rank 0: ended without a message (was it killed?)"),
        ("file:meeting".to_owned(), 1, "rank 1: ended without a message (was it killed?)"),
    ] {
        let args = format!("knn cloud.npy -k 500 --engine lockstep -o found.csv --rendezvous {place}");
        let mut processes = started(&dir, 3, &args);
        until_searching(&dir, &mut processes);
        processes[rank].kill().unwrap();
        let killed = Instant::now();
        let mut errors = failures(processes);
        assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
        assert_eq!(errors.remove(rank), "");
        assert_eq!(errors, [expected; 2], "{place}");
        assert_eq!(fs::read_to_string(dir.path("found.csv")).unwrap(), "old");
        if rank > 0 {
            assert_eq!(leftovers(&dir), [""; 0]);
        }
    }
    // What earlier jobs left does not confuse a later one, which removes it.
    for stale in ["", "nowhere.invalid 7", "127.0.0.1 1"] {
        dir.write("meeting/warpscope.job", stale);
        let (stdout, _) = together(&dir, 2, "knn cloud.npy 100 -k 3 -o found.csv --rendezvous file:meeting");
        assert!(stdout.contains("2 processes"), "{stdout}");
        assert_eq!(leftovers(&dir), [""; 0]);
    }
}

/// Waits until rank 0 has begun to write, which it only tries before.
fn until_searching(dir: &TestDir, processes: &mut [Child]) {
    let part = || leftovers(dir).into_iter().find(|name| dir.path(name).is_file());
    let mut since = (None, Instant::now());
    while since.0.is_none() || since.1.elapsed() < Duration::from_millis(300) {
        let part = part();
        if part != since.0 {
            since = (part, Instant::now());
        }
        for process in &mut *processes {
            assert_eq!(process.try_wait().unwrap(), None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_failing_process_ends_the_others_with_its_sentence() {
    let dir = folder("uniform:n=60000,d=3");
    let other = folder("uniform:n=60000,d=3 --seed 5");
    for (files, error) in [
        (TestDir::new(), "rank 1: cannot read"),
        (other, "rank 1: the data of this rank differ from those of rank 0: points "),
    ] {
        let args = format!("knn cloud.npy -k 500 --engine lockstep -o a.csv --rendezvous {}", address());
        let [first, last] = [0, 2].map(|rank| process(&dir, (rank, 3), &args).spawn().unwrap());
        let errors = failures(vec![first, process(&files, (1, 3), &args).spawn().unwrap(), last]);
        assert!(errors[0].starts_with(error), "{errors:?}");
        assert_eq!(errors, [errors[0].as_str(); 3]);
        assert_eq!(leftovers(&dir), [""; 0]);
    }
}

#[cfg(unix)]
#[test]
fn a_stopped_process_stops_the_others() {
    let dir = folder("uniform:n=60000,d=3");
    for (place, rank) in [(address(), 1), ("file:meeting".to_owned(), 0)] {
        let args = format!("knn cloud.npy -k 500 --engine lockstep -o a.csv --rendezvous {place}");
        let mut processes = started(&dir, 2, &args);
        until_searching(&dir, &mut processes);
        let pid = processes[rank].id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let done = ended(processes);
        let sentence = "stopped by SIGINT; incomplete files were removed\n";
        assert_eq!((done[rank].0, done[1 - rank].0), (Some(130), Some(1)), "{done:?}");
        assert!(done[rank].2.ends_with(sentence), "{done:?}");
        // A process that does not stop in time is ended without a message to the others.
        let (told, gone) = (format!("error: rank {rank}: {sentence}"), format!("error: rank {rank}: "));
        assert!(done[1 - rank].2.ends_with(&told) || done[1 - rank].2.contains(&gone), "{done:?}");
        assert_eq!(leftovers(&dir), [""; 0]);
    }
}

#[test]
fn missing_processes_are_named() {
    let dir = folder("uniform:n=500,d=2");
    for place in [address(), "file:meeting".to_owned()] {
        let args = format!("knn cloud.npy -k 4 -o a.csv --rendezvous {place} --rendezvous-timeout 1");
        let present = [0, 2].map(|rank| process(&dir, (rank, 4), &args).spawn().unwrap());
        let errors = failures(present.into());
        let expected = format!("rank 0: ranks 1, 3 did not join at {place} within 1 s (");
        assert!(errors.iter().all(|error| error.starts_with(&expected)), "{errors:?}");
        let alone = failures(vec![process(&dir, (1, 2), &args).spawn().unwrap()]).remove(0);
        let expected = format!("rank 1: rank 0 did not answer at {place} within 1 s: ");
        assert!(alone.starts_with(&expected), "{alone}");
        assert_eq!(leftovers(&dir), [""; 0]);
    }
}

#[test]
fn processes_of_other_jobs_are_refused() {
    let dir = folder("uniform:n=500,d=2");
    for place in [address(), "file:meeting".to_owned()] {
        let args = |k| format!("knn cloud.npy -k {k} -o a.csv --rendezvous {place} --rendezvous-timeout 3");
        let first = process(&dir, (0, 2), &args(4)).spawn().unwrap();
        let wrong =
            [((1, 2), 5), ((2, 3), 4)].map(|(rank, k)| process(&dir, rank, &args(k)).spawn().unwrap());
        let errors = failures(wrong.into_iter().collect());
        let differs = ", with other flags, processes or version; choose another place";
        assert_eq!(
            errors,
            [
                format!("rank 1: another job is meeting at {place}{differs}"),
                format!("rank 2: another job is meeting at {place}{differs}"),
            ]
        );
        let error = failures(vec![first]).remove(0);
        assert!(
            error.contains("rank 1 did not join") && error.contains("; a process of another job was refused"),
            "{error}"
        );
    }
}

#[test]
fn strangers_neither_end_nor_delay_a_job() {
    let dir = folder("uniform:n=500,d=2");
    let place = address();
    let args = format!("knn cloud.npy -k 4 -o a.csv --rendezvous {place}");
    let first = process(&dir, (0, 2), &args).spawn().unwrap();
    let began = Instant::now();
    let connect = || loop {
        if let Ok(stream) = TcpStream::connect(&place) {
            return stream;
        }
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(10));
    };
    let _silent = connect();
    for bytes in [&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[0xff; 1 << 16], &[0; 9]] {
        // The job closes the connection as soon as it sees that.
        let _ = connect().write_all(bytes);
    }
    let _silent_too = connect();
    let done = ended(vec![first, process(&dir, (1, 2), &args).spawn().unwrap()]);
    assert!(done.iter().all(|(code, ..)| *code == Some(0)), "{done:?}");
}

#[test]
fn places_that_cannot_be_used_are_refused() {
    let dir = folder("uniform:n=500,d=2");
    let fails = |rank, place: &str| {
        let args = format!("knn cloud.npy -k 4 -o a.csv --rendezvous {place} --rendezvous-timeout 1");
        failures(vec![process(&dir, (rank, 2), &args).spawn().unwrap()]).remove(0)
    };
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    let error = fails(0, &place);
    assert!(error.starts_with(&format!("rank 0: cannot listen at {place}: ")), "{error}");
    assert!(error.ends_with("; choose another port, or an address of this machine"), "{error}");
    let error = fails(1, &place);
    assert!(error.contains(&format!("rank 0 did not answer at {place} within 1 s: ")), "{error}");
    for rank in [0, 1] {
        let error = fails(rank, "file:none");
        assert_eq!(error, format!("rank {rank}: --rendezvous file:none: this folder does not exist"));
    }
}

#[test]
fn what_several_processes_cannot_do_is_refused() {
    let dir = folder("uniform:n=500,d=2");
    let refused = |args: &str| {
        let mut done = ended(vec![process(&dir, (0, 2), args).spawn().unwrap()]);
        let (code, _, stderr) = done.remove(0);
        assert_eq!(code, Some(2), "{stderr}");
        stderr
    };
    for flags in ["--graph a.csv", "--radius 0.1", "--metric inner-product", "--dry-run"] {
        let error = refused(&format!("knn cloud.npy {flags} --rendezvous file:meeting"));
        let flag = flags.trim_end_matches(" a.csv").trim_end_matches(" 0.1");
        let expected = format!("error: {flag}: not available with several processes");
        assert!(error.starts_with(&expected), "{error}");
    }
    let error = refused("knn cloud.npy -k 4 -o a.csv");
    assert!(error.starts_with("error: Open MPI started 2 processes, which would all write"), "{error}");
    let error = dir.fails(2, "knn cloud.npy -k 4 -o a.csv --rendezvous file:meeting");
    assert!(error.starts_with("--rendezvous file:meeting: no launcher has numbered"), "{error}");
    let error = dir.fails(2, "knn cloud.npy --rendezvous here");
    assert!(error.contains("expected HOST:PORT, file:DIR or none"), "{error}");
    assert!(!Path::new(&dir.path("a.csv")).exists());
}
