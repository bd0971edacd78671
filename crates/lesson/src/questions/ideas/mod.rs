//! Questions about the ideas of a lesson, one row each: why it works, what a change would do, and how the
//! idea transfers to another case. Every wrong option comes from a known misconception.

mod other_searches;
mod search;
mod sorting;

use super::{Answer, Misconception, Question, Reply, Rng, Topic};
use crate::lessons::{Lesson, Take};
use crate::recording::Recording;
use crate::sizes;
use crate::state::Shape;
pub use other_searches::{HEAP, PRUNING, RADIX_SELECT, WARP_SELECT};
pub use search::{BUFFER, ORDER, OWN_DATA, PROBLEM, SEARCH, WAIT};
pub use sorting::{MERGE, SORT, WIDE};

/// A question about an idea. Texts name sizes in braces ([`sizes`]), so that they hold for any sizes.
#[derive(Clone, Copy, Debug)]
pub struct IdeaQuestion {
    /// [`Topic::Why`], [`Topic::WhatIf`] or [`Topic::Transfer`].
    pub topic: Topic,
    /// The question.
    pub text: &'static str,
    /// The correct option.
    pub right: &'static str,
    /// Why that option is correct: a sentence or two.
    pub why: &'static str,
    /// The wrong options, each with an explanation of the mistake behind it.
    pub wrong: &'static [(&'static str, &'static str)],
    /// Whether it makes sense for a search of these sizes.
    pub suits: fn(Shape) -> bool,
}

/// Minimum number of options: with fewer, a guess is right too often.
const MIN_OPTIONS: usize = 3;

/// Suits all sizes.
const fn any(_: Shape) -> bool {
    true
}

const fn why(
    text: &'static str,
    right: &'static str,
    why: &'static str,
    wrong: &'static [(&'static str, &'static str)],
) -> IdeaQuestion {
    IdeaQuestion { topic: Topic::Why, text, right, why, wrong, suits: any }
}

const fn what_if(
    text: &'static str,
    right: &'static str,
    why: &'static str,
    wrong: &'static [(&'static str, &'static str)],
) -> IdeaQuestion {
    IdeaQuestion { topic: Topic::WhatIf, text, right, why, wrong, suits: any }
}

const fn transfer(
    text: &'static str,
    right: &'static str,
    why: &'static str,
    wrong: &'static [(&'static str, &'static str)],
) -> IdeaQuestion {
    IdeaQuestion { topic: Topic::Transfer, text, right, why, wrong, suits: any }
}

/// The questions about a lesson's ideas with the sizes of a take, options in random order. They are asked
/// where the lesson begins, because no step answers them.
pub fn about(lesson: &Lesson, take: &Take, random: &mut Rng) -> Vec<Question> {
    let rows = (0..).zip(lesson.ideas).filter(|(_, idea)| (idea.suits)(take.recording.shape()));
    rows.filter_map(|(row, idea)| question(row, idea, &take.recording, take.range.start, random)).collect()
}

fn question(
    row: u32,
    idea: &IdeaQuestion,
    recording: &Recording,
    at: usize,
    random: &mut Rng,
) -> Option<Question> {
    let says = |text: &str| sizes::fill_in(text, recording.shape());
    let right = says(idea.right);
    let mut options = vec![(right.clone(), None)];
    for (option, mistake) in idea.wrong {
        let option = says(option);
        // With some sizes, a misconception leads to the same option as another, or to the correct one.
        if options.iter().all(|(other, _)| *other != option) {
            options.push((option, Some(says(mistake))));
        }
    }
    if options.len() < MIN_OPTIONS {
        return None;
    }
    random.shuffle(&mut options);
    let place = options.iter().position(|(option, _)| *option == right)? as u32;
    let misconception = |(number, (_, mistake)): (u32, &(String, Option<String>))| {
        mistake.clone().map(|explanation| Misconception { reply: Reply::Choice(number), explanation })
    };
    let misconceptions = (0..).zip(&options).filter_map(misconception).collect();
    let options = options.into_iter().map(|(option, _)| option).collect();
    let why = Some(says(idea.why));
    Some(Question {
        options,
        misconceptions,
        why,
        ..Question::new(idea.topic, at, row, says(idea.text), Answer::Choice(place))
    })
}

#[cfg(test)]
mod tests;
