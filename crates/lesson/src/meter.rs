//! The cost of a query with three strategies: one thread with a heap, a warp with one query per thread, and
//! the kernel's warp.
//!
//! All three are recorded executions of the CPU twins over the same points; nothing is computed by a formula.
//! [`super::work`] has the instructions of each step. A warp with one query per thread answers W queries at
//! once, so one query counts 1/W of its instructions.

use std::sync::Arc;

use super::recording::Recording;
use super::state::State;
use super::step::Step;
use super::work::{Kind, Work};
use crate::algorithms::SpecificStep;
use crate::algorithms::heap::HeapStep;
use crate::algorithms::heap::recorder::record_lanes;
use crate::text::{significant, thousands};

/// Maximum number of entries of a [`WorkTimeline`].
const MAX_ENTRIES: u32 = 4096;

/// How a query is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One thread, with a heap.
    Thread,
    /// A warp whose threads each answer one query with a heap.
    ThreadPerQuery,
    /// A warp, with a buffer and merges.
    Warp,
}

impl Strategy {
    /// All strategies, in column order.
    pub const ALL: [Self; 3] = [Self::Thread, Self::ThreadPerQuery, Self::Warp];

    /// Its name as a column head.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thread => "one thread",
            Self::ThreadPerQuery => "thread per query",
            Self::Warp => "the warp",
        }
    }
}

/// The work done by the time that a number of points have been seen.
#[derive(Clone, Debug)]
pub(crate) struct WorkTimeline {
    /// Points, and the work before the next one began; ascending.
    so_far: Vec<(u32, Work)>,
    /// The work of the whole search.
    all: Work,
}

impl WorkTimeline {
    /// Replays a recording.
    pub(crate) fn replay(recording: &Recording) -> Self {
        let n = recording.shape().n;
        let apart = n.div_ceil(MAX_ENTRIES);
        let mut so_far: Vec<(u32, Work)> = Vec::new();
        let mut state = State::new(recording.shape());
        for step in recording.steps() {
            if let Step::Group { base: point, .. }
            | Step::Own(SpecificStep::Heap(HeapStep::OwnDistances { point, .. })) = step
                && so_far.last().is_none_or(|(last, _)| point - last >= apart)
            {
                so_far.push((*point, state.work));
            }
            state.apply(step);
        }
        Self { so_far, all: state.work }
    }

    /// The work for the first `points` of `n`, rounded down to whole groups.
    fn at(&self, points: u32, n: u32) -> Work {
        if points >= n {
            return self.all;
        }
        // The wait for a batch may precede the first point.
        if points == 0 {
            return Work::default();
        }
        let after = self.so_far.partition_point(|&(seen, _)| seen <= points);
        after.checked_sub(1).map_or_else(Work::default, |at| self.so_far[at].1)
    }
}

/// The cost of a query with each strategy.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Dimensions, d.
    pub dims: u32,
    /// Lanes of a warp, W.
    pub width: u32,
    n: u32,
    tracks: [WorkTimeline; 3],
    own: Strategy,
}

impl Meter {
    /// The meter of a recording's query, which was answered with the strategy `own`. Records the single
    /// thread.
    pub(crate) fn new(
        recording: &Recording,
        own: Strategy,
        threads: WorkTimeline,
        warp: WorkTimeline,
    ) -> Self {
        let (parameters, shape) = (&recording.parameters, recording.shape());
        let thread = record_lanes(Arc::clone(recording.problem()), recording.query(), 1, &parameters.data);
        Self {
            dims: parameters.dims,
            width: shape.width,
            n: shape.n,
            tracks: [WorkTimeline::replay(&thread), threads, warp],
            own,
        }
    }

    /// The work of a strategy at a moment of the recording: exact for the recorded one; for the others, the
    /// work for the same number of points.
    pub fn so_far(&self, strategy: Strategy, state: &State) -> Work {
        if strategy == self.own {
            state.work
        } else {
            self.tracks[strategy as usize].at(state.counts.points_seen, self.n)
        }
    }

    /// The work of a strategy for the whole search.
    pub fn all(&self, strategy: Strategy) -> Work {
        self.tracks[strategy as usize].all
    }

    /// A row's number for a strategy; `None` if the row does not apply.
    pub fn number(&self, row: &Row, strategy: Strategy, work: &Work) -> Option<f64> {
        (row.number)(&RowInput {
            work,
            strategy,
            dims: self.dims,
            width: if strategy == Strategy::Thread { 1 } else { self.width },
        })
    }
}

/// The input of a row.
struct RowInput<'a> {
    work: &'a Work,
    strategy: Strategy,
    dims: u32,
    /// Lanes that execute it.
    width: u32,
}

impl RowInput<'_> {
    /// A query's share.
    fn share(&self, number: u64) -> f64 {
        let queries = if self.strategy == Strategy::ThreadPerQuery { self.width } else { 1 };
        number as f64 / f64::from(queries)
    }

    /// Executions by lanes.
    fn lanes(&self, kind: Kind) -> u64 {
        self.work.issued(kind).lanes
    }

    /// Instructions issued; one thread needs no barrier.
    fn slots(&self) -> u64 {
        let is_thread = self.strategy == Strategy::Thread;
        let barriers = if is_thread { self.work.issued(Kind::Barrier).times } else { 0 };
        self.work.slots(self.dims) - barriers
    }

    /// A count that a single thread does not have.
    fn warp_only(&self, number: u64) -> Option<f64> {
        (self.strategy != Strategy::Thread).then(|| self.share(number))
    }
}

/// A row of the meter.
pub struct Row {
    /// A few words.
    pub name: &'static str,
    /// Its unit, singular and plural.
    pub unit: [&'static str; 2],
    /// Its help text.
    pub help: &'static str,
    number: fn(&RowInput<'_>) -> Option<f64>,
}

/// The rows of the meter.
pub static ROWS: [Row; 10] = [
    Row {
        name: "distances",
        unit: ["distance", "distances"],
        help: "Squared distances to points, computed in lanes.",
        number: |cost| Some(cost.share(cost.lanes(Kind::Distance))),
    },
    Row {
        name: "comparisons",
        unit: ["comparison", "comparisons"],
        help: "Comparisons of distances and of keys, in lanes. In a layer between lanes, both lanes of a \
               pair compare.",
        number: |cost| Some(cost.share(cost.lanes(Kind::Comparison))),
    },
    Row {
        name: "reads",
        unit: ["read", "reads"],
        help: "Values that lanes read from shared memory: coordinates of points, and keys of a heap or of \
               the buffer.",
        number: |cost| {
            Some(cost.share(cost.lanes(Kind::Read) + u64::from(cost.dims) * cost.lanes(Kind::Distance)))
        },
    },
    Row {
        name: "writes",
        unit: ["write", "writes"],
        help: "Keys that lanes wrote to shared memory: to a heap or to the buffer.",
        number: |cost| Some(cost.share(cost.lanes(Kind::Write))),
    },
    Row {
        name: "shuffles",
        unit: ["shuffle", "shuffles"],
        help: "Shuffles of one key per lane, issued for the warp: in layers between lanes, and one per \
               merge for the k-th.",
        number: |cost| cost.warp_only(cost.work.issued(Kind::Shuffle).times),
    },
    Row {
        name: "votes",
        unit: ["vote", "votes"],
        help: "Ballots, and counts of their bits, issued for the warp.",
        number: |cost| cost.warp_only(cost.work.issued(Kind::Vote).times),
    },
    Row {
        name: "barriers",
        unit: ["barrier", "barriers"],
        help: "Barriers of the warp, and waits for a batch of points.",
        number: |cost| cost.warp_only(cost.work.issued(Kind::Barrier).times),
    },
    Row {
        name: "issue slots",
        unit: ["slot", "slots"],
        help: "Instructions issued, of all kinds above: a distance takes three per dimension. A warp of \
               threads issues them for W queries, so a query counts 1/W.",
        number: |cost| Some(cost.share(cost.slots())),
    },
    Row {
        name: "until answered",
        unit: ["slot", "slots"],
        help: "Instructions issued until the query is answered. With a thread per query, it is answered \
               when all W are.",
        number: |cost| Some(cost.slots() as f64),
    },
    Row {
        name: "idle lanes",
        unit: ["%", "%"],
        help: "Share of the lanes' slots in which a lane was masked out or had no point, in percent.",
        number: |cost| {
            let slots = cost.work.slots(cost.dims) * u64::from(cost.width);
            (cost.strategy != Strategy::Thread && slots > 0)
                .then(|| 100.0 * (1.0 - cost.work.lane_slots(cost.dims) as f64 / slots as f64))
        },
    },
];

/// A row's number in words: whole ones in full, shares with three digits.
pub fn words(number: f64) -> String {
    if number == number.trunc() {
        thousands(number as u64)
    } else if number >= 1000.0 {
        thousands(number.round() as u64)
    } else {
        significant(number)
    }
}
