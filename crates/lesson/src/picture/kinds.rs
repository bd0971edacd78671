//! The kinds of points in the panel of the cloud: what each colour means, with counts.

use super::View;
use super::legend::Entry;
use super::moment::{divided, nearest, vote, waiting};
use super::scene::Ink;
use crate::state::Stage;
use crate::text::thousands;

/// Whether the registers hold the candidates.
pub(crate) fn is_merging(view: &View<'_>) -> bool {
    matches!(view.cursor.state().stage, Stage::Sort | Stage::Merge)
}

/// The legend's entries, with counts.
pub(super) fn kinds(view: &View<'_>) -> Vec<Entry> {
    view.cursor.recording().algorithm().legend(view)
}

/// The query, and what is known of the nearest, in these words.
pub(crate) fn query_and(nearest: String) -> Vec<Entry> {
    vec![(Ink::Text, "query".to_owned(), true), (Ink::Neighbor, nearest, true)]
}

/// The entries of a search whose candidates wait in a buffer.
pub(crate) fn of_buffer(view: &View<'_>) -> Vec<Entry> {
    let state = view.cursor.state();
    let mut kinds = query_and(nearest_kept(nearest(view.cursor).len() as u64, state.shape.k.into()));
    if is_merging(view) {
        kinds.push((Ink::Candidate, "earlier candidates".to_owned(), true));
        return kinds;
    }
    kinds.push((Ink::Buffer, format!("{} in the buffer", thousands(waiting(state).len() as u64)), true));
    if let Some([accepted, rejected]) = votes(view) {
        kinds.push((Ink::Candidate, format!("{accepted} accepted now"), true));
        kinds.push((Ink::Rejected, format!("{rejected} rejected"), false));
    }
    kinds
}

/// How many of k neighbours are known.
pub(super) fn nearest_kept(known: u64, k: u64) -> String {
    format!("intermediate result: {} of {}", thousands(known), thousands(k))
}

/// How many points the last vote accepted and rejected, once it was held; of warp select, how many the lanes took and did not take.
pub(crate) fn votes(view: &View<'_>) -> Option<[usize; 2]> {
    let vote = vote(view.cursor)?;
    let [_, accepted, rejected] = divided(&vote, view.cursor);
    let taken = vote.mask?.count_ones() as usize;
    Some([if view.cursor.state().queues().is_some() { taken } else { accepted.len() }, rejected.len()])
}
