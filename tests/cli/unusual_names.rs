//! Names of files, datasets, columns and devices, written to a terminal and to spreadsheets.

use super::*;

#[cfg(unix)]
#[test]
fn names_are_escaped_for_terminals_and_spreadsheets() {
    let place = TestDir::new();
    let name = "\u{1b}[31m\u{202e}a\nb\u{9b}.csv";
    place.write(name, "=x,\u{1b}[2Jy\n-1.5,2\n3,4\n5,7\n");
    let call = |args: &[&str]| {
        let output = place.command("").args(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), super::without_choice(&text(output.stderr)).1)
    };
    let unprintable = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    let run = [
        "run",
        "--input",
        name,
        "--queries",
        "all",
        "--k",
        "1",
        "--engine",
        "kdtree",
        "--repeats",
        "1",
        "--record",
        "a.warpscope",
    ];
    for args in [
        &["info", name][..],
        &["info", name, "--json"],
        &run,
        &[&run[..], &["--json"]].concat(),
        &["info", "a.warpscope"],
    ] {
        let (code, stdout, stderr) = call(args);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(!stdout.contains(unprintable) && !stdout.contains("a\nb"), "{args:?}: {stdout:?}");
    }
    assert_eq!(json(&call(&["info", name, "--json"]).1)["path"], name, "JSON has the exact name");
    let (code, _, stderr) = call(&["run", "--input", "\u{1b}[31mnone.csv"]);
    assert_eq!((code, stderr.contains(unprintable)), (Some(1), false), "{stderr:?}");

    // A file of rows contains names unchanged, except formulas.
    place.write("=1+1.csv", "x,y\n1,2\n3,4\n");
    let (_, rows, _) = call(&[
        "sweep",
        "--input",
        "=1+1.csv",
        "--q",
        "1",
        "--k",
        "1",
        "--engine",
        "kdtree",
        "--repeats",
        "1",
    ]);
    assert!(rows.lines().nth(1).unwrap().starts_with("'=1+1.csv,kdtree,"), "{rows}");
}

#[cfg(unix)]
#[test]
fn non_utf8_file_names_are_accepted() {
    use std::os::unix::ffi::OsStrExt;
    let place = TestDir::new();
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
