//! The lessons in the order of the story: from the problem to the whole search, then to one's own data and to
//! other searches.
//!
//! The texts name sizes in braces, `{k}`, which [`Lesson::says`] fills in.

use super::cursor::Level;
use super::lessons::{Arrangement, Lesson, Minutes, Search, Shows};
use super::questions::{Ask, ideas};

/// What lessons of the kernel have in common.
const KERNEL: Lesson = Lesson {
    number: 0,
    id: "",
    title: "",
    goal: "",
    needs: &[],
    paragraph: "",
    summary: "",
    minutes: Minutes::Beside(3),
    own_data: false,
    generator: "uniform:d=2",
    points_per_element: 64,
    seed: 0,
    k: 32,
    width: 32,
    batch: None,
    search: Search::Kernel,
    arrangements: &[Arrangement::AsDrawn],
    shows: Shows::Whole,
    level: Level::Merge,
    asks: &[],
    ideas: &[],
};

/// All lessons, in order of their numbers.
pub const LESSONS: [Lesson; 13] = numbered([
    Lesson {
        id: "problem",
        title: "The problem: the k nearest of many",
        goal: "See what is searched for, and why nobody sorts all points for it.",
        paragraph: "Among {n} points we want the {k} nearest to the query. Sorting all of them by distance \
                    would find these, and would also put {n - k} points in order that nobody asked for. It \
                    is enough to keep the {k} nearest of the points seen so far: the intermediate result. \
                    The distance of the farthest of these is the bound: its square is called max_distance, \
                    and the circle around the query shows it. A point outside the circle is done after one \
                    comparison. A point inside it is a candidate, and waits in a buffer. When that is full, \
                    a merge keeps the {k} nearest of both: the farthest drop out, and the circle shrinks. \
                    The smaller the circle, the fewer points fall into it. Step on and watch: at first \
                    every point is a candidate, in the end hardly any is.",
        summary: "Keep the {k} nearest so far, and compare every new point with one number: the distance of \
                  the farthest of them.",
        minutes: Minutes::Route(2),
        points_per_element: 32,
        seed: 31,
        shows: Shows::Circle,
        asks: &[Ask::Merges],
        ideas: &ideas::PROBLEM,
        ..KERNEL
    },
    Lesson {
        id: "heap",
        title: "One thread, one heap",
        goal: "See how threads with a query each wait for one another, and what a warp does instead.",
        needs: &["problem"],
        paragraph: "One thread finds the {k} nearest with a heap: a tree of {k} keys with the largest, the \
                    k-th so far, at its root. A point that is not below the root is done after one \
                    comparison. One that is takes the root's place and sinks to where it belongs. Now give \
                    every thread of a warp a query and a heap of its own; the lesson begins where all heaps \
                    are full. All of them look at the same point, but a warp executes one instruction at a \
                    time: if the point is below the root of a single lane, all other lanes are masked out \
                    and wait until its key has sunk. A lane seldom has anything to insert, but some lane \
                    often does, so the warp stops again and again, and the lanes that insert nothing wait. \
                    A warp that works on one query never diverges like that: its lanes vote, write side by \
                    side and merge together. In the end, the meter counts the instructions of one query in \
                    all three ways: a warp of threads issues about as many for each query as a warp that \
                    works on one, but answers its first query only when it has answered all of them.",
        summary: "Give the whole warp one query: lanes that vote and write together do not wait for each \
                  other.",
        minutes: Minutes::Route(3),
        points_per_element: 16,
        seed: 37,
        k: 15,
        width: 8,
        search: Search::Heap,
        shows: Shows::Waiting,
        level: Level::Stage,
        asks: &[Ask::Inserts, Ask::Waits, Ask::Rounds, Ask::Idle],
        ideas: &ideas::HEAP,
        ..KERNEL
    },
    Lesson {
        id: "buffer",
        title: "The ballot and the buffer",
        goal: "Follow candidates from the vote of the lanes to their slots.",
        needs: &["problem"],
        paragraph: "A warp is {W} threads, its lanes, which run the same code. A ballot or a shuffle brings \
                    them together, and where a lane reads from shared memory what another has written, a \
                    barrier does. Each lane computes the squared distance of one point and votes: is it \
                    below max_distance? The ballot gives every lane the same number, one bit per lane. From \
                    it a candidate knows its slot in the shared buffer without asking anyone: the number of \
                    slots taken, plus the number of voting lanes below its own. When all {K} slots are \
                    taken, the buffer is merged with the intermediate result, the {K} nearest so far, and \
                    max_distance falls. A candidate that found no slot was compared with the old bound, so \
                    it has to vote again: it may be too far for the new one.",
        summary: "A ballot and a count of bits take the place of locks: each candidate computes its own \
                  slot.",
        minutes: Minutes::Route(3),
        points_per_element: 32,
        seed: 11,
        shows: Shows::Overflow,
        level: Level::Stage,
        asks: &[Ask::Votes, Ask::Slot],
        ideas: &ideas::BUFFER,
        ..KERNEL
    },
    Lesson {
        id: "wait",
        title: "What a merge costs, and why to wait",
        goal: "See what one merge costs, and why the buffer is filled first.",
        needs: &["buffer"],
        paragraph: "Bringing the candidates into the intermediate result takes {layers} layers of \
                    comparisons to sort the {K} of them, one comparison of each with its counterpart in the \
                    intermediate result, and {last} layers to restore the order: {merge} steps, in which \
                    all lanes take part. It takes as many for a single candidate as for {K}. So the kernel \
                    lets candidates wait until the buffer is full, and each pays a small share of one \
                    merge. Waiting has a price, too: until the merge, max_distance is larger than it could \
                    be, and lets in candidates that would have been turned away. For almost all data that \
                    price is small beside the merges that are saved.",
        summary: "A merge costs the same for one candidate as for a full buffer, so it waits for a full \
                  buffer.",
        minutes: Minutes::Route(2),
        points_per_element: 32,
        seed: 37,
        shows: Shows::SecondMerge,
        level: Level::Stage,
        asks: &[],
        ideas: &ideas::WAIT,
        ..KERNEL
    },
    Lesson {
        id: "sort",
        title: "Sorting in a warp: one key per lane",
        goal: "Sort keys with lanes that exchange with one partner at a time.",
        needs: &["wait"],
        paragraph: "Before a merge the candidates have to be sorted. Every lane holds one key, a squared \
                    distance, in a register, its own fast memory. In each layer, lane L reads the key of \
                    lane L ^ stride by a shuffle, straight from the other lane's register. The two numbers \
                    differ in one bit, so each of the two lanes is the other's partner. One keeps the \
                    smaller key and the other the larger. Which one is decided by the lane's number alone, \
                    never by the data: in ascending order where L & size is 0, in descending order \
                    elsewhere. So no lane waits for another. First pairs are sorted, then runs of four, \
                    then all. Neighbouring runs are sorted in opposite directions: together they rise and \
                    then fall, which is called bitonic, and the layers of the next size sort exactly such \
                    lists.",
        summary: "Partners and directions are fixed in advance: a bitonic network sorts without a branch.",
        minutes: Minutes::Route(4),
        points_per_element: 1,
        seed: 3,
        k: 8,
        width: 8,
        shows: Shows::FirstSort,
        level: Level::Layer,
        asks: &[Ask::Partner, Ask::Swaps],
        ideas: &ideas::SORT,
        ..KERNEL
    },
    Lesson {
        id: "wide",
        title: "Sorting in a warp: more keys than lanes",
        goal: "Sort {K} keys with {W} lanes, and see which layers need no shuffle.",
        needs: &["sort"],
        paragraph: "To sort {K} keys with {W} lanes, every lane holds R = {R} consecutive keys. The network \
                    is the same, but the two elements of a comparator may now lie in the same lane. With a \
                    stride below R, a lane compares two registers of its own, and needs no shuffle. From \
                    stride R on, it exchanges with lane ^ (stride / R), the same register of both. Small \
                    strides are the most frequent: of the {layers} layers for {K} keys, {inside} need no \
                    shuffle with R = {R}.",
        summary: "Consecutive keys in a lane make plain comparisons of registers out of the most frequent \
                  layers.",
        points_per_element: 1,
        seed: 5,
        width: 8,
        shows: Shows::FirstSort,
        level: Level::Layer,
        asks: &[Ask::Partner, Ask::Swaps],
        ideas: &ideas::WIDE,
        ..KERNEL
    },
    Lesson {
        id: "merge",
        title: "Merging two sorted lists",
        goal: "Take the {K} smallest keys of two sorted lists in one step.",
        needs: &["sort"],
        paragraph: "The candidates, sorted, and the intermediate result are two rising lists of {K} keys. \
                    Read backwards, the intermediate result falls: candidate i meets element {K - 1} \
                    \u{2212} i of it, and the smaller of the two stays. One list rises while the other \
                    falls, so they cross at most once. Before the crossing the candidate is the smaller, \
                    after it the key of the intermediate result: what is left rises to the crossing and \
                    falls from there. It is bitonic, and holds exactly the {K} smallest of all {2 K} keys: \
                    each key that is dropped is the largest of {K + 1}. A bitonic list needs no full sort: \
                    {last} layers, with strides from {K / 2} down to 1, put it in order.",
        summary: "Set one list against the mirror image of the other: the minimum keeps the {K} smallest, \
                  and is nearly sorted.",
        minutes: Minutes::Route(3),
        points_per_element: 8,
        seed: 7,
        k: 16,
        width: 16,
        shows: Shows::SecondMinimum,
        level: Level::Layer,
        asks: &[Ask::Taken, Ask::Partner, Ask::Swaps],
        ideas: &ideas::MERGE,
        ..KERNEL
    },
    Lesson {
        id: "search",
        title: "The whole search",
        goal: "Watch the parts work together, from the first batch to the answer.",
        needs: &["buffer", "merge"],
        paragraph: "The warps of a block share the points: batch after batch is copied into shared memory, \
                    where every warp reads it for its own query. No warp may read a batch before all of it \
                    has arrived, and none may overwrite it while another still reads; barriers see to both. \
                    A warp takes its batch group by group, a point per lane: distances, ballot, slots. At \
                    first max_distance is infinite, and every point is a candidate. It falls with each \
                    merge, fewer and fewer points pass, and soon most groups are done after one ballot. In \
                    the end, what is left in the buffer is merged, too.",
        summary: "The points are never sorted: only the few that might matter are.",
        minutes: Minutes::Route(3),
        seed: 13,
        batch: Some(8),
        asks: &[Ask::Votes, Ask::Slot, Ask::Merges],
        ideas: &ideas::SEARCH,
        ..KERNEL
    },
    Lesson {
        id: "order",
        title: "Why order matters",
        goal: "Compare the cost of the same points met in different orders.",
        needs: &["search"],
        paragraph: "The same points, met in different orders, give the same neighbours at very different \
                    costs. In random order the i-th point is a candidate with a probability of at most (k + \
                    K) / i, so there are at most about 3 + 2 ln(n / 2k) merges where k = K, on average. \
                    Nearest first, the first merge finds all neighbours, and nothing passes after it. \
                    Farthest first, every point is closer than all before it: each one goes into the \
                    buffer, and there are n / K merges. A file lies in between: its rows often follow \
                    space, place by place or street by street. Where a stretch of it leads towards the \
                    query, its points are candidates one after the other. File order is that of the rows of \
                    your own data: open them here and compare.",
        summary: "Where the order of a file follows space, shuffle it: the kernel is at its best in random \
                  order.",
        own_data: true,
        seed: 17,
        arrangements: &[Arrangement::Shuffled, Arrangement::NearestFirst, Arrangement::FarthestFirst],
        asks: &[Ask::Merges],
        ideas: &ideas::ORDER,
        ..KERNEL
    },
    Lesson {
        id: "yours",
        title: "Your own data",
        goal: "Watch the search in points of your own.",
        needs: &["search"],
        paragraph: "Any point of any cloud can be the query. Watch how soon max_distance comes close to its \
                    final value, how many groups are done after one ballot, and whether the order of the \
                    file helps or hurts: where rows lie in the file as they lie in space, there may be far \
                    more merges, or far fewer, than in random order.",
        summary: "Few candidates after the first merges mean that the search is as fast as reading the \
                  points.",
        own_data: true,
        generator: "gaussian-mixture:d=2,clusters=12",
        points_per_element: 160,
        seed: 19,
        asks: &[Ask::Votes, Ask::Slot, Ask::Merges],
        ideas: &ideas::YOURS,
        ..KERNEL
    },
    Lesson {
        id: "not-looking",
        title: "Not looking everywhere",
        goal: "Leave out points without looking at them, and still be exact.",
        needs: &["buffer"],
        paragraph: "Brute force looks at every point. An index knows where points lie: they are sorted \
                    along a curve, so that neighbours on it are near each other; every 32 of them are a \
                    leaf with a box around it, and every 32 boxes are a node. The warp begins in the leaf \
                    where the query itself would be; its points give a first k-th neighbour. Then it goes \
                    down from the root, with a child's box in every lane: the query clamped to the box is \
                    the nearest place where a point in it could be. If even that place is not nearer than \
                    the k-th neighbour so far, no point of the box can be a neighbour, and the box is left \
                    out without a look at its points. Nothing is lost, not even among equal distances. The \
                    nearest box is visited first, because what is found early lets more be left out.",
        summary: "A lower bound on the distance to a box answers for all points in it.",
        seed: 23,
        search: Search::Tree,
        level: Level::Stage,
        asks: &[Ask::Leaves, Ask::Order, Ask::Child, Ask::Visited, Ask::Votes],
        ideas: &ideas::NOT_LOOKING,
        ..KERNEL
    },
    Lesson {
        id: "warp-select",
        title: "A queue in every lane",
        goal: "Compare a short queue in every lane with one buffer for all of them.",
        needs: &["buffer", "merge"],
        paragraph: "Warp select has no shared buffer. Every lane has a short queue of its own in registers, \
                    the largest key first: it drops that key for a smaller one, and asks nobody. The warp's \
                    queue ascends and has the K smallest keys known so far. Every neighbour among the \
                    points seen must be in one of the queues, and a lane's largest key must not be below \
                    the k-th of the warp's queue, since it is the next to be dropped. As soon as one lane \
                    breaks that, the queues of all lanes are sorted as one list and merged, though most of \
                    them hold little that matters. That is why the kernel is better off with a buffer that \
                    all lanes share: only what is below the k-th goes into it, and it is merged when it is \
                    full, so that a merge brings in more and there are fewer. The account counts both for \
                    the same points.",
        summary: "One full queue of {W} forces a merge for all; a shared buffer waits until it is full.",
        points_per_element: 32,
        seed: 29,
        width: 8,
        search: Search::WarpSelect,
        level: Level::Stage,
        asks: &[Ask::Merges, Ask::Takes, Ask::Breaks],
        ideas: &ideas::WARP_SELECT,
        ..KERNEL
    },
    Lesson {
        id: "radix-select",
        title: "Buckets that close in",
        goal: "Find the k-th distance digit by digit, for any k.",
        needs: &["problem"],
        paragraph: "To find the k smallest of many distances, the k-th alone has to be found. The bits of a \
                    distance, read as a whole number, have the same order, since distances are not \
                    negative. So a first digit, here of {bits} bits, puts every point into one of {buckets} \
                    buckets. They are counted, the counts are added up, and where the sum reaches k, there \
                    is the k-th: what lies before that bucket is a neighbour for sure, what lies behind it \
                    is none, and the next digit is read of the bucket's own points alone. A digit is \
                    quickly read, but where all distances begin with the same bits, the first pass tells \
                    nothing apart. Sample selection sorts a few distances and takes them as the borders of \
                    buckets: these hold about as many points each wherever the distances lie, but every \
                    point has to look for its bucket among the borders. Both read the distances several \
                    times, and a buffer reads them once; but neither cares how large k is.",
        summary: "Count instead of sorting: each pass keeps one bucket, and the k-th is in it.",
        points_per_element: 128,
        seed: 33,
        width: 16,
        search: Search::RadixSelect,
        level: Level::Layer,
        asks: &[Ask::Bucket, Ask::Left],
        ideas: &ideas::RADIX_SELECT,
        ..KERNEL
    },
]);

/// Number of the lesson about the cloud that is open, in one order: others only can have its points.
pub const OWN_DATA: u32 = {
    let mut at = 0;
    while !LESSONS[at].own_data || LESSONS[at].arrangements.len() > 1 {
        at += 1;
    }
    LESSONS[at].number
};

/// Lessons with their places as numbers, from 1.
const fn numbered<const N: usize>(mut lessons: [Lesson; N]) -> [Lesson; N] {
    let mut at = 0;
    while at < N {
        lessons[at].number = at as u32 + 1;
        at += 1;
    }
    lessons
}
