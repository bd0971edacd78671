//! Questions as a page has them.

use serde::Serialize;

use super::data::Moment;
use super::items::code;
use crate::cursor::Cursor;
use crate::feedback::{subjects, why};
use crate::questions::{Answer, Form, Question, Reply};

/// A question, and the moment at which it is asked as it looks then: without what gives the answer away.
#[derive(Debug, Serialize)]
pub struct QuestionData {
    take: usize,
    /// The number of its moment, and of the one that shows the answer.
    at: usize,
    then: usize,
    #[serde(flatten)]
    drawn: Moment,
    /// The kind, by its number.
    kind: u32,
    /// Whether it is about the whole search, or about an idea.
    all: bool,
    idea: bool,
    /// The position of the step that its text tells of, and whether two questions can be about one such step.
    tells: usize,
    shared: bool,
    text: String,
    /// What can be chosen.
    options: Vec<String>,
    /// What is asked for: `Lane`, `Slot`, `Bucket` or a `Number`; of several lanes what they do; else empty.
    noun: &'static str,
    answer: AnswerData,
    /// The answer in words, and why.
    right: String,
    why: String,
    slips: Vec<(AnswerData, String)>,
    /// What it is about.
    about: Vec<String>,
}

/// What is right, or what was said.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum AnswerData {
    Lanes(u32),
    /// A number, and how far off counts.
    Number(u32, u32),
    YesNo(bool),
    /// The number of an option.
    Choice(u32),
}

/// A question about a take with these positions, as it looks when it is asked. The cursor is where the answer is shown.
pub fn asked(question: &Question, take: usize, positions: &[usize], drawn: Moment, cursor: &Cursor) -> QuestionData {
    let recording = cursor.recording();
    let moment = |position: usize| positions.partition_point(|&at| at < position);
    QuestionData {
        take,
        at: moment(question.at),
        then: moment(question.shown_at()),
        drawn,
        kind: question.ask as u32,
        all: question.ask.is_about_all(),
        idea: question.ask.is_idea(),
        tells: question.tells(),
        shared: question.ask.shares_steps(),
        text: question.text.clone(),
        options: question.options.clone(),
        noun: match question.ask.kind().form {
            Form::Lanes { doing, .. } => doing,
            Form::Number { noun, .. } => noun,
            Form::YesNo | Form::Choice => "",
        },
        answer: match question.answer {
            Answer::Lanes(mask) => AnswerData::Lanes(mask),
            Answer::Number { right, within } => AnswerData::Number(right, within),
            Answer::YesNo(right) => AnswerData::YesNo(right),
            Answer::Choice(option) => AnswerData::Choice(option),
        },
        right: question.right(recording.shape().width),
        why: why(question, cursor),
        slips: question.slips.iter().map(|slip| (said(slip.reply), slip.says.clone())).collect(),
        about: subjects(question, recording).into_iter().map(code).collect(),
    }
}

fn said(reply: Reply) -> AnswerData {
    match reply {
        Reply::Lanes(mask) => AnswerData::Lanes(mask),
        Reply::Number(number) => AnswerData::Number(number, 0),
        Reply::YesNo(yes) => AnswerData::YesNo(yes),
        Reply::Choice(option) => AnswerData::Choice(option),
    }
}
