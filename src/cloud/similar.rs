//! Names that are like one that was mistyped.

/// The names by how many letters must be changed, put in or left out to make them of `name`, in either case; equal ones in their order.
pub fn nearest_first<'a>(name: &str, names: &'a [String]) -> Vec<&'a str> {
    let mut all: Vec<(usize, &str)> = names.iter().map(|other| (edits(&name.to_lowercase(), &other.to_lowercase()), other.as_str())).collect();
    all.sort_by_key(|&(edits, _)| edits);
    all.into_iter().map(|(_, name)| name).collect()
}

/// Levenshtein's distance.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], at + 1);
        for (column, &other) in to.iter().enumerate() {
            let kept = before + usize::from(letter != other);
            before = row[column + 1];
            row[column + 1] = kept.min(before + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        assert_eq!([edits("", "abc"), edits("kitten", "sitting"), edits("flaw", "lawn"), edits("a", "a")], [3, 3, 2, 0]);
    }

    #[test]
    fn the_likeliest_is_first() {
        let names = ["name", "Zip_Code", "zone"].map(str::to_owned);
        assert_eq!(nearest_first("zipcode", &names), ["Zip_Code", "zone", "name"]);
    }
}
