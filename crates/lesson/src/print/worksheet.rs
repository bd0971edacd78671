//! A worksheet for a class, with pictures that do not give the answers away, and its key: the same questions
//! with the same numbers, with answers, reasons, and the misconceptions behind wrong answers.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Theme, answer_html, document, heading, misconceptions_html, question_html};
use crate::draw::svg::{self, escaped};
use crate::picture::Film;
use crate::picture::page::about;
use crate::progress::Progress;
use crate::questions::pool::TakeQuestion;

/// The questions of a film's takes in the order of a sheet: those about the same moment are together, below
/// its picture.
fn questions(film: &Film) -> Vec<TakeQuestion> {
    let mut questions = film.lesson.round(&film.takes, film.seed);
    questions.sort_by_key(|(take, question)| {
        (!question.topic.is_about_all(), question.topic.is_idea(), *take, question.at)
    });
    questions
}

/// Identifies a sheet: its number, and its search, because another search has other questions for the same
/// number.
fn name(film: &Film) -> String {
    escaped(&format!("Sheet {} \u{b7} {}", film.seed, about(&film.lead().recording)))
}

/// Writes the worksheet.
///
/// # Errors
/// I/O errors of the writer, and [`io::ErrorKind::Interrupted`] if `progress` is cancelled.
pub fn write(
    film: &Film,
    theme: Theme,
    progress: &dyn Progress,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let questions = questions(film);
    let goal = escaped(&film.lesson.fill_in(film.lesson.goal, film.lead().recording.shape()));
    let mut body = format!(
        "<p>{goal}</p>\n<div class=\"names\"><span>Name</span><span>Date</span></div>\n<ol \
         class=\"asked\">\n"
    );
    let mut pictured = None;
    for (number, (take, question)) in questions.iter().enumerate() {
        if progress.cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let moment = (*take, question.at);
        let mut picture = String::new();
        // Questions about the whole search, or about an idea, have no picture.
        if !question.topic.is_idea() && !question.topic.is_about_all() && pictured != Some(moment) {
            pictured = Some(moment);
            let scene = film.question_scene(*take, question.at);
            let element = svg::element(&scene, &format!("step{number}-"), &svg::variable);
            picture = format!(
                "<figure>\n<div role=\"img\" aria-label=\"Picture for question \
                 {}\">\n{element}</div>\n</figure>\n",
                number + 1
            );
        }
        let lines = if question.topic.is_idea() { 2 } else { 1 };
        let _ = writeln!(
            body,
            "<li>{picture}{}{}</li>",
            question_html(&film.takes[*take], question, false),
            "<div class=\"ruled\"></div>".repeat(lines)
        );
        progress.update(number as u64 + 1, questions.len() as u64);
    }
    let _ = writeln!(body, "</ol>\n<p class=\"weak\">{}</p>", name(film));
    document(film, theme, &format!("{}: worksheet", heading(film)), &body, out)
}

/// Writes the key.
///
/// # Errors
/// I/O errors of the writer.
pub fn write_key(film: &Film, theme: Theme, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut body = format!("<p class=\"weak\">{}</p>\n<ol class=\"asked\">\n", name(film));
    for (take, question) in questions(film) {
        let take = &film.takes[take];
        let _ = writeln!(
            body,
            "<li><p>{}</p>{}{}</li>",
            escaped(&question.text),
            answer_html(take, &question),
            misconceptions_html(take, &question)
        );
    }
    body += "</ol>\n";
    document(film, theme, &format!("{}: key", heading(film)), &body, out)
}

#[cfg(test)]
mod tests;
