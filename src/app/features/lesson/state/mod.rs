//! State of the lesson: player, quiz, class poll, input fields.

pub mod files;
pub mod player;
pub mod poll;
pub mod quiz;
pub mod session;

use crate::lesson::fault::Fault;
use crate::lesson::picture::Panel;
use session::{FaultChoice, LessonDraft};

/// Actions of the lesson other than commands.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonAction {
    Open(u32),
    Edit(LessonDraft),
    Record,
    /// Restore the lesson's own settings.
    Reset,
    /// Record the lesson with a fault, or without.
    SetFault(FaultChoice),
    Guess(Fault),
    Seek(usize),
    /// Select another take.
    Choose(usize),
    /// In steps per second.
    SetSpeed(f32),
    /// Show the whole search, or only the lesson's excerpt.
    SetWhole(bool),
    SetSideBySide(bool),
    SetGpu(bool),
    /// Show the source of a line of the pseudocode (inner `None`: of the running line); `None` closes it.
    Source(Option<Option<usize>>),
    Quiz(QuizAction),
    Drag(DragAction),
    Zoom(Option<Panel>),
}

/// Drags of the query and of points in a map. Coordinates of both axes are relative to their origins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DragAction {
    /// Begin a drag.
    Hold,
    Query([f32; 2]),
    /// Move a point, by row.
    Point(u32, [f32; 2]),
    /// End the drag.
    Release,
    /// Cancel the drag and restore the position.
    Back,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuizAction {
    ChooseLane(u32),
    ChooseSlot(u32),
    Digit(char),
    Erase,
    Say(bool),
    /// Choose an option, from 0.
    Choose(u32),
    Arrow(bool),
    /// Give the answer; after an answer, go to the next question.
    Enter,
    Skip,
    /// Start over with other questions and a new score.
    Again,
    Poll(PollAction),
}

/// Actions of a class poll. Options count from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PollAction {
    /// Start a poll on the question.
    Hold,
    /// Return to the question without a poll.
    LetGo,
    Vote(usize),
    /// Set the number of votes for an option.
    Set(usize, u32),
    /// Remove the last vote.
    TakeBack,
    /// Show the votes, but not the right option.
    ShowVotes,
    /// Show the votes and the right option.
    Reveal,
    /// Vote again, after a discussion.
    AskAgain,
}
