//! Drives the window with random actions: open, run, cancel, drag, export, close, undo, type invalid text.
//! Each action depends only on the seed and its number, so it can be repeated. Its effect depends on the
//! progress of other threads, so reproducing a failure may take several attempts.
//!
//! ```sh
//! scripts/soak                    # ten thousand actions
//! scripts/soak 10000 7            # another seed
//! scripts/soak 1000 7 3000        # the thousand of seed 7 that begin at 3,000
//! ```
//!
//! Each window lives for a thousand actions. Then everything is cancelled, no work may remain, the window is
//! closed, and the allocated memory is compared with that after the first window.

#![cfg(feature = "gui")]

#[path = "common/counting.rs"]
mod counting;
#[path = "common/window.rs"]
mod driven;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use counting::{CountingAllocator, LIVE};
use driven::{Window, small, window};
use egui::accesskit::Role;
use egui::{Modifiers, PointerButton, Pos2, pos2, vec2};
use egui_kittest::kittest::NodeT as _;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use warpscope::app::commands::{Action, Command};
use warpscope::app::lesson::LessonAction;
use warpscope::app::live::LiveAction;
use warpscope::app::runs::{RunsAction, SaveScope};
use warpscope::app::selection::{SelectAction, SelectMode};
use warpscope::app::session::Activity;
use warpscope::app::state::PaneKind;
use warpscope::app::tokens::Theme;
use warpscope::app::{
    App, ColorAction, ColorBy, ColorView, DataKind, ExportKind, ProjectionKind, ProjectionView, QueryKind,
};
use warpscope::cloud::Order;
use warpscope::export::graph::GraphFormat;
use warpscope::knn::Metric;

/// Actions per window.
const ACTIONS_PER_WINDOW: u64 = 1_000;

/// Memory that a window may leave allocated: tables that only grow, such as glyphs, the planner's
/// corrections, thread locals. With debug assertions egui also stores the name of every id, about 250 KiB per
/// thousand actions; `scripts/soak` builds it without.
const MAX_LEFTOVER_BYTES: usize = 4 << 20;

/// Time limit for work to end after it was cancelled; a stuck job lasts for ever.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(240);

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Panics of any thread since the last check.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The random choices of one action.
struct ActionRng(ChaCha8Rng);

impl ActionRng {
    fn new(seed: u64, action: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(action);
        Self(rng)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end.max(1) as u64) as usize
    }

    fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn position(&mut self, size: egui::Vec2) -> Pos2 {
        pos2(self.below(size.x as usize) as f32, self.below(size.y as usize) as f32)
    }
}

/// Invalid and valid inputs for fields.
const FIELD_INPUTS: [&str; 28] = [
    "",
    " ",
    "0",
    "1",
    "5",
    "17",
    "-1",
    "+3",
    "1e3",
    "1e999",
    "NaN",
    "inf",
    "99999999999999999999999",
    "0.5,0.5",
    "3,5,10-12",
    "9-1,,;",
    "uniform:n=200,d=2",
    "sphere:n=150",
    "uniform:n=0,d=2",
    "uniform:n=-1",
    "gaussian-mixture:n=300,clusters=0",
    "uniform:n=100,d=100000000000",
    "../../..",
    "/dev/null",
    "points.csv:no such cloud",
    "\u{202e}desrever \u{1b}[31m",
    "🦀 ünï\u{0301}cödé \u{200b}",
    "%s%n{}\\\"'<>&\t",
];

const SPECS: [&str; 6] = [
    "uniform:n=500,d=2",
    "uniform:n=2000,d=3",
    "gaussian-mixture:n=800,clusters=3,d=7",
    "sphere:n=300",
    "uniform:n=1,d=1",
    "uniform:n=40,d=2",
];

const ENGINES: [&str; 4] = ["lockstep", "kdtree", "auto", "cuda"];

/// Files to open: valid, damaged and missing ones, and the window's own exports.
fn files(place: &Path) -> Vec<PathBuf> {
    let write = |name: &str, bytes: &[u8]| fs::write(place.join(name), bytes).expect("a file");
    let rows: String = (0..120).map(|row| format!("{row},{},{}\n", row * 37 % 53, row * row % 29)).collect();
    write("points.csv", format!("a,b,kind\n{rows}").as_bytes());
    write("words.txt", b"king 0.1 0.2 0.3 0.4\nqueen 0.2 0.1 0.4 0.3\nman 0.5 0.1 0.1 0.9\n");
    write("gaps.csv", b"x,y\n1,2\nnan,3\n4,inf\n5,6\n");
    write("torn.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (10, 2), }");
    write("empty.csv", b"");
    write("many.json", br#"{"a": [[1, 2], [3, 4], [5, 7]], "b": [[1, 2, 3], [4, 5, 7]]}"#);
    write("torn.warpscope", b"PK\x03\x04 and no more");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/first-version");
    for name in ["lockstep.warpscope", "session.warpscope", "profiled.warpscope"] {
        write(name, &fs::read(kept.join(name)).expect("it was stored"));
    }
    let names = [
        "points.csv",
        "points.csv",
        "words.txt",
        "gaps.csv",
        "torn.npy",
        "empty.csv",
        "many.json",
        "torn.warpscope",
    ];
    let recordings = [
        "lockstep.warpscope",
        "session.warpscope",
        "profiled.warpscope",
        "session.warpscope#1",
        "export-0.warpscope",
    ];
    names
        .into_iter()
        .chain(recordings)
        .chain(["export-1.csv", "export-0.csv", "gone.csv", "."])
        .map(|name| place.join(name))
        .collect()
}

#[derive(Debug)]
struct FakeDroppedFile(PathBuf);

impl egui::DroppedFile for FakeDroppedFile {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        fs::read(&self.0).map_err(|error| error.to_string())
    }
}

/// Replaces the desktop's file dialog, and confines writes to `place`.
fn keep_within(window: &mut Window, place: &Path, dice: &mut ActionRng) {
    if let Some(mut dialog) = window.state().session().export.clone()
        && dialog.writing.is_none()
        && Path::new(&dialog.path).parent() != Some(place)
    {
        let ending = Path::new(&dialog.path).extension().unwrap_or_default().to_string_lossy().into_owned();
        dialog.path = place.join(format!("export-{}.{ending}", dice.below(2))).display().to_string();
        window.state_mut().send(Action::SetExport(Some(dialog)));
        window.step();
    }
}

/// Performs an action and describes it.
fn perform_action(window: &mut Window, dice: &mut ActionRng, files: &[PathBuf]) -> String {
    let size = window.ctx.content_rect().size();
    match dice.below(24) {
        0..=3 => {
            let commands: Vec<Command> = Command::all()
                .iter()
                .copied()
                .filter(|command| !matches!(command, Command::Open | Command::Quit))
                .collect();
            send(window, *dice.choose(&commands))
        }
        4 => send(window, Command::Show(*dice.choose(PaneKind::ALL))),
        5 => send(
            window,
            *dice.choose(&[
                Command::Run,
                Command::Run,
                Command::Cancel,
                Command::Undo,
                Command::Redo,
                Command::ResetLayout,
            ]),
        ),
        6..=9 => click(window, dice),
        10 | 11 => type_odd(window, dice),
        12..=14 => drag(window, dice, size),
        15 => draft(window, dice, files),
        16 => open(window, dice, files),
        17 => export(window, dice),
        18 | 19 => request_data(window, dice),
        20 => {
            let size = *dice.choose(&[
                [1280.0, 800.0],
                [720.0, 480.0],
                [400.0, 300.0],
                [2000.0, 1200.0],
                [900.0, 2000.0],
                [64.0, 64.0],
            ]);
            window.set_size(size.into());
            format!("{size:?}")
        }
        21 => send(window, Action::SetLook(*dice.choose(&Theme::ALL))),
        22 => {
            let commands: Vec<_> = Command::all()
                .iter()
                .filter(|command| !matches!(command, Command::Open))
                .filter_map(|command| command.shortcut())
                .collect();
            let keys = *dice.choose(&commands);
            window.key_press_modifiers(keys.modifiers, keys.logical_key);
            format!("{keys:?}")
        }
        _ => {
            let began = Instant::now();
            let still = |app: &App| !app.is_busy() && app.session().activity == Activity::Idle;
            while !still(window.state()) && began.elapsed() < Duration::from_millis(500) {
                window.step();
                std::thread::sleep(Duration::from_millis(2));
            }
            "waits".to_owned()
        }
    }
}

fn send(window: &mut Window, action: impl Into<Action>) -> String {
    let action = action.into();
    let said = format!("{action:?}");
    window.state_mut().send(action);
    said.chars().take(300).collect()
}

fn click(window: &mut Window, dice: &mut ActionRng) -> String {
    let pressed = |role: Role| {
        matches!(
            role,
            Role::Button
                | Role::CheckBox
                | Role::RadioButton
                | Role::Slider
                | Role::ComboBox
                | Role::TextInput
                | Role::Link
                | Role::Canvas
                | Role::Tab
        )
    };
    // Skips buttons that would open a dialog of the desktop.
    let asks = |label: &str| label.contains("Browse") || label.starts_with("Open…");
    let nodes: Vec<_> =
        window.root().children_recursive().filter(|node| pressed(node.accesskit_node().role())).collect();
    if nodes.is_empty() {
        return "clicks nothing".to_owned();
    }
    let node = &nodes[dice.below(nodes.len())];
    let label = node.accesskit_node().label().unwrap_or_default();
    if asks(&label) {
        return "clicks no dialog of the desktop".to_owned();
    }
    let modifiers = *dice.choose(&[Modifiers::NONE, Modifiers::NONE, Modifiers::SHIFT, Modifiers::COMMAND]);
    let button = *dice.choose(&[
        PointerButton::Primary,
        PointerButton::Primary,
        PointerButton::Primary,
        PointerButton::Secondary,
    ]);
    node.click_button_modifiers(button, modifiers);
    format!("clicks {:?} {label:?} with {button:?} {modifiers:?}", node.accesskit_node().role())
}

fn type_odd(window: &mut Window, dice: &mut ActionRng) -> String {
    let long = "9".repeat(5_000);
    let text = if dice.below(40) == 0 { &long } else { *dice.choose(&FIELD_INPUTS) };
    let field = {
        let fields: Vec<_> = window
            .root()
            .children_recursive()
            .filter(|node| node.accesskit_node().role() == Role::TextInput)
            .collect();
        if fields.is_empty() {
            return "types nowhere".to_owned();
        }
        let field = &fields[dice.below(fields.len())];
        field.focus();
        field.accesskit_node().label().unwrap_or_default()
    };
    window.run_steps(1);
    window.key_press_modifiers(Modifiers::COMMAND, egui::Key::A);
    window.event(egui::Event::Text(text.to_owned()));
    if dice.below(2) == 0 {
        window.key_press(*dice.choose(&[egui::Key::Enter, egui::Key::Escape, egui::Key::Tab]));
    }
    format!("types {:?} into {field:?}", text.chars().take(40).collect::<String>())
}

fn drag(window: &mut Window, dice: &mut ActionRng, size: egui::Vec2) -> String {
    let (from, to) = (dice.position(size), dice.position(size));
    let modifiers = *dice.choose(&[Modifiers::NONE, Modifiers::SHIFT, Modifiers::COMMAND, Modifiers::ALT]);
    if dice.below(4) == 0 {
        window.hover_at(from);
        let delta = vec2(0.0, dice.below(400) as f32 - 200.0);
        let phase = egui::TouchPhase::Move;
        window.event_modifiers(
            egui::Event::MouseWheel {
                source: egui::MouseWheelSource::Wheel,
                unit: egui::MouseWheelUnit::Point,
                delta,
                phase,
                modifiers,
            },
            modifiers,
        );
        return format!("scrolls {delta} at {from}");
    }
    let button = *dice.choose(&[
        PointerButton::Primary,
        PointerButton::Primary,
        PointerButton::Secondary,
        PointerButton::Middle,
    ]);
    let pressed = |pos: Pos2, pressed: bool| egui::Event::PointerButton { pos, button, pressed, modifiers };
    window.hover_at(from);
    window.event_modifiers(pressed(from, true), modifiers);
    window.step();
    for step in 1..=dice.below(4) {
        window.hover_at(from + (to - from) * (step as f32 / 4.0));
        window.step();
    }
    window.hover_at(to);
    // Sometimes Escape cancels it, and sometimes the pointer leaves the window.
    match dice.below(8) {
        0 => window.key_press(egui::Key::Escape),
        1 => window.event(egui::Event::PointerGone),
        _ => {}
    }
    window.event_modifiers(pressed(to, false), modifiers);
    format!("drags from {from} to {to} with {button:?} {modifiers:?}")
}

fn draft(window: &mut Window, dice: &mut ActionRng, files: &[PathBuf]) -> String {
    let mut draft = window.state().state().draft.clone();
    let number = |dice: &mut ActionRng| dice.choose(&["1", "3", "8", "40", "900", "x"]).to_string();
    draft.generator = dice.choose(&SPECS).to_string();
    draft.data = *dice.choose(&[DataKind::Generate, DataKind::Generate, DataKind::File]);
    draft.path = dice.choose(files).display().to_string();
    draft.query_path = dice.choose(files).display().to_string();
    draft.queries = *dice.choose(&[
        QueryKind::Count,
        QueryKind::All,
        QueryKind::Rows,
        QueryKind::File,
        QueryKind::Coordinates,
        QueryKind::Selected,
    ]);
    (draft.k, draft.query_count, draft.query_rows, draft.query_place) = (
        number(dice),
        number(dice),
        dice.choose(&FIELD_INPUTS).to_string(),
        dice.choose(&FIELD_INPUTS).to_string(),
    );
    draft.engine = dice.choose(&ENGINES).parse().expect("an engine");
    (draft.metric, draft.order) = (*dice.choose(&Metric::ALL), *dice.choose(&[Order::File, Order::Shuffled]));
    (draft.exclude_self, draft.profile, draft.drop_nonfinite) =
        (dice.below(2) == 0, dice.below(2) == 0, dice.below(2) == 0);
    // Some runs take long enough to be cancelled.
    draft.repeats = dice.choose(&["1", "2", "3", "100000"]).to_string();
    let said = format!("{draft:?}");
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.state_mut().send(if dice.below(2) == 0 { Action::Load } else { Command::Run.into() });
    said
}

fn open(window: &mut Window, dice: &mut ActionRng, files: &[PathBuf]) -> String {
    let file = dice.choose(files).clone();
    match dice.below(3) {
        0 => {
            let dropped = [file, dice.choose(files).clone()];
            window.input_mut().dropped_files = dropped
                .iter()
                .map(|path| Arc::new(FakeDroppedFile(path.clone())) as egui::DroppedFileHandle)
                .collect();
            window.step();
            window.input_mut().dropped_files.clear();
            format!("drops {dropped:?}")
        }
        _ => send(window, Action::OpenPath(file)),
    }
}

fn export(window: &mut Window, dice: &mut ActionRng) -> String {
    let pane = *dice.choose(PaneKind::ALL);
    let kinds = [
        ExportKind::Data(pane),
        ExportKind::Picture(pane),
        ExportKind::AllNeighbors,
        ExportKind::Trace,
        ExportKind::Selection,
        ExportKind::Graph(*dice.choose(&GraphFormat::ALL)),
        ExportKind::Recording(*dice.choose(&SaveScope::ALL)),
        ExportKind::Session,
        ExportKind::Window,
    ];
    let kind = *dice.choose(&kinds);
    if dice.below(6) == 0 {
        return send(window, Action::CopyTable(pane));
    }
    window.state_mut().send(Action::StartExport(kind));
    window.run_steps(1);
    if let Some(dialog) = &mut window.state().session().export.clone() {
        let ending =
            dice.choose(&["csv", "tsv", "parquet", "npz", "ivecs", "svg", "json", "warpscope", "exe", ""]);
        if dice.below(2) == 0 {
            dialog.path = Path::new(&dialog.path).with_extension(ending).display().to_string();
        }
        dialog.points = dice.below(2) == 0;
        dialog.overwrite = dice.below(2) == 0;
        // The destination is chosen below.
        let name = Path::new(&dialog.path).extension().unwrap_or_default().to_string_lossy().into_owned();
        let place = std::env::current_dir().expect("a folder");
        dialog.path = place.join(format!("export-{}.{name}", dice.below(2))).display().to_string();
        window.state_mut().send(Action::SetExport(Some(dialog.clone())));
        window.run_steps(1);
        window.state_mut().send(Action::SaveExport);
    }
    format!("exports {kind:?}")
}

/// Requests the data that panes need.
fn request_data(window: &mut Window, dice: &mut ActionRng) -> String {
    let run = {
        let ids: Vec<_> = window.state().session().runs.runs().iter().map(|run| run.id).collect();
        if ids.is_empty() { 1 } else { *dice.choose(&ids) }
    };
    let row = dice.below(700) as u32;
    let modes = [SelectMode::Replace, SelectMode::Add, SelectMode::Remove, SelectMode::Toggle];
    let how = *dice.choose(&modes);
    let at = vec![dice.below(60) as f64 - 10.0; 1 + dice.below(3)];
    let actions: [Action; 24] = [
        Action::PickRow(row),
        Action::PickQuery(row as usize),
        LiveAction::Grab.into(),
        LiveAction::To(at.clone()).into(),
        LiveAction::Release.into(),
        LiveAction::Back.into(),
        LiveAction::Type(vec![(*dice.choose(&FIELD_INPUTS)).to_owned(); at.len()]).into(),
        LiveAction::Apply.into(),
        SelectAction::rows((0..row).step_by(3).collect(), how, "soak").into(),
        SelectAction::queries(vec![row, row / 2], how, "soak").into(),
        Action::SelectRank(Some(dice.below(50))),
        Action::SetProjection(ProjectionView {
            kind: *dice.choose(&[ProjectionKind::Axes, ProjectionKind::Pca, ProjectionKind::Random]),
            seed: 3,
        }),
        ColorAction::Set(ColorView {
            by: dice.choose(&ColorBy::all()).clone(),
            log: dice.below(2) == 0,
            ..ColorView::default()
        })
        .into(),
        ColorAction::Set(ColorView { by: ColorBy::Column("kind".to_owned()), ..ColorView::default() }).into(),
        ColorAction::Play(dice.below(2) == 0).into(),
        LessonAction::Open(dice.below(9) as u32).into(),
        LessonAction::Seek(dice.below(10_000)).into(),
        LessonAction::Record.into(),
        RunsAction::Show(run).into(),
        RunsAction::Choose(run).into(),
        RunsAction::Rename(Some((run, (*dice.choose(&FIELD_INPUTS)).to_owned()))).into(),
        RunsAction::TakeName.into(),
        RunsAction::Delete(run).into(),
        RunsAction::Undelete.into(),
    ];
    send(window, dice.choose(&actions).clone())
}

/// Cancels until no work remains.
fn end_all(window: &mut Window) -> Result<(), String> {
    let began = Instant::now();
    window.state_mut().send(ColorAction::Play(false));
    // Each cancels the work in the status line; there may be several.
    loop {
        window.state_mut().send(Command::Cancel);
        window.run_steps(2);
        let app = window.state();
        if !app.is_busy() && app.session().activity == Activity::Idle && app.tasks() == 0 {
            return Ok(());
        }
        if began.elapsed() > CANCEL_TIMEOUT {
            return Err(format!(
                "{:?} and {} tasks go on {} s after all was cancelled",
                app.session().activity,
                app.tasks(),
                CANCEL_TIMEOUT.as_secs()
            ));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Actions of a seed from one number to another, in one window.
fn run_actions(seed: u64, actions: std::ops::Range<u64>) {
    let place = tempfile::tempdir().expect("a folder");
    std::env::set_current_dir(place.path()).expect("it exists");
    let files = files(place.path());
    let (begin, last) = (actions.start, actions.end);
    let mut window = window(small);
    // As in a window: our own texts panic if a font lacks a character.
    window.ctx.set_missing_glyph_policy(egui::MissingGlyphPolicy::Tofu);
    let mut before: Vec<String> = Vec::new();
    for number in actions {
        let mut dice = ActionRng::new(seed, number);
        let done = catch_unwind(AssertUnwindSafe(|| {
            let said = perform_action(&mut window, &mut dice, &files);
            window.run_steps(1 + dice.below(3));
            keep_within(&mut window, place.path(), &mut dice);
            if number + 1 == last || dice.below(200) == 0 {
                end_all(&mut window).unwrap_or_else(|stuck| panic!("{stuck}"));
            }
            said
        }));
        let panics = std::mem::take(&mut *PANICS.lock().expect("an unpoisoned lock"));
        if !panics.is_empty() || done.is_err() {
            let first = begin;
            panic!(
                "action {number} of seed {seed} broke the window: {}\nscripts/soak {} {seed} {first} does \
                 it again\nbefore it: {before:#?}",
                panics.join("\n"),
                number + 1 - first
            );
        }
        before.push(done.unwrap_or_default());
        if before.len() > 12 {
            before.remove(0);
        }
    }
    drop(window);
    std::env::set_current_dir(std::env::temp_dir()).expect("it exists");
}

#[test]
fn random_actions_do_not_break_the_window() {
    let asked = std::env::var("WARPSCOPE_SOAK").unwrap_or_default();
    let numbers: Vec<u64> = asked
        .split(',')
        .filter(|number| !number.is_empty())
        .map(|number| number.parse().expect("ACTIONS[,SEED[,FIRST]]"))
        .collect();
    let lives: Vec<(u64, std::ops::Range<u64>)> = match numbers[..] {
        [] => vec![(1, 0..300), (2, 0..300)],
        [actions, ref rest @ ..] => {
            let (seed, first) = (rest.first().copied().unwrap_or(1), rest.get(1).copied().unwrap_or(0));
            (0..actions.div_ceil(ACTIONS_PER_WINDOW))
                .map(|life| {
                    (
                        seed,
                        first + life * ACTIONS_PER_WINDOW
                            ..first + actions.min((life + 1) * ACTIONS_PER_WINDOW),
                    )
                })
                .collect()
        }
    };
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let name = std::thread::current().name().unwrap_or("a thread").to_owned();
        if let Ok(mut panics) = PANICS.lock() {
            panics.push(format!("{name}: {info}"));
        }
        usual(info);
    }));
    let began = Instant::now();
    let mut after_first = None;
    for (seed, actions) in lives {
        run_actions(seed, actions.clone());
        let left = LIVE.load(Relaxed);
        let first = *after_first.get_or_insert(left);
        println!(
            "seed {seed}, actions {actions:?}: {} KiB left allocated, {} s",
            left >> 10,
            began.elapsed().as_secs()
        );
        assert!(
            left <= first + MAX_LEFTOVER_BYTES,
            "after actions {actions:?} of seed {seed}, {left} bytes are left, where {first} were after the \
             first window"
        );
    }
}
