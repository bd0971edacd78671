//! The lessons in order: from the problem to the whole search, then the reader's own data, then other
//! searches.
//!
//! Sizes in braces, such as `{k}`, are filled in by [`Lesson::fill_in`].

use super::cursor::Level;
use super::lessons::{Arrangement, Lesson, LessonDuration, SearchAlgorithm, SearchRange};
use super::picture::Panel::{
    Account, Ballot, Batches, Buckets, Cloud, Code, Cost, Curves, Heaps, Lanes, Meter, Network, Queues, Warp,
};
use super::picture::grid::AT_END;
use super::picture::grid::PanelGrid::{self, Columns, Rows, Show};
use super::questions::{Topic, ideas};

/// Panels of a whole search: the filter and the merge alternate.
const WHOLE: PanelGrid = Columns(&[
    (0.28, Rows(&[(0.52, Show(&[Cloud], 0)), (0.48, Show(&[Account], 3))])),
    (0.45, Rows(&[(0.5, Show(&[Warp], 2)), (0.5, Show(&[Ballot, Network, Batches], 1))])),
    (0.27, Show(&[Code], 4)),
]);

/// Panels of a sort, which opens with the keys in the lanes.
const SORT: PanelGrid = Columns(&[
    (0.5, Show(&[Network], 1)),
    (
        0.5,
        Rows(&[
            (0.56, Show(&[Warp], 0)),
            (0.44, Columns(&[(0.46, Show(&[Cloud], 3)), (0.54, Show(&[Code], 4))])),
        ]),
    ),
]);

/// Panels of another search, whose own panel is beside the points.
macro_rules! search {
    ($main:ident, $left:literal, $high:literal) => {
        Columns(&[
            ($left, Show(&[Cloud], 0)),
            (
                1.0 - $left,
                Rows(&[
                    ($high, Show(&[$main], 1)),
                    (1.0 - $high, Columns(&[(0.48, Show(&[Account], 3)), (0.52, Show(&[Code], 4))])),
                ]),
            ),
        ])
    };
}

/// Defaults of the lessons about the kernel.
const KERNEL: Lesson = Lesson {
    number: 0,
    id: "",
    title: "",
    goal: "",
    prerequisites: &[],
    opening: "",
    paragraph: "",
    summary: "",
    minutes: LessonDuration::OffRoute(3),
    own_data: false,
    generator: "uniform:d=2",
    points_per_element: 64,
    seed: 0,
    k: 32,
    width: 32,
    batch: None,
    search: SearchAlgorithm::Kernel,
    arrangements: &[Arrangement::AsDrawn],
    shows: SearchRange::Whole,
    grid: WHOLE,
    level: Level::Merge,
    topics: &[],
    ideas: &[],
};

/// All lessons, in order of their numbers.
pub const LESSONS: [Lesson; 13] = numbered([
    Lesson {
        id: "problem",
        title: "The problem: the k nearest of many",
        goal: "Learn what is computed, and why not all points are sorted.",
        opening: "Which {k} of these {n} points are nearest to the query, the cross? And do all of \
                  them have to be sorted to find out?",
        paragraph: "Among {n} points we want the {k} nearest to the query. Sorting all points by distance \
                    would find them, but would also order {n - k} points that are not neighbours. It is \
                    enough to keep the {k} nearest of the points seen so far: the intermediate result. The \
                    distance of its farthest point is the bound: its square is called max_distance, and the \
                    circle around the query shows it. A point outside the circle is rejected after one \
                    comparison. A point inside it is a candidate, and waits in a buffer. When the buffer is \
                    full, a merge keeps the {k} nearest of both: the farthest drop out, and the circle \
                    shrinks. The smaller the circle, the fewer points fall into it. Step on and watch: at \
                    first every point is a candidate; at the end hardly any is.",
        summary: "Keep the {k} nearest so far, and compare every new point with one number: the distance of \
                  the farthest of these.",
        minutes: LessonDuration::OnRoute(2),
        points_per_element: 32,
        seed: 31,
        shows: SearchRange::Circle,
        topics: &[Topic::Merges],
        ideas: &ideas::PROBLEM,
        grid: Columns(&[(0.62, Show(&[Cloud], 0)), (0.38, Show(&[Account], 2))]),
        ..KERNEL
    },
    Lesson {
        id: "heap",
        title: "One thread, one heap",
        goal: "See why one query per thread makes a warp diverge, and what to do instead.",
        prerequisites: &["problem"],
        opening: "Each of {W} threads searches for its own query. What do the others do while one of them \
                  inserts a point?",
        paragraph: "One thread finds the {k} nearest with a heap: a tree of {k} keys with the largest, the \
                    k-th so far, at its root. A point that is not below the root is rejected after one \
                    comparison. Any other point replaces the root and sinks to its level. Now give every \
                    thread of a warp its own query and heap; the lesson begins where all heaps are full. \
                    All threads compare the same point, but a warp executes one instruction at a time: if \
                    the point is below the root of a single lane, all other lanes are masked out until its \
                    key has sunk. A lane seldom has a key to insert, but some lane often does, so the warp \
                    stops again and again, and the other lanes wait. A warp that works on one query never \
                    diverges like that: its lanes vote, write side by side and merge together. At the end, \
                    the meter counts the instructions of one query in all three ways: a warp of threads \
                    issues about as many per query as a warp that works on one, but answers its first query \
                    only when it has answered all of them.",
        summary: "Give the whole warp one query: lanes that vote and write together do not wait for one \
                  another.",
        minutes: LessonDuration::OnRoute(3),
        points_per_element: 16,
        seed: 37,
        k: 15,
        width: 8,
        search: SearchAlgorithm::Heap,
        shows: SearchRange::Waiting,
        level: Level::Stage,
        topics: &[Topic::Inserts, Topic::Waits, Topic::Rounds, Topic::Idle],
        ideas: &ideas::HEAP,
        grid: Columns(&[
            (0.34, Rows(&[(0.56, Show(&[Cloud], 0)), (0.44, Show(&[Code], 6))])),
            (0.66, Rows(&[(0.58, Show(&[Heaps], 1)), (0.42, Show(&[Meter], 4))])),
        ]),
        ..KERNEL
    },
    Lesson {
        id: "buffer",
        title: "The ballot and the buffer",
        goal: "Follow candidates from the vote of the lanes to their slots.",
        prerequisites: &["problem"],
        opening: "Each lane looks at one point, and some points are candidates. How does each \
                  candidate find a free slot of the buffer, without a lock?",
        paragraph: "A warp is {W} threads, its lanes, which run the same code. Ballots and shuffles \
                    synchronise them; where a lane reads what another lane has written to shared memory, a \
                    barrier does. Each lane computes the squared distance of one point and votes: is it \
                    below max_distance? The ballot gives every lane the same number, one bit per lane. From \
                    it a candidate computes its slot in the shared buffer: the number of slots taken, plus \
                    the number of voting lanes below its own. When all {K} slots are taken, the buffer is \
                    merged with the intermediate result, the {K} nearest so far, and max_distance falls. A \
                    candidate without a slot was compared with the old bound, so it votes again: it may be \
                    too far for the new one.",
        summary: "A ballot and a popcount replace locks: each candidate computes its own slot.",
        minutes: LessonDuration::OnRoute(3),
        points_per_element: 32,
        seed: 11,
        shows: SearchRange::Overflow,
        level: Level::Stage,
        topics: &[Topic::Votes, Topic::Slot],
        ideas: &ideas::BUFFER,
        grid: Columns(&[
            (0.62, Rows(&[(0.52, Show(&[Ballot], 1)), (0.48, Show(&[Warp], 2))])),
            (0.38, Rows(&[(0.5, Show(&[Cloud], 0)), (0.5, Show(&[Code], 3))])),
        ]),
        ..KERNEL
    },
    Lesson {
        id: "wait",
        title: "What a merge costs, and why to wait",
        goal: "See what one merge costs, and why the buffer is filled first.",
        prerequisites: &["buffer"],
        opening: "Each candidate could be merged at once. Why does it wait until the buffer is full?",
        paragraph: "A merge sorts the {K} candidates in {layers} layers of comparisons, compares each with \
                    its counterpart in the intermediate result, and needs {last} layers to restore the \
                    order: {merge} steps, in which all lanes take part. It takes as many for a single \
                    candidate as for {K}. So candidates wait until the buffer is full, and each pays a \
                    small share of one merge. Waiting has a price, too: until the merge, max_distance is \
                    larger than necessary and lets in candidates that a smaller bound would reject. For \
                    almost all data that price is small compared with the merges that are saved.",
        summary: "A merge costs the same for one candidate as for a full buffer, so it waits for a full \
                  buffer.",
        minutes: LessonDuration::OnRoute(2),
        points_per_element: 32,
        seed: 37,
        shows: SearchRange::SecondMerge,
        level: Level::Stage,
        topics: &[],
        ideas: &ideas::WAIT,
        grid: Columns(&[(0.58, Show(&[Warp], 0)), (0.42, Show(&[Cost], 2))]),
        ..KERNEL
    },
    Lesson {
        id: "sort",
        title: "Sorting in a warp: one key per lane",
        goal: "Sort keys by exchanging them with one partner lane at a time.",
        prerequisites: &["wait"],
        opening: "{W} lanes hold one key each. How can they sort the keys without waiting for one \
                  another?",
        paragraph: "Before a merge, the candidates are sorted. Every lane holds one key, a squared \
                    distance, in a register, its own fast memory. In each layer, lane L reads the key of \
                    lane L ^ stride with a shuffle, directly from the other lane's register. The two \
                    numbers differ in one bit, so each lane is the other's partner. One keeps the smaller \
                    key and the other the larger. The lane number alone decides which, never the data: \
                    ascending order where L & size is 0, descending order elsewhere. So no lane waits for \
                    another. First pairs are sorted, then runs of four, then all. Neighbouring runs are \
                    sorted in opposite directions: together they rise and then fall. Such a list is \
                    bitonic, and the layers of the next size sort it.",
        summary: "Partners and directions are fixed in advance: a bitonic network sorts without a branch.",
        minutes: LessonDuration::OnRoute(4),
        points_per_element: 1,
        seed: 3,
        k: 8,
        width: 8,
        shows: SearchRange::FirstSort,
        level: Level::Layer,
        topics: &[Topic::Partner, Topic::Swaps],
        ideas: &ideas::SORT,
        grid: SORT,
        ..KERNEL
    },
    Lesson {
        id: "wide",
        title: "Sorting in a warp: more keys than lanes",
        goal: "Sort {K} keys with {W} lanes, and see which layers need no shuffle.",
        prerequisites: &["sort"],
        opening: "There are {K} keys, but only {W} lanes. Which comparisons need no other lane?",
        paragraph: "To sort {K} keys with {W} lanes, every lane holds R = {R} consecutive keys. The network \
                    is the same, but the two elements of a comparator may now be in the same lane. With a \
                    stride below R, a lane compares two of its own registers and needs no shuffle. From \
                    stride R on, it exchanges with lane ^ (stride / R), using the same register in both. \
                    Small strides are the most frequent: of the {layers} layers for {K} keys, {inside} need \
                    no shuffle with R = {R}.",
        summary: "With consecutive keys in each lane, the most frequent layers only compare registers.",
        points_per_element: 1,
        seed: 5,
        width: 8,
        shows: SearchRange::FirstSort,
        level: Level::Layer,
        topics: &[Topic::Partner, Topic::Swaps],
        ideas: &ideas::WIDE,
        grid: SORT,
        ..KERNEL
    },
    Lesson {
        id: "merge",
        title: "Merging two sorted lists",
        goal: "Take the {K} smallest keys of two sorted lists in one step.",
        prerequisites: &["sort"],
        opening: "Two sorted lists of {K} keys: can their {K} smallest be found in a single step?",
        paragraph: "The candidates, sorted, and the intermediate result are two rising lists of {K} keys. \
                    Read backwards, the intermediate result falls: candidate i is compared with its element \
                    {K - 1} \u{2212} i, and the smaller stays. One list rises while the other falls, so \
                    they cross at most once. Before the crossing the candidate is smaller, after it the key \
                    of the intermediate result: the minimum rises to the crossing and falls after it. It is \
                    bitonic, and holds exactly the {K} smallest of all {2 K} keys: each dropped key is the \
                    largest of {K + 1}. A bitonic list needs no full sort: {last} layers, with strides from \
                    {K / 2} down to 1, put it in order.",
        summary: "Compare one list with the other in reverse: the minima are the {K} smallest keys, and \
                  they are bitonic.",
        minutes: LessonDuration::OnRoute(3),
        points_per_element: 8,
        seed: 7,
        k: 16,
        width: 16,
        shows: SearchRange::SecondMinimum,
        level: Level::Layer,
        topics: &[Topic::Taken, Topic::Partner, Topic::Swaps],
        ideas: &ideas::MERGE,
        grid: Columns(&[
            (0.42, Rows(&[(0.64, Show(&[Network], 3)), (0.36, Show(&[Code], 5))])),
            (
                0.58,
                Rows(&[
                    (0.54, Show(&[Curves], 0)),
                    (0.46, Columns(&[(0.6, Show(&[Warp], 0)), (0.4, Show(&[Cloud], AT_END))])),
                ]),
            ),
        ]),
        ..KERNEL
    },
    Lesson {
        id: "search",
        title: "The whole search",
        goal: "Watch the parts work together, from the first batch to the answer.",
        prerequisites: &["buffer", "merge"],
        opening: "How few of these {n} points have to be sorted to find the {k} nearest?",
        paragraph: "The warps of a block share the points: batch after batch is copied into shared memory, \
                    where every warp reads it for its own query. No warp may read a batch before all of it \
                    has arrived, and none may overwrite it while another still reads; barriers ensure both. \
                    A warp filters its batch group by group, one point per lane: distances, ballot, slots. \
                    At first max_distance is infinite, and every point is a candidate. It falls with each \
                    merge, fewer and fewer points pass, and soon most groups are done after one ballot. At \
                    the end, the candidates left in the buffer are merged, too.",
        summary: "Points are never sorted: only the few candidates are.",
        minutes: LessonDuration::OnRoute(3),
        seed: 13,
        batch: Some(8),
        topics: &[Topic::Votes, Topic::Slot, Topic::Merges],
        ideas: &ideas::SEARCH,
        ..KERNEL
    },
    Lesson {
        id: "order",
        title: "Why order matters",
        goal: "Compare the cost of the same points in different orders.",
        prerequisites: &["search"],
        opening: "The same {n} points in another order have the same neighbours. Do they have the same \
                  cost?",
        paragraph: "The same points in different orders give the same neighbours at very different costs. \
                    In random order the i-th point is a candidate with a probability of at most (k + K) / \
                    i, so there are at most about 3 + 2 ln(n / 2k) merges where k = K, on average. Nearest \
                    first, the first merge finds all neighbours, and no later point passes. Farthest first, \
                    every point is closer than all before it: each one goes into the buffer, and there are \
                    n / K merges. A file is in between: its rows often follow space, town by town or street \
                    by street. Where consecutive rows approach the query, point after point is a candidate. \
                    File order is the row order of your own data: open them here and compare.",
        summary: "If the rows of a file follow space, shuffle them: in random order the kernel needs few \
                  merges.",
        own_data: true,
        seed: 17,
        arrangements: &[Arrangement::Shuffled, Arrangement::NearestFirst, Arrangement::FarthestFirst],
        topics: &[Topic::Merges],
        ideas: &ideas::ORDER,
        ..KERNEL
    },
    Lesson {
        id: "own-data",
        title: "Your own data",
        goal: "Watch the search on your own points.",
        prerequisites: &["search"],
        opening: "How many of these {n} points come close enough to the query to be candidates?",
        paragraph: "Any point of any cloud can be the query. Watch how soon max_distance approaches its \
                    final value, how many groups are done after one ballot, and whether the order of the \
                    file helps or hurts: if rows follow space, there may be far more merges, or far fewer, \
                    than in random order.",
        summary: "If few points are candidates after the first merges, the search is as fast as reading the \
                  points.",
        own_data: true,
        generator: "gaussian-mixture:d=2,clusters=12",
        points_per_element: 160,
        seed: 19,
        topics: &[Topic::Votes, Topic::Slot, Topic::Merges],
        ideas: &ideas::OWN_DATA,
        ..KERNEL
    },
    Lesson {
        id: "pruning",
        title: "Pruning with bounding boxes",
        goal: "Skip points without computing their distances, and stay exact.",
        prerequisites: &["buffer"],
        opening: "Which points can be ruled out without computing their distance?",
        paragraph: "Brute force computes every distance. An index knows where points are: they are sorted \
                    along a curve, so that points next to each other on it are close in space; every 32 of \
                    them form a leaf with a bounding box, and every 32 boxes form a node. The warp starts \
                    in the leaf where the query itself would be; its points give a first k-th neighbour. \
                    Then it descends from the root, with a child's box in every lane: the query clamped to \
                    the box is the nearest place where a point in it could be. If even that place is not \
                    nearer than the k-th neighbour so far, no point of the box can be a neighbour, and the \
                    box is pruned. Nothing is lost, not even among equal distances. The nearest box is \
                    visited first: the sooner the bound is small, the more boxes are pruned.",
        summary: "One lower bound on the distance to a box can rule out all points in it.",
        seed: 23,
        search: SearchAlgorithm::Tree,
        level: Level::Stage,
        topics: &[Topic::Leaves, Topic::Order, Topic::Child, Topic::Visited, Topic::Votes],
        ideas: &ideas::PRUNING,
        grid: search!(Lanes, 0.44, 0.47),
        ..KERNEL
    },
    Lesson {
        id: "warp-select",
        title: "A queue in every lane",
        goal: "Compare a short queue in every lane with one shared buffer.",
        prerequisites: &["buffer", "merge"],
        opening: "What if every lane had a short queue, instead of the buffer that all share?",
        paragraph: "Warp select has no shared buffer. Every lane has a short queue in registers, the \
                    largest key first: a smaller key replaces it, without a vote. The warp's queue ascends \
                    and has the K smallest keys merged so far. Every neighbour among the points seen must \
                    be in one of the queues. So a lane's largest key, the next to be dropped, must not be \
                    below the k-th of the warp's queue. As soon as one lane breaks this invariant, the \
                    queues of all lanes are sorted as one list and merged, though most of them contribute \
                    little. The kernel's shared buffer is better: only keys below the k-th go into it, and \
                    it is merged when it is full, so that a merge brings in more keys and there are fewer \
                    merges. The account compares both for the same points.",
        summary: "One queue of {W} can force a merge of all; a shared buffer waits until it is full.",
        points_per_element: 32,
        seed: 29,
        width: 8,
        search: SearchAlgorithm::WarpSelect,
        level: Level::Stage,
        topics: &[Topic::Merges, Topic::Takes, Topic::Breaks],
        ideas: &ideas::WARP_SELECT,
        grid: search!(Queues, 0.36, 0.6),
        ..KERNEL
    },
    Lesson {
        id: "radix-select",
        title: "Radix select: narrowing buckets",
        goal: "Find the k-th distance digit by digit, for any k.",
        prerequisites: &["problem"],
        opening: "Can the {k} smallest of {n} distances be found without sorting any of them?",
        paragraph: "To find the k smallest of many distances, it is enough to find the k-th. The bits of a \
                    distance, read as an integer, have the same order, because distances are not negative. \
                    So a first digit, here of {bits} bits, puts every point into one of {buckets} buckets. \
                    The counts of the buckets are summed, and the bucket where the sum reaches k holds the \
                    k-th: points before it are neighbours, points after it are not, and the next pass reads \
                    the next digit of this bucket's points only. A digit is cheap to read, but if all \
                    distances begin with the same bits, the first pass separates nothing. Sample selection \
                    sorts a few distances and uses them as the borders of buckets: these hold about equally \
                    many points for any distribution, but every point has to search for its bucket. Both \
                    read the distances several times, a buffer only once; but neither depends on how large \
                    k is.",
        summary: "Count instead of sorting: each pass keeps only the bucket of the k-th.",
        points_per_element: 128,
        seed: 33,
        width: 16,
        search: SearchAlgorithm::RadixSelect,
        level: Level::Layer,
        topics: &[Topic::Bucket, Topic::Left],
        ideas: &ideas::RADIX_SELECT,
        grid: search!(Buckets, 0.36, 0.6),
        ..KERNEL
    },
]);

/// Number of the lesson that shows the open cloud in one order.
pub const OWN_DATA: u32 = {
    let mut at = 0;
    while !LESSONS[at].own_data || LESSONS[at].arrangements.len() > 1 {
        at += 1;
    }
    LESSONS[at].number
};

/// Numbers the lessons from 1.
const fn numbered<const N: usize>(mut lessons: [Lesson; N]) -> [Lesson; N] {
    let mut at = 0;
    while at < N {
        lessons[at].number = at as u32 + 1;
        at += 1;
    }
    lessons
}
