//! Groups of points: disjoint sets, components of the mutual graph, and points within a distance of each
//! other.
//!
//! A group of duplicates is a chain: each point is within the distance of another one, not of all (single
//! linkage, the connected components of the ε-neighbourhood graph). If a point's k-th neighbour is within the
//! distance, it may have more, so its group is marked as open. At distance 0 no group is open: ties are
//! ordered by row, so all equal points have the first one among their neighbours.

use rayon::prelude::*;

use super::{Cancelled, KnnGraph};
use crate::progress::Progress;

pub struct UnionFind(Vec<u32>);

impl UnionFind {
    /// Puts each point in a separate set.
    pub fn new(points: usize) -> Self {
        Self((0..points as u32).collect())
    }

    /// The smallest point of a point's set.
    pub fn root(&mut self, mut point: u32) -> u32 {
        while self.0[point as usize] != point {
            let parent = self.0[point as usize];
            self.0[point as usize] = self.0[parent as usize];
            point = self.0[point as usize];
        }
        point
    }

    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// The sets with at least `least` points, numbered by their first points.
    pub fn sets(mut self, least: u32) -> PointGroups {
        let roots: Vec<u32> = (0..self.0.len() as u32).map(|point| self.root(point)).collect();
        let mut points = vec![0; roots.len()];
        roots.iter().for_each(|&root| points[root as usize] += 1);
        let (mut number, mut sizes) = (vec![None; roots.len()], Vec::new());
        for (root, &size) in points.iter().enumerate().filter(|&(_, &size)| size >= least) {
            number[root] = Some(sizes.len() as u32);
            sizes.push(size);
        }
        PointGroups { group_of: roots.into_iter().map(|root| number[root as usize]).collect(), sizes }
    }
}

/// Points in groups.
#[derive(Clone, Debug, PartialEq)]
pub struct PointGroups {
    /// The group of each point, if any.
    pub group_of: Vec<Option<u32>>,
    /// The number of points in each group.
    pub sizes: Vec<u32>,
}

impl PointGroups {
    /// The number of points in the largest group.
    pub fn largest(&self) -> u32 {
        self.sizes.iter().copied().max().unwrap_or(0)
    }
}

/// Each point's component. A point without mutual neighbours forms its own component.
///
/// # Errors
/// [`Cancelled`].
pub fn components(graph: &KnnGraph<'_>, progress: &dyn Progress) -> Result<PointGroups, Cancelled> {
    let mut forest = UnionFind::new(graph.len());
    for block in graph.blocks(progress) {
        let mutual = |point: usize| {
            let others =
                graph.neighbors(point).0.iter().copied().filter(move |&other| point < other as usize);
            others
                .filter(move |&other| graph.neighbors(other as usize).0.contains(&(point as u32)))
                .map(move |other| (point as u32, other))
        };
        let edges: Vec<(u32, u32)> = block?.into_par_iter().flat_map_iter(mutual).collect();
        edges.into_iter().for_each(|(a, b)| forest.join(a, b));
    }
    Ok(forest.sets(1))
}

/// Groups of at least two points.
#[derive(Clone, Debug, PartialEq)]
pub struct DuplicateGroups {
    pub sets: PointGroups,
    /// Whether a group may be larger, or connected with another.
    pub open: Vec<bool>,
}

/// The groups of points within `eps` of each other.
///
/// # Errors
/// [`Cancelled`].
pub fn duplicates(
    graph: &KnnGraph<'_>,
    eps: f64,
    progress: &dyn Progress,
) -> Result<DuplicateGroups, Cancelled> {
    let mut forest = UnionFind::new(graph.len());
    let mut full = Vec::new();
    for block in graph.blocks(progress) {
        for point in block? {
            let within = graph.distances(point).take_while(|&distance| distance <= eps).count();
            graph.neighbors(point).0[..within].iter().for_each(|&other| forest.join(point as u32, other));
            if within == graph.k() && within + 1 < graph.len() && eps > 0.0 {
                full.push(point);
            }
        }
    }
    let sets = forest.sets(2);
    let mut open = vec![false; sets.sizes.len()];
    full.into_iter().filter_map(|point| sets.group_of[point]).for_each(|group| open[group as usize] = true);
    Ok(DuplicateGroups { sets, open })
}

impl DuplicateGroups {
    /// Number of points in groups.
    pub fn points(&self) -> u64 {
        self.sets.sizes.iter().map(|&size| u64::from(size)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::run::graph::testing::{graph, line};

    #[test]
    fn sets_are_numbered_by_their_first_point() {
        let mut forest = UnionFind::new(7);
        [(5, 1), (6, 5), (3, 2), (1, 6)].into_iter().for_each(|(a, b)| forest.join(a, b));
        assert_eq!(forest.root(6), 1);
        let sets = forest.sets(2);
        assert_eq!(
            (sets.group_of, sets.sizes),
            (vec![None, Some(0), Some(1), Some(1), None, Some(0), Some(0)], vec![3, 2])
        );
        assert_eq!((UnionFind::new(2).sets(1).sizes, UnionFind::new(2).sets(2).largest()), (vec![1, 1], 0));
    }

    #[test]
    fn components_need_mutual_neighbours() {
        // The neighbour of 4 is 2, whose own neighbour is 1.
        let record = line(&[0.0, 1.0, 2.0, 4.0, 20.0, 21.0], 1);
        let found = components(&graph(&record), &NoProgress).unwrap();
        assert_eq!(found.group_of, [0, 0, 1, 2, 3, 3].map(Some));
        assert_eq!((found.sizes.as_slice(), found.largest()), (&[2, 1, 1, 2][..], 2));
        let record = line(&[0.0, 1.0, 2.0, 4.0, 20.0, 21.0], 5);
        assert_eq!(components(&graph(&record), &NoProgress).unwrap().sizes, [6]);
    }

    fn found(values: &[f64], k: usize, eps: f64) -> (Vec<Option<u32>>, Vec<bool>) {
        let DuplicateGroups { sets, open } = duplicates(&graph(&line(values, k)), eps, &NoProgress).unwrap();
        (sets.group_of, open)
    }

    #[test]
    fn chains_of_close_points_form_groups() {
        let values = [0.0, 10.0, 1.0, 20.0, 10.5, 2.0];
        assert_eq!(
            found(&values, 3, 1.0),
            (vec![Some(0), Some(1), Some(0), None, Some(1), Some(0)], vec![false, false])
        );
        assert_eq!(found(&values, 3, 0.5).0, [None, Some(0), None, None, Some(0), None]);
        assert!(found(&values, 3, 0.25).1.is_empty());
    }

    #[test]
    fn groups_truncated_by_k_are_marked_open() {
        let values = [0.0, 0.1, 0.2, 0.3, 9.0, 9.1];
        assert_eq!(found(&values, 1, 0.5).1, [true, true], "one neighbour each is not enough to tell");
        assert_eq!(found(&values, 2, 0.5).1, [true, false]);
        assert_eq!(found(&values, 4, 0.5).1, [false, false]);
        // All points are included, so none can be missing.
        assert_eq!(found(&[0.0, 0.1, 0.2], 2, 0.5).1, [false]);
    }

    #[test]
    fn equal_points_form_one_group_for_any_k() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
        let (group_of, open) = found(&values, 1, 0.0);
        assert_eq!((group_of, open), ((0..60).map(|i| Some(i % 3)).collect(), vec![false; 3]));
    }
}
