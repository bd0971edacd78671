//! The quiz: questions, the answer being entered, and the score.

use super::poll::Poll;
use crate::lesson::feedback::explained_target;
use crate::lesson::picture::Target;
use crate::lesson::questions::{Answer, AnswerForm, ClickTarget, Question, Reply};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub right: u32,
    /// Number of questions answered.
    pub asked: u32,
}

/// The answer being entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerInput {
    Lanes {
        /// Bit i is set if lane i is selected.
        mask: u32,
        /// Lane under the keyboard cursor, from 0.
        at: u32,
    },
    /// Digits as typed; may be empty.
    Number(String),
    YesNo(Option<bool>),
    /// An option, from 0.
    Choice(Option<u32>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The question is open, and later steps are hidden.
    Asking(AnswerInput),
    /// A class votes on the question.
    Held(Poll),
    /// The answer is shown.
    Answered { reply: Reply, right: bool },
    /// All questions have been asked.
    Done,
}

/// The questions of a lesson, in order.
#[derive(Clone, Debug)]
pub struct Quiz {
    /// Each question with the index of its take.
    questions: Vec<(usize, Question)>,
    at: usize,
    phase: Phase,
    score: Score,
    /// Lanes of the warp.
    width: u32,
}

impl Quiz {
    /// A quiz of these questions, each with its take; `None` without questions.
    pub fn new(questions: Vec<(usize, Question)>, width: u32) -> Option<Self> {
        let phase = Phase::Asking(entry(questions.first()?.1.answer));
        Some(Self { questions, at: 0, phase, score: Score::default(), width })
    }

    /// The current question, with its take.
    pub fn question(&self) -> &(usize, Question) {
        &self.questions[self.at]
    }

    /// Number of the current question, from 1, and number of questions.
    pub fn place(&self) -> (usize, usize) {
        (self.at + 1, self.questions.len())
    }

    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Whether later steps must stay hidden.
    pub fn is_asking(&self) -> bool {
        match &self.phase {
            Phase::Asking(_) => true,
            Phase::Held(poll) => !poll.is_revealed(),
            Phase::Answered { .. } | Phase::Done => false,
        }
    }

    /// Whether a question about a whole take is open or still to come. Until it is answered, later steps of
    /// the take must stay hidden.
    pub fn hides_answer_of(&self, take: usize) -> bool {
        let open = self.at + usize::from(!self.is_asking());
        self.questions.iter().skip(open).any(|(of, question)| *of == take && question.topic.is_about_all())
    }

    /// The subject of an answered question, which the picture highlights until something else is hovered.
    pub fn answered_about(&self) -> Option<Target> {
        if self.is_asking() || self.phase == Phase::Done {
            None
        } else {
            explained_target(&self.question().1)
        }
    }

    /// The kind of target that a click enters as a number.
    pub fn pointed(&self) -> Option<ClickTarget> {
        match self.question().1.topic.info().form {
            AnswerForm::Number { clickable, .. } if matches!(self.phase, Phase::Asking(_)) => clickable,
            _ => None,
        }
    }

    pub fn poll(&mut self) -> Option<&mut Poll> {
        if let Phase::Held(poll) = &mut self.phase { Some(poll) } else { None }
    }

    /// Starts a poll on the current question.
    pub fn hold(&mut self, poll: Poll) {
        if let Phase::Asking(_) = self.phase {
            self.phase = Phase::Held(poll);
        }
    }

    /// Ends the poll without an answer.
    pub fn let_go(&mut self) {
        if self.is_asking() {
            self.phase = Phase::Asking(entry(self.question().1.answer));
        }
    }

    pub fn score(&self) -> Score {
        self.score
    }

    /// The selected lanes, if the question is about lanes.
    pub fn lanes(&self) -> Option<u32> {
        match &self.phase {
            Phase::Asking(AnswerInput::Lanes { mask, .. }) => Some(*mask),
            _ => None,
        }
    }

    /// Toggles a lane, or enters its number.
    pub fn choose_lane(&mut self, lane: u32) {
        if lane >= self.width {
            return;
        }
        let pointed = self.pointed();
        match &mut self.phase {
            Phase::Asking(AnswerInput::Lanes { mask, at }) => (*mask, *at) = (*mask ^ (1 << lane), lane),
            Phase::Asking(AnswerInput::Number(text)) if pointed == Some(ClickTarget::Lane) => {
                *text = lane.to_string();
            }
            _ => {}
        }
    }

    pub fn choose_slot(&mut self, slot: u32) {
        let pointed = self.pointed();
        if let Phase::Asking(AnswerInput::Number(text)) = &mut self.phase
            && pointed == Some(ClickTarget::Slot)
        {
            *text = slot.to_string();
        }
    }

    /// Chooses an option, from 0.
    pub fn choose_option(&mut self, option: u32) {
        let options = self.question().1.options.len() as u32;
        if let Phase::Asking(AnswerInput::Choice(chosen)) = &mut self.phase
            && option < options
        {
            *chosen = Some(option);
        }
    }

    /// Appends a digit to a number, or chooses the option with this number, from 1.
    pub fn digit(&mut self, digit: char) {
        /// More digits than any answer has.
        const MAX_DIGITS: usize = 9;
        if let (Some(option), Phase::Asking(AnswerInput::Choice(_))) =
            (digit.to_digit(10).and_then(|digit| digit.checked_sub(1)), &self.phase)
        {
            self.choose_option(option);
        }
        if let Phase::Asking(AnswerInput::Number(text)) = &mut self.phase
            && digit.is_ascii_digit()
            && text.len() < MAX_DIGITS
        {
            text.push(digit);
        }
    }

    /// Removes the last digit.
    pub fn erase(&mut self) {
        if let Phase::Asking(AnswerInput::Number(text)) = &mut self.phase {
            text.pop();
        }
    }

    /// Chooses yes or no.
    pub fn say(&mut self, yes: bool) {
        if let Phase::Asking(AnswerInput::YesNo(said)) = &mut self.phase {
            *said = Some(yes);
        }
    }

    /// Handles an arrow key: next or previous lane, number or option, or yes and no.
    pub fn arrow(&mut self, forward: bool) {
        let (width, options) = (self.width, self.question().1.options.len() as u32);
        match &mut self.phase {
            Phase::Asking(AnswerInput::Choice(chosen)) => {
                *chosen =
                    Some(chosen.map_or(
                        0,
                        |chosen| if forward { chosen + 1 } else { chosen + options - 1 } % options,
                    ));
            }
            Phase::Asking(AnswerInput::Lanes { at, .. }) => {
                *at = if forward { *at + 1 } else { *at + width - 1 } % width
            }
            Phase::Asking(AnswerInput::Number(text)) => {
                let number: u32 = text.parse().unwrap_or(0);
                // The first key enters 0.
                let next = if text.is_empty() {
                    Some(0)
                } else if forward {
                    number.checked_add(1)
                } else {
                    number.checked_sub(1)
                };
                *text = next.unwrap_or(number).to_string();
            }
            Phase::Asking(AnswerInput::YesNo(said)) => *said = Some(!forward),
            _ => {}
        }
    }

    /// The entered answer, if complete.
    pub fn reply(&self) -> Option<Reply> {
        match &self.phase {
            Phase::Asking(AnswerInput::Lanes { mask, .. }) => Some(Reply::Lanes(*mask)),
            Phase::Asking(AnswerInput::Number(text)) => text.parse().ok().map(Reply::Number),
            Phase::Asking(AnswerInput::YesNo(said)) => said.map(Reply::YesNo),
            Phase::Asking(AnswerInput::Choice(chosen)) => chosen.map(Reply::Choice),
            _ => None,
        }
    }

    /// Gives the entered answer; returns whether it is right, or `None` if it is incomplete.
    pub fn answer(&mut self) -> Option<bool> {
        let reply = self.reply()?;
        let right = self.question().1.answer.accepts(reply);
        self.phase = Phase::Answered { reply, right };
        self.score.asked += 1;
        self.score.right += u32::from(right);
        Some(right)
    }

    pub fn next(&mut self) {
        if self.at + 1 < self.questions.len() {
            self.at += 1;
            self.phase = Phase::Asking(entry(self.question().1.answer));
        } else {
            self.phase = Phase::Done;
        }
    }
}

fn entry(answer: Answer) -> AnswerInput {
    match answer {
        Answer::Lanes(_) => AnswerInput::Lanes { mask: 0, at: 0 },
        Answer::Number { .. } => AnswerInput::Number(String::new()),
        Answer::YesNo(_) => AnswerInput::YesNo(None),
        Answer::Choice(_) => AnswerInput::Choice(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::questions::Topic;

    fn question(topic: Topic, at: usize, answer: Answer) -> (usize, Question) {
        (0, Question::new(topic, at, 0, String::new(), answer))
    }

    #[test]
    fn lanes_are_toggled_by_click_and_key() {
        let mut quiz =
            Quiz::new(vec![question(Topic::Votes, 5, Answer::Lanes(0b1001))], 4).expect("a question");
        for lane in [0, 2, 3, 2, 9] {
            quiz.choose_lane(lane);
        }
        assert_eq!((quiz.reply(), quiz.answer()), (Some(Reply::Lanes(0b1001)), Some(true)));
        quiz.choose_lane(1);
        assert_eq!(
            quiz.phase(),
            &Phase::Answered { reply: Reply::Lanes(0b1001), right: true },
            "given answers are final"
        );
        quiz.next();
        assert_eq!(quiz.phase(), &Phase::Done);
        assert_eq!(quiz.answer(), None);
    }

    #[test]
    fn arrow_keys_wrap_around_the_warp() {
        let mut quiz = Quiz::new(vec![question(Topic::Votes, 5, Answer::Lanes(1))], 4).expect("a question");
        quiz.arrow(false);
        assert_eq!(quiz.phase(), &Phase::Asking(AnswerInput::Lanes { mask: 0, at: 3 }));
        quiz.arrow(true);
        assert_eq!(quiz.phase(), &Phase::Asking(AnswerInput::Lanes { mask: 0, at: 0 }));
    }

    #[test]
    fn numbers_can_be_typed_clicked_or_stepped() {
        let slot = question(Topic::Slot, 1, Answer::Number { right: 13, within: 0 });
        let mut quiz = Quiz::new(vec![slot], 32).expect("a question");
        assert_eq!(quiz.answer(), None, "no reply yet");
        "1x27".chars().for_each(|digit| quiz.digit(digit));
        quiz.erase();
        assert_eq!(quiz.reply(), Some(Reply::Number(12)));
        quiz.arrow(true);
        assert_eq!(quiz.reply(), Some(Reply::Number(13)));
        quiz.choose_lane(3);
        assert_eq!(quiz.reply(), Some(Reply::Number(13)), "a lane is not a slot");
        quiz.choose_slot(7);
        assert_eq!(quiz.answered_about(), None, "open questions reveal nothing");
        assert_eq!(quiz.answer(), Some(false));
        assert_eq!(quiz.answered_about(), Some(Target::Lane(0)), "answered questions highlight their lane");
        let long = question(Topic::Merges, 1, Answer::Number { right: 3, within: 1 });
        let mut quiz = Quiz::new(vec![long], 32).expect("a question");
        (0..40).for_each(|_| quiz.digit('9'));
        assert_eq!(quiz.reply(), Some(Reply::Number(999_999_999)));
        quiz.arrow(true);
        assert!(quiz.reply().is_some());
    }

    #[test]
    fn merge_counts_stay_hidden_until_answered() {
        let merges = |take| (take, question(Topic::Merges, 0, Answer::Number { right: 3, within: 0 }).1);
        let mut quiz = Quiz::new(vec![merges(1), merges(2), merges(0)], 32).expect("questions");
        let mut kept = Vec::new();
        for said in ['3', '4', '3'] {
            quiz.digit(said);
            quiz.answer();
            kept.push([0, 1, 2].map(|take| quiz.hides_answer_of(take)));
            quiz.next();
        }
        assert_eq!(kept, [[true, false, true], [true, false, false], [false; 3]], "in question order");
        assert_eq!((quiz.phase(), quiz.score()), (&Phase::Done, Score { right: 2, asked: 3 }));
        assert!(!quiz.hides_answer_of(0));
    }

    #[test]
    fn an_option_is_chosen_by_number_letter_or_arrow() {
        let options = ["a", "b", "c"].map(str::to_owned).to_vec();
        let (_, plain) = question(Topic::Why, 0, Answer::Choice(2));
        let mut quiz = Quiz::new(vec![(0, Question { options, ..plain })], 8).expect("a question");
        assert_eq!(quiz.reply(), None);
        let mut said = Vec::new();
        for act in [
            Quiz::digit as fn(&mut Quiz, char),
            |quiz, _| quiz.arrow(true),
            |quiz, _| quiz.arrow(true),
            |quiz, _| quiz.arrow(false),
        ] {
            act(&mut quiz, '2');
            said.push(quiz.reply());
        }
        assert_eq!(said, [1, 2, 0, 2].map(|option| Some(Reply::Choice(option))));
        ['0', '4'].into_iter().for_each(|digit| quiz.digit(digit));
        quiz.choose_option(3);
        assert_eq!(
            (quiz.reply(), quiz.answer()),
            (Some(Reply::Choice(2)), Some(true)),
            "missing options are ignored"
        );
        assert!(Quiz::new(Vec::new(), 8).is_none());
    }

    #[test]
    fn polls_hide_the_answer_and_do_not_score() {
        use crate::lesson::questions::pool::PollOption;
        let offers =
            [true, false].map(|yes| PollOption { reply: Reply::YesNo(yes), text: yes.to_string() }).to_vec();
        let poll = Poll::new(offers, 1, "why".to_owned());
        let questions = vec![
            question(Topic::Swaps, 3, Answer::YesNo(false)),
            question(Topic::Swaps, 4, Answer::YesNo(true)),
        ];
        let mut quiz = Quiz::new(questions, 8).expect("questions");
        quiz.hold(poll.clone());
        assert!(
            quiz.is_asking()
                && quiz.answered_about().is_none()
                && quiz.reply().is_none()
                && quiz.answer().is_none()
        );
        quiz.poll().expect("a poll").reveal();
        assert_eq!((quiz.is_asking(), quiz.answered_about()), (false, Some(Target::Comparator(0))));
        quiz.let_go();
        assert!(quiz.poll().is_some(), "revealed polls stay");
        quiz.next();
        assert_eq!((quiz.question().1.at, quiz.score()), (4, Score::default()));
        quiz.hold(poll);
        quiz.let_go();
        assert_eq!(quiz.phase(), &Phase::Asking(AnswerInput::YesNo(None)));
    }
}
