//! Questions about the ideas of the kernel's search.

use super::{IdeaQuestion, transfer, what_if, why};
use crate::state::Shape;

/// The bound, and why most points are rejected after one comparison.
pub const PROBLEM: [IdeaQuestion; 3] = [
    IdeaQuestion {
        suits: |shape| shape.k > 1,
        ..why(
            "Why is a point outside the circle rejected after one comparison?",
            "{k} points at least as near are known",
            "The circle goes through the farthest of the {k} nearest so far. A point outside it is farther \
             than all of them.",
            &[
                (
                    "The circle never changes, so the point stays outside",
                    "The circle shrinks. That rejects more points, but it is not why this one is rejected.",
                ),
                (
                    "Points that are farther away come later",
                    "Points come in the order of the file, near and far. Each is compared when it comes.",
                ),
                (
                    "A sample of the points is enough",
                    "No point is skipped: the search is exact, and every point is compared once.",
                ),
            ],
        )
    },
    IdeaQuestion {
        suits: |shape| shape.n > shape.capacity(),
        ..what_if(
            "What if the points came sorted, nearest first: how many merges?",
            "1",
            "The first merge finds all k neighbours. No point after it is nearer than the farthest of them.",
            &[
                ("0", "Until k points are known, every point is a candidate, and these must be merged once."),
                (
                    "{n / K}",
                    "That many are needed when the farthest come first: then every point is a candidate.",
                ),
                ("{k}", "Neighbours come out of a merge all at once, not one by one."),
            ],
        )
    },
    IdeaQuestion {
        suits: |shape| shape.k > 1,
        ..transfer(
            "Now search for the {k} farthest points. When is a point a candidate?",
            "When it is farther than the nearest of the {k} farthest so far",
            "Everything is reversed: the bound is the smallest distance that is kept, and it grows.",
            &[
                (
                    "When it is farther than the farthest so far",
                    "Then a point that belongs among the {k}, but is not the farthest, would be rejected.",
                ),
                (
                    "When it is outside the circle of the {k} nearest",
                    "Most points are. That says nothing about the {k} farthest.",
                ),
                (
                    "Always: only a search for the nearest can reject points",
                    "A bound works in both directions: a point nearer than {k} known points is not among \
                     the {k} farthest.",
                ),
            ],
        )
    },
];

/// Votes, slots, and what happens to a candidate without a slot.
pub const BUFFER: [IdeaQuestion; 5] = [
    why(
        "Why does a candidate need no lock to take its slot?",
        "Each computes its own slot from the same ballot",
        "The number of voting lanes below differs for every voting lane, so no two write the same slot.",
        &[
            (
                "One lane at a time writes",
                "All candidates write in the same instruction, each into its own slot.",
            ),
            (
                "Shared memory puts two writes to one slot in order",
                "Of two writes to one slot, one would be lost. Here every slot is written once.",
            ),
            ("Two lanes seldom vote at the same time", "At first all {W} lanes do."),
        ],
    ),
    why(
        "Why does a candidate without a slot vote again after the merge?",
        "It may be too far for the new max_distance",
        "It was compared with the old bound. Without a second vote the neighbours would be the same, but \
         candidates that no longer matter would take slots.",
        &[
            ("Its distance was lost in the merge", "The lane still has it in a register."),
            (
                "Its lane may have another point by now",
                "The lane takes its next point only when this one is done.",
            ),
            (
                "Without a second vote a neighbour would be lost",
                "It would still be appended. The second vote only rejects points that are too far by now.",
            ),
        ],
    ),
    what_if(
        "What if max_distance were read only once for each batch of points?",
        "The same neighbours, more candidates",
        "An older bound is larger or equal: it rejects no neighbour, but lets in other points.",
        &[
            (
                "Some neighbours would be lost",
                "An older bound is never smaller than the new one. A neighbour is below both.",
            ),
            (
                "The same neighbours, and fewer merges to find them",
                "A larger bound lets in more candidates, and these fill the buffer sooner.",
            ),
            (
                "Nothing would change",
                "max_distance can fall within a batch: until the next one, points between the two bounds \
                 would become candidates.",
            ),
        ],
    ),
    what_if(
        "What if the buffer had half as many slots, {K / 2}: how many merges at most for {n} points?",
        "{2 n / K}",
        "In the worst order every point is a candidate, and every {K / 2} of them fill the buffer.",
        &[
            ("{n / K}", "That many are enough with {K} slots: each merge then takes up to {K} candidates."),
            ("{K / 2}", "That is the number of slots."),
            ("{n}", "That is one merge per candidate. But {K / 2} of them share one."),
        ],
    ),
    transfer(
        "A wavefront has 64 lanes. How does a lane find its slot?",
        "It counts lower bits in a ballot of 64",
        "Only the number of bits changes: a lane of the upper half counts the whole lower half, too.",
        &[
            (
                "Each half counts in its own ballot of 32 bits",
                "Then both halves would begin at the same slot and overwrite each other.",
            ),
            (
                "Two lanes share a bit of a ballot of 32",
                "Two candidates that share a bit cannot be distinguished, and would get one slot.",
            ),
            (
                "Lanes take turns: 64 are too many for a ballot",
                "A ballot has one bit for each lane, whatever the width of the warp.",
            ),
        ],
    ),
];

/// Why candidates wait for a full buffer.
pub const WAIT: [IdeaQuestion; 4] = [
    why(
        "Why does the kernel merge only when the buffer is full?",
        "A merge costs as much for 1 candidate as for {K}",
        "The merge sorts all {K} elements, whatever they hold. With a full buffer each candidate pays a \
         small share.",
        &[
            (
                "max_distance must not change before",
                "It may change at any time: a smaller bound is right as soon as it is known.",
            ),
            (
                "A full buffer is sorted already",
                "Candidates are in the order in which they came. The merge has to sort them.",
            ),
            (
                "Lanes cannot be told when there is a candidate to merge",
                "The ballot tells all lanes at once.",
            ),
        ],
    ),
    what_if(
        "What if K were {2 K}, twice as large: how many steps would one merge take?",
        "{merge of 2 K}",
        "The sort has {layers of 2 K} layers, then comes the minimum, and {last of 2 K} layers restore the \
         order.",
        &[
            (
                "{2 merge}",
                "That is twice as many. But one layer compares all keys at once, and only layers are added: \
                 those of one more size, and one to restore the order.",
            ),
            ("{merge}", "That is a merge of {K} keys. Twice as many need one more size, and so more layers."),
            (
                "{layers of 2 K}",
                "That is the sort alone. The minimum and the layers that restore the order come after it.",
            ),
        ],
    ),
    what_if(
        "What if every candidate were merged as soon as it is found: what would be better?",
        "max_distance would always be as small as it can be",
        "Nothing else: each candidate would cost {merge} steps, far more than the few that a smaller bound \
         rejects would save.",
        &[
            (
                "The search would take fewer steps",
                "There would be a merge for each candidate, and each merge takes {merge} steps.",
            ),
            (
                "The neighbours would be exact",
                "They are exact anyway: a bound that is too large lets in more, and loses nothing.",
            ),
            (
                "A merge would take fewer steps",
                "The network has the same {layers} layers, whatever it sorts.",
            ),
        ],
    ),
    transfer(
        "Which of these waits for the same reason?",
        "A program that writes lines to the disk in blocks",
        "A write costs about the same for one line as for a block: the fixed cost is shared. That is why \
         candidates wait.",
        &[
            (
                "A thread that waits until another one releases a lock",
                "It waits for its turn. Waiting does not make anything cheaper.",
            ),
            (
                "A barrier between writing and reading",
                "It waits until something is complete. Without it the result would be wrong, not slower.",
            ),
            (
                "A program that waits for a key to be pressed",
                "It has nothing to do until then. Here there is work, and it is deferred.",
            ),
        ],
    ),
];

/// Batches, barriers, ties, other metrics.
pub const SEARCH: [IdeaQuestion; 5] = [
    why(
        "Why is there a barrier after a batch is copied into shared memory?",
        "A warp might read points that another warp has not copied yet",
        "Every warp copies a part of the batch and reads all of it. The barrier holds each until all parts \
         are there.",
        &[
            (
                "All warps must have the same max_distance",
                "Each warp has its own query, and so its own bound.",
            ),
            (
                "All warps must find their candidates at the same time",
                "Each warp finds its own candidates at its own pace. Only the points are shared.",
            ),
            (
                "Shared memory takes some time to store what was written",
                "A delay is no remedy: without a barrier, a fast warp can be ahead of a slow one by any \
                 amount.",
            ),
        ],
    ),
    why(
        "Why are points copied into shared memory at all?",
        "All warps of the block read the same points",
        "Each of them has its own query. Global memory is read once for the whole block, and each warp then \
         reads from fast memory.",
        &[
            (
                "Lanes cannot read global memory",
                "They can. But each warp would have to fetch the same points again.",
            ),
            ("The buffer needs them there", "The buffer holds distances and point numbers, not coordinates."),
            (
                "They are sorted by their distance there before lanes read them",
                "Points are never sorted. Only candidates are.",
            ),
        ],
    ),
    what_if(
        "What if two points are equally far from the query, and there is room for one: which one is kept?",
        "The one that comes first",
        "A point is a candidate only if it is nearer than the bound, and keys with equal distances are \
         compared by their positions.",
        &[
            (
                "The one that comes last",
                "A point as far away as the bound is not a candidate, and among equal distances the smaller \
                 position is the smaller key.",
            ),
            (
                "That depends on which lane is faster",
                "No lane is faster than another, and keys are never equal: the position is part of the key.",
            ),
            ("Both: there is one more neighbour", "The search finds exactly {k}."),
        ],
    ),
    IdeaQuestion {
        // With fewer points, the last merge is the only one.
        suits: |shape| shape.n > shape.capacity(),
        ..what_if(
            "What if the last candidates in the buffer were not merged at the end?",
            "Neighbours that came late could be missing",
            "Up to {K - 1} candidates may wait when the points end, and each of them was nearer than the \
             bound.",
            &[
                (
                    "Nothing: the last points are too far away",
                    "Candidates are nearer than the bound, whenever they come.",
                ),
                ("Every neighbour would be wrong", "Those that were merged before and are near enough stay."),
                (
                    "The neighbours would be right, but not sorted",
                    "The intermediate result is sorted after each merge. Candidates in the buffer are not \
                     in it at all.",
                ),
            ],
        )
    },
    transfer(
        "The metric is the sum of absolute differences, not the squared distance. What has to change?",
        "How a lane computes the number that is compared",
        "Ballot, slots, sort and merge only compare numbers, whatever the numbers mean.",
        &[
            ("The ballot: sums cannot be compared with a bound", "Any numbers with an order can."),
            ("The network: another order needs other partners", "Partners depend on the lane numbers alone."),
            (
                "Nothing: what is near by one is near by the other",
                "A point that differs in one column and one that differs in several can swap ranks.",
            ),
        ],
    ),
];

/// Whether the bound on the mean number of merges grows with n: with fewer points, all of them are
/// candidates.
fn grows(shape: Shape) -> bool {
    shape.n >= 2 * (shape.k + shape.capacity())
}

/// What the order of the points costs.
pub const ORDER: [IdeaQuestion; 4] = [
    why(
        "In random order, why are candidates rare after many points?",
        "Each is as likely as any other to be near",
        "Of i points in random order each has the same chance, so the i-th is among the k nearest of these \
         with probability k / i.",
        &[
            (
                "Points that come later in the file are farther away",
                "Not in random order: near and far points are equally likely from beginning to end.",
            ),
            ("The buffer is full by then", "A full buffer is merged at once, and is empty after it."),
            ("max_distance is 0 by then", "It is the squared distance of the k-th neighbour so far."),
        ],
    ),
    IdeaQuestion {
        suits: grows,
        ..what_if(
            "What if there were twice as many points, in random order: by how much does the bound on the \
             mean number of merges grow?",
            "by {growth}",
            "It grows with the logarithm of n: about 2 ln 2 merges for each doubling, where k = K.",
            &[
                ("it doubles", "That is so in the worst order, where every point is a candidate."),
                (
                    "not at all",
                    "A few points of the second half are nearer than the k-th nearest of the first.",
                ),
                (
                    "by {K}",
                    "The number of slots decides how many candidates a merge takes, not how many merges \
                     come with more points.",
                ),
            ],
        )
    },
    IdeaQuestion {
        suits: grows,
        ..what_if(
            "What if the points come nearest first, and there are twice as many: how many more merges?",
            "none",
            "After the first merge nothing is nearer than the bound, however many points follow.",
            &[
                ("1", "The added points are farther away than all before them: none becomes a candidate."),
                ("twice as many", "That is so with the farthest first: then every point is a candidate."),
                ("about {growth}", "That is how much the bound grows in random order."),
            ],
        )
    },
    transfer(
        "A file of houses is sorted by zip code. What should be done before many searches?",
        "Its rows are shuffled once",
        "In random order the few merges that theory predicts are enough, for every query. Neighbours are \
         the same in any order.",
        &[
            (
                "Its rows are sorted by their distance to the query, each time",
                "That would be the best order for one query, but finding it costs more than the search.",
            ),
            (
                "Nothing: a sorted file is searched fastest",
                "It is sorted by place, not by distance to the query: while rows come nearer, point after \
                 point is a candidate.",
            ),
            (
                "Its rows are reversed",
                "Rows that came nearer now move away, and vice versa. For other queries that is no better.",
            ),
        ],
    ),
];

/// The reader's own data.
pub const OWN_DATA: [IdeaQuestion; 3] = [
    why(
        "Why does the order of a file change the time of a search, but not its answer?",
        "Order only decides how soon the bound is small",
        "A neighbour is nearer than the bound whenever it comes. The order changes how many other points \
         are, too.",
        &[
            ("The kernel sorts the file first", "Points are never sorted. Only candidates are."),
            (
                "Points that come late are skipped",
                "No point is skipped. Late ones are compared with a smaller bound.",
            ),
            (
                "Lanes find the nearest points of a batch in any order",
                "A lane sees only its own point, and the bound.",
            ),
        ],
    ),
    IdeaQuestion {
        suits: |shape: Shape| shape.capacity() < 32 * shape.width,
        ..what_if(
            "What if k were {K + 1}: how many slots would the buffer have?",
            "{K of K + 1}",
            "K is the next power of two times the number of lanes: the network sorts no other lengths.",
            &[
                ("{K + 1}", "The network sorts lists whose length is a power of two."),
                ("{K}", "{K + 1} neighbours do not fit into {K} elements."),
                (
                    "{K + W}",
                    "One more key per lane would be enough for the neighbours, but not for the network: it \
                     needs a power of two.",
                ),
            ],
        )
    },
    transfer(
        "Rows have two columns in metres and one in seconds. What has to be decided before neighbours mean \
         anything?",
        "How many metres a second counts as",
        "The distance adds up the columns. Another unit gives other neighbours.",
        &[
            ("In which order the columns come", "A sum is the same in any order."),
            ("How many lanes the warp has", "Neighbours do not depend on it."),
            (
                "Nothing: distances have no unit",
                "The same column in milliseconds has numbers a thousand times as large, and decides \
                 everything.",
            ),
        ],
    ),
];
