//! Counts phrases that hide what a sentence is about, such as "nobody" or "of which". A table says how many
//! of each a folder may have. The numbers may only fall.
//!
//! After rewriting texts, print the table with today's counts and paste it below:
//!
//! ```sh
//! WARPSCOPE_WORDS=count cargo test --no-default-features --test words -- --nocapture
//! ```

use std::fs;
use std::path::{Path, PathBuf};

/// A column of the table: its name, the files and folders in it, and the endings of file names to read.
type Column = (&'static str, &'static [&'static str], &'static [&'static str]);

const COLUMNS: [Column; 9] = [
    ("root", &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"], &[".md"]),
    ("docs", &["docs"], &[".md"]),
    ("src", &["src"], &[".rs"]),
    ("crates", &["crates"], &[".rs", ".txt"]),
    ("tests", &["tests"], &[".rs"]),
    ("benches", &["benches"], &[".rs"]),
    ("fuzz", &["fuzz/src", "fuzz/fuzz_targets"], &[".rs"]),
    ("cuda", &["cuda"], &[".cu", ".cuh"]),
    ("scripts", &["scripts", ".ci"], &[""]),
];

/// Each phrase, in lower case, and how often it may occur in each of [`COLUMNS`].
const ALLOWED: &[(&str, [usize; COLUMNS.len()])] = &[
    ("nobody", [0, 0, 0, 3, 0, 0, 0, 0, 0]),
    ("whoever", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("of which", [1, 4, 2, 13, 0, 0, 0, 4, 0]),
    ("so many", [0, 0, 4, 3, 0, 0, 0, 0, 0]),
    ("as many as", [0, 1, 2, 4, 0, 0, 0, 2, 0]),
    ("how many there are", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("are others", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("is none", [0, 0, 6, 14, 1, 0, 0, 1, 0]),
    ("are none", [0, 0, 3, 10, 0, 0, 0, 0, 0]),
    ("none but", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("is no", [0, 0, 0, 3, 0, 0, 0, 0, 0]),
    ("are no", [0, 0, 0, 0, 1, 0, 0, 0, 0]),
    ("that which", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("says of", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("said of", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("speaks of", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("tells of", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("told of", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("is said", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("are said", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("is told", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("are told", [1, 0, 0, 0, 0, 0, 0, 0, 1]),
    ("as it is", [0, 4, 1, 3, 1, 0, 0, 0, 0]),
    ("as it was", [0, 0, 5, 0, 0, 0, 0, 0, 0]),
    ("as they are now", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("by what", [0, 0, 3, 0, 0, 0, 0, 0, 0]),
    ("in what", [0, 1, 0, 0, 0, 0, 0, 0, 0]),
    ("for what", [0, 0, 1, 1, 0, 0, 0, 0, 0]),
    ("of its own", [2, 2, 5, 16, 2, 0, 0, 1, 0]),
    ("by itself", [0, 0, 0, 4, 0, 0, 0, 2, 0]),
    ("no namesake", [0, 0, 0, 0, 0, 0, 0, 0, 0]),
];

/// Words that may follow "is no" and "are no". An empty word is the end of a line.
const COMPARATIVES: &[&str] = &[
    "", "longer", "more", "less", "fewer", "larger", "greater", "smaller", "later", "earlier", "nearer",
    "farther", "closer", "higher", "lower", "better", "worse", "faster", "slower",
];

/// Where a phrase occurs.
struct Hit {
    phrase: usize,
    column: usize,
    place: String,
}

#[test]
fn evasive_phrases_do_not_increase() {
    let hits = all_hits();
    let count = |phrase: usize, column: usize| {
        hits.iter().filter(|hit| (hit.phrase, hit.column) == (phrase, column)).count()
    };
    if std::env::var_os("WARPSCOPE_WORDS").is_some_and(|value| value == "count") {
        for (at, (phrase, _)) in ALLOWED.iter().enumerate() {
            let counts: Vec<String> =
                (0..COLUMNS.len()).map(|column| count(at, column).to_string()).collect();
            println!("    (\"{phrase}\", [{}]),", counts.join(", "));
        }
        return;
    }
    let mut failures = Vec::new();
    for (at, (phrase, allowed)) in ALLOWED.iter().enumerate() {
        for (column, (&most, (folder, ..))) in allowed.iter().zip(&COLUMNS).enumerate() {
            let found = count(at, column);
            if found > most {
                failures
                    .push(format!("\"{phrase}\" occurs {found} times in {folder}, but {most} are allowed:"));
                let places = hits.iter().filter(|hit| (hit.phrase, hit.column) == (at, column));
                failures.extend(places.map(|hit| format!("    {}", hit.place)));
            } else if found * 10 < most * 9 {
                failures.push(format!(
                    "\"{phrase}\" occurs {found} times in {folder}: lower the limit of {most}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn phrases_match_whole_words_only() {
    assert_eq!(occurrences("Nobody asks nobody; nobodys", "nobody"), 2);
    assert_eq!(occurrences("fn connects_to_nobody() {", "nobody"), 1);
    assert_eq!(occurrences("the last of which, of  which", "of which"), 1);
    assert_eq!(occurrences("if it.is_none() or is None", "is none"), 0);
    assert_eq!(occurrences("of them is none", "is none"), 1);
    assert_eq!(occurrences("a text is no number", "is no"), 1);
    assert_eq!(occurrences("is no longer; there is no GPU; it is no", "is no"), 0);
    assert_eq!(occurrences("/// No namesake: the host's. There is no namesake", "no namesake"), 1);
}

fn all_hits() -> Vec<Hit> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut hits = Vec::new();
    for (column, (_, paths, endings)) in COLUMNS.iter().enumerate() {
        let mut files = Vec::new();
        for path in *paths {
            collect(&root.join(path), endings, &mut files);
        }
        for file in files {
            let text =
                fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let name = file.strip_prefix(root).unwrap_or(&file).display();
            for (number, line) in (1..).zip(text.lines()) {
                for (phrase, (words, _)) in ALLOWED.iter().enumerate() {
                    let place = || format!("{name}:{number}: {}", line.trim());
                    hits.extend((0..occurrences(line, words)).map(|_| Hit {
                        phrase,
                        column,
                        place: place(),
                    }));
                }
            }
        }
    }
    hits
}

/// Collects a file, or the files below a folder, in the order of their names. Skips this file and the
/// generated reference, whose texts are counted in the sources.
fn collect(path: &Path, endings: &[&str], files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder entry").path()).collect();
        paths.sort();
        for path in paths {
            collect(&path, endings, files);
        }
    } else if !path.ends_with("tests/words.rs") && !path.ends_with("docs/reference.md") {
        let name = path.to_string_lossy();
        if endings.iter().any(|ending| name.ends_with(ending)) {
            files.push(path.to_owned());
        }
    }
}

/// Counts a phrase in a line, as whole words. An underscore separates the words of an identifier, but only
/// for phrases of one word: `is_none` is not "is none".
fn occurrences(line: &str, phrase: &str) -> usize {
    let lower = line.to_ascii_lowercase();
    let joins = |c: char| c.is_alphanumeric() || (c == '_' && phrase.contains(' '));
    lower
        .match_indices(phrase)
        .filter(|&(at, _)| {
            let end = at + phrase.len();
            let (before, after) = (&lower[..at], &lower[end..]);
            !before.ends_with(joins) && !after.starts_with(joins) && !is_fine(&line[at..end], before, after)
        })
        .count()
}

/// Whether an occurrence is plain English: "there is no GPU", "is no longer", the value `None`, and the
/// remark "No namesake:" that tests/device_code.rs looks for.
fn is_fine(found: &str, before: &str, after: &str) -> bool {
    match found.to_ascii_lowercase().as_str() {
        "is no" | "are no" => {
            let next = after.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
            before.trim_end().ends_with("there") || COMPARATIVES.contains(&next)
        }
        "is none" | "are none" => found.ends_with("None"),
        "no namesake" => after.starts_with(':'),
        _ => false,
    }
}
