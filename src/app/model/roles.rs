//! Numeric columns that a file was opened without, since they are no coordinates.

/// A numeric column that was taken for no coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub name: String,
    /// Its 0-based number among all columns of the file.
    pub number: usize,
    /// What stands for it among all columns: its name, or its number where another one has that name.
    pub key: String,
    /// Whether it is a label, rather than a number that names the row.
    pub is_label: bool,
}

/// `d64 looks like a label`, `id looks like a row number`.
pub fn sentence(left_out: &[LeftOut]) -> String {
    let one = |column: &LeftOut| format!("{} {}", column.name, if column.is_label { "looks like a label" } else { "looks like a row number" });
    left_out.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// 0-based numbers of columns as they are typed, runs of them as ranges: `0-63,65`.
pub fn ranges(names: &[String]) -> Option<String> {
    let numbers: Vec<usize> = names.iter().map(|name| name.parse().ok()).collect::<Option<_>>()?;
    let mut text: Vec<String> = Vec::new();
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, .., last] => text.push(format!("{first}-{last}")),
            _ => text.extend(run.iter().map(usize::to_string)),
        }
    }
    Some(text.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_columns_are_typed_as_ranges() {
        let text = |numbers: &[usize]| ranges(&numbers.iter().map(usize::to_string).collect::<Vec<_>>());
        assert_eq!(text(&[0, 1, 2, 3, 5]).as_deref(), Some("0-3,5"));
        assert_eq!(text(&[7]).as_deref(), Some("7"));
        assert_eq!(ranges(&["x".to_owned()]), None);
    }

    #[test]
    fn columns_are_told_by_what_they_are() {
        let column = |name: &str, is_label| LeftOut { name: name.to_owned(), number: 0, key: name.to_owned(), is_label };
        assert_eq!(sentence(&[column("d64", true), column("id", false)]), "d64 looks like a label, id looks like a row number");
    }
}
