//! Tables and bars of counts, for the account panels, which compare searches.

use super::View;
use super::moment::layers;
use super::pen::{ROW, area, faint, line, sans, width};
use super::scene::{Area, Font, Ink, Scene};
use crate::step::SortPass;
use crate::text::{count, significant, thousands};

/// A row: its name and its numbers in words.
pub type Row<'a, const N: usize> = (&'a str, [String; N]);

/// Draws a table. `row` is the height of a row, `shares` are the widths of the columns as shares; the first
/// column of numbers is the search's own.
pub fn table<const N: usize>(
    scene: &mut Scene,
    mut room: Area,
    row: f32,
    shares: &[f32],
    heads: [&str; N],
    rows: &[Row<'_, N>],
) {
    let size = row / ROW;
    let columns = |mut rect: Area| {
        let wide = rect.width;
        shares.iter().map(|share| rect.take_left(wide * share)).collect::<Vec<_>>()
    };
    // A gap between long words.
    let apart = |rect: Area| area(rect.x + size * 0.5, rect.y, rect.width - size * 0.5, rect.height);
    let titles = columns(room.take_top(row));
    scene.label(titles[0], 0.0, sans(size, Ink::Text), "Account");
    for (rect, words) in titles[1..].iter().zip(heads) {
        scene.label(apart(*rect), 1.0, sans(size * 0.85, Ink::TextWeak), words);
    }
    scene.path(vec![[room.x, room.y + 1.0], [room.right(), room.y + 1.0]], line(Ink::Line, 1.0));
    room.take_top(row * 0.15);
    for (name, numbers) in rows {
        let rects = columns(room.take_top(row));
        scene.label(rects[0], 0.0, sans(size * 0.95, Ink::Text), name);
        for (at, (rect, words)) in rects[1..].iter().zip(numbers).enumerate() {
            scene.label(*rect, 1.0, sans(size, if at == 0 { Ink::Text } else { Ink::TextWeak }), words);
        }
    }
}

/// A bar: the value so far and, paler, the final value.
pub struct Bar<'a> {
    pub name: &'a str,
    /// Between 0 and 1.
    pub done: f32,
    /// Between 0 and 1; `None` hides it.
    pub all: Option<f32>,
    pub ink: Ink,
}

/// Draws bars under a title.
pub fn bars(scene: &mut Scene, mut room: Area, text: f32, title: &str, bars: &[Bar<'_>]) {
    let row = (text * ROW * 1.1).min(room.height / (bars.len() + 1) as f32);
    scene.label(room.take_top(row), 0.0, sans(text * 0.9, Ink::Text), title);
    let size = (text * 0.8).max(scene.min_type);
    let widest = bars.iter().map(|bar| width(Font::Sans, size, bar.name)).fold(0.0, f32::max) + text * 0.6;
    for Bar { name, done, all, ink } in bars {
        let mut line_of = room.take_top(row);
        scene.label(line_of.take_left(widest), 0.0, sans(text * 0.8, Ink::TextWeak), name);
        let bar = line_of.inner(row * 0.16);
        let part = |share: f32| area(bar.x, bar.y, bar.width * share.clamp(0.0, 1.0), bar.height);
        if let Some(all) = all {
            scene.rect(part(*all), 1.5, Some(faint(*ink, 0.3)), None);
        }
        scene.rect(part(*done), 1.5, Some((*ink).into()), None);
    }
}

// The panel of the cost of a merge, which is the same for one candidate as for a full buffer.

/// Steps of one merge of K keys: the layers of both sorts, and the minimum.
pub fn steps(capacity: u32) -> u64 {
    (layers(SortPass::Sort, capacity).len() + 1 + layers(SortPass::Resort, capacity).len()) as u64
}

/// Draws the panel in a size given in points.
pub fn draw_cost(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (state, text) = (view.state(), view.text);
    let (capacity, counts) = (state.shape.capacity(), &state.counts);
    let steps = steps(capacity);
    scene.label(
        room.take_top(text * 1.6),
        0.0,
        sans(text, Ink::Text),
        &format!("One merge: {} steps of all lanes", thousands(steps)),
    );
    // The share of each candidate, with one slot taken, a quarter, and all.
    let mut fills = vec![1, capacity / 4, capacity];
    fills.retain(|fill| *fill > 0);
    fills.dedup();
    let names: Vec<String> = fills
        .iter()
        .map(|&fill| {
            format!(
                "{}: {} each",
                count(fill.into(), "candidate", "candidates"),
                significant(steps as f64 / f64::from(fill))
            )
        })
        .collect();
    let rows: Vec<Bar<'_>> = fills
        .iter()
        .zip(&names)
        .map(|(&fill, name)| Bar { name, done: 1.0 / fill as f32, all: None, ink: Ink::Buffer })
        .collect();
    let row = text * ROW * 1.1;
    bars(
        &mut scene,
        room.take_top((row * (fills.len() + 1) as f32).min(high * 0.45)),
        text,
        "Steps for each candidate that waits in the buffer",
        &rows,
    );
    room.take_top(text * 0.5);
    // If candidates are merged at once, they lower the bound sooner, so fewer follow.
    let candidates = view.recording().candidates_without_buffer();
    let candidates = candidates.partition_point(|&point| point < counts.points_seen) as u64;
    let merges = u64::from(counts.merges);
    let [at_once, full] = [candidates * steps, merges * steps];
    let names = [
        format!("one by one: {} \u{d7} {steps} = {}", thousands(candidates), thousands(at_once)),
        format!("when full: {} \u{d7} {steps} = {}", thousands(merges), thousands(full)),
    ];
    let most = at_once.max(1) as f32;
    let rows = [(at_once, Ink::Candidate), (full, Ink::Intermediate)];
    let rows: Vec<Bar<'_>> = rows
        .into_iter()
        .zip(&names)
        .map(|((steps, ink), name)| Bar { name, done: steps as f32 / most, all: None, ink })
        .collect();
    let [alone, waiting] = [candidates, counts.candidates.into()].map(thousands);
    let title = format!("Steps so far, for {alone} or {waiting} candidates");
    bars(&mut scene, room.take_top((row * 3.0).min(room.height)), text, &title, &rows);
    scene
}
