//! Suggests the known name closest to a mistyped one.
//!
//! Distance is the number of edits: inserting, removing or replacing a letter, or swapping two neighbouring
//! ones.

use strsim::osa_distance;

/// The name with the fewest edits, at most two and at most one per three letters typed; `None` if no name is
/// that close.
pub fn suggest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    // Every other single letter is one edit away.
    if typed.chars().count() < 2 {
        return None;
    }
    let most = (typed.chars().count() / 3).clamp(1, 2);
    let edits = names.into_iter().map(|name| (osa_distance(&typed, name), name));
    edits.filter(|(edits, _)| *edits <= most).min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// All names, sorted by edit distance regardless of case; equal ones keep their order.
pub fn by_similarity<'a>(typed: &str, names: &'a [String]) -> Vec<&'a str> {
    let typed = typed.to_lowercase();
    let mut all: Vec<(usize, &str)> =
        names.iter().map(|name| (osa_distance(&typed, &name.to_lowercase()), name.as_str())).collect();
    all.sort_by_key(|&(edits, _)| edits);
    all.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_misspellings_are_corrected() {
        let names = ["run", "knn", "verify", "sweep", "compare"];
        for (typed, meant) in [
            ("rnu", "run"),
            ("RUN", "run"),
            ("kn", "knn"),
            ("verfy", "verify"),
            ("compair", "compare"),
            ("swep", "sweep"),
        ] {
            assert_eq!(suggest(typed, names), Some(meant), "{typed}");
        }
        for typed in ["", "x", "k", "search", "data.csv", "points"] {
            assert_eq!(suggest(typed, names), None, "{typed}");
        }
    }

    #[test]
    fn names_are_sorted_by_similarity() {
        let names = ["name", "Zip_Code", "zone"].map(str::to_owned);
        assert_eq!(by_similarity("zipcode", &names), ["Zip_Code", "zone", "name"]);
    }
}
