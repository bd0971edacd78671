//! The instructions that a step of the kernel, or of per-thread heaps, makes a warp execute.
//!
//! [`STEP_INSTRUCTIONS`] has a row for each kind of instruction in a step, with its place in `cuda/`. It
//! counts distances, comparisons of distances and keys, shuffles, votes (ballots and population counts),
//! accesses to shared memory, and barriers. It does not count the overhead of any loop (addresses, counters,
//! jumps, selecting a value after a comparison), loading points into shared memory, which all strategies need
//! alike, or writing the answer to device memory.
//!
//! An instruction is issued once for the whole warp, and the lanes that a branch masks out, or that have no
//! point, are idle in it.

use std::ops::AddAssign;

use super::algorithms::heap::state::{BRANCHED, EXTRACTED, OWN_DISTANCES, REJOINED, SANK};
use super::state::State;
use super::step::Step;

/// A kind of instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A squared distance. In d dimensions it takes d reads of shared memory, d subtractions and d fused
    /// multiply-adds.
    Distance,
    /// A comparison of two distances or two keys.
    Comparison,
    /// A shuffle of one key per lane.
    Shuffle,
    /// A ballot, or the count of its bits.
    Vote,
    /// A read of one key per lane from shared memory.
    Read,
    /// A write of one key per lane to shared memory.
    Write,
    /// A barrier of the warp.
    Barrier,
}

impl Kind {
    /// Number of kinds.
    pub const COUNT: usize = 7;

    /// All kinds, in the order of [`Work`].
    pub const ALL: [Self; Self::COUNT] =
        [Self::Distance, Self::Comparison, Self::Shuffle, Self::Vote, Self::Read, Self::Write, Self::Barrier];

    /// Instructions per operation of this kind, in d dimensions.
    pub fn instructions(self, dims: u32) -> u64 {
        if self == Self::Distance { 3 * u64::from(dims) } else { 1 }
    }
}

/// How often instructions of a kind were issued, and in how many lanes they were active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IssueCounts {
    /// Issued for the whole warp.
    pub times: u64,
    /// Executions by active lanes: at most W per instruction.
    pub lanes: u64,
}

/// Issued instructions per kind, in the order of [`Kind::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work([IssueCounts; Kind::COUNT]);

impl Work {
    /// The issued instructions of a kind.
    pub fn issued(&self, kind: Kind) -> IssueCounts {
        self.0[kind as usize]
    }

    /// Instructions that the warp issued, in d dimensions.
    pub fn slots(&self, dims: u32) -> u64 {
        Kind::ALL.iter().map(|&kind| kind.instructions(dims) * self.issued(kind).times).sum()
    }

    /// Lane slots in use: at most W times [`Work::slots`].
    pub fn lane_slots(&self, dims: u32) -> u64 {
        Kind::ALL.iter().map(|&kind| kind.instructions(dims) * self.issued(kind).lanes).sum()
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, more: Self) {
        for (sum, more) in self.0.iter_mut().zip(more.0) {
            sum.times += more.times;
            sum.lanes += more.lanes;
        }
    }
}

/// An instruction of a step.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// Its kind.
    pub kind: Kind,
    /// A file by its path below `cuda/`, and a text in it, on the line with the instruction.
    pub source: (&'static str, &'static str),
    /// Computes the count from the step and the state before it.
    issued: fn(&Step, &State) -> IssueCounts,
}

pub(crate) const fn instruction(
    kind: Kind,
    file: &'static str,
    search: &'static str,
    issued: fn(&Step, &State) -> IssueCounts,
) -> Instruction {
    Instruction { kind, source: (file, search), issued }
}

/// The instructions of a step, in the order in which they are issued.
pub fn step_work(step: &Step, before: &State) -> Work {
    let mut work = Work::default();
    for instruction in instructions(step) {
        let IssueCounts { times, lanes } = (instruction.issued)(step, before);
        let sum = &mut work.0[instruction.kind as usize];
        sum.times += times;
        sum.lanes += lanes;
    }
    work
}

/// Issued `times` times, in all lanes.
pub(crate) fn all_lanes(times: u32, before: &State) -> IssueCounts {
    IssueCounts { times: times.into(), lanes: u64::from(times) * u64::from(before.shape.width) }
}

/// Issued once in `lanes` lanes; not at all for 0.
pub(crate) fn once(lanes: u32) -> IssueCounts {
    IssueCounts { times: u64::from(lanes > 0), lanes: lanes.into() }
}

/// Lanes of the current group that have a point.
fn lanes_with_point(base: Option<u32>, before: &State) -> IssueCounts {
    let shape = before.shape;
    IssueCounts { times: 1, lanes: shape.n.saturating_sub(base.unwrap_or(0)).min(shape.width).into() }
}

const WARP: &str = "warp/candidate_buffer.cuh";
const NETWORK: &str = "warp/bitonic.cuh";

const BATCH: &[Instruction] = &[instruction(
    Kind::Barrier,
    "direct/warp_knn.cuh",
    "const float* rows = batches.enter(batch)",
    |_, state| all_lanes(1, state),
)];

const GROUP: &[Instruction] = &[instruction(
    Kind::Distance,
    "direct/warp_knn.cuh",
    "distances[g] = squared_distance<D>(points[g], queries[i]);",
    |step, state| {
        let Step::Group { base, .. } = step else { return IssueCounts::default() };
        lanes_with_point(Some(*base), state)
    },
)];

const BALLOT: &[Instruction] = &[
    instruction(
        Kind::Comparison,
        WARP,
        "unsigned candidates = __ballot_sync(ALL_LANES, distance < max_distance);",
        |_, state| lanes_with_point(state.group, state),
    ),
    instruction(
        Kind::Vote,
        WARP,
        "unsigned candidates = __ballot_sync(ALL_LANES, distance < max_distance);",
        |_, state| all_lanes(1, state),
    ),
];

const POSITIONS: &[Instruction] = &[instruction(
    Kind::Vote,
    WARP,
    "unsigned slot = buffered + __popc(candidates & lanes_below(lane));",
    |_, state| all_lanes(1, state),
)];

/// The ballot of lanes without a slot is held even if there are none.
const APPENDED: &[Instruction] = &[
    instruction(Kind::Write, WARP, "buffer[slot] = key_of(distance, base + lane);", |step, _| {
        if let Step::Appended { placed } = step { once(placed.len() as u32) } else { IssueCounts::default() }
    }),
    instruction(
        Kind::Vote,
        WARP,
        "unsigned appended = min(static_cast<unsigned>(__popc(candidates)), CAPACITY - buffered);",
        |_, state| all_lanes(1, state),
    ),
    instruction(
        Kind::Vote,
        WARP,
        "candidates = __ballot_sync(ALL_LANES, candidate && !appends",
        |_, state| all_lanes(1, state),
    ),
];

const BUFFER_FULL: &[Instruction] = &[instruction(
    Kind::Vote,
    WARP,
    "unsigned last = WARP - 1 - __clz(__ballot_sync(ALL_LANES, appends));",
    |_, state| all_lanes(1, state),
)];

const FILTERED_AGAIN: &[Instruction] =
    &[instruction(Kind::Comparison, WARP, "candidate && !appends && distance < max_distance", |step, _| {
        if let Step::FilteredAgain { rest, .. } = step {
            once(rest.count_ones())
        } else {
            IssueCounts::default()
        }
    })];

const PADDED: &[Instruction] = &[instruction(Kind::Write, WARP, "buffer[slot] = PADDING;", |step, state| {
    let Step::Padded { first } = step else { return IssueCounts::default() };
    let slots = state.shape.capacity() - first;
    IssueCounts { times: slots.div_ceil(state.shape.width).into(), lanes: slots.into() }
})];

const SWAP: &[Instruction] = &[
    instruction(Kind::Barrier, WARP, "// Other lanes wrote the slots that a lane reads.", |_, state| {
        all_lanes(1, state)
    }),
    instruction(Kind::Read, WARP, "Key candidate = buffer[r * WARP + lane];", |_, state| {
        all_lanes(state.shape.registers, state)
    }),
    instruction(Kind::Write, WARP, "buffer[r * WARP + lane] = keys[r];", |_, state| {
        all_lanes(state.shape.registers, state)
    }),
];

/// Between lanes, both lanes of a pair compare; within a lane, one comparison is enough.
const LAYER: &[Instruction] =
    &[
        instruction(
            Kind::Shuffle,
            NETWORK,
            "Key other = __shfl_xor_sync(ALL_LANES, keys[r], stride);",
            |step, state| match step {
                Step::Layer { shuffle: Some(_), .. } => all_lanes(state.shape.registers, state),
                _ => IssueCounts::default(),
            },
        ),
        instruction(
            Kind::Comparison,
            NETWORK,
            "choose((other < keys[r]) == keeps_smaller, other, keys[r]);",
            |step, state| match step {
                Step::Layer { shuffle: Some(_), .. } => all_lanes(state.shape.registers, state),
                _ => IssueCounts::default(),
            },
        ),
        instruction(Kind::Comparison, NETWORK, "bool swap = (low > high) == ascending;", |step, state| {
            match step {
                Step::Layer { shuffle: None, .. } => all_lanes(state.shape.registers / 2, state),
                _ => IssueCounts::default(),
            }
        }),
    ];

const MINIMUM: &[Instruction] = &[
    instruction(
        Kind::Barrier,
        WARP,
        "// shuffles of the sort do not order shared memory, so that takes a barrier.",
        |_, state| all_lanes(1, state),
    ),
    instruction(
        Kind::Read,
        WARP,
        "Key other = buffer[(R - 1 - r) * WARP + (WARP - 1 - lane)];",
        |_, state| all_lanes(state.shape.registers, state),
    ),
    instruction(Kind::Comparison, WARP, "keys[r] = choose(other < keys[r], other, keys[r]);", |_, state| {
        all_lanes(state.shape.registers, state)
    }),
    instruction(Kind::Barrier, WARP, "// The next appends must not overtake these reads.", |_, state| {
        all_lanes(1, state)
    }),
];

const MAX_DISTANCE: &[Instruction] =
    &[instruction(Kind::Shuffle, WARP, "return __shfl_sync(ALL_LANES, mine, i / R);", |_, state| {
        all_lanes(1, state)
    })];

/// Every step that executes something, by its name in files, with its instructions.
pub const STEP_INSTRUCTIONS: [(&str, &[Instruction]); 17] = [
    ("batch", BATCH),
    ("group", GROUP),
    ("ballot", BALLOT),
    ("positions", POSITIONS),
    ("appended", APPENDED),
    ("buffer_full", BUFFER_FULL),
    ("filtered_again", FILTERED_AGAIN),
    ("padded", PADDED),
    ("swap", SWAP),
    ("layer", LAYER),
    ("minimum", MINIMUM),
    ("max_distance", MAX_DISTANCE),
    ("own_distances", OWN_DISTANCES),
    ("branched", BRANCHED),
    ("sank", SANK),
    ("rejoined", REJOINED),
    ("extracted", EXTRACTED),
];

/// The instructions of a step.
pub fn instructions(step: &Step) -> &'static [Instruction] {
    match step {
        Step::Batch { .. } => BATCH,
        Step::Group { .. } => GROUP,
        Step::Ballot { .. } => BALLOT,
        Step::Positions { .. } => POSITIONS,
        Step::Appended { .. } => APPENDED,
        Step::BufferFull => BUFFER_FULL,
        Step::FilteredAgain { .. } => FILTERED_AGAIN,
        Step::Padded { .. } => PADDED,
        Step::Swap => SWAP,
        Step::Layer { .. } => LAYER,
        Step::Minimum { .. } => MINIMUM,
        Step::MaxDistance { .. } => MAX_DISTANCE,
        Step::Own(step) => step.get().instructions(),
        Step::Finished => &[],
    }
}
