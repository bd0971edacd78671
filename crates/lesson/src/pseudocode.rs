//! The kernel, the tree's traversal and the selections as pseudocode, and the matching lines of `cuda/`.

use super::step::{Pass, Step};

/// A line of pseudocode with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Indentation level, from 0.
    pub depth: usize,
    /// The text without indentation.
    pub text: &'static str,
    /// A file by its path below `cuda/`, and a text that occurs exactly once in it, on the matching line.
    pub source: Option<(&'static str, &'static str)>,
}

const fn line(depth: usize, text: &'static str, file: &'static str, search: &'static str) -> Line {
    Line { depth, text, source: Some((file, search)) }
}

const fn plain(depth: usize, text: &'static str) -> Line {
    Line { depth, text, source: None }
}

/// An algorithm in two parts.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// All lines; an empty one before the second part.
    pub lines: &'static [Line],
    /// The index of the second part's first line.
    pub second: usize,
    /// What it is the code of: all of it, and each part.
    pub says: [&'static str; 3],
    line_of: fn(&Step) -> Option<usize>,
}

impl Code {
    /// Index of the line that a step executes; `None` for a step of another algorithm.
    pub fn line_of(&self, step: &Step) -> Option<usize> {
        (self.line_of)(step)
    }
}

/// The kernel: the search, then the merge.
pub static KERNEL: Code = Code {
    lines: &SCAN,
    second: 16,
    says: ["The kernel, in short", "The kernel, in short: its search", "The kernel, in short: its merge"],
    line_of: line_of_scan,
};

/// The traversal of a tree: its nodes, then its leaves.
pub static TRAVERSAL: Code = Code {
    lines: &TREE,
    second: 12,
    says: ["The traversal, in short", "The traversal, in short: a node", "The traversal, in short: a leaf"],
    line_of: line_of_tree,
};

/// Warp select: its way through the points, then a merge.
pub static QUEUES: Code = Code {
    lines: &LANES,
    second: 8,
    says: ["Warp select, in short", "Warp select, in short: its search", "Warp select, in short: its merge"],
    line_of: line_of_queues,
};

/// A selection by digits: its passes, then what is kept.
pub static SELECTION: Code = Code {
    lines: &DIGITS,
    second: 10,
    says: ["Radix selection, in short", "Radix selection, in short: its passes", "Radix selection, in short: its answer"],
    line_of: line_of_digits,
};

/// Threads with a query each: their way through the points, then a key that sinks.
pub static HEAPS: Code = Code {
    lines: &THREADS,
    second: 9,
    says: ["A heap in each thread, in short", "A heap in each thread: its search", "A heap in each thread: a key sinks"],
    line_of: line_of_threads,
};

const SEARCH: &str = "direct/warp_knn.cuh";
const BUFFER: &str = "warp/candidate_buffer.cuh";
const NETWORK: &str = "warp/bitonic.cuh";

const SCAN: [Line; 30] = [
    plain(0, "for each batch of points:"),
    line(1, "the block loads the batch into shared memory", SEARCH, "const float* rows = batches.enter(batch)"),
    line(1, "barrier of the block: the whole batch has arrived", SEARCH, "const float* rows = batches.enter(batch)"),
    plain(1, "for each group of W points in it, one a lane:"),
    line(2, "distance \u{2190} squared distance of my point to the query", SEARCH, "distances[g] = squared_distance<D>(points[g], queries[i]);"),
    line(
        2,
        "candidates \u{2190} ballot(distance < max_distance)",
        BUFFER,
        "unsigned candidates = __ballot_sync(ALL_LANES, distance < max_distance);",
    ),
    plain(2, "while candidates \u{2260} 0:"),
    line(
        3,
        "slot \u{2190} buffered + popcount(candidates & lanes below me)",
        BUFFER,
        "unsigned slot = buffered + __popc(candidates & lanes_below(lane));",
    ),
    line(3, "if I vote and slot < K: buffer[slot] \u{2190} (distance, point)", BUFFER, "buffer[slot] = key_of(distance, base + lane);"),
    plain(3, "buffered \u{2190} buffered + slots written"),
    line(3, "if buffered = K: merge", BUFFER, "if (buffered == CAPACITY) {"),
    line(
        3,
        "candidates \u{2190} ballot(I vote, had no slot, and distance < max_distance)",
        BUFFER,
        "candidate && !appends && distance < max_distance",
    ),
    line(1, "barrier of the block: all warps have read the batch", SEARCH, "batches.leave(batch);"),
    line(0, "if buffered > 0: fill the buffer up with \u{221e}, merge", BUFFER, "buffer[slot] = PADDING;"),
    line(
        0,
        "the first k elements are the neighbours",
        BUFFER,
        "__device__ __forceinline__ void write(unsigned* indices, float* squared_distances) const {",
    ),
    plain(0, ""),
    plain(0, "merge:"),
    line(
        1,
        "barrier of the warp: all lanes have written their candidates",
        BUFFER,
        "// Slots were written by other lanes than those that read them.",
    ),
    line(1, "swap the buffer and the registers", BUFFER, "keys[r] = candidate;"),
    plain(1, "for size \u{2190} 2, 4, \u{2026} K, for stride \u{2190} size/2, \u{2026} 2, 1:"),
    line(
        2,
        "stride \u{2265} R: other \u{2190} shuffle(mine, lane ^ stride/R); keep the smaller or the larger",
        NETWORK,
        "Key other = __shfl_xor_sync(ALL_LANES, keys[r], stride);",
    ),
    line(2, "stride < R: compare and exchange two registers of my own", NETWORK, "exchange_in_lane(keys[low], keys[low + STRIDE], ascending(low));"),
    line(
        1,
        "barrier of the warp: the intermediate result is in the buffer",
        BUFFER,
        "// shuffles of the sort do not order shared memory, so that takes a barrier.",
    ),
    line(
        1,
        "element i \u{2190} min(element i, element K\u{2212}1\u{2212}i of the buffer)",
        BUFFER,
        "Key other = buffer[(R - 1 - r) * WARP + (WARP - 1 - lane)];",
    ),
    line(1, "barrier of the warp: all lanes have read the buffer", BUFFER, "// What is appended next must not overtake these reads."),
    plain(1, "for stride \u{2190} K/2, \u{2026} 2, 1:"),
    line(
        2,
        "stride \u{2265} R: other \u{2190} shuffle(mine, lane ^ stride/R); keep the smaller or the larger",
        NETWORK,
        "Key other = __shfl_xor_sync(ALL_LANES, keys[r], stride);",
    ),
    line(2, "stride < R: compare and exchange two registers of my own", NETWORK, "exchange_in_lane(keys[low], keys[low + STRIDE], ascending(low));"),
    plain(1, "buffered \u{2190} 0"),
    line(1, "max_distance \u{2190} distance of element k\u{2212}1", BUFFER, "max_distance = distance_of(element(k - 1));"),
];

const TRAVERSE: &str = "index/traverse.cuh";
const NEAREST: &str = "index/nearest.cuh";

const TREE: [Line; 23] = [
    line(0, "own \u{2190} the leaf where the query's code would be; filter own", TRAVERSE, "unsigned leaf_of(const Tree& tree"),
    plain(0, "visit a node, first the root:"),
    line(1, "box \u{2190} the box of my child of the node", "index/boxes.cuh", "const float* low = tree.corners"),
    line(
        1,
        "key \u{2190} (squared distance of clamp(query, box), smallest position in box)",
        "index/boxes.cuh",
        "acc = add_squared_difference(clamp(query[j]",
    ),
    plain(1, "loop:"),
    plain(2, "nearest \u{2190} the smallest key of the warp"),
    line(2, "if nearest \u{2265} the k-th key: leave out what is left, and return", TRAVERSE, "if (nearest >= warp.last) {"),
    line(2, "the lane that holds nearest: key \u{2190} \u{221e}", TRAVERSE, "child = mine ? PADDING : child;"),
    plain(2, "filter its child, if it is a leaf; or else visit it"),
    line(0, "if buffered > 0: fill the buffer up with \u{221e}, merge", BUFFER, "buffer[slot] = PADDING;"),
    line(
        0,
        "the first k elements are the neighbours",
        BUFFER,
        "__device__ __forceinline__ void write(unsigned* indices, float* squared_distances) const {",
    ),
    plain(0, ""),
    plain(0, "filter a leaf:"),
    line(1, "key \u{2190} (squared distance of my point, its position)", TRAVERSE, "acc = add_squared_difference(point[j * WARP], query[j], acc);"),
    line(1, "candidates \u{2190} ballot(key < the k-th key)", NEAREST, "unsigned candidates = __ballot_sync(ALL_LANES, key < last);"),
    plain(1, "while candidates \u{2260} 0:"),
    line(2, "slot \u{2190} buffered + popcount(candidates & lanes below me)", NEAREST, "unsigned slot = this->buffered"),
    line(2, "if I vote and slot < K: buffer[slot] \u{2190} key", NEAREST, "this->buffer[slot] = key;"),
    plain(2, "buffered \u{2190} buffered + slots written"),
    line(2, "if buffered = K:", NEAREST, "if (this->buffered == Warp::CAPACITY) {"),
    line(3, "merge the buffer into the intermediate result", NEAREST, "this->merge_buffer(points_seen);"),
    line(3, "the k-th key \u{2190} element k\u{2212}1", NEAREST, "last = this->element(this->k - 1);"),
    line(2, "candidates \u{2190} ballot(I vote, had no slot, and key < the k-th key)", NEAREST, "candidate && !appends && key < last"),
];

fn line_of_tree(step: &Step) -> Option<usize> {
    Some(match step {
        Step::OwnLeaf { .. } => 0,
        Step::Node { .. } => 2,
        Step::Boxes { .. } => 3,
        Step::LeftOut { .. } => 6,
        Step::Child { .. } => 7,
        Step::Padded { .. } => 9,
        Step::Finished => 10,
        Step::Leaf { .. } => 13,
        Step::Ballot { .. } => 14,
        Step::Positions { .. } => 16,
        Step::Appended { .. } => 17,
        Step::BufferFull => 19,
        Step::Merged => 20,
        Step::MaxDistance { .. } => 21,
        Step::FilteredAgain { .. } => 22,
        _ => return None,
    })
}

fn line_of_scan(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Batch { .. } => 1,
        Step::Group { .. } => 4,
        Step::Ballot { .. } => 5,
        Step::Positions { .. } => 7,
        Step::Appended { .. } => 8,
        Step::BufferFull => 10,
        Step::FilteredAgain { .. } => 11,
        Step::Padded { .. } => 13,
        Step::Finished => 14,
        Step::Swap => 18,
        Step::Layer { pass: Pass::Sort, shuffle: Some(_), .. } => 20,
        Step::Layer { pass: Pass::Sort, shuffle: None, .. } => 21,
        Step::Minimum { .. } => 23,
        Step::Layer { pass: Pass::Resort, shuffle: Some(_), .. } => 26,
        Step::Layer { pass: Pass::Resort, shuffle: None, .. } => 27,
        Step::MaxDistance { .. } => 29,
        _ => return None,
    })
}

const WARP_SELECT: &str = "select/warp_select.cuh";

const LANES: [Line; 14] = [
    line(0, "my queue, Q keys, and the warp's, K keys: all \u{221e}", WARP_SELECT, "lane_queue[i] = PADDING;"),
    plain(0, "for each group of W points, one a lane:"),
    line(1, "distance \u{2190} that of my point", WARP_SELECT, "queues.add(distance, batch * BATCH"),
    line(1, "if distance < the first key of my queue: drop that, insert (distance, point)", WARP_SELECT, "bool inserts = takes(distance);"),
    line(1, "if the first key of any lane < the k-th: merge", WARP_SELECT, "bool broken = __any_sync(ALL_LANES, lane_queue[0] < limit);"),
    line(0, "merge once more", WARP_SELECT, "selection.distances + query * selection.pitch, selection.n, 0, 1);"),
    line(
        0,
        "the first k keys of the warp's queue are the neighbours",
        WARP_SELECT,
        "__device__ __forceinline__ void write(unsigned* indices, float* squared_distances) const {",
    ),
    plain(0, ""),
    plain(0, "merge:"),
    line(1, "sort the queues of all lanes as one list", WARP_SELECT, "warp::sort_any(lane_queue, lane);"),
    line(
        1,
        "element K\u{2212}1\u{2212}i of the warp's queue \u{2194} element i of the list: the smaller is the warp's",
        WARP_SELECT,
        "Key to_warp = __shfl_xor_sync(ALL_LANES, lane_queue[i], WARP - 1);",
    ),
    line(1, "sort the warp's queue, which is bitonic", "warp/network.cuh", "void merge_any(Key (&keys)[R], unsigned lane) {"),
    line(1, "sort my queue, the largest key first", WARP_SELECT, "for (int round = 0; round < Q; ++round) {"),
    line(1, "the k-th \u{2190} element k\u{2212}1 of the warp's queue", WARP_SELECT, "limit = __shfl_sync(ALL_LANES, mine, (k - 1) % WARP);"),
];

fn line_of_queues(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Queues { .. } => 0,
        Step::Group { .. } => 2,
        Step::Inserted { .. } => 3,
        Step::Checked { .. } => 4,
        Step::Drained => 5,
        Step::Finished => 6,
        Step::QueuesSorted => 9,
        Step::Exchanged { .. } => 10,
        Step::WarpQueueSorted => 11,
        Step::QueuesDescend => 12,
        Step::MaxDistance { .. } => 13,
        _ => return None,
    })
}

const PASSES: &str = "select/multi_pass.cuh";

const DIGITS: [Line; 14] = [
    plain(0, "distances \u{2190} those of all points; bits \u{2190} these as numbers"),
    plain(0, "left \u{2190} all points; rank \u{2190} k"),
    plain(0, "for each digit, the most significant one first:"),
    line(1, "counts \u{2190} how many that are left have which digit", PASSES, "atomicAdd(&memory.counters[of[item] * copies + copy], 1);"),
    line(1, "sums \u{2190} the counts, added up", PASSES, "unsigned below = block::exclusive_sum(own, memory.sums);"),
    line(1, "bucket \u{2190} the first whose sum \u{2265} rank", PASSES, "memory.found = {bucket, below, size};"),
    plain(1, "rank \u{2190} rank \u{2212} the sum before it; left \u{2190} its points"),
    plain(1, "if rank = the number that are left: stop"),
    line(
        1,
        "if no more than half of what was read is left: write them side by side",
        PASSES,
        "Taken taken = in_order(memory.order, source, class_of",
    ),
    plain(0, ""),
    plain(0, "look at all points once more:"),
    line(1, "keep those before the bucket, and the first of it up to rank", PASSES, "in_order(memory.order, last, class_of"),
    plain(1, "sort these k"),
    plain(0, "they are the neighbours"),
];

fn line_of_digits(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Digits { .. } => 0,
        Step::Counted { .. } => 3,
        Step::Summed { .. } => 4,
        Step::Bucket { .. } => 5,
        Step::Narrowed => 8,
        Step::Gathered { .. } => 11,
        Step::Sorted => 12,
        Step::Finished => 13,
        _ => return None,
    })
}

const HEAP: &str = "kdtree/heap.cuh";
const THREAD_HEAP: &str = "select/thread_heap.cuh";

const THREADS: [Line; 14] = [
    line(0, "my heap, k keys, the largest at its root: all \u{221e}", HEAP, "at(i) = PADDING;"),
    plain(0, "for each point, the same in all lanes:"),
    line(1, "distance \u{2190} that of the point to my query", THREAD_HEAP, "float distance = tile[lane][point];"),
    line(1, "if distance < my root:", THREAD_HEAP, "if (distance < bound) {"),
    plain(2, "(distance, point) sinks from the root, in place of what was there"),
    line(2, "my root \u{2190} the largest that is left", THREAD_HEAP, "bound = distance_of(heap.root);"),
    line(0, "for end \u{2190} k, \u{2026} 2: root \u{2194} entry end\u{2212}1, which sinks among those before it", HEAP, "at(end - 1) = at(0);"),
    line(0, "the k keys, now ascending, are the neighbours", THREAD_HEAP, "selection.indices[at + i] = index_of(heap.at(i));"),
    plain(0, ""),
    plain(0, "a key sinks:"),
    plain(1, "while its entry has children:"),
    plain(2, "child \u{2190} the larger of the two"),
    plain(2, "if child \u{2264} key: stop"),
    line(2, "child \u{2194} key", HEAP, "at(hole) = larger;"),
];

fn line_of_threads(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Heaps { .. } => 0,
        Step::OwnDistances { .. } => 2,
        Step::Branched { .. } => 3,
        Step::Rejoined { .. } => 5,
        Step::Extracted { .. } => 6,
        Step::Finished => 7,
        Step::Sank { .. } => 13,
        _ => return None,
    })
}
