//! No text is clipped or overlaps another, at the normal width of letters and at one that makes labels as
//! long as German ones. Painted texts are compared with their clip rectangles.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::driven::{Window, press, small, until, until_answered};
use egui::accesskit::Role;
use egui::epaint::{ClippedShape, Shape};
use egui::{FontDefinitions, FontFamily, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::state::{PaneKind, State};
use warpscope::app::{App, ExportKind};
use warpscope::cloud::{ColumnChoice, Source};

/// German texts are about a third longer.
const GERMAN: f32 = 1.35;

/// A font with wider letters: scales each advance in its table `hmtx`.
fn widened(font: &[u8], factor: f32) -> Vec<u8> {
    let mut font = font.to_vec();
    let u16_at = |font: &[u8], at: usize| u16::from_be_bytes([font[at], font[at + 1]]);
    let u32_at = |font: &[u8], at: usize| {
        u32::from_be_bytes([font[at], font[at + 1], font[at + 2], font[at + 3]]) as usize
    };
    let table = |font: &[u8], tag: &[u8]| {
        let records = (0..usize::from(u16_at(font, 4))).map(|at| 12 + 16 * at);
        records
            .into_iter()
            .find(|&record| &font[record..record + 4] == tag)
            .map(|record| u32_at(font, record + 8))
            .expect("every font has it")
    };
    let (hhea, hmtx) = (table(&font, b"hhea"), table(&font, b"hmtx"));
    for metric in 0..usize::from(u16_at(&font, hhea + 34)) {
        let at = hmtx + 4 * metric;
        let wide = (f32::from(u16_at(&font, at)) * factor).round() as u16;
        font[at..at + 2].copy_from_slice(&wide.to_be_bytes());
    }
    font
}

fn window(factor: f32, scale: f32) -> Window {
    Harness::builder().with_size([1280.0, 800.0]).build_eframe(move |cc| {
        let mut state = State { scale, ..State::default() };
        small(&mut state);
        let app = App::with_state(cc, state).expect("a thread for the worker");
        let mut fonts = FontDefinitions::default();
        fonts.families.get_mut(&FontFamily::Proportional).expect("a family").push("Hack".to_owned());
        let ubuntu = (*fonts.font_data["Ubuntu-Light"].font).as_ref().to_vec();
        fonts.font_data.insert(
            "Ubuntu-Light".to_owned(),
            Arc::new(egui::FontData::from_owned(widened(&ubuntu, factor))),
        );
        cc.egui_ctx.set_fonts(fonts);
        app
    })
}

/// A painted text.
struct PaintedText {
    text: String,
    rect: Rect,
    clip: Rect,
    elided: bool,
    /// Whether its last word continues on the next line.
    broken: bool,
}

fn texts(shapes: &[ClippedShape]) -> Vec<PaintedText> {
    fn collect(shape: &Shape, clip: Rect, into: &mut Vec<PaintedText>) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, clip, into)),
            Shape::Text(text) if text.angle == 0.0 => {
                for (at, row) in text.galley.rows.iter().enumerate() {
                    let next = text.galley.rows.get(at + 1).and_then(|next| next.glyphs.first());
                    let within = |glyph: Option<&egui::epaint::text::Glyph>| {
                        glyph.is_some_and(|glyph| glyph.chr.is_alphabetic())
                    };
                    let broken = !row.ends_with_newline && within(row.glyphs.last()) && within(next);
                    let mut letters = row.glyphs.iter().filter(|glyph| !glyph.chr.is_whitespace());
                    let ends = letters.clone().next().zip(letters.next_back());
                    let Some((first, last)) = ends else { continue };
                    let place = text.pos + row.pos.to_vec2();
                    let rect = Rect::from_x_y_ranges(
                        place.x + first.pos.x..=place.x + last.max_x(),
                        place.y..=place.y + row.height(),
                    );
                    into.push(PaintedText {
                        text: row.text(),
                        rect,
                        clip,
                        elided: text.galley.elided,
                        broken,
                    });
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for ClippedShape { clip_rect, shape, .. } in shapes {
        collect(shape, *clip_rect, &mut found);
    }
    found
}

/// The texts to check: those painted from the last text of this name on, which lie over everything before;
/// all without a name.
type From = Option<&'static str>;

/// The rectangle of a table or log, which scrolls sideways: content beyond its right edge is reachable.
fn scrolls(pane: PaneKind) -> bool {
    matches!(pane, PaneKind::Neighbors | PaneKind::Runs | PaneKind::Log)
}

/// Texts that are clipped, elided, broken, or overlap.
fn wrong(window: &Window, from: From, table: bool) -> BTreeSet<String> {
    /// Tolerance for rounding.
    const SLACK: f32 = 1.5;
    let painted = texts(&window.output().shapes);
    let first = from.map_or(0, |from| {
        painted
            .iter()
            .rposition(|text| text.text.starts_with(from))
            .unwrap_or_else(|| panic!("{from} is not painted"))
    });
    // Skip content that is scrolled out of sight; a field scrolls to its cursor.
    let fields: Vec<String> =
        window.query_all_by_role(Role::TextInput).filter_map(|field| field.value()).collect();
    let is_seen = |text: &&PaintedText| text.rect.intersects(text.clip) && !fields.contains(&text.text);
    let seen: Vec<&PaintedText> = painted[first..].iter().filter(is_seen).collect();
    assert!(seen.len() > 3, "only {} texts are painted", seen.len());
    let mut wrong = BTreeSet::new();
    for text in &seen {
        // Numbers of Timings count as table cells, because their length varies with the run.
        let number = text.text.starts_with(|c: char| c.is_ascii_digit());
        // Panes are below the views, or on their right.
        let among_panes =
            text.clip.left() > 640.0 || text.clip.top() > 0.55 * window.ctx.content_rect().height();
        let in_table = (table || number) && among_panes && text.rect.left() > text.clip.left() - SLACK;
        if !in_table && text.elided {
            wrong.insert(format!("elided: {}", text.text));
        }
        if text.broken {
            wrong.insert(format!("broken within a word: {}", text.text));
        }
        // The tab bar scrolls with arrows if its titles do not fit.
        let is_tab = PaneKind::ALL.iter().any(|pane| pane.title() == text.text);
        let cut =
            text.rect.left() < text.clip.left() - SLACK || text.rect.right() > text.clip.right() + SLACK;
        if cut && !in_table && !is_tab {
            wrong.insert(format!("cut: {} at {:?} in {:?}", text.text, text.rect, text.clip));
        }
    }
    for (at, a) in seen.iter().enumerate() {
        for b in &seen[..at] {
            let both = a.rect.intersect(a.clip).intersect(b.rect.intersect(b.clip));
            if both.width() > 2.0 * SLACK && both.height() > 4.0 {
                wrong.insert(format!("one over the other: {} and {} at {both:?}", b.text, a.text));
            }
        }
    }
    wrong
}

/// All states of a window of a size in points.
fn look_everywhere(factor: f32, scale: f32) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut look = |window: &mut Window, what: &str, from: From, table: bool| {
        window.run_steps(5);
        found.extend(wrong(window, from, table).into_iter().map(|wrong| format!("{what}: {wrong}")));
    };
    let mut window = window(factor, scale);
    look(&mut window, "before anything is open", None, false);
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    for &pane in PaneKind::ALL {
        window.state_mut().send(Command::ResetLayout);
        window.state_mut().send(Command::Show(pane));
        look(&mut window, pane.title(), None, scrolls(pane));
    }
    window.state_mut().send(Command::ResetLayout);
    for (menu, first) in [
        ("File", "Open…"),
        ("Edit", "Undo"),
        ("Query", "Run"),
        ("View", "Fit the views to the cloud"),
        ("Help", "Find a row or a command…"),
    ] {
        let highest = |a: &egui_kittest::Node<'_>, b: &egui_kittest::Node<'_>| {
            a.rect().top().total_cmp(&b.rect().top())
        };
        window.query_all_by_role_and_label(Role::Button, menu).min_by(highest).expect("a menu").click();
        look(&mut window, menu, Some(first), false);
        window.key_press(egui::Key::Escape);
        window.run_steps(3);
    }
    for (kind, heading) in [
        (ExportKind::Session, "Save the session"),
        (ExportKind::Window, "Save a picture of the window"),
        (ExportKind::Data(PaneKind::Neighbors), "Export the data of Neighbours"),
    ] {
        window.state_mut().send(Action::StartExport(kind));
        look(&mut window, heading, Some(heading), false);
        window.state_mut().send(Action::SetExport(None));
        window.run_steps(2);
    }
    window.state_mut().send(Command::Shortcuts);
    look(&mut window, "shortcuts", Some("Keyboard shortcuts"), false);
    window.state_mut().send(Command::Shortcuts);
    window.run_steps(2);
    // The lesson's pictures are laid out on their own, because they are also files.
    if factor == 1.0 {
        window.state_mut().send(Command::Lesson);
        until(&mut window, "a lesson", |app| app.session().lesson.player.is_some());
        look(&mut window, "the lesson", None, false);
    }
    found
}

#[test]
fn neighbours_are_labelled_with_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("towns.csv");
    let towns: Vec<String> =
        (0..40).map(|at| format!("{},{},Town {at}\n", f64::from(at % 8), f64::from(at / 8))).collect();
    std::fs::write(&path, format!("x,y,town\n{}", towns.concat())).expect("a file");
    let mut window = window(1.0, 1.0);
    let source = Source::File { path, columns: ColumnChoice::Default };
    let cloud = warpscope::cloud::load(&source, false, &warpscope::progress::NoProgress).expect("a cloud");
    window.state_mut().show_loaded(Arc::new(cloud));
    window.state_mut().send(Action::PickRow(17));
    until(&mut window, "an answer and its names", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.record.cloud.len() == 40)
            && app.session().listed_columns().is_some()
    });
    let named = |window: &Window| -> BTreeSet<String> {
        let plane = window.get_by_label("Plane of points").rect();
        let painted = texts(&window.output().shapes);
        painted
            .into_iter()
            .filter(|text| text.text.starts_with("Town ") && plane.contains_rect(text.rect))
            .map(|text| text.text)
            .collect()
    };
    window.run_steps(3);
    assert!(named(&window).is_empty());
    press(&mut window, "More view options");
    window.get_by_label("Names").click();
    window.run_steps(5);
    let names = named(&window);
    let session = window.state().session();
    let answered = session.answered.as_ref().expect("an answer");
    let neighbors: BTreeSet<String> = answered.neighbors().map(|(row, _)| format!("Town {row}")).collect();
    assert!(names.len() >= 5 && names.is_subset(&neighbors), "{names:?} of {neighbors:?}");
}

#[test]
fn labels_fit_with_german_text_lengths() {
    let found = look_everywhere(GERMAN, 1.0);
    assert!(found.is_empty(), "{}", found.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn labels_fit_at_200_percent_scale() {
    let found = look_everywhere(1.0, 2.0);
    assert!(found.is_empty(), "{}", found.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Low windows show one pane at a time.
#[test]
fn labels_fit_at_150_percent_scale() {
    let found = look_everywhere(1.0, 1.5);
    assert!(found.is_empty(), "{}", found.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn labels_fit() {
    let found = look_everywhere(1.0, 1.0);
    assert!(found.is_empty(), "{}", found.into_iter().collect::<Vec<_>>().join("\n"));
}
