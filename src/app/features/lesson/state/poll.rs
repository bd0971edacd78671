//! What a class votes on: the options, the votes for each, before and after it was discussed, and when they
//! are shown.

use crate::lesson::questions::pool::Offer;

/// Votes for one option at most.
pub const MOST_VOTES: u32 = 9_999;

/// What of a poll is shown, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Shown {
    /// While the class votes, how it votes is not to be seen.
    Nothing,
    Votes,
    /// The votes, and which option is right.
    Answer,
}

/// A question that is left to a class. After Mazur's peer instruction it can be voted on twice, with a
/// discussion in between, before the answer is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    offers: Vec<Offer>,
    /// Which option is right, from 0.
    right: usize,
    /// Why that option is right, as feedback says it.
    why: String,
    /// The votes for each option, for each time that was voted.
    votes: Vec<Vec<u32>>,
    /// The options of single votes, in the order in which they came.
    came: Vec<usize>,
    shown: Shown,
}

impl Poll {
    /// With no votes yet; `right` is the option that is right, from 0.
    pub fn new(offers: Vec<Offer>, right: usize, why: String) -> Self {
        Self {
            votes: vec![vec![0; offers.len()]],
            offers,
            right,
            why,
            came: Vec::new(),
            shown: Shown::Nothing,
        }
    }

    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    pub fn right(&self) -> usize {
        self.right
    }

    pub fn why(&self) -> &str {
        &self.why
    }

    /// Whether votes are counted, and hidden until all have voted.
    pub fn is_open(&self) -> bool {
        self.shown == Shown::Nothing
    }

    /// Whether the votes and the answer are shown.
    pub fn is_revealed(&self) -> bool {
        self.shown == Shown::Answer
    }

    /// How often was voted: once, or twice.
    pub fn rounds(&self) -> usize {
        self.votes.len()
    }

    /// The votes for an option in a round, from 0.
    pub fn votes(&self, round: usize, option: usize) -> u32 {
        self.votes[round][option]
    }

    /// The votes that are being counted.
    pub fn counted(&self, option: usize) -> u32 {
        self.votes(self.rounds() - 1, option)
    }

    /// The share of an option's votes in a round, from 0 to 1; 0 if nobody voted.
    pub fn share(&self, round: usize, option: usize) -> f32 {
        let all: u32 = self.votes[round].iter().sum();
        self.votes[round][option] as f32 / all.max(1) as f32
    }

    /// The wrong option with most votes in the last round; `None` if nobody was wrong.
    pub fn most_wrong(&self) -> Option<usize> {
        let wrong =
            (0..self.offers.len()).rev().filter(|&option| option != self.right && self.counted(option) > 0);
        wrong.max_by_key(|&option| self.counted(option))
    }

    /// One vote for an option; ignored once the answer is known, and beyond [`MOST_VOTES`].
    pub fn vote(&mut self, option: usize) {
        if option < self.offers.len() && self.is_open() && self.counted(option) < MOST_VOTES {
            *self.counted_mut(option) += 1;
            self.came.push(option);
        }
    }

    /// Takes back the vote that came last.
    pub fn take_back(&mut self) {
        if self.is_open()
            && let Some(option) = self.came.pop()
        {
            let counted = self.counted_mut(option);
            *counted = counted.saturating_sub(1);
        }
    }

    /// Says how many votes an option has.
    pub fn set(&mut self, option: usize, votes: u32) {
        if option < self.offers.len() && self.is_open() {
            *self.counted_mut(option) = votes.min(MOST_VOTES);
            self.came.retain(|came| *came != option);
        }
    }

    fn counted_mut(&mut self, option: usize) -> &mut u32 {
        let round = self.rounds() - 1;
        &mut self.votes[round][option]
    }

    /// Shows the votes, and counts no more.
    pub fn show_votes(&mut self) {
        if self.is_open() {
            self.shown = Shown::Votes;
        }
    }

    /// Shows the votes and the answer.
    pub fn reveal(&mut self) {
        self.shown = Shown::Answer;
    }

    /// Whether it can be voted on once more: before the answer is known.
    pub fn can_ask_again(&self) -> bool {
        self.rounds() == 1 && !self.is_revealed()
    }

    /// Votes begin again, after a discussion; the first ones are kept.
    pub fn ask_again(&mut self) {
        if self.can_ask_again() {
            self.votes.push(vec![0; self.offers.len()]);
            (self.came, self.shown) = (Vec::new(), Shown::Nothing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::questions::Reply;

    fn poll() -> Poll {
        let offers =
            (0..3).map(|number| Offer { reply: Reply::Number(number), text: number.to_string() }).collect();
        Poll::new(offers, 2, "so".to_owned())
    }

    #[test]
    fn votes_are_added_typed_and_taken_back() {
        let mut poll = poll();
        assert_eq!((poll.share(0, 1), poll.most_wrong()), (0.0, None), "nobody voted");
        [0, 1, 1, 7].into_iter().for_each(|option| poll.vote(option));
        poll.set(2, 40_000);
        poll.set(0, 3);
        poll.take_back();
        assert_eq!([0, 1, 2].map(|option| poll.counted(option)), [3, 1, MOST_VOTES]);
        // What was typed is not a vote that came last.
        poll.take_back();
        poll.take_back();
        assert_eq!([0, 1, 2].map(|option| poll.counted(option)), [3, 0, MOST_VOTES]);
        poll.set(2, 1);
        assert_eq!((poll.share(0, 0), poll.share(0, 2), poll.most_wrong()), (0.75, 0.25, Some(0)));
    }

    #[test]
    fn a_second_vote_stands_beside_the_first_and_comes_before_the_answer() {
        let mut poll = poll();
        poll.set(0, 5);
        poll.show_votes();
        poll.vote(1);
        poll.set(1, 2);
        poll.take_back();
        assert_eq!([0, 1, 2].map(|option| poll.votes(0, option)), [5, 0, 0], "what is shown is over");
        assert!(!poll.is_open() && !poll.is_revealed(), "the votes alone");
        poll.ask_again();
        assert!(poll.is_open() && !poll.can_ask_again());
        poll.vote(2);
        poll.take_back();
        poll.take_back();
        poll.vote(1);
        poll.ask_again();
        poll.reveal();
        poll.show_votes();
        assert!(poll.is_revealed(), "nothing hides the answer again");
        assert_eq!(
            (poll.rounds(), poll.votes(0, 0), poll.votes(1, 0), poll.votes(1, 1), poll.most_wrong()),
            (2, 5, 0, 1, Some(1))
        );
    }

    #[test]
    fn who_knows_the_answer_does_not_vote_again() {
        let mut poll = poll();
        poll.reveal();
        poll.ask_again();
        assert_eq!((poll.can_ask_again(), poll.rounds(), poll.is_revealed()), (false, 1, true));
    }
}
