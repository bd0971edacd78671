//! Rows by what the file calls them: a place is found by typing its name.

use std::sync::Arc;

use crate::cloud::PointCloud;
use crate::text;

/// What each row of a column says; the names are all different.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub names: Vec<String>,
    /// The place among the names, by row of the cloud.
    pub codes: Vec<u32>,
}

impl Texts {
    fn of(&self, row: u32) -> &str {
        self.codes.get(row as usize).and_then(|&code| self.names.get(code as usize)).map_or("", String::as_str)
    }
}

/// The names of all rows of a cloud.
#[derive(Clone, Debug)]
pub struct RowNames {
    cloud: Arc<PointCloud>,
    /// The headings of the columns that name rows and say of what kind they are.
    columns: [Option<String>; 2],
    names: Texts,
    /// The names in small letters, in the order of the names.
    small: Vec<String>,
    kinds: Texts,
}

impl RowNames {
    /// Of columns that could not be read it knows nothing.
    pub fn new(cloud: Arc<PointCloud>, columns: [Option<String>; 2], names: Texts, kinds: Texts) -> Self {
        let small = names.names.iter().map(|name| name.to_lowercase()).collect();
        Self { cloud, columns, names, small, kinds }
    }

    /// Whether it is of these columns of a cloud.
    pub fn is_of(&self, cloud: &Arc<PointCloud>, columns: &[Option<String>; 2]) -> bool {
        Arc::ptr_eq(&self.cloud, cloud) && self.columns == *columns
    }

    /// Whether it is of this cloud, by whatever columns.
    pub fn is_of_cloud(&self, cloud: &Arc<PointCloud>) -> bool {
        Arc::ptr_eq(&self.cloud, cloud)
    }

    /// What a row is called: `Springfield, IL`.
    pub fn called(&self, row: u32) -> String {
        match (self.names.of(row), self.kinds.of(row)) {
            (name, "") => name.to_owned(),
            (name, kind) => format!("{name}, {kind}"),
        }
    }

    /// Rows in whose name or kind each of the words is, in small letters; those that are called so first, then those whose name begins
    /// with the first word, in the order of rows, at most so many.
    pub fn find(&self, words: &[String], most: usize) -> Vec<u32> {
        let Some(first) = words.first().map(|word| word.trim_end_matches(',')).filter(|word| !word.is_empty()) else { return Vec::new() };
        // A row whose name has none of the words is none, though its kind may have them all.
        let fits: Vec<bool> =
            self.small.iter().map(|name| !name.is_empty() && words.iter().any(|word| name.contains(word.trim_end_matches(',')))).collect();
        if !fits.contains(&true) {
            return Vec::new();
        }
        let all = words.join(" ");
        let mut found: [Vec<u32>; 3] = Default::default();
        for (row, &code) in self.names.codes.iter().enumerate() {
            if !fits.get(code as usize).is_some_and(|fits| *fits) {
                continue;
            }
            let row = row as u32;
            let called = self.called(row).to_lowercase();
            if !words.iter().all(|word| called.contains(word.as_str())) {
                continue;
            }
            let name = &self.small[code as usize];
            let place = if called == all || *name == all { 0 } else { 2 - usize::from(name.starts_with(first)) };
            if found[place].len() < most {
                found[place].push(row);
            }
            if found[0].len() == most {
                break;
            }
        }
        found.into_iter().flatten().take(most).collect()
    }

    /// The one row that is called so: by its name, or by its name and its kind.
    ///
    /// # Errors
    /// A sentence where there is none, or where there are several.
    pub fn row_of(&self, typed: &str) -> Result<u32, String> {
        let (typed, small) = (typed.trim(), typed.trim().to_lowercase());
        let named = |row: u32| self.names.codes.get(row as usize).and_then(|&code| self.small.get(code as usize));
        let rows = || 0..self.names.codes.len() as u32;
        let called: Vec<u32> =
            rows().filter(|&row| named(row) == Some(&small) || (small.contains(',') && self.called(row).to_lowercase() == small)).collect();
        match called[..] {
            [row] => Ok(row),
            [] => Err(format!("No row is called “{typed}”, and it is not a row number such as 12.")),
            [first, ..] => {
                let example = text::thousands(self.cloud.record(first as usize));
                let kind = if called.iter().any(|&row| self.kinds.of(row) != self.kinds.of(first)) && !small.contains(',') {
                    format!("“{}”, or its row number, such as {example}", self.called(first))
                } else {
                    format!("its row number, such as {example}")
                };
                Err(format!("{} are called “{typed}”: type {kind}.", text::count(called.len() as u64, "row", "rows")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;

    fn texts(of: &[&str]) -> Texts {
        let mut texts = Texts::default();
        for text in of {
            let place = texts.names.iter().position(|known| known == text).unwrap_or_else(|| {
                texts.names.push((*text).to_owned());
                texts.names.len() - 1
            });
            texts.codes.push(place as u32);
        }
        texts
    }

    fn places() -> RowNames {
        let names = texts(&["New Springfield", "Springfield", "Ames", "Springfield", "", "Spring Lake"]);
        RowNames::new(cloud(6, 2, 1), [Some("city".to_owned()), Some("state".to_owned())], names, texts(&["OH", "IL", "IA", "MO", "IA", "MI"]))
    }

    fn find(words: &str) -> Vec<u32> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        places().find(&words, 3)
    }

    #[test]
    fn who_is_called_so_comes_first_then_who_begins_so() {
        assert_eq!(find("springfield"), [1, 3, 0]);
        assert_eq!(find("spring"), [1, 3, 5], "no more than were asked for");
        assert_eq!(find("Springfield, IL"), [1]);
        assert_eq!((find("field oh"), find("ia"), find("zzz"), find("")), (vec![0], vec![], vec![], vec![]), "a kind alone names nobody");
    }

    #[test]
    fn one_row_is_meant_or_it_is_said_why_not() {
        let row = |typed: &str| places().row_of(typed);
        assert_eq!((row(" ames "), row("Springfield, mo")), (Ok(2), Ok(3)));
        assert_eq!(row("Springfield").unwrap_err(), "2 rows are called “Springfield”: type “Springfield, IL”, or its row number, such as 1.");
        assert_eq!(row("Boone").unwrap_err(), "No row is called “Boone”, and it is not a row number such as 12.");
    }
}
