//! The pool of questions about a lesson, and rounds of a few of them, drawn anew each time.

use std::cmp::Reverse;
use std::ops::Range;

use super::{Answer, AnswerForm, ClickTarget, Question, QuestionPicker, Reply, Rng, Topic, ideas};
use crate::cursor::Cursor;
use crate::lessons::{Lesson, Take};
use crate::recording::Recording;
use crate::state::Shape;

/// Questions per kind and take in a pool.
const PER_TOPIC: usize = 6;

/// Questions per kind and take in a round; one per kind for ideas.
pub const PER_TOPIC_IN_ROUND: usize = 2;

/// A round with this many questions gets a second one of a kind only if the answer is yes or no.
const FULL_ROUND: usize = 6;

/// Steps to try for each question of a pool: at some, it has no clear answer.
const MAX_TRIES: usize = 6;

/// A take's number and a question about it.
pub type TakeQuestion = (usize, Question);

/// The questions about a lesson's takes, without duplicates; none about a faulty search. A seed always gives
/// the same ones.
pub fn pool(lesson: &Lesson, takes: &[Take], seed: u64) -> Vec<TakeQuestion> {
    let mut random = Rng::new(seed);
    let mut pool: Vec<TakeQuestion> = Vec::new();
    for (number, take) in
        takes.iter().enumerate().filter(|(_, take)| take.recording.parameters.fault.is_none())
    {
        for &topic in lesson.topics {
            let mut found = draw_questions(take, topic, &mut random);
            if lesson.arrangements.len() > 1 {
                let order = take.arrangement.name().replace('-', " ");
                found
                    .iter_mut()
                    .for_each(|question| question.text = format!("Points {order}: {}", question.text));
            }
            pool.extend(found.into_iter().map(|question| (number, question)));
        }
        // An idea is the same in all takes.
        if number == 0 {
            pool.extend(
                ideas::about(lesson, take, &mut random).into_iter().map(|question| (number, question)),
            );
        }
    }
    pool
}

/// A few questions of a pool, by [`Topic::rank`]. None reveals the answer of a later one, and yes and no are
/// balanced.
pub fn round(pool: &[TakeQuestion], random: &mut Rng) -> Vec<TakeQuestion> {
    let mut left: Vec<&TakeQuestion> = pool.iter().collect();
    random.shuffle(&mut left);
    let mut topics: Vec<(usize, Topic)> =
        pool.iter().map(|(take, question)| (*take, question.topic)).collect();
    topics.sort_unstable();
    topics.dedup();
    let mut chosen: Vec<&TakeQuestion> = Vec::new();
    // One of each kind before a second of any.
    for turn in 0..PER_TOPIC_IN_ROUND {
        for &(take, topic) in
            topics.iter().filter(|(_, topic)| turn == 0 || !(topic.is_idea() || topic.is_about_all()))
        {
            let said = chosen
                .iter()
                .find(|before| (before.0, before.1.topic) == (take, topic))
                .map(|before| before.1.answer);
            // A yes/no kind is asked with both answers.
            if turn > 0 && chosen.len() >= FULL_ROUND && !matches!(said, Some(Answer::YesNo(_))) {
                continue;
            }
            let fits = |other: &&&TakeQuestion| {
                (other.0, other.1.topic) == (take, topic)
                    && chosen.iter().all(|before| are_compatible(before, other))
            };
            // The opposite of the first answer.
            let other = |asked: &&&TakeQuestion| {
                matches!(
                    (said, asked.1.answer),
                    (Some(Answer::YesNo(said)), Answer::YesNo(other)) if said != other
                )
            };
            if let Some(found) = left.iter().filter(fits).find(other).or_else(|| left.iter().find(fits)) {
                chosen.push(found);
            }
        }
    }
    random.shuffle(&mut chosen);
    chosen.sort_by_key(|(_, question)| question.topic.rank());
    chosen.into_iter().cloned().collect()
}

/// Whether two questions can be asked in one round: they differ, and neither text reveals the other's answer,
/// as a slot question reveals the ballot.
fn are_compatible((take, one): &TakeQuestion, (other_take, other): &TakeQuestion) -> bool {
    let is_apart = take != other_take
        || one.revealed_step() != other.revealed_step()
        || [one, other].iter().any(|one| one.topic.is_about_all() || one.topic.is_idea());
    let is_shared = one.topic == other.topic && one.topic.shares_steps() && one.subject != other.subject;
    (is_apart || is_shared) && (take, one) != (other_take, other)
}

/// Up to [`PER_TOPIC`] questions of a kind about a take, at random steps; yes and no alternate where both
/// occur.
fn draw_questions(take: &Take, topic: Topic, random: &mut Rng) -> Vec<Question> {
    let recording = &take.recording;
    let steps = suitable_steps(recording, take.range.clone(), topic, random);
    let each = if topic.is_about_all() { 1 } else { PER_TOPIC };
    let mut cursor = Cursor::new(recording.clone());
    let mut found: Vec<Question> = Vec::new();
    let mut preferred = random.coin();
    for at in steps.into_iter().take(MAX_TRIES * PER_TOPIC) {
        cursor.seek(at);
        let mut pick = QuestionPicker { recording, topic, at, before: cursor.state(), random, preferred };
        let Some(question) = recording.algorithm().question(&mut pick) else { continue };
        if found.iter().all(|before| (before.at, before.subject) != (at, question.subject)) {
            preferred = question.answer != Answer::YesNo(true);
            found.push(question);
        }
        if found.len() == each {
            break;
        }
    }
    found
}

/// The steps of a range that suit a kind of question, in random order; yes and no alternate if the step
/// decides the answer.
fn suitable_steps(recording: &Recording, range: Range<usize>, topic: Topic, random: &mut Rng) -> Vec<usize> {
    if topic.is_about_all() {
        return vec![range.start];
    }
    let algorithm = recording.algorithm();
    let is_yes = |at: &usize| algorithm.is_yes(&recording.steps()[*at]);
    let suitable = range.filter(|&at| algorithm.suits(topic, at, recording));
    let (mut yes, mut no): (Vec<usize>, Vec<usize>) = match topic {
        Topic::Breaks | Topic::Waits | Topic::Visited => suitable.partition(is_yes),
        _ => (suitable.collect(), Vec::new()),
    };
    random.shuffle(&mut yes);
    random.shuffle(&mut no);
    if topic == Topic::Taken && !yes.is_empty() {
        // One step has enough elements for all questions.
        return yes.iter().cycle().take(MAX_TRIES * PER_TOPIC).copied().collect();
    }
    let (mut yes, mut no) = (yes.into_iter(), no.into_iter());
    let mut turns = Vec::with_capacity(yes.len() + no.len());
    while yes.len() + no.len() > 0 {
        turns.extend([yes.next(), no.next()].into_iter().flatten());
    }
    turns
}

// Options for any question, for a class that votes: the right answer among misconceptions and near misses.

/// Maximum number of options: A to D.
pub const MAX_POLL_OPTIONS: usize = 4;

/// An option to vote for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollOption {
    /// The reply.
    pub reply: Reply,
    /// The reply in words.
    pub text: String,
}

/// Two to four options for a question, exactly one of them right; numbers ascending, lanes and ideas in
/// random order.
pub fn poll_options(question: &Question, shape: Shape, random: &mut Rng) -> Vec<PollOption> {
    let mut replies = vec![question.answer.reply()];
    let mistakes = question.misconceptions.iter().map(|misconception| misconception.reply);
    for reply in mistakes.chain(near_misses(question, shape, random)) {
        if replies.len() < MAX_POLL_OPTIONS
            && !replies.contains(&reply)
            && !question.answer.accepts(reply)
            && question.is_possible(reply)
        {
            replies.push(reply);
        }
    }
    match question.answer {
        // Options keep their drawn order.
        Answer::Choice(_) | Answer::Number { .. } => replies.sort_by_key(|reply| match reply {
            Reply::Number(number) | Reply::Choice(number) => *number,
            Reply::Lanes(_) | Reply::YesNo(_) => 0,
        }),
        Answer::YesNo(_) => replies.sort_by_key(|reply| Reverse(*reply == Reply::YesNo(true))),
        Answer::Lanes(_) => random.shuffle(&mut replies),
    }
    replies.into_iter().map(|reply| PollOption { text: question.words(reply, shape.width), reply }).collect()
}

/// Plausible wrong answers, the likeliest first.
fn near_misses(question: &Question, shape: Shape, random: &mut Rng) -> Vec<Reply> {
    match question.answer {
        Answer::YesNo(right) => vec![Reply::YesNo(!right)],
        Answer::Choice(_) => (0..question.options.len() as u32).map(Reply::Choice).collect(),
        Answer::Lanes(right) => {
            let all = u32::MAX >> (32 - shape.width);
            let bit = |random: &mut Rng| 1 << random.below(shape.width as usize);
            // The complement, counted from 1, one too many or too few.
            let masks = [
                all & !right,
                (right << 1) & all,
                right ^ bit(random),
                right ^ bit(random),
                right ^ bit(random),
                right >> 1,
                all,
            ];
            masks.into_iter().map(Reply::Lanes).collect()
        }
        Answer::Number { right, within } => {
            // Lanes are below W, slots below K.
            let end = match question.topic.info().form {
                AnswerForm::Number { clickable: Some(ClickTarget::Lane), .. } => shape.width,
                AnswerForm::Number { clickable: Some(ClickTarget::Slot), .. } => shape.capacity(),
                _ => u32::MAX,
            };
            let step = if within == 0 { 1 } else { within + (within / 2).max(1) };
            // So that the right one is not always in the middle.
            let signs: &[i64] = random
                .choose(&[[1, -1, 2, 3, -2].as_slice(), &[1, 2, 3, -1, -2], &[-1, -2, 1, 2, 3]])
                .copied()
                .unwrap_or_default();
            let near = signs.iter().map(|sign| i64::from(right) + sign * i64::from(step)).chain([
                2 * i64::from(right),
                i64::from(right / 2),
                0,
            ]);
            near.filter_map(|number| u32::try_from(number).ok())
                .filter(|&number| number < end)
                .map(Reply::Number)
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::lessons::{LESSONS, Overrides};
    use crate::progress::NoProgress;

    #[test]
    fn rounds_go_from_easy_to_hard() {
        for lesson in &LESSONS {
            let takes = lesson.record(Overrides::default(), &NoProgress).unwrap();
            let round = round(&pool(lesson, &takes, 1), &mut Rng::new(1));
            assert!(!round.is_empty() && round.is_sorted_by_key(|(_, question)| question.topic.rank()));
            let place = |is: fn(&Question) -> bool| round.iter().position(|(_, question)| is(question));
            let yes_no = place(|question| question.topic.info().form == AnswerForm::YesNo);
            let lanes = place(|question| matches!(question.topic.info().form, AnswerForm::Lanes { .. }));
            assert!(yes_no.zip(lanes).is_none_or(|(easy, hard)| easy < hard), "{round:?}");
        }
    }

    #[test]
    fn every_question_can_be_voted_on() {
        let mut places = BTreeSet::new();
        for lesson in &LESSONS {
            let takes = lesson.record(Overrides::default(), &NoProgress).unwrap();
            let shape = takes[0].recording.shape();
            for seed in 0..3 {
                for (_, question) in lesson.pool(&takes, seed) {
                    let options = poll_options(&question, shape, &mut Rng::new(seed));
                    let right: Vec<usize> =
                        (0..options.len()).filter(|&at| question.answer.accepts(options[at].reply)).collect();
                    assert_eq!(right.len(), 1, "{question:?}: {options:?}");
                    assert!(
                        options.iter().all(|option| question.is_possible(option.reply)),
                        "{question:?}: {options:?}"
                    );
                    let least = if matches!(question.answer, Answer::YesNo(_)) { 2 } else { 3 };
                    assert!((least..=MAX_POLL_OPTIONS).contains(&options.len()), "{question:?}: {options:?}");
                    let texts: BTreeSet<&str> = options.iter().map(|option| option.text.as_str()).collect();
                    assert!(texts.len() == options.len() && !texts.contains(""), "{options:?}");
                    if let Answer::Number { .. } = question.answer {
                        places.insert(right[0]);
                    }
                }
            }
        }
        assert_eq!(places.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3], "the place gives no answer away");
    }
}
