//! Records a search of the clusters step by step, with their spheres. No twin: a GPU's search takes the same
//! steps.

use super::clusters::Clusters;
use super::queue::{QueryState, WARP};
use super::traverse::observe;
use crate::index::lanes_before;
use crate::knn::Problem;
use crate::knn::walk::{AXES, Bounds, Event, Region, RegionKind, Step, Totals, Walk};
use crate::lockstep::{Key, Lanes, PADDING, distance_of, index_of};

/// A group of points that was filtered.
#[derive(Clone, Copy, Debug)]
pub struct FilteredGroup<'a> {
    /// The keys of its points, one per lane.
    pub keys: &'a Lanes<Key, WARP>,
    /// The k-th neighbour's key before the group was filtered.
    pub before: Key,
    /// Free slots of the candidate queue before the group was filtered; the first candidates took them. If
    /// there were more candidates, the queue was merged and the rest were compared with the new k-th
    /// neighbour.
    pub free: usize,
}

/// Notified of each step of a search, in order.
pub trait Observer {
    /// The clusters were sorted: the keys of their bounds and numbers.
    #[inline(always)]
    fn sorted(&mut self, _order: &[Key]) {}

    /// The cluster of the next entry is visited.
    #[inline(always)]
    fn cluster(&mut self) {}

    /// A group of its points was filtered.
    #[inline(always)]
    fn filtered(&mut self, _group: usize, _of: FilteredGroup<'_>, _queue: &QueryState) {}
}

/// The observer of runs, which disappears by inlining.
impl Observer for () {}

/// Records the search of the clusters for a query of a problem of at most [`AXES`] dimensions.
pub fn walk(clusters: &Clusters, problem: &Problem, query: usize) -> Walk {
    let recorder = Recorder {
        clusters,
        problem,
        walk: Walk { k: problem.k(), ..Walk::default() },
        totals: Totals::default(),
        visited: 0,
    };
    let (recorder, queue, visits) = observe(clusters, problem, query, recorder);
    recorder.end(&queue, visits.merges)
}

struct Recorder<'a> {
    clusters: &'a Clusters,
    problem: &'a Problem,
    walk: Walk,
    totals: Totals,
    /// Number of visited clusters so far; their regions come first.
    visited: usize,
}

impl Recorder<'_> {
    fn step(&self) -> u32 {
        self.walk.steps.len() as u32
    }

    fn push(&mut self, event: Event, before: Key, after: Key) {
        self.walk.steps.push(Step {
            event,
            before: distance_of(before),
            after: distance_of(after),
            totals: self.totals,
        });
    }

    fn end(mut self, queue: &QueryState, merges: u32) -> Walk {
        let after = self.walk.steps.last().map_or(f32::INFINITY, |step| step.after);
        let (step, count) = (self.step(), self.walk.regions.len() - self.visited);
        self.walk.regions[self.visited..].iter_mut().for_each(|region| region.settled_at = step);
        if count > 0 {
            self.totals.pruned = count as u32;
            let event = Event::Pruned { region: self.visited, count: count as u32 };
            self.walk.steps.push(Step { event, before: after, after, totals: self.totals });
        }
        self.totals.merges = merges;
        self.walk.steps.push(Step {
            event: Event::Finished,
            before: after,
            after: distance_of(queue.last),
            totals: self.totals,
        });
        self.walk
    }
}

impl Observer for Recorder<'_> {
    fn sorted(&mut self, order: &[Key]) {
        let spheres = &self.clusters.spheres;
        self.walk.regions.extend(order.iter().map(|&entry| {
            let number = index_of(entry);
            let (group, lane) = (number as usize / WARP, number as usize % WARP);
            let mut center = [0.0; AXES];
            for (axis, value) in center.iter_mut().enumerate().take(spheres.dims) {
                *value = spheres.centres[group * spheres.dims + axis][lane] as f32;
            }
            let bounds = Bounds::Sphere { center, radius: spheres.reaches[group][lane] as f32 };
            Region {
                kind: RegionKind::Cluster { number },
                bounds,
                bound: distance_of(entry),
                seen_at: 0,
                settled_at: 0,
                visited: false,
            }
        }));
        self.push(Event::Sorted, PADDING, PADDING);
    }

    fn cluster(&mut self) {
        let settled = self.step();
        let region = &mut self.walk.regions[self.visited];
        (region.settled_at, region.visited) = (settled, true);
        self.visited += 1;
        self.totals.leaves += 1;
    }

    fn filtered(
        &mut self,
        group: usize,
        FilteredGroup { keys, before, free }: FilteredGroup<'_>,
        queue: &QueryState,
    ) {
        let near = lanes_before(keys, before);
        let (mut first, mut rest) = (0, near);
        for _ in 0..free.min(near.count_ones() as usize) {
            first |= rest & rest.wrapping_neg();
            rest &= rest - 1;
        }
        let taken = first | rest & lanes_before(keys, queue.last);
        let from = self.walk.rows.len();
        let positions = self.clusters.positions[group].iter().filter(|position| **position != u32::MAX);
        self.walk.rows.extend(positions.map(|&position| self.problem.row(position)));
        let points = from..self.walk.rows.len();
        self.totals.distance_evals += points.len() as u32;
        (self.totals.candidates, self.totals.merges) = (queue.candidates, queue.merges);
        self.push(Event::Visited { region: self.visited - 1, points, near, taken }, before, queue.last);
    }
}
