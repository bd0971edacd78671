//! Live queries in the window: dragged, typed, and repeated when k changes.

use crate::driven::{Window, fill, press, small, unfold, until, until_answered, window, without_query};
use egui::accesskit::Role;
use egui::{Pos2, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::session::PickedPoint;
use warpscope::app::state::{PaneKind, State, single_layout};
use warpscope::app::{App, screen_position};
use warpscope::cloud::PointCloud;
use warpscope::knn::EngineId;
use warpscope::run::{EngineChoice, QuerySpec};

const MARK: &str = "Query, to be dragged";

/// A window with a finished run, and a query that is one of its rows.
fn answered(change: impl FnOnce(&mut State) + 'static) -> Window {
    let mut window = window(|state| {
        small(state);
        change(state);
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    window
}

fn mark(window: &Window) -> Pos2 {
    window.get_by_role_and_label(Role::Button, MARK).rect().center()
}

/// Drags the query's mark by an offset on screen, in a few steps.
fn drag(window: &mut Window, by: Vec2) {
    let from = mark(window);
    window.drag_at(from);
    window.step();
    for step in 1..=4 {
        window.hover_at(from + by * (step as f32 / 4.0));
        window.step();
    }
}

#[track_caller]
fn until_settled(window: &mut Window) {
    until(window, "an answer", |app| {
        app.session().answered.is_some()
            && !app.is_busy()
            && app.session().theory.is_some()
            && !app.session().theory_lags
    });
}

/// Rows of the k nearest to coordinates of the file, by brute force.
fn nearest(cloud: &PointCloud, at: &[f64], k: usize) -> Vec<u32> {
    let far = |row: usize| {
        at.iter().enumerate().map(|(axis, at)| (cloud.coordinate(row, axis) - at).powi(2)).sum::<f64>()
    };
    let mut all: Vec<(f64, u32)> = (0..cloud.len()).map(|row| (far(row), row as u32)).collect();
    all.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
    all.iter().take(k).map(|&(_, row)| row).collect()
}

/// The queried position, after checking its answer by brute force.
#[track_caller]
fn assert_at_place(app: &App) -> Vec<f64> {
    let session = app.session();
    let answered = session.answered.as_ref().expect("an answer");
    let QuerySpec::At(at) = &answered.record.spec.queries else {
        panic!("{:?} is not a position", answered.record.spec.queries)
    };
    assert_eq!(session.picked, Some(PickedPoint::Coordinates));
    let (place, row) = session.picked_point().expect("the place");
    assert_eq!(
        (0..place.dims()).map(|axis| place.coordinate(row, axis)).collect::<Vec<_>>(),
        *at,
        "the answer is for another query"
    );
    let found: Vec<u32> = answered.neighbors().map(|(row, _)| row).collect();
    assert_eq!(found, nearest(&answered.record.cloud, at, answered.record.spec.k));
    at.clone()
}

#[test]
fn all_panes_follow_a_dragged_query() {
    let mut window = answered(|_| ());
    let before = window.state().session().answered.clone().expect("an answer");
    // Drags towards the middle, so that the mark stays visible.
    let middle = window.get_by_role_and_label(Role::Canvas, "Plane of points").rect().center();
    let by = (middle - mark(&window)).normalized() * 80.0;
    drag(&mut window, by);
    // The result of the last movement is shown one frame later.
    window.step();
    let to = mark(&window);
    until(&mut window, "an answer", |app| !app.is_busy());
    // The query is still held: the answer arrived before the release.
    assert!(window.state().session().live.is_held());
    let at = assert_at_place(window.state());
    let after = window.state().session().answered.clone().expect("an answer");
    assert!(!before.neighbors().eq(after.neighbors()), "the neighbours are of the old position");
    assert!(
        !after.record.measured.is_empty() && after.record.convergence.queries() == 1,
        "with counters and convergence"
    );
    window.drop_at(to);
    window.step();
    until_settled(&mut window);
    assert!(!window.state().session().live.is_held());
    assert_eq!(assert_at_place(window.state()), at, "the query moved after its release");
    window.get_by_label("not a row of the cloud");
    assert!((mark(&window) - to).length() < 2.0, "the mark is not at the release position");
    // The run is still available for comparison.
    assert!(window.state().session().compared_record().is_some());
}

#[test]
fn escape_restores_the_old_query() {
    let mut window = answered(|_| ());
    let (picked, before) =
        (window.state().session().picked, window.state().session().answered.clone().expect("an answer"));
    drag(&mut window, vec2(60.0, 30.0));
    assert_eq!(window.state().session().picked, Some(PickedPoint::Coordinates));
    window.key_press(egui::Key::Escape);
    window.run_steps(2);
    let back = |window: &Window| {
        let session = window.state().session();
        assert_eq!(session.picked, picked);
        assert!(session.answered.as_ref().is_some_and(|answered| answered.query == before.query
            && std::sync::Arc::ptr_eq(&answered.record, &before.record)));
    };
    back(&window);
    // The pointer is still pressed and moves: the query does not follow.
    let at = mark(&window);
    window.hover_at(at + vec2(30.0, 30.0));
    window.run_steps(3);
    until(&mut window, "the end of asking", |app| !app.is_busy());
    back(&window);
    window.drop_at(at);
    window.run_steps(2);
    back(&window);
}

#[test]
fn arrow_keys_move_the_query() {
    let mut window = answered(|_| ());
    let before = mark(&window);
    window.get_by_role_and_label(Role::Button, MARK).focus();
    window.run_steps(2);
    window.key_press(egui::Key::ArrowRight);
    window.run_steps(2);
    window.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::ArrowUp);
    window.run_steps(2);
    until_settled(&mut window);
    let moved = mark(&window) - before;
    assert!((moved - vec2(8.0, -1.0)).length() < 0.5, "{moved:?}");
    assert_at_place(window.state());
    window.key_press(egui::Key::Escape);
    window.run_steps(2);
    assert!(
        matches!(window.state().session().picked, Some(PickedPoint::Row(_))),
        "{:?}",
        window.state().session().picked
    );
}

#[test]
fn a_position_can_be_typed() {
    let mut window = answered(|_| ());
    fill(&mut window, "x", "0.25");
    window.get_by_label("Press Enter to search from there.");
    assert!(
        matches!(window.state().session().picked, Some(PickedPoint::Row(_))),
        "the query moved before Enter"
    );
    fill(&mut window, "y", "north");
    window.key_press(egui::Key::Enter);
    window.run_steps(3);
    window.get_by_label("“north” is not a number such as 51.507.");
    assert!(matches!(window.state().session().picked, Some(PickedPoint::Row(_))));
    fill(&mut window, "y", "-3.5");
    window.key_press(egui::Key::Enter);
    window.run_steps(2);
    until_settled(&mut window);
    assert_eq!(assert_at_place(window.state()), [0.25, -3.5], "also far outside the cloud");
    assert!(window.query_by_label("“north” is not a number such as 51.507.").is_none());
}

#[test]
fn zoom_to_query_works_before_any_run() {
    let mut window = window(small);
    press(&mut window, "Generate");
    until(&mut window, "a cloud", |app| app.session().cloud.is_some() && !app.is_busy());
    window.state_mut().send(Action::PickRow(40));
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    assert!(window.state().session().record.is_none() && window.state().state().plane.window.is_none());
    press(&mut window, "Zoom to the query");
    window.run_steps(2);
    assert!(window.state().state().plane.window.is_some());
}

#[test]
fn k_and_metric_changes_apply_immediately() {
    let mut window = answered(|_| ());
    unfold(&mut window, "Search details");
    for k in ["5", "17"] {
        fill(&mut window, "k", k);
        until(&mut window, "an answer", |app| {
            !app.is_busy()
                && app
                    .session()
                    .answered
                    .as_ref()
                    .is_some_and(|answered| answered.record.spec.k.to_string() == k)
        });
        assert_eq!(
            window.state().session().answered.as_ref().map(|answered| answered.neighbors().len().to_string()),
            Some(k.to_owned())
        );
        window.get_by_label(&format!("k = {k}, l2, lockstep"));
    }
    // With the run's k, the run's own answer is shown again.
    fill(&mut window, "k", "8");
    window.run_steps(2);
    let session = window.state().session();
    let of_run = session
        .answered
        .as_ref()
        .zip(session.record.as_ref())
        .is_some_and(|(answered, record)| std::sync::Arc::ptr_eq(&answered.record, record));
    assert!(of_run);
    press(&mut window, "Angular");
    until(&mut window, "an answer", |app| {
        !app.is_busy()
            && app
                .session()
                .answered
                .as_ref()
                .is_some_and(|answered| answered.record.spec.metric.name() == "angular")
    });
    press(&mut window, "Globe");
    until(&mut window, "an answer", |app| {
        !app.is_busy()
            && app
                .session()
                .answered
                .as_ref()
                .is_some_and(|answered| answered.record.spec.metric.name() == "haversine")
    });
    window.get_by_label("k = 8, haversine, lockstep");
    assert!(window.query_all_by_label_contains(" km").next().is_some(), "the k-th distance");
    // Invalid input does not start a search.
    fill(&mut window, "k", "none");
    window.run_steps(3);
    assert!(!window.state().is_busy());
    assert_eq!(window.state().session().answered.as_ref().map(|answered| answered.record.spec.k), Some(8));
}

#[test]
fn the_status_line_notes_globe_or_plane_distances() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("places.csv");
    let rows: String = (0..40)
        .map(|at| format!("{},{}\n", f64::from(at * 37 % 90) - 45.0, f64::from(at * 53 % 170) - 85.5))
        .collect();
    std::fs::write(&path, format!("latitude,longitude\n{rows}")).expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(path));
    until(&mut window, "the file", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 40)
            && !app.is_busy()
            && app.tasks() == 0
    });
    let said = |window: &Window| {
        window.state().session().log.note().map_or_else(String::new, |note| note.text.clone())
    };
    assert!(said(&window).contains("on the globe"), "{}", said(&window));
    press(&mut window, "L2");
    assert!(said(&window).contains("as a plane, in degrees"), "{}", said(&window));
    press(&mut window, "Globe");
    assert!(said(&window).contains("in km on the globe"), "{}", said(&window));
    press(&mut window, "Angular");
    assert_eq!(said(&window), "");
}

#[test]
fn the_query_tooltip_closes_when_the_pointer_leaves() {
    let mut window = answered(|_| {});
    let at = mark(&window);
    window.hover_at(at);
    until(&mut window, "what it is", |app| app.session().hovered.is_some());
    window.hover_at(Pos2::new(100.0, 10.0));
    until(&mut window, "nothing", |app| app.session().hovered.is_none());
}

#[test]
fn dragged_queries_snap_to_rows_in_3d() {
    let mut window = answered(|state| state.draft.generator = "uniform:n=400,d=3".to_owned());
    let before = window.state().session().picked;
    drag(&mut window, vec2(90.0, -60.0));
    let to = mark(&window);
    window.drop_at(to);
    window.run_steps(2);
    until_settled(&mut window);
    let session = window.state().session();
    let Some(PickedPoint::Row(row)) = session.picked else { panic!("{:?} is not a row", session.picked) };
    assert_ne!(session.picked, before);
    let answered = session.answered.as_ref().expect("an answer");
    assert_eq!(answered.row(), row);
    let at: Vec<f64> = (0..3).map(|axis| answered.record.cloud.coordinate(row as usize, axis)).collect();
    assert_eq!(
        answered.neighbors().map(|(row, _)| row).collect::<Vec<_>>(),
        nearest(&answered.record.cloud, &at, 8)
    );

    // A position can be typed in Space, too.
    for (axis, value) in [("x", "0.5"), ("y", "0.25"), ("z", "0.75")] {
        fill(&mut window, axis, value);
    }
    window.key_press(egui::Key::Enter);
    window.run_steps(2);
    until_settled(&mut window);
    assert_eq!(assert_at_place(window.state()), [0.5, 0.25, 0.75]);
    window.state_mut().send(Command::Show(PaneKind::Space));
    window.run_steps(3);
    assert_at_place(window.state());
}

#[test]
fn a_drag_is_a_single_undo_step() {
    for generator in ["uniform:n=400,d=2", "uniform:n=400,d=3"] {
        let mut window = answered(move |state| state.draft.generator = generator.to_owned());
        let before = window.state().session().picked;
        for by in [vec2(90.0, -60.0), vec2(-70.0, 80.0)] {
            drag(&mut window, by);
            let to = mark(&window);
            window.drop_at(to);
            window.run_steps(2);
        }
        until_settled(&mut window);
        let moved = window
            .state()
            .session()
            .picked_point()
            .map(|(cloud, row)| (cloud.coordinate(row, 0), cloud.coordinate(row, 1)));
        for steps_left in [1, 0] {
            window.state_mut().send(Command::Undo);
            window.run_steps(2);
            assert_eq!(
                window.state().session().picked == before,
                steps_left == 0,
                "{generator}: two drags, two steps"
            );
        }
        // A drag cancelled with Escape is not an undo step.
        drag(&mut window, vec2(50.0, 50.0));
        window.key_press(egui::Key::Escape);
        window.run_steps(2);
        let at = mark(&window);
        window.drop_at(at);
        window.run_steps(2);
        assert_eq!(window.state().session().picked, before);
        window.state_mut().send(Command::Undo);
        window.run_steps(2);
        assert_eq!(window.state().session().picked, before, "{generator}: an undo step remains");
        drag(&mut window, vec2(50.0, 50.0));
        let at = mark(&window);
        window.drop_at(at);
        window.run_steps(2);
        assert!(moved.is_some() && window.state().session().picked != before);
    }
}

#[test]
fn undoing_the_first_query_clears_pending_input() {
    let mut window = window(small);
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| app.session().cloud.is_some());
    without_query(&mut window);
    window.state_mut().send(Action::PickRow(7));
    window.run_steps(2);
    until_settled(&mut window);
    fill(&mut window, "x", "0.25");
    window.state_mut().send(Command::Undo);
    window.run_steps(2);
    let session = window.state().session();
    assert_eq!((session.picked, session.answered.is_none(), session.live.is_waiting()), (None, true, false));
    assert!(window.query_by_label("Press Enter to search from there.").is_none(), "typed text remains");
    window.state_mut().send(Command::Redo);
    window.run_steps(2);
    until_settled(&mut window);
    assert_eq!(window.state().session().picked, Some(PickedPoint::Row(7)));
}

#[test]
fn large_clouds_are_not_searched_on_the_ui_thread() {
    let mut window = answered(|state| {
        state.draft.generator = "uniform:n=150000,d=3".to_owned();
        state.draft.engine = EngineChoice::named(EngineId::new("kdtree"));
    });
    let from = mark(&window);
    let canvas = window.get_by_role_and_label(Role::Canvas, "Plane of points").rect();
    let to = from + (canvas.center() - from).normalized() * 70.0;
    drag(&mut window, to - from);
    window.drop_at(to);
    window.step();
    // The release position counts, even if it is processed late.
    until(&mut window, "the end of the drag", |app| !app.session().live.is_held() && !app.is_busy());
    let app = window.state();
    let cloud = app.session().cloud.as_ref().expect("a cloud");
    let far = |row: u32| {
        screen_position(app, PaneKind::Plane, canvas, row as usize).expect("in sight").distance(to)
    };
    let nearest = (0..cloud.len() as u32).min_by(|&a, &b| far(a).total_cmp(&far(b))).expect("rows");
    let Some(PickedPoint::Row(row)) = app.session().picked else { panic!("a row") };
    assert!(
        far(row) <= far(nearest) + 1e-3,
        "row {row} is {} away, row {nearest} {}",
        far(row),
        far(nearest)
    );
    assert_eq!(app.session().answered.as_ref().map(|answered| answered.row()), Some(row), "no answer");
}

#[test]
fn a_live_query_can_be_cancelled() {
    let mut window = window(|state| {
        small(state);
        state.draft.generator = "uniform:n=300000,d=8".to_owned();
        state.tree = single_layout(PaneKind::Neighbors);
    });
    press(&mut window, "Generate");
    // Cancel would stop the preparation of a view if it is still running.
    until(&mut window, "the cloud and its view", |app| {
        app.session().cloud.is_some() && !app.is_busy() && app.tasks() == 0
    });
    // Both commands are sent in one frame, since even a fast answer is processed in the next.
    window.state_mut().send(Action::PickRow(7));
    window.state_mut().send(Command::Cancel);
    window.run_steps(2);
    assert!(!window.state().is_busy(), "the live query was not cancelled");
    window.get_by_label("Cancelled");
    window.get_by_label("Cancelled before it was answered.");
    assert_eq!(window.state().session().picked, Some(PickedPoint::Row(7)), "the query changed");
    // The same query is answered when it is repeated.
    window.state_mut().send(Action::PickRow(7));
    until(&mut window, "an answer", |app| app.session().answered.is_some());
}

#[test]
fn live_queries_do_not_wait_for_a_run() {
    let mut window = answered(|_| ());
    // Starts a run of minutes, which is cancelled at the end.
    let mut draft = window.state().state().draft.clone();
    (draft.repeats, draft.query_count) = ("10000".to_owned(), "500".to_owned());
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.state_mut().send(Command::Run);
    window.run_steps(2);
    assert!(window.state().is_busy());
    drag(&mut window, vec2(50.0, 50.0));
    let to = mark(&window);
    window.drop_at(to);
    until(&mut window, "an answer beside the run", |app| {
        app.session().picked == Some(PickedPoint::Coordinates)
            && app
                .session()
                .answered
                .as_ref()
                .is_some_and(|answered| matches!(answered.record.spec.queries, QuerySpec::At(_)))
    });
    assert!(window.state().session().activity.is_busy(), "the run ended");
    window.state_mut().send(Command::Cancel);
    until(&mut window, "the end", |app| !app.is_busy());
    assert_eq!(window.state().session().picked, Some(PickedPoint::Coordinates));
}

#[test]
fn a_run_does_not_replace_a_typed_position() {
    let mut window = answered(|_| ());
    drag(&mut window, vec2(40.0, -20.0));
    let to = mark(&window);
    window.drop_at(to);
    until_settled(&mut window);
    let at = assert_at_place(window.state());
    press(&mut window, "Run");
    until_answered(&mut window);
    assert_eq!(assert_at_place(window.state()), at);
    // The position does not exist in another cloud.
    fill(&mut window, "Spec", "uniform:n=300,d=2");
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 300)
    });
    assert!(
        matches!(window.state().session().picked, Some(PickedPoint::Row(_))),
        "the query picked on opening"
    );
    assert!(window.state().session().live.place().is_none());
}
