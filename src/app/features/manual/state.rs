//! The documents that the program carries, and which of them is read.

use std::sync::LazyLock;

/// A document of the repository.
pub struct Document {
    /// Its path in the repository, by which links name it.
    pub path: &'static str,
    /// Its first heading, without marks of code.
    pub title: String,
    /// Its text, without pictures; of links there are those to other documents and to the web.
    pub text: String,
}

const SOURCES: [(&str, &str); 20] = [
    ("docs/tour.md", include_str!("../../../../docs/tour.md")),
    ("README.md", include_str!("../../../../README.md")),
    ("docs/selecting.md", include_str!("../../../../docs/selecting.md")),
    ("docs/analyse.md", include_str!("../../../../docs/analyse.md")),
    ("docs/compare.md", include_str!("../../../../docs/compare.md")),
    ("docs/formats.md", include_str!("../../../../docs/formats.md")),
    ("docs/config.md", include_str!("../../../../docs/config.md")),
    ("docs/metrics.md", include_str!("../../../../docs/metrics.md")),
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
    ("ARCHITECTURE.md", include_str!("../../../../ARCHITECTURE.md")),
    ("CHANGELOG.md", include_str!("../../../../CHANGELOG.md")),
];

/// All documents, in the order of the contents.
pub static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(|| {
    let document = |(path, source): (&'static str, &'static str)| {
        let title = source.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(path).replace('`', "");
        Document { path, title, text: shown(source, path) }
    };
    SOURCES.map(document).into()
});

/// What is read, and what is looked for in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manual {
    /// Its place among [`DOCUMENTS`].
    pub document: usize,
    /// Those that were read before, the last one last.
    pub before: Vec<usize>,
    pub sought: String,
}

impl Manual {
    /// Goes on to a document.
    pub fn open(&mut self, document: usize) {
        if document != self.document {
            self.before.push(self.document);
            self.document = document;
        }
    }
}

/// How often a document says something, however it is written.
pub fn count(document: &Document, sought: &str) -> usize {
    let sought = sought.trim().to_lowercase();
    if sought.is_empty() { 0 } else { document.text.to_lowercase().matches(&sought).count() }
}

/// All that is linked to, as it stands in the texts.
pub fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// The place of a document by its path.
pub fn named(path: &str) -> Option<usize> {
    SOURCES.iter().position(|(known, _)| *known == path)
}

/// Signs that the window's fonts do not have, and what stands for them.
const SIGNS: [(char, &str); 4] = [('\u{302}', "^"), ('ⱼ', "_j"), ('ᵢ', "_i"), ('ᵈ', "^d")];

/// A source without pictures, and without links to what the program does not carry.
fn shown(source: &str, path: &str) -> String {
    let (mut text, mut in_code, mut in_list, mut after_blank) =
        (String::with_capacity(source.len()), false, false, true);
    for line in source.lines() {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        // In a list, text of its items is indented too.
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

/// A line of code as text in the font of code: a block would have a button whose sign the window's fonts do
/// not have.
fn code(line: &str, text: &mut String) {
    if !line.trim().is_empty() {
        let ticks = if line.contains('`') { "`` " } else { "`" };
        *text += &format!("{ticks}{line}{}  ", ticks.chars().rev().collect::<String>());
    }
}

/// A line whose links lead to documents by their paths, or to the web; the others are their words.
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

/// What a link of a document leads to, where that can be shown.
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
    fn documents_have_titles_and_lead_to_one_another() {
        for document in DOCUMENTS.iter() {
            assert!(!document.title.ends_with(".md") && !document.text.contains("!["), "{}", document.path);
            for target in targets(&document.text) {
                assert!(named(target).is_some() || target.starts_with("http"), "{}: {target}", document.path);
            }
        }
        let tour = &DOCUMENTS[named("docs/tour.md").expect("the tour")];
        assert!(count(tour, "ZIP CODES") > 0 && count(tour, "no such words") == 0 && count(tour, " ") == 0);
        let overview = &DOCUMENTS[named("README.md").expect("the overview")];
        assert!(
            targets(&overview.text).any(|target| target == "docs/formats.md"),
            "the overview leads to the formats"
        );
        assert_eq!(DOCUMENTS[0].path, "docs/tour.md", "what one can do comes first");
    }

    #[test]
    fn links_lead_from_where_they_stand() {
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
    fn what_was_read_before_comes_back() {
        let mut manual = Manual::default();
        manual.open(3);
        manual.open(3);
        manual.open(1);
        assert_eq!((manual.document, manual.before), (1, vec![0, 3]));
    }
}
