//! Decimals that f64 does not identify.

use std::cmp::Ordering;

use super::limits::MAX_COLUMNS;
use super::{FormatError, Input};
use crate::FileValue;
use crate::value::MAX_DIGITS;

/// Exponents that are stored: decimals with larger ones exceed f64, and those with smaller ones are 0 in it.
const EXPONENTS: std::ops::RangeInclusive<i32> = -400..=400;

/// Indices that share an entry of the directory.
const BLOCK: usize = 16;

/// The decimals of a table that are not the shortest decimal of their f64, such as 0.30000000000000001 and
/// 9007199254740993.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LongDecimals {
    /// Ascending by index.
    decimals: Vec<LongDecimal>,
    /// The number of decimals before each [`BLOCK`] of indices.
    starts: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LongDecimal {
    /// row × width + column, where readers count [`MAX_COLUMNS`] as the width.
    index: u64,
    mantissa: i128,
    exponent: i32,
}

impl LongDecimal {
    /// Whether the text of `value` may be such a decimal: most are too short, and most zeros are 0.
    pub fn is_possible(text: &[u8], value: f64) -> bool {
        text.len() > MAX_DIGITS
            || value.abs() < f64::MIN_POSITIVE && text.iter().any(|byte| matches!(byte, b'1'..=b'9'))
    }

    /// The decimal that a text in a row and a column spells, unless it is the shortest one of its f64,
    /// `value`. `None` also for decimals of more than 38 digits.
    pub fn parse(text: &str, value: f64, (row, column): (u64, usize)) -> Option<Self> {
        let digits = text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
        if value.abs() >= f64::MIN_POSITIVE && digits.filter(u8::is_ascii_digit).count() <= MAX_DIGITS {
            return None;
        }
        let decimal = FileValue::parse_decimal(text).filter(|&it| it != FileValue::shortest_decimal(value));
        Self::new(decimal?, row * MAX_COLUMNS as u64 + column as u64)
            .filter(|decimal| EXPONENTS.contains(&decimal.exponent))
    }

    /// `None` for binary values.
    pub fn new(value: FileValue, index: u64) -> Option<Self> {
        match value {
            FileValue::Decimal { mantissa, exponent } => Some(Self { index, mantissa, exponent }),
            FileValue::Binary(_) => None,
        }
    }
}

impl LongDecimals {
    pub fn is_empty(&self) -> bool {
        self.decimals.is_empty()
    }

    /// Appends a decimal.
    ///
    /// # Errors
    /// Those of [`Input::claim`].
    pub(super) fn push(&mut self, decimal: LongDecimal, input: &Input<'_>) -> Result<(), FormatError> {
        input.reserve(&mut self.decimals, 1)?;
        self.decimals.push(decimal);
        Ok(())
    }

    /// The decimal at an index; `None` if it is the shortest one of its f64.
    pub fn get(&self, index: usize) -> Option<FileValue> {
        let block = index / BLOCK;
        let decimals = &self.decimals[*self.starts.get(block)?..*self.starts.get(block + 1)?];
        let mut near = decimals.iter().take(index % BLOCK + 1).rev();
        let found = near.find(|decimal| decimal.index <= index as u64)?;
        let LongDecimal { mantissa, exponent, .. } = *found;
        (found.index == index as u64).then_some(FileValue::Decimal { mantissa, exponent })
    }

    /// Compares rows of `width` columns whose f64 are equal: equal rows have equal decimals.
    pub(crate) fn compare_rows(&self, [a, b]: [usize; 2], width: usize) -> Ordering {
        let key = |row: usize, column: usize| match self.get(row * width + column) {
            Some(FileValue::Decimal { mantissa, exponent }) => Some((mantissa, exponent)),
            _ => None,
        };
        (0..width)
            .map(|column| key(a, column).cmp(&key(b, column)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Moves decimals from a table of `width` columns to the row and column that `place` returns for theirs,
    /// in a table of `new_width` columns; `None` removes them.
    pub(crate) fn moved(
        mut self,
        (width, new_width): (usize, usize),
        place: impl Fn(u64, usize) -> Option<(u64, usize)>,
    ) -> Self {
        let (width, new_width) = (width as u64, new_width as u64);
        self.decimals.retain_mut(|decimal| {
            let moved = place(decimal.index / width, (decimal.index % width) as usize);
            if let Some((row, column)) = moved {
                decimal.index = row * new_width + column as u64;
            }
            moved.is_some()
        });
        self.decimals.into_iter().collect()
    }
}

/// Of decimals with the same index, the last one counts.
impl FromIterator<LongDecimal> for LongDecimals {
    fn from_iter<T: IntoIterator<Item = LongDecimal>>(decimals: T) -> Self {
        let mut decimals: Vec<LongDecimal> = decimals.into_iter().collect();
        decimals.sort_by_key(|decimal| decimal.index);
        decimals.dedup_by(|later, earlier| {
            let is_same = later.index == earlier.index;
            if is_same {
                *earlier = *later;
            }
            is_same
        });
        let blocks = decimals.last().map_or(0, |last| last.index / BLOCK as u64 + 2);
        let mut starts = Vec::with_capacity(blocks as usize);
        for (at, decimal) in decimals.iter().enumerate() {
            starts.resize(starts.len().max((decimal.index / BLOCK as u64 + 1) as usize), at);
        }
        starts.resize(blocks as usize, decimals.len());
        Self { decimals, starts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str, index: u64) -> Option<LongDecimal> {
        let found = LongDecimal::parse(text, text.parse().unwrap(), (0, 0));
        assert!(
            found.is_none() || LongDecimal::is_possible(text.as_bytes(), text.parse().unwrap()),
            "{text}"
        );
        found.map(|decimal| LongDecimal { index, ..decimal })
    }

    #[test]
    fn decimals_other_than_the_shortest_of_their_f64_are_found() {
        for (text, mantissa, exponent) in [
            ("0.30000000000000001", 30_000_000_000_000_001, -17),
            ("9007199254740993", 9_007_199_254_740_993, 0),
            ("-9223372036854775808", -9_223_372_036_854_775_808, 0),
            ("1.000000014901161194e-01", 1_000_000_014_901_161_194, -19),
            ("5.1e-324", 51, -325),
            ("1.23e-330", 123, -332),
        ] {
            assert_eq!(decimal(text, 0), Some(LongDecimal { index: 0, mantissa, exponent }), "{text}");
        }
        for text in [
            "0.3",
            "0.30000000000000004",
            "0.300000000000000000000",
            "1.000000000000000000e+00",
            "9007199254740992",
            "5e-324",
            "0.0000000000000000000000000000000000000001",
            "1e-999999999",
            "0.1000000000000000055511151231257827021181583404541015625",
            "inf",
        ] {
            assert_eq!(decimal(text, 0), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_found_by_index() {
        for stored in [&[0, 1, 2, 3, 4, 5][..], &[1, 2, 5, 70], &[4, 16, 17, 31, 32], &[]] {
            let all: LongDecimals =
                stored.iter().rev().filter_map(|&index| decimal("0.30000000000000001", index)).collect();
            assert_eq!(all.decimals.len(), stored.len());
            for index in 0..90 {
                assert_eq!(all.get(index).is_some(), stored.contains(&(index as u64)), "{index}");
            }
            // The second row, without the first of three columns, the others swapped.
            let place = |row: u64, column: usize| {
                Some((row.checked_sub(1)?, 2_usize.checked_sub(column).filter(|&column| column < 2)?))
            };
            let moved = all.moved((3, 2), place);
            let expected = [stored.contains(&5), stored.contains(&4)];
            assert_eq!([moved.get(0), moved.get(1)].map(|it| it.is_some()), expected);
        }
    }
}
