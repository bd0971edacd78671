//! The panel of the cost of a query: by one thread, by a thread of a warp, and by a warp.

use super::View;
use super::pen::{ROW, area, faint, line, sans, width};
use super::scene::{Area, Font, Ink, Scene};
use crate::meter::{Meter, ROWS, Row, Strategy, words};

/// The colours of the strategies.
const INKS: [Ink; 3] = [Ink::TextWeak, Ink::Buffer, Ink::Intermediate];

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let text = view.text;
    let row = (text * ROW).min(high / (ROWS.len() as f32 + 3.4));
    let size = row / ROW;
    let heads = room.take_top(row * 1.1);
    let Some(meter) = view.recording().meter() else {
        scene.label(heads, 0.0, sans(size, Ink::Text), "Meter: only for the kernel and a thread per query");
        return scene;
    };
    let notes = [room.take_bottom(row), room.take_bottom(row)];
    let share = format!("divided by {}", meter.width);
    let titles = columns(heads, size);
    scene.label(titles.name, 0.0, sans(size, Ink::Text), "Cost of a query");
    for (strategy, rect) in Strategy::ALL.iter().zip(titles.strategies) {
        let mut bars = rect;
        bars.take_left(number_width(rect, size));
        let style = sans((size * 0.9).max(view.min_type), Ink::Text);
        let fits = |words: &str, room: Area| width(style.font, style.size, words) <= room.width;
        let long = format!("{}, {share}", strategy.name());
        let is_shared = *strategy == Strategy::ThreadPerQuery;
        let name = if is_shared && fits(&long, rect) { &long } else { strategy.name() };
        // Above the bars; a long name also above the numbers.
        scene.label(if fits(name, bars) { bars } else { rect }, 0.0, style, name);
    }
    scene.path(vec![[room.x, room.y + 1.0], [room.right(), room.y + 1.0]], line(Ink::Line, 1.0));
    room.take_top(row * 0.15);
    // One scale for all counts, so that bars can be compared across rows.
    let end = |row, strategy| meter.number(row, strategy, &meter.all(strategy)).unwrap_or(0.0);
    let ends = ROWS
        .iter()
        .filter(|row| !is_share(row))
        .flat_map(|row| Strategy::ALL.map(|strategy| end(row, strategy)));
    let most = ends.fold(1.0, f64::max);
    for one in &ROWS {
        let rects = columns(room.take_top(row), size);
        scene.label(rects.name, 0.0, sans(size * 0.95, Ink::Text), one.name);
        for ((strategy, rect), ink) in Strategy::ALL.into_iter().zip(rects.strategies).zip(INKS) {
            cell(&mut scene, view, meter, one, strategy, rect, ink, most);
        }
    }
    let says = [
        format!("Until answered is not divided: the {} queries are answered together.", meter.width),
        "Issue slots: instructions issued. Bars: log scale, except idle lanes; paler: at the end.".to_owned(),
    ];
    for (note, says) in notes.into_iter().zip(says) {
        scene.label(note, 0.0, sans(size * 0.8, Ink::TextWeak), &says);
    }
    scene
}

struct ColumnLayout {
    name: Area,
    strategies: [Area; 3],
}

fn columns(mut room: Area, size: f32) -> ColumnLayout {
    let name =
        room.take_left((width(Font::Sans, size, "Cost of a query") + size * 0.6).min(room.width * 0.25));
    let wide = room.width / 3.0;
    let strategies = Strategy::ALL.map(|_| {
        let mut column = room.take_left(wide);
        column.take_right(size * 0.6);
        column
    });
    ColumnLayout { name, strategies }
}

/// Width of a number and the gap before its bar.
fn number_width(room: Area, size: f32) -> f32 {
    width(Font::Sans, size, "000,000").min(room.width * 0.5) + size * 0.5
}

/// Whether a row is a percentage.
fn is_share(row: &Row) -> bool {
    row.unit[1] == "%"
}

/// A number, and its bar.
#[expect(clippy::too_many_arguments, reason = "a cell needs its row and its column")]
fn cell(
    scene: &mut Scene,
    view: &View<'_>,
    meter: &Meter,
    row: &Row,
    strategy: Strategy,
    mut room: Area,
    ink: Ink,
    most: f64,
) {
    let size = room.height / ROW;
    let mut number = room.take_left(number_width(room, size));
    number.take_right(size * 0.5);
    let now = meter.number(row, strategy, &meter.so_far(strategy, view.state()));
    let says = match now {
        None => "\u{2013}".to_owned(),
        Some(now) if is_share(row) => format!("{now:.0} %"),
        Some(now) => words(now),
    };
    scene.label(number, 1.0, sans(size, if now.is_some() { Ink::Text } else { Ink::TextWeak }), &says);
    let bar = room.inner((room.height * 0.2).min(4.0));
    let long =
        |number: f64| if is_share(row) { number / 100.0 } else { (1.0 + number).ln() / (1.0 + most).ln() };
    let part = |number: f64| area(bar.x, bar.y, bar.width * long(number).clamp(0.0, 1.0) as f32, bar.height);
    // A question may be about the final numbers.
    if let Some(end) = meter.number(row, strategy, &meter.all(strategy)).filter(|_| !view.asking) {
        scene.rect(part(end), 1.5, Some(faint(ink, 0.28)), None);
    }
    if let Some(now) = now.filter(|&now| now > 0.0) {
        scene.rect(part(now), 1.5, Some(ink.into()), None);
    }
}
