//! Carries out quiz actions: asking, answering, voting.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::app::context::app::App;
use crate::app::features::lesson::state::player::Player;
use crate::app::features::lesson::state::poll::Poll;
use crate::app::features::lesson::state::quiz::{Phase, Quiz};
use crate::app::features::lesson::state::{PollAction, QuizAction};
use crate::lesson::Cursor;
use crate::lesson::feedback::why;
use crate::lesson::questions::pool::poll_options;
use crate::lesson::questions::{Question, Rng};

impl App {
    pub(in crate::app) fn toggle_quiz(&mut self) {
        let session = &mut self.session.lesson;
        let Some(player) = &mut session.player else { return };
        if session.quiz.take().is_some() {
            let (take, position) = session.before_quiz;
            player.choose(take);
            return player.seek(position);
        }
        session.before_quiz = (player.active(), player.cursor().position());
        session.drag.held = false;
        player.pause();
        let seed = session.questions_seed.unwrap_or_else(by_the_clock);
        session.quiz =
            Quiz::new(player.lesson.round(&player.takes, seed), player.take().recording.shape().width);
        if session.quiz.is_none() {
            self.session.log.info("this recording has no questions");
        }
        self.show_question();
    }

    /// Moves the picture to the question's step and shows all panels, as the answer may be a click in any of
    /// them.
    fn show_question(&mut self) {
        let session = &mut self.session.lesson;
        if let (Some(quiz), Some(player)) =
            (session.quiz.as_ref().filter(|quiz| quiz.is_asking()), &mut session.player)
        {
            session.zoom = None;
            let (take, question) = quiz.question();
            player.choose(*take);
            player.seek(question.at);
        }
    }

    pub(in crate::app) fn quiz_action(&mut self, action: QuizAction) {
        let session = &mut self.session.lesson;
        let (Some(quiz), Some(player)) = (&mut session.quiz, &mut session.player) else { return };
        match action {
            QuizAction::ChooseLane(lane) => quiz.choose_lane(lane),
            QuizAction::ChooseSlot(slot) => quiz.choose_slot(slot),
            QuizAction::Digit(digit) => quiz.digit(digit),
            QuizAction::Erase => quiz.erase(),
            QuizAction::Say(yes) => quiz.say(yes),
            QuizAction::Choose(option) => quiz.choose_option(option),
            QuizAction::Arrow(forward) => quiz.arrow(forward),
            QuizAction::Enter if quiz.is_asking() => {
                let Some(right) = quiz.answer() else { return };
                let score = session.scores.entry(player.lesson.number).or_default();
                score.asked += 1;
                score.right += u32::from(right);
                let (_, question) = quiz.question();
                // The answer may be shown now.
                player.seek(question.shown_at());
            }
            QuizAction::Enter | QuizAction::Skip => {
                // A class continues voting.
                let votes = matches!(quiz.phase(), Phase::Held(_));
                quiz.next();
                self.show_question();
                if votes {
                    self.quiz_action(QuizAction::Poll(PollAction::Hold));
                }
            }
            QuizAction::Again => {
                session.scores.remove(&player.lesson.number);
                let before = session.before_quiz;
                session.quiz = None;
                self.toggle_quiz();
                self.session.lesson.before_quiz = before;
            }
            QuizAction::Poll(action) => poll_action(quiz, player, action),
        }
    }
}

/// Handles actions of a class poll. Revealing the answer also shows its step.
fn poll_action(quiz: &mut Quiz, player: &mut Player, action: PollAction) {
    let question = quiz.question().1.clone();
    match action {
        PollAction::Hold => return quiz.hold(polled(&question, player)),
        PollAction::LetGo => return quiz.let_go(),
        _ => {}
    }
    let Some(poll) = quiz.poll() else { return };
    match action {
        PollAction::Hold | PollAction::LetGo => {}
        PollAction::Vote(option) => poll.vote(option),
        PollAction::Set(option, votes) => poll.set(option, votes),
        PollAction::TakeBack => poll.take_back(),
        PollAction::ShowVotes => poll.show_votes(),
        PollAction::Reveal => {
            poll.reveal();
            player.seek(question.shown_at());
        }
        PollAction::AskAgain => poll.ask_again(),
    }
}

/// A poll of a question, with its options and the reason for the right one.
fn polled(question: &Question, player: &Player) -> Poll {
    let recording = &player.take().recording;
    let mut after = Cursor::new(recording.clone());
    after.seek(question.shown_at());
    // Seeded by position, so that the options are the same each time.
    let offers = poll_options(question, recording.shape(), &mut Rng::new(question.at as u64));
    let right = offers.iter().position(|offer| question.answer.accepts(offer.reply)).unwrap_or(0);
    Poll::new(offers, right, why(question, &after))
}

/// A seed that differs each time.
fn by_the_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}
