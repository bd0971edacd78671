//! Which of some names was meant by one that is none of them.

/// The name that takes the fewest edits, at most one in three letters of what was typed and two in all; `None` if there is none so near.
/// An edit inserts, removes or replaces a letter, or swaps two neighbouring ones.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let most = (typed.chars().count() / 3).clamp(1, 2);
    let edits = names.into_iter().map(|name| (edits(&typed, name), name));
    edits.filter(|(edits, _)| *edits <= most).min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// The distance of two words after Damerau and Levenshtein, where no letters are edited twice.
fn edits(from: &str, to: &str) -> usize {
    let [from, to] = [from, to].map(|word| word.chars().collect::<Vec<_>>());
    // A row for each length of `from`.
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut least = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_where_one_is_near() {
        let names = ["run", "knn", "verify", "sweep", "compare"];
        for (typed, meant) in [("rnu", "run"), ("RUN", "run"), ("kn", "knn"), ("verfy", "verify"), ("compair", "compare"), ("swep", "sweep")] {
            assert_eq!(nearest(typed, names), Some(meant), "{typed}");
        }
        for typed in ["", "x", "search", "data.csv", "points"] {
            assert_eq!(nearest(typed, names), None, "{typed}");
        }
    }

    #[test]
    fn an_edit_is_a_letter_more_less_other_or_swapped() {
        let cases =
            [("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ac", 1), ("abc", "abcd", 1), ("abc", "xbc", 1), ("kitten", "sitting", 3)];
        for (from, to, expected) in cases {
            assert_eq!((edits(from, to), edits(to, from)), (expected, expected), "{from} {to}");
        }
    }
}
