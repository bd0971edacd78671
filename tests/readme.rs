//! README.md and the pages of docs/ match the program: their commands, their links, and the index.

use std::fs;
use std::path::{Path, PathBuf};

use warpscope::cli;

/// The pages whose commands must be accepted.
const PAGES: [&str; 6] = [
    "README.md",
    "docs/add-an-engine.md",
    "docs/ask.md",
    "docs/explore.md",
    "docs/measure.md",
    "docs/teach.md",
];

/// Word limit of the front page.
const MOST_WORDS: usize = 1200;

/// A file by its path in the repository.
fn read(path: &Path) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Markdown files of the repository's root and of `docs/`, by their paths in the repository.
fn pages() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![PathBuf::from("bench/README.md")];
    for folder in ["", "docs"] {
        for entry in fs::read_dir(top.join(folder)).expect("the folder exists") {
            let name = PathBuf::from(entry.expect("the folder can be listed").file_name());
            if name.extension().is_some_and(|extension| extension == "md") {
                pages.push(Path::new(folder).join(name));
            }
        }
    }
    pages
}

/// The numbered lines of a page, either in code blocks or outside.
fn lines(text: &str, in_code: bool) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!fence && code == in_code).then_some((at + 1, line))
    })
}

/// The anchor that GitHub makes of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Whether a page has a heading with this anchor.
fn has_heading(text: &str, wanted: &str) -> bool {
    let headings = lines(text, false).filter_map(|(_, line)| line.strip_prefix('#'));
    headings.map(|line| line.trim_start_matches('#')).any(|heading| anchor(heading) == wanted)
}

/// The words of a shell command without substitutions; single quotes keep spaces.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            c => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// The calls of the program in a page's code blocks, without comments and redirections.
fn commands(text: &str) -> Vec<(usize, String)> {
    let before = |line: &str, end: &str| line.split(end).next().unwrap_or_default().trim().to_owned();
    let calls = lines(text, true).flat_map(|(at, line)| {
        let line = before(line.trim_start_matches("$ "), " #");
        let parts: Vec<String> = line.split(" | ").map(|part| before(part, " > ")).collect();
        parts.into_iter().map(move |part| (at, part))
    });
    calls.filter(|(_, call)| call.split(' ').next() == Some("warpscope")).collect()
}

#[test]
fn documented_commands_are_valid() {
    let mut wrong = Vec::new();
    for page in PAGES {
        let found = commands(&read(Path::new(page)));
        assert!(page == "docs/add-an-engine.md" || !found.is_empty(), "{page}: no commands were found");
        let refused = found.into_iter().filter(|(_, command)| !cli::parses(words(command)));
        wrong.extend(refused.map(|(line, command)| format!("{page}:{line}: {command}")));
    }
    assert!(wrong.is_empty(), "commands that the program refuses:\n{}", wrong.join("\n"));
}

#[test]
fn documentation_links_resolve() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in pages() {
        let text = read(&page);
        let links = lines(&text, false).flat_map(|(at, line)| {
            line.split("](").skip(1).filter_map(move |rest| Some((at, rest.split_once(')')?.0)))
        });
        for (at, link) in links.filter(|(_, link)| !link.starts_with("http")) {
            count += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = page.parent().unwrap_or(Path::new(""));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            let there = Path::new(env!("CARGO_MANIFEST_DIR")).join(&target).exists();
            if !there || !(heading.is_empty() || has_heading(&read(&target), heading)) {
                wrong.push(format!("{}:{at}: {link}", page.display()));
            }
        }
    }
    assert!(count > 100, "only {count} links were found");
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn the_index_lists_every_page() {
    let index = read(Path::new("docs/README.md"));
    let missing: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.starts_with("docs") && !page.ends_with("README.md"))
        .filter(|page| !index.contains(&format!("]({})", page.file_name().expect("a file").display())))
        .collect();
    assert!(missing.is_empty(), "docs/README.md should list {missing:?}");
}

#[test]
fn the_readme_is_short() {
    let words = read(Path::new("README.md")).split_whitespace().count();
    assert!(words <= MOST_WORDS, "README.md has {words} words; move what is more than {MOST_WORDS} to docs/");
}

#[test]
fn commands_and_anchors_are_parsed() {
    let page =
        "```sh\n$ cat a.csv | warpscope knn - -o - > b.csv  # all\nwarpscope sweep --engine 'a b,c'\n```\n";
    let found = commands(page);
    assert_eq!(found[0], (2, "warpscope knn - -o -".to_owned()));
    assert_eq!(words(&found[1].1), ["warpscope", "sweep", "--engine", "a b,c"]);
    assert_eq!(anchor(" A run (`--out DIR`)"), "a-run---out-dir");
    assert!(has_heading("# One\n## A search, seen\n", "a-search-seen") && !has_heading("text", "text"));
}
