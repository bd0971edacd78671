//! The embedded documents, and the reading position.

use std::sync::LazyLock;

pub struct Document {
    /// Path in the repository, as used in links.
    pub path: &'static str,
    /// The first heading, without code marks.
    pub title: String,
    /// The text without images, and with links only to embedded documents and the web.
    pub text: String,
}

const SOURCES: [(&str, &str); 28] = [
    ("docs/tour.md", include_str!("../../../../docs/tour.md")),
    ("README.md", include_str!("../../../../README.md")),
    ("docs/README.md", include_str!("../../../../docs/README.md")),
    ("docs/explore.md", include_str!("../../../../docs/explore.md")),
    ("docs/ask.md", include_str!("../../../../docs/ask.md")),
    ("docs/measure.md", include_str!("../../../../docs/measure.md")),
    ("docs/teach.md", include_str!("../../../../docs/teach.md")),
    ("docs/selecting.md", include_str!("../../../../docs/selecting.md")),
    ("docs/analyse.md", include_str!("../../../../docs/analyse.md")),
    ("docs/compare.md", include_str!("../../../../docs/compare.md")),
    ("docs/formats.md", include_str!("../../../../docs/formats.md")),
    ("docs/config.md", include_str!("../../../../docs/config.md")),
    ("docs/metrics.md", include_str!("../../../../docs/metrics.md")),
    ("docs/reference.md", include_str!("../../../../docs/reference.md")),
    ("docs/exact.md", include_str!("../../../../docs/exact.md")),
    ("docs/limits.md", include_str!("../../../../docs/limits.md")),
    ("docs/recording.md", include_str!("../../../../docs/recording.md")),
    ("docs/lesson.md", include_str!("../../../../docs/lesson.md")),
    ("docs/lesson-steps.md", include_str!("../../../../docs/lesson-steps.md")),
    ("docs/lesson-page.md", include_str!("../../../../docs/lesson-page.md")),
    ("docs/index.md", include_str!("../../../../docs/index.md")),
    ("docs/step.md", include_str!("../../../../docs/step.md")),
    ("docs/selection.md", include_str!("../../../../docs/selection.md")),
    ("docs/kernel.md", include_str!("../../../../docs/kernel.md")),
    ("docs/filter.md", include_str!("../../../../docs/filter.md")),
    ("docs/add-an-engine.md", include_str!("../../../../docs/add-an-engine.md")),
    ("ARCHITECTURE.md", include_str!("../../../../ARCHITECTURE.md")),
    ("CHANGELOG.md", include_str!("../../../../CHANGELOG.md")),
];

/// All documents, in the order of contents.
pub static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(|| {
    let document = |(path, source): (&'static str, &'static str)| {
        let title = source.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(path).replace('`', "");
        Document { path, title, text: shown(source, path) }
    };
    SOURCES.map(document).into()
});

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manual {
    pub document: usize,
    /// Previously read documents, latest last.
    pub before: Vec<usize>,
    pub sought: String,
}

impl Manual {
    /// Opens a document and remembers the previous one.
    pub fn open(&mut self, document: usize) {
        if document != self.document {
            self.before.push(self.document);
            self.document = document;
        }
    }
}

/// Number of matches in a document, ignoring case.
pub fn count(document: &Document, sought: &str) -> usize {
    let sought = sought.trim().to_lowercase();
    if sought.is_empty() { 0 } else { document.text.to_lowercase().matches(&sought).count() }
}

pub fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// Index of a document by its path.
pub fn named(path: &str) -> Option<usize> {
    SOURCES.iter().position(|(known, _)| *known == path)
}

/// Characters missing from the window's fonts, and their replacements.
const SIGNS: [(char, &str); 4] = [('\u{302}', "^"), ('ⱼ', "_j"), ('ᵢ', "_i"), ('ᵈ', "^d")];

/// A source without images, and without links to anything not embedded.
fn shown(source: &str, path: &str) -> String {
    let (mut text, mut in_code, mut in_list, mut after_blank) =
        (String::with_capacity(source.len()), false, false, true);
    for line in source.lines() {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        // Paragraphs of list items are indented too.
        let indented = after_blank && line.starts_with(if in_list { "      " } else { "    " });
        after_blank = line.trim().is_empty() || indented;
        if !after_blank && !line.starts_with(' ') {
            in_list = line.starts_with("- ")
                || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        }
        if fence || line.starts_with("![") {
            // A blank line keeps paragraphs apart.
        } else if in_code || indented {
            code(line, &mut text);
        } else {
            linked(line, path, &mut text);
        }
        text.push('\n');
    }
    SIGNS.iter().fold(text, |text, (sign, words)| text.replace(*sign, words))
}

/// A line of code as inline code: a code block would have a button with a character that the fonts lack.
fn code(line: &str, text: &mut String) {
    if !line.trim().is_empty() {
        let ticks = if line.contains('`') { "`` " } else { "`" };
        *text += &format!("{ticks}{line}{}  ", ticks.chars().rev().collect::<String>());
    }
}

/// A line with links resolved to embedded documents or the web; other links become plain text.
fn linked(line: &str, path: &str, text: &mut String) {
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("](") {
        let (Some(bracket), Some((target, behind))) = (before.rfind('['), after.split_once(')')) else {
            break;
        };
        let (before, words) = before.split_at(bracket);
        *text += before;
        match resolved(target, path) {
            Some(target) => *text += &format!("{words}]({target})"),
            None => *text += &words[1..],
        }
        rest = behind;
    }
    *text += rest;
}

/// The target of a link, if it can be shown.
fn resolved(target: &str, path: &str) -> Option<String> {
    if target.starts_with("https://") || target.starts_with("http://") {
        return Some(target.to_owned());
    }
    let target = target.split('#').next().unwrap_or_default();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let joined = match target.strip_prefix("../") {
        Some(target) => target.to_owned(),
        None if folder.is_empty() => target.to_owned(),
        None => format!("{folder}/{target}"),
    };
    named(&joined).map(|_| joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_titles_and_valid_links() {
        for document in DOCUMENTS.iter() {
            assert!(!document.title.ends_with(".md") && !document.text.contains("\n!["), "{}", document.path);
            for target in targets(&document.text) {
                assert!(named(target).is_some() || target.starts_with("http"), "{}: {target}", document.path);
            }
        }
        let tour = &DOCUMENTS[named("docs/tour.md").expect("the tour")];
        assert!(count(tour, "ZIP CODES") > 0 && count(tour, "no such words") == 0 && count(tour, " ") == 0);
        let overview = &DOCUMENTS[named("README.md").expect("the overview")];
        assert!(
            targets(&overview.text).any(|target| target == "docs/formats.md"),
            "the overview links to the formats"
        );
        assert_eq!(DOCUMENTS[0].path, "docs/tour.md", "the tour comes first");
    }

    #[test]
    fn relative_links_resolve_from_their_document() {
        assert_eq!(resolved("formats.md#runs", "docs/tour.md").as_deref(), Some("docs/formats.md"));
        assert_eq!(resolved("../README.md", "docs/tour.md").as_deref(), Some("README.md"));
        assert_eq!(resolved("docs/tour.md", "README.md").as_deref(), Some("docs/tour.md"));
        assert_eq!(resolved("src/lib.rs", "README.md"), None);
        let mut text = String::new();
        linked(
            "See [the tour](docs/tour.md), [the code](src/lib.rs) and [it](https://x.org).",
            "README.md",
            &mut text,
        );
        assert_eq!(text, "See [the tour](docs/tour.md), the code and [it](https://x.org).");
    }

    #[test]
    fn opening_a_document_records_the_previous_one() {
        let mut manual = Manual::default();
        manual.open(3);
        manual.open(3);
        manual.open(1);
        assert_eq!((manual.document, manual.before), (1, vec![0, 3]));
    }
}
