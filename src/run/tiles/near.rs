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

/// Minimum size of a group, so that boxes need little memory.
const LEAST_ROWS: usize = 64;

/// In more dimensions, boxes of groups are hardly smaller than that of all.
const GROUPED_DIMS: usize = 16;

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
        let size = 2 * group_size(points.len(), dims);
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

fn group_size(rows: usize, dims: usize) -> usize {
    if dims > GROUPED_DIMS { rows.max(1) } else { rows.div_ceil(GROUPS).max(LEAST_ROWS) }
}

/// Consecutive queries of a block, each with a search distance.
struct QueryGroup {
    queries: Vec<u32>,
    extents: Extents,
    /// The largest squared search distance of the queries.
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

/// The queries of a block in groups. A group's distance is still an upper bound after its queries' shrink.
pub struct QueryGroups(Vec<QueryGroup>);

impl QueryGroups {
    /// `within` is each query's squared search distance; a negative value skips the query.
    pub fn new(problem: &Problem, within: impl Fn(usize) -> f32 + Sync) -> Self {
        let (q, size) = (problem.q() as u32, group_size(problem.q(), problem.dims()));
        let groups = (0..q).into_par_iter().step_by(size).map(|first| {
            let queries = first..q.min(first + size as u32);
            let queries = queries.filter(|&query| within(query as usize) >= 0.0).collect();
            QueryGroup::new(problem, queries, &within)
        });
        Self(groups.collect())
    }

    /// Filters the tiles in `numbers`: those that may have points within a query's distance, judged by boxes.
    pub fn near(&self, tiles: &[Tile], numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let is_near = |number: &usize| {
            let Tile { extents, groups, .. } = &tiles[*number];
            let mut near = self.0.iter().filter(|group| group.is_near(extents));
            near.any(|group| groups.iter().any(|(_, extents)| group.is_near(extents)))
        };
        numbers.into_iter().filter(is_near).collect()
    }

    /// The queries that may have points of a tile within their distances; `within` as in [`Self::new`].
    pub fn near_queries(
        &self,
        problem: &Problem,
        tile: &Tile,
        within: impl Fn(usize) -> f32 + Sync,
    ) -> NearQueries {
        let near = self.0.par_iter().filter(|group| group.is_near(&tile.extents));
        let groups = near.filter_map(|group| {
            let is_near = |group: &QueryGroup, number: &usize| group.is_near(&tile.groups[*number].1);
            let mut numbers: Vec<usize> =
                (0..tile.groups.len()).filter(|number| is_near(group, number)).collect();
            let is_near_tile = |query: &u32| {
                let (place, within) = (problem.query(*query as usize), within(*query as usize));
                numbers.iter().any(|&number| squared_distance_to_box(place, &tile.groups[number].1) <= within)
            };
            let queries = group.queries.iter().copied().filter(is_near_tile).collect();
            let group = QueryGroup::new(problem, queries, &within);
            numbers.retain(|number| is_near(&group, number));
            (!group.queries.is_empty()).then_some((group, numbers))
        });
        NearQueries(groups.collect())
    }
}

/// Queries that may have neighbours in a tile, in groups, with the nearby groups of the tile's points.
pub struct NearQueries(Vec<(QueryGroup, Vec<usize>)>);

impl NearQueries {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers of the queries, ascending.
    pub fn queries(&self) -> Vec<u32> {
        self.0.iter().flat_map(|(group, _)| group.queries.iter().copied()).collect()
    }

    /// The points of the tile that may be within the distance of a query. Usually they are the few next to a
    /// common face, for which an index of the tile would be a waste.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::{cloud, spec};
    use crate::run::{LoadedSpec, QuerySpec, RunSpec, build_problem};

    /// Clusters of 100 rows that are far from each other; search distances differ.
    #[test]
    fn near_points_are_all_points_within_the_distances_and_few_others() {
        let value = |at: u32| f64::from(at / 300 * 5 % 7) * 100.0 + f64::from(at * 7919 % 977) / 97.7;
        let cloud = cloud(3, (0..3 * 2000).map(value).collect());
        let spec = RunSpec { queries: QuerySpec::All, k: 1, ..spec() };
        let problem = build_problem(LoadedSpec::new(&spec, &cloud, None)).unwrap();
        let points = Arc::clone(problem.shared_points());
        let tile = Tile::new(0..2000, &points);
        assert_eq!((tile.groups.len(), tile.groups[0].0.start, tile.groups[31].0.end), (32, 0, 2000));
        assert!(tile.groups.iter().zip(&tile.groups[1..]).all(|(one, next)| one.0.end == next.0.start));
        // At most one query of a group, so that its box is a point.
        let is_searched = |query: usize| query < 200 && query.is_multiple_of(70);
        let within =
            |query: usize| if is_searched(query) { (9 + query % 7) as f32 } else { f32::NEG_INFINITY };
        let groups = QueryGroups::new(&problem, within);
        assert_eq!(groups.near(&[tile], [0]), [0]);
        let tile = Tile::new(0..2000, &points);
        let found = groups.near_queries(&problem, &tile, within);
        let (queries, near) = (found.queries(), found.near(&tile, Arc::clone(&points)));
        let mut pairs = 0;
        for query in 0..2000 {
            for position in 0..2000 {
                let point = &points.coordinates()[position * 3..][..3];
                let exact = [[point[0]; 2], [point[1]; 2], [point[2]; 2]];
                if squared_distance_to_box(problem.query(query), &exact) <= within(query) {
                    let row = position as u32;
                    assert!(queries.contains(&(query as u32)), "query {query}");
                    assert!((0..near.len() as u32).any(|at| near.row(at) == row), "{position}");
                    pairs += 1;
                }
            }
        }
        assert!(pairs > 100 && near.len() < 1000, "{pairs} pairs, {} points", near.len());
        // Nothing is within −∞, and nothing of one cluster near another.
        assert!(queries.iter().all(|&query| is_searched(query as usize)));
        let only = |query: usize| if query < 100 { 4.0 } else { f32::NEG_INFINITY };
        let found = QueryGroups::new(&problem, only).near_queries(&problem, &tile, only);
        let near = found.near(&tile, points);
        assert!((100..500).contains(&near.len()), "{} points", near.len());
    }
}
