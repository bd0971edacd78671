//! The lesson: its player, its quiz, what a class votes on, its input fields.

pub mod files;
pub mod player;
pub mod poll;
pub mod quiz;
pub mod session;

use crate::lesson::fault::Fault;
use crate::lesson::picture::Panel;
use session::{Breaking, LessonDraft};

/// What the lesson's parts ask for, beside commands.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonAction {
    /// A lesson is to be opened, by its number.
    Open(u32),
    Edit(LessonDraft),
    /// The lesson is to be recorded as it is typed.
    Record,
    /// The lesson is to be as it was.
    Reset,
    /// The lesson is to be recorded with a mistake, or without.
    Break(Breaking),
    /// Which mistake is taken for the one that is made.
    Guess(Fault),
    Seek(usize),
    /// Another take is stepped through.
    Choose(usize),
    /// In steps per second.
    SetSpeed(f32),
    /// All of the search, or only what the lesson is about.
    SetWhole(bool),
    SetSideBySide(bool),
    SetGpu(bool),
    /// The source of a line of the pseudocode (inside `None`: of what is running); `None` closes it.
    Source(Option<Option<usize>>),
    Quiz(QuizAction),
    Touch(TouchAction),
    /// A panel has all the room; `None` shows all panels.
    Zoom(Option<Panel>),
}

/// What is done to the query and the points of a map. Places are coordinates on both axes, relative to their
/// origins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TouchAction {
    /// Something is taken hold of: a change begins.
    Hold,
    /// The query is moved.
    Query([f32; 2]),
    /// A point is moved, by its row.
    Point(u32, [f32; 2]),
    /// It is let go of.
    Release,
    /// It is put back where it was taken from.
    Back,
}

/// What is said about a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuizAction {
    ChooseLane(u32),
    ChooseSlot(u32),
    Digit(char),
    Erase,
    Say(bool),
    /// An option, from 0.
    Choose(u32),
    Arrow(bool),
    /// The answer is given; after it, the next question.
    Enter,
    /// The next question, without an answer.
    Skip,
    /// Other questions, and the score from nothing.
    Again,
    Poll(PollAction),
}

/// What is done while a class votes. Options count from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PollAction {
    /// The question is left to the class.
    Hold,
    /// It is asked as before.
    LetGo,
    /// One vote for an option, by its place from 0.
    Vote(usize),
    /// So many votes for an option.
    Set(usize, u32),
    /// The last vote is taken back.
    TakeBack,
    /// The votes are shown, not yet which option is right.
    ShowVotes,
    /// The votes and the answer are shown.
    Reveal,
    /// The class votes again, after a discussion.
    AskAgain,
}
