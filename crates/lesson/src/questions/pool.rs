//! What is asked about a lesson: a pool of questions that are ready, and rounds of a few of them, drawn anew each time.

use crate::algorithms::OwnStep;
use crate::algorithms::heap::HeapStep;
use crate::algorithms::radix_select::RadixSelectStep;
use crate::algorithms::tree::TreeStep;
use crate::algorithms::warp_select::WarpSelectStep;
use std::ops::Range;

use super::ideas;
use super::random::Random;
use super::{Answer, Ask, Pick, Question};
use crate::algorithms::heap::questions::{of_heaps, rounds_of_lanes};
use crate::algorithms::heap::state::lanes_in;
use crate::algorithms::kernel::questions::of_kernel;
use crate::algorithms::radix_select::questions::of_buckets;
use crate::algorithms::tree::questions::of_tree;
use crate::algorithms::warp_select::questions::of_queues;
use crate::cursor::Cursor;
use crate::lessons::{Lesson, Take};
use crate::recording::{Beside, Recording};
use crate::state::State;
use crate::step::Step;

/// Questions of a kind about each take in a pool.
const EACH: usize = 6;

/// Questions of a kind about each take in a round; of ideas, one of each kind.
pub const EACH_IN_ROUND: usize = 2;

/// No second question of a kind is asked in a round that has so many, unless its answer is yes or no.
const MOST_IN_ROUND: usize = 6;

/// Steps that are tried for each question of a pool: at some of them it would have no clear answer.
const TRIES: usize = 6;

/// A question, and the number of the take that it is about.
pub type Asked = (usize, Question);

/// The questions that are ready about a lesson's takes, without two that are the same; none about a search with a mistake. A seed gives the
/// same ones each time.
pub fn pool(lesson: &Lesson, takes: &[Take], seed: u64) -> Vec<Asked> {
    let mut random = Random::new(seed);
    let mut pool: Vec<Asked> = Vec::new();
    for (number, take) in takes.iter().enumerate().filter(|(_, take)| take.recording.parameters.fault.is_none()) {
        for &ask in lesson.asks {
            let mut found = of_kind(take, ask, &mut random);
            if lesson.arrangements.len() > 1 {
                let order = take.arrangement.name().replace('-', " ");
                found.iter_mut().for_each(|question| question.text = format!("Points {order}: {}", question.text));
            }
            pool.extend(found.into_iter().map(|question| (number, question)));
        }
        // An idea is the same in all takes.
        if number == 0 {
            pool.extend(ideas::about(lesson, take, &mut random).into_iter().map(|question| (number, question)));
        }
    }
    pool
}

/// A few questions of a pool in the order in which they are asked: what is about the whole search first, since any step might give it away, and ideas
/// last, since a reason may give away a step. None tells what a later one asks, and yes and no come up alike.
pub fn round(pool: &[Asked], random: &mut Random) -> Vec<Asked> {
    let mut left: Vec<&Asked> = pool.iter().collect();
    random.shuffle(&mut left);
    let mut kinds: Vec<(usize, Ask)> = pool.iter().map(|(take, question)| (*take, question.ask)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut chosen: Vec<&Asked> = Vec::new();
    // One of each kind before a second of any.
    for turn in 0..EACH_IN_ROUND {
        for &(take, ask) in kinds.iter().filter(|(_, ask)| turn == 0 || !(ask.is_idea() || ask.is_about_all())) {
            let said = chosen.iter().find(|before| (before.0, before.1.ask) == (take, ask)).map(|before| before.1.answer);
            // What was asked with one answer is asked with the other, too.
            if turn > 0 && chosen.len() >= MOST_IN_ROUND && !matches!(said, Some(Answer::YesNo(_))) {
                continue;
            }
            let fits = |other: &&&Asked| (other.0, other.1.ask) == (take, ask) && chosen.iter().all(|before| go_together(before, other));
            // The other answer, where there is one.
            let other = |asked: &&&Asked| matches!((said, asked.1.answer), (Some(Answer::YesNo(said)), Answer::YesNo(other)) if said != other);
            if let Some(found) = left.iter().filter(fits).find(other).or_else(|| left.iter().find(fits)) {
                chosen.push(found);
            }
        }
    }
    random.shuffle(&mut chosen);
    chosen.sort_by_key(|(_, question)| (!question.ask.is_about_all(), question.ask.is_idea()));
    chosen.into_iter().cloned().collect()
}

/// Whether two questions can be asked in one round: they differ, and neither text tells the other's answer, as the ballot of which a slot is asked.
fn go_together((take, one): &Asked, (other_take, other): &Asked) -> bool {
    let is_apart = take != other_take || one.tells() != other.tells() || [one, other].iter().any(|one| one.ask.is_about_all() || one.ask.is_idea());
    let is_shared = one.ask == other.ask && one.ask.shares_steps() && one.subject != other.subject;
    (is_apart || is_shared) && (take, one) != (other_take, other)
}

/// The questions of a kind about a take, up to [`EACH`] at random steps; answers by yes and no alternate where both occur.
fn of_kind(take: &Take, ask: Ask, random: &mut Random) -> Vec<Question> {
    let recording = &take.recording;
    let places = places(recording, take.range.clone(), ask, random);
    let each = if ask.is_about_all() { 1 } else { EACH };
    let mut cursor = Cursor::new(recording.clone());
    let mut found: Vec<Question> = Vec::new();
    let mut wants = random.coin();
    for at in places.into_iter().take(TRIES * EACH) {
        cursor.seek(at);
        let Some(question) = question(recording, ask, at, cursor.state(), &mut Pick { random, wants }) else { continue };
        if found.iter().all(|before| (before.at, before.subject) != (at, question.subject)) {
            wants = question.answer != Answer::YesNo(true);
            found.push(question);
        }
        if found.len() == each {
            break;
        }
    }
    found
}

/// The steps of a range at which a kind of question can be asked, in random order; both answers by turns where the step is the answer.
fn places(recording: &Recording, range: Range<usize>, ask: Ask, random: &mut Random) -> Vec<usize> {
    if ask.is_about_all() {
        return vec![range.start];
    }
    let is_yes = |at: &usize| {
        !matches!(
            recording.steps()[*at],
            Step::Own(OwnStep::WarpSelect(WarpSelectStep::Checked { broken: 0 }))
                | Step::Own(OwnStep::Heap(HeapStep::Branched { lanes: 0 }))
                | Step::Own(OwnStep::Tree(TreeStep::LeftOut { .. }))
        )
    };
    let suitable = range.filter(|&at| suits(ask, at, recording));
    let (mut yes, mut no): (Vec<usize>, Vec<usize>) = match ask {
        Ask::Breaks | Ask::Waits | Ask::Visited => suitable.partition(is_yes),
        _ => (suitable.collect(), Vec::new()),
    };
    random.shuffle(&mut yes);
    random.shuffle(&mut no);
    if ask == Ask::Taken && !yes.is_empty() {
        // A single step has enough elements.
        return yes.iter().cycle().take(TRIES * EACH).copied().collect();
    }
    let (mut yes, mut no) = (yes.into_iter(), no.into_iter());
    let mut turns = Vec::with_capacity(yes.len() + no.len());
    while yes.len() + no.len() > 0 {
        turns.extend([yes.next(), no.next()].into_iter().flatten());
    }
    turns
}

/// Whether a step makes a good question of a kind.
fn suits(ask: Ask, at: usize, recording: &Recording) -> bool {
    let (step, shape) = (&recording.steps()[at], recording.shape());
    match (ask, step) {
        // If all lanes vote, as before the first merge, the answer is trivial.
        (Ask::Votes, Step::Ballot { mask }) => *mask != 0 && mask.count_ones() < shape.width,
        (Ask::Slot, Step::Positions { slots }) => slots.len() > 1 && slots.len() < shape.width as usize && slots[1].slot < shape.capacity(),
        (Ask::Partner, Step::Layer { shuffle, .. }) => shuffle.is_some(),
        (Ask::Swaps, Step::Layer { .. }) | (Ask::Taken, Step::Minimum { .. }) => true,
        (Ask::Child, Step::Own(OwnStep::Tree(TreeStep::Child { .. }))) | (Ask::Visited, Step::Own(OwnStep::Tree(TreeStep::Child { .. }))) => true,
        (Ask::Visited, Step::Own(OwnStep::Tree(TreeStep::LeftOut { lanes }))) => *lanes != 0,
        (Ask::Takes, Step::Own(OwnStep::WarpSelect(WarpSelectStep::Inserted { placed }))) => {
            !placed.is_empty() && placed.len() < shape.width as usize
        }
        (Ask::Inserts, Step::Own(OwnStep::Heap(HeapStep::Branched { lanes }))) => *lanes != 0 && lanes.count_ones() < shape.width,
        (Ask::Waits, Step::Own(OwnStep::Heap(HeapStep::Branched { lanes }))) => lanes.count_ones() < shape.width,
        (Ask::Rounds | Ask::Idle, Step::Own(OwnStep::Heap(HeapStep::Sank { lanes, .. }))) => {
            // The first round of an insertion in which lanes need different numbers of them.
            let begins = matches!(recording.steps()[at - 1], Step::Own(OwnStep::Heap(HeapStep::Branched { .. })));
            let own = rounds_of_lanes(recording, at, shape.width);
            let needs: Vec<u32> = lanes_in(*lanes).map(|lane| own[lane as usize]).collect();
            begins && lanes.count_ones() < shape.width && needs.len() > 1 && needs.len() < 7 && needs.iter().any(|&needed| needed != needs[0])
        }
        (Ask::Breaks, Step::Own(OwnStep::WarpSelect(WarpSelectStep::Checked { .. })))
        | (Ask::Bucket | Ask::Left, Step::Own(OwnStep::RadixSelect(RadixSelectStep::Bucket { .. }))) => true,
        _ => false,
    }
}

fn question(recording: &Recording, ask: Ask, at: usize, before: &State, pick: &mut Pick<'_>) -> Option<Question> {
    match recording.held_against() {
        Beside::Theory => of_kernel(recording, ask, at, before, pick),
        Beside::Tree(_) => of_tree(recording, ask, at, before, pick),
        Beside::Queues(queued) => of_queues(recording, queued, ask, at, before),
        Beside::Digits(_) => of_buckets(recording, ask, at, before),
        Beside::Heaps => of_heaps(recording, ask, at, before, pick),
    }
}
