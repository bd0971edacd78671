//! Tables of counts and bars of them, in the panels of what was counted beside other searches.

use super::pen::{ROW, area, faint, line, sans, width};
use super::scene::{Area, Font, Ink, Scene};

/// A row: what is counted, and its numbers in words.
pub type Row<'a, const N: usize> = (&'a str, [String; N]);

/// Draws a table. `row` is the height of a row, `shares` are those of the columns, and the numbers of the first column are the search's own.
pub fn table<const N: usize>(scene: &mut Scene, mut room: Area, row: f32, shares: &[f32], heads: [&str; N], rows: &[Row<'_, N>]) {
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

/// A bar: what is done so far, and, paler, in the end.
pub struct Bar<'a> {
    pub name: &'a str,
    /// Between 0 and 1.
    pub done: f32,
    /// Between 0 and 1; `None` where it must not be seen.
    pub all: Option<f32>,
    pub ink: Ink,
}

/// Draws bars under a title.
pub fn bars(scene: &mut Scene, mut room: Area, text: f32, title: &str, bars: &[Bar<'_>]) {
    let row = (text * ROW * 1.1).min(room.height / (bars.len() + 1) as f32);
    scene.label(room.take_top(row), 0.0, sans(text * 0.9, Ink::Text), title);
    let size = (text * 0.8).max(scene.least);
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
