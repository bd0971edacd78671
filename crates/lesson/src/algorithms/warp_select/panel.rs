//! The panel of warp select: the lanes' distances, their queues, and the warp's queue. A lane is a column;
//! element i of the warp's queue is in column i mod W.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::state::{Queues, mirrored_element, order_words, striped_position};
use super::{WarpSelectBaseline, WarpSelectStep};
use crate::account::account;
use crate::algorithms::AlgorithmPictures;
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::knn::theory;
use crate::lessons::Take;
use crate::picture::ballot::{LaneColumns, NumberLayout};
use crate::picture::cells::{Cell, Grid, chip};
use crate::picture::counter_table::{self, Bar};
use crate::picture::legend::{Entry, base_entries, is_merging, votes};
use crate::picture::moment::{nearest, vote, waiting};
use crate::picture::pen::{ROW, Scale, area, digits, faint, line, sans};
use crate::picture::scene::{Area, Ink, Scene, Target};
use crate::picture::{Film, View, cloud};
use crate::print::write_comparison;
use crate::state::lanes_in;
use crate::step::{AppendedCandidate, Step};
use crate::text::{significant, thousands};

impl AlgorithmPictures for WarpSelectBaseline {
    fn draw_account(&self, view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
        let (mut scene, mut room) = view.canvas([wide, high]);
        let (state, text) = (view.state(), view.text);
        let row = (text * ROW).min(high * 0.6 / 6.0);
        let (counts, buffer, theory) = (state.counts, self.buffer, account(state).expected_at_end);
        let keys_merged = state.queues().map_or(0, |queues| queues.keys_merged);
        let number = |number: u32| thousands(number.into());
        let none = || "\u{2013}".to_owned();
        let each = |keys: u32, merges: u32| {
            if merges == 0 { none() } else { significant(f64::from(keys) / f64::from(merges)) }
        };
        // Hides the numbers that would reveal how many merges there will be.
        let hidden = |words: String| if view.asking { String::new() } else { words };
        let about = |value: f64| thousands(value.round() as u64);
        let rows: [counter_table::Row<'_, 4>; 4] = [
            (
                "points seen",
                [number(counts.points_seen), number(state.shape.n), number(state.shape.n), none()],
            ),
            (
                "keys inserted",
                [
                    number(counts.candidates),
                    hidden(number(self.inserts)),
                    hidden(number(buffer.candidates)),
                    hidden(about(theory.candidates)),
                ],
            ),
            (
                "merges",
                [
                    number(counts.merges),
                    hidden(number(self.merges)),
                    hidden(number(buffer.merges)),
                    hidden(format!("{:.1}", theory.merges)),
                ],
            ),
            // Keys of the merge in progress count once it is done.
            (
                "keys per merge",
                [
                    each(keys_merged, counts.merges),
                    hidden(each(self.keys_merged, self.merges)),
                    hidden(each(buffer.keys_merged, buffer.merges)),
                    none(),
                ],
            ),
        ];
        let heads = ["so far", "at the end", "a buffer", "its theory \u{2264}"];
        counter_table::table(
            &mut scene,
            room.take_top(row * 5.4),
            row,
            &[0.3, 0.14, 0.18, 0.17, 0.21],
            heads,
            &rows,
        );
        room.take_top(row * 0.4);
        let most = self.merges.max(buffer.merges).max(1) as f32;
        let share = |merges: u32| merges as f32 / most;
        let seen = |merges: u32| (!view.asking).then(|| share(merges));
        let bars = [
            Bar {
                name: "queues in lanes",
                done: if view.asking { 0.0 } else { share(counts.merges) },
                all: seen(self.merges),
                ink: Ink::Intermediate,
            },
            // The buffer's usual colour marks the lanes' queues here.
            Bar {
                name: "a shared buffer",
                done: seen(buffer.merges).unwrap_or(0.0),
                all: seen(buffer.merges),
                ink: Ink::TextWeak,
            },
        ];
        counter_table::bars(&mut scene, room, text, "Merges", &bars);
        scene
    }

    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        let state = view.state();
        let mut entries = base_entries(format!(
            "{} of {} in the warp's queue",
            thousands(nearest(view.cursor).len() as u64),
            thousands(state.shape.k.into())
        ));
        entries.push((
            Ink::Buffer,
            format!("{} in the lanes' queues", thousands(waiting(state).len() as u64)),
            true,
        ));
        match votes(view).filter(|_| !is_merging(view)) {
            Some([taken, left]) => {
                entries.push((Ink::Candidate, format!("{taken} inserted; paler: dropped"), true));
                entries.push((Ink::Rejected, format!("{left} not inserted"), false));
            }
            None => entries.push((Ink::Candidate, "inserted; paler: dropped".to_owned(), true)),
        }
        entries
    }

    fn caption(&self, view: &View<'_>, bound: &str) -> String {
        if view.state().max_distance.is_infinite() {
            return "Fewer than k neighbours are known".to_owned();
        }
        let before = if is_kth_pending(view) { " before this merge" } else { "" };
        cloud::kth_words(view, &format!("squared distance {bound}{before}"))
    }

    fn write_table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        let (shape, buffer) = (take.recording.shape(), self.buffer);
        let (n, k, capacity) = (shape.n as usize, shape.k as usize, shape.capacity() as usize);
        let number = |number: u32| Some(thousands(number.into()));
        let each = |keys: u32, merges: u32| Some(significant(f64::from(keys) / f64::from(merges.max(1))));
        let rows = [
            (
                "keys inserted",
                vec![
                    number(self.inserts),
                    number(buffer.candidates),
                    Some(significant(theory::expected_candidates(n, k, capacity))),
                ],
            ),
            (
                "merges",
                vec![
                    number(self.merges),
                    number(buffer.merges),
                    Some(significant(theory::expected_merges(n, k, capacity))),
                ],
            ),
            (
                "keys that came into the intermediate result",
                vec![number(self.keys_merged), number(buffer.keys_merged), None],
            ),
            (
                "of these per merge",
                vec![each(self.keys_merged, self.merges), each(buffer.keys_merged, buffer.merges), None],
            ),
        ];
        write_comparison(
            &["queues in lanes", &format!("a buffer of {capacity}"), "its theory, mean at most"],
            &rows,
            out,
        )?;
        writeln!(
            out,
            "<p>Both searched the same points in the same order. The theory assumes random order.</p>"
        )
    }
}

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (state, text) = (view.state(), view.text);
    let shape = state.shape;
    let title = room.take_top(text * 1.6);
    let Some(queues) = state.queues() else {
        scene.label(title, 0.0, sans(text, Ink::Text), "Queues: still empty");
        draw_lane_numbers(&mut scene, view, room);
        return scene;
    };
    let step = view.step().and_then(Step::warp_select);
    scene.label(title, 0.0, sans(text, Ink::Text), &heading(view));

    let columns = LaneColumns::new(view, wide, "distance");

    // Rows: lanes, distances, insertions; a heading, the lanes' queues and their invariant; a heading and the
    // warp's queue.
    let heading_high = (text * 1.5).min(high * 0.08);
    let between = text * 0.8;
    let rest = (room.height - 2.0 * heading_high - between).max(1.0);
    let vote = vote(view.cursor).filter(|_| !queues.is_list && !is_last_merge(view));
    let numbers = NumberLayout::fit(vote.as_ref(), &columns, rest);
    let (of_one, more) = (numbers.share_of_row(), numbers.height());
    // Long queues have flat rows.
    let share = |rows: u32| 1.1 * (rows as f32).min(4.0 + rows as f32 * 0.1);
    let (lanes_share, warp_share) = (share(queues.length()), share(shape.registers));
    let one = ((rest - more) / (3.0 + of_one + lanes_share + warp_share)).clamp(1.0, text * 2.2);
    let all = (2.0 + of_one) * one + more;
    let mut table = columns.table(&mut scene, room.y, one, all);
    table.lanes(vote.as_ref(), None);
    table.distances(vote.as_ref(), &numbers);
    table.bits("inserts", queues.inserted.filter(|_| vote.is_some()), Ink::Candidate, None);
    room.take_top(all);

    let lanes_heading = room.take_top(heading_high);
    chip(&mut scene, lanes_heading, Ink::Buffer, &lane_queues_heading(queues, state.last(), step), text);
    let lanes = columns.grid(room.y, one * lanes_share, queues.length());
    draw_row_names(&mut scene, &lanes, columns.names(room.y, lanes.area.height), text, |row| {
        if queues.is_list { thousands((row * shape.width).into()) } else { row.to_string() }
    });
    room.take_top(lanes.area.height);
    if !queues.is_list {
        let mut table = columns.table(&mut scene, room.y, one, one);
        table.bits("breaks", queues.broken, Ink::Error, None);
    }
    room.take_top(one);
    let strip = room.take_top(between);
    let warp_heading = room.take_top(heading_high);
    let says = warp_queue_heading(&state.registers, state.last(), step);
    chip(&mut scene, warp_heading, Ink::Intermediate, &says, text);
    let warp = columns.grid(room.y, one * warp_share, shape.registers);
    draw_row_names(&mut scene, &warp, columns.names(room.y, warp.area.height), text, |row| {
        thousands((row * shape.width).into())
    });

    keys(&mut scene, view, queues, &lanes, &warp);
    marks(&mut scene, view, queues, &lanes, &warp, step);
    if let Some(WarpSelectStep::Exchanged { taken }) = step {
        // Arrows from column to mirrored column, between the queues.
        let columns: BTreeSet<u32> =
            taken.iter().map(|element| striped_position(shape.width, element).0).collect();
        for lane in columns {
            let (from, to) =
                (lanes.cell(shape.width - 1 - lane, 0).center()[0], warp.cell(lane, 0).center()[0]);
            let ends = [[from, lanes.area.bottom() + 1.0], [to, strip.bottom()]];
            scene.path(ends.to_vec(), line(faint(Ink::Intermediate, 0.85), (text * 0.12).max(1.2)));
            scene.arrowhead(
                ends[1],
                [to - from, ends[1][1] - ends[0][1]],
                (text * 0.5).min(strip.height),
                Ink::Intermediate,
            );
        }
    }
    scene
}

/// Draws lane numbers that can be pointed at, when nothing else is shown.
pub(crate) fn draw_lane_numbers(scene: &mut Scene, view: &View<'_>, room: Area) {
    let width = view.state().shape.width;
    let grid = Grid {
        area: area(0.0, room.y, room.width, (view.text * 1.5).min(room.height)),
        columns: width,
        rows: 1,
        gutter: 0.0,
    };
    let size = (view.text * 0.85).min(grid.wide() * 0.6);
    for lane in 0..width {
        scene.text(grid.cell(lane, 0).center(), [0.5, 0.5], sans(size, Ink::TextWeak), lane.to_string());
        scene.spot(grid.cell(lane, 0), Target::Lane(lane));
    }
}

fn is_last_merge(view: &View<'_>) -> bool {
    let steps = &view.recording().steps()[..view.cursor.position()];
    let last = steps.iter().rev().find(|step| {
        matches!(step, Step::Group { .. }) || step.warp_select() == Some(&WarpSelectStep::Drained)
    });
    last.is_some_and(|step| step.warp_select().is_some())
}

fn heading(view: &View<'_>) -> String {
    let state = view.state();
    let bound = match digits(state.max_distance, 3) {
        _ if state.max_distance.is_infinite() => "the k-th is not known yet".to_owned(),
        bound if is_kth_pending(view) => format!("the k-th was at {bound}"),
        bound => format!("the k-th is at {bound}"),
    };
    match state.group {
        Some(base) if !is_last_merge(view) => {
            let last = base.saturating_add(state.shape.width).min(state.shape.n) - 1;
            format!("Lanes: points {} to {}; {bound}", thousands(base.into()), thousands(last.into()))
        }
        _ => format!("Lanes: no point; {bound}"),
    }
}

/// The state of the lanes' queues after a step, and what is marked in them. `last` is the k-th key.
fn lane_queues_heading(queues: &Queues, last: Key, step: Option<&WarpSelectStep>) -> String {
    let what = match step {
        _ if !queues.is_list => "The lanes' queues, the largest key first".to_owned(),
        Some(WarpSelectStep::QueuesSorted) => {
            format!("The lanes' queues as one list, {}", order_words(&queues.keys))
        }
        _ => format!("The lanes' queues as one list, after the exchange: {}", order_words(&queues.keys)),
    };
    let marked = match step {
        Some(WarpSelectStep::Inserted { placed }) if !placed.is_empty() => "; marked: just inserted",
        Some(WarpSelectStep::Checked { broken: 1.. }) => "; marked: breaks the invariant",
        Some(WarpSelectStep::QueuesSorted) if last != PADDING => "; marked: below the k-th",
        Some(WarpSelectStep::Exchanged { taken }) if taken.count() > 0 => "; marked: exchanged",
        _ => "",
    };
    what + marked
}

/// The same for the warp's queue, whose k-th key is `last`.
fn warp_queue_heading(keys: &[Key], last: Key, step: Option<&WarpSelectStep>) -> String {
    if keys.iter().all(|&key| key == PADDING) {
        return "The warp's queue: still empty".to_owned();
    }
    match step {
        Some(WarpSelectStep::Exchanged { taken }) => {
            let marked = if taken.count() == 0 { "" } else { "; marked: came from the list" };
            format!("The warp's queue, after the exchange: {}{marked}", order_words(keys))
        }
        _ if last == PADDING => format!("The warp's queue, {}; fewer than k are known", order_words(keys)),
        _ => format!("The warp's queue, {}; marked: the k-th", order_words(keys)),
    }
}

/// Whether the warp's queue has been merged, but its new k-th key has not been read yet.
pub(crate) fn is_kth_pending(view: &View<'_>) -> bool {
    matches!(
        view.step().and_then(Step::warp_select),
        Some(
            WarpSelectStep::Exchanged { .. }
                | WarpSelectStep::WarpQueueSorted
                | WarpSelectStep::QueuesDescend
        )
    )
}

fn draw_row_names(scene: &mut Scene, grid: &Grid, names: Area, text: f32, name: impl Fn(u32) -> String) {
    let size = (text * 0.75).min(grid.high());
    let every = [1, 2, 4, 8, 16, 32]
        .into_iter()
        .find(|&every| grid.high() * every as f32 >= text * 0.8)
        .unwrap_or(32);
    for row in (0..grid.rows).step_by(every as usize) {
        let rect = area(
            names.x,
            grid.cell(0, row).y,
            names.width,
            grid.high().max(size).min((names.bottom() - grid.cell(0, row).y).max(1.0)),
        );
        scene.label(rect, 1.0, sans(size, Ink::TextWeak), &name(row));
    }
}

fn keys(scene: &mut Scene, view: &View<'_>, queues: &Queues, lanes: &Grid, warp: &Grid) {
    let (state, text) = (view.state(), view.text);
    let scale = Scale::for_recording(view.recording());
    let there = queues.keys.iter().chain(&state.registers).copied().filter(|&key| key != PADDING);
    let look = if lanes.high() < warp.high() { lanes } else { warp }.flat_look(there, text);
    let k = state.shape.k;
    let both = [(lanes, &queues.keys), (warp, &state.registers)];
    for (at, (grid, keys)) in both.into_iter().enumerate() {
        for (element, &key) in (0u32..).zip(keys) {
            let (lane, register) = striped_position(state.shape.width, element);
            // Keys past the k-th do not matter.
            let holds = if at == 1 && element >= k { Cell::Leftover(key) } else { Cell::Taken(key) };
            grid.draw(scene, lane, register, holds, look, &scale);
            let target = if at == 0 { Target::Queued(element) } else { Target::Element(element) };
            scene.spot(grid.cell(lane, register), target);
            if view.hover == Some(target) {
                scene.hovered(grid.full(lane, register));
            }
        }
    }
    if let Some(Target::Lane(lane)) = view.hover
        && lane < state.shape.width
    {
        for grid in [lanes, warp] {
            scene.hovered(Area { height: grid.area.height, ..grid.cell(lane, 0) });
        }
    }
}

/// Marks the cells that the last step changed.
fn marks(
    scene: &mut Scene,
    view: &View<'_>,
    queues: &Queues,
    lanes: &Grid,
    warp: &Grid,
    step: Option<&WarpSelectStep>,
) {
    let state = view.state();
    let shape = state.shape;
    match step {
        Some(WarpSelectStep::Inserted { placed }) => {
            for AppendedCandidate { lane, slot, .. } in placed {
                lanes.mark(scene, *lane, *slot, Ink::Candidate);
            }
        }
        Some(WarpSelectStep::Checked { broken }) => {
            for lane in lanes_in(*broken) {
                lanes.mark(scene, lane, 0, Ink::Error);
            }
        }
        Some(WarpSelectStep::Exchanged { taken }) => {
            for element in taken.iter() {
                let mirrored = mirrored_element(shape.capacity(), element);
                let (from, from_row) = striped_position(shape.width, mirrored);
                let (to, to_row) = striped_position(shape.width, element);
                lanes.mark(scene, from, from_row, Ink::Intermediate);
                warp.mark(scene, to, to_row, Ink::Intermediate);
            }
        }
        Some(WarpSelectStep::QueuesSorted) if state.last() != PADDING => {
            // Keys below the k-th come first. They have the colour of its circle, because they are inside it.
            let below = queues.keys.iter().take_while(|&&key| is_below(key, state.last())).count() as u32;
            for element in 0..below {
                let (lane, register) = striped_position(shape.width, element);
                lanes.mark(scene, lane, register, Ink::Intermediate);
            }
        }
        _ => {}
    }
    if state.last() != PADDING && !matches!(step, Some(WarpSelectStep::Exchanged { .. })) {
        let (lane, register) = striped_position(shape.width, shape.k - 1);
        warp.mark(scene, lane, register, Ink::Accent);
    }
}

fn is_below(key: Key, last: Key) -> bool {
    key < last && distance_of(key).is_finite()
}
