//! The panel of per-thread heaps: which lanes are active, one lane's heap as a tree, and the share of idle
//! lane slots.

use std::io::{self, Write};

use super::state::Heaps;
use super::{HeapBaseline, HeapStep};
use crate::algorithms::AlgorithmPictures;
use crate::algorithms::warp_select::panel::draw_lane_numbers;
use crate::draw::svg::escaped;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of};
use crate::knn::Problem;
use crate::lessons::Take;
use crate::meter;
use crate::picture::ballot::{LaneColumns, NumberLayout};
use crate::picture::cells::{Cell, chip};
use crate::picture::legend::Entry;
use crate::picture::moment::{Vote, nearest};
use crate::picture::pen::{Scale, area, digits, faint, line, mono, sans, width};
use crate::picture::plane::Plane;
use crate::picture::scene::{Area, Font, Ink, Point, Scene, Target, TrackId, TrackKey, Transition};
use crate::picture::{self, Film, View};
use crate::print::write_comparison;
use crate::step::Step;
use crate::text::thousands;

impl AlgorithmPictures for HeapBaseline {
    /// The meter is as wide as the lanes, because its bars have three columns.
    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        picture::meter::draw(view, size)
    }

    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        let (found, k) = (nearest(view.cursor).len() as u64, view.state().shape.k);
        let mut entries = vec![(
            Ink::Neighbor,
            format!("{} of {} in lane 0's heap", thousands(found), thousands(k.into())),
            true,
        )];
        entries.extend(KINDS.map(|(ink, words, filled)| (ink, words.to_owned(), filled)));
        entries
    }

    fn caption(&self, view: &View<'_>, bound: &str) -> String {
        if view.state().max_distance.is_infinite() {
            return "Lane 0's heap is not full yet".to_owned();
        }
        match view.recording().problem().dims() {
            1 => format!("Bar: as far as lane 0's k-th on both sides, squared distance {bound}"),
            2 => format!("Circle: through lane 0's k-th, squared distance {bound}"),
            dims => format!(
                "Lane 0's k-th: squared distance {bound}; no circle, as distances are in all {dims} \
                 dimensions"
            ),
        }
    }

    fn write_table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        let Some(meter) = take.recording.meter() else { return Ok(()) };
        let of = |row: &meter::Row| {
            let number = |strategy| meter.number(row, strategy, &meter.all(strategy)).map(meter::words);
            (row.name, meter::Strategy::ALL.map(number).to_vec())
        };
        write_comparison(
            &meter::Strategy::ALL.map(meter::Strategy::name),
            &meter::ROWS.iter().map(of).collect::<Vec<_>>(),
            out,
        )?;
        writeln!(out, "<dl class=\"weak\">")?;
        for row in &meter::ROWS {
            writeln!(out, "<dt>{}</dt><dd>{}</dd>", row.name, escaped(row.help))?;
        }
        writeln!(out, "</dl>")
    }
}

/// Maximum number of levels drawn; more would be too small to see.
const LEVELS: u32 = 6;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (state, text) = (view.state(), view.text);
    let title = room.take_top(text * 1.6);
    let Some(heaps) = state.heaps() else {
        scene.label(title, 0.0, sans(text, Ink::Text), "Heaps: still empty");
        draw_lane_numbers(&mut scene, view, room);
        return scene;
    };
    scene.label(title, 0.0, sans(text, Ink::Text), &heading(heaps));

    let lane = match view.hover {
        Some(Target::Lane(lane)) if lane < heaps.width => lane,
        _ => 0,
    };
    let rows = room.take_top((room.height * 0.42).min(text * 10.5));
    lanes(&mut scene, view, heaps, rows, lane);
    room.take_top(text * 0.3);
    let strip = room.take_bottom((text * 2.7).min(room.height * 0.3));
    room.take_bottom(text * 0.3);
    let right = room.take_right(room.width * 0.34);
    room.take_right(text * 0.8);
    tree(&mut scene, view, heaps, room, lane);
    history(&mut scene, view, heaps, right);
    slots(&mut scene, view, strip);
    scene
}

fn heading(heaps: &Heaps) -> String {
    let width = heaps.width;
    let Some(point) = heaps.point else {
        return if heaps.end < heaps.k {
            format!("Lanes: no points left; the {width} heaps are being sorted")
        } else {
            format!("Lanes: {width} queries, no point yet")
        };
    };
    let point = thousands(point.into());
    match heaps.inserting {
        None => format!("Lanes: point {point}, to {width} queries"),
        Some(lanes) => format!("Lanes: point {point} is inserted by {} of {width}", lanes.count_ones()),
    }
}

/// One column per lane: its distance, the root of its heap, whether it inserts, and whether it is active in
/// this step.
fn lanes(scene: &mut Scene, view: &View<'_>, heaps: &Heaps, room: Area, lane: u32) {
    let text = view.text;
    let columns = LaneColumns::new(view, room.width, "active now");
    let distances = if heaps.point.is_some() { heaps.distances.clone() } else { Vec::new() };
    let vote = Vote {
        points: Vec::new(),
        distances,
        voters: heaps.all(),
        mask: heaps.inserting,
        slots_before: 0,
        appended: 0,
    };
    let numbers = NumberLayout::fit(Some(&vote), &columns, room.height);
    let (of_one, more) = (numbers.share_of_row(), numbers.height());
    let one = ((room.height - more) / (4.0 + of_one)).clamp(1.0, text * 2.2);
    let all = (4.0 + of_one) * one + more;
    let mut table = columns.table(scene, room.y, one, all);
    table.lanes(Some(&vote), Some(lane));
    table.distances(Some(&vote), &numbers);
    let y = room.y + all - 3.0 * one;
    let roots = columns.grid(y, one, 1);
    let scale = Scale::for_recording(view.recording());
    let keys: Vec<Key> = (0..heaps.width).map(|lane| heaps.root(lane)).collect();
    let look = roots.flat_look(keys.iter().copied().filter(|&key| key != PADDING), text);
    scene.label(columns.names(y, one), 1.0, sans(text * 0.8, Ink::TextWeak), "root");
    for (lane, &key) in (0..).zip(&keys) {
        roots.draw(scene, lane, 0, Cell::Taken(key), look, &scale);
        scene.spot(roots.cell(lane, 0), Target::Lane(lane));
    }
    let mut table = columns.table(scene, y + one, one, one);
    table.bits("inserts", heaps.inserting, Ink::Candidate, None);
    table.bits("active now", (heaps.active != 0).then_some(heaps.active), Ink::Intermediate, None);
}

/// A lane's heap, the root on top.
fn tree(scene: &mut Scene, view: &View<'_>, heaps: &Heaps, mut room: Area, lane: u32) {
    let text = view.text;
    let keys = heaps.lane_keys(lane);
    let there = keys.iter().filter(|&&key| key != PADDING).count() as u64;
    let levels = heaps.k.ilog2() + 1;
    let kth = match heaps.root(lane) {
        _ if heaps.end < heaps.k => format!("{} sorted", thousands(u64::from(heaps.k - heaps.end))),
        PADDING => "the root is still infinite".to_owned(),
        _ if sinks(heaps, lane, view) => "framed: the key that sinks".to_owned(),
        root => format!("the root is its k-th, {}", digits(distance_of(root), 3)),
    };
    let more =
        if levels > LEVELS { format!("; the first {LEVELS} levels of {levels}") } else { String::new() };
    let says =
        format!("Lane {lane}'s heap: {} of {}; {kth}{more}", thousands(there), thousands(heaps.k.into()));
    chip(scene, room.take_top((text * 1.5).min(room.height * 0.2)), Ink::Neighbor, &says, text);
    // Room for frames around nodes at the edge.
    let edge = (text * 0.18).clamp(1.5, 3.5) / 2.0 + 2.0;
    room.take_left(edge);
    room.take_right(edge);
    room.take_bottom(edge);
    let shown = levels.min(LEVELS);
    let row = (room.height / shown as f32).max(1.0);
    let high = (row * 0.62).min(text * 1.7);
    let leaves = (1 << (shown - 1)) as f32;
    let wide = (room.width / leaves * 0.86).min(text * 4.2);
    let center = |entry: u32| -> Point {
        let level = (entry + 1).ilog2();
        let place = (entry + 1 - (1 << level)) as f32;
        [room.x + room.width * (place + 0.5) / (1 << level) as f32, room.y + row * (level as f32 + 0.5)]
    };
    let drawn = heaps.k.min((1 << shown) - 1);
    let moved = match view.step().and_then(Step::heap) {
        Some(HeapStep::Sank { moved, .. }) => {
            moved.iter().find(|sunk| sunk.lane == lane).map(|sunk| sunk.slot)
        }
        _ => None,
    };
    for entry in 1..drawn {
        let rises = moved == Some(entry);
        // A sorted entry is not a child any more.
        let ink = if entry >= heaps.end { faint(Ink::Line, 0.3) } else { faint(Ink::TextWeak, 0.7) };
        let stroke = if rises { line(Ink::Candidate, (text * 0.22).max(2.0)) } else { line(ink, 1.2) };
        scene.path(vec![center((entry - 1) / 2), center(entry)], stroke);
    }
    let scale = Scale::for_recording(view.recording());
    let longest = keys
        .iter()
        .filter(|&&key| key != PADDING)
        .map(|&key| digits(distance_of(key), 3).len())
        .max()
        .unwrap_or(1)
        .max(4);
    let size = (text * 0.9).min(high / 1.25).min(wide * 0.9 / width(Font::Mono, 1.0, &"0".repeat(longest)));
    for entry in 0..drawn {
        let (key, [x, y]) = (keys[entry as usize], center(entry));
        let node = area(x - wide / 2.0, y - high / 2.0, wide, high);
        let round = (high * 0.3).min(wide * 0.3);
        let magnitude = scale.magnitude(distance_of(key));
        let is_empty = key == PADDING;
        let draw = |scene: &mut Scene| {
            // An opaque background: edges must not shine through the node.
            scene.rect(node, round, Some(Ink::Panel.into()), None);
            let fill = if is_empty { faint(Ink::Field, 0.6) } else { faint(Ink::Scale(magnitude), 1.0) };
            scene.rect(node, round, Some(fill), is_empty.then(|| line(faint(Ink::Line, 0.9), 0.8)));
            if size >= text * 0.5 {
                let ink = if is_empty { Ink::TextWeak } else { Ink::OnScale(magnitude) };
                scene.text([x, y], [0.5, 0.5], mono(size, ink), digits(distance_of(key), 3));
            }
        };
        if is_empty {
            draw(scene);
        } else {
            // Tracked within the lane's own heap: another lane may have the same key.
            scene.track(
                TrackKey { id: TrackId::Key(key), instance: 1 + lane as usize },
                node,
                Transition::Arc,
                draw,
            );
        }
        let frame = if entry == heaps.holes[lane as usize] && sinks(heaps, lane, view) {
            Some(Ink::Candidate)
        } else {
            (entry >= heaps.end).then_some(Ink::Neighbor)
        };
        if let Some(ink) = frame {
            scene.rect(node.inner(-1.5), round, None, Some(line(ink, (text * 0.18).clamp(1.5, 3.5))));
        }
        if !is_empty {
            scene.spot(node, Target::Point(index_of(key)));
        }
    }
}

/// Whether a lane's key is sinking, or has just stopped.
fn sinks(heaps: &Heaps, lane: u32, view: &View<'_>) -> bool {
    match view.step().and_then(Step::heap) {
        Some(HeapStep::Branched { .. } | HeapStep::Sank { .. }) => {
            heaps.inserting.is_none_or(|lanes| lanes >> lane & 1 == 1)
        }
        Some(HeapStep::Extracted { .. }) => true,
        _ => false,
    }
}

/// The active lanes of the last steps: one column per step, the latest on the right.
fn history(scene: &mut Scene, view: &View<'_>, heaps: &Heaps, mut room: Area) {
    let text = view.text;
    let heading = room.take_top((text * 1.5).min(room.height * 0.2));
    let foot = room.take_bottom((text * 1.1).min(room.height * 0.15));
    let column = (text * 0.45).max(3.0);
    let columns = ((room.width / column) as usize).max(1);
    let steps = &view.recording().steps()[..view.cursor.position()];
    let mut masks: Vec<u32> = steps
        .iter()
        .rev()
        .filter_map(|step| step.heap())
        .map(|step| heaps.active_in(step))
        .filter(|&lanes| lanes != 0)
        .take(columns)
        .collect();
    masks.reverse();
    scene.label(
        heading,
        0.0,
        sans(text * 0.9, Ink::Text),
        &format!("Lanes at work, last {}{}", masks.len(), if masks.len() == 1 { " step" } else { " steps" }),
    );
    let high = (room.height / heaps.width as f32).min(text * 1.1);
    for (at, mask) in masks.iter().enumerate() {
        for lane in 0..heaps.width {
            let cell = area(room.x + at as f32 * column, room.y + lane as f32 * high, column, high)
                .inner((high * 0.08).min(0.5));
            let fill = if mask >> lane & 1 == 1 {
                faint(Ink::Intermediate, 1.0)
            } else {
                faint(Ink::TextWeak, 0.22)
            };
            scene.fill(cell, fill);
        }
    }
    scene.label(foot, 0.0, sans(text * 0.75, Ink::TextWeak), "lane 0 on top; pale: waits");
}

/// The used and idle lane slots so far.
fn slots(scene: &mut Scene, view: &View<'_>, mut room: Area) {
    let (recording, state, text) = (view.recording(), view.state(), view.text);
    let dims = recording.parameters.dims;
    let width = u64::from(state.shape.width);
    let (all, used) = (state.work.slots(dims) * width, state.work.lane_slots(dims));
    let idle = all - used;
    let percent = if all == 0 { 0.0 } else { 100.0 * idle as f64 / all as f64 };
    let says = format!(
        "Lane slots: {} at work, {} idle ({percent:.0} %). An instruction is issued for all lanes: idle \
         ones waste their slots.",
        thousands(used),
        thousands(idle)
    );
    scene.label(room.take_top(room.height * 0.55), 0.0, sans(text * 0.9, Ink::Text), &says);
    let bar = room.inner((room.height * 0.1).min(2.0));
    // The strip is full at the end of the search; while a question is open, that must stay hidden.
    let end = recording
        .meter()
        .filter(|_| !view.asking)
        .map_or(all, |meter| meter.all(meter::Strategy::ThreadPerQuery).slots(dims) * width)
        .max(1);
    let long = |slots: u64| bar.width * slots as f32 / end as f32;
    scene.rect(bar, 2.0, Some(faint(Ink::Field, 0.6)), Some(line(faint(Ink::Line, 0.8), 0.8)));
    scene.fill(area(bar.x, bar.y, long(used), bar.height), Ink::Intermediate);
    scene.fill(area(bar.x + long(used), bar.y, long(idle), bar.height), faint(Ink::TextWeak, 0.45));
}

// In the plane of the points: the queries of the other lanes, and the current point.

/// The marks of the legend.
pub(crate) const KINDS: [(Ink, &str, bool); 3] = [
    (Ink::Query, "queries of the lanes", true),
    (Ink::Candidate, "inserted", true),
    (Ink::Rejected, "not inserted", false),
];

/// Draws lines from the point to the queries of lanes that insert it, and the queries with their lanes'
/// numbers.
pub(crate) fn draw_queries(
    scene: &mut Scene,
    plane: &Plane,
    view: &View<'_>,
    problem: &Problem,
    heaps: &Heaps,
) {
    let text = view.text;
    let own = &view.recording().parameters.query;
    let mut places = vec![plane.at(own)];
    places.extend(heaps.others.iter().map(|&query| plane.position(problem, query)));
    if let Some(point) = heaps.point {
        let at = plane.position(problem, point);
        let inserting = heaps.inserting.unwrap_or(0);
        for (lane, &place) in places.iter().enumerate() {
            let inserts = inserting >> lane & 1 == 1;
            let stroke = if inserts {
                line(Ink::Candidate, text * 0.14)
            } else {
                line(faint(Ink::TextWeak, 0.35), 1.0)
            };
            scene.path(vec![at, place], stroke);
        }
        let radius = text * 0.42;
        match heaps.inserting {
            None => scene.dots(vec![at], radius, None, Some(line(Ink::Text, text * 0.14))),
            Some(0) => {
                scene.dots(vec![at], radius, Some(Ink::Canvas.into()), Some(line(Ink::Rejected, text * 0.16)))
            }
            Some(_) => {
                scene.dots(vec![at], radius, Some(Ink::Candidate.into()), Some(line(Ink::Canvas, 1.2)))
            }
        }
    }
    let size = text * 0.8;
    let mut written: Vec<Area> = Vec::new();
    for (lane, &[x, y]) in places.iter().enumerate() {
        if lane > 0 {
            let arm = text * 0.34;
            for (ink, wide) in [(Ink::Canvas, text * 0.26), (Ink::Query, text * 0.12)] {
                scene.path(vec![[x - arm, y], [x + arm, y]], line(ink, wide));
                scene.path(vec![[x, y - arm], [x, y + arm]], line(ink, wide));
            }
        }
        let words = lane.to_string();
        let wide = width(Font::Sans, size, &words);
        // Beside the cross, within the plane; a number without room is left out.
        let (right, left) = (x + text * 0.5, x - text * 0.5 - wide);
        let rooms = [[right, -0.6], [left, -0.6], [right, 0.6], [left, 0.6]]
            .map(|[from, off]| area(from, y + text * off - size / 2.0, wide, size));
        let is_free = |room: &Area| {
            let corners = [[room.x, room.y], [room.right(), room.bottom()]];
            corners.into_iter().all(|corner| plane.area.contains(corner))
                && written.iter().all(|other| !overlap(room, other))
        };
        let Some(room) = rooms.into_iter().find(is_free) else { continue };
        // Legible on points, too.
        scene.fill(room, faint(Ink::Canvas, 0.9));
        scene.text([room.x, room.center()[1]], [0.0, 0.5], sans(size, Ink::Query), words);
        written.push(room);
    }
}

fn overlap(a: &Area, b: &Area) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}
