//! What is said and shown with a question beside the answer itself: what it is about in the picture, and why the answer is right.

use super::account::account;
use super::cursor::Cursor;
use super::picture::Target;
use super::picture::sentence::sentence;
use super::questions::{Ask, Question};
use super::recording::{Beside, Recording};
use super::step::Step;
use crate::text::{count, significant, thousands};

/// What a question is about: the picture rings it while the question is open.
pub fn subjects(question: &Question, recording: &Recording) -> Vec<Target> {
    let subject = question.subject;
    match question.ask {
        Ask::Slot | Ask::Partner | Ask::Visited => vec![Target::Lane(subject)],
        Ask::Swaps => {
            let partner = match recording.steps().get(question.at) {
                Some(Step::Layer { layer, .. }) => Some(Target::Element(subject ^ layer.stride)),
                _ => None,
            };
            std::iter::once(Target::Element(subject)).chain(partner).collect()
        }
        Ask::Taken => vec![Target::Element(subject), Target::Slot(recording.shape().mirror_of(subject))],
        Ask::Votes | Ask::Merges | Ask::Leaves | Ask::Order | Ask::Child | Ask::Takes | Ask::Breaks | Ask::Bucket | Ask::Left => Vec::new(),
    }
}

/// Why the answer is what it is: what the step before the cursor did, or what is said of the whole search.
pub fn why(question: &Question, cursor: &Cursor) -> String {
    let recording = cursor.recording();
    match question.ask {
        Ask::Merges => {
            if let Beside::Queues(queued) = recording.held_against() {
                return format!(
                    "A merge of the lanes' queues brings {} keys on average, since one lane is enough to cause it. A buffer of {} needs {} for the same points, and brings {} in each.",
                    significant(f64::from(queued.came) / f64::from(queued.merges)),
                    thousands(recording.shape().capacity().into()),
                    count(queued.buffer.merges.into(), "merge", "merges"),
                    significant(f64::from(queued.buffer.came) / f64::from(queued.buffer.merges))
                );
            }
        }
        Ask::Leaves => {
            return "The leaves that are visited lie where the circle around the k-th neighbour is; all others were left out by their boxes."
                .to_owned();
        }
        Ask::Order => {
            return "What is found late bounds the search late: more boxes look as if they mattered before the neighbours are known.".to_owned();
        }
        _ => return sentence(cursor),
    }
    let account = account(cursor.state());
    format!(
        "In random order, at most {} are expected on average; were every point a candidate, there would be {}.",
        significant(account.expected_in_the_end.merges),
        account.worst_merges
    )
}
