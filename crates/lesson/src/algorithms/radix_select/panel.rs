//! The panel of radix select: the buckets of a pass as bars, with counts and sums; below, the intervals of
//! the passes, which close in on the k-th.

use std::io::{self, Write};

use super::describe::bit_range_words;
use super::state::{Buckets, CompletedPass, max_passes};
use super::{RadixSelectBaseline, RadixSelectStep};
use crate::algorithms::{AlgorithmPictures, Baseline};
use crate::lessons::Take;
use crate::picture::ballot::LaneColumns;
use crate::picture::cells::Grid;
use crate::picture::counter_table::{self, Bar};
use crate::picture::legend::{Entry, base_entries};
use crate::picture::moment::nearest;
use crate::picture::pen::{ROW, area, digits, faint, line, mono, sans, width};
use crate::picture::scene::{Area, Font, Ink, Scene, Target};
use crate::picture::{Film, View, cloud};
use crate::print::write_comparison;
use crate::step::Step;
use crate::text::{ordinal, thousands};

impl AlgorithmPictures for RadixSelectBaseline {
    fn draw_account(&self, view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
        let (mut scene, mut room) = view.canvas([wide, high]);
        let (state, text) = (view.state(), view.text);
        let shape = state.shape;
        let row = (text * ROW).min(high * 0.6 / 6.0);
        let number = |number: u32| thousands(number.into());
        let none = || "\u{2013}".to_owned();
        let hidden = |words: String| if view.asking { String::new() } else { words };
        let most = max_passes(shape.width.ilog2());
        let (reads, found, is_sorted) = state
            .buckets()
            .map_or((0, 0, false), |buckets| (buckets.reads, buckets.passes.len(), buckets.is_sorted));
        let kept = shape.k.min(shape.n);
        let rows: [counter_table::Row<'_, 4>; 3] = [
            (
                "distances read",
                [
                    number(reads),
                    hidden(number(self.reads)),
                    number(shape.n),
                    thousands(u64::from(shape.n) * u64::from(most)),
                ],
            ),
            ("passes", [number(found as u32), hidden(number(self.passes)), none(), number(most)]),
            (
                "keys sorted",
                [
                    number(if is_sorted { kept } else { 0 }),
                    number(kept),
                    hidden(number(self.buffer.merges * shape.capacity())),
                    number(shape.n),
                ],
            ),
        ];
        let heads = ["so far", "at the end", "a buffer", "radix sort"];
        counter_table::table(
            &mut scene,
            room.take_top(row * 4.4),
            row,
            &[0.3, 0.14, 0.19, 0.17, 0.2],
            heads,
            &rows,
        );
        room.take_top(row * 0.4);
        // On a log scale: otherwise all but the first bars would be too short to see.
        let share = |points: u32| (1.0 + points as f32).ln() / (1.0 + shape.n as f32).ln();
        let passes = state.buckets().map_or(&[][..], |buckets| &buckets.passes);
        let words: Vec<String> = std::iter::once(format!("all: {}", number(shape.n)))
            .chain((1..).zip(passes).map(|(pass, found)| format!("pass {pass}: {}", number(found.inside))))
            .collect();
        let left = std::iter::once(shape.n).chain(passes.iter().map(|pass| pass.inside));
        let bars: Vec<Bar<'_>> = words
            .iter()
            .zip(left)
            .map(|(name, left)| Bar { name, done: share(left), all: None, ink: Ink::Candidate })
            .collect();
        counter_table::bars(&mut scene, room, text, "Points left, log scale", &bars);
        scene
    }

    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        let (below, left, is_gathered) = match view.state().buckets() {
            Some(buckets) => {
                (buckets.below, (!buckets.passes.is_empty()).then_some(buckets.left), buckets.is_gathered)
            }
            None => (0, None, false),
        };
        let mut entries = base_entries(if is_gathered {
            format!("{} nearest", thousands(nearest(view.cursor).len() as u64))
        } else {
            format!("{} known neighbours", thousands(below.into()))
        });
        let left = left.filter(|_| !is_gathered).map_or_else(
            || "left after a pass".to_owned(),
            |left| format!("{} left", thousands(left.into())),
        );
        entries.push((Ink::Candidate, left, true));
        entries
    }

    fn caption(&self, view: &View<'_>, bound: &str) -> String {
        let state = view.state();
        if state.max_distance.is_infinite() {
            let is_known = state.buckets().is_some_and(|buckets| buckets.is_gathered);
            return if is_known {
                "All points are neighbours: there are fewer than k"
            } else {
                "No point is decided yet"
            }
            .to_owned();
        }
        cloud::kth_words(view, &format!("squared distance {bound}"))
    }

    fn write_table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        let shape = take.recording.shape();
        let passes = max_passes(shape.width.ilog2());
        let number = |number: u32| Some(thousands(number.into()));
        let rows = [
            (
                "distances read",
                vec![
                    number(self.reads),
                    number(shape.n),
                    Some(thousands(u64::from(shape.n) * u64::from(passes))),
                ],
            ),
            ("passes over digits", vec![number(self.passes), None, number(passes)]),
            ("merges", vec![None, number(self.buffer.merges), None]),
            (
                "keys sorted",
                vec![
                    number(shape.k.min(shape.n)),
                    number(self.buffer.merges * shape.capacity()),
                    number(shape.n),
                ],
            ),
        ];
        write_comparison(
            &["radix selection", &format!("a buffer of {}", shape.capacity()), "a radix sort of all"],
            &rows,
            out,
        )
    }
}

/// Number of intervals shown, the latest ones.
const INTERVALS: usize = 4;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (state, text) = (view.state(), view.text);
    let title = room.take_top(text * 1.6);
    let columns = LaneColumns::new(view, wide, "bucket");
    let shown = state.buckets().map(|buckets| ShownPass::new(buckets, view));
    let says =
        shown.as_ref().map_or_else(|| "Buckets: nothing counted yet".to_owned(), |shown| shown.heading());
    scene.label(title, 0.0, sans(text, Ink::Text), &says);

    let row = (text * ROW * 1.1).min(room.height * 0.07);
    let bars_high = (room.height * 0.36 - 3.0 * row).max(room.height * 0.12);
    let grid = columns.grid(room.y, bars_high, 1);
    bars(&mut scene, shown.as_ref(), &grid);
    let below = columns.names(room.y + bars_high - row, row);
    scene.label(below, 1.0, sans(text * 0.8, Ink::TextWeak), "points");
    room.take_top(bars_high);
    let buckets: Vec<u32> = (0..state.shape.width).collect();
    let mut rows = vec![("bucket", &buckets[..], Ink::TextWeak)];
    if let Some(shown) = &shown {
        rows.extend([("count", shown.counts, Ink::Text), ("sum", shown.sums, Ink::Accent)]);
    }
    for (at, (name, values, ink)) in rows.into_iter().enumerate() {
        let y = room.y + at as f32 * row;
        numbers(&mut scene, view, &columns.grid(y, row, 1), columns.names(y, row), name, values, ink);
    }
    let three = Area { height: bars_high + 3.0 * row, ..grid.area };
    for bucket in 0..state.shape.width {
        let column = Area { height: three.height, ..grid.cell(bucket, 0) };
        scene.spot(column, Target::Lane(bucket));
        if view.hover == Some(Target::Lane(bucket)) {
            scene.hovered(column);
        }
        if shown.as_ref().and_then(|shown| shown.found).is_some_and(|found| found.digit == bucket) {
            scene.rect(column.inner(1.0), 3.0, None, Some(line(Ink::Accent, (text * 0.14).max(1.6))));
        }
    }
    room.take_top(3.0 * row + text * 0.6);
    if let Some(buckets) = state.buckets() {
        intervals(&mut scene, view, buckets, room);
    }
    scene
}

/// The pass whose buckets are shown: the running one, or the last.
struct ShownPass<'a> {
    buckets: &'a Buckets,
    /// From 0.
    pass: usize,
    counts: &'a [u32],
    sums: &'a [u32],
    /// The bucket that it found, once it is done.
    found: Option<CompletedPass>,
}

impl<'a> ShownPass<'a> {
    fn new(buckets: &'a Buckets, view: &View<'_>) -> Self {
        let runs = matches!(
            view.step().and_then(Step::radix_select),
            Some(
                RadixSelectStep::Counted { .. }
                    | RadixSelectStep::Summed { .. }
                    | RadixSelectStep::Digits { .. }
            )
        );
        let done = buckets.passes.len();
        let pass = if runs { done } else { done.saturating_sub(1) };
        Self {
            buckets,
            pass,
            counts: &buckets.counts,
            sums: &buckets.sums,
            found: if runs { None } else { buckets.passes.last().copied() },
        }
    }

    fn heading(&self) -> String {
        let rank = self.found.map_or(self.buckets.rank, |found| found.rank);
        let of = self.found.map_or(self.buckets.left, |found| found.remaining_before);
        format!(
            "Pass {}: the {} digit, {}; rank {} of {} is wanted",
            self.pass + 1,
            ordinal(self.pass as u64 + 1),
            bit_range_words(self.buckets, self.pass),
            thousands(rank.into()),
            thousands(of.into())
        )
    }
}

/// The points of each bucket. Points before the bucket of the k-th are neighbours, points after it are not.
fn bars(scene: &mut Scene, shown: Option<&ShownPass<'_>>, grid: &Grid) {
    scene.rect(grid.area, 0.0, Some(faint(Ink::Canvas, 1.0)), Some(line(Ink::Line, 1.0)));
    let Some(shown) = shown else { return };
    let most = shown.counts.iter().copied().max().unwrap_or(1).max(1) as f32;
    for (bucket, &count) in (0u32..).zip(shown.counts).filter(|(_, count)| **count > 0) {
        let ink = match shown.found {
            Some(found) if bucket < found.digit => Ink::Neighbor,
            Some(found) if bucket > found.digit => Ink::Rejected,
            _ => Ink::Candidate,
        };
        let mut cell = grid.body(bucket, 0).inner(1.0);
        // A bucket with any point has a visible bar.
        let high = (cell.height * count as f32 / most).max(2.0).min(cell.height);
        scene.rect(cell.take_bottom(high), 1.5, Some(ink.into()), None);
    }
}

/// A number under each bucket.
fn numbers(
    scene: &mut Scene,
    view: &View<'_>,
    grid: &Grid,
    names: Area,
    name: &str,
    numbers: &[u32],
    ink: Ink,
) {
    let text = view.text;
    scene.label(names, 1.0, sans(text * 0.8, Ink::TextWeak), name);
    let longest = numbers.iter().map(|&number| thousands(number.into()).len()).max().unwrap_or(1);
    let one = width(Font::Mono, 1.0, &"0".repeat(longest));
    let size = (text * 0.85).min(names.height / ROW).min(grid.wide() * 0.84 / one).max(view.min_type);
    if size < 3.5 {
        return;
    }
    // Large type leaves numbers out, rather than let them touch.
    let every = [1, 2, 4, 8].into_iter().find(|&every| grid.wide() * every as f32 * 0.9 >= one * size);
    for (bucket, number) in (0u32..).zip(numbers).step_by(every.unwrap_or(16)) {
        let opacity = if *number == 0 && name != "bucket" { 0.45 } else { 1.0 };
        scene.text(
            grid.cell(bucket, 0).center(),
            [0.5, 0.5],
            mono(size, faint(ink, opacity)),
            thousands((*number).into()),
        );
    }
}

/// One line per pass: the remaining points between the smallest and largest number with the known digits, the
/// borders of the buckets, and the found bucket, which becomes the whole next line.
fn intervals(scene: &mut Scene, view: &View<'_>, buckets: &Buckets, mut room: Area) {
    let Baseline::RadixSelect(chosen) = view.recording().baseline() else { return };
    let text = view.text;
    let heading = room.take_top((text * 1.4).min(room.height * 0.15));
    let done = buckets.passes.len();
    // After the last pass there is no next line.
    let lines = if buckets.left == buckets.rank && done > 0 || done as u32 == max_passes(buckets.bits) {
        done
    } else {
        done + 1
    };
    let first = lines.saturating_sub(INTERVALS);
    scene.label(
        heading,
        0.0,
        sans(text * 0.9, Ink::Text),
        "Points left before each pass: its buckets narrow down the k-th",
    );
    let each = room.height / INTERVALS as f32;
    let small = sans((text * 0.72).min(each * 0.24), Ink::TextWeak);
    let left_room = width(Font::Sans, small.size, "pass 00: 000,000") + text * 0.4;
    let mut below: Option<[f32; 3]> = None;
    for pass in first..lines {
        let mut line_of = room.take_top(each);
        let name = line_of.take_left(left_room);
        line_of.take_right(text * 0.6);
        let ends = line_of.take_bottom(small.size * ROW);
        // Between the lines, the interval of the found bucket widens.
        line_of.take_top((each * 0.22).min(text * 1.2));
        let strip = line_of;
        if strip.height < 3.0 || strip.width < 10.0 {
            return;
        }
        if let Some([from, to, y]) = below {
            for (above, under) in [(from, strip.x), (to, strip.right())] {
                scene.path(vec![[above, y], [under, strip.y]], line(faint(Ink::Accent, 0.8), 1.0));
            }
        }
        let there = left_before(buckets, pass);
        scene.label(
            Area { height: strip.height, y: strip.y, ..name },
            0.0,
            small,
            &format!("pass {}: {}", pass + 1, thousands(there.into())),
        );
        scene.rect(strip, 0.0, Some(Ink::Canvas.into()), Some(line(Ink::Line, 1.0)));
        let (low, high) = buckets.range(pass);
        let span = (f64::from(high) - f64::from(low)).max(1.0);
        let at = |bits: u32| {
            strip.x + strip.width * ((f64::from(bits) - f64::from(low)) / span).clamp(0.0, 1.0) as f32
        };
        let found = buckets.passes.get(pass);
        // The last digit may be shorter.
        let borders = 1u32 << buckets.digit_bits(pass);
        let wide = strip.width / borders as f32;
        below = found.map(|found| {
            let from = strip.x + wide * found.digit as f32;
            scene.fill(area(from, strip.y, wide, strip.height), faint(Ink::Accent, 0.25));
            [from, from + wide, strip.bottom()]
        });
        for border in 1..borders {
            let x = strip.x + wide * border as f32;
            scene.path(vec![[x, strip.y], [x, strip.bottom()]], line(Ink::Grid, 1.0));
        }
        points(scene, &chosen.distances, (low, high), strip, &at, found, wide, text);
        let distance = |bits: u32| f32::from_bits(bits);
        let words = |bits: u32| {
            if distance(bits) < f32::INFINITY { digits(distance(bits), 3) } else { "\u{221e}".to_owned() }
        };
        scene.label(ends, 0.0, small, &words(low));
        scene.label(ends, 1.0, small, &words(high));
    }
}

/// The remaining points when a pass began.
fn left_before(buckets: &Buckets, pass: usize) -> u32 {
    buckets.passes.get(pass).map_or(buckets.left, |found| found.remaining_before)
}

/// The points of an interval as strokes, once per position.
#[expect(clippy::too_many_arguments, reason = "the interval and its place in the scene")]
fn points(
    scene: &mut Scene,
    distances: &[f32],
    (low, high): (u32, u32),
    strip: Area,
    at: &impl Fn(u32) -> f32,
    found: Option<&CompletedPass>,
    wide: f32,
    text: f32,
) {
    let mut places: Vec<i32> = distances
        .iter()
        .map(|distance| distance.to_bits())
        .filter(|bits| (low..=high).contains(bits))
        .map(|bits| (at(bits) * 2.0) as i32)
        .collect();
    places.sort_unstable();
    places.dedup();
    let inset = strip.height * 0.22;
    for place in places {
        let x = (place as f32 / 2.0).clamp(strip.x + 0.5, strip.right() - 0.5);
        let bucket = ((x - strip.x) / wide) as u32;
        let ink = match found {
            Some(found) if bucket < found.digit => Ink::Neighbor,
            Some(found) if bucket > found.digit => Ink::Rejected,
            _ => Ink::Candidate,
        };
        scene.path(vec![[x, strip.y + inset], [x, strip.bottom() - inset]], line(ink, (text * 0.1).max(1.0)));
    }
}
