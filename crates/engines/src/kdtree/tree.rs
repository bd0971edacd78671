//! The tree, and the proof that no neighbour is missed.
//!
//! kiddo's distances differ from the reported ones in their last digits, so its k nearest need not be the k
//! nearest by the rule. A search therefore asks it for the nearest sites and takes the largest *reported*
//! distance R among the first that together hold k points. The k-th reported distance is at most R, so any
//! missing neighbour is, by the rule, at most R away. With unit roundoff u = 2⁻²⁴, the rule's distance of a
//! point at squared distance D is at least D·(1 − (d + 2)u) less d times half the smallest f32 (where squares
//! fall below the normal numbers). So D is at most [`reach`]`(R)`. kiddo computes in f64, whose errors are
//! negligible against that margin. If asked for every site within reach, it omits no neighbour.
//!
//! Usually one kiddo query is enough: it returns k + 1 sites, and if the last is out of reach, so is every
//! site that was not returned.

use std::num::NonZero;

use kiddo::{ImmutableKdTree, SquaredEuclidean};
use rayon::prelude::*;

use crate::knn::Problem;
use crate::knn::distance::{reach, squared_distances};

/// The largest number of dimensions that trees are compiled for. Rows are padded with zeros to the next
/// compiled number. The padding does not change distances, but a level of the tree that splits along it is
/// wasted; from 16 dimensions on no tree is deep enough to have such a level.
pub const MAX_DIMS: usize = 128;

/// A reported squared distance and a position, packed into one number that sorts by both: the bits of
/// non-negative floats sort like the floats themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackedNeighbour(u64);

impl PackedNeighbour {
    fn new(squared_distance: f32, position: u32) -> Self {
        Self(u64::from(squared_distance.to_bits()) << 32 | u64::from(position))
    }

    /// The squared distance and the position.
    pub fn parts(self) -> (f32, u32) {
        (f32::from_bits((self.0 >> 32) as u32), self.0 as u32)
    }
}

/// A tree over a problem's points, independent of the number of dimensions it is compiled for.
pub trait Tree: Send + Sync {
    /// The min(k, n) nearest points of a query, sorted. `problem` must have the points that the tree was
    /// built from.
    fn nearest(&self, problem: &Problem, query: &[f32]) -> Vec<PackedNeighbour>;
    /// All points whose reported squared distance is at most `limit`, in any order. `problem` as above.
    fn within(&self, problem: &Problem, query: &[f32], limit: f32, found: &mut dyn FnMut(u32, f32));
}

/// Builds the tree over points of at most [`MAX_DIMS`] dimensions. The engine's limits guarantee that bound.
pub fn build(problem: &Problem) -> Box<dyn Tree> {
    match compiled_dims(problem.dims()) {
        1 => Box::new(FixedDimsTree::<1>::new(problem)),
        2 => Box::new(FixedDimsTree::<2>::new(problem)),
        3 => Box::new(FixedDimsTree::<3>::new(problem)),
        4 => Box::new(FixedDimsTree::<4>::new(problem)),
        6 => Box::new(FixedDimsTree::<6>::new(problem)),
        8 => Box::new(FixedDimsTree::<8>::new(problem)),
        12 => Box::new(FixedDimsTree::<12>::new(problem)),
        16 => Box::new(FixedDimsTree::<16>::new(problem)),
        32 => Box::new(FixedDimsTree::<32>::new(problem)),
        64 => Box::new(FixedDimsTree::<64>::new(problem)),
        _ => Box::new(FixedDimsTree::<MAX_DIMS>::new(problem)),
    }
}

/// The compiled number of dimensions used for points of `dims` dimensions.
pub fn compiled_dims(dims: usize) -> usize {
    const COMPILED: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64];
    COMPILED.into_iter().find(|&compiled| compiled >= dims).unwrap_or(MAX_DIMS)
}

/// Estimated bytes needed to build a tree: twice the points, since it is built from a temporary copy, and
/// their positions.
pub fn bytes(problem: &Problem) -> u64 {
    let (n, dims) = (problem.n() as u64, problem.dims() as u64);
    2 * 4 * n * dims + 4 * 4 * n
}

struct FixedDimsTree<const D: usize> {
    sites: Sites,
    tree: ImmutableKdTree<f32, D>,
}

impl<const D: usize> FixedDimsTree<D> {
    fn new(problem: &Problem) -> Self {
        let sites = Sites::new(problem.points(), problem.dims());
        let places: Vec<[f32; D]> = (0..sites.len() as u32)
            .map(|site| {
                let position = sites.points_at(site)[0] as usize;
                padded(&problem.points()[position * problem.dims()..][..problem.dims()])
            })
            .collect();
        // Construction fails only if a site index does not fit into u32 (a problem has fewer points) or if
        // leaves have a fixed size (these do not).
        let tree = ImmutableKdTree::new_from_slice(&places)
            .expect("places are numbered in 32 bits, in leaves of any size");
        Self { sites, tree }
    }

    /// Adds the points of `sites` to `nearest` at their reported distances; at most k per site, since only
    /// its first k can be among the k nearest.
    fn report(
        &self,
        problem: &Problem,
        query: &[f32],
        sites: &mut dyn Iterator<Item = u32>,
        nearest: &mut Vec<PackedNeighbour>,
    ) {
        let sites: Vec<u32> = sites.collect();
        let firsts: Vec<u32> = sites.iter().map(|&site| self.sites.points_at(site)[0]).collect();
        let mut distances = Vec::with_capacity(sites.len());
        squared_distances(problem.points(), query, &firsts, &mut distances);
        for (&site, &distance) in sites.iter().zip(&distances) {
            nearest.extend(
                self.sites
                    .points_at(site)
                    .iter()
                    .take(problem.k())
                    .map(|&position| PackedNeighbour::new(distance, position)),
            );
        }
    }
}

impl<const D: usize> Tree for FixedDimsTree<D> {
    fn nearest(&self, problem: &Problem, query: &[f32]) -> Vec<PackedNeighbour> {
        let k = problem.k();
        let place = padded::<D>(query);
        let asked = self
            .tree
            .query(&place)
            .nearest_n::<SquaredEuclidean<f64>>(NonZero::<usize>::MIN.saturating_add(k))
            .execute();

        // The first sites that together hold k points, or all sites.
        let mut points = 0;
        let enough = asked.iter().position(|found| {
            points += self.sites.points_at(found.item).len();
            points >= k
        });
        let (first, rest) = asked.split_at(enough.map_or(asked.len(), |last| last + 1));
        let mut nearest = Vec::with_capacity(2 * k);
        self.report(problem, query, &mut first.iter().map(|found| found.item), &mut nearest);

        let furthest = nearest.iter().max().map_or(f32::INFINITY, |neighbour| neighbour.parts().0);
        let reach = reach(furthest, problem.dims());
        let nobody_else =
            asked.len() == self.sites.len() || asked.last().is_some_and(|last| last.distance > reach);
        if nobody_else {
            self.report(
                problem,
                query,
                &mut rest.iter().filter(|found| found.distance <= reach).map(|found| found.item),
                &mut nearest,
            );
        } else {
            let mut within = Vec::new();
            self.tree
                .query(&place)
                .within::<SquaredEuclidean<f64>>(reach)
                .unsorted()
                .visit(|found| within.push(found.item));
            nearest.clear();
            self.report(problem, query, &mut within.into_iter(), &mut nearest);
        }
        if nearest.len() > k {
            nearest.select_nth_unstable(k - 1);
            nearest.truncate(k);
        }
        nearest.sort_unstable();
        nearest
    }

    fn within(&self, problem: &Problem, query: &[f32], limit: f32, found: &mut dyn FnMut(u32, f32)) {
        /// Sites whose distances are computed together.
        const BLOCK: usize = 256;
        let (mut sites, mut firsts, mut distances) =
            (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        let mut report = |sites: &mut Vec<u32>| {
            firsts.clear();
            firsts.extend(sites.iter().map(|&site| self.sites.points_at(site)[0]));
            distances.clear();
            squared_distances(problem.points(), query, &firsts, &mut distances);
            for (site, &distance) in
                sites.drain(..).zip(&distances).filter(|(_, distance)| **distance <= limit)
            {
                self.sites.points_at(site).iter().for_each(|&position| found(position, distance));
            }
        };
        let reach = reach(limit, problem.dims());
        self.tree.query(&padded::<D>(query)).within::<SquaredEuclidean<f64>>(reach).unsorted().visit(
            |site| {
                sites.push(site.item);
                if sites.len() == BLOCK {
                    report(&mut sites);
                }
            },
        );
        report(&mut sites);
    }
}

fn padded<const D: usize>(row: &[f32]) -> [f32; D] {
    let mut values = [0.0; D];
    values[..row.len()].copy_from_slice(row);
    values
}

/// The distinct locations of a cloud, and the points at each.
///
/// Thousands of equal points would make leaves that no plane can split, and a search would visit every copy.
/// The tree therefore holds each distinct location (site) once; the duplicates are listed here.
struct Sites {
    /// Positions grouped by site, ascending within each.
    positions: Vec<u32>,
    /// Offset of each site's first position; one more entry than sites.
    starts: Vec<u32>,
}

impl Sites {
    /// Groups n points of `dims` coordinates, row-major.
    fn new(points: &[f32], dims: usize) -> Self {
        let row = |position: u32| &points[position as usize * dims..][..dims];
        let mut positions: Vec<u32> = (0..(points.len() / dims) as u32).collect();
        positions.par_sort_unstable_by(|&a, &b| compare(row(a), row(b)).then(a.cmp(&b)));
        let mut starts = vec![0];
        starts.extend(
            (1..positions.len())
                .filter(|&at| compare(row(positions[at - 1]), row(positions[at])).is_ne())
                .map(|at| at as u32),
        );
        starts.push(positions.len() as u32);
        Self { positions, starts }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The positions of the points at a site, ascending; at least one.
    fn points_at(&self, site: u32) -> &[u32] {
        &self.positions[self.starts[site as usize] as usize..self.starts[site as usize + 1] as usize]
    }
}

/// Lexicographic order; 0.0 and −0.0 compare equal.
fn compare(a: &[f32], b: &[f32]) -> std::cmp::Ordering {
    a.partial_cmp(b).expect("a problem's coordinates are finite")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_points_share_a_site() {
        let sites = Sites::new(&[1.0, 2.0, 0.0, 0.0, 1.0, 2.0, -0.0, 0.0, 1.0, 3.0], 2);
        let mut places: Vec<&[u32]> = (0..sites.len() as u32).map(|site| sites.points_at(site)).collect();
        places.sort();
        assert_eq!(places, [&[0, 2][..], &[1, 3], &[4]]);
    }
}
