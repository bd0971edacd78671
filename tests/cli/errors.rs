//! Refused calls: one error line, an exit code, and no partial output.

use super::*;

#[cfg(unix)]
#[test]
fn inputs_and_read_only_files_are_not_overwritten() {
    let place = TestDir::new();
    let rows = "x,y\n1,2\n3,4\n5,7\n";
    place.write("own.csv", rows);
    let error =
        place.fails(2, "run --engine lockstep --input own.csv --k 1 --queries all --neighbors own.csv");
    assert_eq!(error, "cannot write: this would overwrite the searched cloud; choose another name: own.csv");
    place.write("kept.csv", "mine");
    fs::set_permissions(place.path("kept.csv"), std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
    let error = place.fails(1, "generate uniform:n=3 kept.csv");
    assert_eq!(error, "cannot write: the existing file is read-only: kept.csv");
    assert_eq!(fs::read_to_string(place.path("own.csv")).unwrap(), rows);
    assert_eq!(fs::read_to_string(place.path("kept.csv")).unwrap(), "mine");
}

#[test]
fn unwritable_outputs_are_refused_before_reading_input() {
    let place = TestDir::new();
    place.write("file", "");
    // The input does not exist; it must not be opened.
    for target in ["--neighbors none/found.csv", "--out file", "--out file/inside"] {
        let error = place.fails(1, &format!("run --input none.csv {target}"));
        assert!(
            error.starts_with("cannot write: ") && error.ends_with(target.split(' ').next_back().unwrap()),
            "{error}"
        );
    }
    assert!(
        place
            .fails(1, "sweep --generate uniform --n 10 --q 5 --out none/rows.csv")
            .ends_with(": none/rows.csv")
    );
}

#[cfg(unix)]
#[test]
fn the_summary_is_printed_even_if_files_cannot_be_written() {
    let place = TestDir::new();
    // A folder with the name of the output file, which only writing detects.
    fs::create_dir_all(place.path("out/timings.csv")).unwrap();
    let done = place.call("run --generate uniform:n=20 --queries all --k 5 --engine kdtree --out out");
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (1, "error: cannot write: it is a folder: out/timings.csv\n")
    );
    assert!(done.stdout.contains("kdtree on ") && !done.stdout.contains("wrote"), "{}", done.stdout);
}

#[test]
fn invalid_picture_options_leave_no_files() {
    let place = TestDir::new();
    let steps = {
        place.ok("lesson --lesson sort --out one");
        fs::read_to_string(place.path("one/steps.jsonl")).unwrap().lines().count() - 1
    };
    let past = format!("lesson --lesson sort --png a.png --at {}", steps + 1);
    let past_all = format!("invalid step {}: must be between 0 and {steps}", steps + 1);
    for args in [
        past,
        format!("lesson --lesson sort --out b/c --png --at {}", steps + 1),
        format!("gui --lesson sort --png a.png --at {}", steps + 1),
    ] {
        assert_eq!(place.fails(2, &args), past_all, "{args}");
    }
    place.write("points.csv", "x,y\n1,2\n3,4\n5,7\n");
    let of_file = place.fails(1, "lesson --input points.csv --k 1 --png a.png --at 999999");
    assert!(
        of_file.starts_with("invalid step 999999: must be between 0 and "),
        "not a usage error: {of_file}"
    );
    assert_eq!(
        place.fails(1, "lesson --lesson sort --png no/a.png"),
        "cannot write: there is no folder no: no/a.png"
    );
    let cases = [
        (
            "lesson --frames b --png b/frame-0001.png",
            "cannot write: two outputs have the same path; rename one: b/frame-0001.png".to_owned(),
        ),
        (
            "lesson --lesson sort --gif a.gif --from 9 --to 4",
            "from step 9 to step 4: the range is backwards".to_owned(),
        ),
        (
            "lesson --lesson sort --frames film --max-pictures 0",
            "max-pictures = 0: must be at least 1".to_owned(),
        ),
        ("lesson --lesson sort --gif a.gif --every 0", "every = 0: must be at least 1".to_owned()),
        (
            "lesson --lesson sort --gif a.gif --pace 0",
            "--pace 0: must be between 0.02 and 100 seconds".to_owned(),
        ),
        (
            "lesson --lesson sort --png a.png --scale 99",
            "invalid size 126720 \u{d7} 71280: each side must be between 1 and 16384 pixels".to_owned(),
        ),
        (
            "lesson --lesson sort --png a.png --take sorted",
            "--take sorted: unknown order; available: as-drawn".to_owned(),
        ),
        (
            "lesson --lesson sort --gif",
            "--gif: file name missing; add one, or --out DIR to write DIR/lesson.gif".to_owned(),
        ),
        (
            "lesson --lesson sort --k 9999 --png a.png",
            "k = 9999: a warp of 8 lanes holds up to 256 neighbours, 32 per lane".to_owned(),
        ),
    ];
    for (args, message) in cases {
        assert_eq!(place.fails(2, args), message, "{args}");
    }
    for (args, message) in [
        ("lesson --lesson sort", "--out"),
        ("lesson --lesson sort --png a.png --size 320x200", "must be at least 960x540"),
        ("lesson --lesson sort --png a.png --size large", "expected WIDTHxHEIGHT, such as 1280x720"),
        ("lesson --lesson sort --png a.png --text 99", "99 is not in 8..=48"),
        ("lesson --lesson sort --gif a.gif --at 3", "--png"),
        ("lesson --lesson sort --gif a.gif --level bit", "search, merge, stage, layer, lane"),
    ] {
        let told = place.fails(2, args);
        assert!(told.contains(message), "{args}: {told}");
    }
    place.write("file", "");
    assert!(place.fails(1, "lesson --lesson sort --out file").starts_with("cannot write: "));
    let left: Vec<_> = fs::read_dir(place.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("a."))
        .collect();
    assert_eq!(left, [""; 0]);
    assert!(!place.path("b").exists() && !place.path("film").exists(), "refused commands left folders");
}

#[test]
fn failed_jobs_print_one_line_and_exit_with_1() {
    let place = TestDir::new();
    place.write("points.csv", POINTS);
    place.write("plane.csv", "x,y\n1,2\n");
    place.write("rows.txt", "1\ntwo\n");
    place.write("empty.txt", "# none\n");
    let generated = "run --generate uniform:n=50 --engine lockstep";
    let cases = [
        (
            format!("{generated} --queries 51"),
            "cannot sample 51 queries: the cloud has only 50 rows; use `all` for every row",
        ),
        (format!("{generated} --queries rows:3,50"), "query row 50: must be between 0 and 49"),
        (format!("{generated} --queries rows:@rows.txt"), "line 2: `two` is not a row number: rows.txt"),
        (
            format!("{generated} --queries rows:@none.txt"),
            "cannot read: No such file or directory (os error 2): none.txt",
        ),
        (
            format!("{generated} --queries none.csv"),
            "cannot read: No such file or directory (os error 2): none.csv",
        ),
        (
            format!("{generated} --queries rows:@empty.txt"),
            "not a list of rows: it contains no row numbers: empty.txt",
        ),
        (
            format!("{generated} --queries at:1,2,3"),
            "query point 1,2,3: expected 2 coordinates (x, y), found 3",
        ),
        (
            format!("{generated} --neighbors no/such/folder/n.csv"),
            "cannot write: there is no folder no/such/folder: no/such/folder/n.csv",
        ),
        ("run --input none.csv".to_owned(), "cannot read: No such file or directory (os error 2): none.csv"),
        (
            "run --input points.csv --columns x,y --engine lockstep --drop-nonfinite --queries rows:2"
                .to_owned(),
            "query row 2: it was dropped because it has NaN or infinite values",
        ),
        ("no-such-thing".to_owned(), "no such file or subcommand (see --help): no-such-thing"),
    ];
    for (args, expected) in cases {
        assert_eq!(place.fails(1, &args), expected, "{args}");
    }
    let refused = place.fails(1, "run --input points.csv --columns x,y");
    assert!(
        refused.contains("row 2, column `y`")
            && refused.contains("--drop-nonfinite")
            && refused.ends_with("points.csv"),
        "{refused}"
    );
    assert!(!place.path("n.csv").exists());
}

#[test]
fn usage_errors_print_one_line_and_exit_with_2() {
    let place = TestDir::new();
    let cases = [
        ("run", "--generate <SPEC>"),
        ("run --input a --generate b", "cannot be used with"),
        ("run --generate uniform --foo", "'--foo'"),
        ("run --generate uniform --k many", "'many' for '--k <NUMBER>'"),
        ("run --generate uniform --k -3", "'-3' for '--k <NUMBER>'"),
        ("run --generate uniform --engine gpu", "unknown engine `gpu`; available: auto, "),
        (
            "run --generate uniform --engine kdtree --device 0",
            "--device 0: the kdtree engine runs on the CPU",
        ),
        ("run --generate uniform --device gpu", "invalid device `gpu`"),
        ("run --generate uniform --metric cosin", "[possible values: l2, angular, cosine, haversine, sky]"),
        ("run --generate uniform --repeats 0", "'0' for '--repeats <NUMBER>'"),
        ("run --generate uniform --repeats 5e6", "must be at most 1000000"),
        ("gui --frames 2 --png a.png --point-size 1e30", "must be between 0.1 and 100"),
        ("gui --frames 2 --png a.png --point-size -1", "must be between 0.1 and 100"),
        ("run --generate uniform --queries rows:9-3", "is reversed"),
        ("run --generate uniform --queries rows:0-99999999999", "use `all` for every row"),
        (
            "run --generate uniform --neighbors found.txt",
            ".csv, .tsv, .parquet, .arrow, .npz, .geojson, .npy, .ivecs or .ibin",
        ),
        ("gui --png window.jpg", "the name must end in .png"),
        ("gui --frames 2 --png window", "the name must end in .png"),
        ("lesson --lesson sort --png moment.jpg", "the name must end in .png"),
        ("lesson --lesson sort --svg moment.png", "the name must end in .svg"),
        ("lesson --lesson sort --gif moment.mp4", "the name must end in .gif"),
        ("run --generate uniform --columns 0,1", "cannot be used with"),
        ("sweep --generate uniform --n 10,many", "'many' for '--n <LIST>'"),
        ("sweep --input points.csv --n 10", "cannot be used with"),
        ("sweep --generate uniform --engine cuda,gpu", "unknown engine `gpu`"),
        ("compare a", "<B>"),
        ("verify --generate uniform --engine cuda,gpu", "unknown engine `gpu`"),
        ("verify", "--input <FILE>"),
        (
            "run --generate uniform --out found.csv",
            "expected a folder, not a .csv file; use --neighbors for that file",
        ),
        ("run --generate uniform --out run.warpscope", "use --record for that file"),
        ("lesson --lesson sort --out a.png", "use --png for that file"),
    ];
    for (args, expected) in cases {
        let error = place.fails(2, args);
        assert!(error.contains(expected), "{args}: {error}");
    }
    let generate = "unexpected argument '--generate' found; tip: this command reads a file; `warpscope \
                    generate SPEC FILE` writes one";
    for args in
        ["knn --generate uniform:n=1000,d=2 10 -k 3", "analyse --generate uniform", "info --generate uniform"]
    {
        assert_eq!(place.fails(2, args), generate, "{args}");
    }
    assert_eq!(
        place.fails(2, "knn points.csv --neighbours 3"),
        "unexpected argument '--neighbours' found; tip: use --k"
    );
    let similar = place.fails(2, "knn points.csv --colums x");
    assert!(
        similar.contains("; tip: a similar argument exists: '--columns'") && !similar.contains("as a value"),
        "{similar}"
    );
    // Errors found by clap. The input does not exist; it must not be opened.
    let k = "k = 0: must be between 1 and 4294967295";
    let cases = [
        ("run --input none.csv --k 0", k),
        ("verify --input none.csv --k 0", k),
        ("sweep --input none.csv --k 5,0", k),
        ("run --input none.csv --k 5000000000", "k = 5000000000: must be between 1 and 4294967295"),
        (
            "run --input none.csv --k 4294967295 --exclude-self",
            "k = 4294967295: must be between 1 and 4294967294 when the query's own row is excluded",
        ),
        ("run --input none.csv --queries 0", "q = 0: there are no queries"),
        ("sweep --input none.csv --q 5,0", "q = 0: there are no queries"),
        (
            "run --input none.csv --queries at:1,2 --exclude-self",
            "--exclude-self: not available for a query given by coordinates; needs a query that is a row of \
             the cloud",
        ),
        (
            "verify --input none.csv --queries q.csv --exclude-self",
            "--exclude-self: not available for queries from a file; needs queries that are rows of the cloud",
        ),
        ("run --generate uniform:d=0", "generator `uniform:d=0`: d=0: must be between 1 and 1048576"),
        (
            "run --generate uniform:n=1e9,d=1e6",
            "generator `uniform:n=1e9,d=1e6`: 1000000000 points × 1000000 dimensions are more than \
             2147483648 coordinates",
        ),
        (
            "sweep --generate spiral --d 2,3",
            "generator `spiral:d=2`: spiral has no parameter `d`; available: n, turns, noise",
        ),
        ("generate uniform:n=x a.csv", "generator `uniform:n=x`: n=x is not a whole number"),
        ("generate uniform a.foo", "cannot write .foo; use .csv, .npy, .fvecs or .fbin: a.foo"),
        (
            "lesson --generate uniform:n=0 --out a",
            "generator `uniform:n=0`: n=0: must be between 1 and 2147483648",
        ),
        (
            "gui --frames 2 --generate uniform:n=0",
            "generator `uniform:n=0`: n=0: must be between 1 and 2147483648",
        ),
        (
            "gui --lesson 14 --png a.png",
            "unknown lesson `14`; available: 1 to 13, or problem, heap, buffer, wait, sort, wide, merge, \
             search, order, own-data, pruning, warp-select, radix-select",
        ),
    ];
    for (args, expected) in cases {
        // There are no notes about queries that are not run.
        let done = place.call(args);
        assert_eq!((done.code, done.stderr), (2, format!("error: {expected}\n")), "{args}");
    }
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0, "nothing was written");
}

#[cfg(not(feature = "gui"))]
#[test]
fn builds_without_gui_explain_how_to_enable_it() {
    let place = TestDir::new();
    place.write("points.csv", POINTS);
    for args in ["", "gui", "points.csv", "gui points.csv"] {
        let error = place.fails(1, args);
        assert!(
            error.starts_with("cannot open the window: this build excludes it")
                && error.contains("cargo build"),
            "{error}"
        );
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let place = TestDir::new();
    let args =
        "sweep --generate uniform --n 100 --q 5 --k 1,2,3,4,5,6,7,8 --engine lockstep --repeats 1 --warmup 0";
    let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(first.starts_with("data,engine,n,"), "{first}");
    drop(stdout);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
    place.ok("generate uniform:n=50,d=2 points.csv");
    // The answer has more rows than a pipe buffers.
    place.ok("generate uniform:n=3000,d=2 cloud.csv");
    for args in [
        "knn cloud.csv -k 50 -o -",
        "knn cloud.csv -k 50 -o - --format arrow",
        "knn cloud.csv --radius 0.2 -o -",
    ] {
        let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 5]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.contains("error")), (Some(0), false), "{args}: {said}");
    }
    // The reader closes the pipe before anything is written.
    for args in [
        "knn points.csv --engine kdtree -o -",
        "knn points.csv --engine kdtree -o - --format arrow",
        "--help",
        "devices",
        "run --generate uniform:n=50 --queries all --engine lockstep",
        "verify --generate uniform:n=50 --queries all",
    ] {
        let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let (_, stderr) = super::without_choice(&String::from_utf8_lossy(&output.stderr));
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{args}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let place = TestDir::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = place.command("devices").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: cannot write: No space left on device (os error 28): stdout\n"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_output_does_not_prevent_other_outputs() {
    let place = TestDir::new();
    std::os::unix::fs::symlink("/dev/full", place.path("n.csv")).unwrap();
    let done = place.call(
        "run --generate uniform:n=200,d=2 --queries 20 --k 3 --repeats 1 --neighbors n.csv --out run \
         --record r.warpscope",
    );
    let errors: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!((done.code, errors.len()), (1, 1), "{}", done.stderr);
    assert!(errors[0].contains("No space left on device") && errors[0].ends_with("n.csv"), "{}", errors[0]);
    place.ok("info run");
    place.ok("info r.warpscope");
}

#[test]
fn unrelated_folders_are_not_overwritten() {
    let place = TestDir::new();
    place.write("run.json", "{\"mine\": 1}");
    let refused = place.fails(1, "run --generate uniform:n=200,d=2 --queries 20 --k 3 --repeats 1 --out .");
    assert!(
        refused.starts_with("cannot write: the run.json in the folder was not written by a run"),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(place.path("run.json")).unwrap(), "{\"mine\": 1}");
    let unnamed = place.command("run --generate uniform:n=200,d=2 --out").arg("").output().unwrap();
    assert_eq!(unnamed.status.code(), Some(2));
}

#[test]
fn truncated_timings_are_not_compared() {
    let place = TestDir::new();
    place.ok("run --generate uniform:n=200,d=2 --queries 20 --k 3 --engine lockstep --repeats 3 --warmup 0 \
              --out a");
    let whole = fs::read_to_string(place.path("a/timings.csv")).unwrap();
    place.ok("compare a a");
    let lines: Vec<&str> = whole.lines().collect();
    for cut in [lines[..4].join("\n") + "\n", whole[..whole.len() - 4].to_owned()] {
        place.write("a/timings.csv", &cut);
        let refused = place.fails(1, "compare a a");
        assert!(
            refused.contains("complete repeats of the search, but run.json has 3; it may be truncated"),
            "{refused}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_size_limit_is_an_error_and_leaves_no_files() {
    let place = TestDir::new();
    let limited =
        format!("ulimit -f 8; exec '{}' generate uniform:n=1e5 a.csv", env!("CARGO_BIN_EXE_warpscope"));
    let done = Command::new("sh").arg("-c").arg(limited).current_dir(place.path("")).output().unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(
        (done.status.code(), stderr.starts_with("error: cannot write: File too large")),
        (Some(1), true),
        "{stderr}"
    );
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0);
}

#[test]
fn errors_about_missing_names_list_alternatives() {
    let place = TestDir::new();
    place.ok("generate uniform:n=50,d=2 points.csv");
    assert_eq!(
        place.fails(1, "knn point.csv"),
        "cannot read: No such file or directory (os error 2), but there is points.csv: point.csv"
    );
    assert_eq!(
        place.fails(1, "knn points.csv -o none/a.csv"),
        "cannot write: there is no folder none: none/a.csv"
    );
    place.write("named.csv", "longitude,latitude\n1,2\n");
    let column = place.fails(1, "knn named.csv --columns longitude,latitud");
    assert!(
        column.starts_with(
            "column `latitud`: not found (did you mean `latitude`?); available: 0 `longitude`, 1 \
             `latitude`"
        ),
        "{column}"
    );
}
