//! A class poll: options, votes of up to two rounds, and what is revealed.

use crate::lesson::questions::pool::PollOption;

/// Maximum number of votes for an option.
pub const MAX_VOTES: u32 = 9_999;

/// What is revealed, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum RevealStage {
    /// Votes are hidden while the class votes.
    Nothing,
    Votes,
    /// The votes and the right option.
    Answer,
}

/// A question for a class. Following Mazur's peer instruction, the class can vote twice, with a discussion in
/// between, before the answer is revealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    offers: Vec<PollOption>,
    /// Index of the right option, from 0.
    right: usize,
    /// The explanation of the right option.
    why: String,
    /// Votes per round and option.
    votes: Vec<Vec<u32>>,
    /// The options of votes counted one by one, in order, so that they can be taken back.
    came: Vec<usize>,
    shown: RevealStage,
}

impl Poll {
    /// A poll without votes; `right` is the index of the right option, from 0.
    pub fn new(offers: Vec<PollOption>, right: usize, why: String) -> Self {
        Self {
            votes: vec![vec![0; offers.len()]],
            offers,
            right,
            why,
            came: Vec::new(),
            shown: RevealStage::Nothing,
        }
    }

    pub fn offers(&self) -> &[PollOption] {
        &self.offers
    }

    pub fn right(&self) -> usize {
        self.right
    }

    pub fn why(&self) -> &str {
        &self.why
    }

    /// Whether votes are being counted, and hidden.
    pub fn is_open(&self) -> bool {
        self.shown == RevealStage::Nothing
    }

    /// Whether the right option is shown.
    pub fn is_revealed(&self) -> bool {
        self.shown == RevealStage::Answer
    }

    /// Number of voting rounds: one or two.
    pub fn rounds(&self) -> usize {
        self.votes.len()
    }

    /// The votes for an option in a round, from 0.
    pub fn votes(&self, round: usize, option: usize) -> u32 {
        self.votes[round][option]
    }

    /// The votes for an option in the current round.
    pub fn counted(&self, option: usize) -> u32 {
        self.votes(self.rounds() - 1, option)
    }

    /// An option's share of the votes in a round, from 0 to 1; 0 without votes.
    pub fn share(&self, round: usize, option: usize) -> f32 {
        let all: u32 = self.votes[round].iter().sum();
        self.votes[round][option] as f32 / all.max(1) as f32
    }

    /// The wrong option with the most votes in the last round; `None` if none has votes.
    pub fn most_wrong(&self) -> Option<usize> {
        let wrong =
            (0..self.offers.len()).rev().filter(|&option| option != self.right && self.counted(option) > 0);
        wrong.max_by_key(|&option| self.counted(option))
    }

    /// Adds a vote, unless voting is closed or the option has [`MAX_VOTES`].
    pub fn vote(&mut self, option: usize) {
        if option < self.offers.len() && self.is_open() && self.counted(option) < MAX_VOTES {
            *self.counted_mut(option) += 1;
            self.came.push(option);
        }
    }

    /// Removes the last single vote.
    pub fn take_back(&mut self) {
        if self.is_open()
            && let Some(option) = self.came.pop()
        {
            let counted = self.counted_mut(option);
            *counted = counted.saturating_sub(1);
        }
    }

    pub fn set(&mut self, option: usize, votes: u32) {
        if option < self.offers.len() && self.is_open() {
            *self.counted_mut(option) = votes.min(MAX_VOTES);
            self.came.retain(|came| *came != option);
        }
    }

    fn counted_mut(&mut self, option: usize) -> &mut u32 {
        let round = self.rounds() - 1;
        &mut self.votes[round][option]
    }

    pub fn show_votes(&mut self) {
        if self.is_open() {
            self.shown = RevealStage::Votes;
        }
    }

    /// Shows the votes and the right option.
    pub fn reveal(&mut self) {
        self.shown = RevealStage::Answer;
    }

    /// Whether a second round is possible: only before the answer is revealed.
    pub fn can_ask_again(&self) -> bool {
        self.rounds() == 1 && !self.is_revealed()
    }

    /// Starts the second round; the votes of the first are kept.
    pub fn ask_again(&mut self) {
        if self.can_ask_again() {
            self.votes.push(vec![0; self.offers.len()]);
            (self.came, self.shown) = (Vec::new(), RevealStage::Nothing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::questions::Reply;

    fn poll() -> Poll {
        let option = |number: u32| PollOption { reply: Reply::Number(number), text: number.to_string() };
        let offers = (0..3).map(option).collect();
        Poll::new(offers, 2, "so".to_owned())
    }

    #[test]
    fn votes_can_be_added_typed_and_undone() {
        let mut poll = poll();
        assert_eq!((poll.share(0, 1), poll.most_wrong()), (0.0, None), "no votes");
        [0, 1, 1, 7].into_iter().for_each(|option| poll.vote(option));
        poll.set(2, 40_000);
        poll.set(0, 3);
        poll.take_back();
        assert_eq!([0, 1, 2].map(|option| poll.counted(option)), [3, 1, MAX_VOTES]);
        // Typed counts are not undone vote by vote.
        poll.take_back();
        poll.take_back();
        assert_eq!([0, 1, 2].map(|option| poll.counted(option)), [3, 0, MAX_VOTES]);
        poll.set(2, 1);
        assert_eq!((poll.share(0, 0), poll.share(0, 2), poll.most_wrong()), (0.75, 0.25, Some(0)));
    }

    #[test]
    fn polls_allow_a_second_round_before_the_answer() {
        let mut poll = poll();
        poll.set(0, 5);
        poll.show_votes();
        poll.vote(1);
        poll.set(1, 2);
        poll.take_back();
        assert_eq!([0, 1, 2].map(|option| poll.votes(0, option)), [5, 0, 0], "shown votes are final");
        assert!(!poll.is_open() && !poll.is_revealed(), "only the votes are shown");
        poll.ask_again();
        assert!(poll.is_open() && !poll.can_ask_again());
        poll.vote(2);
        poll.take_back();
        poll.take_back();
        poll.vote(1);
        poll.ask_again();
        poll.reveal();
        poll.show_votes();
        assert!(poll.is_revealed(), "the answer stays revealed");
        assert_eq!(
            (poll.rounds(), poll.votes(0, 0), poll.votes(1, 0), poll.votes(1, 1), poll.most_wrong()),
            (2, 5, 0, 1, Some(1))
        );
    }

    #[test]
    fn a_revealed_poll_cannot_be_repeated() {
        let mut poll = poll();
        poll.reveal();
        poll.ask_again();
        assert_eq!((poll.can_ask_again(), poll.rounds(), poll.is_revealed()), (false, 1, true));
    }
}
