//! State of the built-in file dialog: a folder, its contents, and a typed path.

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use crate::app::features::analysis::state::AnalysisKind;
use crate::app::model::search::folded;

/// The purpose of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePurpose {
    /// A cloud or recording to open.
    Data,
    Queries,
    /// The other file of a comparison.
    Comparison(AnalysisKind),
    /// Another file of the same rows, for the second view.
    Second,
    /// The points of a session that was saved without them.
    SessionData,
    Export,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    /// False for folders, which are listed first.
    pub is_file: bool,
    pub name: String,
    /// Whether Warpscope can open the file.
    pub opens: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chooser {
    pub asked_by: FilePurpose,
    /// The path in the field; its folder is listed.
    pub text: String,
    pub folder: PathBuf,
    /// Its contents, or an error; while reading, the previous contents.
    pub items: Result<Vec<FolderEntry>, String>,
    pub reading: bool,
    /// Contents of all folders listed so far.
    pub known: BTreeMap<PathBuf, Vec<FolderEntry>>,
    /// Whether to list files that Warpscope cannot open.
    pub all: bool,
    /// Index of the selection in [`Self::shown`]; `None` until arrow keys are used.
    pub at: Option<usize>,
    /// Why the typed path was rejected.
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChooserAction {
    Type(String),
    /// Enter a folder, or choose a file.
    Take(String),
    Go(PathBuf),
    All(bool),
    Move(Option<usize>),
    /// Confirm the typed path.
    Done,
    Close,
}

impl Chooser {
    pub fn new(asked_by: FilePurpose) -> Self {
        let (text, folder, known) = (String::new(), PathBuf::new(), BTreeMap::new());
        Self {
            asked_by,
            text,
            folder,
            items: Ok(Vec::new()),
            reading: false,
            known,
            all: false,
            at: None,
            error: None,
        }
    }

    /// Switches to a folder, which the caller must read.
    pub fn enter(&mut self, folder: PathBuf) {
        self.items = Ok(self.known.get(&folder).cloned().unwrap_or_default());
        (self.folder, self.reading, self.at) = (folder, true, None);
    }

    /// Stores the contents of a folder, if it is still the listed one.
    pub fn listed(&mut self, folder: PathBuf, items: Result<Vec<FolderEntry>, String>) {
        if folder != self.folder {
            return;
        }
        if let Ok(items) = &items {
            self.known.insert(folder, items.clone());
        }
        let chosen = self.at.and_then(|at| self.shown().nth(at)).cloned();
        (self.items, self.reading) = (items, false);
        self.at = chosen.and_then(|chosen| self.shown().position(|item| *item == chosen));
    }

    pub fn title(&self) -> &'static str {
        match self.asked_by {
            FilePurpose::Data => "Open a file of points or a recording",
            FilePurpose::Queries => "Open a file of queries",
            FilePurpose::Comparison(AnalysisKind::Leaks) => "Find leaks in another file",
            FilePurpose::Comparison(_) => "Compare with another file of the same rows",
            FilePurpose::Second => "Show another file of the same rows beside",
            FilePurpose::SessionData => "Find the file of the session's points",
            FilePurpose::Export => "Save as",
        }
    }

    /// The folder of the typed path, and the beginning of a name in it.
    pub fn typed(&self) -> (PathBuf, String) {
        split(&self.text)
    }

    /// The items to list: those that match the typed beginning and can be opened.
    pub fn shown(&self) -> impl Iterator<Item = &FolderEntry> {
        let (_, begin) = self.typed();
        // A complete name filters nothing, so that the rest of the folder stays visible.
        let complete = self.items.iter().flatten().any(|item| item.name == begin)
            || self.asked_by == FilePurpose::Export;
        let begin = if complete { String::new() } else { folded(&begin) };
        self.items.iter().flatten().filter(move |item| {
            let hidden = item.name.starts_with('.') && !begin.starts_with('.');
            !hidden
                && folded(&item.name).starts_with(&begin)
                && (!item.is_file || self.all || self.asked_by == FilePurpose::Export || item.opens)
        })
    }

    /// The only match of the typed beginning.
    pub fn only(&self) -> Option<String> {
        let mut shown = self.shown().take(2);
        let only =
            shown.next().filter(|_| shown.next().is_none() && !self.reading && !self.typed().1.is_empty())?;
        Some(only.name.clone())
    }

    /// Why the list is empty, if it is.
    pub fn nothing(&self) -> Option<String> {
        let (Ok(items), None) = (&self.items, self.shown().next()) else { return None };
        let (_, begin) = self.typed();
        Some(match () {
            () if self.reading => "Reading…".to_owned(),
            () if items.is_empty() => "This folder is empty.".to_owned(),
            () if !begin.is_empty() && self.asked_by != FilePurpose::Export => {
                format!("Nothing here begins with “{begin}”.")
            }
            () if self.left_out() > 0 => "There is no file here that Warpscope opens.".to_owned(),
            () => "There are only hidden files here.".to_owned(),
        })
    }

    /// Number of files hidden because Warpscope cannot open them.
    pub fn left_out(&self) -> usize {
        if self.all || self.asked_by == FilePurpose::Export {
            return 0;
        }
        self.items
            .iter()
            .flatten()
            .filter(|item| item.is_file && !item.name.starts_with('.') && !item.opens)
            .count()
    }

    /// The typed path, extended by the common prefix of all matches; a single folder is entered.
    pub fn completed(&self) -> String {
        let shown: Vec<&FolderEntry> = self.shown().collect();
        let (folder, begin) = self.typed();
        let Some(first) = shown.first() else { return self.text.clone() };
        let common = shown.iter().skip(1).fold(first.name.as_str(), |common, item| {
            let same = common
                .char_indices()
                .zip(item.name.chars())
                .take_while(|((_, a), b)| a.to_lowercase().eq(b.to_lowercase()));
            &common[..same.map(|((at, a), _)| at + a.len_utf8()).last().unwrap_or(0)]
        });
        if common.len() < begin.len() {
            return self.text.clone();
        }
        let is_folder = shown.len() == 1 && !first.is_file;
        with_name(&folder, common, is_folder)
    }
}

pub fn with_name(folder: &Path, name: &str, is_folder: bool) -> String {
    let mut text = folder.join(name).display().to_string();
    if is_folder && !text.ends_with(MAIN_SEPARATOR) {
        text.push(MAIN_SEPARATOR);
    }
    text
}

/// Splits a typed path into its folder and the beginning of a name.
pub fn split(text: &str) -> (PathBuf, String) {
    match text.rfind(std::path::is_separator) {
        Some(at) => (PathBuf::from(&text[..=at]), text[at + 1..].to_owned()),
        None => (PathBuf::new(), text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chooser(text: &str) -> Chooser {
        let mut items: Vec<FolderEntry> = [
            ("towns.csv", true),
            ("towers.laz", true),
            ("notes.pdf", true),
            ("Data", false),
            (".git", false),
            ("a.CSV.gz", true),
        ]
        .map(|(name, is_file)| FolderEntry { is_file, name: name.to_owned(), opens: name != "notes.pdf" })
        .into();
        items.sort();
        let (folder, _) = split(text);
        Chooser { text: text.to_owned(), folder, items: Ok(items), ..Chooser::new(FilePurpose::Data) }
    }

    fn names(chooser: &Chooser) -> Vec<&str> {
        chooser.shown().map(|item| item.name.as_str()).collect()
    }

    #[test]
    fn folders_are_listed_before_openable_files() {
        let mut all = chooser("/x/");
        assert_eq!((names(&all), all.left_out()), (vec!["Data", "a.CSV.gz", "towers.laz", "towns.csv"], 1));
        all.all = true;
        assert!(names(&all).contains(&"notes.pdf") && all.left_out() == 0);
        assert_eq!(names(&chooser("/x/TOW")), ["towers.laz", "towns.csv"]);
        assert_eq!(names(&chooser("/x/.")), [".git"]);
        assert_eq!(names(&chooser("/x/towns.csv")).len(), 4, "a complete name filters nothing");
    }

    #[test]
    fn empty_folder_listings_show_a_reason() {
        let said = |chooser: &Chooser| chooser.nothing().unwrap_or_default();
        assert_eq!(
            (said(&chooser("/x/")), said(&chooser("/x/zz"))),
            (String::new(), "Nothing here begins with “zz”.".to_owned())
        );
        let only = |items: &[(&str, bool)]| {
            let items = items
                .iter()
                .map(|&(name, is_file)| FolderEntry { is_file, name: name.to_owned(), opens: false })
                .collect();
            said(&Chooser { items: Ok(items), ..chooser("/x/") })
        };
        assert_eq!(only(&[]), "This folder is empty.");
        assert_eq!(
            only(&[("notes.pdf", true), (".git", false)]),
            "There is no file here that Warpscope opens."
        );
        assert_eq!(only(&[(".git", false)]), "There are only hidden files here.");
        let mut chooser = chooser("/x/");
        chooser.enter("/y/".into());
        assert_eq!(said(&chooser), "Reading…");
    }

    #[test]
    fn cached_folders_are_shown_while_they_reload() {
        let mut chooser = Chooser::new(FilePurpose::Data);
        let item = |name: &str| FolderEntry { is_file: true, name: name.to_owned(), opens: true };
        chooser.enter("/x/".into());
        chooser.listed("/x/".into(), Ok(vec![item("a.csv"), item("c.csv")]));
        chooser.enter("/y/".into());
        assert_eq!(names(&chooser), [""; 0]);
        chooser.listed("/x/".into(), Ok(vec![item("late.csv")]));
        assert!(names(&chooser).is_empty() && chooser.reading, "the result is for another folder");
        chooser.listed("/y/".into(), Err("gone".to_owned()));
        chooser.enter("/x/".into());
        assert_eq!((names(&chooser), chooser.reading), (vec!["a.csv", "c.csv"], true));
        chooser.at = Some(1);
        chooser.listed("/x/".into(), Ok(vec![item("a.csv"), item("b.csv"), item("c.csv")]));
        assert_eq!(
            (names(&chooser).len(), chooser.at, chooser.reading),
            (3, Some(2), false),
            "the selection is kept"
        );
    }

    #[test]
    fn tab_completes_the_common_prefix() {
        let sep = MAIN_SEPARATOR;
        assert_eq!(chooser("/x/t").completed(), "/x/tow");
        assert_eq!(chooser("/x/tow").completed(), "/x/tow");
        assert_eq!(chooser("/x/town").completed(), "/x/towns.csv");
        assert_eq!(chooser("/x/da").completed(), format!("/x/Data{sep}"));
        assert_eq!(chooser("/x/zz").completed(), "/x/zz");
    }
}
