//! Lessons and their pictures, without a window.

use super::*;

#[test]
fn a_lesson_is_written_without_a_window() {
    let place = TestDir::new();
    let done = place.ok("lesson --lesson merge --k 64 --out three");
    assert!(done.stdout.contains("recorded on  the CPU, by the kernel's twin"), "{}", done.stdout);
    assert!(
        done.stdout.contains("Merging two sorted lists") && done.stdout.contains("handout.html"),
        "{}",
        done.stdout
    );
    assert_eq!(done.stderr, "");
    let steps = fs::read_to_string(place.path("three/steps.jsonl")).unwrap();
    let lines: Vec<Value> = steps.lines().map(json).collect();
    let head = &lines[0];
    assert_eq!(
        (&head["schema"], &head["k"], &head["width"], &head["registers"], &head["capacity"]),
        (&json("2"), &json("64"), &json("16"), &json("4"), &json("64"))
    );
    assert!(
        lines[1..]
            .iter()
            .zip(1..)
            .all(|(line, position)| line["position"] == position && line["sentence"].is_string())
    );
    assert_eq!(lines.last().unwrap()["step"], "finished");
    let minimum = lines.iter().find(|line| line["step"] == "minimum").unwrap();
    assert!(minimum["taken"].is_array() && minimum["level"] == "stage");
    let handout = fs::read_to_string(place.path("three/handout.html")).unwrap();
    assert!(
        handout.contains("<h1>Lesson 7: Merging two sorted lists</h1>") && handout.contains("63 \u{2212} i"),
        "{handout}"
    );
    // A second run writes the same bytes.
    place.ok("lesson --lesson merge --k 64 --out again");
    assert_eq!(fs::read_to_string(place.path("again/steps.jsonl")).unwrap(), steps);
    // Writes the page alone, then together with other files.
    place.ok("lesson --lesson sort --html one.html");
    let page = fs::read_to_string(place.path("one.html")).unwrap();
    assert!(
        page.starts_with("<!doctype html>")
            && page.contains("<title>Lesson 5: ")
            && page.ends_with("</html>\n")
    );
    place.ok("lesson --lesson sort --out two --html");
    assert_eq!(fs::read_to_string(place.path("two/lesson.html")).unwrap(), page);
    assert!(
        place
            .fails(2, "lesson --lesson sort --html")
            .contains("--html: file name missing; add one, or --out DIR to write DIR/lesson.html")
    );
    place.ok("lesson --lesson order --k 8 --width 4 --out six");
    let mut files: Vec<String> = fs::read_dir(place.path("six"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        ["handout.html", "steps-farthest-first.jsonl", "steps-nearest-first.jsonl", "steps-shuffled.jsonl"]
    );
}

/// A worksheet and its key have the same questions; another seed draws others.
#[test]
fn worksheets_have_a_matching_answer_key() {
    let place = TestDir::new();
    place.ok("lesson --lesson sort --worksheet sheet.html --key key.html");
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let (sheet, key) = (read("sheet.html"), read("key.html"));
    assert!(
        sheet.contains("<h1>Lesson 5: Sorting in a warp: one key per lane: worksheet</h1>")
            && key.contains(": key</h1>"),
        "{sheet}"
    );
    assert!(
        sheet.contains("<svg ")
            && sheet.contains("class=\"box\"")
            && !sheet.contains("class=\"right\"")
            && key.contains("class=\"right\"")
    );
    // Written to a folder, the files have names, and the same seed gives the same sheet.
    place.ok("lesson --lesson sort --out both --worksheet --key --sheet 3");
    assert_eq!(
        (read("both/worksheet.html"), read("both/key.html")),
        (sheet.clone(), key),
        "3 is the lesson's seed"
    );
    place.ok("lesson --lesson sort --worksheet other.html --sheet 4");
    assert_ne!(read("other.html"), sheet);
    for flag in ["--worksheet", "--key"] {
        let said = place.fails(2, &format!("lesson --break direction {flag} none.html"));
        assert!(
            said.contains("--worksheet, --key: not available for a search with a mistake; drop --break"),
            "{said}"
        );
        assert!(!place.path("none.html").exists());
    }
    assert!(
        place
            .fails(2, "lesson --lesson sort --worksheet")
            .contains("--worksheet: file name missing; add one, or --out DIR to write DIR/worksheet.html")
    );
}

/// A lesson about a file finds the same neighbours as a run.
#[test]
fn lessons_accept_data_files() {
    let place = TestDir::new();
    place.ok("generate uniform:n=500,d=3 cloud.csv --seed 5");
    place.ok("lesson --input cloud.csv --query 123 --k 10 --order shuffled --out own");
    place.ok("run --input cloud.csv --queries rows:123 --k 10 --order shuffled --engine lockstep --repeats \
              1 --warmup 0 --out run");
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
    assert!(fs::read_to_string(place.path("own/handout.html")).unwrap().contains("<h1>Lesson 10"));

    let cases = [
        (
            "lesson --lesson 14 --out x",
            "unknown lesson `14`; available: 1 to 13, or problem, heap, buffer, wait, sort, wide, merge, \
             search, order, own-data, pruning, warp-select, radix-select",
        ),
        (
            "lesson --lesson seek --out x",
            "unknown lesson `seek`; available: 1 to 13, or problem, heap, buffer, wait, sort, wide, merge, \
             search, order, own-data, pruning, warp-select, radix-select",
        ),
        (
            "lesson --lesson pruning --width 8 --out x",
            "width = 8: must be 32, because a tree node has 32 children, one per lane (--width 32)",
        ),
        (
            "lesson --lesson sort --k 257 --out x",
            "k = 257: a warp of 8 lanes holds up to 256 neighbours, 32 per lane",
        ),
        ("lesson --k 0 --out x", "k = 0: must be at least 1"),
        ("lesson --width 5 --out x", "width = 5: must be 4, 8, 16 or 32 lanes"),
        (
            "lesson --lesson warp-select --engine cuda --out x",
            "width = 8: must be 32, because a GPU's warp has 32 lanes (--width 32)",
        ),
        (
            "lesson --lesson radix-select --engine cuda --out x",
            "width = 16: must be 32, because a GPU's warp has 32 lanes (--width 32)",
        ),
        (
            "lesson --lesson sort --engine cuda --out x",
            "width = 8: must be 32, because a GPU's warp has 32 lanes (--width 32)",
        ),
        (
            "lesson --lesson heap --engine cuda --out x",
            "width = 8: must be 32, because a GPU's warp has 32 lanes (--width 32)",
        ),
        (
            "lesson --engine cuda --width 16 --out x",
            "width = 16: must be 32, because a GPU's warp has 32 lanes (--width 32)",
        ),
        (
            "lesson --lesson wide --input cloud.csv --out x",
            "--input, --generate: lesson `wide` has built-in data; for your own, use \
             --lesson own-data or --lesson order",
        ),
        ("lesson --query 3 --out x", "--query, --metric, --order: add a cloud with --input or --generate"),
    ];
    for (args, message) in cases {
        assert_eq!(place.fails(2, args), message);
    }
    let message = place.fails(1, "lesson --input cloud.csv --query 500 --out x");
    assert_eq!(message, "--query 500: no such row, or it was dropped; rows are numbered 0 to 499");
    fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/steps.jsonl", "[0,1]\n[2,3]\n[4,5]\n");
    let message = place.fails(2, "lesson --input mine/steps.jsonl --k 2 --out mine");
    assert!(message.starts_with("cannot write: this would overwrite the searched cloud"), "{message}");
}

/// The order of the file's rows is compared with the lesson's own orders. Rows that approach the query one by
/// one are slow.
#[test]
fn the_order_lesson_includes_file_order() {
    let place = TestDir::new();
    let rows: String = (0..2000).map(|row| format!("{row},0.5\n")).collect();
    place.write("line.csv", &format!("x,y\n{rows}"));
    let done = place.ok("lesson --lesson order --input line.csv --query 1900 --out orders");
    let merges = |order: &str| -> u32 {
        let line = done
            .stdout
            .lines()
            .find(|line| line.starts_with(order))
            .unwrap_or_else(|| panic!("{order}: {}", done.stdout));
        line.split(", ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .and_then(|number| number.parse().ok())
            .unwrap()
    };
    assert!(merges("file-order") > 4 * merges("shuffled"), "{}", done.stdout);
    assert_eq!((merges("nearest-first"), merges("farthest-first")), (1, 63));
    let mut files: Vec<String> = fs::read_dir(place.path("orders"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let steps = ["farthest-first", "file-order", "nearest-first", "shuffled"]
        .map(|order| format!("steps-{order}.jsonl"));
    assert_eq!(files, [&["handout.html".to_owned()][..], &steps].concat());
    let message = place.fails(2, "lesson --lesson order --input line.csv --order shuffled --out x");
    assert_eq!(message, "--order: lesson `order` shows all orders; select one with --take");
}

/// Lessons have ids and numbers; the search of the index writes the same files as the kernel's.
#[test]
fn the_pruning_lesson_records_an_index_search() {
    let place = TestDir::new();
    let done = place.ok("lesson --lesson pruning --out tree --png --gif --max-pictures 3 --size 960x540");
    assert!(done.stdout.contains("recorded on  the CPU, by the index's twin"), "{}", done.stdout);
    place.ok("lesson --lesson pruning --out eight");
    let steps = fs::read_to_string(place.path("tree/steps.jsonl")).unwrap();
    assert_eq!(fs::read_to_string(place.path("eight/steps.jsonl")).unwrap(), steps);
    let lines: Vec<Value> = steps.lines().map(json).collect();
    assert_eq!(
        (&lines[0]["recorded_on"], &lines[0]["n"], &lines[0]["k"]),
        (&json("\"bvh\""), &json("2048"), &json("32"))
    );
    assert_eq!(
        (&lines[1]["step"], &lines.last().unwrap()["step"]),
        (&json("\"own_leaf\""), &json("\"finished\""))
    );
    let boxes = lines.iter().find(|line| line["step"] == "boxes").unwrap();
    assert_eq!(boxes["keys"].as_array().map(Vec::len), Some(32));
    // The visited points are all far away.
    let leaves = lines.iter().filter(|line| line["step"] == "leaf").count();
    assert!((3..32).contains(&leaves), "{leaves} of 64 leaves");
    let handout = fs::read_to_string(place.path("tree/handout.html")).unwrap();
    assert!(
        handout.contains("<h2>The traversal, in short</h2>") && handout.contains("boxes in curve order"),
        "{handout}"
    );
    assert!(fs::read(place.path("tree/lesson.gif")).unwrap().starts_with(b"GIF89a"));
}

/// Selectors write the same files as the kernel's search.
#[test]
fn selector_lessons_are_exported() {
    let place = TestDir::new();
    let done =
        place.ok("lesson --lesson warp-select --out queues --png --gif --max-pictures 3 --size 960x540");
    assert!(done.stdout.contains("recorded on  the CPU, by warp select's twin"), "{}", done.stdout);
    let lines: Vec<Value> =
        fs::read_to_string(place.path("queues/steps.jsonl")).unwrap().lines().map(json).collect();
    assert_eq!((&lines[0]["recorded_on"], &lines[0]["width"]), (&json("\"warp-select\""), &json("8")));
    assert_eq!(
        (&lines[1]["step"], &lines.last().unwrap()["step"]),
        (&json("\"queues\""), &json("\"finished\""))
    );
    let inserted = lines.iter().find(|line| line["step"] == "inserted").unwrap();
    assert_eq!(inserted["placed"].as_array().map(Vec::len), Some(8), "not every lane received its first key");
    // A run of the engine counts the same merges if its warp has the same width.
    let broken = lines.iter().filter(|line| line["step"] == "checked" && line["broken"] != 0).count();
    assert_eq!(lines.iter().filter(|line| line["step"] == "max_distance").count(), broken + 1);
    let handout = fs::read_to_string(place.path("queues/handout.html")).unwrap();
    assert!(
        handout.contains("<h2>Warp select, in short</h2>") && handout.contains("a buffer of 32"),
        "{handout}"
    );
    assert!(handout.contains("Largest keys of the queues from lane 0 on: "));
    assert!(fs::read(place.path("queues/lesson.gif")).unwrap().starts_with(b"GIF89a"));

    let done = place.ok("lesson --lesson radix-select --out digits --svg");
    assert!(
        done.stdout.contains("recorded on  the CPU, by radix select's twin")
            && done.stdout.contains(" passes of 4,096 points"),
        "{}",
        done.stdout
    );
    let lines: Vec<Value> =
        fs::read_to_string(place.path("digits/steps.jsonl")).unwrap().lines().map(json).collect();
    let counted = lines.iter().find(|line| line["step"] == "counted").unwrap();
    assert_eq!(
        counted["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum::<u64>(),
        4096
    );
    let handout = fs::read_to_string(place.path("digits/handout.html")).unwrap();
    assert!(
        handout.contains("a radix sort of all") && handout.contains("Counts from bucket 0 on: "),
        "{handout}"
    );
}

/// With a warp of 32 lanes, the lesson counts the same merges as the engine.
#[test]
fn lesson_steps_match_the_engines_counters() {
    let place = TestDir::new();
    place.ok("lesson --lesson warp-select --k 64 --width 32 --seed 5 --out wide");
    let lines: Vec<Value> =
        fs::read_to_string(place.path("wide/steps.jsonl")).unwrap().lines().map(json).collect();
    let n = lines[0]["n"].as_u64().unwrap();
    let merges = lines.iter().filter(|line| line["step"] == "max_distance").count();
    let inserts: usize = lines
        .iter()
        .filter(|line| line["step"] == "inserted")
        .map(|line| line["placed"].as_array().unwrap().len())
        .sum();
    let generate = format!("uniform:d=2,n={n}");
    place.ok(&format!(
        "run --generate {generate} --seed 5 --queries rows:{} --k 64 --engine warp-select --device cpu \
         --repeats 1 --warmup 0 --out run",
        n / 2
    ));
    let (heads, rows) = table(&place.path("run/counters.csv"));
    let counted =
        |name: &str| rows[0][heads.iter().position(|head| head == name).unwrap()].parse::<usize>().unwrap();
    assert_eq!((counted("merges"), counted("inserts")), (merges, inserts));
}

/// Pictures of a lesson, with default and given names.
#[test]
fn a_lesson_is_drawn_without_a_window() {
    let place = TestDir::new();
    let done =
        place.ok("lesson --lesson merge --out all --png --svg --gif --frames --pace 0.4 --size 960x540");
    assert_eq!(done.stderr, "");
    let mut files: Vec<String> = fs::read_dir(place.path("all"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["frames", "handout.html", "lesson.gif", "lesson.png", "lesson.svg", "steps.jsonl"]);
    // The minimum, four layers, the new bound, and the state before.
    let frames = fs::read_dir(place.path("all/frames")).unwrap().count();
    assert_eq!(frames, 7);
    assert!(done.stdout.contains("frame-0001.png to frame-0007.png"), "{}", done.stdout);
    assert_eq!(image::image_dimensions(place.path("all/lesson.png")).unwrap(), (960, 540));
    // The last frame shows the end of the lesson's part.
    assert_eq!(
        fs::read(place.path("all/frames/frame-0007.png")).unwrap(),
        fs::read(place.path("all/lesson.png")).unwrap()
    );
    assert!(fs::read_to_string(place.path("all/lesson.svg")).unwrap().starts_with("<svg xmlns="));
    let gif = fs::read(place.path("all/lesson.gif")).unwrap();
    assert!(gif.starts_with(b"GIF89a") && gif.len() < 3_000_000);

    place.ok("lesson --lesson sort --png early.png --at 12 --scale 2 --theme dark");
    place.ok("lesson --lesson sort --png late.png --at 13 --scale 2 --theme dark");
    let (early, late) =
        (image::open(place.path("early.png")).unwrap(), image::open(place.path("late.png")).unwrap());
    assert_eq!((early.width(), early.height()), (2560, 1440));
    assert_ne!(early, late);
    place.ok("lesson --lesson sort --png light.png --at 13 --scale 2");
    assert_ne!(late, image::open(place.path("light.png")).unwrap());
    assert!(!place.path("steps.jsonl").exists(), "unexpected files");

    place.ok("lesson --lesson sort --png large.png --at 13 --text 24");
    place.ok("lesson --lesson sort --png usual.png --at 13");
    assert_ne!(image::open(place.path("large.png")).unwrap(), image::open(place.path("usual.png")).unwrap());

    let done = place.ok("lesson --lesson order --k 8 --width 4 --gif six.gif --take shuffled --level lane \
                         --max-pictures 5 --size 960x540");
    assert!(
        done.stderr.starts_with("note: pictures show 5 of ")
            && done.stderr.contains("at level lane; --max-pictures "),
        "{}",
        done.stderr
    );
}

#[test]
fn lessons_accept_keys_and_a_query_point() {
    let place = TestDir::new();
    place.ok("lesson --lesson sort --keys 5,3,8,1,7,2,6,4 --out typed");
    let steps = fs::read_to_string(place.path("typed/steps.jsonl")).unwrap();
    let lines: Vec<Value> = steps.lines().map(json).collect();
    assert_eq!(lines[0]["data"], "8 keys typed: 5.00 3.00 8.00 1.00 7.00 2.00 6.00 4.00");
    let group = lines.iter().find(|line| line["step"] == "group").unwrap();
    assert_eq!(group["distances"], json("[5.0,3.0,8.0,1.0,7.0,2.0,6.0,4.0]"));
    place.ok("lesson --lesson search --query-at 0.25,0.75 --out moved");
    let steps = fs::read_to_string(place.path("moved/steps.jsonl")).unwrap();
    let head = json(steps.lines().next().unwrap());
    assert_eq!(head["query"], json("[0.25,0.75]"));
    assert!(head["data"].as_str().unwrap().ends_with("; query moved to (0.250, 0.750)"), "{head}");
    for (command, said) in [
        ("lesson --lesson sort --keys 5,3 --out x", "2 keys: lesson `sort` needs 8 with k = 8 and 8 lanes"),
        (
            "lesson --lesson sort --keys 5,x --out x",
            "key x: must be a squared distance: 0, or between 1e-12 and 1e12",
        ),
        (
            "lesson --lesson search --query-at 1 --out x",
            "--query-at 1: expected two coordinates, such as 0.3,0.7",
        ),
    ] {
        assert!(place.fails(2, command).contains(said), "{command}");
    }
}
