//! The window in tests, driven by accessible names.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use egui_tiles::{Container, Linear, LinearDir, Tiles, Tree};
use warpscope::app::App;
use warpscope::app::state::{PaneKind, State, Workspace};
use warpscope::knn::EngineId;
use warpscope::run::EngineChoice;

pub type Window = Harness<'static, App>;

/// A window without a picture, with the panes of a search next to the views.
pub fn window(change: impl FnOnce(&mut State) + 'static) -> Window {
    Harness::builder().with_size([1280.0, 800.0]).build_eframe(move |cc| {
        let mut state = measuring();
        change(&mut state);
        App::with_state(cc, state).expect("a thread for the worker")
    })
}

/// A state for measuring, in which all panes can be reached and three are visible.
pub fn measuring() -> State {
    use PaneKind::{
        Analysis, Convergence, Engines, Log, Merges, Neighbors, Plane, Points, Runs, Second, Space, Timeline,
        Timings,
    };
    let mut tiles = Tiles::default();
    let mut tabs = |kinds: &[PaneKind]| {
        let panes = kinds.iter().map(|&kind| tiles.insert_pane(kind)).collect();
        tiles.insert_tab_tile(panes)
    };
    let views = tabs(&[Plane, Space, Second, Analysis, Engines, Points]);
    let (how, time) = (tabs(&[Convergence, Merges, Neighbors]), tabs(&[Timings, Timeline, Runs, Log]));
    let right = tiles.insert_vertical_tile(vec![how, time]);
    let mut linear = Linear::new(LinearDir::Horizontal, vec![views, right]);
    linear.shares.set_share(views, 1.25);
    linear.shares.set_share(right, 1.0);
    let root = tiles.insert_container(Container::Linear(linear));
    let mut state = State::default();
    state.switch_to(Workspace::Measure);
    state.tree = Tree::new(egui::Id::unique("panes"), root, tiles);
    state
}

/// A small problem with an immediate answer.
pub fn small(state: &mut State) {
    state.draft.generator = "uniform:n=500,d=2".to_owned();
    state.draft.query_count = "40".to_owned();
    state.draft.k = "8".to_owned();
    state.draft.repeats = "2".to_owned();
    state.draft.engine = EngineChoice::named(EngineId::new("lockstep"));
}

/// A file of random positions on the globe, in longitude and latitude.
pub fn places(folder: &std::path::Path, rows: u32) -> std::path::PathBuf {
    let path = folder.join("places.csv");
    let row = |at: u32| format!("{},{}", f64::from(at * 37 % 359) - 179.3, f64::from(at * 53 % 171) - 85.2);
    std::fs::write(&path, format!("lon,lat\n{}\n", (0..rows).map(row).collect::<Vec<_>>().join("\n")))
        .expect("a file");
    path
}

/// Timeout for any wait; generous, because a hang lasts for ever.
const PATIENCE: Duration = Duration::from_secs(240);

/// Steps until a condition holds.
#[track_caller]
pub fn until(window: &mut Window, what: &str, mut done: impl FnMut(&App) -> bool) {
    let started = Instant::now();
    loop {
        window.step();
        if done(window.state()) {
            // Two more frames draw the new state.
            window.run_steps(2);
            return;
        }
        assert!(
            started.elapsed() < PATIENCE,
            "timeout waiting for {what}; log: {:?}",
            window.state().session().log.entries()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
pub fn until_answered(window: &mut Window) {
    until(window, "an answer", |app| {
        let session = app.session();
        let counted = session.record.as_ref().is_none_or(|record| record.convergence.queries() == 0);
        session.answered.is_some()
            && !app.is_busy()
            && session.derived.is_some()
            && (counted || session.theory.is_some())
    });
}

/// Shows the open cloud without the query that opening it picked.
pub fn without_query(window: &mut Window) {
    until(window, "the first answer", |app| app.session().answered.is_some() && !app.is_busy());
    let cloud = window.state().session().cloud.clone().expect("a cloud");
    window.state_mut().show_loaded(cloud);
    window.run_steps(2);
}

/// Opens a collapsed section of a panel.
pub fn unfold(window: &mut Window, part: &str) {
    window.get_by_label(part).click();
    window.run_steps(20);
}

pub fn press(window: &mut Window, button: &str) {
    window.get_by_role_and_label(Role::Button, button).click();
    window.run_steps(3);
}

/// Presses a button, scrolling to it if necessary.
#[track_caller]
pub fn press_below(window: &mut Window, button: &str) {
    window.get_by_role_and_label(Role::Button, button).click_accesskit();
    window.run_steps(3);
}

/// Replaces a field's text.
pub fn fill(window: &mut Window, field: &str, text: &str) {
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.run_steps(2);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    window.run_steps(2);
    window.get_by_role_and_label(Role::TextInput, field).type_text(text);
    window.run_steps(3);
    assert_eq!(
        window.get_by_role_and_label(Role::TextInput, field).value().as_deref(),
        Some(text),
        "the field {field}"
    );
}
