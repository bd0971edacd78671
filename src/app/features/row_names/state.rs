//! Rows by name, to find one by typing its name. Other threads read and search the names block by block, so
//! that the first matches appear at once and no frame waits for millions of rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::model::search::folded;
use crate::cloud::PointCloud;
use crate::text;

/// The names of a cloud's first rows.
#[derive(Debug, Default)]
struct NameTable {
    /// Each row's name and label, concatenated: `Springfield, IL`.
    all: String,
    /// Ends of name and label.
    ends: Vec<[usize; 2]>,
    /// Set when reading has ended; the inner option says why rows are missing.
    ended: Option<Option<String>>,
}

impl NameTable {
    /// The name of a row, without and with the label.
    fn get(&self, row: usize) -> (&str, &str) {
        let start = if row == 0 { 0 } else { self.ends[row - 1][1] };
        let [name, kind] = self.ends[row];
        (&self.all[start..name], &self.all[start..kind])
    }
}

/// The names of a cloud's rows, during and after reading.
#[derive(Debug)]
pub struct RowNames {
    pub cloud: Arc<PointCloud>,
    /// Headings of the name column and the label column.
    columns: [Option<String>; 2],
    names: Mutex<NameTable>,
}

impl RowNames {
    pub fn new(cloud: Arc<PointCloud>, columns: [Option<String>; 2]) -> Self {
        Self { cloud, columns, names: Mutex::default() }
    }

    pub fn is_of(&self, cloud: &Arc<PointCloud>, columns: &[Option<String>; 2]) -> bool {
        Arc::ptr_eq(&self.cloud, cloud) && self.columns == *columns
    }

    fn names(&self) -> MutexGuard<'_, NameTable> {
        lock(&self.names)
    }

    /// Adds names and labels of the next rows.
    pub fn push<'a>(&self, rows: impl Iterator<Item = [&'a str; 2]>) {
        let NameTable { all, ends, .. } = &mut *self.names();
        for [name, kind] in rows {
            all.push_str(name);
            let end = all.len();
            all.extend([", ", kind].iter().filter(|_| !kind.is_empty()).copied());
            ends.push([end, all.len()]);
        }
    }

    /// Marks the end of reading; `why` if rows are missing.
    pub fn end(&self, why: Option<String>) {
        self.names().ended = Some(why);
    }

    /// The name and label of a row: `Springfield, IL`.
    pub fn full_name(&self, row: u32) -> String {
        self.names().get(row as usize).1.to_owned()
    }

    /// The only row with this name, or name and label.
    ///
    /// # Errors
    /// A sentence if there is none, if there are several, or if not all names are read.
    pub fn row_of(&self, typed: &str) -> Result<u32, String> {
        let names = self.names();
        let (typed, plain) = (typed.trim(), folded(typed.trim()));
        let is_it = |text: &str| folded(text) == plain;
        let is_called =
            |&row: &usize| is_it(names.get(row).0) || plain.contains(',') && is_it(names.get(row).1);
        let called: Vec<usize> = (0..names.ends.len()).filter(is_called).collect();
        match called[..] {
            [row] => Ok(row as u32),
            [] => Err(match &names.ended {
                None => {
                    format!("No row so far is called “{typed}”, but names are still being read; ask again.")
                }
                Some(Some(why)) => format!("No row is called “{typed}” as far as names were read: {why}."),
                Some(None) => format!("No row is called “{typed}”, and it is not a row number such as 12."),
            }),
            [first, ..] => {
                let example = text::thousands(self.cloud.record(first));
                let kind = if called.iter().any(|&row| names.get(row).1 != names.get(first).1)
                    && !plain.contains(',')
                {
                    format!("“{}”, or its row number, such as {example}", names.get(first).1)
                } else {
                    format!("its row number, such as {example}")
                };
                Err(format!(
                    "{} are called “{typed}”: type {kind}.",
                    text::count(called.len() as u64, "row", "rows")
                ))
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A search of names for words; clones share its state.
#[derive(Clone, Debug, Default)]
pub struct NameSearch {
    words: Vec<String>,
    hits: Arc<Mutex<Hits>>,
}

#[derive(Debug, Default)]
struct Hits {
    searched: usize,
    /// Rows with exactly this name, rows whose name begins with the first word, and others, each at most
    /// [`NameSearch::MAX_HITS`].
    rows: [Vec<u32>; 3],
}

impl NameSearch {
    /// Maximum number of matches listed.
    pub const MAX_HITS: usize = 20;

    pub fn new(typed: &str) -> Self {
        Self { words: words(typed), hits: Arc::default() }
    }

    pub fn is_for(&self, typed: &str) -> bool {
        self.words == words(typed)
    }

    /// The best matches so far.
    pub fn rows(&self) -> Vec<u32> {
        lock(&self.hits).rows.iter().flatten().copied().take(Self::MAX_HITS).collect()
    }

    /// Searches the next rows that have been read. Returns whether there are more, or `None` at the end of
    /// all rows.
    pub fn search_next(&self, names: &RowNames) -> Option<bool> {
        /// Rows searched while holding the lock.
        const STEP: usize = 1 << 14;
        let (names, mut hits) = (names.names(), lock(&self.hits));
        let end = names.ends.len().min(hits.searched + STEP);
        for row in hits.searched..end {
            if let Some(place) =
                self.place(names.get(row)).filter(|&place| hits.rows[place].len() < Self::MAX_HITS)
            {
                hits.rows[place].push(row as u32);
            }
        }
        hits.searched = end;
        let more = end < names.ends.len();
        (!self.words.is_empty() && (more || names.ended.is_none())).then_some(more)
    }

    /// The rank of a matching row. All words must occur in name or label, and at least one in the name,
    /// because a label alone does not identify a row.
    fn place(&self, (name, called): (&str, &str)) -> Option<usize> {
        let bare = |word: &String| word.trim_end_matches(',').len();
        let name = folded(name);
        // Nearly all rows are rejected here.
        self.words.iter().find(|word| name.contains(&word[..bare(word)]))?;
        let (first, called, all) = (self.words.first()?, folded(called), self.words.join(" "));
        let fits = self.words.iter().all(|word| called.contains(word));
        fits.then(|| {
            if called == all || name == all {
                0
            } else {
                2 - usize::from(name.starts_with(&first[..bare(first)]))
            }
        })
    }

    /// Progress, or what is missing; `None` once all rows were searched and all matches are listed.
    pub fn note(&self, names: &RowNames) -> Option<String> {
        let (names, hits, total) = (names.names(), lock(&self.hits), names.cloud.len());
        let [searched, all] = [hits.searched, total].map(|rows| text::thousands(rows as u64));
        let of = format!("Searched the names of {searched} of {all} rows");
        match &names.ended {
            _ if self.words.is_empty() => None,
            _ if hits.rows.iter().any(|rows| rows.len() == Self::MAX_HITS) => {
                Some(format!("{} rows are listed; type more of the name for others.", Self::MAX_HITS))
            }
            Some(Some(why)) => Some(format!("{of}: {why}.")),
            _ => (hits.searched < total).then(|| format!("{of}…")),
        }
    }
}

fn words(typed: &str) -> Vec<String> {
    typed.split_whitespace().filter(|word| word.chars().any(|c| c != ',')).map(folded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;

    fn places() -> RowNames {
        let names = RowNames::new(cloud(6, 2, 1), [Some("city".to_owned()), Some("state".to_owned())]);
        names.push([["New Springfield", "OH"], ["Springfield", "IL"], ["Ames", "IA"]].into_iter());
        names.push([["Springfield", "MO"], ["", "IA"], ["Spring Lake", "MI"]].into_iter());
        names.end(None);
        names
    }

    fn find(words: &str) -> Vec<u32> {
        let search = NameSearch::new(words);
        while search.search_next(&places()).is_some() {}
        search.rows()
    }

    #[test]
    fn exact_matches_precede_prefix_matches() {
        assert_eq!(find("springfield"), [1, 3, 0]);
        assert_eq!(find("spring"), [1, 3, 5, 0]);
        assert_eq!(find("Springfield, IL"), [1]);
        assert_eq!(find("ámes"), [2], "accents do not matter");
        assert_eq!(
            (find("field oh"), find("ia"), find("zzz"), find("")),
            (vec![0], vec![], vec![], vec![]),
            "a label alone does not name a row"
        );
    }

    #[test]
    fn ambiguous_names_are_explained() {
        let row = |typed: &str| places().row_of(typed);
        assert_eq!((row(" ames "), row("Springfield, mo")), (Ok(2), Ok(3)));
        assert_eq!(
            row("Springfield").unwrap_err(),
            "2 rows are called “Springfield”: type “Springfield, IL”, or its row number, such as 1."
        );
        assert_eq!(
            row("Boone").unwrap_err(),
            "No row is called “Boone”, and it is not a row number such as 12."
        );
    }

    #[test]
    fn name_searches_resume_and_report_progress() {
        let names = RowNames::new(cloud(100_000, 1, 1), [Some("name".to_owned()), None]);
        let block = |rows: std::ops::Range<u32>| rows.map(|row| format!("place {row}")).collect::<Vec<_>>();
        let push = |rows| names.push(block(rows).iter().map(|name| [name.as_str(), ""]));
        push(0..50_000);
        let search = NameSearch::new("place 99999");
        while lock(&search.hits).searched < 50_000 {
            assert!(search.search_next(&names).is_some());
        }
        assert_eq!(search.note(&names).as_deref(), Some("Searched the names of 50,000 of 100,000 rows…"));
        assert!(names.row_of("place 99999").unwrap_err().contains("still being read"));
        push(50_000..100_000);
        names.end(None);
        while search.search_next(&names).is_some() {}
        assert_eq!((search.rows(), search.note(&names)), (vec![99_999], None));
        assert_eq!(names.row_of("PLACE 70000"), Ok(70_000));
        let many = NameSearch::new("place");
        while many.search_next(&names).is_some() {}
        assert_eq!(
            (many.rows().len(), many.note(&names).as_deref()),
            (20, Some("20 rows are listed; type more of the name for others."))
        );
        assert_eq!(NameSearch::new("").search_next(&names), None);
    }
}
