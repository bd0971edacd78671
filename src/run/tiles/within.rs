//! All neighbours within a radius, over tiles. They are counted, then collected for as many queries as fit, and
//! ranked over the rows that were found.

use std::ops::Range;

use rayon::prelude::*;

use super::loader::TileLoader;
use super::near::QueryGroups;
use super::ranking::to_records;
use super::{Block, TilePlan, TileStats, TiledAnswer, TiledSearch, arrangement};
use crate::exact::{Margin, RadiusTest, Ranking};
use crate::knn::{Descriptor, Radius};
use crate::memory;
use crate::run::batches::{AnswerBatch, RadiusBatches};
use crate::run::execute::continue_if;
use crate::run::radius::{
    BLOCK, MAX_BATCH_NEIGHBORS, NEIGHBOR_BYTES, Neighborhoods, RadiusSearch, fitting, too_many,
};
use crate::run::{BatchError, RunError, Stage};

/// Neighbours that fit where [`TilePlan`] plans the list of a query with k = 1.
const PER_QUERY: u64 = 4;

/// Rows are collected for several batches at once, because every collection visits the tiles.
const BATCHES: u64 = 8;

impl TiledSearch {
    /// Passes the neighbours within a radius to `take`. The spec's k must be 1. `at_once` makes a single batch;
    /// `own_first` puts a query's own row first among equals.
    ///
    /// # Errors
    /// [`BatchError`], and errors of `take`.
    pub fn for_each_within<E: From<BatchError> + From<RunError>>(
        &self,
        radius: Radius,
        (at_once, own_first): (bool, bool),
        stage: &mut Stage<'_>,
        take: &mut dyn FnMut(AnswerBatch<'_>) -> Result<(), E>,
    ) -> Result<TiledAnswer, E> {
        let (blocks, metric) = (self.blocks(), self.spec.metric);
        let mut run = RadiusRun::new(self, radius)?;
        let about = run.about;
        let (mut all, mut all_rows) = (Neighborhoods::new(0, &[], about)?, Vec::new());
        for range in &blocks {
            let block = self.block(range.clone())?;
            let done = |share: f32| (range.start as f32 + share * range.len() as f32) / about.1 as f32;
            run.search(&block, &mut |share| stage("searching", done(share)), &mut |mut found| {
                if own_first {
                    found.put_own_first(|query| block.rows[query]);
                }
                let rows = &block.rows[found.start..found.start + found.queries()];
                if at_once {
                    all_rows.extend(rows);
                    return Ok(all.append(&found, about)?);
                }
                self.pass_on(range.start + found.start, rows, found.answers(metric), take)
            })?;
        }
        if at_once {
            self.pass_on(0, &all_rows, all.answers(metric), take)?;
        }
        Ok(TiledAnswer {
            // No tile is near if all queries are far from all points.
            engine: run.engine.map_or("none", |engine| engine.id.as_str()).to_owned(),
            device: Some("CPU".to_owned()),
            index: run.engine.is_some(),
            fallback: None,
            stats: TileStats { tiles_read: run.loader.reads, ..self.stats(blocks.len()) },
        })
    }
}

/// A search in progress.
struct RadiusRun<'a> {
    search: &'a TiledSearch,
    loader: TileLoader,
    radius: Radius,
    /// Rows whose vectors are farther apart are not within the radius.
    beyond: f64,
    /// The radius and the number of queries, for errors.
    about: (f64, usize),
    /// The engine whose indexes are searched: that of the first tile.
    engine: Option<&'static Descriptor>,
}

impl<'a> RadiusRun<'a> {
    fn new(search: &'a TiledSearch, radius: Radius) -> Result<Self, BatchError> {
        let (loader, distance) = (TileLoader::new(&search.tiled, arrangement(&search.spec)), radius.distance);
        let test = RadiusTest::new(search.spec.metric, radius).ok_or(BatchError::Radius(distance))?;
        let (about, beyond) = ((distance, search.queries()), test.chord()[1]);
        Ok(Self { search, loader, radius, beyond, about, engine: None })
    }

    /// Passes the neighbours of a block's queries to `take`, with their numbers in the block.
    fn search<E: From<BatchError> + From<RunError>>(
        &mut self,
        block: &Block,
        stage: &mut dyn FnMut(f32) -> bool,
        take: &mut dyn FnMut(Neighborhoods) -> Result<(), E>,
    ) -> Result<(), E> {
        let (q, mut start) = (block.rows.len(), 0);
        let mut counts = vec![0; q];
        // The shares of the time are estimates.
        self.visit(
            (block, 0..q),
            &mut |share| stage(0.4 * share),
            |within, query, own, _| {
                let mut count = 0;
                within.visit(query, own, &mut |_| count += 1);
                count
            },
            |query, count: u64| counts[query] += count,
        )?;
        let most = MAX_BATCH_NEIGHBORS.min(PER_QUERY.saturating_mul(self.search.plan.ranked as u64));
        while start < q {
            let group = start..start + fitting(&counts[start..], BATCHES * most);
            let share = |done: usize, more: f32| 0.4 + 0.6 * (done as f32 + more) / q as f32;
            let (first, half) = (start, group.len() as f32 / 2.0);
            let rows =
                self.collect((block, group.clone()), &counts, &mut |done| stage(share(first, done * half)))?;
            let mut rows = &rows[..];
            while start < group.end {
                continue_if(stage(share(start, half * (group.end - start) as f32 / group.len() as f32)))?;
                let counts = &counts[start..start + fitting(&counts[start..group.end], most)];
                let (part, rest) = rows.split_at(counts.iter().sum::<u64>() as usize);
                take(self.ranked(block, start, counts, part)?)?;
                (rows, start) = (rest, start + counts.len());
            }
        }
        Ok(())
    }

    /// Searches each tile that may contain neighbours of `queries`: `find` gets the search, the number of a query
    /// in it, the query's own row if it is left out, and the first row of the tile. Passes the result to `take`.
    fn visit<T: Send>(
        &mut self,
        (block, queries): (&Block, Range<usize>),
        stage: &mut dyn FnMut(f32) -> bool,
        find: impl Fn(&RadiusSearch<'_>, usize, Option<u32>, u32) -> T + Sync,
        mut take: impl FnMut(usize, T),
    ) -> Result<(), BatchError> {
        let (search, radius) = (self.search, self.radius);
        let margin = Margin::new(search.spec.metric, search.tiled.header(), &block.cloud);
        let limit = margin.squared_at_most(self.beyond);
        let within = |query: usize| if queries.contains(&query) { limit } else { f32::NEG_INFINITY };
        let groups = QueryGroups::new(&block.problem, within);
        let order = groups.near(&search.tiles, block.nearest_tiles(&search.tiles));
        let (count, mut order) = (order.len(), order.into_iter().enumerate());
        let mut find_next = || {
            order.find_map(|(at, number)| {
                let near = groups.near_queries(&block.problem, &search.tiles[number], within);
                (!near.is_empty()).then_some((at, number, near))
            })
        };
        let mut next = find_next();
        while let Some((at, number, near)) = next {
            next = find_next();
            let (tile, queries) = (&search.tiles[number], near.queries());
            let ahead = next.as_ref().map(|(_, number, _)| number);
            let points = near.near(tile, self.loader.load_next(&search.tiles, number, ahead)?);
            if points.is_empty() {
                continue;
            }
            let problem = block.problem.part(&points, &queries);
            let choose = || RadiusBatches::engine_for(radius, &search.spec.engine, &problem);
            let engine = self.engine.map_or_else(choose, Ok)?;
            self.engine = Some(engine);
            let within = RadiusSearch::new(&problem, &block.cloud, engine, radius)?;
            for part in TilePlan::parts(0..queries.len(), BLOCK) {
                continue_if(stage(at as f32 / count as f32))?;
                let rows = |at: usize| {
                    // Rows of a tile are counted from its first one.
                    let (own, first) = (search.own(block, queries[at] as usize), tile.rows.start);
                    find(&within, at, own.and_then(|own| own.checked_sub(first)), first)
                };
                let found: Vec<T> = part.clone().into_par_iter().map(rows).collect();
                queries[part].iter().zip(found).for_each(|(&query, found)| take(query as usize, found));
            }
        }
        Ok(())
    }

    /// The rows of the neighbours of some queries, query after query.
    fn collect(
        &mut self,
        (block, queries): (&Block, Range<usize>),
        counts: &[u64],
        stage: &mut dyn FnMut(f32) -> bool,
    ) -> Result<Vec<u32>, BatchError> {
        let (first, mut found) = (queries.start, 0);
        let starts = counts[queries.clone()].iter().map(|count| {
            found += count;
            (found - count) as usize
        });
        let mut next: Vec<usize> = starts.collect();
        let mut rows = memory::filled(found as usize, 0)
            .map_err(|_| too_many(found, found.saturating_mul(NEIGHBOR_BYTES), queries.len(), self.about))?;
        self.visit(
            (block, queries),
            stage,
            |within, query, own, first| {
                let mut rows = within.rows(query, own);
                rows.iter_mut().for_each(|row| *row += first);
                rows
            },
            |query, found| {
                let at = &mut next[query - first];
                rows[*at..*at + found.len()].copy_from_slice(&found);
                *at += found.len();
            },
        )?;
        Ok(rows)
    }

    /// Sorts the neighbours of queries from `start` on by the file's values.
    fn ranked(
        &self,
        block: &Block,
        start: usize,
        counts: &[u64],
        rows: &[u32],
    ) -> Result<Neighborhoods, BatchError> {
        // A single query may have more neighbours than the plan has room for: as read, rounded and in f64.
        let needed = rows.len() as u64 * (28 * self.search.tiled.header().dims() as u64 + 2 * NEIGHBOR_BYTES);
        memory::check(needed).map_err(|_| too_many(rows.len() as u64, needed, counts.len(), self.about))?;
        let (points, local) = self.search.gathered(rows)?;
        let mut found = Neighborhoods::new(start, counts, self.about)?;
        let ranking = Ranking::new(self.search.spec.metric, &points, &block.cloud, rows.len());
        let row_of = |query| block.problem.query_row(start + query);
        found.fill(0..counts.len(), &ranking, row_of, |_, slots| local[slots].to_vec());
        to_records(&mut found.rows, &points);
        Ok(found)
    }
}
