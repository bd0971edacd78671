//! Which columns are coordinates: the flag's value, and what is said where nobody chose.

use std::collections::HashSet;
use std::path::Path;

use super::output;
use crate::cloud::formats::Guess;
use crate::cloud::roles::Role;
use crate::cloud::{CloudError, ColumnChoice, PointCloud, Source};

/// Takes the value of `--columns`.
///
/// # Errors
/// A sentence, where a column is named twice.
pub fn parse(text: &str) -> Result<ColumnChoice, String> {
    let Ok(choice) = text.parse::<ColumnChoice>();
    if let ColumnChoice::Named(names) = &choice {
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
            return Err(format!("column `{twice}` is named twice; a column is one coordinate"));
        }
    }
    Ok(choice)
}

/// Says which columns were taken, and which were not and why, unless all numeric ones were.
pub fn note_taken(guess: &Guess) {
    let left_out = left_out(guess);
    if !left_out.is_empty() {
        let names: Vec<&str> = guess.taken.iter().map(|&at| guess.columns[at].name.as_str()).collect();
        let by_name = if guess.by_name { ", by their names" } else { "" };
        output::note(&format!("takes {} as coordinates{by_name}; leaves out {left_out}; --columns chooses others", output::names(&names)));
    }
}

/// Says which columns look like coordinates, where more are taken, and gives these as they are typed.
pub fn hint(guess: &Guess) -> Option<String> {
    (guess.taken.len() < guess.usual.len()).then(|| {
        let (all, columns) = (guess.usual.len(), guess.typed(&guess.taken));
        output::note(&format!("all {all} numeric columns are coordinates; `knn` and the window would take --columns {columns}"));
        columns
    })
}

/// Loads a file of which nobody chose the columns: the usual ones, or those by which the answers of a file were found, where these are others and
/// can be taken. That is said.
///
/// # Errors
/// Whatever keeps the usual columns from being loaded.
pub fn as_answered(
    source: &Source,
    answers: Option<(&Path, Option<&[String]>)>,
    mut load: impl FnMut(&Source) -> Result<PointCloud, CloudError>,
) -> Result<PointCloud, CloudError> {
    let usual = load(source);
    let (Source::File { path, columns: ColumnChoice::Default }, Some((file, Some(names)))) = (source, answers) else { return usual };
    if usual.as_ref().is_ok_and(|cloud| cloud.axes().iter().map(|axis| &axis.name).eq(names)) {
        return usual;
    }
    let theirs = load(&Source::File { path: path.clone(), columns: ColumnChoice::Named(names.to_vec()) });
    if theirs.is_ok() {
        let (file, path, names) = (file.display(), path.display(), output::names(names));
        output::note(&format!("the answers of {file} were found by the columns {names}, so these are taken of {path}; --columns chooses others"));
    }
    theirs.or(usual)
}

/// Numeric columns that are no coordinates, by reason.
fn left_out(guess: &Guess) -> String {
    /// Of each reason so many are named.
    const NAMED: usize = 5;
    let of = |role: Role| {
        let names: Vec<&str> = guess.left_out().filter(|(_, column)| column.role == role).map(|(_, column)| column.name.as_str()).collect();
        let more = if names.len() > NAMED { format!(", … {} in all", names.len()) } else { String::new() };
        (!names.is_empty()).then(|| format!("{}{more} ({})", names[..names.len().min(NAMED)].join(", "), role.name()))
    };
    [Role::Id, Role::Label, Role::MostlyEmpty, Role::Other].into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
}
