//! Tests the command line end to end with the built program.

mod analyse;
mod columns;
mod compare;
mod conveniences;
mod errors;
mod globe;
mod joined_columns;
mod knn;
mod lesson;
mod metrics;
mod presets;
mod ranks;
mod recall;
mod recording;
mod tiles;
mod unusual_names;
mod verify;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The result of a call.
struct CliOutput {
    code: i32,
    stdout: String,
    /// Without the line in [`Self::searches`].
    stderr: String,
    /// The note on which columns are searched; empty if there is none.
    searches: String,
}

/// Separates the note on searched columns from the other lines.
fn without_choice(stderr: &str) -> (String, String) {
    stderr.split_inclusive('\n').partition(|line| line.starts_with("note: searches "))
}

/// A folder to work in, in which the program runs.
struct TestDir(tempfile::TempDir);

impl TestDir {
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
        // There is no display, as on a server; otherwise graphics libraries print messages.
        command.env_remove("XDG_RUNTIME_DIR").env_remove("WAYLAND_DISPLAY");
        // The configuration of the user who runs the tests is ignored.
        command.env("WARPSCOPE_CONFIG", "").env("XDG_CONFIG_HOME", self.path("no config"));
        command
    }

    fn call(&self, args: &str) -> CliOutput {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (searches, stderr) = without_choice(&text(output.stderr));
        CliOutput {
            code: output.status.code().expect("it was not killed"),
            stdout: text(output.stdout),
            stderr,
            searches,
        }
    }

    /// Runs a call that must succeed.
    fn ok(&self, args: &str) -> CliOutput {
        let done = self.call(args);
        assert_eq!(done.code, 0, "{args}: {}", done.stderr);
        done
    }

    /// Runs a call that must fail with `code`, and returns its one line on stderr.
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

#[test]
fn neighbours_are_reported_as_record_numbers() {
    let place = TestDir::new();
    place.write("points.csv", POINTS);
    let done = place.ok("run --input points.csv --columns x,y --drop-nonfinite --queries rows:0,4 --k 3 \
                         --engine lockstep --neighbors found.csv");
    assert_eq!(done.stderr, "", "unexpected output");
    for said in [
        "points.csv, 5 points in 2 dimensions",
        "x, y",
        "1 row with NaN or infinite values",
        "2 queries",
        "lockstep on ",
        "found.csv",
    ] {
        assert!(done.stdout.contains(said), "`{said}` is missing from\n{}", done.stdout);
    }
    assert_eq!(
        fs::read_to_string(place.path("found.csv")).unwrap(),
        "query,query_row,rank,index,squared_distance,distance\n0,0,0,0,0,0\n0,0,1,5,0,0\n0,0,2,3,1,1\n1,4,0,\
         4,0,0\n1,4,1,1,25,5\n1,4,2,3,85,9.219544457292887\n"
    );
    place.ok("run --input points.csv --columns 1,2 --drop-nonfinite --queries rows:0 --exclude-self --k 3 \
              --engine lockstep --neighbors own.csv");
    assert_eq!(
        fs::read_to_string(place.path("own.csv")).unwrap(),
        "query,query_row,rank,index,squared_distance,distance\n0,0,0,5,0,0\n0,0,1,3,1,1\n0,0,2,1,25,5\n"
    );
}

#[test]
fn a_generated_file_equals_the_generated_cloud() {
    let place = TestDir::new();
    let fingerprint = |cloud: &str| {
        let done =
            place.ok(&format!("run {cloud} --queries 5 --engine kdtree --warmup 0 --repeats 1 --json"));
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
    let place = TestDir::new();
    let found = |name: &str| {
        place.ok(&format!(
            "run --generate uniform:n=60,d=2 --queries all --k 5 --engine lockstep --neighbors {name}"
        ))
    };
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
    let place = TestDir::new();
    place.write("points.csv", POINTS);
    place.write("asked.csv", "y,label,x\n8,q,6\n");
    place.write("rows.txt", "4\n# not 1\n0\n");
    let found = |queries: &str| {
        place.ok(&format!(
            "run --input points.csv --columns x,y --drop-nonfinite --queries {queries} --k 1 --engine \
             lockstep --neighbors n.csv"
        ));
        table(&place.path("n.csv")).1.iter().map(|row| row[3].clone()).collect::<Vec<_>>()
    };
    assert_eq!(found("asked.csv"), ["4"], "columns are matched by name");
    assert_eq!(found("rows:@rows.txt"), ["4", "0"]);
    assert_eq!(found("all"), ["0", "1", "3", "4", "0"]);
    assert_eq!(found("3").len(), 3);
    assert_eq!(found("3"), found("3"));
}

#[test]
fn the_default_queries_are_noted() {
    let place = TestDir::new();
    let drawn = place.ok("run --generate uniform:n=1500 --engine lockstep --warmup 0 --repeats 1 --json");
    assert_eq!(
        drawn.stderr,
        "note: querying 1,000 of 1,500 rows, sampled with seed 0 (no --queries given)\n"
    );
    assert_eq!(json(&drawn.stdout)["summary"]["q"], 1000);
    let all = place.ok("run --generate uniform:n=15 --k 5 --engine lockstep --json");
    assert_eq!(all.stderr, "note: querying all 15 rows (no --queries given)\n");
    assert_eq!(json(&all.stdout)["summary"]["q"], 15);
}

#[test]
fn a_run_folder_is_complete_and_json_equals_run_json() {
    let place = TestDir::new();
    let args = "run --generate uniform:n=3000,d=3 --queries 200 --k 7 --engine lockstep --order shuffled \
                --seed 9 --warmup 1 --repeats 4";
    let done = place.ok(&format!("{args} --out a/b --neighbors a/b/found.npz --json"));
    let file = fs::read_to_string(place.path("a/b/run.json")).unwrap();
    assert_eq!(done.stdout, file);
    let run = json(&file);
    assert_eq!(
        (&run["spec"]["k"], &run["spec"]["seed"], &run["engine"]),
        (&7.into(), &9.into(), &"lockstep".into())
    );
    assert_eq!(run["schema_version"], 2);
    assert_eq!(run["spec"]["data"]["generate"]["spec"], "uniform:n=3000,d=3");
    let summary = &run["summary"];
    assert!(summary["search_ms_min"].as_f64() <= summary["search_ms_median"].as_f64());

    let mut names: Vec<_> = fs::read_dir(place.path("a/b"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "convergence.csv",
            "found.npz",
            "merges.csv",
            "neighbors.npz",
            "run.json",
            "timings.csv",
            "trace.json"
        ]
    );
    assert_eq!(
        fs::read(place.path("a/b/neighbors.npz")).unwrap(),
        fs::read(place.path("a/b/found.npz")).unwrap()
    );
    let (head, timings) = table(&place.path("a/b/timings.csv"));
    assert_eq!(head.join(","), "engine,phase,repeat,chunk,start_ms,duration_ms");
    let repeats: std::collections::BTreeSet<&str> =
        timings.iter().filter(|row| row[1] == "search").map(|row| row[2].as_str()).collect();
    assert_eq!(repeats.len(), 4);

    let (head, merges) = table(&place.path("a/b/merges.csv"));
    assert_eq!((head.join(",").as_str(), merges.len()), ("query,row,merges,candidates,groups_hit", 200));
    let (head, convergence) = table(&place.path("a/b/convergence.csv"));
    assert_eq!(head.join(","), "query,merge,points_seen,max_squared_distance");
    for (query, counted) in merges.iter().enumerate() {
        let history: Vec<&Vec<String>> =
            convergence.iter().filter(|row| row[0] == query.to_string()).collect();
        assert_eq!(history.len().to_string(), counted[2], "every merge is recorded");
        let distance = |row: &Vec<String>| row[3].parse::<f32>().unwrap();
        assert!(history.windows(2).all(|pair| distance(pair[0]) >= distance(pair[1])));
    }
    let mean = merges.iter().map(|row| row[2].parse::<f64>().unwrap()).sum::<f64>() / 200.0;
    assert!((summary["mean_merges"].as_f64().unwrap() - mean).abs() < 1e-9);
    assert!(mean <= summary["expected_merges"].as_f64().unwrap(), "{mean} exceeds the theoretical mean");
    assert!(
        json(&fs::read_to_string(place.path("a/b/trace.json")).unwrap())["traceEvents"]
            .as_array()
            .unwrap()
            .len()
            > 6
    );

    // The same command gives the same neighbours and replaces the files.
    let before = fs::read(place.path("a/b/found.npz")).unwrap();
    place.ok(&format!("{args} --out a/b --neighbors a/b/found.npz"));
    assert_eq!(fs::read(place.path("a/b/found.npz")).unwrap(), before);
}

#[test]
fn missing_neighbours_are_minus_one_at_infinity() {
    let place = TestDir::new();
    let done = place
        .ok("run --generate uniform:n=2 --queries all --k 4 --engine kdtree --neighbors found.csv --out out");
    assert_eq!(done.stderr, "note: k = 4 exceeds the 2 points: ranks from 2 on are empty\n");
    let own = place.ok("run --generate uniform:n=2 --k 2 --engine kdtree --queries all --exclude-self");
    assert_eq!(own.stderr, "note: k = 2 exceeds the 1 other point: ranks from 1 on are empty\n");
    assert_eq!(place.ok("run --generate uniform:n=2 --k 2 --engine kdtree --queries all").stderr, "");
    let (_, rows) = table(&place.path("found.csv"));
    assert_eq!(rows.len(), 2 * 4);
    assert_eq!(rows[3][3..], ["-1", "inf", "inf"]);
    assert_eq!(
        fs::read_to_string(place.path("out/merges.csv")).unwrap(),
        "query,row,merges,candidates,groups_hit\n"
    );
}

#[test]
fn the_searched_columns_are_noted() {
    let place = TestDir::new();
    place.write("points.csv", POINTS);
    place.write("asked.csv", "y,label,x\n8,q,6\n");
    let problem = "--input points.csv --columns x,y --drop-nonfinite";
    let run = place.ok(&format!("run {problem} --queries asked.csv --k 1 --engine kdtree")).stdout;
    assert_eq!(
        run.lines().filter(|line| line.split_whitespace().eq(["columns", "x,", "y"])).count(),
        2,
        "{run}"
    );
    let verify = place.ok(&format!("verify {problem} --queries asked.csv --k 1 --engine kdtree")).stdout;
    assert_eq!(verify.lines().nth(1), Some("columns x, y; queries: x, y"));
    let sweep = place.ok(&format!("sweep {problem} --q 2,3 --k 1 --engine kdtree --repeats 1 --warmup 0"));
    assert_eq!(sweep.stderr, "note: columns x, y\n");
}

#[test]
fn building_the_index_is_a_separate_phase() {
    let place = TestDir::new();
    for out in ["a", "b"] {
        place.ok(&format!("run --generate uniform:n=20 --queries all --engine kdtree --out {out}"));
    }
    let (_, timings) = table(&place.path("a/timings.csv"));
    assert_eq!(timings[0][1], "build index");
    assert!(place.ok("compare a b").stdout.contains("build index (kdtree)"));
    assert!(
        json(&fs::read_to_string(place.path("a/run.json")).unwrap())["device"]["details"]["threads"]
            .is_string()
    );
}

#[test]
fn missing_engine_features_are_reported() {
    let place = TestDir::new();
    let done = place
        .ok("run --generate uniform:n=20 --queries all --k 5 --engine kdtree --repeats 1 --warmup 0 \
             --profile");
    assert_eq!(done.stderr, "note: --profile: the kdtree engine cannot be profiled\n");
    for (engine, profiled) in [("kdtree", false), ("lockstep", true)] {
        place.ok(&format!(
            "run --generate uniform:n=20 --queries all --engine {engine} --repeats 1 --warmup 0 --profile \
             --out {engine}"
        ));
        let (_, timings) = table(&place.path(&format!("{engine}/timings.csv")));
        assert!(
            timings.iter().any(|row| row[1] == "search")
                && timings.iter().any(|row| row[1] == "profiled") == profiled,
            "{timings:?}"
        );
        let trace = fs::read_to_string(place.path(&format!("{engine}/trace.json"))).unwrap();
        assert_eq!(trace.contains("\"thread 0\""), profiled, "tracks of CPU threads");
    }
    let of_lockstep = "explained by `warpscope devices lockstep`";
    assert!(!done.stdout.contains("explained by"), "kdtree counts nothing: {}", done.stdout);
    assert!(
        place
            .ok("run --generate uniform:n=20 --queries all --k 5 --engine lockstep --repeats 1 --warmup 0")
            .stdout
            .contains(of_lockstep)
    );
    assert!(
        done.stdout.contains("one repeat")
            && !done.stdout.contains("merges")
            && !done.stdout.contains("dist/s"),
        "{}",
        done.stdout
    );
}

#[test]
fn devices_lists_the_counters_of_one_engine() {
    let place = TestDir::new();
    let all = place.ok("devices").stdout;
    assert!(
        all.contains("Counters of an engine: warpscope devices ENGINE")
            && all.contains("kdtree")
            && !all.contains(", per query"),
        "{all}"
    );
    let one = place.ok("devices lockstep").stdout;
    assert!(
        one.contains("\nCounters of lockstep, per query\n  merges  ")
            && one.contains("runs on cpu")
            && !one.contains("kdtree"),
        "{one}"
    );
    assert_eq!(json(&place.ok("devices lockstep --json").stdout)["engines"].as_array().unwrap().len(), 1);
    assert!(place.ok("devices kdtree").stdout.ends_with("\nkdtree has no counters.\n"));
    assert!(place.fails(2, "devices gpu").contains("'gpu' for '[ENGINE]' [possible values: "));
}

#[test]
fn a_skipped_first_line_is_noted() {
    let place = TestDir::new();
    place.write("cancer.csv", "4,2,malignant,benign\n17.9,10.3,0\n20.5,17.7,0\n13.5,14.3,1\n9.5,12.4,1\n");
    let note = "the first line, `4,2,malignant,benign`, was not read: it counts rows and columns, and names \
                classes: cancer.csv";
    for command in [
        "run --input cancer.csv --columns 0-1 --k 1 --engine lockstep --json",
        "knn cancer.csv --columns 0-1 -k 1 --engine lockstep",
    ] {
        let done = place.ok(command);
        assert!(done.stderr.contains(note), "{command}: {}", done.stderr);
    }
}

#[test]
fn dropped_rows_are_counted() {
    let place = TestDir::new();
    place.write("points.csv", "x,y\n0,0\n3,4\n1,nan\n0,1\n");
    let done = place.ok("run --input points.csv --metric angular --drop-nonfinite --queries all --k 1 \
                         --engine lockstep --json");
    let run = json(&done.stdout);
    assert_eq!([&run["dropped_rows"], &run["dropped_queries"], &run["summary"]["n"]], [2, 1, 2]);
    let text = place
        .ok("run --input points.csv --metric angular --drop-nonfinite --queries all --k 1 --engine lockstep")
        .stdout;
    assert!(text.contains("2 rows with NaN or infinite values, or with no direction"), "{text}");
    assert!(
        place.fails(1, "run --input points.csv --metric angular --queries all").contains("row 2, column `y`")
    );
}

#[test]
fn auto_explains_why_it_did_not_choose_cuda() {
    let place = TestDir::new();
    let devices = json(&place.ok("devices --json").stdout);
    let cuda =
        devices["engines"].as_array().unwrap().iter().find(|line| line["engine"] == "cuda").unwrap().clone();
    let done = place.ok("run --generate uniform:n=100 --queries all --repeats 1 --warmup 0 --json");
    let run = json(&done.stdout);
    if cuda["can_run"] == true {
        assert_eq!((&run["engine"], &run["fallback"]), (&"cuda".into(), &Value::Null));
        return;
    }
    assert_eq!(run["engine"], "lockstep");
    let why = cuda["why"].as_str().unwrap();
    assert_eq!(
        done.stderr,
        format!(
            "note: {}; using lockstep instead (see `warpscope devices`)\n",
            why.split(['(', ';']).next().unwrap().trim()
        )
    );
    for args in ["--engine lockstep", "--device cpu"] {
        let done =
            place.ok(&format!("run --generate uniform:n=100 --queries all --repeats 1 --warmup 0 {args}"));
        assert_eq!(done.stderr, "", "{args}: no note about a GPU if the CPU was requested");
    }
    assert_eq!(
        place.fails(1, "run --generate uniform:n=100 --queries all --engine cuda"),
        format!("the cuda engine cannot run here: {why}")
    );
}

#[test]
fn devices_lists_every_engine() {
    let place = TestDir::new();
    let text = place.ok("devices").stdout;
    let lines = json(&place.ok("devices --json").stdout);
    for engine in ["cuda", "cuda-split", "lockstep", "kdtree"] {
        assert!(text.lines().any(|line| line.starts_with(engine)), "{text}");
        let line = lines["engines"].as_array().unwrap().iter().find(|line| line["engine"] == engine).unwrap();
        assert_eq!(line["can_run"] == true, line["device"]["name"].is_string());
        assert_eq!(line["can_run"] == true, line["why"].is_null());
    }
    assert!(
        lines["engines"].as_array().unwrap().iter().filter(|line| line["can_run"] == true).count() >= 2,
        "the CPU is always available"
    );
}

#[test]
fn engines_are_verified() {
    let place = TestDir::new();
    let args = "verify --generate duplicates:n=3000,d=2,distinct=40 --queries 100 --k 50 --exclude-self \
                --order shuffled";
    let text = place.ok(args).stdout;
    assert!(text.starts_with("n = 3,000, q = 100, d = 2, k = 50, l2, shuffled order\n"), "{text}");
    let report = json(&place.ok(&format!("{args} --json")).stdout);
    assert_eq!(report["agreed"], true);
    let ran: Vec<&Value> =
        report["engines"].as_array().unwrap().iter().filter(|engine| engine["not_run"].is_null()).collect();
    assert!(ran.len() >= 2);
    for (at, engine) in ran.iter().enumerate() {
        assert_eq!((&engine["queries"], &engine["mismatch"]), (&100.into(), &Value::Null));
        assert_eq!(engine["equal_to"].is_null(), at == 0, "{report}");
    }
    let some = json(&place.ok(&format!("{args} --engine kdtree,lockstep --json")).stdout);
    let engines: Vec<&Value> =
        some["engines"].as_array().unwrap().iter().map(|engine| &engine["engine"]).collect();
    assert_eq!(engines, ["lockstep", "kdtree"]);
    let one = json(
        &place
            .ok("verify --generate sphere:n=500,d=5 --queries all --k 1 --metric angular --engine kdtree \
                 --json")
            .stdout,
    );
    assert_eq!(one["engines"].as_array().unwrap().len(), 1);
}

#[test]
fn a_sweep_writes_a_row_for_each_run() {
    let place = TestDir::new();
    let args = "sweep --generate uniform --n 200,1e3 --q 20 --k 1,40 --d 2,3 --engine lockstep,kdtree \
                --repeats 2 --warmup 0";
    let stdout = place.ok(args).stdout;
    place.write("stdout.csv", &stdout);
    let (head, rows) = table(&place.path("stdout.csv"));
    assert_eq!(rows.len(), 2 * 2 * 2 * 2);
    let column =
        |name: &str| head.iter().position(|head| head == name).unwrap_or_else(|| panic!("{name} is missing"));
    for row in &rows {
        assert_eq!(row[column("data")], format!("uniform:n={},d={}", row[column("n")], row[column("d")]));
        assert!(row[column("search_ms_median")].parse::<f64>().unwrap() > 0.0);
        for of_counters in ["mean_merges", "distances_per_second"] {
            assert_eq!(
                row[column(of_counters)].is_empty(),
                row[column("engine")] == "kdtree",
                "{of_counters}"
            );
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
fn a_sweep_continues_after_a_failure_and_reports_it() {
    let place = TestDir::new();
    let done = place
        .call("sweep --generate uniform --n 10,100 --q 50 --k 3 --engine lockstep --repeats 1 --warmup 0");
    assert_eq!(done.code, 1);
    assert_eq!(
        done.stderr,
        "error: 1 of 2 runs failed; first error: cannot sample 50 queries: the cloud has only 10 rows; use \
         `all` for every row\n"
    );
    assert_eq!(done.stdout.lines().count(), 3);
    assert!(done.stdout.lines().nth(1).unwrap().ends_with("use `all` for every row"));
}

#[test]
fn runs_are_compared() {
    let place = TestDir::new();
    let run = |k: u32, out: &str| {
        place.ok(&format!(
            "run --generate uniform:n=2000 --queries all --k {k} --engine lockstep --repeats 3 --warmup 0 \
             --out {out}"
        ))
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
    assert_eq!(
        message,
        "cannot read: this folder has no run.json, so `run --out` did not write it; give a file: other"
    );
    // A failed command leaves no folder.
    place.fails(1, "run --input none.csv --out made/inner");
    assert!(!place.path("made").exists());
    place.write("other.csv", "x,y\n1,2\n");
    assert!(place.fails(1, "compare a other.csv").starts_with("not a run file: "));
}

#[test]
fn compare_checks_agreement_and_does_not_rank_different_jobs() {
    let place = TestDir::new();
    let run = |args: &str, out: &str| {
        let usual = [
            ("--generate", "uniform:n=2000,d=2"),
            ("--queries", "50"),
            ("--k", "8"),
            ("--engine", "lockstep"),
        ];
        let usual: Vec<String> = usual
            .iter()
            .filter(|(flag, _)| !args.contains(flag))
            .map(|(flag, value)| format!("{flag} {value}"))
            .collect();
        place.ok(&format!(
            "run {} --warmup 0 --repeats 4 --out {out} --record {out}.warpscope {args}",
            usual.join(" ")
        ))
    };
    run("", "a");
    run("--engine kdtree", "same");
    let text = place.ok("compare a same").stdout;
    assert!(
        text.contains("The same neighbours, to the bit (50 queries, 8 ranks each).") && !text.contains("job"),
        "{text}"
    );
    // Compares a folder with a recording, in both orders.
    assert!(place.ok("compare a same.warpscope").stdout.contains("The same neighbours, to the bit"));
    assert!(place.ok("compare same.warpscope a").stdout.contains("The same neighbours, to the bit"));
    let refused = |b: &str, args: &str, names: &str, neighbors: &str| {
        run(args, b);
        for end in ["", ".warpscope"] {
            let text = place.ok(&format!("compare a{end} {b}{end}")).stdout;
            assert!(
                text.contains(&format!("These are different jobs ({names}), so neither is called faster.")),
                "{text}"
            );
            assert!(
                !text.contains("  faster") && !text.contains("  slower") && text.contains("different job"),
                "{text}"
            );
            assert!(text.contains(neighbors), "{text}");
        }
    };
    refused("k", "--k 9", "k", "The same neighbours, to the bit (50 queries, 8 ranks each).");
    refused("q", "--queries 40", "q", "");
    // A folder does not store which rows were requested; a recording does.
    assert!(place.ok("compare a q").stdout.contains("Neighbours not compared: they had different queries."));
    let common = place.ok("compare a.warpscope q.warpscope").stdout;
    assert!(
        common.contains("they have no query in common") || common.contains("The same neighbours, to the bit"),
        "{common}"
    );
    refused(
        "n",
        "--generate uniform:n=1000,d=3",
        "cloud, n, d",
        "Neighbours not compared: they searched different clouds.",
    );
    refused("metric", "--metric angular", "metric", "Neighbours not compared: they used different metrics.");
    // A changed neighbour is detected.
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
    assert!(
        text.contains("1 of 50 queries, 8 ranks each: different neighbours, all at equal distances."),
        "{text}"
    );
    fs::remove_file(place.path("same/neighbors.npz")).unwrap();
    let text = place.ok("compare a same").stdout;
    assert!(text.contains("Neighbours not compared: there is no neighbors.npz in same."), "{text}");
    let text = place.ok("compare a a/timings.csv").stdout;
    assert!(text.contains("A timings.csv does not record the job"), "{text}");
}

#[test]
fn help_and_version_are_printed_to_stdout() {
    let place = TestDir::new();
    for args in ["--help", "run --help", "sweep -h", "help verify"] {
        let done = place.ok(args);
        assert!(
            done.stdout.contains("Usage: warpscope") && done.stderr.is_empty(),
            "{args}: {}",
            done.stderr
        );
    }
    assert_eq!(place.ok("-V").stdout, format!("warpscope {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(place.ok("--version").stdout, format!("warpscope {}\n", warpscope::version::version()));
}

#[test]
fn hdf5_benchmarks_are_searched_and_verified() {
    let place = TestDir::new();
    let packed = include_bytes!("../../crates/cloud/src/formats/tests/hdf5/latest.hdf5.gz");
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut content).unwrap();
    fs::write(place.path("b.hdf5"), content).unwrap();

    let info = place.ok("info b.hdf5").stdout;
    assert!(
        info.contains("data set `train`: 6 × 2 f32")
            && info.contains("deep/packed")
            && info.contains("not read"),
        "{info}"
    );
    let search = "verify --input b.hdf5 --queries b.hdf5:test --k 3 --engine lockstep --reference b.hdf5";
    let done = place.ok(search).stdout;
    assert!(
        done.contains(
            "reference answers agree with the oracle: 2 queries, 0 ties resolved differently: \
             b.hdf5:neighbors"
        ),
        "{done}"
    );
    assert_eq!(json(&place.ok(&format!("{search} --json")).stdout)["reference"]["queries"], 2);
    let metric = place.fails(1, &format!("{search} --metric angular --drop-nonfinite"));
    assert!(
        metric
            .starts_with("--reference: the answers use metric l2, but --metric is angular; drop --metric: "),
        "{metric}"
    );
    let wide = place.fails(1, &search.replace("--k 3", "--k 4"));
    assert!(wide.starts_with("the answers have 3 neighbours per query, but k is 4"), "{wide}");
    place.write("wrong.csv", "0,1,2\n5,4,0\n");
    let wrong = place.call(&search.replace("--reference b.hdf5", "--reference wrong.csv"));
    assert_eq!(wrong.code, 1);
    assert!(
        wrong.stderr.contains("wrong reference answers: query 1, rank 2: row 0 at squared distance"),
        "{}",
        wrong.stderr
    );

    assert!(
        wrong.stdout.contains(
            "reference answers WRONG: recall@3 0.8333: 1 of 2 queries has a neighbour outside the true 3; \
             in the others, "
        ),
        "{}",
        wrong.stdout
    );

    place.ok("run --input b.hdf5 --queries b.hdf5:test --k 3 --engine lockstep --repeats 1 --neighbors \
              found.parquet");
    let found = place.ok("info found.parquet --json").stdout;
    assert_eq!((&json(&found)["rows"], &json(&found)["columns"][3]["name"]), (&6.into(), &"index".into()));
    let over =
        place.fails(2, "run --input found.parquet --repeats 1 --engine lockstep --neighbors found.parquet");
    assert!(over.contains("would overwrite the searched cloud"), "{over}");
}

#[test]
fn written_neighbours_are_verified_for_every_kind_of_query() {
    let place = TestDir::new();
    place.write("points.csv", "x,y\n0,0\n3,4\nnan,1\n0,1\n6,8\n0,0\n9,9\n2,5\n");
    place.write("asked.csv", "x,y\n8,6\n1,1\n0,4\n");
    let problem = "--input points.csv --drop-nonfinite --k 4 --engine lockstep --seed 3";
    for queries in ["all", "4", "rows:7,0,4", "at:5,5", "asked.csv"] {
        for own in ["", " --exclude-self"] {
            if !own.is_empty() && (queries.starts_with("at") || queries.ends_with("csv")) {
                continue;
            }
            for ending in ["csv", "tsv", "parquet", "arrow", "npz", "npy", "ivecs", "ibin"] {
                place.ok(&format!(
                    "run {problem}{own} --queries {queries} --repeats 1 --warmup 0 --neighbors \
                     found.{ending}"
                ));
                let done = place
                    .ok(&format!("verify {problem}{own} --queries {queries} --reference found.{ending}"));
                assert!(
                    done.stdout.contains("reference answers agree with the oracle: "),
                    "{queries}{own} {ending}: {}",
                    done.stdout
                );
            }
        }
    }
    // Other sources of answers: a run's folder, and its recording, which numbers rows differently.
    let some = "--queries rows:7,0,4";
    place.ok(&format!("run {problem} {some} --repeats 1 --warmup 0 --out folder --record run.warpscope"));
    for reference in ["folder", "run.warpscope", "run.warpscope#1"] {
        let done = place.ok(&format!("verify {problem} {some} --reference {reference}"));
        assert!(
            done.stdout.contains("reference answers agree with the oracle: 3 queries, "),
            "{}",
            done.stdout
        );
    }
    let all = "--queries all --repeats 1 --warmup 0";
    place.ok(&format!("run {problem} {all} --neighbors all.csv"));
    let few = place.fails(1, &format!("verify {problem} --queries rows:7,0,4 --reference all.csv"));
    assert_eq!(
        few,
        "the file answers 7 queries, but this job has 3 queries (from 8 rows); pass the --queries and \
         --seed it was made with: all.csv"
    );
    // The file has the right number of answers, but to other queries.
    place.ok("run --generate uniform:n=50 --queries 20 --k 3 --engine lockstep --repeats 1 --warmup 0 \
              --neighbors drawn.csv");
    let others = place.call(
        "verify --generate uniform:n=50 --queries 20 --seed 4 --k 3 --engine lockstep --reference drawn.csv",
    );
    assert_eq!((others.code, others.stderr.lines().count()), (1, 1));
    assert!(
        others.stderr.starts_with("error: wrong reference answers: ")
            && others.stderr.ends_with("): drawn.csv\n"),
        "{}",
        others.stderr
    );
    let why = "of 20 queries; the file was probably made with different queries (here: rows sampled with \
               seed 4), or a different cloud or metric; pass";
    assert!(others.stderr.contains(why) && !others.stderr.contains("e0"), "{}", others.stderr);
    let text = fs::read_to_string(place.path("all.csv")).unwrap();
    place.write("wrong.csv", &text.replacen("\n1,1,1,", "\n1,1,1,6", 1).replacen("\n4,5,0,", "\n4,5,0,6", 1));
    let wrong = place.call(&format!("verify {problem} --queries all --reference wrong.csv"));
    assert_eq!(wrong.code, 1);
    assert!(wrong.stdout.contains(": 2 of 7 queries have a neighbour outside the true "), "{}", wrong.stdout);
    assert!(wrong.stderr.contains("wrong reference answers: query 1, rank 1: row 6"), "{}", wrong.stderr);
    let report =
        json(&place.call(&format!("verify {problem} --queries all --reference wrong.csv --json")).stdout);
    assert_eq!(
        (&report["reference"]["queries"], &report["reference"]["wrong"], &report["agreed"]),
        (&7.into(), &2.into(), &false.into())
    );
}

#[test]
fn a_dry_run_predicts_without_searching() {
    let place = TestDir::new();
    let table = place.ok("run --generate uniform:n=5000 --k 8 --dry-run").stdout;
    for engine in ["cuda ", "cuda-split ", "lockstep ", "kdtree "] {
        assert!(table.lines().any(|line| line.starts_with(engine)), "{table}");
    }
    assert_eq!(table.matches("chosen: ").count(), 1, "{table}");
    let plan = json(&place.ok("run --generate uniform:n=5000,d=200 --device cpu --dry-run --json").stdout);
    assert_eq!((&plan["chosen"], &plan["shape"]["d"]), (&"lockstep".into(), &200.into()), "{plan}");
    let tree =
        plan["engines"].as_array().unwrap().iter().find(|engine| engine["engine"] == "kdtree").unwrap();
    assert_eq!(tree["why_not"], "d = 200: the kdtree engine supports at most 128");
    let named = json(&place.ok("run --generate uniform:n=500 --engine kdtree --dry-run --json").stdout);
    assert_eq!((&named["chosen"], &named["reason"]), (&"kdtree".into(), &"as requested".into()));
    place.fails(2, "run --generate uniform:n=500 --dry-run --neighbors a.csv");
    // A run has the sentence in its summary, and the prediction in its file.
    let summary =
        place.ok("run --generate uniform:n=500 --engine lockstep --repeats 1 --warmup 0 --out o").stdout;
    assert!(
        summary.lines().any(|line| line.starts_with("plan ")
            && line.contains("estimate: ")
            && line.contains("(lockstep")),
        "{summary}"
    );
    assert!(
        json(&fs::read_to_string(place.path("o/run.json")).unwrap())["predicted_ms"].as_f64().unwrap() > 0.0
    );
}

#[test]
fn angular_queries_at_the_origin_are_refused() {
    let place = TestDir::new();
    for drop in ["", " --drop-nonfinite"] {
        let error = place.fails(
            2,
            &format!(
                "run --generate uniform:n=50,d=2 --metric angular --queries at:0,0 --engine lockstep{drop}"
            ),
        );
        assert_eq!(
            error,
            "query point 0,0 is the origin, which has no direction under this metric; choose another point, \
             or use the l2 metric"
        );
    }
}

#[cfg(feature = "gui")]
#[test]
fn headless_rendering_does_not_wait_for_input() {
    let place = TestDir::new();
    place.write("two.json", r#"{"first": [[0,1],[2,3],[4,6]], "second": [[5,5],[6,7]]}"#);
    for args in ["gui two.json --png a.png", "gui two.json --frames 2", "gui two.json --frames 2 --png a.png"]
    {
        let error = place.fails(1, args);
        // On machines without a graphics adapter, the error is about that instead.
        let expected = "the file contains several clouds: choose one with FILE:NAME; available: `first` \
                        (3 × 2), `second` (2 × 2): ";
        assert!(
            error.starts_with(expected) && error.ends_with("two.json")
                || error.starts_with("no graphics adapter"),
            "{args}: {error}"
        );
        assert!(!place.path("a.png").exists());
    }
}
