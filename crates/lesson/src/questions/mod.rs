//! Questions to ask before a step is shown, and about the ideas behind the steps. The correct answer to the first is what was recorded.
//!
//! | module | holds |
//! |---|---|
//! | [`kinds`] | a row for each kind of question |
//! | [`ideas`] | questions why, what if and about other cases: tables with the mistakes that lead to wrong options |
//! | [`pool`] | all questions that are ready to be asked about a lesson, and the few of them that make a round |
//! | [`offers`] | options for any question, where a class votes |
//! | [`random`] | the random numbers that decide what is asked |

pub mod ideas;
pub mod kinds;
pub mod offers;
pub mod pool;
pub mod random;

pub use kinds::{About, Ask, Form, KINDS, Pointed, Tells};

use std::ops::RangeInclusive;

use super::describe::{hex, lanes};
use crate::text::thousands;
use random::Random;

/// The correct answer, with its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Exactly these lanes, one bit each.
    Lanes(u32),
    /// A number with a tolerance.
    Number {
        /// The value that was recorded.
        right: u32,
        /// The largest difference that is accepted.
        within: u32,
    },
    /// True for yes, false for no.
    YesNo(bool),
    /// The option with this number, from 0.
    Choice(u32),
}

/// The answer that the user gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The selected lanes, one bit each.
    Lanes(u32),
    /// The number that was entered.
    Number(u32),
    /// True for yes, false for no.
    YesNo(bool),
    /// The number of the option, from 0.
    Choice(u32),
}

impl Answer {
    /// Whether a reply is correct.
    pub fn accepts(self, reply: Reply) -> bool {
        match (self, reply) {
            (Self::Lanes(right), Reply::Lanes(given)) => right == given,
            (Self::Number { right, within }, Reply::Number(given)) => right.abs_diff(given) <= within,
            (Self::YesNo(right), Reply::YesNo(given)) => right == given,
            (Self::Choice(right), Reply::Choice(given)) => right == given,
            _ => false,
        }
    }

    /// The reply that is exactly right.
    pub fn reply(self) -> Reply {
        match self {
            Self::Lanes(mask) => Reply::Lanes(mask),
            Self::Number { right, .. } => Reply::Number(right),
            Self::YesNo(yes) => Reply::YesNo(yes),
            Self::Choice(option) => Reply::Choice(option),
        }
    }
}

/// A question about the step from position `at` to `at` + 1, about the whole search ([`Ask::is_about_all`]), or about an idea ([`Ask::is_idea`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The kind of question.
    pub ask: Ask,
    /// The position at which it is asked: nothing later may be shown.
    pub at: usize,
    /// The subject ([`About`]): a lane, an element (of a comparator the lower one); of an idea its place among the lesson's; else 0.
    pub subject: u32,
    /// The question as shown to the user.
    pub text: String,
    /// The correct answer, as recorded.
    pub answer: Answer,
    /// What can be chosen ([`Answer::Choice`]); else empty.
    pub options: Vec<String>,
    /// Wrong answers to which a known mistake leads; of options, all that are wrong.
    pub slips: Vec<Slip>,
    /// Numbers among which the right one is for all who read the text: of leaves no more than there are.
    pub possible: RangeInclusive<u32>,
    /// Why an idea is right; of a step, the recording says it.
    pub why: Option<String>,
}

/// A wrong answer that is no accident.
#[derive(Clone, Debug, PartialEq)]
pub struct Slip {
    /// What is said.
    pub reply: Reply,
    /// What it is right of, and why that was not asked for.
    pub says: String,
}

impl Question {
    /// One without options and known mistakes.
    pub fn new(ask: Ask, at: usize, subject: u32, text: String, answer: Answer) -> Self {
        Self { ask, at, subject, text, answer, options: Vec::new(), slips: Vec::new(), possible: 0..=u32::MAX, why: None }
    }

    /// The same, where a number is one of these.
    pub(crate) fn among(self, possible: RangeInclusive<u32>) -> Self {
        Self { possible, ..self }
    }

    /// Whether a reply can be right for all who read the text.
    pub fn is_possible(&self, reply: Reply) -> bool {
        !matches!(reply, Reply::Number(number) if !self.possible.contains(&number))
    }

    /// The position that shows the answer.
    pub fn shown_at(&self) -> usize {
        if self.ask.is_about_all() || self.ask.is_idea() { self.at } else { self.at + 1 }
    }

    /// The position of the step that its text tells of: a ballot, where a slot is asked for. Two questions of one step give each other away.
    pub fn tells(&self) -> usize {
        if self.ask.kind().tells == Tells::StepBefore { self.at.saturating_sub(1) } else { self.at }
    }

    /// A reply in words, for a warp of `width` lanes.
    pub fn words(&self, reply: Reply, width: u32) -> String {
        match reply {
            Reply::Lanes(mask) => lanes(mask, width),
            Reply::Number(number) => thousands(number.into()),
            Reply::YesNo(yes) => if yes { "yes" } else { "no" }.to_owned(),
            Reply::Choice(option) => self.options.get(option as usize).cloned().unwrap_or_default(),
        }
    }

    /// The correct answer in words, for a warp of `width` lanes.
    pub fn right(&self, width: u32) -> String {
        let words = self.words(self.answer.reply(), width);
        match (self.answer, self.ask.kind().form) {
            (Answer::Lanes(mask), Form::Lanes { ballot: true, .. }) => format!("{words}: ballot {}", hex(mask, width)),
            (Answer::Number { within, .. }, _) if within > 0 => format!("{words} (a guess up to {} off counts)", thousands(within.into())),
            _ => words,
        }
    }

    /// What mistake leads to a reply, if it is a known one.
    pub fn slip(&self, reply: Reply) -> Option<&str> {
        self.slips.iter().find(|slip| slip.reply == reply).map(|slip| slip.says.as_str())
    }
}

/// The letter of an option, from 0: A, B, C, …
pub fn letter(option: usize) -> char {
    char::from(b'A' + (option % 26) as u8)
}

/// How a question is picked among those that a step allows.
pub(crate) struct Pick<'a> {
    pub(crate) random: &'a mut Random,
    /// The answer that a question for yes or no should have.
    pub(crate) wants: bool,
}

impl Pick<'_> {
    /// One of some subjects, if there is one with the wanted answer: else any.
    pub(crate) fn of<'s, T>(&mut self, subjects: &'s [T], is: impl Fn(&T) -> bool) -> Option<&'s T> {
        let wanted: Vec<&T> = subjects.iter().filter(|subject| is(subject) == self.wants).collect();
        if wanted.is_empty() { self.random.one(subjects) } else { self.random.one(&wanted).copied() }
    }
}

/// Mistakes with what they lead to, but for those that lead to the right answer or where another one does.
pub(crate) fn slips<const N: usize>(right: Reply, mistakes: [(Reply, String); N]) -> Vec<Slip> {
    let mut slips: Vec<Slip> = Vec::new();
    for (reply, says) in mistakes {
        if reply != right && slips.iter().all(|slip| slip.reply != reply) {
            slips.push(Slip { reply, says });
        }
    }
    slips
}
