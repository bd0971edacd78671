//! Checks the import rules and crate boundaries of ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each folder of `src` and the folders it may use. `app` and `cli` may use all.
const ARROWS: [(&str, &[&str]); 17] = [
    ("files", &[]),
    ("memory", &[]),
    ("suggest", &[]),
    ("palette", &[]),
    ("printable", &[]),
    ("progress", &[]),
    ("text", &["printable"]),
    ("version", &[]),
    ("cloud", &["files", "memory", "suggest", "printable", "progress"]),
    ("knn", &["cloud", "memory", "progress"]),
    ("engines", &["files", "knn", "cloud", "memory", "progress"]),
    ("exact", &["knn", "cloud", "memory"]),
    ("draw", &["palette"]),
    ("lesson", &["draw", "engines", "knn", "cloud", "memory", "palette", "progress", "text"]),
    (
        "run",
        &[
            "files",
            "exact",
            "engines",
            "knn",
            "cloud",
            "memory",
            "suggest",
            "printable",
            "progress",
            "text",
            "version",
        ],
    ),
    ("ranks", &["files", "run", "knn", "cloud", "memory", "version"]),
    (
        "export",
        &[
            "files",
            "draw",
            "lesson",
            "run",
            "engines",
            "knn",
            "cloud",
            "memory",
            "palette",
            "printable",
            "progress",
            "text",
        ],
    ),
];

/// Crates that only certain folders may use, so that all others build and are tested without them.
const HOMES: [(&[&str], &[&str]); 14] = [
    (&["hdf5_reader"], &["cloud/formats/hdf5"]),
    (
        &["arrow_array", "arrow_buffer", "arrow_ipc", "arrow_schema", "parquet"],
        &["cloud/formats/arrow", "cloud/formats/tests", "export/table"],
    ),
    (&["cudarc"], &["engines/cuda"]),
    (&["nalgebra"], &["cloud/project.rs"]),
    (&["e57"], &["cloud/formats"]),
    (&["kiddo"], &["engines/kdtree"]),
    (&["gemm"], &["engines/gemm_heap"]),
    (&["memmap2"], &["files"]),
    (&["rustix"], &["files"]),
    (&["epaint_default_fonts", "harfrust", "skrifa", "tiny_skia"], &["draw"]),
    (
        &[
            "eframe",
            "egui",
            "egui_commonmark",
            "egui_extras",
            "egui_kittest",
            "egui_plot",
            "egui_tiles",
            "futures_lite",
            "rfd",
            "wgpu",
            "zbus",
        ],
        &["app", "main.rs"],
    ),
    (&["anyhow", "clap", "clap_complete", "clap_mangen", "indicatif"], &["app", "cli", "main.rs"]),
    (&["toml"], &["cli", "run/presets"]),
    // Sockets to other machines.
    (&["std::net"], &["ranks/team.rs"]),
];

/// The floors of `src/app` and the floors each may use. Code on a floor may not use any other part of the
/// app. A feature is one folder; [`floor_path`] assigns its files to floors by name.
const FLOORS: [(&str, &[&str]); 11] = [
    ("testing", &[]),
    ("model", &[]),
    ("jobs", &["model"]),
    ("look", &["model"]),
    ("prelude", &["model", "look"]),
    ("gpu", &["model", "look"]),
    ("features", &["model", "jobs", "look", "prelude", "gpu"]),
    ("panes", &["model", "jobs", "look", "prelude", "gpu", "features"]),
    ("context", &["model", "jobs", "look", "prelude", "gpu", "features"]),
    ("changes", &["model", "jobs", "look", "prelude", "gpu", "features", "panes", "context"]),
    ("shell", &["model", "jobs", "look", "prelude", "gpu", "features", "panes", "context", "changes"]),
];

/// Names that a floor must not contain. The model has no threads, GPU objects or painting; jobs and changes
/// have no painting. The row of a feature may name the control that draws its dialogs.
const NOT_HERE: [(&str, &[&str]); 3] = [
    ("model", &["thread", "Task", "wgpu", "egui_wgpu", "Ui", "Painter", "Shape"]),
    ("jobs", &["wgpu", "egui_wgpu", "Ui", "Painter", "Shape"]),
    ("changes", &["wgpu", "egui_wgpu", "Ui", "Painter", "Shape"]),
];

/// Every source file without comments, with its path below `src`, as if each crate were a folder there.
fn sources() -> Vec<(PathBuf, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = ["cloud", "knn", "engines", "exact", "draw", "lesson"]
        .map(|name| (top.join("crates").join(name).join("src"), name));
    let (mut folders, mut files) = (vec![], Vec::new());
    for (from, below) in [(top.join("src"), ""), (top.join("crates/base/src"), "")].into_iter().chain(crates)
    {
        folders.push(from.clone());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the sources are there") {
                let path = entry.expect("the sources can be listed").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = std::fs::read_to_string(&path).expect("sources are text");
                    let code: Vec<&str> =
                        text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
                    files.push((
                        Path::new(below).join(path.strip_prefix(&from).expect("listed below it")),
                        code.join("\n"),
                    ));
                }
            }
        }
    }
    assert!(files.len() > 20, "only {} sources were found", files.len());
    files
}

/// The first name of each path after `crate::`, with its line.
fn uses(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        let start = at + prefix.len();
        if !code[start..].starts_with('{') {
            found.push((line_of(code, at), identifier_at(code, start)));
            continue;
        }
        let mut depth = 0;
        for (offset, c) in code[start..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if depth == 1 && (c == '{' || c == ',') {
                let name = start + offset + 1;
                let name = name + code[name..].len() - code[name..].trim_start().len();
                found.push((line_of(code, name), identifier_at(code, name)));
            }
        }
    }
    found.retain(|(_, name)| !name.is_empty());
    found
}

fn identifier_at(code: &str, start: usize) -> &str {
    code[start..].split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("")
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

/// The folder or file of `src` that contains a path: `knn` for `knn/theory.rs` as for `knn.rs`.
fn room(path: &Path) -> String {
    let first = path.iter().next().expect("a path has a part").to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn imports_follow_the_dependency_arrows() {
    let rooms: BTreeSet<String> = sources().iter().map(|(path, _)| room(path)).collect();
    let mut wrong = Vec::new();
    for (path, code) in sources() {
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == room(&path)) else {
            assert!(
                ["app", "cli", "lib", "main"].contains(&room(&path).as_str()),
                "{}: ARROWS does not say what it may use",
                path.display()
            );
            continue;
        };
        for (line, to) in uses(&code) {
            if rooms.contains(to) && to != room(&path) && !allowed.contains(&to) {
                wrong.push(format!("src/{}:{line}: {} must not use {to}", path.display(), room(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the arrows:\n{}", wrong.join("\n"));
}

#[test]
fn crates_are_used_only_in_their_modules() {
    let mut wrong = Vec::new();
    for (path, code) in sources() {
        for (crates, homes) in
            HOMES.iter().filter(|(_, homes)| !homes.iter().any(|home| path.starts_with(home)))
        {
            for name in *crates {
                for (at, _) in code.match_indices(&format!("{name}::")) {
                    if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                        wrong.push(format!(
                            "src/{}:{}: {name} belongs in {}",
                            path.display(),
                            line_of(&code, at),
                            homes.join(", ")
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "crates away from home:\n{}", wrong.join("\n"));
}

/// Engine names allowed outside their folders: the file or folder, the name, the reason.
const NAMES_ALLOWED: [(&str, &str, &str); 12] = [
    ("engines/cuda/interface.rs", "index::BVH", "the engine's part on a GPU: the most dimensions of both"),
    ("engines/cuda/select/distances.rs", "select::DISTANCES_ALONE", "as above"),
    ("cli/lesson.rs", "\"step\"", "a step of a lesson"),
    ("lesson/step.rs", "\"step\"", "a step of a lesson, in files"),
    ("lesson/algorithms", "", "an algorithm names the engine whose twin records it, and its steps in files"),
    ("knn/warp.rs", "\"sort\"", "a phase of a search"),
    ("lesson/story.rs", "\"sort\"", "a lesson"),
    ("lesson/fault.rs", "\"sort\"", "a lesson, the first in which a fault can be understood"),
    ("app/features/lesson/state/player.rs", "\"sort\"", "a lesson, in tests"),
    ("lesson/story.rs", "\"warp-select\"", "a lesson, of that engine"),
    ("lesson/story.rs", "\"radix-select\"", "a lesson, of that engine"),
    ("engines/lockstep/mod.rs", "\"cuda\"", "a twin declares the engine whose algorithm it runs"),
];

/// Files compiled only in tests. Files below them count as well.
fn test_files(sources: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (path, code) in sources {
        let below = if path.ends_with("mod.rs") || path.ends_with("lib.rs") {
            path.parent().expect("a file").to_owned()
        } else {
            path.with_extension("")
        };
        for (at, mark) in code.match_indices("#[cfg(test)]") {
            let item = code[at + mark.len()..]
                .trim_start()
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("pub ");
            if let Some(name) = item
                .strip_prefix("mod ")
                .map(|rest| identifier_at(rest, 0))
                .filter(|name| item[4 + name.len()..].starts_with(';'))
            {
                found.push(below.join(name));
            }
        }
    }
    found
}

/// Blanks out modules compiled only in tests. Line numbers do not change.
fn without_tests(code: &str) -> String {
    let mut rest = code.to_owned();
    for (_, block) in modules_in(code) {
        let before = code[..block.start].rfind("mod ").map_or("", |at| code[..at].trim_end());
        if before.trim_end_matches("pub(crate)").trim_end().ends_with("#[cfg(test)]") {
            let lines: String =
                code[block.clone()].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
            // Keep the length in bytes, so that later offsets stay valid.
            rest.replace_range(block.clone(), &format!("{lines}{}", " ".repeat(block.len() - lines.len())));
        }
    }
    rest
}

/// Engines are distinguished by their descriptors. Apart from tests, an engine's name appears only in its own
/// folder and in the table of engines.
#[test]
fn engine_names_appear_only_in_their_folders() {
    let all = sources();
    let tests = test_files(&all);
    let table = &all.iter().find(|(path, _)| path.ends_with("engines/lib.rs")).expect("it exists").1;
    // Each row is `&folder::DESCRIPTOR`.
    let list = table
        .split_once("ENGINES: &[&Descriptor] =")
        .and_then(|(_, rest)| rest.trim_start().strip_prefix("&["));
    let rows = list.and_then(|rest| rest.split_once(']')).expect("the table is there").0;
    let rows: Vec<(&str, &str)> =
        rows.split(',').filter_map(|row| row.trim().trim_start_matches('&').split_once("::")).collect();
    let engines = warpscope::engines::registry::ENGINES;
    assert_eq!(rows.len(), engines.len());
    let mut wrong = Vec::new();
    for (path, code) in &all {
        if path.ends_with("engines/lib.rs")
            || tests.iter().any(|test| path.with_extension("").starts_with(test))
        {
            continue;
        }
        let code = without_tests(code);
        for (engine, (folder, descriptor)) in engines.iter().zip(&rows) {
            if path.starts_with(Path::new("engines").join(folder)) {
                continue;
            }
            let id = engine.id;
            for word in [format!("\"{id}\""), format!("\"{id}:"), format!("{folder}::{descriptor}")] {
                wrong.extend(
                    code.match_indices(&word)
                        .map(|(at, _)| format!("src/{}:{}: {word}", path.display(), line_of(&code, at))),
                );
            }
        }
    }
    let is_in = |place: &str, home: &str| {
        place
            .strip_prefix("src/")
            .and_then(|rest| rest.strip_prefix(home))
            .is_some_and(|rest| rest.starts_with([':', '/']))
    };
    wrong.retain(|place| {
        !NAMES_ALLOWED.iter().any(|(home, word, _)| is_in(place, home) && place.ends_with(word))
    });
    assert!(wrong.is_empty(), "engines named outside their folders:\n{}", wrong.join("\n"));
}

/// Files of the lesson that distinguish algorithms outside their folders, with the number of places. Do not
/// add any.
const ALGORITHMS_NAMED: [(&str, usize); 17] = [
    ("lesson/feedback.rs", 1),
    ("lesson/invariants/mod.rs", 1),
    ("lesson/lessons.rs", 2),
    ("lesson/meter.rs", 1),
    ("lesson/picture/ballot.rs", 2),
    ("lesson/picture/cloud.rs", 13),
    ("lesson/picture/legend.rs", 2),
    ("lesson/picture/merge_inputs.rs", 1),
    ("lesson/picture/moment.rs", 6),
    ("lesson/picture/page.rs", 1),
    ("lesson/picture/sentence.rs", 1),
    ("lesson/picture/warp.rs", 2),
    ("lesson/player/data.rs", 1),
    ("lesson/recording.rs", 1),
    ("lesson/state.rs", 2),
    ("lesson/step.rs", 1),
    ("lesson/story.rs", 1),
];

/// A lesson's algorithm is a folder and a row. Its steps, states and invariants appear elsewhere only in the
/// places counted above.
#[test]
fn algorithm_names_appear_only_in_their_folders() {
    let all = sources();
    let tests = test_files(&all);
    let mut wrong = Vec::new();
    for (path, code) in &all {
        let is_test = tests.iter().any(|test| path.with_extension("").starts_with(test));
        if !path.starts_with("lesson") || path.starts_with("lesson/algorithms") || is_test {
            continue;
        }
        let code = without_tests(code);
        let words = [
            "SpecificStep::",
            "Baseline::",
            "SearchAlgorithm::Tree",
            ".heap()",
            ".descent()",
            ".queues()",
            ".buckets()",
            ".heaps()",
        ];
        let named: usize = words.map(|word| code.matches(word).count()).iter().sum();
        let known =
            ALGORITHMS_NAMED.iter().find(|(file, _)| path == Path::new(file)).map_or(0, |&(_, known)| known);
        if known != named {
            wrong.push(format!("src/{}: {named} places, {known} known", path.display()));
        }
    }
    assert!(wrong.is_empty(), "algorithms told apart outside their folders:\n{}", wrong.join("\n"));
}

#[test]
fn test_code_is_recognised() {
    let code = "mod a;\n#[cfg(test)]\nmod tests {\n    fn f() { \"é\" }\n}\nfn g() { \"cuda\" \
                }\n#[cfg(test)]\nmod of_tests;\n";
    let rest = without_tests(code);
    assert!(
        !rest.contains("fn f")
            && rest.contains("fn g")
            && rest.len() == code.len()
            && rest.lines().count() == code.lines().count(),
        "{rest}"
    );
    assert_eq!(
        test_files(&[(PathBuf::from("run/mod.rs"), code.to_owned())]),
        [PathBuf::from("run/of_tests")]
    );
    assert_eq!(
        test_files(&[(PathBuf::from("run/ask.rs"), code.to_owned())]),
        [PathBuf::from("run/ask/of_tests")]
    );
}

/// A file or folder of a floor, such as `model/session` or `features/color`. A floor's `mod.rs` belongs to no
/// part.
type Part = (String, String);

/// Paths from a file into its room, with their line, as segments below the room. Resolves `crate::app::…` and
/// `super::…`; `module` is the file's own path.
fn room_paths(room: &str, module: &[String], code: &str) -> Vec<(usize, Vec<String>)> {
    let blocks = modules_in(code);
    let mut found = Vec::new();
    for start in [&format!("crate::{room}::"), "super::"]
        .into_iter()
        .flat_map(|start| code.match_indices(start))
        .map(|(at, _)| at)
    {
        let before = code[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
            || code[..start].trim_end().ends_with("pub(in")
        {
            continue;
        }
        let mut here = module.to_vec();
        here.extend(blocks.iter().filter(|(_, block)| block.contains(&start)).map(|(name, _)| name.clone()));
        for leaf in leaves(&code[start..]) {
            let mut path = here.clone();
            let mut segments = leaf.as_slice();
            if let ["crate", of, rest @ ..] = segments
                && *of == room
            {
                (path, segments) = (Vec::new(), rest);
            }
            while let ["super", rest @ ..] = segments {
                path.pop();
                segments = rest;
            }
            path.extend(segments.iter().map(|segment| (*segment).to_owned()));
            found.push((line_of(code, start), path));
        }
    }
    found
}

/// The inline modules of a file, with their positions.
fn modules_in(code: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let mut blocks = Vec::new();
    for (at, prefix) in code.match_indices("mod ") {
        let name = identifier_at(code, at + prefix.len());
        let open = at + prefix.len() + name.len();
        if code[open..].trim_start().starts_with('{')
            && !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            let mut depth = 0_usize;
            let end = code[open..].char_indices().find_map(|(offset, c)| {
                depth = depth + usize::from(c == '{') - usize::from(c == '}' && depth > 0);
                (c == '}' && depth == 0).then_some(open + offset)
            });
            blocks.push((name.to_owned(), open..end.unwrap_or(code.len())));
        }
    }
    blocks
}

/// The paths at the start of a text: one, or all of a braced list.
fn leaves(text: &str) -> Vec<Vec<&str>> {
    let (mut stack, mut path, mut all) = (Vec::new(), Vec::new(), Vec::new());
    // Whether a name has been read since the last brace or comma. A closed list adds no further path.
    let (mut at, mut named) = (0, false);
    while at < text.len() {
        let rest = &text[at..];
        let name = identifier_at(text, at);
        if !name.is_empty() {
            path.push(name);
            (at, named) = (at + name.len(), true);
            if name == "as" {
                path.pop();
                let alias = at + text[at..].len() - text[at..].trim_start().len();
                at = alias + identifier_at(text, alias).len();
            }
        } else if rest.starts_with("::") {
            at += 2;
        } else if rest.starts_with('{') {
            stack.push(path.len());
            (at, named) = (at + 1, false);
        } else if let (Some(&depth), Some(c @ (',' | '}'))) = (stack.last(), rest.chars().next()) {
            if named {
                all.push(path.clone());
            }
            (at, named) = (at + 1, false);
            path.truncate(depth);
            if c == '}' {
                stack.pop();
                path.truncate(stack.last().copied().unwrap_or(0));
            }
            if stack.is_empty() {
                return all;
            }
        } else if !stack.is_empty() && (rest.starts_with(char::is_whitespace) || rest.starts_with('*')) {
            at += 1;
        } else {
            break;
        }
    }
    all.push(path);
    all
}

/// A path in the app, prefixed with its floor (layer). Inside a feature, `state` is in the model and `apply`
/// in the changes, as is the table of features; other modules are in the features.
fn floor_path(path: &[String]) -> Vec<String> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    let counted = match words.as_slice() {
        ["features", "table", rest @ ..] => [&["changes", "table"], rest].concat(),
        ["features", name, "state", rest @ ..] => [&["model", name], rest].concat(),
        ["features", name, "apply", rest @ ..] => [&["changes", name], rest].concat(),
        other => other.to_vec(),
    };
    counted.into_iter().map(str::to_owned).collect()
}

/// The files of a room: module below it, path below `src`, code.
fn room_sources(room: &str) -> Vec<(Vec<String>, PathBuf, String)> {
    let in_room = sources().into_iter().filter_map(|(path, code)| {
        let below = path.strip_prefix(room).ok()?.with_extension("");
        let module = below
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .filter(|part| part != "mod")
            .collect();
        Some((module, path, code))
    });
    in_room.collect()
}

#[test]
fn app_imports_point_downwards() {
    let files = room_sources("app");
    let part = |(module, ..): &(Vec<String>, PathBuf, String)| match floor_path(module).as_slice() {
        [floor, part, ..] => Some((floor.clone(), part.clone())),
        _ => None,
    };
    let parts: BTreeSet<Part> = files.iter().filter_map(part).collect();
    let (mut upward, mut between) = (Vec::new(), 0);
    let mut uses: BTreeMap<&Part, BTreeSet<&Part>> = BTreeMap::new();
    for (module, path, code) in &files {
        // A file without a floor is the app's public interface.
        let own_path = floor_path(module);
        let Some(floor) = own_path.first() else { continue };
        let allowed = FLOORS
            .iter()
            .find(|(name, _)| name == floor)
            .unwrap_or_else(|| panic!("{}: FLOORS has no {floor}", path.display()))
            .1;
        let own = own_path.get(1).and_then(|child| parts.get(&(floor.clone(), child.clone())));
        for (line, to) in room_paths("app", module, code) {
            let to = floor_path(&to);
            let Some(target) = to.first().filter(|target| *target != floor) else {
                let part = to.get(1).and_then(|child| parts.get(&(floor.clone(), child.clone())));
                if let (Some(own), Some(part)) = (own, part.filter(|part| own != Some(*part))) {
                    between += 1;
                    uses.entry(own).or_default().insert(part);
                }
                continue;
            };
            between += 1;
            if target != "testing" && !allowed.contains(&target.as_str()) {
                upward.push(format!("src/{}:{line}: {floor} must not use {}", path.display(), to.join("::")));
            }
            if floor == "shell" && target == "changes" && to.get(1).is_some_and(|part| part != "table") {
                upward.push(format!(
                    "src/{}:{line}: the shell goes through the table of features, not to {}",
                    path.display(),
                    to.join("::")
                ));
            }
        }
    }
    let circles = circles(&uses);
    println!(
        "{} files, {between} imports between parts, {} upwards, {} circles",
        files.len(),
        upward.len(),
        circles.len()
    );
    assert!(between > 500, "only {between} imports were found");
    assert!(upward.is_empty(), "imports that go up:\n{}", upward.join("\n"));
    assert!(circles.is_empty(), "parts that use each other in a circle:\n{}", circles.join("\n"));
}

/// Imports in the command line have no cycles. The table of commands is exempt.
#[test]
fn cli_imports_point_downwards() {
    let files = room_sources("cli");
    let part = |module: &[String]| ("cli".to_owned(), module.join("/"));
    let parts: BTreeSet<Part> =
        files.iter().filter(|(module, ..)| !module.is_empty()).map(|(module, ..)| part(module)).collect();
    let mut uses: BTreeMap<&Part, BTreeSet<&Part>> = BTreeMap::new();
    for (module, _, code) in &files {
        let Some(own) = parts.get(&part(module)) else { continue };
        if let Some(command) = module.split_last().and_then(|(_, folder)| parts.get(&part(folder))) {
            uses.entry(command).or_default().insert(own);
        }
        for (_, to) in room_paths("cli", module, &without_tests(code)) {
            let longest = (1..=to.len()).rev().find_map(|length| parts.get(&part(&to[..length])));
            uses.entry(own).or_default().extend(longest.filter(|to| *to != own));
        }
    }
    let between: usize = uses.values().map(BTreeSet::len).sum();
    assert!(between > 100, "only {between} imports were found");
    assert_eq!(circles(&uses), [""; 0], "files that use each other in a circle");
}

#[test]
fn app_imports_have_no_cycles() {
    let files = room_sources("app");
    let name = |module: &[String]| {
        (module[..module.len().saturating_sub(1)].join("/"), module.last().cloned().unwrap_or_default())
    };
    let parts: BTreeSet<Part> = files.iter().map(|(module, ..)| name(module)).collect();
    // A path leads to the file of its longest prefix that is a module.
    let file_of = |path: &[String]| (0..=path.len()).rev().find_map(|end| parts.get(&name(&path[..end])));
    let mut uses: BTreeMap<&Part, BTreeSet<&Part>> = BTreeMap::new();
    for (module, _, code) in files.iter().filter(|(module, ..)| !module.is_empty()) {
        let own = file_of(module).expect("it is one of them");
        let used = room_paths("app", module, &without_tests(code));
        uses.entry(own)
            .or_default()
            .extend(used.iter().filter_map(|(_, to)| file_of(to)).filter(|part| *part != own));
    }
    assert!(uses.len() > 150, "only {} files were found", uses.len());
    let circles = circles(&uses);
    assert!(circles.is_empty(), "files that use each other in a circle:\n{}", circles.join("\n"));
}

/// The import cycles, one per line.
fn circles(uses: &BTreeMap<&Part, BTreeSet<&Part>>) -> Vec<String> {
    let reach = |from: &Part| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(part) = todo.pop() {
            for &next in uses.get(&part).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    todo.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<Part, BTreeSet<Part>> =
        uses.keys().map(|&part| (part.clone(), reach(part))).collect();
    let circle = |part: &Part| -> BTreeSet<Part> {
        let both = |other: &&Part| reached.get(*other).is_some_and(|back| back.contains(part));
        reached[part].iter().filter(both).cloned().collect()
    };
    let all: BTreeSet<BTreeSet<Part>> =
        reached.keys().map(circle).filter(|circle| !circle.is_empty()).collect();
    all.iter()
        .map(|circle| {
            circle.iter().map(|(floor, part)| format!("{floor}/{part}")).collect::<Vec<_>>().join(", ")
        })
        .collect()
}

#[test]
fn forbidden_names_do_not_appear_in_layers() {
    let mut wrong = Vec::new();
    for (module, path, code) in room_sources("app") {
        let Some(own) = floor_path(&module).into_iter().next() else { continue };
        let words = NOT_HERE.iter().filter(|(floor, _)| *floor == own).flat_map(|(_, words)| *words);
        for word in words {
            let whole = |at: usize| {
                !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                    && identifier_at(&code, at) == *word
            };
            wrong.extend(code.match_indices(word).filter(|(at, _)| whole(*at)).map(|(at, _)| {
                format!("src/{}:{}: {word} does not belong in {own}", path.display(), line_of(&code, at))
            }));
        }
        // A row of the table may open its dialog, on its own line or the next.
        let opens = |line: &str| line.trim_start().starts_with("dialogs: |");
        let lines = code.lines().zip(std::iter::once("").chain(code.lines()));
        let drawn = lines.filter(|(line, before)| line.contains("_ui(") && !opens(line) && !opens(before));
        wrong.extend(
            drawn
                .filter(|_| own == "changes")
                .map(|(line, _)| format!("src/{}: {} does not belong in {own}", path.display(), line.trim())),
        );
    }
    assert!(wrong.is_empty(), "what floors must not hold:\n{}", wrong.join("\n"));
}

#[test]
fn app_paths_are_resolved() {
    let module = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let found = |at: &str, code: &str| {
        room_paths("app", &module(at), code)
            .into_iter()
            .map(|(line, path)| format!("{line} {}", path.join("::")))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found("panes/plane", "use crate::app::model::{answer::PickedPoint, color::{self, ColorMap as Map}};"),
        ["1 model::answer::PickedPoint", "1 model::color::self", "1 model::color::ColorMap"]
    );
    assert_eq!(
        found("panes/runs/table", "\nuse super::super::empty::without_run;\nlet x = super::figure::y();"),
        ["2 panes::empty::without_run", "3 panes::runs::figure::y"]
    );
    assert_eq!(
        found(
            "jobs/task",
            "mod tests {\n    use super::*;\n    use super::super::loader;\n}\nuse super::loader;"
        ),
        ["2 jobs::task", "3 jobs::loader", "5 jobs::loader"]
    );
    assert!(found("shell/ui", "pub(super) fn f() {} pub(in crate::app::shell) fn g() {}").is_empty());
    let counted = |path: &str| floor_path(&module(path)).join("/");
    let of_a_feature = [
        "features/walk",
        "features/walk/state",
        "features/walk/state/Walked",
        "features/walk/apply",
        "features/walk/paint",
    ];
    assert_eq!(
        of_a_feature.map(counted),
        ["features/walk", "model/walk", "model/walk/Walked", "changes/walk", "features/walk/paint"]
    );
    assert_eq!([counted("features/table"), counted("shell/ui")], ["changes/table", "shell/ui"]);
    let part = |name: &str| ("model".to_owned(), name.to_owned());
    let (a, b, c) = (part("a"), part("b"), part("c"));
    let circle = circles(&BTreeMap::from([
        (&a, BTreeSet::from([&b])),
        (&b, BTreeSet::from([&a])),
        (&c, BTreeSet::from([&a])),
    ]));
    assert_eq!(circle, ["model/a, model/b"]);
}

#[test]
fn imported_modules_are_recognised() {
    assert_eq!(uses("use crate::knn::Problem;"), [(1, "knn")]);
    assert_eq!(uses("\nuse crate::{cloud::{self, Order}, run};"), [(2, "cloud"), (2, "run")]);
    assert_eq!(uses("use crate::{\n    cloud::Order,\n    run,\n};"), [(2, "cloud"), (3, "run")]);
    assert_eq!(uses("let x: crate::app::App = crate::cli::x();"), [(1, "app"), (1, "cli")]);
    assert_eq!(room(Path::new("engines/cuda/mod.rs")), "engines");
    assert_eq!(room(Path::new("progress.rs")), "progress");
}
