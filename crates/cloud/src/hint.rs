//! What would help where data cannot be read: data, which whoever tells of an error words in their own way.

use super::formats::FormatError;
use super::{CloudError, GlobeError, Unusable};

/// A way out of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Rows with NaN or ±∞ can be left out.
    LeaveRowsOut,
    /// Coordinates without NaN or ±∞ can be chosen, for which `COLUMNS` stands.
    WholeColumns,
    /// Other columns can be chosen than those that win by default.
    OtherColumns,
    /// Columns of longitude and latitude have to be chosen.
    GlobeColumns,
    /// Columns have to be chosen, as many as the data has dimensions.
    AsManyColumns,
}

impl Hint {
    /// By the options of the command line, as the errors' own messages have it.
    pub fn option(self) -> &'static str {
        match self {
            Self::LeaveRowsOut => "--drop-nonfinite leaves such rows out",
            Self::WholeColumns => "--columns COLUMNS takes coordinates without such values",
            Self::OtherColumns => "--columns chooses others",
            Self::GlobeColumns => "choose a longitude and a latitude with --columns",
            Self::AsManyColumns => "choose columns with --columns",
        }
    }
}

/// What can be done about rows with NaN or ±∞: other columns first, then a cloud without the rows, and how many are left of it.
pub(super) fn without(unusable: &Unusable, words: fn(Hint) -> &'static str) -> String {
    let Unusable { count, rows, whole, .. } = unusable;
    let columns = whole.as_ref().map(|columns| words(Hint::WholeColumns).replace("COLUMNS", columns));
    let left = match rows - count {
        _ if *rows == 0 => String::new(),
        0 => " (all of them)".to_owned(),
        left => format!(" ({left} of {rows} are left)"),
    };
    let rows = format!("{}{left}", words(Hint::LeaveRowsOut));
    columns.into_iter().chain([rows]).collect::<Vec<_>>().join(", ")
}

impl FormatError {
    /// The message, with what would help in the words of whoever tells of it.
    pub fn told(&self, words: fn(Hint) -> &'static str) -> String {
        match self {
            Self::Column { what, why, hint: Some(hint), path } => format!("{what}: {why}; {}: {}", words(*hint), path.display()),
            other => other.to_string(),
        }
    }
}

impl GlobeError {
    /// The message, with what would help in the words of whoever tells of it.
    pub fn told(&self, words: fn(Hint) -> &'static str) -> String {
        // The one place where the option stands in these messages.
        self.to_string().replace(Hint::GlobeColumns.option(), words(Hint::GlobeColumns))
    }
}

impl CloudError {
    /// The message, with what would help in the words of whoever tells of it.
    pub fn told(&self, words: fn(Hint) -> &'static str) -> String {
        match self {
            Self::NonFinite { row, line, column, value, unusable, origin } => {
                let (line, hint) = (super::at_line(*line), without(unusable, words));
                format!("{line}row {row}, column {column}: the value is {value}; {hint}: {origin}")
            }
            Self::Dimensions { queries, data, origin } => {
                format!("queries have {queries} dimensions and the data {data}: {}: {origin}", words(Hint::AsManyColumns))
            }
            Self::Format(error) => error.told(words),
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_same_with_the_words_of_the_command_line() {
        let origin = "a.csv".to_owned();
        let (what, why) = ("column `b`".to_owned(), "it is empty".to_owned());
        let errors = [
            CloudError::NonFinite {
                row: 3,
                line: Some(5),
                column: "x".to_owned(),
                value: f64::NAN,
                unusable: Box::default(),
                origin: origin.clone(),
            },
            CloudError::Dimensions { queries: 3, data: 2, origin: origin.clone() },
            CloudError::Format(FormatError::Column { what, why, hint: Some(Hint::OtherColumns), path: origin.into() }),
        ];
        for error in errors {
            assert_eq!(error.told(Hint::option), error.to_string());
            let said = error.told(|_| "ask somebody");
            assert!(!said.contains("--") && said.contains("ask somebody") && said.ends_with(": a.csv"), "{said}");
        }
        let error = GlobeError::Columns { columns: 3 };
        assert_eq!(error.told(Hint::option), error.to_string());
        assert!(error.told(|_| "ask somebody").ends_with("the cloud has 3: ask somebody"));
    }
}
