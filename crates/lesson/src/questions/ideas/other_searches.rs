//! Questions about the ideas of the other searches.

use super::{IdeaQuestion, transfer, what_if, why};

/// Per-thread heaps.
pub const HEAP: [IdeaQuestion; 4] = [
    why(
        "Why does the heap have its largest key at the root?",
        "New points are compared with it",
        "The largest of the k keys is the bound. It is needed for every point, and a nearer point takes its \
         place.",
        &[
            (
                "The farthest neighbour is returned first",
                "The answer is returned once, at the end. The root is read for every point.",
            ),
            (
                "So the heap is always sorted",
                "A heap is not sorted: it only ensures that no key is smaller than its children.",
            ),
            ("Small keys sink faster", "How far a key sinks depends on the keys below it."),
        ],
    ),
    why(
        "Why must a lane that inserts nothing wait before the next point?",
        "A warp issues one instruction at a time",
        "While some lanes insert, the others are masked out until the warp reconverges.",
        &[
            ("It needs the key that another lane inserts", "Each lane has its own query and heap."),
            (
                "The next point is not there yet",
                "It is. But the warp is not issuing the instruction that reads it.",
            ),
            (
                "The heap is locked while another lane writes",
                "Each lane has its own heap, so no lock is needed.",
            ),
        ],
    ),
    what_if(
        "What if k were {2 k + 1}: how many rounds can a key sink at most?",
        "{depth of 2 k + 1}",
        "A key sinks one level in a round, and twice as many keys add one level to the tree.",
        &[
            ("{2 depth of k}", "Twice the keys add one level; they do not double the number of levels."),
            (
                "{depth of k}",
                "That many levels are below the root with k = {k}. With {2 k + 1} there is one more.",
            ),
            ("{2 k}", "In a list a key may have to pass all others. In a tree it passes one on each level."),
        ],
    ),
    transfer(
        "The heaps hold strings, compared letter by letter. What is new?",
        "Lanes also wait in every comparison",
        "A comparison becomes a loop, lanes leave it after different numbers of letters, and all wait for \
         the last.",
        &[
            (
                "Nothing: a comparison is a comparison",
                "A number is compared in one instruction. A string takes one for each shared leading \
                 letter, and one more.",
            ),
            (
                "Lanes with short strings continue with the next point",
                "A lane has no instruction stream of its own: it waits, as it does while another lane \
                 inserts.",
            ),
            ("A heap cannot hold strings", "It can hold anything that has an order."),
        ],
    ),
];

/// Boxes that are pruned.
pub const PRUNING: [IdeaQuestion; 4] = [
    why(
        "Why may a box be pruned without looking at its points?",
        "No place in it is nearer than the k-th so far",
        "The query clamped to the box is the nearest place in it. All of its points are there or farther \
         away.",
        &[
            (
                "Its centre is farther away than the k-th neighbour",
                "An edge or a corner may be much nearer than the centre.",
            ),
            (
                "Most of its points are too far away",
                "A nearer one would be lost. The bound has to hold for all of them.",
            ),
            (
                "It has been visited before",
                "A visited box is not tested again. A pruned box is never visited.",
            ),
        ],
    ),
    why(
        "Why is the nearest box visited first?",
        "A small bound early prunes more boxes",
        "Any order finds the same neighbours. But a box is pruned only if the bound is small enough when \
         its turn comes.",
        &[
            (
                "The nearest box has the nearest neighbour",
                "Often, but not always: its nearest corner may have no point.",
            ),
            (
                "In another order neighbours would be lost",
                "The bound holds in any order. Only more boxes would be visited.",
            ),
            ("Near boxes have fewer points", "Every leaf but the last has {W}."),
        ],
    ),
    what_if(
        "What if the points were not sorted along the curve, and leaves took them in random order?",
        "Hardly any box could be pruned",
        "The neighbours would be the same. But a box around points from everywhere is nearly as large as \
         the space, and the query is inside most of them.",
        &[
            (
                "Neighbours would be lost",
                "A box always contains its points, wherever they are, so the bound holds.",
            ),
            (
                "The search would be faster, as nothing has to be sorted",
                "Sorting is done once. Without it, every query visits nearly every leaf.",
            ),
            (
                "Nothing would change",
                "The boxes would be large and overlap: the query would be in most of them.",
            ),
        ],
    ),
    transfer(
        "An index has bounding spheres instead of boxes. What is a lower bound on the distance to a point?",
        "The distance to the centre minus the radius, or 0",
        "The nearest place of a sphere is on the line to its centre. Inside the sphere the bound is 0.",
        &[
            ("The distance to the centre", "Points on the near side are nearer than the centre."),
            ("The distance to the centre plus the radius", "That is the farthest place: an upper bound."),
            ("The radius", "It says how large the sphere is, not where."),
        ],
    ),
];

/// A queue in each lane.
pub const WARP_SELECT: [IdeaQuestion; 3] = [
    why(
        "Why is one lane enough to cause a merge?",
        "Its next key might drop a neighbour",
        "All keys in its queue are below the k-th, so each may be a neighbour. A key that drops out is lost.",
        &[
            (
                "Its queue is full, and the others are empty",
                "Queues are always full, at first with infinite keys. What matters is whether the largest \
                 key is below the k-th.",
            ),
            (
                "A merge needs one lane only",
                "All lanes take part in it: their queues are sorted as one list.",
            ),
            ("Lanes take turns in merging", "The warp merges all queues at once."),
        ],
    ),
    IdeaQuestion {
        // With fewer registers, the lanes hold more keys than the warp's queue.
        suits: |shape| shape.registers > 2,
        ..what_if(
            "What if each of the {W} queues of {Q} held only keys below the k-th: how many could one merge \
             bring at most?",
            "{W Q}",
            "All keys of all lanes. But one lane is enough to cause a merge, so most merges bring far fewer.",
            &[
                ("{Q}", "That is what one lane holds. A merge takes the queues of all lanes."),
                ("{W}", "That is one key from each lane."),
                ("{K}", "That is the length of the warp's queue. The lanes do not hold that many keys."),
            ],
        )
    },
    transfer(
        "Only the nearest point is needed, k = 1. What can replace the lanes' queues?",
        "One key in each lane, and a reduction at the end",
        "Each lane keeps its smallest key so far: the smallest of all is one of these, and a key that a \
         lane drops can never be the nearest.",
        &[
            (
                "Nothing: merges have to come as often as for many neighbours",
                "A lane that keeps its smallest key never loses the answer, so nothing has to be merged on \
                 the way.",
            ),
            ("One queue in one lane", "Then {W - 1} lanes would have to send it their keys."),
            (
                "All points in all lanes",
                "A key that is not the smallest of its lane is not the smallest of all.",
            ),
        ],
    ),
];

/// Digits and buckets.
pub const RADIX_SELECT: [IdeaQuestion; 3] = [
    why(
        "Why may the bits of a distance be read as an integer?",
        "None is negative: both orders are the same",
        "The exponent comes before the fraction, so a larger number has larger bits. Negative numbers would \
         be in reverse order.",
        &[
            (
                "Distances are rounded to whole numbers before",
                "Nothing is rounded: the same bits are read as an integer.",
            ),
            (
                "The bits are the distance times a power of two",
                "They are not: the leading bits are the exponent.",
            ),
            (
                "The order of buckets does not matter",
                "The counts are summed in this order, to find the bucket of the k-th.",
            ),
        ],
    ),
    what_if(
        "What if a digit had {2 bits} bits instead of {bits}: how many buckets, and how many passes at most?",
        "{buckets of 2 bits} buckets, {passes of 2 bits} passes",
        "Each bit more doubles the buckets, and 31 bits are read {2 bits} at a time.",
        &[
            (
                "{2 buckets} buckets, {passes of 2 bits} passes",
                "Twice the bits do not make twice the buckets: each bit doubles them.",
            ),
            (
                "{buckets of 2 bits} buckets, {passes} passes",
                "That many passes are needed with {bits} bits. Longer digits need fewer.",
            ),
            (
                "{2 buckets} buckets, {2 passes} passes",
                "Longer digits make fewer passes, and each bit doubles the buckets.",
            ),
        ],
    ),
    transfer(
        "Now find the median of n distances. What has to change?",
        "k is half of n, and nothing else",
        "Counts and sums do not depend on how large k is. A buffer would need half of n slots.",
        &[
            ("All distances have to be sorted", "Only the k-th is needed: each pass keeps one bucket."),
            ("The buckets need room for half of n distances", "Buckets are counts. They store no distances."),
            ("It cannot be done: the median is not the nearest", "The k-th smallest is found for any k."),
        ],
    ),
];
