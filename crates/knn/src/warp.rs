//! Measures and phases of the warp-per-query search (rules 6 and 7), shared by the kernel and its CPU twin.

use super::{Buffer, Counters, MeanBound, Measure, MemorySpace, ProfilePhase, Shape, theory};

/// The largest k that a warp holds in registers.
pub const MAX_K: usize = 1024;

/// Data structures of the warp-per-query search.
pub const BUFFERS: [Buffer; 4] = [
    Buffer::new(
        MemorySpace::Registers,
        "intermediate result: K nearest so far, sorted, consecutive ones in a lane",
        "a warp",
        Shape::capacity,
    ),
    Buffer::new(MemorySpace::Shared, "candidate buffer", "a warp", Shape::capacity),
    Buffer::new(MemorySpace::Shared, "batch of points", "a block", |_| 0),
    Buffer::new(MemorySpace::Memory, "points", "all queries", Shape::points),
];

const SOURCE: &str = "Hanák 2023, §4.1.6";

/// The columns of `merges.csv`, in the order of [`Counters`].
pub const MEASURES: [Measure; 3] = [
    Measure {
        name: "merges",
        unit: ["merge", "merges"],
        help: "Merges of the candidate buffer into the intermediate result.",
        theory: Some(MeanBound {
            mean: |shape| theory::expected_merges(shape.n, shape.k, theory::capacity(shape.k)),
            condition: "in random order",
            source: SOURCE,
        }),
        worst_case: Some(|shape| theory::worst_case_merges(shape.n, theory::capacity(shape.k)) as f64),
    },
    Measure {
        name: "candidates",
        unit: ["candidate", "candidates"],
        help: "Points closer than max_distance, appended to the candidate buffer.",
        theory: Some(MeanBound {
            mean: |shape| theory::expected_candidates(shape.n, shape.k, theory::capacity(shape.k)),
            condition: "in random order",
            source: SOURCE,
        }),
        worst_case: Some(|shape: &Shape| shape.n as f64),
    },
    Measure {
        name: "groups_hit",
        unit: ["group hit", "groups hit"],
        help: "Groups of 32 points with at least one candidate in their first ballot.",
        theory: None,
        worst_case: Some(|shape: &Shape| shape.n.div_ceil(32) as f64),
    },
];

/// The measure that counts entries of the convergence history.
pub const CONVERGENCE: &str = MEASURES[0].name;

/// The phases of the profiled build, in the order of the device's table (`cuda/counters.cuh`).
pub const PHASES: [ProfilePhase; 6] = [
    ProfilePhase {
        name: "load batch",
        help: "Staging a batch in shared memory, including waits at its barriers.",
        merges: false,
    },
    ProfilePhase { name: "filter", help: "Distances and ballots.", merges: false },
    ProfilePhase { name: "insert", help: "Appending candidates.", merges: true },
    ProfilePhase { name: "sort", help: "Sorting a full buffer.", merges: true },
    ProfilePhase {
        name: "merge",
        help: "Merging the sorted buffer with the intermediate result.",
        merges: true,
    },
    ProfilePhase { name: "write-out", help: "Writing neighbours and counters.", merges: false },
];

impl Counters {
    /// Values in the order of [`MEASURES`].
    pub fn row(self) -> [u32; 3] {
        [self.merges, self.candidates, self.groups_hit]
    }
}
