//! The panel of counters beside the theory, and the convergence of `max_distance`.

use super::View;
use super::counter_table::Row;
use super::pen::{ROW, area, dashed, digits, faint, line, plain, round_in, sans, steps_in, width};
use super::scene::{Area, Font, Ink, Point, Scene, Target};
use crate::account::account;
use crate::text::thousands;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, size: [f32; 2]) -> Scene {
    draw_on(view, size, None)
}

/// Draws the panel with a fixed range of finite `max_distance` for the curve, so that several recordings
/// share their axes.
pub fn draw_on(view: &View<'_>, [wide, high]: [f32; 2], shared: Option<[f32; 2]>) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let text = view.text;
    // The curve takes at least half of the height; the table's rows are compressed if necessary, or there is
    // no table.
    let row = (text * ROW).min(high * 0.5 / 7.0);
    if row >= view.min_type * ROW * 0.8 {
        let row = row.max(view.min_type * ROW);
        table(&mut scene, room.take_top(row * 6.4), view, row);
        let note = room.take_top(row * 0.9);
        scene.label(
            note,
            0.0,
            sans(view.font_size(0.75), Ink::TextWeak),
            "expected \u{2264}: at most, on average over random orders",
        );
        room.take_top(row * 0.2);
    }
    curve(&mut scene, room, view, shared);
    scene
}

/// The columns are the counters, the bounds so far, and those for all points. Bounds are on means in random
/// order, as the note below says; they do not hold in other orders.
fn table(scene: &mut Scene, mut room: Area, view: &View<'_>, row: f32) {
    let state = view.state();
    let account = account(state);
    let (counts, now, end) = (account.counts, account.expected, account.expected_at_end);
    let about = |value: f64| thousands(value.round() as u64);
    let merges = |value: f64| format!("{value:.1}");
    let nothing = counts.points_seen == 0;
    let so_far = |words: String| if nothing { "\u{2013}".to_owned() } else { words };
    // While a question asks for the number of merges, all final numbers are hidden, because each would reveal
    // it.
    let in_the_end = |words: String| if view.asking { String::new() } else { words };
    let work = |name, counted: u64, now, end| {
        (name, [thousands(counted), so_far(about(now)), in_the_end(about(end))])
    };
    let [seen, merged] = [counts.points_seen, counts.merges].map(|count| thousands(count.into()));
    let rows: [Row<'_, 3>; 5] = [
        ("points seen", [seen, String::new(), in_the_end(thousands(state.shape.n.into()))]),
        work("candidates", counts.candidates.into(), now.candidates, end.candidates),
        ("merges", [merged, so_far(merges(now.merges)), in_the_end(merges(end.merges))]),
        work("compare-exchanges", counts.compare_exchanges, now.compare_exchanges, end.compare_exchanges),
        work("shuffles", counts.shuffles, now.shuffles, end.shuffles),
    ];
    let size = (row / ROW).max(view.min_type);
    let heads =
        ["counted".to_owned(), "expected \u{2264}".to_owned(), in_the_end("at the end \u{2264}".to_owned())];
    let small = view.min_type.max(size * 0.85);
    // Each column in proportion to its longest words, with a gap between long words and long numbers.
    let gap = size * 0.3;
    let apart = |rect: Area| area(rect.x + gap, rect.y, rect.width - gap, rect.height);
    let longest = |words: &mut dyn Iterator<Item = &str>, head: &str| {
        words.map(|words| width(Font::Sans, size, words)).fold(width(Font::Sans, small, head), f32::max)
            + size * 0.7
    };
    let widths = |rows: &[Row<'_, 3>]| {
        let names = longest(&mut rows.iter().map(|(name, _)| *name), "Account");
        let [counted, expected, finally] = [0, 1, 2].map(|column| {
            longest(&mut rows.iter().map(|(_, numbers)| numbers[column].as_str()), &heads[column])
        });
        [names, counted, expected, finally]
    };
    let mut wide = widths(&rows);
    // If space is short, the work of merges is omitted: it follows from their number.
    let shown =
        if view.min_type > 0.0 && wide.iter().sum::<f32>() > room.width { &rows[..3] } else { &rows[..] };
    if shown.len() < rows.len() {
        wide = widths(shown);
    }
    let shares = wide.map(|one| one / wide.iter().sum::<f32>());
    let columns = |mut rect: Area| {
        let wide = rect.width;
        shares.map(|share| rect.take_left(wide * share))
    };
    let titles = columns(room.take_top(row));
    scene.label(titles[0], 0.0, sans(size, Ink::Text), "Account");
    for (rect, words) in titles[1..].iter().zip(&heads) {
        scene.label(apart(*rect), 1.0, sans(size * 0.85, Ink::TextWeak), words);
    }
    scene.path(vec![[room.x, room.y + 1.0], [room.right(), room.y + 1.0]], line(Ink::Line, 1.0));
    room.take_top(row * 0.15);
    for (name, numbers) in shown {
        let rects = columns(room.take_top(row));
        scene.label(rects[0], 0.0, sans(size * 0.95, Ink::Text), name);
        for (at, (rect, words)) in rects[1..].iter().zip(numbers).enumerate() {
            let ink = if at == 0 { Ink::Text } else { Ink::TextWeak };
            scene.label(apart(*rect), 1.0, sans(size, ink), words);
        }
    }
}

/// The smallest and largest finite value; infinite and 0 if there is none.
pub fn bounds(values: impl Iterator<Item = f32>) -> [f32; 2] {
    let finite = values.filter(|value| value.is_finite());
    finite.fold([f32::INFINITY, 0.0], |[low, high], value| [low.min(value), high.max(value)])
}

/// The scale of one axis of the plot.
struct Axis {
    low: f32,
    high: f32,
    log: bool,
}

impl Axis {
    fn share(&self, value: f32) -> f32 {
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
    }

    fn ticks(&self) -> Vec<f32> {
        if self.low >= self.high {
            return vec![self.high];
        }
        let ticks = if self.log { round_in(self.low, self.high) } else { steps_in(self.low, self.high, 4) };
        // A range between two round values still needs ticks.
        if ticks.len() < 2 { vec![self.low, self.high] } else { ticks }
    }
}

/// Draws `max_distance` over points seen: opaque up to the current position, faint beyond.
fn curve(scene: &mut Scene, mut room: Area, view: &View<'_>, shared: Option<[f32; 2]>) {
    let (recording, text) = (view.recording(), view.text);
    let small = sans(view.font_size(0.75), Ink::TextWeak);
    // While a question asks for the number of merges, the picture must not show it.
    let shown = if view.asking { view.state().counts.merges as usize } else { usize::MAX };
    let curve: Vec<(u32, f32)> = recording.convergence().take(shown).collect();
    let [lowest, highest] = shared.unwrap_or_else(|| bounds(curve.iter().map(|&(_, bound)| bound)));
    let n = recording.shape().n;
    let y_axis = if lowest > 0.0 && lowest < highest * 0.2 {
        Axis { low: lowest * 0.8, high: highest * 1.25, log: true }
    } else {
        Axis { low: 0.0, high: if highest == 0.0 { 1.0 } else { highest * 1.1 }, log: false }
    };
    // In random order, merges crowd at the beginning.
    let early = curve.iter().filter(|&&(seen, _)| seen < n / 8).count();
    let first = curve.first().map_or(1, |&(seen, _)| seen).max(1);
    let log = shared.is_none() && curve.len() > 4 && early * 2 > curve.len();
    let x_axis = Axis { low: if log { first as f32 * 0.8 } else { 0.0 }, high: n as f32, log };

    let title = room.take_top(text * ROW);
    let held = view.state().max_distance;
    let words =
        format!("max_distance{}: {} now", if y_axis.log { ", log scale" } else { "" }, digits(held, 3));
    scene.label(title, 0.0, sans(text * 0.9, Ink::Text), &words);
    let below = room.take_bottom(text * 0.95);
    let x_ticks = room.take_bottom(text);
    let ticks = y_axis.ticks();
    let widest =
        ticks.iter().map(|&tick| width(Font::Sans, small.size, &plain(short(tick)))).fold(0.0, f32::max);
    let left = room.take_left(widest + text * 0.5);
    room.take_right(text * 0.7);
    room.take_top(text * 0.3);
    if room.height < 8.0 || room.width < 20.0 {
        return;
    }
    let plot = room;
    scene.rect(plot, 0.0, Some(Ink::Canvas.into()), Some(line(Ink::Line, 1.0)));
    let at = |seen: f32, bound: f32| -> Point {
        let y = if bound.is_infinite() { 1.0 } else { y_axis.share(bound) };
        [plot.x + plot.width * x_axis.share(seen), plot.bottom() - plot.height * y]
    };
    let mut above = f32::INFINITY;
    for tick in ticks {
        let y = at(x_axis.low, tick)[1];
        scene.path(vec![[plot.x, y], [plot.right(), y]], line(Ink::Grid, 1.0));
        let half = small.size * ROW / 2.0;
        if y + half < above {
            scene.text([left.right() - text * 0.3, y], [1.0, 0.5], small, plain(short(tick)));
            above = y - half;
        }
    }
    let mut end = f32::NEG_INFINITY;
    for tick in x_axis.ticks() {
        let (x, words) = (at(tick, y_axis.low)[0], thousands(tick as u64));
        let wide = width(Font::Sans, small.size, &words);
        let start = (x - wide / 2.0).min(scene.size[0] - wide).max(0.0);
        scene.path(vec![[x, plot.y], [x, plot.bottom()]], line(Ink::Grid, 1.0));
        if start > end + text * 0.4 {
            scene.text([start, x_ticks.center()[1]], [0.0, 0.5], small, words);
            end = start + wide;
        }
    }
    let label = if x_axis.log { "points seen, log scale" } else { "points seen" };
    scene.label(area(plot.x, below.y, plot.width, below.height), 0.5, small, label);

    // A step function: the bound is constant between merges.
    let done = view.state().counts.merges as usize;
    let now = view.state().counts.points_seen as f32;
    let corners = |curve: &[(u32, f32)], from: Option<(f32, f32)>, until: f32| -> Vec<Point> {
        let mut points = Vec::new();
        let mut last = from;
        for &(seen, bound) in curve.iter().filter(|(_, bound)| bound.is_finite()) {
            if let Some((_, before)) = last {
                points.push(at(seen as f32, before));
            }
            points.push(at(seen as f32, bound));
            last = Some((seen as f32, bound));
        }
        if let Some((_, bound)) = last {
            points.push(at(until, bound));
        }
        if let (Some((seen, bound)), false) = (from, points.is_empty()) {
            points.insert(0, at(seen, bound));
        }
        points
    };
    let (past, to_come) = curve.split_at(done.min(curve.len()));
    let here = past
        .last()
        .filter(|(_, bound)| bound.is_finite())
        .map(|&(seen, bound)| ((seen as f32).max(now), bound));
    let stroke = (text * 0.16).max(1.6);
    let faded = corners(to_come, here, n as f32);
    if faded.len() > 1 {
        scene.path(faded, dashed(faint(Ink::Intermediate, 0.45), stroke * 0.7, 3.0));
    }
    let drawn = corners(past, None, here.map_or(0.0, |(seen, _)| seen));
    if drawn.len() > 1 {
        scene.path(drawn, line(Ink::Intermediate, stroke));
    }
    // The bound is infinite until k points were merged.
    let finite_from = curve.iter().find(|(_, bound)| bound.is_finite()).map_or(n, |&(seen, _)| seen);
    let infinite = area(plot.x, plot.y, at(finite_from as f32, y_axis.low)[0] - plot.x, plot.height);
    scene.fill(infinite, faint(Ink::Field, 0.7));
    if infinite.width > text {
        scene.text(
            [infinite.center()[0], plot.y + text * 0.8],
            [0.5, 0.5],
            sans(text, Ink::TextWeak),
            "\u{221e}",
        );
    }
    let radius = (text * 0.22).min(plot.width / curve.len().max(1) as f32 * 0.6).max(1.0);
    for (merge, &(seen, bound)) in curve.iter().enumerate() {
        let point = at(seen as f32, bound);
        let (fill, stroke) = if merge < done {
            (Some(Ink::Buffer.into()), None)
        } else {
            (Some(Ink::Canvas.into()), Some(line(faint(Ink::Buffer, 0.7), 1.0)))
        };
        scene.dots(vec![point], radius, fill, stroke);
    }
    // Hit areas span the whole height, because curves are hard to hit.
    for (merge, &(seen, bound)) in curve.iter().enumerate() {
        if let Some(position) = recording.position_of_merge(merge) {
            let [x, _] = at(seen as f32, bound);
            let neighbour = |at_merge: Option<usize>| {
                at_merge.and_then(|merge| curve.get(merge)).map(|&(seen, bound)| at(seen as f32, bound)[0])
            };
            let from = neighbour(merge.checked_sub(1)).map_or(plot.x, |before| (before + x) / 2.0);
            let to = neighbour(Some(merge + 1)).map_or(plot.right(), |after| (after + x) / 2.0);
            let half = (text * 0.7).max(4.0);
            let (from, to) = (from.max(x - half).max(plot.x), to.min(x + half).min(plot.right()));
            scene.spot(area(from, plot.y, (to - from).max(0.5), plot.height), Target::Position(position));
        }
    }
    if now > 0.0 {
        let x = at(now, y_axis.low)[0];
        scene.path(vec![[x, plot.y], [x, plot.bottom()]], line(Ink::Accent, (text * 0.1).max(1.2)));
    }
}

/// A tick's value with insignificant digits removed.
fn short(value: f32) -> f32 {
    format!("{value:.1e}").parse().unwrap_or(value)
}
