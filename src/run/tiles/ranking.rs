//! Ranks the lists of a block by the file's values, over the rows that are in them.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::near::QueryGroups;
use super::{Block, TileRun, TiledSearch, arrangement};
use crate::cloud::PointCloud;
use crate::exact::{Margin, RefinedNeighbors, Refiner};
use crate::knn::{BestLists, NONE, Neighbors, Points, Problem};
use crate::run::RunError;
use crate::run::batches::index_opener;

impl TiledSearch {
    /// Reads rows of the cloud, in ascending order, and numbers the given ones by them.
    pub(super) fn gathered(&self, rows: &[u32]) -> Result<(Arc<PointCloud>, Vec<u32>), RunError> {
        let mut distinct: Vec<u32> = rows.iter().copied().filter(|&row| row != NONE).collect();
        distinct.par_sort_unstable();
        distinct.dedup();
        let local = |row: &u32| distinct.binary_search(row).map_or(NONE, |local| local as u32);
        let numbers = rows.par_iter().map(local).collect();
        Ok((Arc::new(self.tiled.gather(&distinct)?), numbers))
    }

    /// The problem of some queries of a block over other points.
    fn over(&self, block: &Block, points: &Arc<PointCloud>, queries: &[u32]) -> Result<Problem, RunError> {
        let points = Arc::new(Points::new(points, arrangement(&self.spec))?);
        Ok(block.problem.part(&points, queries))
    }

    /// The query's row, where it is left out of its neighbours.
    pub(super) fn own(&self, block: &Block, query: usize) -> Option<u32> {
        self.spec.exclude_self.then(|| block.rows[query])
    }
}

impl TileRun<'_> {
    /// The neighbours of a part of a block, as rows of all points, with their distances if they were ranked by
    /// the file's values.
    pub(super) fn ranked(
        &mut self,
        block: &Block,
        lists: &BestLists,
        part: Range<usize>,
    ) -> Result<(Neighbors, Option<Vec<f64>>), RunError> {
        let search = self.search;
        let own = search.spec.exclude_self.then(|| &block.rows[part.clone()]);
        let mut found = lists.neighbors(part.clone(), own);
        let k = search.spec.k;
        if !search.is_refined {
            return Ok((found, None));
        }
        let (points, local) = search.gathered(&found.indices)?;
        found.indices = local;
        let queries: Vec<u32> = part.clone().map(|query| query as u32).collect();
        let problem = search.over(block, &points, &queries)?;
        let refiner = Refiner::new(&problem, &block.cloud, None).among(search.tiled.header().len());
        let mut refined = refiner.refine(&found, k, None, &mut |_| true).ok_or(RunError::Cancelled)?;
        to_records(&mut refined.rows, &points);
        let unproven: Vec<(usize, f64)> =
            refined.unproven.iter().map(|&(query, distance)| (part.start + query, distance)).collect();
        if !unproven.is_empty() {
            let wider = self.widened(block, &unproven)?;
            for (at, (query, _)) in unproven.iter().enumerate() {
                let (from, to) =
                    (at * k..(at + 1) * k, (query - part.start) * k..(query - part.start + 1) * k);
                refined.rows[to.clone()].copy_from_slice(&wider.rows[from.clone()]);
                refined.squared_distances[to.clone()].copy_from_slice(&wider.squared_distances[from.clone()]);
                refined.distances[to].copy_from_slice(&wider.distances[from]);
            }
        }
        let RefinedNeighbors { rows, squared_distances, distances, .. } = refined;
        Ok((Neighbors { k, indices: rows, squared_distances }, Some(distances)))
    }

    /// The neighbours of queries of a block, which are within these distances, from one more pass over the
    /// tiles.
    fn widened(&mut self, block: &Block, unproven: &[(usize, f64)]) -> Result<RefinedNeighbors, RunError> {
        let (search, k) = (self.search, self.search.spec.k);
        let margin = Margin::new(search.spec.metric, search.tiled.header(), &block.cloud);
        let mut limits = vec![f32::NEG_INFINITY; block.problem.q()];
        let mut candidates: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut slots = vec![0; block.problem.q()];
        for (slot, &(query, distance)) in unproven.iter().enumerate() {
            limits[query] = margin.squared_at_most(distance);
            slots[query] = slot;
            candidates.push((slot, Vec::new()));
        }
        let groups = QueryGroups::new(&block.problem, |query| limits[query]);
        for (number, tile) in search.tiles.iter().enumerate() {
            let wanted = groups.near_queries(&block.problem, tile, |query| limits[query]).queries();
            if wanted.is_empty() {
                continue;
            }
            let points = self.loader.load(number, &tile.rows)?;
            let problem = block.problem.part(&points, &wanted);
            let wide: Vec<(usize, f64)> = (wanted.iter().enumerate())
                .map(|(at, &query)| (at, unproven[slots[query as usize]].1))
                .collect();
            // One more, in case the own row is among them.
            let most = k + usize::from(search.spec.exclude_self);
            let refiner = Refiner::new(&problem, &block.cloud, index_opener(&problem));
            let mut near = refiner.nearest_within(&wide, most);
            to_records(&mut near.rows, points.cloud());
            for (rows, &query) in near.rows.chunks(most).zip(&wanted) {
                let own = search.own(block, query as usize);
                let rows = rows.iter().copied().filter(|&row| row != NONE && Some(row) != own);
                candidates[slots[query as usize]].1.extend(rows);
            }
        }
        let all: Vec<u32> = candidates.iter().flat_map(|(_, rows)| rows).copied().collect();
        let (points, local) = search.gathered(&all)?;
        let mut local = local.into_iter();
        candidates.iter_mut().for_each(|(_, rows)| *rows = local.by_ref().take(rows.len()).collect());
        let queries: Vec<u32> = unproven.iter().map(|&(query, _)| query as u32).collect();
        let problem = search.over(block, &points, &queries)?;
        let mut refined = Refiner::new(&problem, &block.cloud, None).nearest_of(&candidates, k);
        to_records(&mut refined.rows, &points);
        Ok(refined)
    }
}

/// Replaces rows of a cloud by their records, which are rows of all points.
pub(super) fn to_records(rows: &mut [u32], cloud: &PointCloud) {
    rows.par_iter_mut().filter(|row| **row != NONE).for_each(|row| *row = cloud.record(*row as usize) as u32);
}
