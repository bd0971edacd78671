//! Queries in blocks, answered in parallel: what the engines on the CPU share that search a query at a time and count what it visits.

use std::ops::Range;

use rayon::prelude::*;

use super::threads::{self, Laps};
use crate::knn::{Answer, Build, Measure, Neighbors, Problem, WarpSpan};

/// What is kept of each query of a search beside its neighbours, in the order of the queries.
#[derive(Default)]
pub struct Kept<V> {
    /// What it visited.
    visits: Vec<V>,
    /// When, and by which thread; none but of the profiled build.
    spans: Vec<WarpSpan>,
}

impl<V> Kept<V> {
    /// Appends all of it to an answer; `row` makes the values of the measures of what was visited.
    pub fn collect<const N: usize>(&mut self, measures: &[Measure; N], answer: &mut Answer, row: impl FnMut(V) -> [u32; N]) {
        answer.measured.extend(measures, self.visits.drain(..).map(row));
        threads::collect(&mut self.spans, answer);
    }
}

impl<V: AsRef<[u32]>> Kept<V> {
    /// The same where rows are what was visited, of which the first values are taken.
    pub fn collect_rows(&mut self, measures: &[Measure], answer: &mut Answer) {
        answer.measured.extend_rows(measures, self.visits.drain(..));
        threads::collect(&mut self.spans, answer);
    }
}

/// Where a block's answers go, a query after the other.
pub struct Rows<'a, V> {
    k: usize,
    indices: &'a mut [u32],
    squared_distances: &'a mut [f32],
    visits: &'a mut [V],
    /// Where its spans go, and its laps; `None` but in the profiled build.
    timed: Option<(&'a mut [WarpSpan], Laps)>,
    /// The problem's number of the first query.
    first: usize,
    /// Queries that are answered.
    done: usize,
}

impl<V> Rows<'_, V> {
    /// The problem's number of the block's first query.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Takes the k neighbours of the next query, and what it visited.
    pub fn put(&mut self, neighbours: impl Iterator<Item = (u32, f32)>, visits: V) {
        let entries = self.done * self.k..(self.done + 1) * self.k;
        let places = self.indices[entries.clone()].iter_mut().zip(&mut self.squared_distances[entries]);
        for ((index, squared_distance), neighbour) in places.zip(neighbours) {
            (*index, *squared_distance) = neighbour;
        }
        self.visits[self.done] = visits;
        if let Some((spans, laps)) = &mut self.timed {
            spans[self.done] = laps.lap();
        }
        self.done += 1;
    }
}

/// Answers a range of a problem's queries in blocks of so many: `search` takes their coordinates, row by row. `kept` becomes what is kept of
/// the queries of the range.
pub fn answer_in_blocks<V: Clone + Default + Send>(
    problem: &Problem,
    queries: Range<usize>,
    block: usize,
    build: Build,
    found: &mut Neighbors,
    kept: &mut Kept<V>,
    search: impl Fn(&[f32], &mut Rows<'_, V>) + Sync,
) {
    let (dims, k, count) = (problem.dims(), problem.k(), queries.len());
    kept.visits.clear();
    kept.visits.resize(count, V::default());
    threads::make_room(&mut kept.spans, count, build);
    let coordinates = &problem.queries()[queries.start * dims..queries.end * dims];
    let entries = queries.start * k..queries.end * k;
    let (indices, squared_distances) = (&mut found.indices[entries.clone()], &mut found.squared_distances[entries]);
    let rows = |first, indices, squared_distances, visits, spans| {
        let timed = (build == Build::Profiled).then(|| (spans, Laps::start()));
        Rows { k, indices, squared_distances, visits, timed, first, done: 0 }
    };
    if count == 1 {
        // A single work item runs on this thread: the pool may be busy with another run.
        return search(coordinates, &mut rows(queries.start, indices, squared_distances, &mut kept.visits, &mut kept.spans));
    }
    // Without spans every block has an empty part of them.
    let mut spans: Vec<&mut [WarpSpan]> = kept.spans.chunks_mut(block).collect();
    spans.resize_with(count.div_ceil(block), Default::default);
    let answers =
        indices.par_chunks_mut(block * k).zip(squared_distances.par_chunks_mut(block * k)).zip(kept.visits.par_chunks_mut(block)).zip(spans);
    coordinates.par_chunks(block * dims).zip(answers).enumerate().for_each(
        |(number, (coordinates, (((indices, squared_distances), visits), spans)))| {
            search(coordinates, &mut rows(queries.start + number * block, indices, squared_distances, visits, spans));
        },
    );
}
