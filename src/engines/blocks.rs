//! Queries in blocks, answered in parallel: what the engines on the CPU share that search a query at a time and count what it visits.

use std::ops::Range;

use rayon::prelude::*;

use crate::knn::{Neighbors, Problem};

/// Where a block's answers go, a query after the other.
pub struct Rows<'a, V> {
    k: usize,
    indices: &'a mut [u32],
    squared_distances: &'a mut [f32],
    visits: &'a mut [V],
    /// Queries that are answered.
    done: usize,
}

impl<V> Rows<'_, V> {
    /// Takes the k neighbours of the next query, and what it visited.
    pub fn put(&mut self, neighbours: impl Iterator<Item = (u32, f32)>, visits: V) {
        let entries = self.done * self.k..(self.done + 1) * self.k;
        let places = self.indices[entries.clone()].iter_mut().zip(&mut self.squared_distances[entries]);
        for ((index, squared_distance), neighbour) in places.zip(neighbours) {
            (*index, *squared_distance) = neighbour;
        }
        self.visits[self.done] = visits;
        self.done += 1;
    }
}

/// Answers a range of a problem's queries in blocks of so many: `search` takes their coordinates, row by row. `visits` becomes an entry a query
/// of the range.
pub fn answer_in_blocks<V: Clone + Default + Send>(
    problem: &Problem,
    queries: Range<usize>,
    block: usize,
    found: &mut Neighbors,
    visits: &mut Vec<V>,
    search: impl Fn(&[f32], &mut Rows<'_, V>) + Sync,
) {
    let (dims, k, count) = (problem.dims(), problem.k(), queries.len());
    visits.clear();
    visits.resize(count, V::default());
    let coordinates = &problem.queries()[queries.start * dims..queries.end * dims];
    let entries = queries.start * k..queries.end * k;
    let (indices, squared_distances) = (&mut found.indices[entries.clone()], &mut found.squared_distances[entries]);
    if count == 1 {
        // A single work item runs on this thread: the pool may be busy with another run.
        return search(coordinates, &mut Rows { k, indices, squared_distances, visits, done: 0 });
    }
    let rows = indices.par_chunks_mut(block * k).zip(squared_distances.par_chunks_mut(block * k)).zip(visits.par_chunks_mut(block));
    coordinates.par_chunks(block * dims).zip(rows).for_each(|(coordinates, ((indices, squared_distances), visits))| {
        search(coordinates, &mut Rows { k, indices, squared_distances, visits, done: 0 });
    });
}
