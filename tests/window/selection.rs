//! Picking, selecting and undoing in the window with a pointer, at two pixel densities.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::driven::{Window, fill, measuring, press, small, until, until_answered, without_query};
use egui::accesskit::Role;
use egui::{Modifiers, Pos2, Rect, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::selection::{SelectAction, SelectMode};
use warpscope::app::session::PickedPoint;
use warpscope::app::state::{PaneKind, State, single_layout};
use warpscope::app::{App, DataKind, QueryKind, screen_position};
use warpscope::knn::EngineId;
use warpscope::run::EngineChoice;

const SHARPNESSES: [f32; 2] = [1.0, 2.0];
const CTRL: Modifiers = Modifiers::COMMAND;

/// A window without a picture, with a number of pixels per point.
fn window(pixels_per_point: f32, change: impl FnOnce(&mut State) + 'static) -> Window {
    Harness::builder()
        .with_size([1280.0, 800.0])
        .with_pixels_per_point(pixels_per_point)
        .with_step_dt(1.0 / 60.0)
        .build_eframe(move |cc| {
            let mut state = measuring();
            small(&mut state);
            change(&mut state);
            App::with_state(cc, state).expect("a thread for the worker")
        })
}

fn loaded(pixels_per_point: f32, change: impl FnOnce(&mut State) + 'static) -> Window {
    let mut window = window(pixels_per_point, change);
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| app.session().cloud.is_some());
    without_query(&mut window);
    window
}

fn canvas(window: &Window, pane: PaneKind) -> Rect {
    window.get_by_role_and_label(Role::Canvas, &format!("{} of points", pane.title())).rect()
}

/// A row's position on screen.
fn position_of(window: &Window, pane: PaneKind, row: u32) -> Pos2 {
    screen_position(window.state(), pane, canvas(window, pane), row as usize).expect("in sight")
}

/// The rows whose screen position satisfies a condition.
fn rows_where(window: &Window, pane: PaneKind, inside: impl Fn(Pos2) -> bool) -> BTreeSet<u32> {
    let n = window.state().session().cloud.as_ref().expect("a cloud").len() as u32;
    (0..n).filter(|&row| inside(position_of(window, pane, row))).collect()
}

fn selected(window: &Window) -> BTreeSet<u32> {
    window.state().session().selection.rows().iter().copied().collect()
}

fn button(window: &mut Window, pos: Pos2, pressed: bool, modifiers: Modifiers) {
    window.event(egui::Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers,
    });
    window.run_steps(1);
}

fn drag(window: &mut Window, way: &[Pos2], modifiers: Modifiers) {
    window.event(egui::Event::ModifiersChanged(modifiers));
    window.hover_at(way[0]);
    window.run_steps(1);
    button(window, way[0], true, modifiers);
    for &pos in &way[1..] {
        window.hover_at(pos);
        window.run_steps(1);
    }
    button(window, way[way.len() - 1], false, modifiers);
    window.event(egui::Event::ModifiersChanged(Modifiers::NONE));
    window.run_steps(2);
}

fn click(window: &mut Window, pos: Pos2, modifiers: Modifiers) {
    window.event(egui::Event::ModifiersChanged(modifiers));
    window.hover_at(pos);
    window.run_steps(1);
    button(window, pos, true, modifiers);
    button(window, pos, false, modifiers);
    window.event(egui::Event::ModifiersChanged(Modifiers::NONE));
    // Long enough that the next click is not part of a double click.
    window.run_steps(40);
}

fn double_click(window: &mut Window, pos: Pos2) {
    window.hover_at(pos);
    window.run_steps(1);
    for pressed in [true, false, true, false] {
        button(window, pos, pressed, Modifiers::NONE);
    }
    window.run_steps(2);
}

#[test]
fn a_rectangle_selects_the_points_inside() {
    for sharpness in SHARPNESSES {
        let mut window = loaded(sharpness, |_| {});
        let rect = canvas(&window, PaneKind::Plane);
        let at = |x: f32, y: f32| rect.min + rect.size() * vec2(x, y);
        let first = Rect::from_two_pos(at(0.2, 0.7), at(0.55, 0.3));
        drag(&mut window, &[at(0.2, 0.7), at(0.4, 0.5), at(0.55, 0.3)], Modifiers::SHIFT);
        let expected = rows_where(&window, PaneKind::Plane, |place| first.contains(place));
        assert!((20..400).contains(&expected.len()), "{}", expected.len());
        assert_eq!(selected(&window), expected, "{sharpness} pixels a point");
        assert_eq!(window.state().session().selection.by(), "rectangle in Plane");
        assert!(window.state().state().plane.window.is_none(), "the view moved");

        // Shift adds; Ctrl+Shift removes.
        let second = Rect::from_two_pos(at(0.5, 0.5), at(0.9, 0.8));
        drag(&mut window, &[second.min, second.center(), second.max], Modifiers::SHIFT);
        let both: BTreeSet<u32> =
            &expected | &rows_where(&window, PaneKind::Plane, |place| second.contains(place));
        assert_eq!(selected(&window), both);
        drag(&mut window, &[second.min, second.center(), second.max], Modifiers::SHIFT | CTRL);
        let rest: BTreeSet<u32> =
            rows_where(&window, PaneKind::Plane, |place| first.contains(place) && !second.contains(place));
        assert_eq!(selected(&window), rest);
        window.get_by_label("rectangle in Plane + rectangle in Plane − rectangle in Plane");

        // A drag cancelled with Escape does nothing.
        window.event(egui::Event::ModifiersChanged(Modifiers::SHIFT));
        window.hover_at(second.min);
        window.run_steps(1);
        button(&mut window, second.min, true, Modifiers::SHIFT);
        window.hover_at(second.max);
        window.run_steps(1);
        let said = |window: &Window| window.state().session().log.problem().is_some();
        window.state_mut().send(Action::OpenPath("/there/is/no/such.csv".into()));
        until(&mut window, "the error", |app| app.session().log.problem().is_some() && !app.is_busy());
        window.key_press_modifiers(Modifiers::SHIFT, egui::Key::Escape);
        window.run_steps(2);
        assert!(said(&window), "Escape must only cancel the drag");
        button(&mut window, second.max, false, Modifiers::SHIFT);
        window.event(egui::Event::ModifiersChanged(Modifiers::NONE));
        window.run_steps(2);
        assert_eq!(selected(&window), rest);
        assert!(window.state().session().picked.is_none(), "a drag picked a row");
    }
}

#[test]
fn a_lasso_selects_the_points_inside() {
    for sharpness in SHARPNESSES {
        let mut window = loaded(sharpness, |_| {});
        window.get_by_role_and_label(Role::Button, "Lasso tool").click();
        window.run_steps(2);
        window.get_by_role_and_label(Role::Canvas, "Plane of points");
        let rect = canvas(&window, PaneKind::Plane);
        let at = |x: f32, y: f32| rect.min + rect.size() * vec2(x, y);
        // The lasso is a triangle; releasing the button closes its third side.
        let [a, b, c] = [at(0.2, 0.2), at(0.8, 0.3), at(0.4, 0.8)];
        drag(&mut window, &[a, a + (b - a) * 0.5, b, b + (c - b) * 0.5, c], Modifiers::NONE);
        let side = |from: Pos2, to: Pos2, at: Pos2| {
            (to - from).x * (at - from).y - (to - from).y * (at - from).x > 0.0
        };
        let expected =
            rows_where(&window, PaneKind::Plane, |at| side(a, b, at) && side(b, c, at) && side(c, a, at));
        assert!(expected.len() > 40);
        assert_eq!(selected(&window), expected, "{sharpness} pixels a point");
        assert_eq!(window.state().session().selection.by(), "lasso in Plane");
        // With Alt the tool lets the view move; Escape deactivates it.
        drag(&mut window, &[a, b], Modifiers::ALT);
        assert!(window.state().state().plane.window.is_some());
        assert_eq!(selected(&window), expected);
        window.key_press(egui::Key::Escape);
        window.run_steps(3);
        drag(&mut window, &[a, b], Modifiers::NONE);
        assert_eq!(selected(&window), expected, "a drag moves the view again");
    }
}

#[test]
fn a_rectangle_in_3d_selects_occluded_points() {
    for sharpness in SHARPNESSES {
        let mut window = loaded(sharpness, |state| {
            state.draft.generator = "uniform:n=3000,d=3".to_owned();
            state.tree = single_layout(PaneKind::Space);
        });
        window.key_press(egui::Key::R);
        window.run_steps(2);
        let rect = canvas(&window, PaneKind::Space);
        let before = window.state().state().space;
        let region = Rect::from_center_size(rect.center(), vec2(90.0, 60.0));
        drag(&mut window, &[region.min, region.center(), region.max], Modifiers::NONE);
        let expected = rows_where(&window, PaneKind::Space, |place| region.contains(place));
        assert!(expected.len() > 30);
        assert_eq!(selected(&window), expected);
        assert_eq!(window.state().state().space, before, "the view moved");
        // A second selection replaces the first.
        let other = region.translate(vec2(70.0, 0.0));
        drag(&mut window, &[other.max, other.center(), other.min], Modifiers::NONE);
        assert_eq!(selected(&window), rows_where(&window, PaneKind::Space, |place| other.contains(place)));
    }
}

#[test]
fn clicks_pick_and_ctrl_clicks_toggle_points() {
    for sharpness in SHARPNESSES {
        let mut window = loaded(sharpness, |_| {});
        for row in [7, 123, 42] {
            let pos = position_of(&window, PaneKind::Plane, row);
            click(&mut window, pos, CTRL);
        }
        assert_eq!(selected(&window), [7, 42, 123].into());
        assert!(window.state().session().picked.is_none());
        let pos = position_of(&window, PaneKind::Plane, 123);
        click(&mut window, pos, CTRL);
        assert_eq!(selected(&window), [7, 42].into());
        click(&mut window, pos, Modifiers::SHIFT);
        click(&mut window, pos, Modifiers::SHIFT);
        assert_eq!(selected(&window), [7, 42, 123].into(), "Shift only adds");
        click(&mut window, pos, Modifiers::NONE);
        assert_eq!(window.state().session().picked, Some(PickedPoint::Row(123)));
        assert_eq!(selected(&window), [7, 42, 123].into(), "the query must not change");
    }
}

/// The position in Plane farthest from all points, and its distance.
fn emptiest_position(window: &Window) -> (Pos2, f32) {
    let rect = canvas(window, PaneKind::Plane);
    let n = window.state().session().cloud.as_ref().expect("a cloud").len() as u32;
    let places: Vec<Pos2> = (0..n).map(|row| position_of(window, PaneKind::Plane, row)).collect();
    let grid =
        (1..40).flat_map(|x| (1..40).map(move |y| rect.min + rect.size() * vec2(x as f32, y as f32) / 40.0));
    let far = |at: Pos2| places.iter().map(|place| place.distance(at)).fold(f32::INFINITY, f32::min);
    grid.map(|at| (at, far(at))).max_by(|a, b| a.1.total_cmp(&b.1)).expect("places")
}

#[test]
fn a_click_on_empty_space_picks_nothing() {
    for sharpness in SHARPNESSES {
        let mut window = loaded(sharpness, |state| state.plane.window = None);
        let pos = position_of(&window, PaneKind::Plane, 9);
        click(&mut window, pos, Modifiers::NONE);
        click(&mut window, pos, CTRL);
        until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
        // The view is zoomed in, so that points are far apart.
        double_click(&mut window, pos);
        until(&mut window, "the zoom", |app| app.state().plane.window.is_some());
        window.run_steps(60);
        let (empty, far) = emptiest_position(&window);
        assert!(far > 25.0, "{far}");
        for modifiers in [Modifiers::NONE, CTRL] {
            click(&mut window, empty, modifiers);
            assert_eq!(
                (window.state().session().picked, selected(&window)),
                (Some(PickedPoint::Row(9)), [9].into()),
                "from {far} points away"
            );
        }
        // Close to a point, its row is picked, at every pixel density.
        let pos = position_of(&window, PaneKind::Plane, 9) + vec2(6.0, 5.0);
        window.state_mut().send(Action::PickRow(3));
        window.run_steps(2);
        click(&mut window, pos, Modifiers::NONE);
        until(&mut window, "the nearest", |app| app.session().picked == Some(PickedPoint::Row(9)));
    }
}

#[test]
fn zooming_works_when_neighbours_coincide_with_the_query() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("twins.csv");
    let far: String = (0..20).map(|row| format!("{row},{}\n", row * row)).collect();
    std::fs::write(&path, format!("x,y\n{}{far}", "7,7\n".repeat(12))).expect("a file");
    let mut window = loaded(1.0, |state| (state.draft.k, state.keep_settings) = ("8".to_owned(), true));
    window.state_mut().send(Action::OpenPath(path));
    until(&mut window, "the cloud", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 32)
    });
    window.state_mut().send(Action::PickRow(3));
    until(&mut window, "an answer", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == 3) && !app.is_busy()
    });
    window.state_mut().send(Command::FocusQuery);
    window.run_steps(3);
    let shown = window.state().state().plane.window.expect("zoomed");
    let scene = window.state().session().scene().expect("points");
    let local = |value: f64, axis: usize| value - scene.data().axes()[axis].origin;
    assert_eq!(shown.center, [local(7.0, 0), local(7.0, 1)]);
    let pane = canvas(&window, PaneKind::Plane).size().min_elem();
    let across = shown.units_per_point * f64::from(pane);
    assert!(across > 5.0 && across < 40.0, "a part of 361: {across}");
}

#[test]
fn double_clicks_zoom_to_a_point_or_fit_the_view() {
    let mut window = loaded(2.0, |_| {});
    // The click on Generate must not start a double click.
    window.run_steps(60);
    let pos = position_of(&window, PaneKind::Plane, 77);
    double_click(&mut window, pos);
    until(&mut window, "the zoom", |app| app.state().plane.window.is_some());
    let app = window.state();
    assert_eq!(app.session().picked, Some(PickedPoint::Row(77)));
    let answered = app.session().answered.clone().expect("an answer");
    let rect = canvas(&window, PaneKind::Plane);
    let far = |row: u32| position_of(&window, PaneKind::Plane, row).distance(rect.center());
    assert!(far(77) < 1.0, "the point is in the middle");
    let reach = answered.neighbors().map(|(row, _)| far(row)).fold(0.0, f32::max);
    assert!(
        reach > 0.25 * rect.size().min_elem() && reach < 0.5 * rect.size().max_elem(),
        "its neighbours fill the pane: {reach}"
    );

    let (empty, _) = emptiest_position(&window);
    window.run_steps(60);
    double_click(&mut window, empty);
    assert!(window.state().state().plane.window.is_none(), "all of it is shown");
}

#[test]
fn the_tooltip_shows_all_columns_of_the_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("towns.csv");
    let rows: Vec<String> =
        (0..60).map(|i| format!("town {i},{},{},{}", (i * 37) % 101, (i * 61) % 97, i * 1000)).collect();
    // The second record has no position, and therefore no row.
    let text = format!("name,x,y,people\n{}\nnowhere,,,\n{}\n", rows[0], rows[1..].join("\n"));
    for sharpness in SHARPNESSES {
        std::fs::write(&path, &text).expect("a file");
        let file = path.clone();
        let path = path.display().to_string();
        let mut window = window(sharpness, move |state| {
            state.draft.data = DataKind::File;
            state.draft.path = path;
            state.draft.columns = "x,y".to_owned();
            state.draft.drop_nonfinite = true;
            state.draft.queries = QueryKind::All;
            state.show_selection = false;
        });
        press(&mut window, "Run");
        until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
        // Point 10 is record 11, because record 1 was dropped.
        let pos = position_of(&window, PaneKind::Plane, 10);
        window.hover_at(pos + vec2(1.0, 1.0));
        window.run_steps(1);
        assert!(window.query_by_label("Row 11").is_none(), "the tooltip appeared too early");
        window.run_steps(12);
        window.get_by_label("Row 11");
        until(&mut window, "the record", |_| true);
        let mut steps = 0;
        while window.query_by_label("town 10").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
            window.run_steps(1);
            steps += 1;
            assert!(steps < 20_000, "the file is read");
        }
        window.get_by_label("people");
        window.get_by_label("10000");
        let merges = window
            .state()
            .session()
            .record
            .as_ref()
            .expect("a run")
            .measured
            .column("merges")
            .expect("counters")[10];
        assert!(window.get_all_by_label(&merges.to_string()).next().is_some());
        // The tooltip is next to the point and inside the window.
        let told = window.get_by_label("town 10").rect();
        assert!(
            !told.expand(2.0).contains(pos)
                && Rect::from_min_size(Pos2::ZERO, Vec2::new(1280.0, 800.0)).contains_rect(told)
        );
        // The tooltip disappears with the pointer.
        let rect = canvas(&window, PaneKind::Plane);
        window.hover_at(rect.left_top() - vec2(30.0, 60.0));
        window.run_steps(3);
        assert!(window.query_by_label("Row 11").is_none());
        assert!(window.state().session().hovered.is_none());
        // If the file was re-sorted, the record of that number is another town.
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1..].reverse();
        std::fs::write(&file, lines.join("\n")).expect("a file");
        window.hover_at(position_of(&window, PaneKind::Plane, 20) + vec2(1.0, 1.0));
        let started = std::time::Instant::now();
        while window
            .query_by_label_contains("the file has changed since its points were read; load it again: ")
            .is_none()
        {
            window.run_steps(1);
            assert!(
                window.query_by_label_contains("town ").is_none() && started.elapsed().as_secs() < 60,
                "the file is not the points'"
            );
        }
        window.get_by_label("Row 21");
    }
}

#[test]
fn a_histogram_bin_selects_its_queries_and_rows() {
    let mut window = window(1.0, |state| state.draft.query_count = "300".to_owned());
    press(&mut window, "Run");
    until_answered(&mut window);
    press(&mut window, "Counts");
    window.run_steps(3);
    let record = window.state().session().record.clone().expect("a run");
    let histogram = window.state().session().histogram("merges").expect("it is made").to_vec();
    assert!(histogram.len() >= 3);
    let of = |low: u32, high: u32| -> BTreeSet<u32> {
        let asked = record
            .measured
            .column("merges")
            .expect("counters")
            .iter()
            .zip(&record.query_rows)
            .filter(|(merges, _)| (low..=high).contains(*merges));
        asked.map(|(_, &row)| row).collect()
    };
    // The plot starts one bin before the first, so find its bars by trying.
    let place = window.get_by_label("Histogram of merges").rect();
    let mut found = Vec::new();
    for step in 0..60 {
        let pos = Pos2::new(place.left() + place.width() * (step as f32 + 0.5) / 60.0, place.center().y);
        click(&mut window, pos, Modifiers::NONE);
        let selection = &window.state().session().selection;
        if !selection.is_empty() && found.last().is_none_or(|(by, _)| by != selection.by()) {
            found.push((selection.by().to_owned(), pos));
        }
        if found.len() == 2 {
            break;
        }
    }
    let (first, second) = (histogram[0].0, histogram[1].0);
    assert_eq!(found[0].0, format!("{first} merges"));
    assert_eq!(found[1].0, format!("{second} merges"));
    assert_eq!(selected(&window), of(second, second));
    click(&mut window, found[0].1, Modifiers::NONE);
    assert_eq!(selected(&window), of(first, first));
    click(&mut window, found[1].1, Modifiers::SHIFT);
    assert_eq!(selected(&window), of(first, second));
    assert_eq!(window.state().session().selection.by(), format!("{first} to {second} merges"));
    let queries = window.state().session().selection.queries().len();
    window.get_by_label(&format!("{queries} queries selected"));
    click(&mut window, found[0].1, CTRL);
    assert_eq!(selected(&window), of(second, second), "Ctrl takes a bin away again");
}

#[test]
fn selection_pick_and_view_can_be_undone_and_redone() {
    let mut window = loaded(2.0, |_| {});
    let rect = canvas(&window, PaneKind::Plane);
    let at = |x: f32, y: f32| rect.min + rect.size() * vec2(x, y);
    let pos = position_of(&window, PaneKind::Plane, 9);
    click(&mut window, pos, Modifiers::NONE);
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    window.run_steps(80);
    drag(&mut window, &[at(0.1, 0.1), at(0.3, 0.3), at(0.6, 0.6)], Modifiers::SHIFT);
    let first = selected(&window);
    assert!(!first.is_empty());
    drag(&mut window, &[at(0.5, 0.5), at(0.4, 0.45), at(0.2, 0.4), at(0.1, 0.3)], Modifiers::NONE);
    let moved = window.state().state().plane;
    assert!(moved.window.is_some());
    press(&mut window, "Edit");
    window.get_by_label_contains("Undo view of Plane");
    window.key_press(egui::Key::Escape);
    window.run_steps(3);

    let undo = |window: &mut Window| {
        window.key_press_modifiers(CTRL, egui::Key::Z);
        window.run_steps(3);
    };
    undo(&mut window);
    assert!(window.state().state().plane.window.is_none(), "the movement is more than one step");
    assert_eq!(selected(&window), first);
    press(&mut window, "Edit");
    window.get_by_label_contains("Redo view of Plane");
    window.get_by_label_contains("Undo rectangle in Plane").click();
    window.run_steps(3);
    assert!(selected(&window).is_empty());
    undo(&mut window);
    assert_eq!(window.state().session().picked, None);
    undo(&mut window);
    assert_eq!(window.state().session().picked, None, "undo went too far");

    for keys in [(CTRL | Modifiers::SHIFT, egui::Key::Z), (CTRL, egui::Key::Y)] {
        window.key_press_modifiers(keys.0, keys.1);
        window.run_steps(3);
    }
    assert_eq!(
        (window.state().session().picked, selected(&window)),
        (Some(PickedPoint::Row(9)), first.clone())
    );
    until(&mut window, "the answer again", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == 9)
    });
    window.state_mut().send(Command::Redo);
    window.run_steps(3);
    assert_eq!(window.state().state().plane, moved);

    // A new action clears redo; a text field has its own undo.
    undo(&mut window);
    window.state_mut().send(Command::SelectNone);
    window.run_steps(3);
    window.state_mut().send(Command::Redo);
    window.run_steps(3);
    assert!(selected(&window).is_empty() && window.state().state().plane.window.is_none());
    fill(&mut window, "k", "12");
    undo(&mut window);
    assert!(selected(&window).is_empty(), "Ctrl+Z must undo in the field");
    window.get_by_role_and_label(Role::TextInput, "k");
}

#[test]
fn a_hundred_thousand_selected_rows_become_queries() {
    let mut window = loaded(1.0, |state| {
        state.draft.generator = "uniform:n=200000,d=2".to_owned();
        state.draft.engine = EngineChoice::named(EngineId::new("kdtree"));
        state.draft.k = "1".to_owned();
        state.draft.repeats = "1".to_owned();
        state.draft.warmup = "0".to_owned();
    });
    // A selection of few rows is listed in the field.
    window.state_mut().send(SelectAction::rows(vec![5, 6, 7, 100], SelectMode::Replace, "test"));
    window.run_steps(3);
    press(&mut window, "Use as queries");
    assert_eq!(window.state().state().draft.query_rows, "5-7,100");
    let every_other: Vec<u32> = (0..100_000).map(|row| row * 2).collect();
    window.state_mut().send(SelectAction::rows(every_other.clone(), SelectMode::Replace, "test"));
    until(&mut window, "the selection", |app| app.session().selection.rows().len() == 100_000);
    press(&mut window, "Use as queries");
    assert_eq!(window.state().state().draft.queries, QueryKind::Selected);
    window.get_by_label_contains("100,000 rows from the selection");
    press(&mut window, "Run");
    until(&mut window, "the run", |app| app.session().record.is_some() && !app.is_busy());
    let session = window.state().session();
    assert_eq!(session.record.as_ref().expect("a run").query_rows, every_other);
    assert_eq!(session.selection.rows().len(), 100_000, "the selection changed");
    until(&mut window, "its queries", |app| app.session().selection.queries().len() == 100_000);
}

#[test]
fn the_selection_is_exported_and_shown_in_the_panel() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.csv");
    let mut window = window(1.0, |_| {});
    press(&mut window, "Run");
    until_answered(&mut window);
    let record = window.state().session().record.clone().expect("a run");
    let asked: Vec<u32> = record.query_rows[..3].to_vec();
    let select = SelectAction::rows(asked.clone(), SelectMode::Replace, "three rows");
    window.state_mut().send(Action::Select(select));
    window.run_steps(3);
    window.get_by_label("three rows");
    press(&mut window, "Zoom to");
    let rect = canvas(&window, PaneKind::Plane);
    assert!(asked.iter().all(|&row| rect.contains(position_of(&window, PaneKind::Plane, row))));
    press(&mut window, "Export rows…");
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    press(&mut window, "Save");
    until(&mut window, "the file", |_| path.is_file());
    let mut reader = csv::Reader::from_path(&path).expect("the file");
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
    let expected: BTreeSet<u32> = asked.iter().copied().collect();
    assert_eq!(
        rows.iter().map(|row| row[0].parse::<u32>().expect("a row")).collect::<BTreeSet<_>>(),
        expected
    );
    let said = |window: &Window| window.state().session().log.last().expect("a message").text.clone();
    let written = format!("3 rows written: {}", path.display());
    until(&mut window, "the message", |app| {
        app.session().log.last().is_some_and(|entry| entry.text == written)
    });
    press(&mut window, "Export Plane");
    press(&mut window, "Selected rows only (3)…");
    window.get_by_label("Export the selected rows");
    press(&mut window, "Close");
    window.state_mut().send(Command::SelectAll);
    window.run_steps(3);
    assert_eq!(selected(&window).len(), 500);
    assert_eq!(said(&window), "500 rows are selected, 3 before; Edit, Undo restores these");
    window.state_mut().send(Command::Undo);
    window.run_steps(3);
    assert_eq!(selected(&window), expected);
    press(&mut window, "Clear");
    assert!(selected(&window).is_empty());
    press(&mut window, "Export Plane");
    assert!(window.query_by_label_contains("Selected rows only").is_none());
}

#[test]
fn rows_within_a_distance_can_be_selected_and_saved() {
    let mut window = loaded(1.0, |_| {});
    window.state_mut().send(Action::PickRow(7));
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    let answered = window.state().session().answered.clone().expect("an answer");
    let (cloud, own) = (Arc::clone(&answered.record.cloud), answered.row());
    let squared = |row: u32| {
        cloud
            .point(row as usize)
            .iter()
            .zip(cloud.point(own as usize))
            .map(|(p, q)| f64::from(p - q).powi(2))
            .sum::<f64>()
    };
    let expected: Vec<u32> = (0..cloud.len() as u32).filter(|&row| squared(row).sqrt() <= 0.25).collect();
    assert!(expected.len() > 20, "{}", expected.len());

    fill(&mut window, "Select everything within", "near");
    press(&mut window, "Select");
    assert!(window.query_by_label("“near” is not a distance such as 0.5.").is_some());
    fill(&mut window, "Select everything within", "0.25");
    press(&mut window, "Select");
    until(&mut window, "the rows within", |app| app.session().selection.rows()[..] == expected[..]);
    assert_eq!(window.state().session().selection.by(), "within 0.25 of row 7");

    fill(&mut window, "Name", "close");
    press(&mut window, "Save set");
    window.state_mut().send(Command::SelectNone);
    until(&mut window, "an empty selection", |app| app.session().selection.is_empty());
    press(&mut window, &format!("close ({})", expected.len()));
    until(&mut window, "the set again", |app| app.session().selection.rows()[..] == expected[..]);
    press(&mut window, "Delete close");
    assert!(
        window.state().session().sets.list().is_empty() && !window.state().session().selection.is_empty()
    );
}
