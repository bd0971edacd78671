//! The sentences of per-thread heaps, where they differ from those of the kernel.

use crate::algorithms::SpecificStep;
use crate::algorithms::heap::HeapStep;
use crate::algorithms::heap::state::Heaps;
use crate::describe::{capital, key, lanes, smallest};
use crate::state::State;
use crate::step::Step;
use crate::text::{count, thousands};

/// Describes a step that only this algorithm has. `after` is the state after it.
fn describe_own(step: &HeapStep, after: &State, heaps: &Heaps) -> Option<String> {
    let width = heaps.width;
    Some(match step {
        HeapStep::Heaps { .. } => format!(
            "Each of the {width} lanes has its own query and a heap of {}, the largest at the root. The \
             heaps are empty: any distance is below the root.",
            count(heaps.k.into(), "key", "keys")
        ),
        HeapStep::OwnDistances { point, distances } => {
            let nearest = smallest(distances);
            format!(
                "Every lane computes the squared distance of the same point, {}, to its own query{nearest}.",
                thousands((*point).into())
            )
        }
        HeapStep::Branched { lanes: 0 } => {
            "No lane's distance is below its own root: no key is inserted, and no lane waits.".to_owned()
        }
        HeapStep::Branched { lanes: mask } => branched(*mask, width),
        HeapStep::Sank { lanes: mask, moved } => {
            let sinking = moved.iter().fold(0, |sinking, slot| sinking | 1 << slot.lane);
            sank(*mask, sinking, heaps)
        }
        HeapStep::Rejoined { lanes: mask } => rejoined(*mask, after, heaps),
        HeapStep::Extracted { end } if *end == heaps.k => format!(
            "All points are seen, and the heaps are sorted. In every lane the root, the largest key, swaps \
             with the last, entry {}, whose key sinks from the root.",
            end - 1
        ),
        HeapStep::Extracted { end } => format!(
            "The largest of the first {} is at the root: it swaps with entry {}, whose key sinks from the \
             root.",
            thousands((*end).into()),
            thousands(u64::from(end - 1))
        ),
    })
}

/// Describes a step. `after` is the state after it; `None` if the sentence of the kernel applies.
pub fn describe(step: &Step, after: &State, heaps: &Heaps) -> Option<String> {
    let width = heaps.width;
    Some(match step {
        Step::Own(SpecificStep::Heap(step)) => describe_own(step, after, heaps)?,
        Step::Finished => format!(
            "The search is done: {width} queries are answered. The warp stopped to insert at {} of {}; lane \
             0 inserted at {} of these, and waited at the others.",
            thousands(heaps.stops.into()),
            count(after.shape.n.into(), "point", "points"),
            thousands(after.counts.merges.into())
        ),
        _ => return None,
    })
}

fn branched(mask: u32, width: u32) -> String {
    let (who, waiting) = (capital(&lanes(mask, width)), width - mask.count_ones());
    let (have, own) = if mask.count_ones() == 1 { ("has", "its") } else { ("have", "their") };
    let wait = match waiting {
        0 => "No lane waits.".to_owned(),
        1 => "The other lane is masked out: it waits until this is done.".to_owned(),
        _ => format!("The other {waiting} lanes are masked out: they wait until this is done."),
    };
    format!(
        "{who} {have} a distance below {own} own root: the root drops out, and the new key sinks from \
         there. {wait}"
    )
}

fn sank(mask: u32, sinking: u32, heaps: &Heaps) -> String {
    let width = heaps.width;
    let moved = match sinking {
        0 => String::new(),
        _ => format!("in {} the larger child rises, and the key sinks by a level", lanes(sinking, width)),
    };
    let settled = mask & !sinking;
    let settled = match settled {
        0 => String::new(),
        _ => format!("in {} no child is larger than the key: it stays", lanes(settled, width)),
    };
    let waiting = width - mask.count_ones();
    let both: Vec<String> = [moved, settled].into_iter().filter(|words| !words.is_empty()).collect();
    let wait = match waiting {
        0 => String::new(),
        _ => format!(" {} of {width} lanes {}.", waiting, if waiting == 1 { "waits" } else { "wait" }),
    };
    format!("Round {}: {}.{wait}", heaps.rounds, both.join("; "))
}

fn rejoined(mask: u32, after: &State, heaps: &Heaps) -> String {
    let (inserted, waiting) = (mask.count_ones(), heaps.width - mask.count_ones());
    let rounds = count(heaps.rounds.into(), "round", "rounds");
    let waited = match waiting {
        0 => "and none waited".to_owned(),
        1 => "and 1 waited".to_owned(),
        _ => format!("and {waiting} waited"),
    };
    let own = match (mask & 1 == 1, after.max_distance.is_infinite()) {
        (true, true) => " Lane 0's heap is not full yet.".to_owned(),
        (true, false) => format!(" Lane 0's k-th is at {} now.", key(heaps.root(0))),
        (false, _) => " Lane 0 only waited.".to_owned(),
    };
    format!(
        "All lanes reconverge: {} inserted in {rounds} of sinking, {waited}.{own}",
        count(inserted.into(), "lane", "lanes")
    )
}
