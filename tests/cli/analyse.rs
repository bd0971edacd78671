//! Tests `analyse`.

use super::*;

/// Two groups on a line, a duplicate and an outlier; the last row has no `kind`.
const ROWS: &str = "x,kind\n0,a\n1,a\n1,b\n2,a\n10,b\n11,b\n12.5,b\n40,\n";

fn place() -> TestDir {
    let place = TestDir::new();
    place.write("rows.csv", ROWS);
    place
}

fn column(path: &Path, name: &str) -> Vec<String> {
    let (head, rows) = table(path);
    let at = head
        .iter()
        .position(|column| column == name)
        .unwrap_or_else(|| panic!("no column {name} in {head:?}"));
    rows.iter().map(|row| row[at].clone()).collect()
}

#[test]
fn each_analysis_writes_columns_and_a_summary_line() {
    let place = place();
    let all = "--density --lof --hubness --lid --labels kind --duplicates 0 --components --overlap other.csv";
    // The same rows mirrored, so neighbours do not change.
    place.write("other.csv", "x\n0\n-1\n-1\n-2\n-10\n-11\n-12.5\n-40\n");
    let done = place.ok(&format!("analyse rows.csv --columns x -k 2 --engine lockstep {all} --out all.csv"));
    assert_eq!(done.stderr, "");
    for said in [
        "rows.csv, 8 points in 1 dimension",
        "k = 2, l2, excluding the row itself, by lockstep on ",
        "distance to the 2nd neighbour: ",
        "largest: row 7 (29.0)",
        "column kind, 2 labels: ",
        "1 row has no label",
        "1 group of rows at distance 0, 2 rows in all, 2 in the largest",
        "share of neighbours in common with other.csv: mean 1.00",
        "all.csv",
        "label ↓ predicted →  a  b",
    ] {
        assert!(done.stdout.contains(said), "`{said}` is missing from\n{}", done.stdout);
    }
    let (head, rows) = table(&place.path("all.csv"));
    let columns = "row,k_distance,lof,k_occurrence,lid,label,same_label,predicted_label,duplicate_group,\
                   duplicate_group_size,duplicate_group_open,overlap,component";
    assert_eq!((head.join(",").as_str(), rows.len()), (columns, 8));
    let column = |name| column(&place.path("all.csv"), name);
    assert_eq!(column("k_distance"), ["1", "1", "1", "1", "2.5", "1.5", "2.5", "29"]);
    assert_eq!(column("duplicate_group"), ["", "0", "0", "", "", "", "", ""]);
    assert_eq!(column("component"), ["0", "0", "0", "1", "2", "2", "2", "3"], "row 3 is isolated");
    assert_eq!(column("k_occurrence").iter().map(|count| count.parse::<u32>().unwrap()).sum::<u32>(), 16);
    assert_eq!(column("overlap"), ["1"; 8]);
    assert!(column("lof")[7].parse::<f64>().unwrap() > 5.0);
    let report =
        json(&place.ok(&format!("analyse rows.csv --columns x -k 2 --engine kdtree {all} --json")).stdout);
    assert_eq!(
        (&report["schema_version"], &report["engine"], &report["points"]),
        (&1.into(), &"kdtree".into(), &8.into())
    );
    assert_eq!(
        (
            &report["lof"]["largest"][0]["row"],
            &report["components"]["count"],
            &report["labels"]["unlabelled"]
        ),
        (&7.into(), &4.into(), &1.into())
    );
    assert_eq!(report["labels"]["labels"], serde_json::json!(["a", "b"]));
    assert!(report.get("leaks").is_none());
}

#[test]
fn dropping_rows_does_not_renumber_the_rest() {
    let place = TestDir::new();
    place.write("rows.csv", "x,y\n0,0\n,1\n1,0\n0,2\n");
    place.ok("analyse rows.csv --drop-nonfinite -k 1 --engine lockstep --density --out d.csv --graph g.csv");
    assert_eq!(fs::read_to_string(place.path("d.csv")).unwrap(), "row,k_distance\n0,1\n2,1\n3,2\n");
    assert_eq!(
        fs::read_to_string(place.path("g.csv")).unwrap(),
        "row,rank,neighbor,distance\n0,0,2,1\n2,0,0,1\n3,0,0,2\n"
    );
    place.ok("analyse rows.csv --drop-nonfinite -k 2 --engine lockstep --graph g.npz --graph-as umap");
    let info = json(&place.ok("info g.npz:indices --json").stdout);
    assert_eq!((&info["cloud"]["points"], &info["cloud"]["dims"]), (&3.into(), &3.into()));
    place.ok("analyse rows.csv --drop-nonfinite -k 5 --engine lockstep --graph c.npz --graph-as csr");
    let list = json(&place.ok("info c.npz --json").stdout).to_string();
    for name in ["data", "indices", "indptr", "shape", "rows"] {
        assert!(list.contains(&format!("\"{name}\"")), "{name}: {list}");
    }
}

#[test]
fn truncated_duplicate_groups_and_leaks_are_reported() {
    let place = place();
    let text = place.ok("analyse rows.csv --columns x -k 1 --engine lockstep --duplicates 1.5").stdout;
    assert!(
        text.contains("2 groups of rows within 1.5, 7 rows in all, 4 in the largest; 2 groups may be larger"),
        "{text}"
    );
    let text = place.ok("analyse rows.csv --columns x -k 4 --engine lockstep --duplicates 1.5").stdout;
    assert!(text.contains("4 in the largest\n"), "{text}");
    place.write("test.csv", "kind,x\nq,40.5\nr,1\ns,30\n");
    let done =
        place.ok("analyse rows.csv --columns x --engine lockstep --leaks test.csv --eps 0.5 --out leaks.csv");
    assert!(
        done.stdout.contains("2 of 3 rows of test.csv (66.67 %) within 0.5 of a row here, 1 at 0"),
        "{}",
        done.stdout
    );
    assert_eq!(
        fs::read_to_string(place.path("leaks.csv")).unwrap(),
        "row,nearest,distance,leak\n0,7,0.5,1\n1,1,0,1\n2,7,10,0\n"
    );
}

#[test]
fn a_label_column_used_as_a_coordinate_is_noted() {
    let place = TestDir::new();
    place.write("rows.csv", "x,y\n0,1\n1,1\n2,0\n");
    let done = place.ok("analyse rows.csv --columns x,y -k 1 --engine lockstep --labels y");
    assert_eq!(
        done.stderr,
        "note: column `y` is also a coordinate and affects the distances; exclude it with --columns\n"
    );
    let unchosen = place.ok("analyse rows.csv -k 1 --engine lockstep --labels y --json");
    assert_eq!(
        unchosen.stderr,
        "note: column `y` has the labels and is not used as a coordinate; include it with --columns\n"
    );
    let chosen = place.ok("analyse rows.csv --columns x -k 1 --engine lockstep --labels y --json");
    assert_eq!(
        (json(&unchosen.stdout)["dimensions"].clone(), json(&unchosen.stdout)["labels"].clone()),
        (1.into(), json(&chosen.stdout)["labels"].clone())
    );
    assert!(json(&chosen.stdout)["labels"].is_object());
    assert_eq!(place.ok("analyse rows.csv --columns x -k 1 --engine lockstep --labels y").stderr, "");
}

#[test]
fn invalid_arguments_are_refused() {
    let place = place();
    place.write("short.csv", "x\n0\n1\n");
    place.write("one.csv", "x\n0\n");
    let rows = "rows.csv --columns x --engine lockstep";
    for (code, args, message) in [
        (
            2,
            format!("{rows} --duplicates -1"),
            "invalid value '-1' for '--duplicates <EPS>': invalid distance `-1`: must be 0 or more",
        ),
        (
            2,
            format!("{rows} --density -k 0"),
            "k = 0: must be between 1 and 1023 when the query's own row is excluded",
        ),
        (
            2,
            format!("{rows} --density --out rows.csv"),
            "cannot write: this would overwrite an input file; choose another name: rows.csv",
        ),
        (
            2,
            format!("{rows} --graph g.npz"),
            "--graph: the format of an .npz is ambiguous; add --graph-as umap or --graph-as csr: g.npz",
        ),
        (2, format!("{rows} --graph g.csv --graph-as csr"), "--graph: the name must end in .npz: g.csv"),
        (
            2,
            format!("{rows} --graph a.csv --density --out a.csv"),
            "--out and --graph name the same file; change one of them",
        ),
        (
            1,
            format!("{rows} --overlap short.csv"),
            "--overlap: the clouds have different rows: 8 points in the first, 2 in the second: short.csv",
        ),
        (
            1,
            "one.csv --density".to_owned(),
            "the cloud has only one point; a graph needs at least two: one.csv",
        ),
        (1, format!("{rows} --labels y"), ""),
    ] {
        let error = place.fails(code, &format!("analyse {args}"));
        assert!(
            if message.is_empty() { error.ends_with(": rows.csv") } else { error == message },
            "{args}: {error}"
        );
    }
    assert!(
        place
            .fails(2, "analyse rows.csv")
            .starts_with("no analysis selected; give one or more of --density, ")
    );
    let both = place.fails(2, "analyse rows.csv --density --leaks short.csv --eps 1 --out o.csv");
    assert!(both.ends_with("run --leaks separately"), "{both}");
}

#[cfg(unix)]
#[test]
fn labels_cannot_send_control_codes_to_a_terminal() {
    let place = TestDir::new();
    place.write("rows.csv", "x,kind\n0,=1+1\n1,\u{1b}[2J\n2,\u{1b}[2J\n");
    let done = place.ok("analyse rows.csv -k 1 --engine lockstep --labels kind --out l.csv");
    assert!(!done.stdout.contains('\u{1b}') && done.stdout.contains("[2J"), "{}", done.stdout);
    assert_eq!(column(&place.path("l.csv"), "label")[0], "'=1+1");
    assert!(
        !place.ok("analyse rows.csv -k 1 --engine lockstep --labels kind --json").stdout.contains('\u{1b}')
    );
}
