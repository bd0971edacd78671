//! Questions about the ideas of sorting and merging.

use super::{IdeaQuestion, transfer, what_if, why};

/// Partners and directions in a network.
pub const SORT: [IdeaQuestion; 4] = [
    why(
        "Why are two neighbouring runs sorted in opposite directions?",
        "So that together they rise and then fall",
        "A list that rises and then falls is bitonic. The layers of the next size put such a list in order, \
         but not any list.",
        &[
            ("Each lane then swaps as often as another", "How often keys swap depends on the keys."),
            (
                "Equal keys then stay where they are",
                "The direction does not decide what happens to equal keys.",
            ),
            (
                "So that small keys have less far to go",
                "The network has the same layers for all keys, however far they have to go.",
            ),
        ],
    ),
    why(
        "Why does no lane wait for another while keys are sorted?",
        "The lane number decides partner and direction",
        "So all lanes execute the same instruction in each layer: a shuffle, then the minimum or the \
         maximum.",
        &[
            ("Each lane sorts its own key", "One key is always sorted. Keys have to move from lane to lane."),
            (
                "Lanes whose keys are in place have nothing to do",
                "They take part in every layer, whether their keys move or not.",
            ),
            ("The keys were sorted before", "They are in the order in which candidates came."),
        ],
    ),
    what_if(
        "What if there were {2 K} keys, one per lane: how many layers would the sort have?",
        "{layers of 2 K}",
        "One more size is added, and the layers of that size: {last of 2 K}, one for each stride.",
        &[
            (
                "{2 layers}",
                "Twice the keys do not need twice the layers: all comparators of a layer work at the same \
                 time.",
            ),
            ("{layers + 1}", "A size has a layer for each of its strides, not one."),
            (
                "{layers}",
                "That is the sort of {K} keys. It leaves two sorted halves, which have to be merged.",
            ),
        ],
    ),
    transfer(
        "The largest key should come first. Which change achieves that?",
        "The direction of every comparator",
        "With all arrows reversed, every run is sorted the other way, and so is the whole list. Reversing \
         only the last size would be enough.",
        &[
            ("The order of the strides", "With small strides first, a bitonic list is not sorted at all."),
            (
                "The partner of every lane",
                "The pairs stay the same. What changes is which of the two keys goes where.",
            ),
            (
                "The direction of the last layer alone",
                "The last layer only compares neighbours: it cannot reverse the whole list.",
            ),
        ],
    ),
];

/// Several keys in a lane.
pub const WIDE: [IdeaQuestion; 4] = [
    IdeaQuestion {
        suits: |shape| shape.registers > 1,
        ..why(
            "Why does a layer with a stride below {R} need no shuffle?",
            "Both keys are in registers of the same lane",
            "A lane holds {R} consecutive keys, and two elements whose numbers differ in one bit, by less \
             than {R}, are in one lane.",
            &[
                (
                    "These keys were compared before",
                    "They have been, but other layers came between, so they have to be compared again.",
                ),
                (
                    "Keys are exchanged through shared memory instead",
                    "Both keys are in the lane's own registers: nothing has to be exchanged.",
                ),
                (
                    "Small strides come last, when keys are in order",
                    "Small strides come last in every size, and keys are in order only after the very last \
                     layer.",
                ),
            ],
        )
    },
    IdeaQuestion {
        suits: |shape| shape.width > 4,
        ..what_if(
            "What if there were {W / 2} lanes for the same {K} keys: how many layers would need a shuffle?",
            "{shuffled at W / 2}",
            "With {2 R} keys per lane, one more stride of each size is within a lane.",
            &[
                (
                    "{shuffled}",
                    "That many need one with R = {R}. With {2 R} keys per lane, one more stride of each \
                     size is within a lane.",
                ),
                ("0", "A stride of {2 R} and more still crosses lanes."),
                ("{layers}", "That is all layers. Those with a stride below {2 R} stay within a lane."),
            ],
        )
    },
    IdeaQuestion {
        suits: |shape| shape.registers > 1,
        ..what_if(
            "What if element i were in lane i mod {W}: which layers would need no shuffle?",
            "Those with a stride of {W} or more",
            "Two elements are in the same lane if their numbers differ by a multiple of {W}, and strides \
             are powers of two.",
            &[
                (
                    "Those with a stride below {R}",
                    "That is so if a lane holds consecutive keys. Here neighbours are in different lanes.",
                ),
                ("None", "Elements i and i + {W} would be in the same lane."),
                ("All", "Elements 0 and 1 would be in different lanes, and many layers compare neighbours."),
            ],
        )
    },
    IdeaQuestion {
        suits: |shape| shape.registers > 1,
        ..transfer(
            "{K} keys are on {W} computers, {R} consecutive ones on each. Which layers send keys over the \
             network?",
            "Those with a stride of {R} or more",
            "A computer plays the role of a lane: smaller strides stay inside it.",
            &[
                ("Those with a stride below {R}", "These compare keys of the same computer."),
                (
                    "All: a network has to compare all keys",
                    "Two keys of one computer can be compared without sending one.",
                ),
                (
                    "Only the first and the last layer",
                    "Each size begins with strides that cross computers, as soon as its runs are longer \
                     than {R}.",
                ),
            ],
        )
    },
];

/// The mirror, and the result of the minimum.
pub const MERGE: [IdeaQuestion; 4] = [
    why(
        "Candidate i is compared with element {K - 1} \u{2212} i of the intermediate result. Why may the \
         larger one be dropped?",
        "{K} other keys are no larger than that one",
        "Up to the pair there are i + 1 candidates and {K} \u{2212} i keys of the intermediate result, and \
         none is larger than the larger of the two. Not counting that one, there are {K}.",
        &[
            (
                "The larger key of a pair is always the candidate",
                "It may come from either list. The smaller one stays.",
            ),
            (
                "Both lists have been searched before",
                "Each list is sorted, but it is not known yet which of its keys are among the {K} smallest.",
            ),
            (
                "It is merged again later",
                "It is dropped for good, and rightly so: it is not among the {K} smallest.",
            ),
        ],
    ),
    what_if(
        "What if element i were compared with element i, without the mirror?",
        "Small keys may be lost",
        "If both lists hold some of the {K} smallest keys, these are paired at the same end, and one of \
         each pair is dropped.",
        &[
            (
                "The same keys would be kept, in another order",
                "Not the same: two small keys can form a pair, and one of them is dropped.",
            ),
            ("The {K} largest keys would be kept", "The smaller of each pair still stays."),
            (
                "Nothing: the minimum of two keys is the same either way",
                "The pairs decide which keys are dropped. If a pair has two small keys, one of them is \
                 dropped.",
            ),
        ],
    ),
    what_if(
        "What if K were {2 K}, twice as large: how many layers would follow the minimum?",
        "{last of 2 K}",
        "A bitonic list needs one layer for each stride, from {K} down to 1: one more than before.",
        &[
            ("{2 last}", "Twice the keys add one stride, not twice as many."),
            ("{last}", "That many are enough for {K} keys: strides from {K / 2} down to 1."),
            (
                "{layers of 2 K}",
                "That is the sort of any list. The result of the minimum is bitonic, and nearly sorted.",
            ),
        ],
    ),
    IdeaQuestion {
        suits: |shape| shape.k > 1,
        ..transfer(
            "Each of 8 GPUs has the {k} nearest of its eighth of the points, sorted. How are the {k} \
             nearest of all found with the least work?",
            "Lists are merged in pairs, in 3 rounds",
            "The {k} smallest keys of each pair are kept: 8 lists become 4, then 2, then 1. A point that is \
             not among the {k} nearest of its GPU is not among those of all.",
            &[
                ("From each list, the first eighth is taken", "All {k} neighbours may be on one GPU."),
                (
                    "All points are searched again on one GPU",
                    "The {8 k} keys of the lists are enough: no other point can be a neighbour.",
                ),
                (
                    "The list with the nearest point is the answer",
                    "Its other keys may be farther away than keys of other lists.",
                ),
            ],
        )
    },
];
