//! Rows of a source that can be no points.

use super::values::Real;

/// As many are named.
const NAMED: usize = 8;

/// Rows with coordinates that are NaN, infinite or missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unusable {
    /// How many there are.
    pub count: u64,
    /// Of so many rows.
    pub rows: u64,
    /// The first of them, ascending.
    pub first: Vec<UnusableRow>,
    /// Coordinates without such values to be chosen instead, as they are typed.
    pub whole: Option<String>,
}

/// A row that can be no point, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct UnusableRow {
    /// 0-based number of the data record in the file.
    pub row: u64,
    /// The first of its columns with such a value.
    pub column: String,
    /// NaN, which also stands for what is missing, or ±∞.
    pub value: f64,
}

impl Unusable {
    /// Those among row-major values.
    pub(super) fn of<T: Real>(values: &[T], names: &[String]) -> Self {
        let mut unusable = Self { rows: (values.len() / names.len().max(1)) as u64, ..Self::default() };
        for (row, values) in values.chunks_exact(names.len().max(1)).enumerate() {
            let Some(at) = values.iter().position(|value| !value.get().is_finite()) else { continue };
            unusable.count += 1;
            if unusable.first.len() < NAMED {
                unusable.first.push(UnusableRow { row: row as u64, column: names[at].clone(), value: values[at].get() });
            }
        }
        unusable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_and_the_first_are_named() {
        let names = ["x", "y"].map(str::to_owned);
        let mut values = vec![0.5f64; 40];
        (values[3], values[4], values[5]) = (f64::NAN, f64::INFINITY, f64::NAN);
        values[20..].fill(f64::NAN);
        let unusable = Unusable::of(&values, &names);
        assert_eq!((unusable.count, unusable.rows, unusable.first.len()), (12, 20, NAMED));
        let told: Vec<(u64, &str)> = unusable.first.iter().map(|of| (of.row, of.column.as_str())).take(3).collect();
        assert_eq!(told, [(1, "y"), (2, "x"), (10, "x")]);
        assert_eq!(unusable.first[1].value, f64::INFINITY);
    }
}
