//! A question as it stands on paper: what is given, how it is answered, and its answer.

use crate::cursor::Cursor;
use crate::describe::key;
use crate::draw::svg::escaped;
use crate::engines::lockstep::Key;
use crate::feedback::why;
use crate::lessons::Take;
use crate::questions::{Answer, Form, Question, Reply, Slip, letter};
use crate::text::{significant, thousands};

const BOX: &str = "<span class=\"box\"></span>";

/// A question: with boxes to tick where there is something to choose, else with a blank to fill in. With `step`, also the step that it is about.
pub fn item(take: &Take, question: &Question, step: bool) -> String {
    let after = if step && !question.ask.is_idea() { format!("After step {}. ", thousands(question.at as u64)) } else { String::new() };
    let text = escaped(&format!("{after}{}{}", question.text, given(take, question)));
    let options = |options: &[String]| format!("<ul class=\"options\">{}</ul>", options.concat());
    let form = match question.ask.kind().form {
        Form::Choice => {
            let option = |(number, text): (usize, &String)| format!("<li>{BOX}{} {}</li>", letter(number), escaped(text));
            options(&question.options.iter().enumerate().map(option).collect::<Vec<_>>())
        }
        Form::YesNo => format!("<p>{BOX}yes &#160; {BOX}no</p>"),
        Form::Lanes { doing, .. } => {
            let lanes = (0..take.recording.shape().width).map(|lane| format!("<span>{BOX}{lane}</span>"));
            format!("<div class=\"lanes\"><span>{doing}, lanes:</span>{}</div>", lanes.collect::<String>())
        }
        Form::Number { noun, .. } => format!("<p>{noun}: <span class=\"blank\">&#160;</span></p>"),
    };
    format!("<p>{text}</p>{form}")
}

/// The answer of a question, and why it is right.
pub fn answer(take: &Take, question: &Question) -> String {
    let mut after = Cursor::new(take.recording.clone());
    after.seek(question.shown_at());
    let right = question.right(take.recording.shape().width);
    let letter = if let Answer::Choice(option) = question.answer { format!("{}: ", letter(option as usize)) } else { String::new() };
    format!("<span class=\"right\">{letter}{}</span><p>{}</p>", escaped(&right), escaped(&why(question, &after)))
}

/// What each known wrong answer means.
pub fn mistakes(take: &Take, question: &Question) -> String {
    let width = take.recording.shape().width;
    let mistake = |slip: &Slip| {
        let said = match slip.reply {
            Reply::Choice(option) => format!("{}: {}", letter(option as usize), question.words(slip.reply, width)),
            reply => question.words(reply, width),
        };
        format!("<li class=\"weak\">{} \u{2013} {}</li>", escaped(&said), escaped(&slip.says))
    };
    format!("<ul class=\"options\">{}</ul>", question.slips.iter().map(mistake).collect::<String>())
}

/// Data that is visible on screen but not in print: the distances that lanes vote on, the keys in their queues, the counts of buckets.
fn given(take: &Take, question: &Question) -> String {
    let Some(last) = question.at.checked_sub(1) else { return String::new() };
    let recording = &take.recording;
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(question.at);
    recording.algorithm().given(question.ask, &recording.step(last), cursor.state())
}

/// A lane without a point has none.
pub(crate) fn distances_from_lane_0(distances: &[f32]) -> String {
    from_lane_0("Distances", distances.iter().map(|&distance| if distance.is_finite() { significant(distance.into()) } else { "none".to_owned() }))
}

/// A key of a place that is still empty is infinite.
pub(crate) fn keys_from_lane_0(what: &str, keys: &[Key]) -> String {
    from_lane_0(what, keys.iter().map(|&held| key(held)))
}

fn from_lane_0(what: &str, words: impl Iterator<Item = String>) -> String {
    format!(" {what} from lane 0 on: {}.", words.collect::<Vec<_>>().join(", "))
}
