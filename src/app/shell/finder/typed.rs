//! What the words spell out: a file by its path, or k by its number.

use std::path::Path;

use crate::app::model::{Action, Draft, Mode, State};
use crate::app::shell::finder::Found;
use crate::cloud::formats::file_of;
use crate::run::recording;
use crate::text;

/// What the words can only mean.
pub fn spelled(words: &str, mode: Mode, state: &State) -> Vec<Found> {
    let here = std::env::current_dir().unwrap_or_default();
    let k = k(words, state).filter(|_| mode.is_in(Mode::Explorer));
    k.into_iter().chain(path_in(&here, words)).collect()
}

/// `k 64`, `k=64`, `64`, `64 neighbours`.
fn k(words: &str, state: &State) -> Option<Found> {
    let words = super::british(words.trim());
    let number = words.strip_prefix('k').unwrap_or(&words).trim_start().trim_start_matches('=');
    let number = number.trim().trim_start_matches("neighbours").trim_end_matches("neighbours").trim();
    let k: u64 = number.parse().ok()?;
    let (text, most) = (format!("k = {}", text::thousands(k)), state.draft.max_k() as u64);
    if !(1..=most).contains(&k) {
        return Some(Found::refused(text, format!("k may be 1 to {}.", text::thousands(most))));
    }
    let draft = Draft { k: k.to_string(), ..state.draft.clone() };
    Some(Found::new(text, "So many neighbours are asked for.", Action::SetDraft(Box::new(draft))))
}

/// A file as it is typed or pasted, from a folder on where it is relative; `None` where the words are no path.
pub fn path_in(folder: &Path, words: &str) -> Option<Found> {
    let typed = unquoted(words)?;
    let path = match typed.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((rest, home)) => home.join(rest),
        None => folder.join(&typed),
    };
    let file = recording::split_run(&path).map_or_else(|| file_of(&path), |(file, _)| file);
    if file.is_file() {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        return Some(Found::new(format!("Open {name}"), path.display().to_string(), Action::OpenPath(path)));
    }
    // Of a few words that are no file nobody says that a file is missing.
    let looks_like_one = typed.contains('/') || (cfg!(windows) && typed.contains('\\'));
    looks_like_one.then(|| {
        let why = if file.is_dir() { "That is a folder; name a file in it" } else { "There is no such file" };
        Found::refused(format!("Open {typed}"), format!("{why}: {}", file.display()))
    })
}

/// As file managers and shells give a path: in quotes, or as a URL.
fn unquoted(words: &str) -> Option<String> {
    let words = words.trim();
    let bare = ['\'', '"'].iter().find_map(|&quote| words.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(words);
    let path = bare.strip_prefix("file://").map_or_else(|| bare.to_owned(), decoded);
    (!path.is_empty()).then_some(path)
}

/// The path of a URL, whose other signs are `%` and two digits.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn urls_are_decoded_and_what_is_none_stays() {
        assert_eq!(decoded("/a%20b/%C3%A4.csv"), "/a b/ä.csv");
        assert_eq!(decoded("/100%/a%2"), "/100%/a%2");
        assert_eq!(unquoted(" '/a b' ").as_deref(), Some("/a b"));
        assert_eq!(unquoted("''"), None);
        assert_eq!(PathBuf::from(unquoted("file:///a").expect("a path")), PathBuf::from("/a"));
    }
}
