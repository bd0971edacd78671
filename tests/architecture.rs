//! Which way imports go, and which crates belong where: ARCHITECTURE.md as a test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What each folder of `src` may use of the others. `app` and `cli` may use all.
const ARROWS: [(&str, &[&str]); 9] = [
    ("palette", &[]),
    ("progress", &[]),
    ("text", &[]),
    ("cloud", &["progress"]),
    ("knn", &["cloud", "progress"]),
    ("engines", &["knn", "cloud", "progress"]),
    ("lesson", &["engines", "knn", "cloud", "palette", "progress", "text"]),
    ("run", &["engines", "knn", "cloud", "progress", "text"]),
    ("export", &["lesson", "run", "engines", "knn", "cloud", "palette", "progress", "text"]),
];

/// Crates with one home, so that the rest builds and is tested without them.
const HOMES: [(&[&str], &[&str]); 9] = [
    (&["hdf5_reader"], &["cloud/formats/hdf5"]),
    (&["arrow_array", "arrow_buffer", "arrow_ipc", "arrow_schema", "parquet"], &["cloud/formats/arrow", "cloud/formats/tests", "export/table"]),
    (&["cudarc"], &["engines/cuda"]),
    (&["nalgebra"], &["cloud/project"]),
    (&["e57"], &["cloud/formats"]),
    (&["kiddo"], &["engines/kdtree"]),
    (&["epaint_default_fonts", "harfrust", "skrifa", "tiny_skia"], &["lesson/picture"]),
    (&["eframe", "egui", "egui_extras", "egui_kittest", "egui_plot", "egui_tiles", "rfd", "wgpu"], &["app", "main.rs"]),
    (&["anyhow", "clap", "indicatif"], &["app", "cli", "main.rs"]),
];

/// Every source file, as its path below `src` and its text without comments.
fn sources() -> Vec<(PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut files) = (vec![src.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the sources are there") {
            let path = entry.expect("the sources can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("sources are text");
                let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
                files.push((path.strip_prefix(&src).expect("listed below src").to_owned(), code.join("\n")));
            }
        }
    }
    assert!(files.len() > 20, "only {} sources were found", files.len());
    files
}

/// The names that follow each `crate::`, with their line: one, or the first of each path in a braced list.
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

/// The folder or file of `src` that a path belongs to: `knn` for `knn/theory.rs` as for `knn.rs`.
fn room(path: &Path) -> String {
    let first = path.iter().next().expect("a path has a part").to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn imports_follow_the_arrows() {
    let rooms: BTreeSet<String> = sources().iter().map(|(path, _)| room(path)).collect();
    let mut wrong = Vec::new();
    for (path, code) in sources() {
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == room(&path)) else {
            assert!(["app", "cli", "lib", "main"].contains(&room(&path).as_str()), "{}: ARROWS does not say what it may use", path.display());
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
fn crates_stay_at_home() {
    let mut wrong = Vec::new();
    for (path, code) in sources() {
        for (crates, homes) in HOMES.iter().filter(|(_, homes)| !homes.iter().any(|home| path.starts_with(home))) {
            for name in *crates {
                for (at, _) in code.match_indices(&format!("{name}::")) {
                    if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                        wrong.push(format!("src/{}:{}: {name} belongs in {}", path.display(), line_of(&code, at), homes.join(", ")));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "crates away from home:\n{}", wrong.join("\n"));
}

#[test]
fn names_are_found_wherever_they_stand() {
    assert_eq!(uses("use crate::knn::Problem;"), [(1, "knn")]);
    assert_eq!(uses("\nuse crate::{cloud::{self, Order}, run};"), [(2, "cloud"), (2, "run")]);
    assert_eq!(uses("use crate::{\n    cloud::Order,\n    run,\n};"), [(2, "cloud"), (3, "run")]);
    assert_eq!(uses("let x: crate::app::App = crate::cli::x();"), [(1, "app"), (1, "cli")]);
    assert_eq!(room(Path::new("engines/cuda/mod.rs")), "engines");
    assert_eq!(room(Path::new("progress.rs")), "progress");
}
