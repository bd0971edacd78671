//! The command line, end to end, with the built program.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a call gave.
struct Done {
    code: i32,
    stdout: String,
    stderr: String,
}

/// A folder to work in, and the program called in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpscope"));
        command.current_dir(self.0.path()).args(args.split_whitespace());
        // Wayland's library, which a software renderer asks first, complains where this is not set.
        command.env("XDG_RUNTIME_DIR", self.0.path());
        command
    }

    fn call(&self, args: &str) -> Done {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done { code: output.status.code().expect("it was not killed"), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// A call that must succeed.
    fn ok(&self, args: &str) -> Done {
        let done = self.call(args);
        assert_eq!(done.code, 0, "{args}: {}", done.stderr);
        done
    }

    /// The one line on stderr of a call that must fail with `code`.
    fn fails(&self, code: i32, args: &str) -> String {
        let done = self.call(args);
        assert_eq!((done.code, done.stdout.as_str()), (code, ""), "{args}: {}", done.stderr);
        let errors: Vec<&str> = done.stderr.lines().filter(|line| !line.starts_with("note: ")).collect();
        assert_eq!(errors.len(), 1, "{args}: {}", done.stderr);
        errors[0].strip_prefix("error: ").unwrap_or_else(|| panic!("{}", errors[0])).to_owned()
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn table(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let head = reader.headers().unwrap().iter().map(str::to_owned).collect();
    (head, reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect())
}

/// Six points; the third has no y.
const POINTS: &str = "name,x,y\na,0,0\nb,3,4\nc,1,\nd,0,1\ne,6,8\nf,0,0\n";

#[cfg(unix)]
#[test]
fn nothing_is_written_over_what_is_searched_or_read_only() {
    let place = Place::new();
    let rows = "x,y\n1,2\n3,4\n5,7\n";
    place.write("own.csv", rows);
    let error = place.fails(2, "run --engine lockstep --input own.csv --k 1 --queries all --neighbors own.csv");
    assert_eq!(error, "cannot write: the cloud that is searched would be lost; choose another name: own.csv");
    place.write("kept.csv", "mine");
    fs::set_permissions(place.path("kept.csv"), std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
    let error = place.fails(1, "generate uniform:n=3 kept.csv");
    assert_eq!(error, "cannot write: the file that is there is read-only: kept.csv");
    assert_eq!(fs::read_to_string(place.path("own.csv")).unwrap(), rows);
    assert_eq!(fs::read_to_string(place.path("kept.csv")).unwrap(), "mine");
}

#[test]
fn a_written_cloud_is_searched_and_its_neighbours_are_records() {
    let place = Place::new();
    place.write("points.csv", POINTS);
    let done = place.ok("run --input points.csv --columns x,y --drop-nonfinite --queries rows:0,4 --k 3 --engine lockstep --neighbors found.csv");
    assert_eq!(done.stderr, "", "nothing was left to be said");
    for said in ["points.csv, 5 points in 2 dimensions", "x, y", "1 row with NaN or infinite values", "2 queries", "lockstep on ", "found.csv"] {
        assert!(done.stdout.contains(said), "`{said}` is missing from\n{}", done.stdout);
    }
    assert_eq!(
        fs::read_to_string(place.path("found.csv")).unwrap(),
        "query,rank,index,squared_distance\n0,0,0,0\n0,1,5,0\n0,2,3,1\n1,0,4,0\n1,1,1,25\n1,2,3,85\n"
    );
    place.ok("run --input points.csv --columns 1,2 --drop-nonfinite --queries rows:0 --exclude-self --k 3 --engine lockstep --neighbors own.csv");
    assert_eq!(fs::read_to_string(place.path("own.csv")).unwrap(), "query,rank,index,squared_distance\n0,0,5,0\n0,1,3,1\n0,2,1,25\n");
}

#[test]
fn a_generated_file_is_the_generated_cloud() {
    let place = Place::new();
    let fingerprint = |cloud: &str| {
        let done = place.ok(&format!("run {cloud} --queries 5 --engine kdtree --warmup 0 --repeats 1 --json"));
        json(&done.stdout)["fingerprint"].as_str().unwrap().to_owned()
    };
    let generated = fingerprint("--generate gaussian-mixture:n=500,d=3 --seed 4");
    for name in ["cloud.csv", "cloud.npy", "cloud.fvecs", "cloud.fbin"] {
        place.ok(&format!("generate gaussian-mixture:n=500,d=3 {name} --seed 4"));
        assert_eq!(fingerprint(&format!("--input {name}")), generated, "{name}");
        assert_eq!(json(&place.ok(&format!("info {name} --json")).stdout)["cloud"]["points"], 500);
    }
    assert_ne!(fingerprint("--generate gaussian-mixture:n=500,d=3 --seed 5"), generated);
    assert!(place.fails(2, "generate uniform cloud.xls").ends_with(": cloud.xls"));
    assert!(place.fails(1, "info none.csv").ends_with(": none.csv"));
}

#[test]
fn neighbours_are_read_back_as_a_cloud() {
    let place = Place::new();
    let found = |name: &str| place.ok(&format!("run --generate uniform:n=60,d=2 --queries all --k 5 --engine lockstep --neighbors {name}"));
    for (name, distances) in [("found.ivecs", "found.fvecs"), ("found.ibin", "found.fbin")] {
        found(name);
        for file in [name, distances] {
            let info = json(&place.ok(&format!("info {file} --json")).stdout);
            assert_eq!((&info["cloud"]["points"], &info["cloud"]["dims"]), (&60.into(), &5.into()), "{file}");
        }
    }
}

#[test]
fn queries_come_from_a_file_a_list_or_the_seed() {
    let place = Place::new();
    place.write("points.csv", POINTS);
    place.write("asked.csv", "y,label,x\n8,q,6\n");
    place.write("rows.txt", "4\n# not 1\n0\n");
    let found = |queries: &str| {
        place.ok(&format!("run --input points.csv --columns x,y --drop-nonfinite --queries {queries} --k 1 --engine lockstep --neighbors n.csv"));
        table(&place.path("n.csv")).1.iter().map(|row| row[2].clone()).collect::<Vec<_>>()
    };
    assert_eq!(found("asked.csv"), ["4"], "columns are found by name, whatever their order");
    assert_eq!(found("rows:@rows.txt"), ["4", "0"]);
    assert_eq!(found("all"), ["0", "1", "3", "4", "0"]);
    assert_eq!(found("3").len(), 3);
    assert_eq!(found("3"), found("3"));
}

#[test]
fn the_default_queries_are_said() {
    let place = Place::new();
    let drawn = place.ok("run --generate uniform:n=1500 --engine lockstep --warmup 0 --repeats 1 --json");
    assert_eq!(drawn.stderr, "note: 1,000 of 1,500 rows, drawn with seed 0, are asked for, as --queries is not given\n");
    assert_eq!(json(&drawn.stdout)["summary"]["q"], 1000);
    let all = place.ok("run --generate uniform:n=15 --k 5 --engine lockstep --json");
    assert_eq!(all.stderr, "note: all 15 rows are asked for, as --queries is not given\n");
    assert_eq!(json(&all.stdout)["summary"]["q"], 15);
}

#[test]
fn a_runs_folder_is_complete_and_json_is_run_json() {
    let place = Place::new();
    let args = "run --generate uniform:n=3000,d=3 --queries 200 --k 7 --engine lockstep --order shuffled --seed 9 --warmup 1 --repeats 4";
    let done = place.ok(&format!("{args} --out a/b --neighbors a/b/found.npz --json"));
    let file = fs::read_to_string(place.path("a/b/run.json")).unwrap();
    assert_eq!(done.stdout, file);
    let run = json(&file);
    assert_eq!((&run["spec"]["k"], &run["spec"]["seed"], &run["engine"]), (&7.into(), &9.into(), &"lockstep".into()));
    assert_eq!(run["schema_version"], 1);
    assert_eq!(run["spec"]["data"]["generate"]["spec"], "uniform:n=3000,d=3");
    let summary = &run["summary"];
    assert!(summary["search_ms_min"].as_f64() <= summary["search_ms_median"].as_f64());

    let mut names: Vec<_> = fs::read_dir(place.path("a/b")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["convergence.csv", "found.npz", "merges.csv", "neighbors.npz", "run.json", "timings.csv", "trace.json"]);
    assert_eq!(fs::read(place.path("a/b/neighbors.npz")).unwrap(), fs::read(place.path("a/b/found.npz")).unwrap());
    let (head, timings) = table(&place.path("a/b/timings.csv"));
    assert_eq!(head.join(","), "engine,phase,repeat,chunk,start_ms,duration_ms");
    let repeats: std::collections::BTreeSet<&str> = timings.iter().filter(|row| row[1] == "search").map(|row| row[2].as_str()).collect();
    assert_eq!(repeats.len(), 4);

    let (head, merges) = table(&place.path("a/b/merges.csv"));
    assert_eq!((head.join(",").as_str(), merges.len()), ("query,row,merges,candidates,groups_hit", 200));
    let (head, convergence) = table(&place.path("a/b/convergence.csv"));
    assert_eq!(head.join(","), "query,merge,points_seen,max_squared_distance");
    for (query, counted) in merges.iter().enumerate() {
        let history: Vec<&Vec<String>> = convergence.iter().filter(|row| row[0] == query.to_string()).collect();
        assert_eq!(history.len().to_string(), counted[2], "each of so few merges is kept");
        let distance = |row: &Vec<String>| row[3].parse::<f32>().unwrap();
        assert!(history.windows(2).all(|pair| distance(pair[0]) >= distance(pair[1])));
    }
    let mean = merges.iter().map(|row| row[2].parse::<f64>().unwrap()).sum::<f64>() / 200.0;
    assert!((summary["mean_merges"].as_f64().unwrap() - mean).abs() < 1e-9);
    assert!(mean <= summary["expected_merges"].as_f64().unwrap(), "{mean}: in random order theory bounds the mean");
    assert!(json(&fs::read_to_string(place.path("a/b/trace.json")).unwrap())["traceEvents"].as_array().unwrap().len() > 6);

    // The same command again gives the same neighbours, and the files replace the old ones.
    let before = fs::read(place.path("a/b/found.npz")).unwrap();
    place.ok(&format!("{args} --out a/b --neighbors a/b/found.npz"));
    assert_eq!(fs::read(place.path("a/b/found.npz")).unwrap(), before);
}

#[test]
fn more_neighbours_than_points_are_none_at_infinity() {
    let place = Place::new();
    let done = place.ok("run --generate uniform:n=2 --queries all --k 4 --engine kdtree --neighbors found.csv --out out");
    assert_eq!(done.stderr, "note: k = 4 is more than the 2 points: ranks from 2 on are empty\n");
    let own = place.ok("run --generate uniform:n=2 --k 2 --engine kdtree --queries all --exclude-self");
    assert_eq!(own.stderr, "note: k = 2 is more than the 1 other point: ranks from 1 on are empty\n");
    assert_eq!(place.ok("run --generate uniform:n=2 --k 2 --engine kdtree --queries all").stderr, "");
    let (_, rows) = table(&place.path("found.csv"));
    assert_eq!(rows.len(), 2 * 4);
    assert_eq!(rows[3][2..], ["-1", "inf"]);
    assert_eq!(fs::read_to_string(place.path("out/merges.csv")).unwrap(), "query,row,merges,candidates,groups_hit\n");
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_read() {
    let place = Place::new();
    place.write("file", "");
    // There is no such cloud; that is not reached.
    for target in ["--neighbors none/found.csv", "--out file", "--out file/inside"] {
        let error = place.fails(1, &format!("run --input none.csv {target}"));
        assert!(error.starts_with("cannot write: ") && error.ends_with(target.split(' ').next_back().unwrap()), "{error}");
    }
    assert!(place.fails(1, "sweep --generate uniform --n 10 --q 5 --out none/rows.csv").ends_with(": none/rows.csv"));
}

#[cfg(unix)]
#[test]
fn names_reach_a_terminal_and_a_spreadsheet_as_names() {
    let place = Place::new();
    let name = "\u{1b}[31m\u{202e}a\nb\u{9b}.csv";
    place.write(name, "=x,\u{1b}[2Jy\n-1.5,2\n3,4\n5,7\n");
    let call = |args: &[&str]| {
        let output = place.command("").args(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let unprintable = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    let run = ["run", "--input", name, "--queries", "all", "--k", "1", "--engine", "kdtree", "--repeats", "1", "--record", "a.warpscope"];
    for args in [&["info", name][..], &["info", name, "--json"], &run, &[&run[..], &["--json"]].concat(), &["info", "a.warpscope"]] {
        let (code, stdout, stderr) = call(args);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(!stdout.contains(unprintable) && !stdout.contains("a\nb"), "{args:?}: {stdout:?}");
    }
    assert_eq!(json(&call(&["info", name, "--json"]).1)["path"], name, "JSON says what the name is");
    let (code, _, stderr) = call(&["run", "--input", "\u{1b}[31mnone.csv"]);
    assert_eq!((code, stderr.contains(unprintable)), (Some(1), false), "{stderr:?}");

    // A file of rows has names as they are, but for formulas.
    place.write("=1+1.csv", "x,y\n1,2\n3,4\n");
    let (_, rows, _) = call(&["sweep", "--input", "=1+1.csv", "--q", "1", "--k", "1", "--engine", "kdtree", "--repeats", "1"]);
    assert!(rows.lines().nth(1).unwrap().starts_with("'=1+1.csv,kdtree,"), "{rows}");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_is_a_name() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv");
    fs::write(place.0.path().join(name), "x,y\n1,2\n3,4\n5,7\n").unwrap();
    let args = "run --queries all --k 1 --engine kdtree --repeats 1 --json --out out --record a.warpscope";
    for more in ["", " --no-points"] {
        let done = place.command(&format!("{args}{more}")).arg("--input").arg(name).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let run = json(&String::from_utf8(done.stdout).unwrap());
        assert_eq!(run["spec"]["data"]["file"]["path"], "caf\u{fffd}.csv");
        assert!(place.ok("info a.warpscope").stdout.contains("caf\u{fffd}.csv"));
        place.ok("compare out a.warpscope");
    }
    assert!(place.command("info --json").arg(name).output().unwrap().status.success());
}

#[cfg(unix)]
#[test]
fn the_search_is_told_even_if_its_files_cannot_be_written() {
    let place = Place::new();
    // A folder where a file is to be, which only writing meets.
    fs::create_dir_all(place.path("out/timings.csv")).unwrap();
    let done = place.call("run --generate uniform:n=20 --queries all --k 5 --engine kdtree --out out");
    assert_eq!((done.code, done.stderr.as_str()), (1, "error: cannot write: it is a folder: out/timings.csv\n"));
    assert!(done.stdout.contains("kdtree on ") && !done.stdout.contains("wrote"), "{}", done.stdout);
}

#[test]
fn the_columns_are_said() {
    let place = Place::new();
    place.write("points.csv", POINTS);
    place.write("asked.csv", "y,label,x\n8,q,6\n");
    let problem = "--input points.csv --columns x,y --drop-nonfinite";
    let run = place.ok(&format!("run {problem} --queries asked.csv --k 1 --engine kdtree")).stdout;
    assert_eq!(run.lines().filter(|line| line.split_whitespace().eq(["columns", "x,", "y"])).count(), 2, "{run}");
    let verify = place.ok(&format!("verify {problem} --queries asked.csv --k 1 --engine kdtree")).stdout;
    assert_eq!(verify.lines().nth(1), Some("columns x, y; of the queries x, y"));
    let sweep = place.ok(&format!("sweep {problem} --q 2,3 --k 1 --engine kdtree --repeats 1 --warmup 0"));
    assert_eq!(sweep.stderr, "note: columns x, y\n");
}

#[test]
fn the_index_is_a_phase_of_its_own() {
    let place = Place::new();
    for out in ["a", "b"] {
        place.ok(&format!("run --generate uniform:n=20 --queries all --engine kdtree --out {out}"));
    }
    let (_, timings) = table(&place.path("a/timings.csv"));
    assert_eq!(timings[0][1], "build index");
    assert!(place.ok("compare a b").stdout.contains("build index (kdtree)"));
    assert!(json(&fs::read_to_string(place.path("a/run.json")).unwrap())["device"]["details"]["threads"].is_string());
}

#[test]
fn what_an_engine_does_not_have_is_said() {
    let place = Place::new();
    let done = place.ok("run --generate uniform:n=20 --queries all --k 5 --engine kdtree --repeats 1 --warmup 0 --profile");
    assert_eq!(done.stderr, "note: the kdtree engine has no profile to give\n");
    for engine in ["kdtree", "lockstep"] {
        place.ok(&format!("run --generate uniform:n=20 --queries all --engine {engine} --repeats 1 --warmup 0 --profile --out {engine}"));
        let (_, timings) = table(&place.path(&format!("{engine}/timings.csv")));
        assert!(timings.iter().any(|row| row[1] == "search") && !timings.iter().any(|row| row[1] == "profiled"), "{timings:?}");
    }
    assert!(done.stdout.contains("one repeat") && !done.stdout.contains("merges") && !done.stdout.contains("dist/s"), "{}", done.stdout);
}

#[test]
fn what_is_left_out_is_said() {
    let place = Place::new();
    place.write("points.csv", "x,y\n0,0\n3,4\n1,nan\n0,1\n");
    let done = place.ok("run --input points.csv --metric angular --drop-nonfinite --queries all --k 1 --engine lockstep --json");
    let run = json(&done.stdout);
    assert_eq!([&run["dropped_rows"], &run["dropped_queries"], &run["summary"]["n"]], [2, 1, 2]);
    let text = place.ok("run --input points.csv --metric angular --drop-nonfinite --queries all --k 1 --engine lockstep").stdout;
    assert!(text.contains("2 rows with NaN or infinite values, or without a direction"), "{text}");
    assert!(place.fails(1, "run --input points.csv --metric angular --queries all").contains("row 2, column y"));
}

#[test]
fn auto_says_why_it_is_not_cuda() {
    let place = Place::new();
    let devices = json(&place.ok("devices --json").stdout);
    let cuda = devices.as_array().unwrap().iter().find(|line| line["engine"] == "cuda").unwrap().clone();
    let done = place.ok("run --generate uniform:n=100 --queries all --repeats 1 --warmup 0 --json");
    let run = json(&done.stdout);
    if cuda["can_run"] == true {
        assert_eq!((&run["engine"], &run["fallback"]), (&"cuda".into(), &Value::Null));
        return;
    }
    assert_eq!(run["engine"], "lockstep");
    let why = cuda["why"].as_str().unwrap();
    assert_eq!(done.stderr, format!("note: the cuda engine cannot run here: {why}; lockstep runs instead\n"));
    assert_eq!(place.fails(1, "run --generate uniform:n=100 --queries all --engine cuda"), format!("the cuda engine cannot run here: {why}"));
}

#[test]
fn devices_lists_every_engine() {
    let place = Place::new();
    let text = place.ok("devices").stdout;
    let lines = json(&place.ok("devices --json").stdout);
    for engine in ["cuda", "cuda-split", "lockstep", "kdtree"] {
        assert!(text.lines().any(|line| line.starts_with(engine)), "{text}");
        let line = lines.as_array().unwrap().iter().find(|line| line["engine"] == engine).unwrap();
        assert_eq!(line["can_run"] == true, line["device"]["name"].is_string());
        assert_eq!(line["can_run"] == true, line["why"].is_null());
    }
    assert!(lines.as_array().unwrap().iter().filter(|line| line["can_run"] == true).count() >= 2, "the processor is always there");
}

#[test]
fn engines_are_verified() {
    let place = Place::new();
    let args = "verify --generate duplicates:n=3000,d=2,distinct=40 --queries 100 --k 50 --exclude-self --order shuffled";
    let text = place.ok(args).stdout;
    assert!(text.starts_with("n = 3,000, q = 100, d = 2, k = 50, l2, shuffled order\n"), "{text}");
    let report = json(&place.ok(&format!("{args} --json")).stdout);
    assert_eq!(report["agreed"], true);
    let ran: Vec<&Value> = report["engines"].as_array().unwrap().iter().filter(|engine| engine["not_run"].is_null()).collect();
    assert!(ran.len() >= 2);
    for (at, engine) in ran.iter().enumerate() {
        assert_eq!((&engine["queries"], &engine["mismatch"]), (&100.into(), &Value::Null));
        assert_eq!(engine["equal_to"].is_null(), at == 0, "{report}");
    }
    let some = json(&place.ok(&format!("{args} --engine kdtree,lockstep --json")).stdout);
    let engines: Vec<&Value> = some["engines"].as_array().unwrap().iter().map(|engine| &engine["engine"]).collect();
    assert_eq!(engines, ["lockstep", "kdtree"]);
    let one = json(&place.ok("verify --generate sphere:n=500,d=5 --queries all --k 1 --metric angular --engine kdtree --json").stdout);
    assert_eq!(one["engines"].as_array().unwrap().len(), 1);
}

#[test]
fn a_sweep_writes_a_row_for_each_run() {
    let place = Place::new();
    let args = "sweep --generate uniform --n 200,1e3 --q 20 --k 1,40 --d 2,3 --engine lockstep,kdtree --repeats 2 --warmup 0";
    let stdout = place.ok(args).stdout;
    place.write("stdout.csv", &stdout);
    let (head, rows) = table(&place.path("stdout.csv"));
    assert_eq!(rows.len(), 2 * 2 * 2 * 2);
    let column = |name: &str| head.iter().position(|head| head == name).unwrap_or_else(|| panic!("{name} is missing"));
    for row in &rows {
        assert_eq!(row[column("data")], format!("uniform:n={},d={}", row[column("n")], row[column("d")]));
        assert!(row[column("search_ms_median")].parse::<f64>().unwrap() > 0.0);
        for of_counters in ["mean_merges", "distances_per_second"] {
            assert_eq!(row[column(of_counters)].is_empty(), row[column("engine")] == "kdtree", "{of_counters}");
        }
        assert_eq!(row[column("error")], "");
    }
    assert_eq!(rows[0][column("n")], "200");
    assert_eq!(rows[15][column("n")], "1000");

    let quiet = place.ok(&format!("{args} --out sweep.csv"));
    assert_eq!(quiet.stdout, "");
    assert_eq!(table(&place.path("sweep.csv")).1.len(), 16);
}

#[test]
fn a_sweep_goes_on_after_a_failure_and_tells_of_it() {
    let place = Place::new();
    let done = place.call("sweep --generate uniform --n 10,100 --q 50 --k 3 --engine lockstep --repeats 1 --warmup 0");
    assert_eq!(done.code, 1);
    assert_eq!(
        done.stderr,
        "error: 1 of 2 runs failed, the first with: 50 queries: the cloud has 10 rows to draw them from; `all` takes every row\n"
    );
    assert_eq!(done.stdout.lines().count(), 3);
    assert!(done.stdout.lines().nth(1).unwrap().ends_with("`all` takes every row"));
}

#[test]
fn runs_are_compared() {
    let place = Place::new();
    let run = |k: u32, out: &str| {
        place.ok(&format!("run --generate uniform:n=2000 --queries all --k {k} --engine lockstep --repeats 3 --warmup 0 --out {out}"))
    };
    run(8, "a");
    run(9, "b");
    let text = place.ok("compare a b").stdout;
    assert!(text.contains("search (lockstep)") && text.contains("k: 8 against 9"), "{text}");
    let same = json(&place.ok("compare a a/timings.csv --json").stdout);
    let search = same["phases"].as_array().unwrap().iter().find(|phase| phase["phase"] == "search").unwrap();
    assert_eq!((&search["ratio"], &search["a"]["repeats"]), (&1.0.into(), &3.into()));
    assert!(place.fails(1, "compare a none").ends_with(": none"));
    let about = place.ok("info a").stdout;
    for part in [
        "Warpscope run folder, by version ",
        "uniform, 2,000 × 2,000, k = 8, lockstep",
        "counters",
        "2,000 points × 2 dimensions; x, y; fingerprint ",
    ] {
        assert!(about.contains(part), "`{part}` is missing from\n{about}");
    }
    let about = json(&place.ok("info a --json").stdout);
    assert_eq!(about["runs"][0]["run"], json(&fs::read_to_string(place.path("a/run.json")).unwrap()));
    fs::create_dir(place.path("other")).unwrap();
    let message = place.fails(1, "info other");
    assert_eq!(message, "cannot read: it is a folder, and no `run --out` wrote it, as there is no run.json in it; name a file: other");
    // What fails leaves no folder behind.
    place.fails(1, "run --input none.csv --out made/inner");
    assert!(!place.path("made").exists());
    place.write("other.csv", "x,y\n1,2\n");
    assert!(place.fails(1, "compare a other.csv").starts_with("not what a run writes: "));
}

#[test]
fn different_jobs_are_not_called_faster_and_folders_say_whether_they_agree() {
    let place = Place::new();
    let run = |args: &str, out: &str| {
        let usual = [("--generate", "uniform:n=2000,d=2"), ("--queries", "50"), ("--k", "8"), ("--engine", "lockstep")];
        let usual: Vec<String> = usual.iter().filter(|(flag, _)| !args.contains(flag)).map(|(flag, value)| format!("{flag} {value}")).collect();
        place.ok(&format!("run {} --warmup 0 --repeats 4 --out {out} --record {out}.warpscope {args}", usual.join(" ")))
    };
    run("", "a");
    run("--engine kdtree", "same");
    let text = place.ok("compare a same").stdout;
    assert!(text.contains("The same neighbours, to the bit (50 queries, 8 ranks each).") && !text.contains("job"), "{text}");
    // A folder and a recording, either way.
    assert!(place.ok("compare a same.warpscope").stdout.contains("The same neighbours, to the bit"));
    assert!(place.ok("compare same.warpscope a").stdout.contains("The same neighbours, to the bit"));
    let refused = |b: &str, args: &str, names: &str, neighbors: &str| {
        run(args, b);
        for end in ["", ".warpscope"] {
            let text = place.ok(&format!("compare a{end} {b}{end}")).stdout;
            assert!(text.contains(&format!("These are different jobs ({names}), so neither is called faster.")), "{text}");
            assert!(!text.contains("  faster") && !text.contains("  slower") && text.contains("another job"), "{text}");
            assert!(text.contains(neighbors), "{text}");
        }
    };
    refused("k", "--k 9", "k", "The same neighbours, to the bit (50 queries, 8 ranks each).");
    refused("q", "--queries 40", "q", "");
    // A folder does not say which rows were asked for, a recording does.
    assert!(place.ok("compare a q").stdout.contains("Neighbours are not compared: they were asked for different queries."));
    let common = place.ok("compare a.warpscope q.warpscope").stdout;
    assert!(common.contains("no query was asked in both") || common.contains("The same neighbours, to the bit"), "{common}");
    refused("n", "--generate uniform:n=1000,d=3", "cloud, n, d", "Neighbours are not compared: they searched different clouds.");
    refused("metric", "--metric angular", "metric", "Neighbours are not compared: they measured distance differently.");
    // A neighbour that is another is found.
    let mut found = fs::read(place.path("same/neighbors.npz")).unwrap();
    let data = found.windows(6).position(|window| window == b"\x93NUMPY").unwrap() + 128;
    let old = i64::from_le_bytes(found[data..data + 8].try_into().unwrap());
    let crc = |bytes: &[u8]| {
        let mut sum = flate2::Crc::new();
        sum.update(bytes);
        sum.sum().to_le_bytes()
    };
    let member = data - 128..data + 50 * 8 * 8;
    let before = crc(&found[member.clone()]);
    found[data..data + 8].copy_from_slice(&((old + 1) % 2000).to_le_bytes());
    let after = crc(&found[member]);
    while let Some(at) = found.windows(4).position(|window| window == before) {
        found[at..at + 4].copy_from_slice(&after);
    }
    fs::write(place.path("same/neighbors.npz"), &found).unwrap();
    let text = place.ok("compare a same").stdout;
    assert!(text.contains("1 of 50 queries, 8 ranks each: other neighbours, all at equal distances."), "{text}");
    fs::remove_file(place.path("same/neighbors.npz")).unwrap();
    let text = place.ok("compare a same").stdout;
    assert!(text.contains("Neighbours are not compared: there is no neighbors.npz in same."), "{text}");
    let text = place.ok("compare a a/timings.csv").stdout;
    assert!(text.contains("Whether they are the same job is not known"), "{text}");
}

#[test]
fn a_lesson_is_written_without_a_window() {
    let place = Place::new();
    let done = place.ok("lesson --lesson 3 --k 64 --out three");
    assert!(done.stdout.contains("recorded on  the lockstep twin"), "{}", done.stdout);
    assert!(done.stdout.contains("Merging two sorted lists") && done.stdout.contains("handout.html"), "{}", done.stdout);
    assert_eq!(done.stderr, "");
    let steps = fs::read_to_string(place.path("three/steps.jsonl")).unwrap();
    let lines: Vec<Value> = steps.lines().map(json).collect();
    let head = &lines[0];
    assert_eq!(
        (&head["schema"], &head["k"], &head["width"], &head["registers"], &head["capacity"]),
        (&json("1"), &json("64"), &json("8"), &json("8"), &json("64"))
    );
    assert!(lines[1..].iter().zip(1..).all(|(line, position)| line["position"] == position && line["sentence"].is_string()));
    assert_eq!(lines.last().unwrap()["step"], "finished");
    let minimum = lines.iter().find(|line| line["step"] == "minimum").unwrap();
    assert!(minimum["taken"].is_array() && minimum["level"] == "stage");
    let handout = fs::read_to_string(place.path("three/handout.html")).unwrap();
    assert!(handout.contains("<h1>Lesson 3: Merging two sorted lists</h1>") && handout.contains("63 \u{2212} i"), "{handout}");
    // The same again, to the byte.
    place.ok("lesson --lesson 3 --k 64 --out again");
    assert_eq!(fs::read_to_string(place.path("again/steps.jsonl")).unwrap(), steps);
    place.ok("lesson --lesson 6 --k 8 --width 4 --out six");
    let mut files: Vec<String> = fs::read_dir(place.path("six")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["handout.html", "steps-farthest-first.jsonl", "steps-nearest-first.jsonl", "steps-shuffled.jsonl"]);
}

/// The neighbours of a lesson about one's own data are those of a run.
#[test]
fn ones_own_data_are_a_lesson() {
    let place = Place::new();
    place.ok("generate uniform:n=500,d=3 cloud.csv --seed 5");
    place.ok("lesson --input cloud.csv --query 123 --k 10 --order shuffled --out own");
    place.ok("run --input cloud.csv --queries rows:123 --k 10 --order shuffled --engine lockstep --repeats 1 --warmup 0 --out run");
    let steps = fs::read_to_string(place.path("own/steps.jsonl")).unwrap();
    let lines: Vec<Value> = steps.lines().map(json).collect();
    assert_eq!((&lines[0]["query_row"], &lines[0]["n"]), (&json("123"), &json("500")));
    let merges: Vec<&Value> = lines.iter().filter(|line| line["step"] == "max_distance").collect();
    let (_, convergence) = table(&place.path("run/convergence.csv"));
    assert_eq!(merges.len(), convergence.len());
    for (merge, row) in merges.iter().zip(&convergence) {
        assert_eq!(merge["points_seen"].to_string(), row[2]);
        assert_eq!(merge["max_distance"].as_f64().unwrap() as f32, row[3].parse::<f32>().unwrap());
    }
    assert!(fs::read_to_string(place.path("own/handout.html")).unwrap().contains("<h1>Lesson 7"));

    let cases = [
        ("lesson --lesson 9 --out x", "lesson 9: there are lessons 1 to 7"),
        ("lesson --lesson 1 --k 257 --out x", "k = 257: a warp of 8 lanes holds up to 256 neighbours, 32 a lane"),
        ("lesson --k 0 --out x", "k = 0: a query asks for one neighbour or more"),
        ("lesson --width 5 --out x", "width = 5: a warp of a lesson has 4, 8, 16 or 32 lanes"),
        ("lesson --lesson 1 --engine cuda --out x", "width = 8: a GPU's warp has 32 lanes (--width 32)"),
        ("lesson --engine cuda --width 16 --out x", "width = 16: a GPU's warp has 32 lanes (--width 32)"),
        ("lesson --lesson 2 --input cloud.csv --out x", "--input, --generate: lesson 2 has data of its own; use --lesson 7"),
        ("lesson --query 3 --out x", "--query, --metric, --order: they say how a cloud is searched; name it with --input or --generate"),
    ];
    for (args, message) in cases {
        assert_eq!(place.fails(2, args), message);
    }
    let message = place.fails(1, "lesson --input cloud.csv --query 500 --out x");
    assert_eq!(message, "--query 500: the cloud has no such row, or it was dropped; its rows go from 0 to 499");
    fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/steps.jsonl", "[0,1]\n[2,3]\n[4,5]\n");
    let message = place.fails(2, "lesson --input mine/steps.jsonl --k 2 --out mine");
    assert!(message.starts_with("cannot write: the cloud that is searched would be lost"), "{message}");
}

/// Pictures of a lesson, with and without names of their own.
#[test]
fn a_lesson_is_drawn_without_a_window() {
    let place = Place::new();
    let done = place.ok("lesson --lesson 3 --out all --png --svg --gif --frames --pace 0.4 --size 960x540");
    assert_eq!(done.stderr, "");
    let mut files: Vec<String> = fs::read_dir(place.path("all")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["frames", "handout.html", "lesson.gif", "lesson.png", "lesson.svg", "steps.jsonl"]);
    // The minimum, four layers and the new bound, and what was before.
    let frames = fs::read_dir(place.path("all/frames")).unwrap().count();
    assert_eq!(frames, 7);
    assert!(done.stdout.contains("frame-0001.png to frame-0007.png"), "{}", done.stdout);
    assert_eq!(image::image_dimensions(place.path("all/lesson.png")).unwrap(), (960, 540));
    // The last frame is the picture of where the lesson's part ends.
    assert_eq!(fs::read(place.path("all/frames/frame-0007.png")).unwrap(), fs::read(place.path("all/lesson.png")).unwrap());
    assert!(fs::read_to_string(place.path("all/lesson.svg")).unwrap().starts_with("<svg xmlns="));
    let gif = fs::read(place.path("all/lesson.gif")).unwrap();
    assert!(gif.starts_with(b"GIF89a") && gif.len() < 3_000_000);

    place.ok("lesson --lesson 1 --png early.png --at 12 --scale 2 --look dark");
    place.ok("lesson --lesson 1 --png late.png --at 13 --scale 2 --look dark");
    let (early, late) = (image::open(place.path("early.png")).unwrap(), image::open(place.path("late.png")).unwrap());
    assert_eq!((early.width(), early.height()), (2560, 1440));
    assert_ne!(early, late);
    place.ok("lesson --lesson 1 --png light.png --at 13 --scale 2");
    assert_ne!(late, image::open(place.path("light.png")).unwrap());
    assert!(!place.path("steps.jsonl").exists(), "only what was asked for");

    place.ok("lesson --lesson 1 --png large.png --at 13 --text 24");
    place.ok("lesson --lesson 1 --png usual.png --at 13");
    assert_ne!(image::open(place.path("large.png")).unwrap(), image::open(place.path("usual.png")).unwrap());

    let done = place.ok("lesson --lesson 6 --k 8 --width 4 --gif six.gif --take shuffled --level lane --most 5 --size 960x540");
    assert!(done.stderr.starts_with("note: pictures show 5 of ") && done.stderr.contains("at level lane; --most "), "{}", done.stderr);
}

#[test]
fn a_picture_that_makes_no_sense_is_refused_before_the_work() {
    let place = Place::new();
    let steps = {
        place.ok("lesson --lesson 1 --out one");
        fs::read_to_string(place.path("one/steps.jsonl")).unwrap().lines().count() - 1
    };
    let past = format!("lesson --lesson 1 --png a.png --at {}", steps + 1);
    let past_all = format!("step {}: the search has {steps} steps", steps + 1);
    for (args, message) in [
        (past.as_str(), past_all.as_str()),
        (&format!("lesson --lesson 1 --out b/c --png --at {}", steps + 1), &past_all),
        ("lesson --lesson 1 --png no/a.png", "cannot write: No such file or directory (os error 2): no/a.png"),
    ] {
        assert_eq!(place.fails(1, args), message, "{args}");
    }
    let cases = [
        (
            "lesson --frames b --png b/frame-0001.png",
            "cannot write: two of the files would be one; give each a name of its own: b/frame-0001.png".to_owned(),
        ),
        ("lesson --lesson 1 --gif a.gif --from 9 --to 4", "from step 9 to step 4: the first comes after the last".to_owned()),
        ("lesson --lesson 1 --frames film --most 0", "most = 0: at least 1 picture is needed".to_owned()),
        ("lesson --lesson 1 --gif a.gif --every 0", "every = 0: at least 1 picture is needed".to_owned()),
        ("lesson --lesson 1 --gif a.gif --pace 0", "--pace 0: a picture stays 0.02 to 100 seconds".to_owned()),
        ("lesson --lesson 1 --png a.png --scale 99", "126720 \u{d7} 71280 pixels: a picture has 1 to 16384 on each side".to_owned()),
        ("lesson --lesson 1 --png a.png --take sorted", "--take sorted: this lesson has as-drawn".to_owned()),
        ("lesson --lesson 1 --gif", "--gif: it needs a name, or --out DIR, where it is called lesson.gif".to_owned()),
        ("lesson --lesson 1 --k 9999 --png a.png", "k = 9999: a warp of 8 lanes holds up to 256 neighbours, 32 a lane".to_owned()),
    ];
    for (args, message) in cases {
        assert_eq!(place.fails(2, args), message, "{args}");
    }
    for (args, message) in [
        ("lesson --lesson 1", "--out"),
        ("lesson --lesson 1 --png a.png --size 320x200", "a picture has no room below 960x540"),
        ("lesson --lesson 1 --png a.png --size large", "a size is width x height, such as 1280x720"),
        ("lesson --lesson 1 --png a.png --text 99", "99 is not in 8..=48"),
        ("lesson --lesson 1 --gif a.gif --at 3", "--png"),
        ("lesson --lesson 1 --gif a.gif --level bit", "search, merge, stage, layer, lane"),
    ] {
        let told = place.fails(2, args);
        assert!(told.contains(message), "{args}: {told}");
    }
    place.write("file", "");
    assert!(place.fails(1, "lesson --lesson 1 --out file").starts_with("cannot write: "));
    let left: Vec<_> = fs::read_dir(place.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("a."))
        .collect();
    assert_eq!(left, [""; 0]);
    assert!(!place.path("b").exists() && !place.path("film").exists(), "folders of what was refused");
}

#[test]
fn a_job_that_fails_says_why_on_one_line_and_exits_with_1() {
    let place = Place::new();
    place.write("points.csv", POINTS);
    place.write("plane.csv", "x,y\n1,2\n");
    place.write("rows.txt", "1\ntwo\n");
    place.write("empty.txt", "# none\n");
    let generated = "run --generate uniform:n=50 --engine lockstep";
    let cases = [
        (format!("{generated} --queries 51"), "51 queries: the cloud has 50 rows to draw them from; `all` takes every row"),
        (format!("{generated} --queries rows:3,50"), "query row 50: the cloud's rows go from 0 to 49"),
        (format!("{generated} --queries rows:@rows.txt"), "line 2: `two` is not a row number: rows.txt"),
        (format!("{generated} --queries rows:@none.txt"), "cannot read: No such file or directory (os error 2): none.txt"),
        (format!("{generated} --queries none.csv"), "cannot read: No such file or directory (os error 2): none.csv"),
        (format!("{generated} --queries rows:@empty.txt"), "not a list of rows: there is none in it: empty.txt"),
        (format!("{generated} --queries at:1,2,3"), "place 1,2,3: it has 3 coordinates, and the data has 2: x, y"),
        (format!("{generated} --neighbors no/such/folder/n.csv"), "cannot write: No such file or directory (os error 2): no/such/folder/n.csv"),
        ("run --input none.csv".to_owned(), "cannot read: No such file or directory (os error 2): none.csv"),
        (
            "run --input points.csv --columns x,y --engine lockstep --drop-nonfinite --queries rows:2".to_owned(),
            "query row 2: it was dropped, as it has NaN or infinite values",
        ),
        ("no-such-thing".to_owned(), "cannot open: there is no such file, nor such a subcommand (see --help): no-such-thing"),
    ];
    for (args, expected) in cases {
        assert_eq!(place.fails(1, &args), expected, "{args}");
    }
    let refused = place.fails(1, "run --input points.csv --columns x,y");
    assert!(refused.contains("row 2, column y") && refused.contains("--drop-nonfinite") && refused.ends_with("points.csv"), "{refused}");
    assert!(!place.path("n.csv").exists());
}

#[test]
fn a_recording_is_described_compared_and_needs_no_input() {
    let place = Place::new();
    place.write("points.csv", POINTS);
    let run = "run --input points.csv --columns x,y --drop-nonfinite --queries all --k 3 --warmup 0 --repeats 4";
    let done = place.ok(&format!("{run} --engine lockstep --profile --record one.warpscope --json"));
    let record = json(&done.stdout);
    place.ok(&format!("{run} --engine kdtree --record other.warpscope"));
    fs::remove_file(place.path("points.csv")).unwrap();

    let report = json(&place.ok("info one.warpscope --json").stdout);
    assert_eq!(report["runs"][0]["run"], record, "run.json is in it as it was printed");
    assert_eq!((&report["clouds"][0]["rows"], &report["clouds"][0]["dropped"], &report["runs"][0]["counted"]), (&5.into(), &1.into(), &true.into()));
    let text = place.ok("info one.warpscope").stdout;
    for part in ["Warpscope recording, of 1 run", "points.csv, 5 × 5, k = 3, lockstep", "counters", "5 points × 2 dimensions, 1 row left out"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }

    let compared = place.ok("compare one.warpscope other.warpscope").stdout;
    assert!(compared.contains("search (lockstep against kdtree)") && compared.contains("engine: lockstep against kdtree"), "{compared}");
    assert!(compared.contains("The same neighbours, to the bit (5 queries, 3 ranks each)."), "{compared}");
    let compared = json(&place.ok("compare one.warpscope one.warpscope#1 --json").stdout);
    assert_eq!((&compared["differences"], &compared["answers"]["other_rows"]), (&Value::Array(vec![]), &0.into()));
    assert_eq!(compared["phases"][0]["delta_ms"], 0.0);
    let search = compared["phases"].as_array().unwrap().iter().find(|phase| phase["phase"] == "search").unwrap();
    assert_eq!(search["a"]["median"], record["summary"]["search_ms_median"]);
}

#[test]
fn a_sweep_is_recorded_with_all_its_runs() {
    let place = Place::new();
    let sweep = "sweep --generate uniform --n 100,200 --d 2 --q 5 --k 4,300 --engine lockstep,kdtree --warmup 0 --repeats 3";
    let done = place.ok(&format!("{sweep} --record all.warpscope --no-points"));
    assert_eq!(done.stdout.lines().count(), 9);
    let report = json(&place.ok("info all.warpscope --json").stdout);
    assert_eq!((report["runs"].as_array().unwrap().len(), report["clouds"].as_array().unwrap().len()), (8, 2));
    assert_eq!(report["points"], false);
    assert!(place.ok("info all.warpscope").stdout.contains("without points"));
    assert_eq!(report["runs"][7]["name"], "uniform, 5 × 200, k = 300, kdtree");
    assert_eq!(json(&place.ok("info all.warpscope#8 --json").stdout)["runs"].as_array().unwrap().len(), 1);

    let name = "all.warpscope#uniform, 5 × 100, k = 4, kdtree";
    let output = place.command("compare all.warpscope#1").arg(name).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("lockstep against kdtree") && text.contains("The same neighbours"), "{text}");
    let text = place.ok("compare all.warpscope#1 all.warpscope#5").stdout;
    assert!(text.contains("Neighbours are not compared: they searched different clouds."), "{text}");
    let refused = place.fails(1, "compare all.warpscope all.warpscope#1");
    assert!(refused.starts_with("several runs: say which with all.warpscope#NUMBER: #1 uniform, 5 × 100, k = 4, lockstep; #2 "), "{refused}");
    assert!(place.fails(1, "compare all.warpscope#9 all.warpscope#1").starts_with("no run `9`: there are #1 "));
}

#[test]
fn what_cannot_be_recorded_or_opened_is_said_before_the_search() {
    let place = Place::new();
    place.write("no.warpscope", "x,y\n");
    let generated = "run --generate uniform:n=50 --engine lockstep --queries all --repeats 1 --warmup 0";
    assert!(place.fails(2, &format!("{generated} --record out.zip")).contains("a recording's name ends in .warpscope"));
    assert!(place.fails(2, &format!("{generated} --no-points")).contains("--record"));
    let folder = place.fails(1, &format!("{generated} --record no/out.warpscope"));
    assert_eq!(folder, "cannot write: No such file or directory (os error 2): no/out.warpscope");
    assert_eq!(place.fails(1, "info no.warpscope"), "not a recording: it is no zip archive: no.warpscope");
    assert_eq!(place.fails(1, "info gone.warpscope"), "cannot read: No such file or directory (os error 2): gone.warpscope");
    assert!(place.fails(1, "gui gone.warpscope#1 --png a.png").starts_with("cannot open: there is no such file"));
}

#[test]
fn wrong_usage_is_one_line_and_exits_with_2() {
    let place = Place::new();
    let cases = [
        ("run", "--generate <SPEC>"),
        ("run --input a --generate b", "cannot be used with"),
        ("run --generate uniform --foo", "'--foo'"),
        ("run --generate uniform --k many", "'many' for '--k <NUMBER>'"),
        ("run --generate uniform --k -3", "'-3' for '--k <NUMBER>'"),
        ("run --generate uniform --engine gpu", "there is no engine `gpu`; there are auto, "),
        ("run --generate uniform --engine kdtree --device 0", "--device 0: the kdtree engine runs on the CPU"),
        ("run --generate uniform --device gpu", "`gpu` is no device"),
        ("run --generate uniform --metric cosine", "[possible values: l2, angular]"),
        ("run --generate uniform --repeats 0", "'0' for '--repeats <NUMBER>'"),
        ("run --generate uniform --queries rows:9-3", "runs backwards"),
        ("run --generate uniform --queries rows:0-99999999999", "`all` takes every row"),
        ("run --generate uniform --neighbors found.txt", ".csv, .tsv, .parquet, .npz, .ivecs or .ibin"),
        ("gui --png window.jpg", "it is written as .png"),
        ("gui --frames 2 --png window", "it is written as .png"),
        ("lesson --lesson 1 --png moment.jpg", "it is written as .png"),
        ("lesson --lesson 1 --svg moment.png", "it is written as .svg"),
        ("lesson --lesson 1 --gif moment.mp4", "it is written as .gif"),
        ("run --generate uniform --columns 0,1", "cannot be used with"),
        ("sweep --generate uniform --n 10,many", "'many' for '--n <LIST>'"),
        ("sweep --input points.csv --n 10", "cannot be used with"),
        ("sweep --generate uniform --engine cuda,gpu", "there is no engine `gpu`"),
        ("compare a", "<B>"),
        ("verify --generate uniform --engine cuda,gpu", "there is no engine `gpu`"),
        ("verify", "--input <FILE>"),
        ("run --generate uniform --out found.csv", "it is a folder, and .csv is how a file's name ends; --neighbors writes that file"),
        ("run --generate uniform --out run.warpscope", "--record writes that file"),
        ("lesson --lesson 1 --out a.png", "--png writes that file"),
    ];
    for (args, expected) in cases {
        let error = place.fails(2, args);
        assert!(error.contains(expected), "{args}: {error}");
    }
    // What clap takes. There is no such file: that is not reached.
    let k = "k = 0: neighbours per query go from 1 to 1024";
    let cases = [
        ("run --input none.csv --k 0", k),
        ("verify --input none.csv --k 0", k),
        ("sweep --input none.csv --k 5,0", k),
        ("run --input none.csv --k 5000", "k = 5000: neighbours per query go from 1 to 1024"),
        ("run --input none.csv --k 1024 --exclude-self", "k = 1024: neighbours per query go from 1 to 1023 when the query's own row is left out"),
        ("run --input none.csv --queries 0", "q = 0: there are no queries"),
        ("sweep --input none.csv --q 5,0", "q = 0: there are no queries"),
        ("run --input none.csv --queries at:1,2 --exclude-self", "--exclude-self: the query is a place, and so no row of the cloud"),
        ("verify --input none.csv --queries q.csv --exclude-self", "--exclude-self: the queries come from a file, and so are no rows of the cloud"),
        ("run --generate uniform:d=0", "generator `uniform:d=0`: d=0 is outside 1 to 1048576"),
        (
            "run --generate uniform:n=1e9,d=1e6",
            "generator `uniform:n=1e9,d=1e6`: 1000000000 points × 1000000 dimensions are more than 2147483648 coordinates",
        ),
        ("sweep --generate spiral --d 2,3", "generator `spiral:d=2`: spiral has no parameter `d`; it has n, turns, noise"),
        ("generate uniform:n=x a.csv", "generator `uniform:n=x`: n=x is not a whole number"),
        ("generate uniform a.foo", "cannot write .foo: clouds are written as .csv, .npy, .fvecs or .fbin: a.foo"),
        ("lesson --generate uniform:n=0 --out a", "generator `uniform:n=0`: n=0 is outside 1 to 2147483648"),
        ("gui --frames 2 --generate uniform:n=0", "generator `uniform:n=0`: n=0 is outside 1 to 2147483648"),
        ("gui --lesson 9 --png a.png", "lesson 9: there are lessons 1 to 7"),
    ];
    for (args, expected) in cases {
        // Nothing is said of queries that nobody will ask.
        let done = place.call(args);
        assert_eq!((done.code, done.stderr), (2, format!("error: {expected}\n")), "{args}");
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0, "nothing was written");
}

#[test]
fn help_and_version_are_results() {
    let place = Place::new();
    for args in ["--help", "run --help", "sweep -h", "help verify"] {
        let done = place.ok(args);
        assert!(done.stdout.contains("Usage: warpscope") && done.stderr.is_empty(), "{args}: {}", done.stderr);
    }
    assert_eq!(place.ok("--version").stdout, format!("warpscope {}\n", env!("CARGO_PKG_VERSION")));
}

#[cfg(not(feature = "gui"))]
#[test]
fn a_build_without_the_window_says_how_to_get_it() {
    let place = Place::new();
    place.write("points.csv", POINTS);
    for args in ["", "gui", "points.csv", "gui points.csv"] {
        let error = place.fails(1, args);
        assert!(error.starts_with("the window cannot open: this build is without it") && error.contains("cargo build"), "{error}");
    }
}

#[test]
fn a_reader_that_stops_is_no_error() {
    let place = Place::new();
    let args = "sweep --generate uniform --n 100 --q 5 --k 1,2,3,4,5,6,7,8 --engine lockstep --repeats 1 --warmup 0";
    let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(first.starts_with("data,engine,n,"), "{first}");
    drop(stdout);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
    // Closed before anything was written.
    for args in ["--help", "devices", "run --generate uniform:n=50 --queries all --engine lockstep", "verify --generate uniform:n=50 --queries all"] {
        let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{args}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = place.command("devices").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: cannot write: No space left on device (os error 28): stdout\n");
}

#[test]
fn a_benchmark_in_hdf5_is_searched_and_its_answers_checked() {
    let place = Place::new();
    let packed = include_bytes!("../src/cloud/formats/tests/hdf5/latest.hdf5.gz");
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut content).unwrap();
    fs::write(place.path("b.hdf5"), content).unwrap();

    let info = place.ok("info b.hdf5").stdout;
    assert!(info.contains("data set `train`: 6 × 2 f32") && info.contains("deep/packed") && info.contains("not read"), "{info}");
    let search = "verify --input b.hdf5 --queries b.hdf5:test --k 3 --engine lockstep --reference b.hdf5";
    let done = place.ok(search).stdout;
    assert!(done.contains("reference answers agree with the oracle: 2 queries, 0 other indices at a tie: b.hdf5:neighbors"), "{done}");
    assert_eq!(json(&place.ok(&format!("{search} --json")).stdout)["reference"]["queries"], 2);
    let metric = place.fails(1, &format!("{search} --metric angular --drop-nonfinite"));
    assert!(metric.starts_with("--reference: its answers are by the distance `euclidean`, and the search is by angular"), "{metric}");
    let wide = place.fails(1, &search.replace("--k 3", "--k 4"));
    assert!(wide.starts_with("the answers are 3 neighbours to a query, and k is 4"), "{wide}");
    place.write("wrong.csv", "0,1,2\n5,4,0\n");
    let wrong = place.call(&search.replace("--reference b.hdf5", "--reference wrong.csv"));
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("wrong reference answers: query 1, rank 2: row 0 is named, at squared distance"), "{}", wrong.stderr);

    assert!(wrong.stdout.contains("reference answers WRONG: 1 of 2 queries; in the others, "), "{}", wrong.stdout);

    place.ok("run --input b.hdf5 --queries b.hdf5:test --k 3 --engine lockstep --repeats 1 --neighbors found.parquet");
    let found = place.ok("info found.parquet --json").stdout;
    assert_eq!((&json(&found)["rows"], &json(&found)["columns"][2]["name"]), (&6.into(), &"index".into()));
    let over = place.fails(2, "run --input found.parquet --repeats 1 --engine lockstep --neighbors found.parquet");
    assert!(over.contains("would be lost"), "{over}");
}

#[test]
fn neighbours_that_were_written_are_checked_for_every_kind_of_query() {
    let place = Place::new();
    place.write("points.csv", "x,y\n0,0\n3,4\nnan,1\n0,1\n6,8\n0,0\n9,9\n2,5\n");
    place.write("asked.csv", "x,y\n8,6\n1,1\n0,4\n");
    let problem = "--input points.csv --drop-nonfinite --k 4 --engine lockstep --seed 3";
    for queries in ["all", "4", "rows:7,0,4", "at:5,5", "asked.csv"] {
        for own in ["", " --exclude-self"] {
            if !own.is_empty() && (queries.starts_with("at") || queries.ends_with("csv")) {
                continue;
            }
            for ending in ["csv", "tsv", "parquet", "npz", "ivecs", "ibin"] {
                place.ok(&format!("run {problem}{own} --queries {queries} --repeats 1 --warmup 0 --neighbors found.{ending}"));
                let done = place.ok(&format!("verify {problem}{own} --queries {queries} --reference found.{ending}"));
                assert!(done.stdout.contains("reference answers agree with the oracle: "), "{queries}{own} {ending}: {}", done.stdout);
            }
        }
    }
    // What else holds them: the folder of a run, and its recording, which counts rows otherwise.
    let some = "--queries rows:7,0,4";
    place.ok(&format!("run {problem} {some} --repeats 1 --warmup 0 --out folder --record run.warpscope"));
    for reference in ["folder", "run.warpscope", "run.warpscope#1"] {
        let done = place.ok(&format!("verify {problem} {some} --reference {reference}"));
        assert!(done.stdout.contains("reference answers agree with the oracle: 3 queries, "), "{}", done.stdout);
    }
    let all = "--queries all --repeats 1 --warmup 0";
    place.ok(&format!("run {problem} {all} --neighbors all.csv"));
    let few = place.fails(1, &format!("verify {problem} --queries rows:7,0,4 --reference all.csv"));
    assert_eq!(
        few,
        "the answers are to 7 queries, and so to others than the 3 queries that are asked or the 8 rows that these were taken from; ask as they were asked, with --queries and --seed: all.csv"
    );
    // As many, and to others.
    place.ok("run --generate uniform:n=50 --queries 20 --k 3 --engine lockstep --repeats 1 --warmup 0 --neighbors drawn.csv");
    let others = place.call("verify --generate uniform:n=50 --queries 20 --seed 4 --k 3 --engine lockstep --reference drawn.csv");
    assert_eq!((others.code, others.stderr.lines().count()), (1, 1));
    assert!(others.stderr.starts_with("error: wrong reference answers: ") && others.stderr.ends_with("): drawn.csv\n"), "{}", others.stderr);
    let why = "of 20 queries, so that they seem to be answers to other queries than rows drawn with seed 4, or of another cloud or metric; ask as";
    assert!(others.stderr.contains(why) && !others.stderr.contains("e0"), "{}", others.stderr);
    let text = fs::read_to_string(place.path("all.csv")).unwrap();
    place.write("wrong.csv", &text.replacen("\n1,1,", "\n1,1,6", 1).replacen("\n4,0,", "\n4,0,6", 1));
    let wrong = place.call(&format!("verify {problem} --queries all --reference wrong.csv"));
    assert_eq!(wrong.code, 1);
    assert!(wrong.stdout.contains("reference answers WRONG: 2 of 7 queries; "), "{}", wrong.stdout);
    assert!(wrong.stderr.contains("wrong reference answers: query 1, rank 1: row 6"), "{}", wrong.stderr);
    let report = json(&place.call(&format!("verify {problem} --queries all --reference wrong.csv --json")).stdout);
    assert_eq!((&report["reference"]["queries"], &report["reference"]["wrong"], &report["agreed"]), (&7.into(), &2.into(), &false.into()));
}

#[test]
fn a_dry_run_predicts_and_searches_nothing() {
    let place = Place::new();
    let table = place.ok("run --generate uniform:n=5000 --k 8 --dry-run").stdout;
    for engine in ["cuda ", "cuda-split ", "lockstep ", "kdtree "] {
        assert!(table.lines().any(|line| line.starts_with(engine)), "{table}");
    }
    assert_eq!(table.matches("taken: it").count(), 1, "{table}");
    let plan = json(&place.ok("run --generate uniform:n=5000,d=200 --device cpu --dry-run --json").stdout);
    assert_eq!((&plan["chosen"], &plan["shape"]["d"]), (&"lockstep".into(), &200.into()), "{plan}");
    let tree = plan["engines"].as_array().unwrap().iter().find(|engine| engine["engine"] == "kdtree").unwrap();
    assert_eq!(tree["why_not"], "the kdtree engine takes d up to 128, not 200");
    let named = json(&place.ok("run --generate uniform:n=500 --engine kdtree --dry-run --json").stdout);
    assert_eq!((&named["chosen"], &named["reason"]), (&"kdtree".into(), &"it was asked for".into()));
    place.fails(2, "run --generate uniform:n=500 --dry-run --neighbors a.csv");
    // A run has the sentence in its summary, and what was predicted in its file.
    let summary = place.ok("run --generate uniform:n=500 --engine lockstep --repeats 1 --warmup 0 --out o").stdout;
    assert!(summary.lines().any(|line| line.starts_with("plan ") && line.contains("about ") && line.contains(" on lockstep")), "{summary}");
    assert!(json(&fs::read_to_string(place.path("o/run.json")).unwrap())["predicted_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_damaged_recording_is_one_sentence_wherever_it_is_read() {
    let place = Place::new();
    place.ok("run --generate uniform:n=500,d=3 --queries all --k 3 --warmup 0 --repeats 4 --engine lockstep --record one.warpscope");
    let whole = fs::read(place.path("one.warpscope")).unwrap();
    // In the points, which neither of the two looks at.
    let mut flipped = whole.clone();
    let name = b"clouds/0/points.npy";
    let points = flipped.windows(name.len()).position(|window| window == name).unwrap();
    flipped[points + 1000] ^= 1;
    fs::write(place.path("flipped.warpscope"), flipped).unwrap();
    fs::write(place.path("cut.warpscope"), &whole[..whole.len() - 300]).unwrap();
    for (file, what) in [("flipped.warpscope", "damaged: clouds/0/points.npy: "), ("cut.warpscope", "damaged: zip archive: ")] {
        for call in [format!("info {file}"), format!("compare one.warpscope {file}"), format!("compare {file} one.warpscope")] {
            let error = place.fails(1, &call);
            assert!(error.starts_with(what) && error.ends_with(file), "{call}: {error}");
        }
    }
}

#[test]
fn a_place_without_a_direction_is_said_to_be_one() {
    let place = Place::new();
    for drop in ["", " --drop-nonfinite"] {
        let error = place.fails(2, &format!("run --generate uniform:n=50,d=2 --metric angular --queries at:0,0 --engine lockstep{drop}"));
        assert_eq!(error, "place 0,0: it is the origin and has no direction; ask for another place, or use the l2 metric");
    }
}

#[cfg(feature = "gui")]
#[test]
fn a_window_without_anybody_does_not_wait_for_an_answer() {
    let place = Place::new();
    place.write("two.json", r#"{"first": [[0,1],[2,3],[4,6]], "second": [[5,5],[6,7]]}"#);
    for args in ["gui two.json --png a.png", "gui two.json --frames 2", "gui two.json --frames 2 --png a.png"] {
        let error = place.fails(1, args);
        // Where nothing can be drawn at all, that is what is said.
        let expected = "several clouds: say which with FILE:NAME; there are `first` (3 × 2), `second` (2 × 2): ";
        assert!(error.starts_with(expected) && error.ends_with("two.json") || error.starts_with("no graphics adapter"), "{args}: {error}");
        assert!(!place.path("a.png").exists());
    }
}
