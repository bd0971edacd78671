//! Tests `knn`.

use super::*;

fn place() -> TestDir {
    let place = TestDir::new();
    place.write("line.csv", "x\n0\n1\n-1\n2\n-2\n9\n");
    place.write("places.csv", "name,longitude,latitude\nhere,0,0\nnear,0,0.01\nfar,0,1\nacross,180,0\n");
    place
}

#[test]
fn neighbours_are_written_in_any_format_or_printed() {
    let place = place();
    let csv = "query,query_row,rank,index,squared_distance,distance\n0,3,0,1,1,1\n0,3,1,0,4,2\n1,1,0,0,1,1\n\
               1,1,1,3,1,1\n";
    assert_eq!(place.ok("knn line.csv rows:3,1 -k 2 --exclude-self -o -").stdout, csv);
    place.ok("knn line.csv rows:3,1 -k 2 --exclude-self -o found.csv");
    assert_eq!(fs::read_to_string(place.path("found.csv")).unwrap(), csv);
    let report = json(&place.ok("knn line.csv -k 2 -o found.ivecs --json").stdout);
    assert_eq!((&report["queries"], &report["k"], &report["neighbors"]), (&6.into(), &2.into(), &12.into()));
    assert!(place.path("found.fvecs").exists());
    let text = place.ok("knn line.csv at:8 -k 1 --engine kdtree").stdout;
    assert!(
        text.contains("1 nearest neighbour, l2")
            && text.contains("kdtree on ")
            && text.contains("   0      5                 1"),
        "{text}"
    );
}

#[test]
fn the_summary_counts_queries_and_mentions_an_index() {
    let place = place();
    place.write("asked.csv", "x\n5\n6\n7\n");
    for (args, queries, index) in [
        ("rows:0,1 -k 2 --engine sort", "2 queries: listed rows", false),
        ("-k 2 --engine kdtree", "6 queries: every row", true),
        ("asked.csv -k 2 --engine lockstep", "3 queries: the rows of asked.csv", false),
        ("at:8 --radius 2", "1 query: the point x 8", true),
    ] {
        let text = place.ok(&format!("knn line.csv {args}")).stdout;
        let line = |what: &str| {
            text.lines().find_map(|line| line.strip_prefix(what)).unwrap_or_default().trim().to_owned()
        };
        assert_eq!(
            (line("queries"), line("time").contains(" s with the index, ")),
            (queries.to_owned(), index),
            "{text}"
        );
        assert!(line("time").contains(" on "), "{text}");
    }
}

/// Runs a call, returns its first line on stderr after the note on columns, and kills it.
fn first_note(place: &TestDir, args: &str) -> String {
    let mut child = place.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while line.is_empty() || line.starts_with("note: searches ") {
        line.clear();
        if lines.read_line(&mut line).unwrap() == 0 {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    line
}

#[test]
fn the_size_of_large_answers_is_announced() {
    let place = place();
    for (args, said) in [
        (
            "knn line.csv -k 30000000 -o huge.ibin",
            "180,000,000 neighbours, 1.44 GB to huge.ibin and huge.fbin",
        ),
        ("knn line.csv -k 30000000 -o huge.npz", "180,000,000 neighbours, 3.60 GB to huge.npz"),
        ("knn line.csv -k 30000000 -o -", "180,000,000 neighbours, about 8.03 GB to standard output"),
        (
            "knn line.csv -k 30000000",
            "180,000,000 neighbours, counted but not saved; save them with --out FILE.ibin (1.44 GB)",
        ),
        (
            "run --input line.csv --queries all --k 30000000 --neighbors huge.ivecs",
            "180,000,000 neighbours, 1.44 GB to huge.ivecs and huge.fvecs",
        ),
    ] {
        assert_eq!(first_note(&place, args), format!("note: answers {said}\n"), "{args}");
    }
    assert_eq!(place.ok("knn line.csv -k 3 --engine kdtree -o small.ibin").stderr, "");
    // A format too small for the answer is refused before the search.
    for command in [
        "run --input line.csv --queries rows:0 --k 4000000000 --neighbors a.ivecs",
        "run --input line.csv --queries all --k 4000000000 --neighbors a.ivecs",
    ] {
        assert_eq!(
            place.fails(1, command),
            "k = 4000000000 does not fit the 32-bit numbers of .ivecs; use .csv, .parquet or .npz: a.ivecs"
        );
    }
}

#[test]
fn all_points_within_a_radius_are_listed() {
    let place = place();
    for engine in ["auto", "bvh", "kdtree"] {
        let done = place.ok(&format!("knn line.csv rows:0,5 --radius 1 --engine {engine} -o -"));
        let csv = "query,query_row,rank,index,squared_distance,distance\n0,0,0,0,0,0\n0,0,1,1,1,1\n\
                   0,0,2,2,1,1\n1,5,0,5,0,0\n";
        assert_eq!(done.stdout, csv, "{engine}");
    }
    let report = json(&place.ok("knn line.csv --radius 1 --exclude-self -o found.npz --json").stdout);
    let of = |name: &str| report[name].as_f64().unwrap();
    let named = ["neighbors", "empty_queries", "max_neighbors", "radius", "schema_version"];
    assert_eq!(named.map(of), [8.0, 1.0, 2.0, 1.0, 2.0]);
    let earlier = json(&place.ok("knn line.csv --radius 1 --exclude-self --json --schema 1").stdout);
    let named = ["neighbors", "without", "most", "radius", "schema_version"];
    assert_eq!(named.map(|name| earlier[name].as_f64().unwrap()), [8.0, 1.0, 2.0, 1.0, 1.0]);
    let earlier = json(&place.ok("info line.csv --json --schema 1").stdout);
    assert!(earlier["parts"].is_array() && earlier["datasets"].is_null());
    place.ok("knn line.csv --radius 1 -o found.parquet");
    assert!(place.path("found.npz").exists() && place.path("found.parquet").exists());
}

#[test]
fn decimals_and_large_integers_are_compared_exactly() {
    let place = place();
    place.write("tenths.csv", "x,y\n0.3,0\n0.1,0\n0.5,0\n0.2,0\n0.4,0\n0,0\n");
    let rows = |command: &str| {
        let csv = place.ok(&format!("{command} -o -")).stdout;
        let at = csv.lines().next().unwrap().split(',').position(|name| name == "index").unwrap();
        let row = |line: &str| line.split(',').nth(at).unwrap().to_owned();
        csv.lines().skip(1).map(row).collect::<Vec<_>>().join(",")
    };
    // Equal distances, which binary fractions would order differently, come by row.
    for engine in ["kdtree", "lockstep", "bvh"] {
        assert_eq!(rows(&format!("knn tenths.csv rows:0 -k 6 --engine {engine}")), "0,3,4,1,2,5");
        assert_eq!(rows(&format!("knn tenths.csv at:0,0 -k 3 --engine {engine}")), "5,1,3");
    }
    assert_eq!(rows("knn tenths.csv at:0.2,0 -k 3"), "3,0,1");
    assert_eq!(rows("knn tenths.csv at:0.2,0 --radius 0.1"), "3,0,1");
    assert_eq!(rows("knn tenths.csv at:0,0 --radius 0.3"), "5,1,3,0");
    assert_eq!(rows("knn tenths.csv at:0,0 --radius 0.3 --radius-open"), "5,1,3");
    assert_eq!(rows("knn tenths.csv rows:0 --radius 0.1"), "0,3,4");
    place.write("ids.csv", "x\n9007199254740995\n9007199254740992\n9007199254740993\n9007199254740994\n");
    assert_eq!(rows("knn ids.csv rows:1 -k 4"), "1,2,3,0");
    assert_eq!(rows("knn ids.csv rows:1 --radius 2"), "1,2,3");
    let error = place.fails(2, "knn tenths.csv --radius 1 --arithmetic f32");
    assert!(
        error.contains("--arithmetic f32: --radius uses the file's values; drop --arithmetic"),
        "{error}"
    );
    // Two columns of one name keep their own integers.
    place.write("twice.csv", "v,v\n9007199254740993,9007199254740993\n9007199254740992,9007199254740997\n");
    let near = place.ok("knn twice.csv rows:0 -k 2 -o -").stdout;
    assert!(near.lines().nth(2).unwrap().contains(",17,4.1231"), "{near}");
    place.write("same.csv", &format!("x\n{}0.5\n", "0.25\n".repeat(500)));
    assert_eq!(rows("knn same.csv rows:400 -k 3"), "0,1,2");
    place.write("parallel.csv", "x,y\n3,3\n1,1\n0.1,0.1\n1,0\n");
    assert_eq!(rows("knn parallel.csv rows:1 -k 3 --metric cosine --self-first"), "1,0,2");
    let open = json(&place.ok("knn tenths.csv --radius 0.1 --radius-open --json").stdout);
    assert_eq!((&open["radius_open"], &open["arithmetic"]), (&true.into(), &"file".into()));
}

#[cfg(target_os = "linux")]
#[test]
fn answers_larger_than_memory_are_streamed_or_refused() {
    let place = place();
    // The answer has 400 million neighbours and needs 3.2 GB.
    place.ok("generate uniform:n=20000,d=2 many.npy");
    let limited = |rest: &str| {
        let knn = format!(
            "ulimit -v 1500000; '{}' knn many.npy --radius 1e30 {rest}",
            env!("CARGO_BIN_EXE_warpscope")
        );
        let done = Command::new("bash").args(["-c", &knn]).current_dir(place.path("")).output().unwrap();
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    let (rows, said) = limited("-o - | head -n 2");
    assert!(
        rows.starts_with("query,query_row,rank,index,squared_distance,distance\n0,0,0,0,0,0\n")
            && !said.contains("error"),
        "{said}"
    );
    let (_, said) = limited("-o many.npz");
    let parts: Vec<u64> =
        said.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
    let counted = said
        .lines()
        .find_map(|line| line.strip_prefix("error: ")?.split_once(" neighbours within 1e30 for "));
    assert!(
        counted.is_some() && parts.contains(&20_000) && said.contains("MiB is free; use a smaller --radius"),
        "{said}"
    );
    assert!(
        counted.is_some_and(|(found, _)| found.parse::<u64>().unwrap() < 300_000_000),
        "the search continued: {said}"
    );
    assert!(!place.path("many.npz").exists());
}

#[test]
fn positions_use_haversine_unless_another_metric_is_given() {
    let place = place();
    let done = place.ok("knn places.csv rows:0 --radius 2km -o -");
    assert!(
        done.stderr
            .contains("using metric haversine, in km; --metric l2 treats degrees as plane coordinates"),
        "{}",
        done.stderr
    );
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines[..2], ["query,query_row,rank,index,squared_distance,distance_km", "0,0,0,0,0,0"]);
    assert!(lines.len() == 3 && lines[2].starts_with("0,0,1,1,") && lines[2].contains(",1.11"), "{lines:?}");
    assert_eq!(
        place.ok("knn places.csv rows:0 --radius 1100m -o -").stdout.lines().count(),
        2,
        "1.1119 km are farther"
    );
    assert_eq!(place.ok("knn places.csv rows:0 --radius 0.01 --metric l2 -o -").stdout.lines().count(), 3);
}

#[test]
fn invalid_options_are_refused() {
    let place = place();
    for (code, args, said) in [
        (2, "--radius 1 -k 3", "the argument '--radius <DISTANCE>' cannot be used with '--k <NUMBER>'"),
        (
            2,
            "--radius 1km",
            "--radius `1km`: the l2 metric accepts no unit (it uses the cloud's own); write 1",
        ),
        (2, "--radius=-1", "--radius: `-1` is not a distance; expected a non-negative number"),
        (
            2,
            "--radius 1 --engine bvh:packets=on",
            "--engine bvh:packets=on: radius searches accept no engine parameters",
        ),
        (
            2,
            "--radius 1 --engine lockstep",
            "lockstep finds the k nearest only; use bvh or kdtree for all within a radius",
        ),
        (
            2,
            "-o - --json",
            "--json and --out - both print to standard output; write the neighbours to a file",
        ),
        (
            2,
            "at:1 --exclude-self",
            "--exclude-self: not available for a query given by coordinates; needs a query that is a row of \
             the cloud",
        ),
    ] {
        let error = place.fails(code, &format!("knn line.csv {args}"));
        assert!(error.contains(said), "{args}: {error}");
    }
    for (args, said) in [
        (
            "at:1 --self-first",
            "--self-first: not available for a query given by coordinates; needs a query that is a row of \
             the cloud",
        ),
        (
            "line.csv --self-first",
            "--self-first: not available for queries from a file; needs queries that are rows of the cloud",
        ),
        ("--self-first --exclude-self", "the argument '--self-first' cannot be used with '--exclude-self'"),
        ("--format arrow", "--format arrow: add `-o -` to print the neighbours"),
        (
            "--format arrow -o a.arrow",
            "--format applies to `-o -` only; a file's format follows from its \
                                       extension: a.arrow",
        ),
        (
            "--radius 1 -o - --format npy",
            "--format npy: the number of neighbours within a radius varies by query; use arrow or parquet",
        ),
        ("--graph g.csv --radius 1", "--graph needs the k nearest neighbours; drop --radius"),
        ("--graph g.csv -o g.csv", "--out and --graph name the same file; change one of them"),
        ("rows:1 --graph g.csv", "--graph needs the neighbours of all rows; drop QUERIES"),
        (
            "--graph g.npz",
            "--graph: the format of an .npz is ambiguous; add --graph-as umap or --graph-as csr: g.npz",
        ),
        (
            "--graph g.npz --graph-as umap --mutual",
            "--mutual: --graph-as umap needs the same number of neighbours for each row; use --graph-as csr \
             or drop --mutual",
        ),
        ("--symmetrise --mutual --graph g.csv", "the argument '--symmetrise' cannot be used with '--mutual'"),
        ("--mutual", "the following required arguments were not provided: --graph <FILE>"),
        (
            "--threads 0",
            "invalid value '0' for '--threads <NUMBER>': invalid number of threads `0`: must be between 1 \
             and 1024",
        ),
        ("--threads 9999", "invalid number of threads `9999`: must be between 1 and 1024"),
    ] {
        let error = place.fails(2, &format!("knn line.csv {args}"));
        assert!(error.contains(said), "{args}: {error}");
    }
    assert!(
        place
            .fails(2, "knn - - -k 1")
            .contains("`-` (standard input) is given twice, but can be read only once")
    );
    assert!(place.fails(2, "knn line.csv --radius 1 -o found.ivecs").contains("found.ivecs"));
    // Distances are written to a second file; here it would replace the data.
    place.ok("generate uniform:n=9,d=2 cloud.fvecs");
    assert!(place.fails(2, "knn cloud.fvecs -k 2 -o cloud.ivecs").contains("cloud.fvecs"));
    assert!(place.fails(2, "knn line.csv -o line.csv").contains("line.csv"));
}

#[test]
fn k_can_exceed_the_number_of_points() {
    let place = place();
    place.ok("generate uniform:n=2300,d=2 cloud.fvecs");
    let report = json(&place.ok("knn cloud.fvecs 3 -k 2300 -o found.ivecs --json").stdout);
    assert_eq!((&report["queries"], &report["neighbors"]), (&3.into(), &6900.into()));
    let words: Vec<i32> = fs::read(place.path("found.ivecs"))
        .unwrap()
        .as_chunks()
        .0
        .iter()
        .map(|word| i32::from_le_bytes(*word))
        .collect();
    assert_eq!(words.len(), 3 * 2301);
    for row in words.chunks(2301) {
        let mut rows = row[1..].to_vec();
        rows.sort_unstable();
        assert!(row[0] == 2300 && rows.into_iter().eq(0..2300));
    }
    let printed = place.ok("knn line.csv rows:0 -k 3000 -o -").stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        (lines.len(), lines[1], lines[7], lines[3000]),
        (3001, "0,0,0,0,0,0", "0,0,6,-1,inf,inf", "0,0,2999,-1,inf,inf")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn impossibly_large_answers_are_refused_with_their_size() {
    let place = place();
    place.ok("generate uniform:n=5000,d=2 cloud.csv");
    let error = place.fails(1, "knn cloud.csv -k 4294967295 -o found.csv");
    // Memory is checked first; some machines have enough for one query.
    let memory = "k = 4294967295: the neighbours of one query need 98304 MiB of memory, but only ";
    let disk = "cannot write: 4,294,967,295 neighbours of each of 5,000 queries need ";
    assert!(
        error.contains(memory) && error.contains("use a smaller k (there are 5000 points)")
            || error.contains(disk),
        "{error}"
    );
    assert!(!place.path("found.csv").exists());
    for command in ["run --warmup 0 --repeats 1", "run --dry-run", "verify --engine sort"] {
        let error = place.fails(1, &format!("{command} --input cloud.csv --queries all --k 4294967295"));
        let said = "5000 queries × 4294967295 neighbours need 327680000 MiB of memory, but only ";
        assert!(
            error.contains(said) && error.contains("or stream them to a file with `warpscope knn -o FILE`"),
            "{command}: {error}"
        );
    }
}

#[test]
fn sampled_queries_are_identified_in_the_output() {
    let place = place();
    for ending in ["csv", "npz"] {
        assert_eq!(
            place.ok(&format!("knn line.csv 3 -k 2 --engine kdtree --exclude-self -o drawn.{ending}")).stderr,
            ""
        );
    }
    let (head, rows) = table(&place.path("drawn.csv"));
    assert_eq!(head, ["query", "query_row", "rank", "index", "squared_distance", "distance"]);
    let x = [0.0, 1.0, -1.0, 2.0, -2.0, 9.0];
    for row in &rows {
        let [query_row, index] = [1, 3].map(|at| row[at].parse::<usize>().unwrap());
        assert_eq!(row[5].parse::<f64>(), Ok(f64::abs(x[query_row] - x[index])), "{row:?}");
    }
    // The archive has the same rows, one per query.
    let array = json(&place.ok("info drawn.npz:query_rows --json").stdout);
    assert_eq!(array["cloud"]["points"], 3);
    let said = place.ok("knn line.csv rows:5,2 -k 2 --engine kdtree -o listed.ivecs").stderr;
    assert_eq!(
        said,
        "note: .ivecs files do not store the queries' row numbers; tables and .npz do: listed.ivecs\n"
    );
    assert_eq!(place.ok("knn line.csv -k 2 --engine kdtree -o all.ivecs").stderr, "");
    // A position has no row number.
    assert_eq!(
        place.ok("knn line.csv at:8 -k 1 -o -").stdout,
        "query,rank,index,squared_distance,distance\n0,0,5,1,1\n"
    );
    // Written files are read as answers, including those of earlier versions.
    place.write("old.csv", "query,rank,index,squared_distance\n0,0,5,1\n0,1,3,36\n");
    for found in ["old.csv", "new.csv", "new.npz"] {
        if found != "old.csv" {
            place.ok(&format!("knn line.csv at:8 -k 2 --engine kdtree -o {found}"));
        }
        let verified = place
            .ok(&format!("verify --input line.csv --queries at:8 --k 2 --engine kdtree --reference {found}"))
            .stdout;
        assert!(verified.contains("reference answers agree with the oracle: 1 query"), "{verified}");
    }
}

#[test]
fn self_first_puts_the_querys_row_before_its_duplicates() {
    let place = TestDir::new();
    place.write("same.csv", "x\n5\n5\n5\n5\n6\n");
    let indices = |args: &str| {
        place.ok(&format!("knn same.csv {args} -o found.csv"));
        table(&place.path("found.csv")).1.iter().map(|row| row[3].clone()).collect::<Vec<_>>().join(" ")
    };
    for engine in ["kdtree", "lockstep"] {
        assert_eq!(indices(&format!("rows:2,3,4 -k 3 --engine {engine}")), "0 1 2 0 1 2 4 0 1");
        assert_eq!(
            indices(&format!("rows:2,3,4 -k 3 --engine {engine} --self-first")),
            "2 0 1 3 0 1 4 0 1",
            "{engine}: row 3 was cut off"
        );
    }
    assert_eq!(indices("rows:3,4 --radius 0.5 --self-first"), "3 0 1 2 4");
}

/// Runs a call with bytes on standard input.
pub(super) fn piped(place: &TestDir, args: &str, input: &[u8]) -> (i32, Vec<u8>, String) {
    let mut child = place
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program does not read if it refuses the arguments.
    let writer = std::thread::Builder::new()
        .name("writer".to_owned())
        .spawn(move || _ = std::io::Write::write_all(&mut stdin, &input))
        .unwrap();
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    (
        done.status.code().unwrap(),
        done.stdout,
        super::without_choice(&String::from_utf8(done.stderr).unwrap()).1,
    )
}

#[test]
fn standard_input_is_read_in_every_format() {
    let place = place();
    let folder = tempfile::tempdir().unwrap();
    let search = "-k 2 --engine kdtree -o -";
    let expected = place.ok(&format!("knn line.csv {search}")).stdout.into_bytes();
    place.ok("generate uniform:n=50,d=2 cloud.npy");
    let of_npy = place.ok(&format!("knn cloud.npy {search}")).stdout.into_bytes();
    let (_, arrow, _) = piped(&place, "knn line.csv -k 1 -o - --format arrow", b"");
    fs::write(place.path("stream.arrow"), &arrow).unwrap();
    let of_arrow = place.ok(&format!("knn stream.arrow --columns index {search}")).stdout.into_bytes();
    place.ok("knn line.csv -k 1 -o file.arrow");
    let read = |name: &str| fs::read(place.path(name)).unwrap();
    for (name, more, expected) in [
        ("line.csv", "", &expected),
        ("cloud.npy", "", &of_npy),
        ("stream.arrow", "--columns index", &of_arrow),
        ("file.arrow", "--columns index", &of_arrow),
    ] {
        let (code, found, said) = piped(&place, &format!("knn - {more} {search}"), &read(name));
        assert!(code == 0 && &found == expected, "{name}: {said}");
    }
    let (code, found, said) = piped(&place, "knn line.csv - -k 1 --engine kdtree -o -", b"x\n8\n-3\n");
    assert_eq!((code, String::from_utf8(found).unwrap().lines().nth(2)), (0, Some("1,1,0,4,1,1")), "{said}");
    // Standard input may be a redirected file or a pipe.
    #[cfg(unix)]
    {
        let (code, found, said) = piped(&place, &format!("knn /dev/stdin {search}"), &read("line.csv"));
        assert!(code == 0 && found == expected, "{said}");
        let (code, _, error) = piped(&place, "knn /dev/stdin -k 1", b"x\n1\nnan\n");
        assert!(code == 1 && error.trim_end().ends_with(": /dev/stdin"), "{error}");
    }
    // Neither errors nor reports name the temporary file, which is removed.
    let mut command = place.command("knn - -k 1 --json");
    let report = command
        .env("TMPDIR", folder.path())
        .stdin(fs::File::open(place.path("line.csv")).unwrap())
        .output()
        .unwrap();
    let report = json(&String::from_utf8(report.stdout).unwrap());
    assert_eq!(report["cloud"], "stdin");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let text = String::from_utf8(piped(&place, "knn - -k 1", &read("line.csv")).1).unwrap();
    assert!(text.contains("stdin, 6 points in 1 dimension"), "{text}");
    for (input, said) in
        [(&b""[..], "nothing to read: the file is empty: stdin"), (b"x\n1\nnan\n", ": stdin")]
    {
        let (code, _, error) = piped(&place, "knn - -k 1", input);
        assert!(code == 1 && error.lines().count() == 1 && error.trim_end().ends_with(said), "{error}");
    }
}

#[test]
fn standard_output_can_be_read_back_in_every_format() {
    let place = place();
    let search = "knn line.csv -k 3 --engine kdtree";
    place.ok(&format!("{search} -o found.csv"));
    let (head, rows) = table(&place.path("found.csv"));
    for format in ["tsv", "arrow", "parquet"] {
        let (code, bytes, said) = piped(&place, &format!("{search} -o - --format {format}"), b"");
        assert_eq!((code, said.as_str()), (0, ""), "{format}");
        fs::write(place.path(&format!("printed.{format}")), bytes).unwrap();
        // `verify` reads the printed neighbours.
        let verified = place
            .ok(&format!(
                "verify --input line.csv --queries all --k 3 --engine kdtree --reference printed.{format}"
            ))
            .stdout;
        assert!(verified.contains("reference answers agree with the oracle: 6 queries"), "{verified}");
        let columns = json(&place.ok(&format!("info printed.{format} --json")).stdout)["columns"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!((columns, rows.len()), (head.len(), 18), "{format}");
    }
    let (code, npy, _) = piped(&place, &format!("{search} -o - --format npy"), b"");
    place.ok(&format!("{search} -o found.npy"));
    assert!(code == 0 && npy == fs::read(place.path("found.npy")).unwrap() && npy.starts_with(b"\x93NUMPY"));
    let found: Vec<i64> = npy[128..].as_chunks().0.iter().map(|word| i64::from_le_bytes(*word)).collect();
    assert_eq!(found, rows.iter().map(|row| row[3].parse().unwrap()).collect::<Vec<i64>>());
    // Within a radius the number of neighbours varies, which tables support.
    let (code, bytes, _) = piped(&place, "knn line.csv --radius 1 -o - --format arrow", b"");
    fs::write(place.path("within.arrow"), bytes).unwrap();
    assert_eq!((code, json(&place.ok("info within.arrow --json").stdout)["rows"].as_u64()), (0, Some(14)));
}

#[test]
fn graphs_are_written_directed_symmetrised_or_mutual() {
    let place = place();
    let graph = |command: &str, more: &str| {
        place.ok(&format!("{command} -k 1 --engine kdtree --graph g.csv {more}"));
        fs::read_to_string(place.path("g.csv")).unwrap()
    };
    // 0, 1, -1, 2, -2 and 9 on a line; ties are ordered by row.
    let directed = "row,rank,neighbor,distance\n0,0,1,1\n1,0,0,1\n2,0,0,1\n3,0,1,1\n4,0,2,1\n5,0,3,7\n";
    let either = "row,rank,neighbor,distance\n0,0,1,1\n0,1,2,1\n1,0,0,1\n1,1,3,1\n2,0,0,1\n2,1,4,1\n3,0,1,1\n\
                  3,1,5,7\n4,0,2,1\n5,0,3,7\n";
    for command in ["knn line.csv", "analyse line.csv"] {
        assert_eq!(graph(command, ""), directed);
        assert_eq!(graph(command, "--symmetrise"), either);
        assert_eq!(graph(command, "--mutual"), "row,rank,neighbor,distance\n0,0,1,1\n1,0,0,1\n");
    }
    // The neighbours written with it are those of the graph, without the row itself.
    let report =
        json(&place.ok("knn line.csv -k 1 --graph g.npz --graph-as csr --symmetrise -o n.csv --json").stdout);
    assert_eq!(
        (&report["wrote"], &report["graph"], &report["neighbors"]),
        (&"n.csv".into(), &"g.npz".into(), &6.into())
    );
    assert_eq!(table(&place.path("n.csv")).1[0][3], "1");
    let count =
        |name: &str| json(&place.ok(&format!("info g.npz:{name} --json")).stdout)["cloud"]["points"].as_u64();
    assert_eq!((count("data"), count("indptr")), (Some(10), Some(7)));
    place.ok("knn line.csv -k 2 --graph u.npz --graph-as umap");
    assert_eq!(json(&place.ok("info u.npz:indices --json").stdout)["cloud"]["dims"], 3);
    let empty = place.fails(1, "knn line.csv -k 6 --graph u6.npz --graph-as umap");
    assert_eq!(empty, "--graph-as umap: k = 6: must be between 1 and 5, the number of other rows: u6.npz");
    assert!(
        place
            .ok("knn line.csv -k 6 --graph g6.csv")
            .stderr
            .contains("k = 6 exceeds the 5 other points: ranks from 5 on are empty")
    );
    // Both paths name the same file.
    assert!(
        place
            .fails(2, "knn line.csv -k 2 --graph ./one.csv -o one.csv")
            .starts_with("--out and --graph name the same file")
    );
    assert!(
        place
            .fails(2, "analyse line.csv -k 2 --density --graph ./one.csv --out one.csv")
            .starts_with("--out and --graph name the same file")
    );
    assert!(!place.path("one.csv").exists());
}

#[test]
fn the_number_of_threads_can_be_limited() {
    let place = place();
    let one = place.ok("knn line.csv -k 3 --threads 1 --engine kdtree -o -").stdout;
    assert_eq!(one, place.ok("knn line.csv -k 3 --engine kdtree -o -").stdout);
    let run = |threads: u32| {
        let args = format!(
            "run --input line.csv --k 2 --engine lockstep --warmup 0 --repeats 1 --json --threads {threads}"
        );
        json(&place.ok(&args).stdout)["device"]["details"]["threads"].clone()
    };
    assert_eq!([run(1), run(3)], ["1", "3"]);
    place.ok("verify --input line.csv --k 2 --engine kdtree --threads 2");
    place.ok("analyse line.csv -k 2 --density --threads 2");
}

#[test]
fn notes_warn_of_surprising_results() {
    let place = place();
    let notes = |args: &str| place.ok(args).stderr;
    assert_eq!(
        notes("knn line.csv -k 1 --engine kdtree"),
        "note: -o FILE writes the neighbours, -o - prints them\n"
    );
    assert_eq!(
        [notes("knn line.csv -k 1 --engine kdtree --json"), notes("knn line.csv at:3 -k 1 --engine kdtree")],
        ["", ""]
    );
    assert_eq!(
        notes("knn line.csv at:3 -k 9 --engine kdtree"),
        "note: k = 9 exceeds the 6 points: ranks from 6 on are empty\n"
    );
    place.write("far.csv", "lon,lat\n200,10\n20,95\n");
    let far = "note: lat ranges from 10 to 95, but a latitude in degrees must be between -90 and 90: using \
               metric l2, columns as plane coordinates\n";
    let query = "note: query point: lon = 1, lat = 2\n";
    let found = [
        notes("knn far.csv at:1,2 -k 1 --engine kdtree"),
        notes("knn far.csv at:1,2 -k 1 --metric l2 --engine kdtree"),
    ];
    assert_eq!(found, [format!("{query}{far}"), query.to_owned()]);
    let turned = place.ok("knn far.csv at:52,13 -k 1 --engine kdtree").stdout;
    assert!(turned.contains("the point lon 52, lat 13"), "{turned}");
}

#[test]
fn a_small_answer_does_not_load_the_driver() {
    let place = place();
    for command in ["knn line.csv -k 1 --json", "analyse line.csv -k 1 --density --json"] {
        let done = place.ok(command);
        assert_eq!(
            (json(&done.stdout)["device"].as_str().unwrap(), done.stderr.as_str()),
            ("CPU", ""),
            "{command}"
        );
    }
}

#[test]
fn a_dry_run_predicts_time_and_memory() {
    let place = place();
    let planned = place.ok("knn line.csv -k 2 --dry-run");
    assert!(
        planned.stdout.ends_with("\nTotal: setup and one search.\n") && planned.stdout.contains("chosen: "),
        "{}",
        planned.stdout
    );
    let engines = |plan: &str| json(plan)["engines"].as_array().unwrap().clone();
    let json = place.ok("knn line.csv -k 2 --dry-run --json").stdout;
    let kdtree = engines(&json).into_iter().find(|engine| engine["engine"] == "kdtree").unwrap();
    let [setup, search, total] =
        [&kdtree["setup_ms"], &kdtree["search_ms"], &kdtree["total_ms"]].map(|ms| ms.as_f64().unwrap());
    assert!((setup + search - total).abs() < 1e-9 * total, "total differs from setup plus search: {kdtree}");
    assert!(place.fails(2, "knn line.csv --dry-run -o a.csv").contains("cannot be used with"));
    assert!(
        place
            .fails(2, "knn line.csv --dry-run --metric inner-product")
            .starts_with("--dry-run: not available with --metric inner-product")
    );
}

#[test]
fn mismatched_query_columns_are_noted_or_refused() {
    let place = place();
    place.write("sizes.csv", "size,score\n0,0\n");
    let refused = place.fails(1, "knn places.csv sizes.csv -k 1");
    assert!(
        refused.starts_with("query columns (size, score) do not match data columns (longitude, latitude)"),
        "{refused}"
    );
    place.write("plane.csv", "a,b\n0,0\n1,1\n");
    let note = place.ok("knn plane.csv sizes.csv -k 1 --engine kdtree -o found.csv").stderr;
    assert_eq!(note, "note: query columns size, score are used as a, b: sizes.csv\n");
    let run = place
        .ok("run --input plane.csv --queries sizes.csv --k 1 --engine kdtree --warmup 0 --repeats 1")
        .stderr;
    assert!(run.contains(note.trim_end()), "{run}");
    assert_eq!(
        place.ok("knn plane.csv sizes.csv --columns 0,1 -k 1 --engine kdtree -o by-number.csv").stderr,
        ""
    );
    place.write("lat.csv", "lat,lon\n0,0\n");
    assert!(
        !place.ok("knn places.csv lat.csv -k 1 -o found.csv").stderr.contains("are used as"),
        "the same by other names"
    );
}

#[test]
fn neighbours_are_ordered_by_file_values() {
    let place = TestDir::new();
    // Steps that f32 does not resolve, with far points that forbid a small origin. The order of neighbours
    // that look equally far is that of the decimals, ties by row.
    let rows: String = (0..300).map(|at| format!("{:.8}\n", 1.0 + f64::from(300 - at) * 1e-8)).collect();
    place.write("steps.csv", &format!("x\n100000\n-100000\n{rows}"));
    let nearest = |flags: &str| -> Vec<(u32, f64)> {
        let out = place.ok(&format!("knn steps.csv rows:151 -k 5 --columns x -o -{flags}")).stdout;
        let row = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[3].parse().unwrap(), fields[5].parse().unwrap())
        };
        out.lines().skip(1).map(row).collect()
    };
    for engine in [
        "",
        " --engine kdtree",
        " --engine lockstep",
        " --engine bvh --device cpu",
        " --engine sort --device cpu",
    ] {
        let found = nearest(engine);
        assert_eq!(
            found.iter().map(|found| found.0).collect::<Vec<_>>(),
            [151, 150, 152, 149, 153],
            "{engine}"
        );
        for (found, expected) in found.iter().zip([0.0, 1e-8, 1e-8, 2e-8, 2e-8]) {
            assert!((found.1 - expected).abs() < 1e-14, "{engine}: {found:?}");
        }
    }
    let rounded = nearest(" --arithmetic f32");
    assert!(rounded.iter().all(|found| found.1 == 0.0) && rounded[0].0 < 151, "{rounded:?}");
}
