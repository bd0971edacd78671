//! Ascending numbers without repetition, as sets.

use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use crate::run::RunRecord;

/// Below so many rows, a search in them is as fast as a table of bits.
const FEW: usize = 256;

/// What is in either.
pub fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut at, mut of) = (0, 0);
    while at < a.len() && of < b.len() {
        let (x, y) = (a[at], b[of]);
        all.push(x.min(y));
        at += usize::from(x <= y);
        of += usize::from(y <= x);
    }
    all.extend_from_slice(&a[at..]);
    all.extend_from_slice(&b[of..]);
    all
}

/// What is in the first and not in the second.
pub fn difference(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut of = 0;
    let outside = |&number: &u32| {
        while of < b.len() && b[of] < number {
            of += 1;
        }
        b.get(of) != Some(&number)
    };
    a.iter().copied().filter(outside).collect()
}

/// What is below `end` and not in the set.
pub fn complement(set: &[u32], end: u32) -> Vec<u32> {
    let mut rest = Vec::with_capacity((end as usize).saturating_sub(set.len()));
    let mut next = 0;
    for &number in set {
        rest.extend(next..number.min(end));
        next = number.saturating_add(1);
    }
    rest.extend(next..end);
    rest
}

/// Numbers that can be looked up fast.
pub enum Table<'a> {
    /// Few: they are searched.
    Few(&'a [u32]),
    /// A bit for each number.
    Bits(Vec<u64>),
}

impl<'a> Table<'a> {
    /// Of an ascending set.
    pub fn new(set: &'a [u32]) -> Self {
        let Some(&last) = set.last().filter(|_| set.len() > FEW) else { return Self::Few(set) };
        let mut bits = vec![0u64; last as usize / 64 + 1];
        for &number in set {
            bits[number as usize / 64] |= 1 << (number % 64);
        }
        Self::Bits(bits)
    }

    /// Whether a number is in it.
    pub fn has(&self, number: u32) -> bool {
        match self {
            Self::Few(set) => set.binary_search(&number).is_ok(),
            Self::Bits(bits) => bits.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1),
        }
    }
}

/// The queries of a run that ask for rows of its cloud; none where queries are a file of their own.
pub fn queries_of(rows: &[u32], record: &RunRecord) -> Vec<u32> {
    if record.query_cloud.is_some() || rows.is_empty() {
        return Vec::new();
    }
    let table = Table::new(rows);
    record.query_rows.par_iter().enumerate().filter(|(_, row)| table.has(**row)).map(|(query, _)| query as u32).collect()
}

/// The rows of a run's cloud that queries ask for; none where queries are a file of their own.
pub fn rows_of(queries: &[u32], record: &RunRecord) -> Vec<u32> {
    if record.query_cloud.is_some() {
        return Vec::new();
    }
    let mut rows: Vec<u32> = queries.iter().map(|&query| record.query_rows[query as usize]).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    fn list(set: &BTreeSet<u32>) -> Vec<u32> {
        set.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn sets_are_those_of_the_standard_library(a in btree_set(0u32..900, 0..400), b in btree_set(0u32..900, 0..400)) {
            let (x, y) = (list(&a), list(&b));
            prop_assert_eq!(union(&x, &y), list(&(&a | &b)));
            prop_assert_eq!(difference(&x, &y), list(&(&a - &b)));
            prop_assert_eq!(complement(&x, 900), (0..900).filter(|number| !a.contains(number)).collect::<Vec<_>>());
            let table = Table::new(&x);
            prop_assert!((0..1000).all(|number| table.has(number) == a.contains(&number)));
        }
    }
}
