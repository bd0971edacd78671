//! Questions asked before a step is shown, and about the ideas behind the steps. The recording answers the
//! former.
//!
//! - [`ideas`]: why, what-if and transfer questions, as tables; each wrong option names its misconception
//! - [`pool`]: all questions about a lesson, the few that make a round, and options for a class that votes
//!
//! This file has the kinds of questions, one row each, and the random numbers that select them.

pub mod ideas;
pub mod pool;

use std::ops::RangeInclusive;

use super::describe::{self, hex};
use crate::recording::Recording;
use crate::state::State;
use crate::text::thousands;

/// The correct answer, with its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Exactly these lanes, one bit each.
    Lanes(u32),
    /// A number with a tolerance.
    Number {
        /// The recorded value.
        right: u32,
        /// The largest accepted difference.
        within: u32,
    },
    /// True for yes, false for no.
    YesNo(bool),
    /// The option with this number, from 0.
    Choice(u32),
}

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The selected lanes, one bit each.
    Lanes(u32),
    /// The entered number.
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

    /// The exactly correct reply.
    pub fn reply(self) -> Reply {
        match self {
            Self::Lanes(mask) => Reply::Lanes(mask),
            Self::Number { right, .. } => Reply::Number(right),
            Self::YesNo(yes) => Reply::YesNo(yes),
            Self::Choice(option) => Reply::Choice(option),
        }
    }
}

/// A question about the step from position `at` to `at` + 1, about the whole search
/// ([`Topic::is_about_all`]), or about an idea ([`Topic::is_idea`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The kind of question.
    pub topic: Topic,
    /// The position at which it is asked; nothing later may be shown.
    pub at: usize,
    /// The subject ([`QuestionSubject`]): a lane or an element (the lower one of a comparator); for an idea,
    /// its index in the lesson; else 0.
    pub subject: u32,
    /// The question as shown to the user.
    pub text: String,
    /// The correct answer, as recorded.
    pub answer: Answer,
    /// The options of an [`Answer::Choice`]; else empty.
    pub options: Vec<String>,
    /// Wrong answers with a known misconception; of options, all wrong ones.
    pub misconceptions: Vec<Misconception>,
    /// The range that the text allows for a number: for example, at most the number of leaves.
    pub possible: RangeInclusive<u32>,
    /// Why the answer to an idea is right; for a step, the recording explains it.
    pub why: Option<String>,
}

/// A wrong answer that a misconception leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Misconception {
    /// The wrong reply.
    pub reply: Reply,
    /// What is wrong with it.
    pub explanation: String,
}

impl Question {
    /// A question without options and misconceptions.
    pub fn new(topic: Topic, at: usize, subject: u32, text: String, answer: Answer) -> Self {
        Self {
            topic,
            at,
            subject,
            text,
            answer,
            options: Vec::new(),
            misconceptions: Vec::new(),
            possible: 0..=u32::MAX,
            why: None,
        }
    }

    /// Restricts a number to a range.
    pub(crate) fn with_range(self, possible: RangeInclusive<u32>) -> Self {
        Self { possible, ..self }
    }

    /// Adds misconceptions that lead neither to the right answer nor to the same reply as an earlier one.
    pub(crate) fn with_misconceptions<const N: usize>(mut self, known: [(Reply, String); N]) -> Self {
        for (reply, explanation) in known {
            if reply != self.answer.reply() && self.misconception(reply).is_none() {
                self.misconceptions.push(Misconception { reply, explanation });
            }
        }
        self
    }

    /// Whether the text allows a reply.
    pub fn is_possible(&self, reply: Reply) -> bool {
        !matches!(reply, Reply::Number(number) if !self.possible.contains(&number))
    }

    /// The position that shows the answer.
    pub fn shown_at(&self) -> usize {
        if self.topic.is_about_all() || self.topic.is_idea() { self.at } else { self.at + 1 }
    }

    /// The position of the step that its text reveals: for a slot, the ballot. Two questions about one step
    /// give each other away.
    pub fn revealed_step(&self) -> usize {
        if self.topic.info().reveals == RevealScope::StepBefore { self.at.saturating_sub(1) } else { self.at }
    }

    /// A reply in words, for a warp of `width` lanes.
    pub fn words(&self, reply: Reply, width: u32) -> String {
        match reply {
            Reply::Lanes(mask) => describe::lanes(mask, width),
            Reply::Number(number) => thousands(number.into()),
            Reply::YesNo(yes) => if yes { "yes" } else { "no" }.to_owned(),
            Reply::Choice(option) => self.options.get(option as usize).cloned().unwrap_or_default(),
        }
    }

    /// The correct answer in words, for a warp of `width` lanes.
    pub fn right(&self, width: u32) -> String {
        let words = self.words(self.answer.reply(), width);
        match (self.answer, self.topic.info().form) {
            (Answer::Lanes(mask), AnswerForm::Lanes { ballot: true, .. }) => {
                format!("{words}: ballot {}", hex(mask, width))
            }
            (Answer::Number { within, .. }, _) if within > 0 => {
                format!("{words} (a guess within {} counts)", thousands(within.into()))
            }
            _ => words,
        }
    }

    /// The misconception behind a reply, if it is a known one.
    pub fn misconception(&self, reply: Reply) -> Option<&str> {
        let found = self.misconceptions.iter().find(|misconception| misconception.reply == reply);
        found.map(|misconception| misconception.explanation.as_str())
    }
}

/// The letter of an option, from 0: A, B, C, …
pub fn letter(option: usize) -> char {
    char::from(b'A' + (option % 26) as u8)
}

/// A step to ask about, and how to pick a question among those that it allows.
pub(crate) struct QuestionPicker<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) topic: Topic,
    /// Index of the step.
    pub(crate) at: usize,
    /// The state before it.
    pub(crate) before: &'a State,
    pub(crate) random: &'a mut Rng,
    /// The preferred answer of a yes/no question.
    pub(crate) preferred: bool,
}

impl QuestionPicker<'_> {
    /// A question about the step.
    pub(crate) fn ask(&self, subject: u32, text: String, answer: Answer) -> Question {
        Question::new(self.topic, self.at, subject, text, answer)
    }

    /// A random subject with the preferred answer; if there is none, any.
    pub(crate) fn choose<'s, T>(&mut self, subjects: &'s [T], is: impl Fn(&T) -> bool) -> Option<&'s T> {
        let wanted: Vec<&T> = subjects.iter().filter(|subject| is(subject) == self.preferred).collect();
        if wanted.is_empty() { self.random.choose(subjects) } else { self.random.choose(&wanted).copied() }
    }
}

// Random numbers that select questions; a seed gives the same ones on every platform.

/// A generator of random numbers: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A uniformly distributed number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        // For the small numbers of a lesson, the bias of the multiplication is below 2⁻⁴⁰.
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// True or false.
    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Shuffles a slice (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (2..=items.len()).rev() {
            let chosen = self.below(end);
            items.swap(end - 1, chosen);
        }
    }

    /// A random element; `None` of an empty slice.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

// The kinds of questions, one row each: subject, form of the answer, and what they reveal.

/// A kind of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Which lanes vote in this ballot?
    Votes,
    /// Which slot does this lane write?
    Slot,
    /// With which lane does this one exchange keys?
    Partner,
    /// Do these two elements swap?
    Swaps,
    /// Does this element come from the intermediate result?
    Taken,
    /// How many merges will there be?
    Merges,
    /// Of a tree: how many leaves will be visited?
    Leaves,
    /// Of a tree: how many leaves would be visited in curve order?
    Order,
    /// Of a tree: which lane's child is visited next?
    Child,
    /// Of a tree: is the nearest remaining child visited?
    Visited,
    /// Of warp select: which lanes insert their key?
    Takes,
    /// Of warp select: does this group cause a merge?
    Breaks,
    /// Of radix select: which bucket holds the k-th?
    Bucket,
    /// Of radix select: how many points remain after this pass?
    Left,
    /// Of per-thread heaps: which lanes insert this point?
    Inserts,
    /// Of per-thread heaps: does a lane that does not insert have to wait?
    Waits,
    /// Of per-thread heaps: how many rounds of sinking does the warp spend?
    Rounds,
    /// Of per-thread heaps: how many lane slots are idle in these rounds?
    Idle,
    /// Why does the algorithm work this way?
    Why,
    /// What would a change do?
    WhatIf,
    /// How does the idea transfer to another case?
    Transfer,
}

/// What a question refers to in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionSubject {
    /// Nothing in particular.
    All,
    /// The lane that is its subject.
    Lane,
    /// The comparator whose lower element is its subject.
    Comparator,
    /// The element that is its subject, and the slot that it is compared with.
    Element,
}

/// What can be clicked in the picture to enter a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickTarget {
    /// A lane, or the bucket of a lane.
    Lane,
    /// A slot of the buffer.
    Slot,
}

/// How a kind of question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// By lanes.
    Lanes {
        /// What the lanes do, such as `Voting`.
        doing: &'static str,
        /// The text while none is chosen.
        none: &'static str,
        /// Whether the answer is also a ballot.
        ballot: bool,
    },
    /// By a number.
    Number {
        /// What it numbers, such as `Lane`.
        noun: &'static str,
        /// What can be clicked instead of typing it.
        clickable: Option<ClickTarget>,
    },
    /// By yes or no.
    YesNo,
    /// By an option.
    Choice,
}

/// The properties of a kind of question.
#[derive(Clone, Copy, Debug)]
pub struct TopicInfo {
    /// The kind.
    pub topic: Topic,
    /// What it refers to.
    pub about: QuestionSubject,
    /// How it is answered.
    pub form: AnswerForm,
    /// What it reveals of the recording.
    pub reveals: RevealScope,
}

/// What a question reveals once it is asked or answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevealScope {
    /// The step at which it is asked.
    Step,
    /// That step, and in its text the answer to a question about the step before.
    StepBefore,
    /// How the search ends: until it is answered, nothing later may be seen.
    End,
    /// No step: it asks about an idea.
    Idea,
}

impl Topic {
    /// The row of the kind.
    pub fn info(self) -> &'static TopicInfo {
        &TOPICS[self as usize]
    }

    /// Whether it is about the whole search: until it is answered, nothing later may be seen.
    pub fn is_about_all(self) -> bool {
        self.info().reveals == RevealScope::End
    }

    /// Whether two questions can be about the same step: one step decides about many elements.
    pub fn shares_steps(self) -> bool {
        self.info().about == QuestionSubject::Element
    }

    /// Its place in a round: a guess about the whole search first, because any step might give it away; then
    /// from easy to hard; ideas last, because their explanations may give away a step.
    pub fn rank(self) -> u32 {
        const IDEAS: u32 = 5;
        match (self.info().reveals, self.info().form) {
            (RevealScope::End, _) => 0,
            (RevealScope::Idea, _) => IDEAS + self as u32,
            (_, AnswerForm::YesNo) => 1,
            (_, AnswerForm::Choice) => 2,
            (_, AnswerForm::Number { .. }) => 3,
            (_, AnswerForm::Lanes { .. }) => 4,
        }
    }

    /// Whether it is about an idea, not a step.
    pub fn is_idea(self) -> bool {
        self.info().reveals == RevealScope::Idea
    }
}

const fn row(topic: Topic, about: QuestionSubject, form: AnswerForm, reveals: RevealScope) -> TopicInfo {
    TopicInfo { topic, about, form, reveals }
}

const fn lanes(doing: &'static str, none: &'static str, ballot: bool) -> AnswerForm {
    AnswerForm::Lanes { doing, none, ballot }
}

const fn number(noun: &'static str, clickable: Option<ClickTarget>) -> AnswerForm {
    AnswerForm::Number { noun, clickable }
}

/// All kinds, in the order of [`Topic`].
pub const TOPICS: [TopicInfo; 21] = [
    row(Topic::Votes, QuestionSubject::All, lanes("Voting", "No lane votes", true), RevealScope::Step),
    row(Topic::Slot, QuestionSubject::Lane, number("Slot", Some(ClickTarget::Slot)), RevealScope::StepBefore),
    row(Topic::Partner, QuestionSubject::Lane, number("Lane", Some(ClickTarget::Lane)), RevealScope::Step),
    row(Topic::Swaps, QuestionSubject::Comparator, AnswerForm::YesNo, RevealScope::Step),
    row(Topic::Taken, QuestionSubject::Element, AnswerForm::YesNo, RevealScope::Step),
    row(Topic::Merges, QuestionSubject::All, number("Number", None), RevealScope::End),
    row(Topic::Leaves, QuestionSubject::All, number("Number", None), RevealScope::End),
    row(Topic::Order, QuestionSubject::All, number("Number", None), RevealScope::End),
    row(Topic::Child, QuestionSubject::All, number("Lane", Some(ClickTarget::Lane)), RevealScope::Step),
    row(Topic::Visited, QuestionSubject::Lane, AnswerForm::YesNo, RevealScope::Step),
    row(
        Topic::Takes,
        QuestionSubject::All,
        lanes("Inserting", "No lane inserts its key", false),
        RevealScope::Step,
    ),
    row(Topic::Breaks, QuestionSubject::All, AnswerForm::YesNo, RevealScope::Step),
    row(Topic::Bucket, QuestionSubject::All, number("Bucket", Some(ClickTarget::Lane)), RevealScope::Step),
    row(Topic::Left, QuestionSubject::All, number("Number", None), RevealScope::Step),
    row(
        Topic::Inserts,
        QuestionSubject::All,
        lanes("Inserting", "No lane inserts", false),
        RevealScope::Step,
    ),
    row(Topic::Waits, QuestionSubject::Lane, AnswerForm::YesNo, RevealScope::Step),
    row(Topic::Rounds, QuestionSubject::All, number("Number", None), RevealScope::StepBefore),
    row(Topic::Idle, QuestionSubject::All, number("Number", None), RevealScope::StepBefore),
    row(Topic::Why, QuestionSubject::All, AnswerForm::Choice, RevealScope::Idea),
    row(Topic::WhatIf, QuestionSubject::All, AnswerForm::Choice, RevealScope::Idea),
    row(Topic::Transfer, QuestionSubject::All, AnswerForm::Choice, RevealScope::Idea),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_are_uniform() {
        let (mut random, mut orders) = (Rng::new(1), std::collections::BTreeMap::new());
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *orders.entry(items).or_insert(0) += 1;
        }
        assert!(orders.len() == 6 && orders.values().all(|times| (850..1150).contains(times)), "{orders:?}");
    }

    /// The first numbers of the reference implementation.
    #[test]
    fn seeds_reproduce_the_reference_sequence() {
        let mut random = Rng::new(1_234_567);
        assert_eq!(
            [random.bits(), random.bits(), random.bits()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
        assert_eq!(Rng::new(0).below(0), 0);
        assert_eq!(Rng::new(0).choose::<u8>(&[]), None);
    }

    #[test]
    fn topics_are_indexed_by_their_discriminant() {
        for (at, kind) in TOPICS.iter().enumerate() {
            assert_eq!((kind.topic as usize, kind.topic.info().topic), (at, kind.topic));
        }
        assert_eq!(Topic::Transfer as usize + 1, TOPICS.len());
    }
}
