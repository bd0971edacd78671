//! Which columns are coordinates: the flag's value, and what is said where nobody chose.

use std::collections::HashSet;

use super::output;
use crate::cloud::ColumnChoice;
use crate::cloud::formats::Guess;
use crate::cloud::roles::Role;

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

/// Says which columns look like coordinates, where more are taken.
pub fn hint(guess: &Guess) {
    if guess.taken.len() < guess.usual.len() {
        let (all, columns) = (guess.usual.len(), guess.typed(&guess.taken));
        output::note(&format!("all {all} numeric columns are coordinates; `knn` and the window would take --columns {columns}"));
    }
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
