//! The sentences of the tree search, where they differ from those of the kernel.

use crate::algorithms::SpecificStep;
use crate::algorithms::tree::TreeStep;
use crate::algorithms::tree::state::{Descent, lanes_where, leaf_count};
use crate::describe::{capital, hex, key, lanes};
use crate::engines::index::WARP;
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::state::State;
use crate::step::Step;
use crate::text::{count, significant, thousands};

/// Describes a step that only this algorithm has. `after` is the state after it.
fn describe_own(step: &TreeStep, after: &State, descent: &Descent) -> Option<String> {
    let width = after.shape.width;
    Some(match step {
        TreeStep::OwnLeaf { leaf } => format!(
            "The query's code falls into leaf {} of {}, by the leaves' codes alone. Its points are probably \
             close: they come first, to bound the search.",
            thousands(u64::from(*leaf)),
            thousands(leaf_count(after)),
        ),
        TreeStep::Leaf { leaf, keys } => {
            let points = lanes_where(keys, |key| key != PADDING).count_ones();
            let nearest = (0..)
                .zip(keys)
                .min_by_key(|&(_, key)| key)
                .map_or_else(String::new, |(lane, &nearest): (u32, _)| {
                    format!("; the smallest is {}, in lane {lane}", key(nearest))
                });
            format!(
                "Leaf {}: {} the squared distance of one of its {}{nearest}.",
                thousands(u64::from(*leaf)),
                if points == width { "every lane computes" } else { "one lane per point computes" },
                count(points.into(), "point", "points"),
            )
        }
        TreeStep::Node { height, group } => {
            let node = descent.node()?;
            let (first, last) =
                (node.child(0).1, last_box(after, *height).min(node.child(WARP as u32 - 1).1));
            let where_to = if descent.path.len() == 1 {
                "The search begins at the root".to_owned()
            } else {
                format!("Down to node {} of height {}", thousands((*group).into()), height + 1)
            };
            format!(
                "{where_to}: every lane loads the box of one of its {}, {}.",
                count(u64::from(last - first + 1), "child", "children"),
                children(*height, first, last)
            )
        }
        TreeStep::Boxes { keys } => boxes(keys, after, descent),
        TreeStep::Child { lane } => {
            let node = descent.node()?;
            let (height, number) = node.child(*lane);
            let at = distance_of(*node.keys.get(*lane as usize)?);
            let why = match after.last() {
                PADDING => format!("fewer than {} neighbours are known", thousands(after.shape.k.into())),
                _ if at == 0.0 => "the query is inside it".to_owned(),
                last => format!("a point in it may be nearer than {}{}", bound(after), tie(at, last)),
            };
            format!(
                "Of the remaining boxes lane {lane}'s is nearest, at {}: {why}, and {} {} is visited.",
                distance(at),
                child_noun(height),
                thousands(number.into())
            )
        }
        TreeStep::Pruned { lanes: out } => describe_pruned(*out, after, descent)?,
        TreeStep::Merged => {
            let all = thousands(after.shape.capacity().into());
            format!(
                "The {all} candidates in the buffer are sorted and merged with the {all} of the \
                 intermediate result, by the same network as in brute force: the {all} smallest stay."
            )
        }
    })
}

/// Describes a step. `after` is the state after it; `None` if the sentence of the kernel applies.
pub fn describe(step: &Step, after: &State, descent: &Descent) -> Option<String> {
    let width = after.shape.width;
    Some(match step {
        Step::Own(SpecificStep::Tree(step)) => describe_own(step, after, descent)?,
        Step::Ballot { mask } => {
            let ballot = hex(*mask, width);
            match (mask, after.last()) {
                (0, _) => format!(
                    "No point of the leaf is nearer than {}: ballot {ballot}, and the leaf is done.",
                    bound(after)
                ),
                (_, PADDING) => format!(
                    "{} a candidate, as fewer than {} neighbours are known: ballot {ballot}.",
                    if mask.count_ones() == 1 {
                        "The point is".to_owned()
                    } else {
                        format!("{} have", capital(&lanes(*mask, width)))
                    },
                    thousands(after.shape.k.into())
                ),
                _ => {
                    let verb = if mask.count_ones() == 1 { "has a point" } else { "have points" };
                    format!(
                        "{} {verb} nearer than {}: ballot {ballot}.",
                        capital(&lanes(*mask, width)),
                        bound(after)
                    )
                }
            }
        }
        Step::FilteredAgain { rest, mask } => {
            let had = if rest.count_ones() == 1 { "had no slot and votes" } else { "had no slot and vote" };
            let answer = if *mask == 0 {
                "none is still nearer".to_owned()
            } else {
                format!("{} still nearer", lanes_are(*mask, width))
            };
            format!(
                "{} {had} again, against {}: {answer}, ballot {}.",
                capital(&lanes(*rest, width)),
                bound(after),
                hex(*mask, width)
            )
        }
        Step::Padded { first } => {
            let (held, all) = (thousands((*first).into()), thousands(after.shape.capacity().into()));
            format!(
                "The root is done. The buffer holds {held} of {all}: the free slots are filled with \
                 infinite distances, and it is merged."
            )
        }
        Step::MaxDistance { points_seen, before, max_distance } => {
            let k = thousands(after.shape.k.into());
            let change = match (max_distance.is_infinite(), before == max_distance) {
                (true, _) => format!("Fewer than {k} neighbours are known"),
                (_, true) => format!("Neighbour {k} stays at {}", distance(*max_distance)),
                _ if before.is_infinite() => format!(
                    "Neighbour {k} is at {} now: only nearer points still matter",
                    distance(*max_distance)
                ),
                _ => format!(
                    "Neighbour {k} is at {} now, at {} before",
                    distance(*max_distance),
                    distance(*before)
                ),
            };
            // These have not been compared with the new bound yet.
            let waiting = match after.waiting.count_ones() {
                0 => String::new(),
                1 => "; 1 of them waits".to_owned(),
                lanes => format!("; {lanes} of them wait"),
            };
            let looked = count((*points_seen).into(), "point", "points");
            format!("Merge {} is done. {change}. {looked} evaluated so far{waiting}.", after.counts.merges)
        }
        Step::Finished => {
            let counts = after.counts;
            format!(
                "The search is done: {} of {} points were evaluated, in {} under {}; {} pruned. Brute force \
                 evaluates all {}.",
                thousands(counts.points_seen.into()),
                thousands(after.shape.n.into()),
                count(counts.groups.into(), "leaf", "leaves"),
                count(descent.nodes.into(), "node", "nodes"),
                count(descent.pruned.len() as u64, "box was", "boxes were"),
                thousands(after.shape.n.into())
            )
        }
        _ => return None,
    })
}

fn boxes(keys: &[Key], after: &State, descent: &Descent) -> String {
    let all = lanes_where(keys, |key| key != PADDING).count_ones();
    let nearest = (0u32..).zip(keys).min_by_key(|&(_, key)| key).filter(|(_, key)| **key != PADDING);
    let Some((lane, &nearest)) = nearest else {
        return "The node's only child is the leaf that was visited first.".to_owned();
    };
    let below = descent.node().map_or(0, |node| node.below(after.last())).count_ones();
    let of = match after.last() {
        PADDING => String::new(),
        _ => format!(
            " {} of {} {} nearer than {}.",
            thousands(below.into()),
            thousands(all.into()),
            if below == 1 { "is" } else { "are" },
            bound(after)
        ),
    };
    format!(
        "Every lane clamps the query to its box, axis by axis. No point of the box is nearer than the \
         result. The nearest is lane {lane}'s, at {}.{of}",
        distance(distance_of(nearest))
    )
}

fn describe_pruned(out: u32, after: &State, descent: &Descent) -> Option<String> {
    let node = descent.done.as_ref()?;
    let then =
        if descent.path.is_empty() { "the root is done" } else { "the search continues in the node above" };
    let Some((lane, nearest)) = node.nearest() else { return Some(format!("No child remains: {then}.")) };
    let at = distance_of(nearest);
    let those = match out.count_ones() {
        1 => "it is pruned".to_owned(),
        boxes => format!("all {boxes} remaining boxes are pruned at once"),
    };
    Some(format!(
        "The nearest remaining box, lane {lane}'s at {}, is not nearer than {}{}: {those}, and {then}.",
        distance(at),
        bound(after),
        tie(at, after.last())
    ))
}

/// The number of the last box of a height.
fn last_box(state: &State, height: u32) -> u32 {
    let count = (0..height).fold(leaf_count(state), |count, _| count.div_ceil(WARP as u64));
    count as u32 - 1
}

/// The children of a node.
fn children(height: u32, first: u32, last: u32) -> String {
    let (first, last) = (thousands(first.into()), thousands(last.into()));
    let many = if height == 0 { "leaves" } else { "nodes" };
    if first == last {
        format!("{} {first}", child_noun(height))
    } else {
        format!("{many} {first} to {last}")
    }
}

/// The name of a child of a node.
fn child_noun(height: u32) -> &'static str {
    if height == 0 { "leaf" } else { "node" }
}

/// The k-th neighbour so far.
fn bound(after: &State) -> String {
    match after.last() {
        PADDING => "neighbours that are not known yet".to_owned(),
        last => format!("neighbour {}, at {}", thousands(after.shape.k.into()), distance(distance_of(last))),
    }
}

/// A remark on the tie rule, for equal distances.
fn tie(at: f32, last: Key) -> &'static str {
    if at == distance_of(last) { " (among equal distances, the smaller position wins)" } else { "" }
}

fn lanes_are(mask: u32, width: u32) -> String {
    format!("{} {}", lanes(mask, width), if mask.count_ones() == 1 { "is" } else { "are" })
}

fn distance(distance: f32) -> String {
    significant(distance.into())
}
