//! Which queries of a block need which tile, and which of its points.
//!
//! A tile of consecutive rows has a large box, even if the rows are in spatial order: along a Morton curve, it
//! covers parts of several cubes. Tiles and queries are therefore divided into groups of consecutive rows,
//! whose boxes are small, and only groups that are near each other are compared one by one.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::knn::distance::{squared_distance_to_box, squared_gap};
use crate::knn::{Points, Problem};

/// Groups of a tile, and of a block of queries.
const GROUPS: usize = 256;

/// Minimum and maximum of each axis.
type Extents = Vec<[f32; 2]>;

/// The box of some points, row-major.
pub fn extents(dims: usize, points: &[f32]) -> Extents {
    let mut extents = vec![[f32::INFINITY, f32::NEG_INFINITY]; dims];
    points.chunks_exact(dims).for_each(|point| include(&mut extents, point));
    extents
}

fn include(extents: &mut [[f32; 2]], point: &[f32]) {
    let both = extents.iter_mut().zip(point);
    both.for_each(|([low, high], &value)| (*low, *high) = (low.min(value), high.max(value)));
}

/// Rows of the cloud, and the boxes of their points.
pub struct Tile {
    pub rows: Range<u32>,
    pub extents: Extents,
    /// The boxes of equally many consecutive points.
    groups: Vec<Extents>,
}

impl Tile {
    pub fn new(rows: Range<u32>, points: &Points) -> Self {
        let groups = points.coordinates().par_chunks(group_size(rows.len()) * points.dims());
        let groups = groups.map(|group| extents(points.dims(), group)).collect();
        Self { extents: points.extents().to_vec(), groups, rows }
    }
}

fn group_size(rows: usize) -> usize {
    rows.div_ceil(GROUPS).max(1)
}

/// Consecutive queries of a block that want points within a distance of each.
struct QueryGroup {
    queries: Vec<u32>,
    extents: Extents,
    /// The largest squared distance.
    within: f32,
}

impl QueryGroup {
    fn new(problem: &Problem, queries: Vec<u32>, within: impl Fn(usize) -> f32) -> Self {
        let mut group = Self { queries, extents: extents(problem.dims(), &[]), within: f32::NEG_INFINITY };
        for query in group.queries.iter().map(|&query| query as usize) {
            include(&mut group.extents, problem.query(query));
            group.within = group.within.max(within(query));
        }
        group
    }

    fn is_near(&self, extents: &[[f32; 2]]) -> bool {
        squared_gap(&self.extents, extents) <= self.within
    }
}

/// The queries of a block. Their distances are upper bounds, if they have become smaller since.
pub struct QueryGroups(Vec<QueryGroup>);

impl QueryGroups {
    /// `within` is the squared distance in which a query wants points; negative if it wants none.
    pub fn new(problem: &Problem, within: impl Fn(usize) -> f32 + Sync) -> Self {
        let (q, size) = (problem.q() as u32, group_size(problem.q()));
        let groups = (0..q).into_par_iter().step_by(size).map(|first| {
            let queries = first..q.min(first + size as u32);
            let wanting = queries.filter(|&query| within(query as usize) >= 0.0).collect();
            QueryGroup::new(problem, wanting, &within)
        });
        Self(groups.collect())
    }

    /// Whether a query may want points of a tile, by the boxes only.
    pub fn are_near(&self, tile: &Tile) -> bool {
        let mut near = self.0.iter().filter(|group| group.is_near(&tile.extents));
        near.any(|group| tile.groups.iter().any(|extents| group.is_near(extents)))
    }

    /// The queries that want points of a tile; `within` as before.
    pub fn wanting(&self, problem: &Problem, tile: &Tile, within: impl Fn(usize) -> f32 + Sync) -> Wanting {
        let near = self.0.par_iter().filter(|group| group.is_near(&tile.extents));
        let groups = near.filter_map(|group| {
            let is_near = |group: &QueryGroup, number: &usize| group.is_near(&tile.groups[*number]);
            let mut numbers: Vec<usize> =
                (0..tile.groups.len()).filter(|number| is_near(group, number)).collect();
            let wants = |query: &u32| {
                let (place, within) = (problem.query(*query as usize), within(*query as usize));
                numbers.iter().any(|&number| squared_distance_to_box(place, &tile.groups[number]) <= within)
            };
            let wanting = group.queries.iter().copied().filter(wants).collect();
            let group = QueryGroup::new(problem, wanting, &within);
            numbers.retain(|number| is_near(&group, number));
            (!group.queries.is_empty()).then_some((group, numbers))
        });
        Wanting(groups.collect())
    }
}

/// The queries that want points of a tile, in groups, with the tile's groups near each.
pub struct Wanting(Vec<(QueryGroup, Vec<usize>)>);

impl Wanting {
    /// The numbers of the queries, ascending.
    pub fn queries(&self) -> Vec<u32> {
        self.0.iter().flat_map(|(group, _)| group.queries.iter().copied()).collect()
    }

    /// The points of the tile that queries may want. Usually they are the few next to a common face, for which
    /// an index of the tile would be a waste.
    pub fn near(&self, points: Arc<Points>) -> Arc<Points> {
        let (size, dims) = (group_size(points.len()), points.dims());
        let mut near: Vec<Vec<&QueryGroup>> = vec![Vec::new(); points.len().div_ceil(size)];
        for (group, numbers) in &self.0 {
            numbers.iter().for_each(|&number| near[number].push(group));
        }
        let groups = near.into_par_iter().zip(points.coordinates().par_chunks(size * dims)).enumerate();
        let positions = groups.flat_map_iter(|(number, (near, group))| {
            let is_near = move |point: &[f32]| {
                near.iter().any(|group| squared_distance_to_box(point, &group.extents) <= group.within)
            };
            let positions = group.chunks_exact(dims).enumerate().filter(move |(_, point)| is_near(point));
            positions.map(move |(at, _)| (number * size + at) as u32)
        });
        let near: Vec<u32> = positions.collect();
        if near.len() > points.len() / 2 { points } else { Arc::new(points.rearranged(&near)) }
    }
}
