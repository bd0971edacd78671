//! `knn --with` and `--with-query`: columns of files joined to neighbours.

use super::knn::piped;
use super::*;

#[test]
fn columns_of_the_data_are_joined_to_neighbours() {
    let place = TestDir::new();
    place.write("shops.csv", "x,name,zip_code,rank\n0,\"a, b\",02138,7\n1,,10001,8\n3,c,,9\n");
    let with = "--columns x --with name,zip_code,rank";
    let head = "query,query_row,rank,index,squared_distance,distance,name,zip_code,file_rank\n";
    let csv = format!(
        "{head}0,2,0,2,0,0,c,,9\n0,2,1,1,4,2,,10001,8\n0,2,2,0,9,3,\"a, b\",02138,7\n0,2,3,-1,inf,inf,,,\n"
    );
    assert_eq!(place.ok(&format!("knn shops.csv rows:2 -k 4 {with} -o -")).stdout, csv);
    for ending in ["csv", "parquet", "arrow", "tsv"] {
        place.ok(&format!("knn shops.csv rows:2 -k 4 {with} -o found.{ending}"));
    }
    assert_eq!(fs::read_to_string(place.path("found.csv")).unwrap(), csv);
    for ending in ["parquet", "arrow"] {
        let columns = json(&place.ok(&format!("info found.{ending} --json")).stdout)["columns"].to_string();
        assert!(columns.contains("zip_code") && columns.contains("file_rank"), "{columns}");
    }
    // The printed neighbours of one query and radius searches have the columns, too.
    let shown = place.ok(&format!("knn shops.csv rows:2 -k 2 {with}")).stdout;
    assert!(shown.contains("zip_code") && shown.contains("10001"), "{shown}");
    let near = place.ok(&format!("knn shops.csv rows:2 --radius 2 {with} -o -")).stdout;
    assert_eq!(near, format!("{head}0,2,0,2,0,0,c,,9\n0,2,1,1,4,2,,10001,8\n"));
    let error = place.fails(1, "knn shops.csv --columns x --with zipcode -k 1 -o -");
    assert_eq!(error, "column `zipcode`: not found; available: `zip_code`, `name`, `x`, `rank`: shops.csv");
}

/// Shops as data, homes as queries.
fn shops_and_homes() -> TestDir {
    let place = TestDir::new();
    place.write("shops.csv", "x,name,zip_code\n0,bakery,02138\n1,,10001\n9,cinema,\n");
    place.write("homes.csv", "x,Name,code,row,size\n8,\"Doe, J\",0071,5,1.5\n,gone,0072,6,2.5\n2,,,7,\n");
    place
}

const ASKED: &str = "--columns x --drop-nonfinite -k 1 --with name --with-query NAME,code,row,size";
const ANSWERED: &str = "query,query_row,query_Name,query_code,file_query_row,query_size,rank,index,\
                        squared_distance,distance,name\n0,0,\"Doe, \
                        J\",0071,5,1.5,0,2,1,1,cinema\n1,2,,,7,,0,1,1,1,\n";

#[test]
fn query_columns_precede_the_rank() {
    let place = shops_and_homes();
    assert_eq!(place.ok(&format!("knn shops.csv homes.csv {ASKED} -o -")).stdout, ANSWERED);
    for ending in ["csv", "tsv", "parquet", "arrow"] {
        place.ok(&format!("knn shops.csv homes.csv {ASKED} -o found.{ending}"));
        let (code, printed, said) =
            piped(&place, &format!("knn shops.csv homes.csv {ASKED} -o - --format {ending}"), b"");
        assert_eq!(code, 0, "{said}");
        fs::write(place.path(&format!("printed.{ending}")), printed).unwrap();
        for file in ["found", "printed"] {
            let columns = json(&place.ok(&format!("info {file}.{ending} --json")).stdout)["columns"].clone();
            let names: Vec<&str> =
                columns.as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
            assert_eq!(names.join(","), ANSWERED.lines().next().unwrap(), "{file}.{ending}");
        }
    }
    assert_eq!(fs::read_to_string(place.path("found.csv")).unwrap(), ANSWERED);
    assert_eq!(
        fs::read_to_string(place.path("found.tsv")).unwrap().lines().nth(1),
        Some("0\t0\tDoe, J\t0071\t5\t1.5\t0\t2\t1\t1\tcinema")
    );
    // Within a radius, queries without neighbours have no row.
    let near = place
        .ok("knn shops.csv homes.csv --columns x --drop-nonfinite --radius 1 --with-query 2 --with zip_code \
             -o -")
        .stdout;
    assert_eq!(
        near,
        "query,query_row,query_code,rank,index,squared_distance,distance,zip_code\n0,0,0071,0,2,1,1,\n1,2,,\
         0,1,1,1,10001\n"
    );
}

#[test]
fn joins_accept_standard_input_and_leading_lines() {
    let place = shops_and_homes();
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let [shops, homes] = ["shops.csv", "homes.csv"].map(read);
    place.write("late.csv", &format!("made by hand\n\n{homes}"));
    for (files, input) in
        [("- homes.csv", shops.as_str()), ("shops.csv -", &homes), ("shops.csv late.csv:skip-lines=2", "")]
    {
        let (code, found, said) = piped(&place, &format!("knn {files} {ASKED} -o -"), input.as_bytes());
        assert_eq!((code, String::from_utf8(found).unwrap().as_str()), (0, ANSWERED), "{files}: {said}");
    }
    place.write("late-shops.csv", &format!("made by hand\n{shops}"));
    let own =
        place.ok("knn late-shops.csv rows:2 --skip-lines 1 --columns x -k 1 --with-query name -o -").stdout;
    assert_eq!(own.lines().nth(1), Some("0,2,cinema,0,2,0,0"), "{own}");
    let (code, _, said) = piped(
        &place,
        "knn shops.csv - --columns x --drop-nonfinite -k 1 --with-query nam -o -",
        homes.as_bytes(),
    );
    assert_eq!((code, said.trim_end().ends_with("`size`: stdin")), (1, true), "{said}");
    assert!(said.contains("column `nam`: not found; available: `Name`, "), "{said}");
}

#[test]
fn row_queries_can_join_data_columns() {
    let place = shops_and_homes();
    let found = "query,query_row,query_name,query_x,rank,index,squared_distance,distance,name\n0,0,bakery,0,\
                 0,1,1,1,\n1,1,,1,0,0,1,1,bakery\n2,2,cinema,9,0,1,64,8,\n";
    let asked = "--columns x --exclude-self -k 1 --with name --with-query name,x";
    assert_eq!(place.ok(&format!("knn shops.csv {asked} -o -")).stdout, found);
    place.ok(&format!("knn shops.csv {asked} --graph graph.csv -o found.csv"));
    assert_eq!(fs::read_to_string(place.path("found.csv")).unwrap(), found, "beside a graph");
    let listed = place.ok(&format!("knn shops.csv rows:2,0 {asked} -o -")).stdout;
    assert_eq!(
        listed.lines().skip(1).collect::<Vec<_>>(),
        ["0,2,cinema,9,0,1,64,8,", "1,0,bakery,0,0,1,1,1,"]
    );
    let drawn = place.ok(&format!("knn shops.csv 2 {asked} -o -")).stdout;
    for row in drawn.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>()) {
        assert_eq!(row[2], ["bakery", "", "cinema"][row[1].parse::<usize>().unwrap()], "{drawn}");
    }
    assert_eq!(drawn.lines().count(), 3);
    // Column names stay unique whatever the file contains.
    place.write("named.csv", "x,query_x,file_query_x\n3,4,5\n");
    let head =
        place.ok("knn named.csv --columns x -k 1 --with-query x --with query_x,file_query_x -o -").stdout;
    let [head, row] = head.lines().collect::<Vec<_>>()[..] else { panic!("{head}") };
    assert!(head.contains(",query_x,rank,") && head.ends_with(",file_query_x,file_file_query_x"), "{head}");
    assert_eq!(row, "0,0,3,0,0,0,0,4,5");
    // The printed neighbours of one query have the columns, too.
    let shown = place.ok("knn shops.csv rows:2 --columns x -k 2 --with-query name").stdout;
    let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    let first =
        lines.iter().position(|line| line.starts_with(&["query_name", "rank", "index"])).expect(&shown);
    assert!(
        lines[first + 1].starts_with(&["cinema", "0", "2"])
            && lines[first + 2].starts_with(&["cinema", "1", "1"]),
        "{shown}"
    );
}

#[test]
fn joined_columns_require_a_source_and_an_output() {
    let place = shops_and_homes();
    for flag in ["--with", "--with-query"] {
        for (args, said) in [
            ("x", " x: requires neighbour output; add --out FILE or `-o -`"),
            (
                "x -o a.npz",
                " x: the output format cannot have added columns; use .csv, .tsv, .parquet or .arrow",
            ),
            (
                "x --radius 1 -o a.npz",
                " x: the output format cannot have added columns; use .csv, .tsv, .parquet or .arrow",
            ),
            (
                "x -o - --format npy",
                " x: the output format cannot have added columns; use .csv, .tsv, .parquet or .arrow",
            ),
            ("x,x -o -", ": `x` given twice"),
            (
                "x -o - --metric inner-product",
                ": not available with --metric inner-product; drop one of the two",
            ),
        ] {
            let error = place.fails(2, &format!("knn shops.csv {flag} {args}"));
            assert!(error.contains(&format!("{flag}{said}")), "{flag} {args}: {error}");
        }
    }
    let error = place.fails(2, "knn shops.csv at:1 --with-query x -o -");
    assert!(error.contains("--with-query x: not available for a query given by coordinates"), "{error}");
    let error = place
        .fails(1, "knn shops.csv homes.csv --columns x --drop-nonfinite -k 1 --with-query zip_code -o -");
    assert!(
        error.starts_with("column `zip_code`: not found; available: ") && error.ends_with(": homes.csv"),
        "{error}"
    );
}
