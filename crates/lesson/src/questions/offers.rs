//! Options for a question of any kind, for a class that votes: the right answer among known mistakes and near misses.

use std::cmp::Reverse;

use super::random::Random;
use super::{Answer, Form, Pointed, Question, Reply};
use crate::state::Shape;

/// Options at most: A to D.
pub const MOST: usize = 4;

/// Something that can be voted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What it says.
    pub reply: Reply,
    /// The same in words.
    pub text: String,
}

/// Two to four options for a question, exactly one of them right; numbers in their order, lanes and ideas in a random one.
pub fn offers(question: &Question, shape: Shape, random: &mut Random) -> Vec<Offer> {
    let mut replies = vec![question.answer.reply()];
    let mistakes = question.slips.iter().map(|slip| slip.reply);
    for reply in mistakes.chain(near_misses(question, shape, random)) {
        if replies.len() < MOST && !replies.contains(&reply) && !question.answer.accepts(reply) && question.is_possible(reply) {
            replies.push(reply);
        }
    }
    match question.answer {
        // As they were drawn.
        Answer::Choice(_) | Answer::Number { .. } => replies.sort_by_key(|reply| match reply {
            Reply::Number(number) | Reply::Choice(number) => *number,
            Reply::Lanes(_) | Reply::YesNo(_) => 0,
        }),
        Answer::YesNo(_) => replies.sort_by_key(|reply| Reverse(*reply == Reply::YesNo(true))),
        Answer::Lanes(_) => random.shuffle(&mut replies),
    }
    replies.into_iter().map(|reply| Offer { text: question.words(reply, shape.width), reply }).collect()
}

/// Wrong answers that are easily given, the likeliest first.
fn near_misses(question: &Question, shape: Shape, random: &mut Random) -> Vec<Reply> {
    match question.answer {
        Answer::YesNo(right) => vec![Reply::YesNo(!right)],
        Answer::Choice(_) => (0..question.options.len() as u32).map(Reply::Choice).collect(),
        Answer::Lanes(right) => {
            let all = u32::MAX >> (32 - shape.width);
            let bit = |random: &mut Random| 1 << random.below(shape.width as usize);
            // The others, counted from 1, one too many or too few.
            let masks = [all & !right, (right << 1) & all, right ^ bit(random), right ^ bit(random), right ^ bit(random), right >> 1, all];
            masks.into_iter().map(Reply::Lanes).collect()
        }
        Answer::Number { right, within } => {
            // A lane has a number below W, and the slots end with K.
            let end = match question.ask.kind().form {
                Form::Number { pointed: Some(Pointed::Lane), .. } => shape.width,
                Form::Number { pointed: Some(Pointed::Slot), .. } => shape.capacity(),
                _ => u32::MAX,
            };
            let step = if within == 0 { 1 } else { within + (within / 2).max(1) };
            // The right one is not always in the middle.
            let signs: &[i64] = random.one(&[[1, -1, 2, 3, -2].as_slice(), &[1, 2, 3, -1, -2], &[-1, -2, 1, 2, 3]]).copied().unwrap_or_default();
            let near = signs.iter().map(|sign| i64::from(right) + sign * i64::from(step)).chain([2 * i64::from(right), i64::from(right / 2), 0]);
            near.filter_map(|number| u32::try_from(number).ok()).filter(|&number| number < end).map(Reply::Number).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::lessons::{Choice, LESSONS};
    use crate::progress::Silent;

    #[test]
    fn every_question_can_be_voted_on() {
        let mut places = BTreeSet::new();
        for lesson in &LESSONS {
            let takes = lesson.record(Choice::default(), &Silent).unwrap();
            let shape = takes[0].recording.shape();
            for seed in 0..3 {
                for (_, question) in lesson.pool(&takes, seed) {
                    let offers = offers(&question, shape, &mut Random::new(seed));
                    let right: Vec<usize> = (0..offers.len()).filter(|&at| question.answer.accepts(offers[at].reply)).collect();
                    assert_eq!(right.len(), 1, "{question:?}: {offers:?}");
                    assert!(offers.iter().all(|offer| question.is_possible(offer.reply)), "{question:?}: {offers:?}");
                    let least = if matches!(question.answer, Answer::YesNo(_)) { 2 } else { 3 };
                    assert!((least..=MOST).contains(&offers.len()), "{question:?}: {offers:?}");
                    let texts: BTreeSet<&str> = offers.iter().map(|offer| offer.text.as_str()).collect();
                    assert!(texts.len() == offers.len() && !texts.contains(""), "{offers:?}");
                    if let Answer::Number { .. } = question.answer {
                        places.insert(right[0]);
                    }
                }
            }
        }
        assert_eq!(places.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3], "the place gives no answer away");
    }
}
