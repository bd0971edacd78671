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
    /// Consecutive points, with their boxes.
    groups: Vec<(Range<usize>, Extents)>,
}

impl Tile {
    pub fn new(rows: Range<u32>, points: &Points) -> Self {
        let (coordinates, dims) = (points.coordinates(), points.dims());
        let size = 2 * group_size(points.len());
        let groups = (0..points.len()).into_par_iter().step_by(size).flat_map_iter(|first| {
            let end = points.len().min(first + size);
            // Cut at the longest step, where a curve enters another cell: a box of both sides would be large.
            let at = |position: usize| &coordinates[position * dims..][..dims];
            let step = |position: usize| {
                let axes = at(position - 1).iter().zip(at(position));
                (axes.map(|(one, other)| (one - other).abs()).sum::<f32>(), position)
            };
            let longest = (first + 1..end).map(step).max_by(|one, other| one.0.total_cmp(&other.0));
            let cut = longest.map_or(end, |(_, position)| position);
            [first..cut, cut..end].into_iter().filter(|positions| !positions.is_empty())
        });
        let boxed = |positions: Range<usize>| {
            let extents = extents(dims, &coordinates[positions.start * dims..positions.end * dims]);
            (positions, extents)
        };
        Self { rows, extents: points.extents().to_vec(), groups: groups.map(boxed).collect() }
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
        near.any(|group| tile.groups.iter().any(|(_, extents)| group.is_near(extents)))
    }

    /// The queries that want points of a tile; `within` as before.
    pub fn wanting(&self, problem: &Problem, tile: &Tile, within: impl Fn(usize) -> f32 + Sync) -> Wanting {
        let near = self.0.par_iter().filter(|group| group.is_near(&tile.extents));
        let groups = near.filter_map(|group| {
            let is_near = |group: &QueryGroup, number: &usize| group.is_near(&tile.groups[*number].1);
            let mut numbers: Vec<usize> =
                (0..tile.groups.len()).filter(|number| is_near(group, number)).collect();
            let wants = |query: &u32| {
                let (place, within) = (problem.query(*query as usize), within(*query as usize));
                numbers.iter().any(|&number| squared_distance_to_box(place, &tile.groups[number].1) <= within)
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
    pub fn near(&self, tile: &Tile, points: Arc<Points>) -> Arc<Points> {
        let (coordinates, dims) = (points.coordinates(), points.dims());
        let mut near: Vec<Vec<&QueryGroup>> = vec![Vec::new(); tile.groups.len()];
        for (group, numbers) in &self.0 {
            numbers.iter().for_each(|&number| near[number].push(group));
        }
        let positions = near.into_par_iter().zip(&tile.groups).flat_map_iter(|(near, (positions, _))| {
            let is_near = move |position: &usize| {
                let point = &coordinates[position * dims..][..dims];
                near.iter().any(|group| squared_distance_to_box(point, &group.extents) <= group.within)
            };
            positions.clone().filter(is_near).map(|position| position as u32)
        });
        let near: Vec<u32> = positions.collect();
        if near.len() > points.len() / 2 { points } else { Arc::new(points.rearranged(&near)) }
    }
}
