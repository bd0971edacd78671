//! The nearest neighbours of some queries so far, while parts of the points are searched one after another.

use std::ops::Range;

use rayon::prelude::*;

use super::{EngineError, NONE, Neighbors};
use crate::memory;

/// A missing neighbour.
const MISSING: u64 = (f32::INFINITY.to_bits() as u64) << 32 | NONE as u64;

/// k neighbours per query, sorted by (squared distance, row): engines' order of all points, so that merged
/// lists are those of one search.
pub struct BestLists {
    k: usize,
    /// Bits of the squared distance, which is not negative, and the row.
    keys: Vec<u64>,
}

impl BestLists {
    /// # Errors
    /// [`EngineError::HostMemory`].
    pub fn new(q: usize, k: usize) -> Result<Self, EngineError> {
        Ok(Self { k, keys: memory::filled(q.saturating_mul(k), MISSING)? })
    }

    /// The squared distance of the last neighbour; ∞ while some are missing.
    pub fn farthest(&self, query: usize) -> f32 {
        squared(self.keys[(query + 1) * self.k - 1])
    }

    /// Merges the neighbours of some queries, which must ascend, among the points from position `first` on.
    pub fn merge(&mut self, queries: impl IntoIterator<Item = u32>, first: u32, found: &Neighbors) {
        let (mut lists, mut next) = (self.keys.chunks_exact_mut(self.k), 0);
        let list_of = |query: u32| {
            let skipped = query - std::mem::replace(&mut next, query + 1);
            lists.nth(skipped as usize)
        };
        let lists: Vec<&mut [u64]> = queries.into_iter().filter_map(list_of).collect();
        lists.into_par_iter().enumerate().for_each_init(Vec::new, |merged, (at, list)| {
            let (rows, squared) = found.for_query(at);
            let new = (rows.iter().zip(squared))
                .take_while(|&(&row, _)| row != NONE)
                .map(|(&row, squared)| u64::from(squared.to_bits()) << 32 | u64::from(first + row));
            merged.clear();
            merged.extend_from_slice(list);
            merged.extend(new);
            // Two sorted runs, which a merge sort detects.
            merged.sort();
            list.copy_from_slice(&merged[..list.len()]);
        });
    }

    /// The neighbours of some queries. With `own`, the row of each query is left out, or the last neighbour if
    /// that row is not among them.
    pub fn neighbors(&self, queries: Range<usize>, own: Option<&[u32]>) -> Neighbors {
        let k = self.k - usize::from(own.is_some());
        let mut found = Neighbors {
            k,
            indices: Vec::with_capacity(queries.len() * k),
            squared_distances: Vec::with_capacity(queries.len() * k),
        };
        for (at, query) in queries.enumerate() {
            let keys = &self.keys[query * self.k..][..self.k];
            let skipped = own.and_then(|own| keys.iter().position(|&key| key as u32 == own[at]));
            let kept = keys.iter().enumerate().filter(|&(rank, _)| Some(rank) != skipped).take(k);
            for (_, &key) in kept {
                found.indices.push(key as u32);
                found.squared_distances.push(squared(key));
            }
        }
        found
    }
}

fn squared(key: u64) -> f32 {
    f32::from_bits((key >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_lists_are_ordered_by_distance_and_row() {
        let mut lists = BestLists::new(2, 3).unwrap();
        let found = |indices: Vec<u32>, squared_distances| Neighbors { k: 2, indices, squared_distances };
        lists.merge([1], 10, &found(vec![0, 3], vec![1.0, 2.0]));
        assert_eq!((lists.farthest(0), lists.farthest(1)), (f32::INFINITY, f32::INFINITY));
        lists.merge([0, 1], 0, &found(vec![4, NONE, 5, 1], vec![0.0, f32::INFINITY, 1.0, 2.0]));
        lists.merge([1], 20, &found(vec![0, 1], vec![0.5, 1.0]));
        let all = lists.neighbors(0..2, None);
        assert_eq!(all.indices, [4, NONE, NONE, 20, 5, 10]);
        assert_eq!(all.squared_distances, [0.0, f32::INFINITY, f32::INFINITY, 0.5, 1.0, 1.0]);
        assert_eq!(lists.farthest(1), 1.0);
        assert_eq!(lists.neighbors(1..2, Some(&[5])).indices, [20, 10]);
        assert_eq!(lists.neighbors(1..2, Some(&[7])).indices, [20, 5]);
    }
}
