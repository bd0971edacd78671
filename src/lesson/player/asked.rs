//! Questions as a page has them.

use serde::Serialize;

use super::data::Moment;
use super::items::code;
use crate::lesson::cursor::Cursor;
use crate::lesson::feedback::{subjects, why};
use crate::lesson::questions::{Answer, Ask, Question, Reply};

/// A question, and the moment at which it is asked as it looks then: without what gives the answer away.
#[derive(Debug, Serialize)]
pub struct QuestionData {
    take: usize,
    /// The number of its moment, and of the one that shows the answer.
    at: usize,
    then: usize,
    #[serde(flatten)]
    drawn: Moment,
    text: String,
    /// What is asked for: `Lane`, `Slot`, `Bucket` or a `Number`; of several lanes what they do; empty for yes or no.
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
}

/// The position that shows a question's answer.
pub fn after(question: &Question) -> usize {
    if question.ask.is_about_all() { question.at } else { question.at + 1 }
}

/// A question about a take with these positions, as it looks when it is asked. The cursor is where the answer is shown.
pub fn asked(question: &Question, take: usize, positions: &[usize], drawn: Moment, cursor: &Cursor) -> QuestionData {
    let recording = cursor.recording();
    let moment = |position: usize| positions.partition_point(|&at| at < position);
    QuestionData {
        take,
        at: moment(question.at),
        then: moment(after(question)),
        drawn,
        text: question.text.clone(),
        noun: noun(question),
        answer: match question.answer {
            Answer::Lanes(mask) => AnswerData::Lanes(mask),
            Answer::Number { right, within } => AnswerData::Number(right, within),
            Answer::YesNo(right) => AnswerData::YesNo(right),
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
    }
}

fn noun(question: &Question) -> &'static str {
    match (question.ask, question.answer) {
        (Ask::Takes, _) => "Taking",
        (_, Answer::Lanes(_)) => "Voting",
        (_, Answer::YesNo(_)) => "",
        (Ask::Slot, _) => "Slot",
        (Ask::Partner | Ask::Child, _) => "Lane",
        (Ask::Bucket, _) => "Bucket",
        _ => "Number",
    }
}
