//! A question as it stands on paper: what is given, how it is answered, and its answer.

use crate::algorithms::OwnStep;
use crate::algorithms::heap::HeapStep;
use crate::algorithms::tree::TreeStep;
use crate::algorithms::warp_select::questions::largest;
use crate::cursor::Cursor;
use crate::describe::key;
use crate::engines::lockstep::{Key, distance_of};
use crate::feedback::why;
use crate::lessons::Take;
use crate::picture::svg::escaped;
use crate::questions::{Answer, Ask, Form, Question, Reply, Slip, letter};
use crate::step::Step;
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
    let before = || {
        let mut cursor = Cursor::new(take.recording.clone());
        cursor.seek(question.at);
        cursor.state().clone()
    };
    let numbers = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match (question.ask, question.at.checked_sub(1).map(|at| take.recording.step(at)).as_deref()) {
        (Ask::Votes, Some(Step::Group { distances, .. })) => distances_from_lane_0(distances),
        (Ask::Votes, Some(Step::Own(OwnStep::Tree(TreeStep::Leaf { keys, .. })))) => distances_from_lane_0(&distances_of(keys)),
        (Ask::Child, _) => {
            let state = before();
            let Some(node) = state.descent().and_then(|descent| descent.way.last()) else { return String::new() };
            let left = |(lane, &key): (u32, _)| if node.waiting >> lane & 1 == 1 { distance_of(key) } else { f32::INFINITY };
            distances_from_lane_0(&(0..).zip(&node.keys).map(left).collect::<Vec<_>>())
        }
        (Ask::Takes, Some(Step::Group { distances, .. })) => {
            let keys = before().queues().map(largest).unwrap_or_default();
            distances_from_lane_0(distances) + &keys_from_lane_0("Largest keys of the queues", &keys)
        }
        (Ask::Inserts | Ask::Waits, Some(Step::Own(OwnStep::Heap(HeapStep::OwnDistances { distances, .. })))) => {
            let roots = before().heaps().map_or_else(Vec::new, |heaps| (0..heaps.width).map(|lane| heaps.root(lane)).collect());
            distances_from_lane_0(distances) + &keys_from_lane_0("Roots of the heaps", &roots)
        }
        (Ask::Breaks, _) => keys_from_lane_0("Largest keys of the queues", &before().queues().map(largest).unwrap_or_default()),
        (Ask::Bucket | Ask::Left, _) => {
            before().buckets().map_or_else(String::new, |buckets| format!(" Counts from bucket 0 on: {}.", numbers(&buckets.counts)))
        }
        _ => String::new(),
    }
}

fn distances_of(keys: &[Key]) -> Vec<f32> {
    keys.iter().map(|&key| distance_of(key)).collect()
}

/// A lane without a point has none.
fn distances_from_lane_0(distances: &[f32]) -> String {
    from_lane_0("Distances", distances.iter().map(|&distance| if distance.is_finite() { significant(distance.into()) } else { "none".to_owned() }))
}

/// A key of a place that is still empty is infinite.
fn keys_from_lane_0(what: &str, keys: &[Key]) -> String {
    from_lane_0(what, keys.iter().map(|&held| key(held)))
}

fn from_lane_0(what: &str, words: impl Iterator<Item = String>) -> String {
    format!(" {what} from lane 0 on: {}.", words.collect::<Vec<_>>().join(", "))
}
