//! A printable lesson: its texts, pictures of its moments, counts, and questions.

use std::io::{self, Write};

use super::{Theme, answer_html, document, heading, question_html, write_counts, write_parameters};
use crate::draw::svg::{self, escaped};
use crate::moments::Moments;
use crate::picture::Film;
use crate::progress::Progress;
use crate::text::{count, thousands};

/// Maximum number of sentences; the file of steps has all of them.
const MAX_SENTENCES: usize = 400;

/// Writes a lesson: its introduction, pictures of the moments with the sentences of all steps between them,
/// the counters compared with theory, the pseudocode, and questions. The answers are on a separate page at
/// the end.
///
/// # Errors
/// I/O errors of the writer, and [`io::ErrorKind::Interrupted`] if `progress` is cancelled.
pub fn write(
    film: &Film,
    moments: &Moments,
    theme: Theme,
    progress: &dyn Progress,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let mut body = Vec::new();
    write_body(film, moments, progress, &mut body)?;
    document(film, theme, &heading(film), &String::from_utf8_lossy(&body), out)
}

fn write_body(film: &Film, moments: &Moments, progress: &dyn Progress, out: &mut Vec<u8>) -> io::Result<()> {
    let lesson = &film.lesson;
    let says = |text| escaped(&lesson.fill_in(text, film.lead().recording.shape()));
    let [goal, paragraph, summary] = [lesson.goal, lesson.paragraph, lesson.summary].map(says);
    write!(out, "<p><strong>{goal}</strong></p>\n<p>{paragraph}</p>\n<p><strong>{summary}</strong></p>\n")?;
    for take in &film.takes {
        write_parameters(film, take, out)?;
    }
    writeln!(out, "<h2>Step by step</h2>")?;
    steps(film, moments, progress, out)?;
    writeln!(out, "<h2>The account</h2>")?;
    for take in &film.takes {
        write_counts(film, take, out)?;
    }
    writeln!(out, "<h2>{}</h2>\n<pre><code>", film.lead().recording.code().titles[0])?;
    for line in &film.lead().recording.code().lines {
        writeln!(out, "{}{}", "    ".repeat(line.depth), escaped(line.text))?;
    }
    writeln!(out, "</code></pre>")?;
    asked(film, out)
}

/// Writes every sentence of the level, with pictures in between. With several takes, only the captions of
/// pictures.
fn steps(
    film: &Film,
    moments: &Moments,
    progress: &dyn Progress,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let steps: Vec<usize> =
        if film.takes.len() == 1 { moments.all.clone() } else { moments.positions.clone() };
    // Every picture has a sentence.
    let listed_steps: Vec<usize> = steps
        .iter()
        .enumerate()
        .filter(|(number, at)| *number < MAX_SENTENCES || moments.positions.contains(at))
        .map(|(_, &at)| at)
        .collect();
    let omitted = steps.len() - listed_steps.len();
    let mut listed = false;
    for &at in &listed_steps {
        if progress.cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let pictured = moments.positions.binary_search(&at);
        if listed && pictured.is_ok() {
            writeln!(out, "</ul>")?;
            listed = false;
        }
        let step = format!("<b class=\"step\">Step {}</b>", thousands(at as u64));
        if let Ok(number) = pictured {
            let text = escaped(&film.sentence(at));
            let picture = svg::element(&film.figure(at), &format!("step{at}-"), &svg::variable);
            writeln!(
                out,
                "<figure id=\"step-{at}\">\n<div role=\"img\" aria-label=\"Picture after step \
                 {at}\">\n{picture}</div>\n<figcaption>{step}{text}</figcaption>\n</figure>"
            )?;
            progress.update(number as u64 + 1, moments.positions.len() as u64);
        } else {
            let begin = if listed { "" } else { "<ul class=\"steps\">\n" };
            listed = true;
            writeln!(out, "{begin}<li>{step}{}</li>", escaped(&film.sentence(at)))?;
        }
    }
    if listed {
        writeln!(out, "</ul>")?;
    }
    if omitted > 0 {
        let more = count(omitted as u64, "sentence is", "sentences are");
        writeln!(out, "<p class=\"weak\">{more} omitted here; the file of steps has all of them.</p>")?;
    }
    Ok(())
}

/// Writes the questions with room to write, and the answers on another page.
fn asked(film: &Film, out: &mut Vec<u8>) -> io::Result<()> {
    let questions = film.lesson.round(&film.takes, film.seed);
    if questions.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Questions</h2>\n<ol class=\"asked\">")?;
    for (take, question) in &questions {
        let html = question_html(&film.takes[*take], question, true);
        writeln!(out, "<li>{html}<div class=\"ruled\"></div></li>")?;
    }
    writeln!(out, "</ol>\n<section class=\"apart\">\n<h2>Answers</h2>\n<ol class=\"asked\">")?;
    for (take, question) in &questions {
        writeln!(out, "<li>{}</li>", answer_html(&film.takes[*take], question))?;
    }
    writeln!(out, "</ol>\n</section>")
}
