//! `knn`: the answer, once.

use super::*;

fn place() -> Place {
    let place = Place::new();
    place.write("line.csv", "x\n0\n1\n-1\n2\n-2\n9\n");
    place.write("places.csv", "name,longitude,latitude\nhere,0,0\nnear,0,0.01\nfar,0,1\nacross,180,0\n");
    place
}

#[test]
fn the_nearest_are_written_in_any_format_or_printed() {
    let place = place();
    let csv = "query,rank,index,squared_distance\n0,0,1,1\n0,1,2,1\n1,0,0,1\n1,1,3,1\n";
    assert_eq!(place.ok("knn line.csv rows:0,1 -k 2 --exclude-self -o -").stdout, csv);
    place.ok("knn line.csv rows:0,1 -k 2 --exclude-self -o found.csv");
    assert_eq!(fs::read_to_string(place.path("found.csv")).unwrap(), csv);
    let report = json(&place.ok("knn line.csv -k 2 -o found.ivecs --json").stdout);
    assert_eq!((&report["queries"], &report["k"], &report["neighbors"]), (&6.into(), &2.into(), &12.into()));
    assert!(place.path("found.fvecs").exists());
    let text = place.ok("knn line.csv at:8 -k 1 --engine kdtree").stdout;
    assert!(text.contains("1 nearest neighbour, l2") && text.contains("kdtree on ") && text.contains("   0      5                 1"), "{text}");
}

#[test]
fn the_queries_are_counted_and_an_index_is_said_where_there_is_one() {
    let place = place();
    place.write("asked.csv", "x\n5\n6\n7\n");
    for (args, queries, index) in [
        ("rows:0,1 -k 2 --engine sort", "2 queries: rows listed", false),
        ("-k 2 --engine kdtree", "6 queries: every row", true),
        ("asked.csv -k 2 --engine lockstep", "3 queries: those of asked.csv", false),
        ("at:8 --radius 2", "1 query: the place 8", true),
    ] {
        let text = place.ok(&format!("knn line.csv {args}")).stdout;
        let line = |what: &str| text.lines().find_map(|line| line.strip_prefix(what)).unwrap_or_default().trim().to_owned();
        assert_eq!((line("queries"), line("time").contains(" s with the index, ")), (queries.to_owned(), index), "{text}");
        assert!(line("time").contains(" on "), "{text}");
    }
}

/// The first line on stderr of a call that then is killed.
fn first_note(place: &Place, args: &str) -> String {
    let mut child = place.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    line
}

#[test]
fn large_answers_are_announced_with_their_size() {
    let place = place();
    for (args, said) in [
        ("knn line.csv -k 30000000 -o huge.ibin", "180,000,000 neighbours, 1.44 GB to huge.ibin and huge.fbin"),
        ("knn line.csv -k 30000000 -o huge.npz", "180,000,000 neighbours, 2.16 GB to huge.npz"),
        ("knn line.csv -k 30000000 -o -", "180,000,000 neighbours, about 4.25 GB to standard output"),
        ("knn line.csv -k 30000000", "180,000,000 neighbours, which are counted only; --out FILE.ibin keeps them, in 1.44 GB"),
        ("run --input line.csv --queries all --k 30000000 --neighbors huge.ivecs", "180,000,000 neighbours, 1.44 GB to huge.ivecs and huge.fvecs"),
    ] {
        assert_eq!(first_note(&place, args), format!("note: answers {said}\n"), "{args}");
    }
    assert_eq!(place.ok("knn line.csv -k 3 --engine kdtree -o small.ibin").stderr, "");
    // A file that cannot hold them is refused before they are searched.
    for command in [
        "run --input line.csv --queries rows:0 --k 4000000000 --neighbors a.ivecs",
        "run --input line.csv --queries all --k 4000000000 --neighbors a.ivecs",
    ] {
        assert_eq!(place.fails(1, command), "k = 4000000000 does not fit the 32-bit numbers of .ivecs; use .csv, .parquet or .npz: a.ivecs");
    }
}

#[test]
fn all_within_a_radius_are_listed() {
    let place = place();
    for engine in ["auto", "bvh", "kdtree"] {
        let done = place.ok(&format!("knn line.csv rows:0,5 --radius 1 --engine {engine} -o -"));
        let csv = "query,query_row,rank,index,squared_distance,distance\n0,0,0,0,0,0\n0,0,1,1,1,1\n0,0,2,2,1,1\n1,5,0,5,0,0\n";
        assert_eq!(done.stdout, csv, "{engine}");
    }
    let report = json(&place.ok("knn line.csv --radius 1 --exclude-self -o found.npz --json").stdout);
    let of = |name: &str| report[name].as_f64().unwrap();
    assert_eq!([of("neighbors"), of("without"), of("most"), of("radius")], [8.0, 1.0, 2.0, 1.0]);
    place.ok("knn line.csv --radius 1 -o found.parquet");
    assert!(place.path("found.npz").exists() && place.path("found.parquet").exists());
}

#[test]
fn places_are_searched_on_the_globe_unless_asked_otherwise() {
    let place = place();
    let done = place.ok("knn places.csv rows:0 --radius 2km -o -");
    assert!(done.stderr.contains("searched on the globe, in km; --metric l2 takes them as a plane"), "{}", done.stderr);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines[..2], ["query,query_row,rank,index,squared_distance,distance_km", "0,0,0,0,0,0"]);
    assert!(lines.len() == 3 && lines[2].starts_with("0,0,1,1,") && lines[2].contains(",1.11"), "{lines:?}");
    assert_eq!(place.ok("knn places.csv rows:0 --radius 1100m -o -").stdout.lines().count(), 2, "1.1119 km are farther");
    assert_eq!(place.ok("knn places.csv rows:0 --radius 0.01 --metric l2 -o -").stdout.lines().count(), 3);
}

#[test]
fn wrong_usage_is_said() {
    let place = place();
    for (code, args, said) in [
        (2, "--radius 1 -k 3", "the argument '--radius <DISTANCE>' cannot be used with '--k <NUMBER>'"),
        (2, "--radius 1km", "--radius: with the l2 metric a distance is in the cloud's own unit: write 1, not `1km`"),
        (2, "--radius=-1", "--radius: `-1` is not a distance: write a number of 0 or more"),
        (2, "--radius 1 --engine bvh:packets=on", "--engine bvh:packets=on: a search by radius has no parameters"),
        (2, "--radius 1 --engine lockstep", "lockstep finds the k nearest only: bvh and kdtree list all within a radius"),
        (2, "-o - --json", "--json and --out - both print to standard output: write the neighbours to a file"),
        (2, "at:1 --exclude-self", "--exclude-self: the query is a place, and so no row of the cloud"),
    ] {
        let error = place.fails(code, &format!("knn line.csv {args}"));
        assert!(error.contains(said), "{args}: {error}");
    }
    assert!(place.fails(2, "knn line.csv --radius 1 -o found.ivecs").contains("found.ivecs"));
    // Distances are written beside: here over the cloud.
    place.ok("generate uniform:n=9,d=2 cloud.fvecs");
    assert!(place.fails(2, "knn cloud.fvecs -k 2 -o cloud.ivecs").contains("cloud.fvecs"));
    assert!(place.fails(2, "knn line.csv -o line.csv").contains("line.csv"));
}

#[test]
fn every_point_may_be_asked_for_and_more() {
    let place = place();
    place.ok("generate uniform:n=2300,d=2 cloud.fvecs");
    let report = json(&place.ok("knn cloud.fvecs 3 -k 2300 -o found.ivecs --json").stdout);
    assert_eq!((&report["queries"], &report["neighbors"]), (&3.into(), &6900.into()));
    let words: Vec<i32> = fs::read(place.path("found.ivecs")).unwrap().as_chunks().0.iter().map(|word| i32::from_le_bytes(*word)).collect();
    assert_eq!(words.len(), 3 * 2301);
    for row in words.chunks(2301) {
        let mut rows = row[1..].to_vec();
        rows.sort_unstable();
        assert!(row[0] == 2300 && rows.into_iter().eq(0..2300));
    }
    let printed = place.ok("knn line.csv rows:0 -k 3000 -o -").stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!((lines.len(), lines[1], lines[7], lines[3000]), (3001, "0,0,0,0", "0,6,-1,inf", "0,2999,-1,inf"));
}

#[cfg(target_os = "linux")]
#[test]
fn answers_that_nothing_holds_are_refused_with_their_size() {
    let place = place();
    place.ok("generate uniform:n=5000,d=2 cloud.csv");
    let error = place.fails(1, "knn cloud.csv -k 4294967295 -o found.csv");
    // The memory is asked first, of which some machines have enough for a query.
    let memory = "k = 4294967295: the neighbours of one query need 98304 MiB of memory, where ";
    let disk = "cannot write: 4,294,967,295 neighbours of each of 5,000 queries take ";
    assert!(error.contains(memory) && error.contains("use a smaller k; there are 5000 points") || error.contains(disk), "{error}");
    assert!(!place.path("found.csv").exists());
    for command in ["run --warmup 0 --repeats 1", "run --dry-run", "verify --engine sort"] {
        let error = place.fails(1, &format!("{command} --input cloud.csv --queries all --k 4294967295"));
        let said = "5000 queries × 4294967295 neighbours need 327680000 MiB of memory, where ";
        assert!(error.contains(said) && error.contains("or have `warpscope knn -o FILE` write them part by part"), "{command}: {error}");
    }
}
