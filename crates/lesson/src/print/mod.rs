//! Printable lessons: self-contained HTML files without scripts and with embedded fonts, for A4 and Letter.
//!
//! - [`handout`]: the lesson with pictures, sentences, the account and questions, with answers on a separate
//!   page
//! - [`worksheet`]: a worksheet with questions, their pictures and room to write; and its answer key
//!
//! This file has the shared parts: printed questions and tables of counts.

pub mod handout;
pub mod worksheet;

use std::io::{self, Write};

use super::cursor::Cursor;
use super::describe::key;
use super::feedback::why;
use super::lessons::Take;
use super::picture::Film;
use super::questions::{Answer, AnswerForm, Misconception, Question, Reply, letter};
use crate::draw::Font;
use crate::draw::fonts::FontSubsets;
use crate::draw::svg::{self, escaped};
use crate::engines::lockstep::Key;
use crate::palette::{DARK, LIGHT, Palette};
use crate::text::{count, significant, thousands};

/// The colour scheme of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Follows the reader's light or dark setting; light in print.
    Adaptive,
    /// The palette of the film.
    Film,
}

const STYLE: &str = "body{margin:0;background:var(--canvas);color:var(--text);font:300 16px/1.5 Ubuntu,\
     'Segoe UI',system-ui,sans-serif}main{max-width:60rem;margin:0 \
     auto;padding:1.5rem}h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem \
     0 .5rem;border-bottom:1px solid var(--line)}figure{margin:1.2rem 0;break-inside:avoid}figure \
     svg{box-sizing:border-box;display:block;width:100%;height:auto;border:1px solid \
     var(--line)}figcaption{margin-top:.4rem;font-size:.95em}b.step{color:var(--text-weak);font-weight:\
     normal;margin-right:.7em}ul.steps{list-style:none;margin:.6rem 0;padding:0}ul.steps li{margin:.2rem \
     0}table{border-collapse:collapse;margin:.6rem 0}th,td{text-align:left;padding:.15rem 1.2rem .15rem \
     0;vertical-align:top}th{color:var(--text-weak);font-weight:normal}td.n,th.n{text-align:right;\
     font-variant-numeric:tabular-nums}pre{background:var(--panel);padding:.8rem;white-space:pre-wrap;font:\
     13px/1.45 Hack,Ubuntu,monospace}ol.asked>li{margin:1.1rem 0;break-inside:avoid}ol.asked p{margin:.2rem \
     0}ul.options{list-style:none;margin:.3rem 0;padding:0}ul.options li{margin:.2rem \
     0}.box{display:inline-block;width:.85em;height:.85em;border:1.5px solid \
     var(--text);border-radius:2px;margin-right:.5em;vertical-align:-.08em}.lanes{display:flex;flex-wrap:\
     wrap;gap:.25rem .55rem;margin:.4rem 0}.lanes span \
     span.box{margin-right:.2em}.blank{display:inline-block;width:7rem;border-bottom:1px solid \
     var(--text)}.ruled{height:1.8em;border-bottom:1px solid \
     var(--line)}.names{display:flex;gap:2rem;margin:1rem 0}.names span{flex:1;border-bottom:1px solid \
     var(--text)}.right{font-weight:bold}.weak{color:var(--text-weak)}.apart{break-before:page}@page{margin:\
     15mm}@media \
     print{body{font-size:10.5pt}main{max-width:none;padding:0}h2,h3{break-after:avoid}table{break-\
     inside:avoid}figure{margin:2mm 0}figure svg{width:auto;max-width:100%;max-height:calc(33.3vh - \
     13mm);margin:0 auto}li,p{orphans:2;widows:2}*{-webkit-print-color-adjust:exact;print-color-adjust:\
     exact}}";

/// Writes a file around its body.
fn document(
    film: &Film,
    theme: Theme,
    title: &str,
    body: &str,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let title = escaped(title);
    // The fonts are reduced to the letters in use, including the digits with which the browser numbers lists.
    let mut subsets = FontSubsets::default();
    for font in [Font::Sans, Font::Mono] {
        [title.as_str(), body, "0123456789."].into_iter().for_each(|text| subsets.add(text, font));
    }
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n{}\n<title>{title}</title>\n{}<style>\n{}\n{STYLE}\n</style>\n</\
         head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>",
        svg::policy(false),
        subsets.style(),
        colors(film, theme)
    )
}

/// The variables of the style sheet.
fn colors(film: &Film, theme: Theme) -> String {
    let root = |palette: &Palette| format!(":root{{{}}}", svg::variables(palette));
    match theme {
        Theme::Film => root(&film.palette),
        Theme::Adaptive => {
            format!("{}\n@media screen and (prefers-color-scheme:dark){{{}}}", root(&LIGHT), root(&DARK))
        }
    }
}

/// The name of a lesson as a heading.
fn heading(film: &Film) -> String {
    format!("Lesson {}: {}", film.lesson.number, film.lesson.title)
}

/// The order of a take's points as a heading, if there are several.
pub(crate) fn order_heading(film: &Film, take: &Take) -> String {
    if film.takes.len() > 1 {
        format!("<h3>{}</h3>\n", take.arrangement.name().replace('-', " "))
    } else {
        String::new()
    }
}

// Printed questions: given data, form of the answer, and answer.

const BOX: &str = "<span class=\"box\"></span>";

/// A question with boxes to tick or a blank to fill in. With `step`, it also names its step.
pub fn question_html(take: &Take, question: &Question, step: bool) -> String {
    let after = if step && !question.topic.is_idea() {
        format!("After step {}. ", thousands(question.at as u64))
    } else {
        String::new()
    };
    let text = escaped(&format!("{after}{}{}", question.text, printed_data(take, question)));
    let options = |options: &[String]| format!("<ul class=\"options\">{}</ul>", options.concat());
    let form = match question.topic.info().form {
        AnswerForm::Choice => {
            let option = |(number, text): (usize, &String)| {
                format!("<li>{BOX}{} {}</li>", letter(number), escaped(text))
            };
            options(&question.options.iter().enumerate().map(option).collect::<Vec<_>>())
        }
        AnswerForm::YesNo => format!("<p>{BOX}yes &#160; {BOX}no</p>"),
        AnswerForm::Lanes { doing, .. } => {
            let lanes = (0..take.recording.shape().width).map(|lane| format!("<span>{BOX}{lane}</span>"));
            format!("<div class=\"lanes\"><span>{doing}, lanes:</span>{}</div>", lanes.collect::<String>())
        }
        AnswerForm::Number { noun, .. } => format!("<p>{noun}: <span class=\"blank\">&#160;</span></p>"),
    };
    format!("<p>{text}</p>{form}")
}

/// The answer to a question, and why it is right.
pub fn answer_html(take: &Take, question: &Question) -> String {
    let mut after = Cursor::new(take.recording.clone());
    after.seek(question.shown_at());
    let right = question.right(take.recording.shape().width);
    let letter = if let Answer::Choice(option) = question.answer {
        format!("{}: ", letter(option as usize))
    } else {
        String::new()
    };
    format!(
        "<span class=\"right\">{letter}{}</span><p>{}</p>",
        escaped(&right),
        escaped(&why(question, &after))
    )
}

/// The misconceptions behind wrong answers.
pub fn misconceptions_html(take: &Take, question: &Question) -> String {
    let width = take.recording.shape().width;
    let mistake = |misconception: &Misconception| {
        let said = match misconception.reply {
            Reply::Choice(option) => {
                format!("{}: {}", letter(option as usize), question.words(misconception.reply, width))
            }
            reply => question.words(reply, width),
        };
        format!("<li class=\"weak\">{} \u{2013} {}</li>", escaped(&said), escaped(&misconception.explanation))
    };
    format!("<ul class=\"options\">{}</ul>", question.misconceptions.iter().map(mistake).collect::<String>())
}

/// Data that is visible on screen but not in print: distances of a vote, keys in queues, counts of buckets.
fn printed_data(take: &Take, question: &Question) -> String {
    let Some(last) = question.at.checked_sub(1) else { return String::new() };
    let recording = &take.recording;
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(question.at);
    recording.algorithm().printed_data(question.topic, &recording.step(last), cursor.state())
}

/// The distances of a group; a lane without a point has none.
pub(crate) fn distances_from_lane_0(distances: &[f32]) -> String {
    from_lane_0(
        "Distances",
        distances.iter().map(|&distance| {
            if distance.is_finite() { significant(distance.into()) } else { "none".to_owned() }
        }),
    )
}

/// The keys of lanes; an empty place is infinite.
pub(crate) fn keys_from_lane_0(what: &str, keys: &[Key]) -> String {
    from_lane_0(what, keys.iter().map(|&held| key(held)))
}

fn from_lane_0(what: &str, words: impl Iterator<Item = String>) -> String {
    format!(" {what} from lane 0 on: {}.", words.collect::<Vec<_>>().join(", "))
}

// Tables of counts, compared with theory or other searches.

/// The data of a take, and the recorder.
pub fn write_parameters(film: &Film, take: &Take, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let parameters = &take.recording.parameters;
    let shape = parameters.shape;
    let coordinates: Vec<String> =
        parameters.query.iter().take(8).map(|&value| significant(value.into())).collect();
    let more = if parameters.query.len() > 8 { ", …" } else { "" };
    let rows = [
        ("data", format!("{}, {}", parameters.data, count(shape.n.into(), "point", "points"))),
        (
            "query",
            format!("row {}, ({}{more})", thousands(parameters.query_row.into()), coordinates.join(", ")),
        ),
        ("neighbours", format!("k = {}", shape.k)),
        (
            "warp",
            format!(
                "{} lanes, {} each: K = {}",
                shape.width,
                count(shape.registers.into(), "key", "keys"),
                parameters.capacity
            ),
        ),
        ("recorded on", parameters.recorder_name()),
    ];
    writeln!(out, "{}<table>", order_heading(film, take))?;
    for (what, value) in rows {
        writeln!(out, "<tr><th>{what}</th><td>{}</td></tr>", escaped(&value))?;
    }
    writeln!(out, "</table>")
}

/// A table of counts; `None` becomes a dash.
pub(crate) fn write_comparison(
    heads: &[&str],
    rows: &[(&str, Vec<Option<String>>)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let heads: String = heads.iter().map(|head| format!("<th class=\"n\">{head}</th>")).collect();
    writeln!(out, "<table>\n<tr><th></th>{heads}</tr>")?;
    for (what, numbers) in rows {
        let numbers: String = numbers
            .iter()
            .map(|number| format!("<td class=\"n\">{}</td>", number.as_deref().unwrap_or("\u{2013}")))
            .collect();
        writeln!(out, "<tr><th>{what}</th>{numbers}</tr>")?;
    }
    writeln!(out, "</table>")
}

/// Writes the counts of a take's search.
pub fn write_counts(film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
    take.recording.algorithm().write_table(film, take, out)
}
