//! One sentence per step that a mistake changes: what was done instead, without a name for it.

use crate::describe::{capital, lanes};
use crate::engines::lockstep::Fault;
use crate::state::State;
use crate::step::Step;
use crate::text::{count, significant, thousands};

/// Describes a step of a search with a mistake; `None` if the step is as it should be.
pub(crate) fn describe_fault(step: &Step, after: &State, fault: Fault) -> Option<String> {
    let (shape, all) = (after.shape, thousands(after.shape.capacity().into()));
    match (fault, step) {
        (Fault::NoBarrier, Step::Appended { placed }) if after.waiting != 0 => {
            let wrote = count(placed.len() as u64, "candidate is", "candidates are");
            let (who, verb) = (capital(&lanes(after.waiting, shape.width)), if after.waiting.count_ones() == 1 { "has" } else { "have" });
            Some(format!("{wrote} written to the buffer, which holds {} of {all}. {who} {verb} not written yet.", thousands(after.buffered.into())))
        }
        (Fault::NoBarrier, Step::BufferFull) => {
            Some(format!("All {all} slots are given away, {} hold a candidate, and the buffer is merged.", thousands(after.buffered.into())))
        }
        (Fault::NoMirror, Step::Minimum { taken }) => {
            let stay = thousands((shape.capacity() - taken.count()).into());
            let come = thousands(taken.count().into());
            Some(format!(
                "Element i becomes the smaller of candidate i and element i of the intermediate result: {stay} of the candidates stay, {come} of the intermediate result."
            ))
        }
        (Fault::NoRevote, Step::FilteredAgain { rest, .. }) => {
            let verb = if rest.count_ones() == 1 { "had no slot, and goes" } else { "had no slot, and go" };
            Some(format!("{} {verb} into the buffer now, whatever max_distance is.", capital(&lanes(*rest, shape.width))))
        }
        (Fault::Dropped, Step::FilteredAgain { rest, .. }) => {
            let verb = if rest.count_ones() == 1 { "had no slot, and is" } else { "had no slot, and are" };
            Some(format!("{} {verb} not asked again: the group is done.", capital(&lanes(*rest, shape.width))))
        }
        (Fault::Stale, Step::MaxDistance { max_distance, .. }) => {
            let bound = if max_distance.is_infinite() { "infinite".to_owned() } else { significant((*max_distance).into()) };
            Some(format!("Merge {} is done. max_distance is {bound}, as before.", thousands(after.counts.merges.into())))
        }
        _ => None,
    }
}
