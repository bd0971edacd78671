//! The kinds of points in the panel of the cloud: what each colour means, with counts.

use super::View;
use super::legend::Entry;
use super::moment::{divided, nearest, vote, waiting};
use super::scene::Ink;
use crate::algorithms::heap::own_queries;
use crate::algorithms::tree::boxes;
use crate::recording::Beside;
use crate::state::Stage;
use crate::text::thousands;

/// Whether the registers hold the candidates.
pub(super) fn is_merging(view: &View<'_>) -> bool {
    matches!(view.cursor.state().stage, Stage::Sort | Stage::Merge)
}

/// The legend's entries, with counts.
pub(super) fn kinds(view: &View<'_>) -> Vec<Entry> {
    let state = view.cursor.state();
    let mut kinds =
        vec![(Ink::Text, "query".to_owned(), true), (Ink::Neighbor, nearest_kept(nearest(view.cursor).len() as u64, state.shape.k.into()), true)];
    match view.cursor.recording().held_against() {
        Beside::Queues(_) => return of_queues(view, kinds),
        Beside::Digits(_) => return of_digits(view, kinds),
        Beside::Heaps => {
            kinds.remove(0);
            kinds[0].1 = format!("{} of {} in lane 0's heap", thousands(nearest(view.cursor).len() as u64), thousands(state.shape.k.into()));
            kinds.extend(own_queries::KINDS.map(|(ink, words, filled)| (ink, words.to_owned(), filled)));
            return kinds;
        }
        Beside::Theory | Beside::Tree(_) => {}
    }
    if is_merging(view) {
        kinds.push((Ink::Candidate, "earlier candidates".to_owned(), true));
        return kinds;
    }
    kinds.push((Ink::Buffer, format!("{} in the buffer", thousands(waiting(state).len() as u64)), true));
    if let Some([accepted, rejected]) = votes(view) {
        kinds.push((Ink::Candidate, format!("{accepted} accepted now"), true));
        kinds.push((Ink::Rejected, format!("{rejected} rejected"), false));
    }
    if state.descent().is_some() {
        kinds.extend(boxes::KINDS.map(|(ink, words, filled)| (ink, words.to_owned(), filled)));
    }
    kinds
}

/// How many of k neighbours are known.
pub(super) fn nearest_kept(known: u64, k: u64) -> String {
    format!("intermediate result: {} of {}", thousands(known), thousands(k))
}

/// How many points the last vote accepted and rejected, once it was held; of warp select, how many the lanes took and did not take.
fn votes(view: &View<'_>) -> Option<[usize; 2]> {
    let vote = vote(view.cursor)?;
    let [_, accepted, rejected] = divided(&vote, view.cursor);
    let taken = vote.mask?.count_ones() as usize;
    Some([if view.cursor.state().queues().is_some() { taken } else { accepted.len() }, rejected.len()])
}

/// Those of warp select.
fn of_queues(view: &View<'_>, mut kinds: Vec<Entry>) -> Vec<Entry> {
    let state = view.cursor.state();
    kinds[1].1 = format!("{} of {} in the warp's queue", thousands(nearest(view.cursor).len() as u64), thousands(state.shape.k.into()));
    kinds.push((Ink::Buffer, format!("{} in the lanes' queues", thousands(waiting(state).len() as u64)), true));
    match votes(view).filter(|_| !is_merging(view)) {
        Some([taken, left]) => {
            kinds.push((Ink::Candidate, format!("{taken} taken; paler: fell out"), true));
            kinds.push((Ink::Rejected, format!("{left} not taken"), false));
        }
        None => kinds.push((Ink::Candidate, "taken; paler: fell out".to_owned(), true)),
    }
    kinds
}

/// Those of a selection by digits.
fn of_digits(view: &View<'_>, mut kinds: Vec<Entry>) -> Vec<Entry> {
    let (below, left, is_gathered) = match view.cursor.state().buckets() {
        Some(buckets) => (buckets.below, (!buckets.passes.is_empty()).then_some(buckets.left), buckets.is_gathered),
        None => (0, None, false),
    };
    kinds[1].1 = if is_gathered {
        format!("{} nearest", thousands(nearest(view.cursor).len() as u64))
    } else {
        format!("{} neighbours for sure", thousands(below.into()))
    };
    let left = left.filter(|_| !is_gathered).map_or_else(|| "left after a pass".to_owned(), |left| format!("{} left", thousands(left.into())));
    kinds.push((Ink::Candidate, left, true));
    kinds
}
