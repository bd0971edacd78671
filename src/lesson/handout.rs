//! A lesson on paper, as plain text.

use std::io::{self, Write};

use super::account::account;
use super::cursor::Cursor;
use super::describe::describe;
use super::lessons::{Lesson, Take};
use super::pseudocode::LINES;
use super::questions::{Ask, Question};
use super::step::Step;
use crate::text::{count, significant, table, thousands};

/// Characters a line.
const WIDTH: usize = 100;

/// Sentences of one recording, at most: the rest is in its steps.
const MOST_SENTENCES: usize = 400;

/// Writes a lesson: its paragraph, the sentences of its steps at its level of detail, the account beside the theory, the
/// kernel, questions, and then their answers.
///
/// # Errors
/// The writer's.
pub fn write(lesson: &Lesson, takes: &[Take], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    heading(&format!("Lesson {}: {}", lesson.number, lesson.title), '=', out)?;
    paragraph(lesson.paragraph, "", out)?;
    let mut questions = Vec::new();
    for take in takes {
        if takes.len() > 1 {
            heading(take.arrangement.name(), '-', out)?;
        }
        about(take, out)?;
        sentences(lesson, take, out)?;
        accounts(take, out)?;
        questions.extend(lesson.questions(take).into_iter().map(|question| (take, question)));
    }
    heading("The kernel", '-', out)?;
    for line in LINES {
        writeln!(out, "{}", format!("{}{}", "    ".repeat(line.depth), line.text).trim_end())?;
    }
    writeln!(out)?;
    for (title, answers) in [("Questions", false), ("Answers", true)] {
        heading(title, '-', out)?;
        for (number, (take, question)) in questions.iter().enumerate() {
            let order = if takes.len() > 1 { format!("Points {}. ", take.arrangement.name()) } else { String::new() };
            let text = if answers {
                question.answer.text(take.recording.shape().width)
            } else {
                format!("{order}After step {}. {}{}", thousands(question.at as u64), question.text, given(take, question))
            };
            let label = format!("{}. ", number + 1);
            paragraph(&format!("{label}{text}"), &" ".repeat(label.len()), out)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// What stands on a screen and not on paper: the distances that lanes vote about.
fn given(take: &Take, question: &Question) -> String {
    match (question.ask, question.at.checked_sub(1).map(|at| take.recording.step(at)).as_deref()) {
        (Ask::Votes, Some(Step::Group { distances, .. })) => {
            let distances: Vec<String> =
                distances.iter().map(|&distance| if distance.is_finite() { significant(distance.into()) } else { "none".to_owned() }).collect();
            format!(" Distances from lane 0 on: {}.", distances.join(", "))
        }
        _ => String::new(),
    }
}

fn about(take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let parameters = &take.recording.parameters;
    let shape = parameters.shape;
    let coordinates: Vec<String> = parameters.query.iter().take(8).map(|&value| significant(value.into())).collect();
    let more = if parameters.query.len() > 8 { ", …" } else { "" };
    let rows = [
        ("data", format!("{}, {}", parameters.data, count(shape.n.into(), "point", "points"))),
        ("query", format!("row {}, ({}{more})", thousands(parameters.query_row.into()), coordinates.join(", "))),
        ("neighbours", format!("k = {}", shape.k)),
        ("warp", format!("{} lanes, {} each: K = {}", shape.width, count(shape.registers.into(), "key", "keys"), parameters.capacity)),
        ("recorded on", parameters.recorded_on.clone()),
    ];
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(what, value)| vec![what.to_owned(), value]).collect();
    writeln!(out, "{}", table(&rows, &[]))
}

fn sentences(lesson: &Lesson, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let shown: Vec<usize> = take.range.clone().filter(|&at| take.recording.level(at) <= lesson.level).collect();
    let mut cursor = Cursor::new(take.recording.clone());
    for &at in shown.iter().take(MOST_SENTENCES) {
        cursor.seek(at + 1);
        let sentence = cursor.step().map_or_else(String::new, |step| describe(&step, cursor.state()));
        let label = format!("{:>8}  ", thousands(at as u64 + 1));
        paragraph(&format!("{label}{sentence}"), &" ".repeat(label.len()), out)?;
    }
    if shown.len() > MOST_SENTENCES {
        let more = count((shown.len() - MOST_SENTENCES) as u64, "sentence", "sentences");
        writeln!(out, "          {more} more stand in the file of steps.")?;
    }
    writeln!(out)
}

fn accounts(take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(take.recording.len());
    let account = account(cursor.state());
    let (counts, expected) = (account.counts, account.expected_in_the_end);
    let row = |what: &str, counted: u64, expected: String| vec![what.to_owned(), thousands(counted), expected];
    let rows = [
        vec![String::new(), "counted".to_owned(), "theory, mean at most".to_owned()],
        row("points", counts.points_seen.into(), String::new()),
        row("groups with a candidate", counts.groups_hit.into(), String::new()),
        row("candidates", counts.candidates.into(), significant(expected.candidates)),
        row("merges", counts.merges.into(), significant(expected.merges)),
        row("compare-exchanges", counts.compare_exchanges, significant(expected.compare_exchanges)),
        row("shuffles", counts.shuffles, significant(expected.shuffles)),
    ];
    writeln!(out, "{}", table(&rows, &[1, 2]))?;
    let worst = count(account.worst_merges, "merge", "merges");
    paragraph(
        &format!("These are the numbers of the whole search. The theory's are for points in random order; the worst order takes {worst}."),
        "",
        out,
    )?;
    writeln!(out)
}

fn heading(text: &str, line: char, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "{text}\n{}\n", line.to_string().repeat(text.chars().count()))
}

/// A paragraph with lines of at most [`WIDTH`] characters, all but the first after `indent`. Spaces that begin it stay.
fn paragraph(text: &str, indent: &str, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let words = text.trim_start();
    let mut line = text[..text.len() - words.len()].to_owned();
    // A label's spaces stay, too.
    for (number, word) in words.split(' ').enumerate() {
        if number > 0 && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{}", line.trim_end())?;
            line = indent.to_owned();
        } else if number > 0 {
            line.push(' ');
        }
        line += word;
    }
    writeln!(out, "{}", line.trim_end())?;
    if indent.is_empty() { writeln!(out) } else { Ok(()) }
}
