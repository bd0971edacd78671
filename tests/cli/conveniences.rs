//! Conveniences of the command line: numbers with separators, suggestions, completions, manual pages,
//! configuration files, schema versions.

use super::*;

#[test]
fn counts_accept_separators_and_suffixes() {
    let place = TestDir::new();
    let done = place
        .ok("run --generate uniform:n=1e3 --queries 1_0 --k 1e2 --repeats 1e0 --warmup 0 --engine kdtree \
             --json");
    let run = json(&done.stdout);
    assert_eq!(
        (&run["spec"]["k"], &run["spec"]["repeats"], &run["summary"]["q"]),
        (&100.into(), &1.into(), &10.into())
    );
    place.ok("generate uniform:n=300 cloud.csv --seed 1e6");
    assert!(place.ok("knn cloud.csv 1e1 -k 2e1 --engine kdtree").stdout.contains("20"));
    for (args, why) in [
        (
            "run --generate uniform --k 1.5",
            "invalid value '1.5' for '--k <NUMBER>': expected a whole number, such as 1000 or 1e6",
        ),
        (
            "run --generate uniform --repeats 0",
            "invalid value '0' for '--repeats <NUMBER>': must be at least 1",
        ),
        (
            "run --generate uniform --warmup 5e9",
            "invalid value '5e9' for '--warmup <NUMBER>': must be at most 1000000",
        ),
    ] {
        assert_eq!(place.fails(2, args), why, "{args}");
    }
    let sweep = place
        .ok("sweep --generate uniform --n 1e2,200 --q all --k 3 --engine kdtree --repeats 1 --warmup 0")
        .stdout;
    let asked: Vec<&str> = sweep.lines().skip(1).map(|line| line.split(',').nth(3).unwrap()).collect();
    assert_eq!(asked, ["100", "200"]);
}

#[test]
fn misspelled_arguments_get_suggestions() {
    let place = TestDir::new();
    place.write("points.csv", POINTS);
    for (args, why) in [
        ("rnu", "unknown command `rnu`: did you mean `run`?"),
        ("rnu --input points.csv", "unknown command `rnu`: did you mean `run`?"),
        ("verfy --input points.csv --k 3", "unknown command `verfy`: did you mean `verify`?"),
        ("run points.csv", "unexpected argument 'points.csv' found; tip: pass --input points.csv"),
        ("sweep points.csv --k 3", "unexpected argument 'points.csv' found; tip: pass --input points.csv"),
        ("run uniform:n=50", "unexpected argument 'uniform:n=50' found; tip: pass --generate uniform:n=50"),
        ("--quiet run points.csv", "unexpected argument 'points.csv' found; tip: pass --input points.csv"),
        ("knn points.csv --n-jobs 2", "unexpected argument '--n-jobs' found; tip: use --threads"),
        (
            "generate uniform:n=5 -o a.npy",
            "unexpected argument '-o' found; tip: the file comes after the spec: `warpscope generate SPEC \
             FILE`",
        ),
        ("devices -x", "unexpected argument '-x' found; see `warpscope devices --help`"),
        (
            "run --generate uniform --engine lokstep",
            "invalid value 'lokstep' for '--engine <ENGINE>': unknown engine `lokstep`: did you mean \
             lockstep?",
        ),
        (
            "run --generate uniform --metric euclidean",
            "invalid value 'euclidean' for '--metric <METRIC>': use l2",
        ),
        (
            "sweep --generate uniform --out s.parquet",
            "invalid value 's.parquet' for '--out <FILE>': the output is CSV, not .parquet: rows are \
             written after each run, which Parquet does not allow; name it .csv",
        ),
    ] {
        assert_eq!(place.fails(2, args), why, "{args}");
    }
    let search = place.fails(2, "search --input points.csv");
    assert!(search.starts_with("unknown command `search`; available: gui, run, knn, "), "{search}");
    // An existing file of that name is opened.
    place.write("rnu", "");
    assert!(!place.call("rnu").stderr.contains("unknown command"));
}

/// The commands, as listed by `--help`.
fn commands(place: &TestDir) -> Vec<String> {
    let help = place.ok("--help").stdout;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<String> = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect();
    assert!(names.len() > 12 && names.contains(&"knn".to_owned()), "{names:?}");
    names
}

#[test]
fn completions_contain_every_command_and_flag() {
    let place = TestDir::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.ok(&format!("completions {shell}")).stdout;
        for name in commands(&place) {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        for word in ["drop-nonfinite", "exclude-self", "no-config", "lockstep", "haversine"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert!(place.fails(2, "completions tcsh").contains("[possible values: bash"));
}

#[test]
fn every_command_has_a_manual_page() {
    let place = TestDir::new();
    let page = place.ok("man").stdout;
    let wrote = place.ok("man pages/of").stdout;
    assert_eq!(fs::read_to_string(place.path("pages/of/warpscope.1")).unwrap(), page);
    let names = commands(&place);
    for name in names.iter().filter(|name| *name != "help") {
        assert!(page.contains(&format!("warpscope\\-{name}(1)")), "{name}: {page}");
        let of = fs::read_to_string(place.path(&format!("pages/of/warpscope-{name}.1"))).unwrap();
        assert!(of.starts_with(".ie") && of.contains(&format!(".TH warpscope-{name} 1")), "{of}");
    }
    assert!(fs::read_to_string(place.path("pages/of/warpscope-run.1")).unwrap().contains("\\-\\-repeats"));
    assert_eq!(
        wrote,
        format!("wrote {} pages into pages/of\n", names.len()),
        "one for each but `help`, and one of the program"
    );
    place.write("file", "");
    assert!(place.fails(1, "man file").ends_with(": file"));
}

#[test]
fn defaults_come_from_a_file_and_the_command_line_wins() {
    let place = TestDir::new();
    place.write(
        "w.toml",
        "# mine\n[run]\nk = 7\nrepeats = 2\nwarmup = 0\nengine = \"kdtree\"\n\n[knn]\nk = 3\nexclude-self = \
         true\n",
    );
    let spec = |done: CliOutput| json(&done.stdout)["spec"].clone();
    let run = "run --generate uniform:n=50 --queries 5 --json";
    let given = spec(place.ok(&format!("--config w.toml {run}")));
    assert_eq!((&given["k"], &given["repeats"], &given["warmup"]), (&7.into(), &2.into(), &0.into()));
    assert_eq!(
        given["engine"]["named"]["engine"].as_str().or(given["engine"].as_str()),
        Some("kdtree"),
        "{given}"
    );
    let typed = spec(place.ok(&format!("{run} --k 4 --config w.toml")));
    assert_eq!((&typed["k"], &typed["repeats"]), (&4.into(), &2.into()));
    let none = spec(place.ok(&format!("{run} --repeats 1 --no-config --engine kdtree")));
    assert_eq!((&none["k"], &none["warmup"]), (&32.into(), &10.into()));
    assert!(place.ok("run --help --config w.toml").stdout.contains("[default: 7]"));
    // A flag before the command makes no difference.
    assert!(place.ok("--quiet run --help --config w.toml").stdout.contains("[default: 7]"));
    // Defaults also come from the environment variable and from the user's own file.
    let by_variable = place.command(run).env("WARPSCOPE_CONFIG", "w.toml").output().unwrap();
    assert_eq!(json(&String::from_utf8(by_variable.stdout).unwrap())["spec"]["k"], 7);
    #[cfg(target_os = "linux")]
    {
        fs::create_dir_all(place.path("home/warpscope")).unwrap();
        fs::copy(place.path("w.toml"), place.path("home/warpscope/config.toml")).unwrap();
        let own = place
            .command(run)
            .env_remove("WARPSCOPE_CONFIG")
            .env("XDG_CONFIG_HOME", place.path("home"))
            .output()
            .unwrap();
        assert_eq!(json(&String::from_utf8(own.stdout).unwrap())["spec"]["k"], 7);
    }
}

#[test]
fn errors_caused_by_defaults_name_the_file() {
    let place = TestDir::new();
    place.ok("generate uniform:n=100,d=2 cloud.csv");
    place.ok("generate uniform:n=5,d=2 queries.csv");
    place.write("w.toml", "[knn]\nexclude-self = true\nself-first = false\n");
    let knn = "knn cloud.csv queries.csv -k 3 --engine kdtree";
    assert_eq!(
        place.fails(2, &format!("{knn} --config w.toml")),
        "--exclude-self: not available for queries from a file; needs queries that are rows of the cloud; \
         exclude-self is set under [knn] in w.toml (--no-config ignores it)"
    );
    assert!(place.fails(2, &format!("{knn} --exclude-self")).ends_with("that are rows of the cloud"));
    place.ok(&format!("{knn} --no-config"));
}

#[test]
fn flags_override_conflicting_defaults() {
    let place = TestDir::new();
    place.ok("generate uniform:n=100 cloud.csv");
    place.write(
        "w.toml",
        "[knn]\nk = 3\n[sweep]\ninput = \"cloud.csv\"\nwarmup = 0\n[lesson]\nseed = 5\n[gui]\nlook = \
         \"dark\"\n",
    );
    // `--radius` excludes `--k`, `--generate` and `--n` exclude `--input`, and `--keys` excludes `--seed`.
    let within = place.ok("knn cloud.csv 5 --radius 0.1 --engine kdtree --json --config w.toml").stdout;
    assert_eq!(json(&within)["radius"], 0.1);
    let sweep = "sweep --q 5 --k 3 --engine kdtree --repeats 1 --config w.toml";
    assert!(
        place
            .ok(&format!("{sweep} --generate uniform --n 50"))
            .stdout
            .lines()
            .nth(1)
            .unwrap()
            .starts_with("uniform:")
    );
    assert!(place.ok(sweep).stdout.lines().nth(1).unwrap().starts_with("cloud.csv,"));
    place.ok("lesson --lesson sort --keys 5,3,8,1,2,9,7,4 --png a.png --config w.toml");
    // `--theme` needs a picture, which this call does not write.
    let window = place.call("gui none.csv --config w.toml").stderr;
    assert!(!window.contains("--theme") && !window.contains("required"), "{window}");
}

#[test]
fn errors_in_the_configuration_name_the_file() {
    let place = TestDir::new();
    for (text, why) in [
        (
            "[knn]\nk = \"many\"\n",
            "[knn] k: invalid value 'many' for '--k <NUMBER>': expected a whole number, such as 1000 or \
             1e6: w.toml",
        ),
        (
            "[knn]\nneighbours = 3\n",
            "[knn] neighbours: the command has no flag --neighbours; see `warpscope knn --help`: w.toml",
        ),
        ("[nkn]\nk = 3\n", "unknown section [nkn]: did you mean [knn]?: w.toml"),
    ] {
        place.write("w.toml", text);
        assert_eq!(place.fails(1, "run --generate uniform:n=50 --config w.toml"), why);
    }
    place.write("w.toml", "[knn]\nk = = 3\n");
    let broken = place.fails(1, "devices --config w.toml");
    assert!(broken.starts_with("line 2: ") && broken.ends_with(": w.toml"), "{broken}");
    assert_eq!(
        place.fails(1, "devices --config none.toml"),
        "cannot read the configuration: No such file or directory (os error 2): none.toml"
    );
    assert_eq!(place.fails(2, "devices --config"), "--config <FILE>: file name missing");
}

#[test]
fn every_json_output_has_a_schema_version() {
    let place = TestDir::new();
    place.ok("generate uniform:n=60 cloud.csv");
    place.ok("run --input cloud.csv --queries all --k 3 --engine kdtree --warmup 0 --repeats 2 --out out \
              --record run.warpscope --neighbors found.ivecs");
    for args in [
        "run --input cloud.csv --queries 5 --engine kdtree --warmup 0 --repeats 1 --json",
        "run --input cloud.csv --queries 5 --engine kdtree --dry-run --json",
        "knn cloud.csv --engine kdtree --json",
        "knn cloud.csv --radius 0.1 --json",
        "verify --input cloud.csv --queries 5 --engine kdtree --json",
        "analyse cloud.csv --lof --engine kdtree -k 5 --json",
        "recall found.ivecs --input cloud.csv --engine kdtree --json",
        "compare out run.warpscope --json",
        "info cloud.csv --json",
        "info run.warpscope --json",
        "info out --json",
        "devices --json",
        "devices kdtree --json",
    ] {
        let report = json(&place.ok(args).stdout);
        assert!(report["schema_version"].as_u64() >= Some(1), "{args}: {report}");
    }
    let written = json(&fs::read_to_string(place.path("out/run.json")).unwrap());
    assert_eq!(written["schema_version"], 2);
    // Checks that the list above contains every command that has --json.
    for name in commands(&place).iter().filter(|name| *name != "help") {
        let takes = place.ok(&format!("{name} --help")).stdout.contains("--json");
        let known = ["run", "knn", "verify", "analyse", "recall", "compare", "info", "devices"]
            .contains(&name.as_str());
        assert_eq!(takes, known, "{name}");
    }
}
