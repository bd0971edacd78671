//! Lists every error message of the program in `tests/data/errors.txt`, so that they can be read together:
//! each should say what is wrong, the value, and what to do. After changing one, write the list again:
//!
//! ```sh
//! WARPSCOPE_ERRORS=write cargo test --no-default-features --test errors
//! ```

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What introduces a message in the sources: an attribute of an error type, or a macro or type of errors
/// without one.
const OPENINGS: [&str; 5] = ["#[error(", "bail!(", "anyhow!(", "UsageError(format!(", "UsageError("];

/// Sample values of placeholders, by the end of their names.
const SAMPLES: [(&[&str], &str); 9] = [
    (&["path", "file", "input", "to"], "points.csv"),
    (&["folder", "dir"], "results"),
    (&["column", "name", "array", "heading", "axis"], "height"),
    (&["engine", "method"], "kdtree"),
    (&["metric", "ranking"], "angular"),
    (&["needed", "free", "bytes", "needs", "limit", "room"], "512"),
    (&["row", "line", "query", "rank", "at", "index"], "17"),
    (&["k", "n", "d", "q", "dims", "rows", "columns", "count", "max", "min", "most", "least"], "2,000"),
    (&["error", "why", "reason", "source"], "permission denied (os error 13)"),
];

/// A message with sample values. A placeholder without a sample shows its name.
fn with_samples(message: &str, arguments: &[String]) -> String {
    let (mut text, mut rest, mut next) = (String::new(), message, 0);
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            text.push_str(&rest[..1]);
            rest = &rest[2..];
            continue;
        }
        let Some(end) = rest.find('}') else { break };
        let name = rest[1..end].split(':').next().unwrap_or_default();
        let argument = match name.parse::<usize>() {
            Ok(number) => arguments.get(number),
            Err(_) if name.is_empty() => {
                next += 1;
                arguments.get(next - 1)
            }
            Err(_) => None,
        };
        let name = argument.map_or(name, String::as_str);
        let is_sample =
            |ends: &&(&[&str], &str)| ends.0.iter().any(|end| name.rsplit('_').next() == Some(end));
        match SAMPLES.iter().find(is_sample) {
            Some((_, sample)) => text.push_str(sample),
            None => write!(text, "‹{name}›").expect("strings can be written"),
        }
        rest = &rest[end + 1..];
    }
    text + rest
}

/// A string literal at the beginning of a text, and what follows it.
fn literal(text: &str) -> Option<(String, &str)> {
    let body = text.trim_start().strip_prefix('"')?;
    let (mut value, mut characters) = (String::new(), body.char_indices());
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((value, &body[at + 1..])),
            '\\' => match characters.next()?.1 {
                // A continued line loses its indentation.
                '\n' => {
                    let rest = characters.as_str().trim_start();
                    characters = body.char_indices();
                    let skipped = body.len() - rest.len();
                    while characters.clone().next().is_some_and(|(at, _)| at < skipped) {
                        characters.next();
                    }
                }
                'n' => value.push('\n'),
                'u' => {
                    let code: String =
                        characters.by_ref().map(|(_, c)| c).take_while(|&c| c != '}').collect();
                    value.extend(
                        u32::from_str_radix(code.trim_start_matches('{'), 16).ok().and_then(char::from_u32),
                    );
                }
                escaped => value.push(escaped),
            },
            c => value.push(c),
        }
    }
    None
}

/// The arguments of a format string up to the closing parenthesis, each by the last name in it.
fn arguments(text: &str) -> Vec<String> {
    let (mut depth, mut arguments, mut argument) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(std::mem::take(&mut argument));
                continue;
            }
            _ => {}
        }
        argument.push(c);
    }
    arguments.push(argument);
    let is_name = |word: &&str| word.chars().any(char::is_alphabetic);
    let last = |argument: &String| {
        let mut words = argument.split(|c: char| !c.is_alphanumeric() && c != '_').filter(is_name);
        words
            .rfind(|word| !["len", "display", "to_string", "u64", "as", "into", "iter"].contains(word))
            .unwrap_or_default()
            .to_owned()
    };
    arguments.iter().skip(1).map(last).collect()
}

/// The messages in a source file, without those of its tests.
fn messages(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut found = Vec::new();
    for opening in OPENINGS {
        for (at, _) in source.match_indices(opening) {
            if let Some((message, rest)) = literal(&source[at + opening.len()..]) {
                found.push((at, with_samples(&message, &arguments(rest))));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, message)| message).collect()
}

/// Sources below a folder in the order of their names, without files of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.contains("test") {
            found.push(path);
        }
    }
}

#[test]
fn every_error_message_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut files, mut list, mut wrong) = (Vec::new(), String::new(), Vec::new());
    for folder in ["src", "crates"] {
        sources(&root.join(folder), &mut files);
    }
    for file in files {
        let messages = messages(&fs::read_to_string(&file).expect("a source"));
        let name =
            file.strip_prefix(root).expect("a path below the root").to_string_lossy().replace('\\', "/");
        if !messages.is_empty() {
            writeln!(list, "{name}").expect("strings can be written");
        }
        for message in messages {
            writeln!(list, "    {message}").expect("strings can be written");
            let is_sentence = message.ends_with('.') && !message.ends_with("…");
            if is_sentence || message.contains('\n') || message.chars().count() > 320 {
                wrong.push(format!("{name}: {message}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "one line without a full stop, of at most 320 characters:\n{}",
        wrong.join("\n")
    );
    assert!(list.lines().count() > 300, "only {} lines were found", list.lines().count());
    let path = root.join("tests/data/errors.txt");
    if std::env::var_os("WARPSCOPE_ERRORS").is_some_and(|value| value == "write") {
        fs::write(&path, &list).expect("the list can be written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let new: Vec<&str> = list.lines().filter(|line| !stored.contains(*line)).collect();
    assert!(list == stored, "tests/data/errors.txt is not up to date; new or changed:\n{}", new.join("\n"));
}

#[test]
fn error_messages_are_extracted_from_source() {
    let source = "#[error(\"k = {k}: must be \\\"small\\\", \\\n      at most {}\", text::thousands(*most))] \
                  bail!(UsageError(\"no {{file}}\".to_owned()))";
    assert_eq!(messages(source), ["k = 2,000: must be \"small\", at most 2,000", "no {file}"]);
}
