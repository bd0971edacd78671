//! The walk through the picked query's search of an index: boxes, scrubber and sentence in the window.

use std::sync::Arc;

use crate::driven::{Window, places, press, until, window};
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command, WalkAction};
use warpscope::app::session::{PickedPoint, WalkState, Walkthrough};
use warpscope::app::state::{PaneKind, PlaneView, PlaneWindow, State, WalkView, single_layout};
use warpscope::app::tokens::Theme;
use warpscope::app::{App, QueryKind, check_adapter};
use warpscope::knn::{DeviceId, EngineId, Metric};
use warpscope::run::{EngineChoice, RunRecord};

/// A cloud of clusters, searched through a tree on the CPU.
fn search_by_tree(state: &mut State) {
    state.draft.generator = "gaussian-mixture:n=3000,d=2,clusters=5".to_owned();
    state.draft.queries = QueryKind::Count;
    state.draft.query_count = "20".to_owned();
    state.draft.k = "12".to_owned();
    state.draft.repeats = "1".to_owned();
    state.draft.engine = EngineChoice::named(EngineId::new("bvh"));
    state.draft.device = Some(DeviceId::Cpu);
    state.tree = single_layout(PaneKind::Plane);
}

fn run(window: &mut Window) {
    window.state_mut().send(Command::Run);
    until(window, "a run", |app| {
        app.session().record.is_some() && app.session().answered.is_some() && !app.is_busy()
    });
}

#[track_caller]
fn walkthrough(window: &mut Window) -> Walkthrough {
    until(window, "a walk", |app| match (&app.session().walked, &app.session().answered) {
        (WalkState::Ready(walked), Some(answered)) => walked.answered == *answered,
        _ => false,
    });
    let WalkState::Ready(walked) = &window.state().session().walked else { panic!("it exists") };
    walked.clone()
}

fn step_of(window: &Window) -> usize {
    let WalkState::Ready(walked) = &window.state().session().walked else { panic!("no walk") };
    walked.at(window.state().state().walk)
}

#[track_caller]
fn unavailable_reason(window: &mut Window) -> String {
    until(window, "a reason", |app| matches!(app.session().walked, WalkState::Missing(_)));
    let WalkState::Missing(why) = &window.state().session().walked else { panic!("a missing walk") };
    window.get_by_label(why);
    why.clone()
}

#[test]
fn a_search_can_be_stepped_through() {
    let mut window = window(search_by_tree);
    run(&mut window);
    assert!(
        matches!(window.state().session().walked, WalkState::Hidden)
            && window.query_by_label_contains("Leaf").is_none()
    );
    window.get_by_role_and_label(Role::CheckBox, "Walk").click();
    window.run_steps(2);
    let walk = walkthrough(&mut window);
    let answered = window.state().session().answered.clone().expect("an answer");
    let totals = walk.step(walk.last()).totals;
    assert_eq!(
        (answered.counted("leaves"), answered.counted("pruned")),
        (Some(totals.leaves), Some(totals.pruned))
    );
    // The walk is shown at its last step; buttons and keys step backwards and forwards.
    assert_eq!(step_of(&window), walk.last());
    window.get_by_label(&walk.sentence(walk.last()));
    press(&mut window, "Previous step of the walk");
    assert_eq!(step_of(&window), walk.last() - 1);
    window.get_by_label(&walk.sentence(walk.last() - 1));
    window.key_press(egui::Key::Comma);
    window.run_steps(3);
    assert_eq!(step_of(&window), walk.last() - 2);
    window.key_press(egui::Key::Period);
    window.run_steps(3);
    press(&mut window, "Next step of the walk");
    assert_eq!((step_of(&window), window.state().state().walk.at), (walk.last(), None));
    // Playing starts from the beginning and stops at the end.
    press(&mut window, "Play or pause the walk");
    assert!(step_of(&window) < 3 && window.state().session().walking.is_some());
    until(&mut window, "the end", |app| app.session().walking.is_none());
    assert_eq!(step_of(&window), walk.last());
    window.get_by_role_and_label(Role::CheckBox, "Walk").click();
    window.run_steps(3);
    assert!(matches!(window.state().session().walked, WalkState::Hidden));
}

/// 1280 × 800 pixels at a scale of 200 %: a low pane.
#[test]
fn walk_sentences_fit_two_lines_at_a_large_scale() {
    let mut window: Window = Harness::builder().with_size([640.0, 400.0]).build_eframe(|cc| {
        let mut state = State::default();
        search_by_tree(&mut state);
        App::with_state(cc, state).expect("a thread for the worker")
    });
    run(&mut window);
    window.state_mut().send(Command::ShowWalk);
    let walk = walkthrough(&mut window);
    let mut most = 0.0f32;
    let mut canvas = Vec::new();
    for step in 0..=walk.last() {
        window.state_mut().send(WalkAction::Seek(step));
        window.run_steps(2);
        most = most.max(window.get_by_label(&walk.sentence(step)).rect().height());
        canvas.push(window.get_by_role_and_label(Role::Canvas, "Plane of points").rect());
    }
    assert!((24.0..40.0).contains(&most), "{most}: more or less than two lines");
    assert!(
        canvas.iter().all(|rect| *rect == canvas[0] && rect.height() > 100.0),
        "the picture does not jump: {canvas:?}"
    );
}

#[test]
fn a_new_query_preserves_the_walk_step() {
    let mut window = window(search_by_tree);
    run(&mut window);
    window.state_mut().send(Command::ShowWalk);
    let first = walkthrough(&mut window);
    window.key_press(egui::Key::Comma);
    window.key_press(egui::Key::Comma);
    window.run_steps(3);
    let step = step_of(&window);
    window.state_mut().send(Command::NextQuery);
    let second = walkthrough(&mut window);
    assert!(!Arc::ptr_eq(&first.walk, &second.walk) && first.walk != second.walk);
    assert_eq!(step_of(&window), step.min(second.last()));
    // A position that is not a row is searched at once, with a walk.
    window.get_by_role_and_label(Role::Button, "Query, to be dragged").focus();
    window.run_steps(2);
    window.key_press(egui::Key::ArrowRight);
    until(&mut window, "the moved query", |app| {
        app.session().picked == Some(PickedPoint::Coordinates) && !app.is_busy()
    });
    let moved = walkthrough(&mut window);
    assert_eq!(moved.answered.record.engine, EngineId::new("bvh"));
    assert_eq!(moved.answered.record.query_rows, [0]);
    // The engine and the share of the cloud visited are shown with the answer.
    let distance_evals = moved.step(moved.last()).totals.distance_evals;
    window.get_by_label(&format!("bvh computed distances to {distance_evals} of 3,000 points."));
}

#[test]
fn searches_without_a_walk_explain_why() {
    let mut window = window(|state| {
        search_by_tree(state);
        state.draft.engine = EngineChoice::named(EngineId::new("lockstep"));
    });
    run(&mut window);
    window.state_mut().send(Command::ShowWalk);
    assert!(unavailable_reason(&mut window).starts_with("lockstep compared the query with every point"));
    let mut draft = window.state().state().draft.clone();
    (draft.generator, draft.engine) =
        ("uniform:n=500,d=5".to_owned(), EngineChoice::named(EngineId::new("bvh")));
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.run_steps(2);
    run(&mut window);
    until(
        &mut window,
        "5 dimensions",
        |app| matches!(&app.session().walked, WalkState::Missing(why) if why.contains("only in 2 or 3 dimensions")),
    );
    assert!(unavailable_reason(&mut window).contains("only in 2 or 3 dimensions"));
}

/// On the globe and without the query itself: another engine answers the same search, and its walk uses
/// kilometres and the requested k.
#[test]
fn the_walk_preserves_the_search_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = places(folder.path(), 3000);
    let mut window = window(search_by_tree);
    window.state_mut().send(Action::OpenPath(path));
    until(&mut window, "the places", |app| {
        !app.is_busy()
            && app.session().cloud.as_ref().is_some_and(|cloud| {
                cloud.dims() == 2 && cloud.len() == 3000 && cloud.axes()[0].name == "lon"
            })
    });
    let mut draft = window.state().state().draft.clone();
    (draft.k, draft.exclude_self, draft.engine) =
        ("12".to_owned(), true, EngineChoice::named(EngineId::new("lockstep")));
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.run_steps(2);
    run(&mut window);
    window.state_mut().send(Command::ShowWalk);
    assert!(unavailable_reason(&mut window).starts_with("lockstep compared the query with every point"));
    let answer = |window: &Window| window.state().session().answered.clone().expect("an answer");
    let before: Vec<(u32, f32)> = answer(&window).neighbors().collect();
    press(&mut window, "Answer with bvh");
    let walk = walkthrough(&mut window);
    let spec = answer(&window).record.spec.clone();
    assert_eq!((spec.metric, spec.k, spec.exclude_self), (Metric::Haversine, 12, true));
    assert_eq!(answer(&window).neighbors().collect::<Vec<_>>(), before);
    let end = walk.sentence(walk.last());
    let kilometres = warpscope::text::digits(spec.metric.distance(before[11].1), 3);
    assert!(end.starts_with(&format!("Done: the 12th neighbour is at {kilometres} km.")), "{end}");
    assert!((0..=walk.last()).all(|at| !walk.sentence(at).contains("13th")));
    window.get_by_label(&end);
    assert!(window.query_by_label_contains("enclose unit vectors").is_none(), "they are drawn on the map");
}

/// A run that is always the same.
fn record(engine: &'static str, generator: &'static str) -> Arc<RunRecord> {
    let mut window = window(move |state| {
        search_by_tree(state);
        state.draft.generator = generator.to_owned();
        state.draft.engine = EngineChoice::named(EngineId::new(engine));
    });
    run(&mut window);
    window.state().session().record.clone().expect("a run")
}

/// Draws a walk in a pane alone, as a snapshot of this name; `near` zooms in to the query.
fn picture(
    name: &str,
    record: &Arc<RunRecord>,
    pane: PaneKind,
    look: Theme,
    near: bool,
) -> Result<(), String> {
    let mut window: Window = Harness::builder().with_size([640.0, 560.0]).wgpu().build_eframe(move |cc| {
        let mut state = State {
            look,
            tree: single_layout(pane),
            show_problem: false,
            show_selection: false,
            hints: false,
            ..State::default()
        };
        (state.plane.point_size, state.space.point_size) = (4.0, 4.0);
        state.walk = WalkView { shown: true, at: Some(3) };
        App::with_state(cc, state).expect("a thread for the worker")
    });
    window.state_mut().show_record(Arc::clone(record));
    walkthrough(&mut window);
    if near {
        let (cloud, row) = window.state().session().picked_point().expect("a query");
        let center = [cloud.point(row)[0], cloud.point(row)[1]].map(f64::from);
        let plane = PlaneView {
            window: Some(PlaneWindow { center, units_per_point: 1e-4 }),
            ..window.state().state().plane
        };
        window.state_mut().send(Action::SetPlane(plane));
    }
    window.run_steps(4);
    until(&mut window, "all points", App::is_drawn);
    // The status line depends on the machine.
    window.mask(egui::Rect::from_min_max(egui::pos2(0.0, 530.0), egui::pos2(640.0, 560.0)));
    let options = egui_kittest::SnapshotOptions::new().max_failed_pixels(30);
    window.try_snapshot_options(name, &options).map_err(|error| error.to_string())
}

#[test]
fn walks_match_their_snapshots() {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    let plane = "gaussian-mixture:n=3000,d=2,clusters=5";
    let (boxes, spheres) = (record("bvh", plane), record("step", plane));
    let in_space = record("step", "gaussian-mixture:n=3000,d=3,clusters=5");
    let failures = [
        picture("plane-walk-light", &boxes, PaneKind::Plane, Theme::Light, true),
        picture("plane-walk-dark", &boxes, PaneKind::Plane, Theme::Dark, true),
        picture("plane-walk-high-contrast", &boxes, PaneKind::Plane, Theme::HighContrast, true),
        picture("plane-walk-clusters-light", &spheres, PaneKind::Plane, Theme::Light, false),
        picture("plane-walk-clusters-dark", &spheres, PaneKind::Plane, Theme::Dark, false),
        picture("space-walk-clusters-light", &in_space, PaneKind::Space, Theme::Light, false),
    ];
    let failures: Vec<String> = failures.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
