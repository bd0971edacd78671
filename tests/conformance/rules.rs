//! An independent implementation of rules 6 and 7 of the warp-per-query search (`docs/kernel.md`), and the
//! twin's other outputs.

use warpscope::engines::lockstep::{self, LOCKSTEP};
use warpscope::knn::{Answer, CONVERGENCE_ENTRIES, Counters, DeviceId, NONE, Problem, theory};

use crate::common::{Case, PointDistribution, answer, build_problem};

/// The reference's counters of a query.
pub fn counters_of(answer: &Answer, query: usize) -> Counters {
    let value = |name: &str| answer.measured.column(name).expect("counters")[query];
    Counters { merges: value("merges"), candidates: value("candidates"), groups_hit: value("groups_hit") }
}

/// Searches one query by the rules, point by point: no lanes, networks or batches.
#[derive(Default)]
pub struct Simulation {
    /// (bits of the squared distance, position), sorted: the bits of non-negative floats have the order of
    /// the floats.
    result: Vec<(u32, u32)>,
    buffer: Vec<(u32, u32)>,
    pub counters: Counters,
    /// (points seen, bits of max_distance) after each merge.
    history: Vec<(u32, u32)>,
}

impl Simulation {
    const GROUP: usize = 32;

    pub fn run(problem: &Problem, query: usize) -> Self {
        let (n, k) = (problem.n(), problem.k());
        let slots = k.max(32).next_power_of_two();
        let mut this = Self::default();
        let mut max_distance = f32::INFINITY.to_bits();
        for group in (0..n).step_by(Self::GROUP) {
            let lanes = group..(group + Self::GROUP).min(n);
            let distances: Vec<u32> =
                lanes.clone().map(|position| distance(problem, position, query).to_bits()).collect();
            this.counters.groups_hit += u32::from(distances.iter().any(|&distance| distance < max_distance));
            // Testing lane after lane against the latest bound is equivalent to a second ballot after a
            // merge.
            for (position, distance) in lanes.zip(distances) {
                if distance < max_distance {
                    this.buffer.push((distance, position as u32));
                    this.counters.candidates += 1;
                    if this.buffer.len() == slots {
                        max_distance = this.merge(k, slots, position + 1);
                    }
                }
            }
        }
        if !this.buffer.is_empty() {
            this.merge(k, slots, n);
        }
        this
    }

    fn merge(&mut self, k: usize, slots: usize, points_seen: usize) -> u32 {
        self.result.append(&mut self.buffer);
        self.result.sort_unstable();
        self.result.truncate(slots);
        let max_distance = self.result.get(k - 1).map_or(f32::INFINITY.to_bits(), |last| last.0);
        self.counters.merges += 1;
        self.history.push((points_seen as u32, max_distance));
        max_distance
    }

    /// Bits of the squared distance and position of a neighbour.
    pub fn neighbour(&self, rank: usize) -> (u32, u32) {
        self.result.get(rank).copied().unwrap_or((f32::INFINITY.to_bits(), NONE))
    }

    /// The first 63 merges and the latest.
    pub fn kept_history(&self) -> Vec<(u32, u32)> {
        let mut kept = self.history.clone();
        if kept.len() > CONVERGENCE_ENTRIES {
            kept.truncate(CONVERGENCE_ENTRIES - 1);
            kept.extend(self.history.last());
        }
        kept
    }
}

/// The squared distance, as rule 1 states it.
fn distance(problem: &Problem, position: usize, query: usize) -> f32 {
    let point = &problem.points()[position * problem.dims()..][..problem.dims()];
    point.iter().zip(problem.query(query)).fold(0.0, |acc, (p, q)| {
        let t = p - q;
        t.mul_add(t, acc)
    })
}

/// A replayed query has a tile to itself, and counts the same as among others.
#[test]
fn replays_match_the_search_in_many_dimensions() {
    let problem = build_problem(&Case { n: 5000, dims: 70, ..Case::default() }).expect("a valid case");
    let found = answer(&mut *LOCKSTEP.open_on(DeviceId::Cpu).unwrap(), &problem);
    for query in 0..problem.q() {
        let (counters, history) = lockstep::replay(&problem, query);
        assert_eq!(counters_of(&found, query), counters);
        let (points_seen, bounds) = found.convergence.for_query(query);
        assert!(history.len() < CONVERGENCE_ENTRIES, "the history was truncated");
        assert!(history.iter().map(|entry| entry.0).eq(points_seen.iter().copied()));
        assert!(history.iter().map(|entry| entry.1.to_bits()).eq(bounds.iter().map(|bound| bound.to_bits())));
    }
}

#[test]
fn descending_distances_are_the_worst_case() {
    let case = Case {
        shape: PointDistribution::Descending,
        n: 10_000,
        query_rows: Some(vec![9_999]),
        ..Case::default()
    };
    let problem = build_problem(&case).expect("a valid case");
    let found = answer(&mut *LOCKSTEP.open_on(DeviceId::Cpu).unwrap(), &problem);
    let counted = counters_of(&found, 0);
    assert_eq!(
        (u64::from(counted.merges), counted.candidates),
        (theory::worst_case_merges(10_000, 32), 10_000)
    );
    assert_eq!(found.convergence.for_query(0).0.len(), CONVERGENCE_ENTRIES);
    assert_eq!(found.convergence.for_query(0).0.last(), Some(&10_000));

    let (counters, history) = lockstep::replay(&problem, 0);
    assert_eq!(counters, counted);
    let whole = Simulation::run(&problem, 0).history;
    assert_eq!(history.iter().map(|&(seen, bound)| (seen, bound.to_bits())).collect::<Vec<_>>(), whole);
}
