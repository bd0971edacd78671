//! The tree, and why it misses nobody.
//!
//! kiddo's own distances differ from the reported ones in their last digits, so its k nearest need not be the k nearest
//! by the rule. A search therefore asks it for the nearest places and takes the largest *reported* distance R among the
//! first that hold k points together. The k-th reported distance is at most R; so whoever is missing is, by the rule, at
//! most R away. With unit roundoff u = 2⁻²⁴ the rule's distance of a point at squared distance D is at least
//! D·(1 − (d + 2)u) less d times half the smallest f32 (where squares fall below the normal numbers), so D is at most
//! [`reach`]`(R)`. kiddo is told to compute in f64, whose own errors are nothing beside that margin; asked for every place
//! within reach, it leaves out none that matters.
//!
//! Mostly no second question is needed: one place more than k is asked for, and if the last is out of reach, so is whoever
//! was not named.

use std::num::NonZero;

use kiddo::{ImmutableKdTree, SquaredEuclidean};

use super::distances::squared_distances;
use super::sites::Sites;
use crate::knn::Problem;

/// The number of dimensions that trees are compiled for. Missing ones are zero, which adds nothing to a distance but
/// wastes a level of the tree in so many; from 16 on no tree is deep enough to get there.
pub const LARGEST: usize = 128;

/// A reported squared distance and a position, as one number that sorts by both.
///
/// The bits of non-negative floats sort as the floats do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour(u64);

impl Neighbour {
    fn new(squared_distance: f32, position: u32) -> Self {
        Self(u64::from(squared_distance.to_bits()) << 32 | u64::from(position))
    }

    /// The squared distance and the position.
    pub fn parts(self) -> (f32, u32) {
        (f32::from_bits((self.0 >> 32) as u32), self.0 as u32)
    }
}

/// A tree over a problem's points, of whatever size it is compiled for.
pub trait Tree: Send + Sync {
    /// The min(k, n) nearest points of a query, sorted. `problem` is over the points that the tree was built of.
    fn nearest(&self, problem: &Problem, query: &[f32]) -> Vec<Neighbour>;
}

/// Builds the tree over points of at most [`LARGEST`] dimensions, which the engine's limits say.
pub fn build(problem: &Problem) -> Box<dyn Tree> {
    match problem.dims() {
        1 => Box::new(Sized::<1>::new(problem)),
        2 => Box::new(Sized::<2>::new(problem)),
        3 => Box::new(Sized::<3>::new(problem)),
        4 => Box::new(Sized::<4>::new(problem)),
        5..=6 => Box::new(Sized::<6>::new(problem)),
        7..=8 => Box::new(Sized::<8>::new(problem)),
        9..=12 => Box::new(Sized::<12>::new(problem)),
        13..=16 => Box::new(Sized::<16>::new(problem)),
        17..=32 => Box::new(Sized::<32>::new(problem)),
        33..=64 => Box::new(Sized::<64>::new(problem)),
        _ => Box::new(Sized::<LARGEST>::new(problem)),
    }
}

/// About what building a tree takes, in bytes: twice the points, since the tree is built from a copy that it does not keep,
/// and their positions.
pub fn bytes(problem: &Problem) -> u64 {
    let (n, dims) = (problem.n() as u64, problem.dims() as u64);
    2 * 4 * n * dims + 4 * 4 * n
}

/// A tree compiled for D dimensions.
struct Sized<const D: usize> {
    sites: Sites,
    tree: ImmutableKdTree<f32, D>,
}

impl<const D: usize> Sized<D> {
    fn new(problem: &Problem) -> Self {
        let sites = Sites::new(problem.points(), problem.dims());
        let places: Vec<[f32; D]> = (0..sites.len() as u32)
            .map(|site| {
                let position = sites.points_at(site)[0] as usize;
                padded(&problem.points()[position * problem.dims()..][..problem.dims()])
            })
            .collect();
        // It fails only where a place's number does not fit u32 (a problem has fewer points) or where a leaf has a fixed
        // size (these have none).
        let tree = ImmutableKdTree::new_from_slice(&places).expect("places are numbered in 32 bits, in leaves of any size");
        Self { sites, tree }
    }

    /// Adds the points of places to `nearest`, at their reported distances; no more than k of a place, since only its
    /// first k can be among the k nearest.
    fn report(&self, problem: &Problem, query: &[f32], sites: &mut dyn Iterator<Item = u32>, nearest: &mut Vec<Neighbour>) {
        let sites: Vec<u32> = sites.collect();
        let firsts: Vec<u32> = sites.iter().map(|&site| self.sites.points_at(site)[0]).collect();
        let mut distances = Vec::with_capacity(sites.len());
        squared_distances(problem.points(), query, &firsts, &mut distances);
        for (&site, &distance) in sites.iter().zip(&distances) {
            nearest.extend(self.sites.points_at(site).iter().take(problem.k()).map(|&position| Neighbour::new(distance, position)));
        }
    }
}

impl<const D: usize> Tree for Sized<D> {
    fn nearest(&self, problem: &Problem, query: &[f32]) -> Vec<Neighbour> {
        let k = problem.k();
        let place = padded::<D>(query);
        let asked = self.tree.query(&place).nearest_n::<SquaredEuclidean<f64>>(NonZero::<usize>::MIN.saturating_add(k)).execute();

        // The first places that hold k points together, or all there are.
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
        let nobody_else = asked.len() == self.sites.len() || asked.last().is_some_and(|last| last.distance > reach);
        if nobody_else {
            self.report(problem, query, &mut rest.iter().filter(|found| found.distance <= reach).map(|found| found.item), &mut nearest);
        } else {
            let mut within = Vec::new();
            self.tree.query(&place).within::<SquaredEuclidean<f64>>(reach).unsorted().visit(|found| within.push(found.item));
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
}

/// How far, by exact arithmetic, a point can be whose reported squared distance is at most `squared_distance`.
///
/// The roundings of the rule are counted twice over, for the errors of f64 and for the terms of second order.
fn reach(squared_distance: f32, dims: usize) -> f64 {
    let dims = dims as f64;
    f64::from(squared_distance) * (1.0 + 2.0 * (dims + 2.0) * 2f64.powi(-24)) + dims * 2f64.powi(-149)
}

/// A row with zeros behind it.
fn padded<const D: usize>(row: &[f32]) -> [f32; D] {
    let mut values = [0.0; D];
    values[..row.len()].copy_from_slice(row);
    values
}
