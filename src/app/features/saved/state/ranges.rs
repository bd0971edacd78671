//! Ascending numbers, of which neighbours are written as one range: most selections are a few of these.

use serde::{Deserialize, Serialize};

/// First and last of each range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Of numbers that ascend.
    pub fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some((_, last)) if number == *last + 1 => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        Self(ranges)
    }

    /// The numbers below `end`, ascending, each once; ranges that go back are left out.
    pub fn below(&self, end: u64) -> Vec<u64> {
        let (mut numbers, mut next) = (Vec::new(), 0);
        for &(first, last) in &self.0 {
            if first < next || last < first {
                continue;
            }
            numbers.extend(first..(last.saturating_add(1)).min(end));
            next = last.saturating_add(1);
        }
        numbers
    }

    /// Those of some ascending numbers that are in the ranges.
    pub fn among(&self, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut ranges = self.0.iter().peekable();
        let mut there = Vec::new();
        for number in numbers {
            while ranges.next_if(|(_, last)| *last < number).is_some() {}
            match ranges.peek() {
                None => break,
                Some((first, _)) if *first <= number => there.push(number),
                Some(_) => {}
            }
        }
        there
    }

    /// How many ranges there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 2, 7, 9, 10];
        let ranges = Ranges::of(numbers);
        assert_eq!(serde_json::to_string(&ranges).expect("plain data"), "[[0,2],[7,7],[9,10]]");
        assert_eq!(ranges.below(u64::MAX), numbers);
        assert_eq!(ranges.below(10), numbers[..5]);
        assert!(Ranges::of([]).below(9).is_empty() && Ranges::of([]).among([1, 2]).is_empty());
        assert_eq!(ranges.among([1, 2, 3, 7, 8, 10, 11]), [1, 2, 7, 10]);
    }

    #[test]
    fn what_no_selection_writes_makes_no_more_numbers_than_there_are() {
        let hostile = Ranges(vec![(5, 2), (3, u64::MAX), (3, 3), (0, u64::MAX), (u64::MAX, u64::MAX)]);
        assert_eq!(hostile.below(6), [3, 4, 5]);
        assert_eq!(hostile.among([1, 2, 3, 4_000_000_000]), [3, 4_000_000_000]);
    }
}
