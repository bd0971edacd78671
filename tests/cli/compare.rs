//! Comparing two programs or methods in alternation, and limits on the ratio.

use std::fs;
use std::path::Path;

use super::{TestDir, json};

const JOB: &str = "-- run --generate uniform:n=2000,d=2 --queries 50 --k 8";

impl TestDir {
    /// A folder whose temporary files can be counted, and a wrapper program there.
    fn with_program(name: &str, script: &str) -> Self {
        let place = Self::new();
        place.program(name, script);
        place
    }

    /// A program that calls this one and then changes the folder `$3` of `run --out DIR`.
    fn program(&self, name: &str, script: &str) {
        self.write(
            name,
            &format!("#!/bin/sh\nset -e\n{}\n", script.replace("WARPSCOPE", env!("CARGO_BIN_EXE_warpscope"))),
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn two_methods_are_compared_in_alternation() {
    let place = TestDir::new();
    fs::create_dir(place.path("tmp")).unwrap();
    let args = format!("compare --method lockstep --method kdtree --pairs 5 --json {JOB} --warmup 0");
    let done = place.command(&args).env("TMPDIR", place.path("tmp")).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let compared = json(&String::from_utf8(done.stdout).unwrap());
    assert_eq!((&compared["pairs"], &compared["answers"]["other_rows"]), (&5.into(), &0.into()));
    let search =
        compared["phases"].as_array().unwrap().iter().find(|phase| phase["phase"] == "search").unwrap();
    assert_eq!(
        (&search["engine_a"], &search["engine_b"], &search["a"]["repeats"]),
        (&"lockstep".into(), &"kdtree".into(), &5.into())
    );
    for of in [search, &compared["total"]] {
        let [lower, ratio, upper] = [&of["interval"]["lower"], &of["ratio"], &of["interval"]["upper"]]
            .map(|number| number.as_f64().unwrap());
        assert!(0.0 < lower && lower <= ratio && ratio <= upper, "{of}");
    }
    assert!(
        compared["differences"]
            .as_array()
            .unwrap()
            .iter()
            .any(|difference| difference == "engine: lockstep against kdtree"),
        "{compared}"
    );
    assert!(
        compared["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .any(|parameter| parameter["name"] == "warm-ups" && parameter["a"] == "0")
    );
    assert!(is_empty(&place.path("tmp")), "the runs are removed");
}

#[cfg(unix)]
#[test]
fn slowdowns_beyond_the_limit_fail() {
    let place = TestDir::with_program("usual", "exec WARPSCOPE \"$@\"");
    // Like this program, with all times tripled.
    let thrice = "WARPSCOPE \"$@\"\nawk -F, -v OFS=, 'NR > 1 { $6 = 3 * $6 } { print }' \"$3/timings.csv\" \
                  > \"$3/slow\"\nmv \"$3/slow\" \"$3/timings.csv\"";
    place.program("slow", thrice);
    // A program with constant times.
    let even = "WARPSCOPE \"$@\"\nawk -F, -v OFS=, 'NR > 1 { $6 = ($4 == 0) } { print }' \"$3/timings.csv\" \
                > \"$3/even\"\nmv \"$3/even\" \"$3/timings.csv\"";
    place.program("even", even);
    place.program("triple", &even.replace("($4 == 0)", "3 * ($4 == 0)"));
    let compare = |a: &str, b: &str, limit: &str| {
        place.call(&format!(
            "compare --exe ./{a} --exe ./{b} --pairs 5 --fail-if-slower {limit} {JOB} --engine lockstep"
        ))
    };
    let slower = compare("even", "triple", "5%");
    assert_eq!((slower.code, slower.stdout.contains("  slower")), (1, true), "{}", slower.stdout);
    let error = slower.stderr.lines().last().unwrap();
    assert_eq!(
        error,
        "error: the second run is slower by more than 5 %: its search takes 3.00 times as long (95 %: 3.00 \
         to 3.00)"
    );
    assert_eq!(compare("triple", "even", "5%").code, 0, "it is faster");
    assert_eq!(compare("even", "triple", "250%").code, 0, "within the limit");
    let total = slower.stdout.lines().find(|line| line.starts_with("total")).unwrap();
    assert!(total.ends_with("slower") && total.contains("3.00×"), "{total}");
    // These times are measured; only the factor of three is fixed.
    let thrice = compare("usual", "slow", "1%");
    assert!(thrice.stdout.contains("The same neighbours, to the bit"), "{}{}", thrice.stdout, thrice.stderr);
}

#[test]
fn both_programs_use_the_same_defaults() {
    let place = TestDir::new();
    place.write("w.toml", "[run]\nk = 7\n");
    place.write("own.toml", "[run]\nk = 5\n");
    let asked = |flag: &str| {
        let args = format!(
            "{flag} compare --method lockstep --method kdtree --pairs 5 --json -- run --generate \
             uniform:n=200,d=2 --queries 5"
        );
        let done = place.command(&args).env("WARPSCOPE_CONFIG", place.path("own.toml")).output().unwrap();
        let compared = json(&String::from_utf8(done.stdout).unwrap());
        let parameters = compared["parameters"].as_array().unwrap();
        parameters.iter().find(|parameter| parameter["name"] == "k").unwrap()["a"].clone()
    };
    assert_eq!([asked(""), asked("--config w.toml"), asked("--no-config")], ["5", "7", "32"]);
}

#[cfg(unix)]
#[test]
fn a_failed_program_is_reported_with_its_last_line() {
    let place = TestDir::with_program("bad", "echo note: something >&2\necho error: out of luck >&2\nexit 1");
    let failed =
        place.fails(1, &format!("compare --exe {} --exe ./bad {JOB}", env!("CARGO_BIN_EXE_warpscope")));
    assert_eq!(failed, "the second program failed (exit code 1): out of luck: ./bad");
    let missing = place.fails(1, &format!("compare --exe ./none --exe ./bad {JOB}"));
    assert!(missing.starts_with("cannot run ./none: "), "{missing}");
    let usage =
        place.fails(2, "compare --method lockstep --method kdtree -- run --generate uniform:n=20 --k 0");
    assert!(usage.starts_with("the first program failed (exit code 2): "), "{usage}");
    let no_file = place.fails(1, "compare --method lockstep --method kdtree -- run --input none.csv");
    assert!(no_file.contains("none.csv"), "{no_file}");
}

#[test]
fn invalid_comparisons_are_usage_errors() {
    let place = TestDir::new();
    for (args, part) in [
        ("compare --method lockstep --method kdtree", "the command to run is missing"),
        ("compare --method lockstep --method kdtree -- sweep", "the command to run is missing"),
        ("compare --method lockstep -- run", "give --exe twice or --method twice"),
        ("compare --exe a -- run", "give --exe twice or --method twice"),
        ("compare --exe a --exe b --exe c -- run", "give --exe twice or --method twice"),
        ("compare --method lockstep --method kdtree -- run --engine bvh", "drop --engine"),
        ("compare --exe a --exe b -- run --out=there", "`--out` cannot be used in the runs"),
        ("compare --method lockstep --method gpu -- run", "unknown engine `gpu`"),
        (
            "compare --exe a --exe b --pairs 4 -- run",
            "must be between 5 and 1000000: fewer pairs give no 95 % confidence interval",
        ),
        ("compare a b --pairs 20", "cannot be used with"),
        ("compare a b -- run", "cannot be used with two saved runs"),
        ("compare a b --exe c -- run", "cannot be used with"),
        ("compare a b --fail-if-slower 5", "expected a percentage, such as 5%"),
        ("compare a b --fail-if-slower=-5%", "percent"),
    ] {
        let refused = place.fails(2, args);
        assert!(refused.to_lowercase().contains(part), "{args}: {refused}");
    }
}

#[test]
fn saved_runs_are_checked_against_a_limit() {
    let place = TestDir::new();
    let timings = |name: &str, ms: f64| {
        let rows: String = (0..10)
            .map(|repeat| format!("cuda,search,{repeat},0,0,{}\n", ms + 0.01 * f64::from(repeat % 3)))
            .collect();
        place.write(name, &format!("engine,phase,repeat,chunk,start_ms,duration_ms\n{rows}"));
    };
    timings("a.csv", 10.0);
    timings("b.csv", 11.0);
    timings("c.csv", 10.05);
    let slower = place.call("compare a.csv b.csv --fail-if-slower 5%");
    assert_eq!(slower.code, 1);
    assert!(
        slower.stderr.starts_with(
            "error: the second run is slower by more than 5 %: its search takes 1.10 times as long (95 %: \
             1.10 to 1.10)"
        ),
        "{}",
        slower.stderr
    );
    assert_eq!(place.ok("compare b.csv a.csv --fail-if-slower 5%").stderr, "");
    let close = place.ok("compare a.csv c.csv");
    assert!(
        close.stdout.starts_with(
            "The searches of A and B are less than 2 % apart, too close to call either faster.\n"
        ),
        "{}",
        close.stdout
    );
    let compared = json(&place.ok("compare a.csv b.csv --json").stdout);
    assert_eq!(
        (&compared["phases"][0]["verdict"], &compared["warnings"]),
        (&"slower".into(), &serde_json::json!([]))
    );
}

#[test]
fn outliers_are_excluded_and_missing_repeats_counted() {
    let place = TestDir::new();
    let timings = |name: &str, times: &[f64]| {
        let rows: String =
            times.iter().enumerate().map(|(repeat, ms)| format!("cuda,search,{repeat},0,0,{ms}\n")).collect();
        place.write(name, &format!("engine,phase,repeat,chunk,start_ms,duration_ms\n{rows}"));
    };
    timings("slow.csv", &[80.9, 81.0, 80.8, 80.9, 80.7]);
    timings("fast.csv", &[240.0, 9.7, 9.7, 9.8, 9.6]);
    timings("short.csv", &[80.9, 81.0]);
    let faster = place.ok("compare slow.csv fast.csv").stdout;
    assert!(faster.starts_with("B searches 8.3 times as fast as A. The factor is between 8"), "{faster}");
    assert!(
        faster.contains(
            " 1 of 5 repeats of B excluded: more than a factor of 1.25 and 7 MAD from the median.\n"
        ),
        "{faster}"
    );
    let row = faster.lines().find(|line| line.starts_with("search")).unwrap();
    assert!(row.contains(" 4 of 5 ") && row.ends_with("faster"), "{row}");
    let search = &json(&place.ok("compare slow.csv fast.csv --json").stdout)["phases"][0];
    assert_eq!(
        (&search["a"]["excluded"], &search["b"]["excluded"], &search["b"]["repeats"]),
        (&0.into(), &1.into(), &5.into())
    );
    assert_eq!(place.call("compare fast.csv slow.csv --fail-if-slower 5%").code, 1);
    let few = place.ok("compare slow.csv short.csv").stdout;
    assert!(
        few.starts_with("Too few repeats: run 2 more to tell which is faster.\n")
            && few.contains(" too few repeats: run 2 more\n"),
        "{few}"
    );
    let unknown = place.call("compare slow.csv short.csv --fail-if-slower 5%");
    let why = "error: cannot decide whether the second run is slower by 5 %: too few repeats: run 2 more\n";
    assert_eq!((unknown.code, unknown.stderr.as_str()), (1, why));
}

#[cfg(target_os = "linux")]
#[test]
fn compare_reports_differences_in_machine_load() {
    let place = TestDir::new();
    place.ok("run --generate uniform:n=200,d=2 --queries 20 --k 3 --engine lockstep --repeats 3 --warmup 0 \
              --out a");
    let text = fs::read_to_string(place.path("a/run.json")).unwrap();
    let run = json(&text);
    let machine = &run["machine"];
    assert!(
        machine["cores"].as_u64().unwrap() >= 1
            && machine["load_start"].as_f64().unwrap() >= 0.0
            && machine["load_end"].is_number(),
        "{machine}"
    );
    let mut busy = run.clone();
    busy["machine"] = serde_json::json!({
        "cpu": "another",
        "cores": 2,
        "load_start": 1.0,
        "load_end": 8.5,
        "waited": 0.5,
    });
    fs::create_dir(place.path("b")).unwrap();
    fs::copy(place.path("a/timings.csv"), place.path("b/timings.csv")).unwrap();
    place.write("b/run.json", &busy.to_string());
    let done = place.ok("compare a b");
    assert!(
        done.stderr.contains(
            "note: the second shared its machine: the load was 8.5 on 2 cores, and its threads waited 50 % \
             of their time for a core\n"
        ),
        "{}",
        done.stderr
    );
    assert!(
        done.stdout.contains("\n  CPU: ") && done.stdout.contains(" against another\n"),
        "{}",
        done.stdout
    );
    assert!(!place.ok("compare a b --quiet").stderr.contains("note"), "--quiet hides notes");
}

#[test]
fn quiet_hides_notes_but_not_errors() {
    let place = TestDir::new();
    place.write(
        "points.csv",
        &(0..1200).fold("x,y\n".to_owned(), |rows, at| rows + &format!("{at},{}\n", at * 7 % 13)),
    );
    let run = "run --input points.csv --k 2 --engine kdtree --warmup 0 --repeats 1";
    assert!(place.ok(run).stderr.starts_with("note: querying 1,000 of 1,200 rows"));
    let quiet = place.ok(&format!("{run} --quiet"));
    assert_eq!(
        (quiet.stderr.as_str(), quiet.stdout.contains("queries"), quiet.searches.is_empty()),
        ("", true, false),
        "names alone do not imply coordinates"
    );
    assert_eq!(place.ok("info points.csv --quiet").stderr, "", "every command has it");
    assert_eq!(place.ok(&format!("--quiet {run}")).stderr, "", "before the command, too");
    assert!(place.fails(2, "points.csv info points.csv").starts_with("the file must come after the command"));
    assert!(place.fails(1, "run --input none.csv --quiet").contains("none.csv"));
}
