//! Sessions in the window: saved to a file or on exit, restored by another window; and dropped files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::two_arrays;
use crate::driven::{Window, fill, press, small, until, until_answered, window};
use egui::Modifiers;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use warpscope::app::commands::{Action, Command, WalkAction};
use warpscope::app::live::LiveAction;
use warpscope::app::runs::RunsAction;
use warpscope::app::saved::{Layout, SavedSession};
use warpscope::app::selection::{SelectAction, SelectMode};
use warpscope::app::session::{Activity, PickedPoint};
use warpscope::app::state::{PaneKind, PlaneView, PlaneWindow, SpaceView, State, single_layout};
use warpscope::app::tokens::{Palette, Theme};
use warpscope::app::{
    App, ColorAction, ColorBy, ColorView, DataKind, Draft, HeadlessOptions, Level, ProjectionKind,
    ProjectionView, QueryKind, check_adapter, render_headless,
};
use warpscope::cloud::Source;
use warpscope::knn::EngineId;
use warpscope::progress::NoProgress;
use warpscope::run::EngineChoice;
use warpscope::run::recording::{self, CloudLoadMode, WindowState};

/// 300 rows of 4 dimensions.
fn data(folder: &Path) -> PathBuf {
    let path = folder.join("points.csv");
    let value = |row: usize, axis: usize| (row * [37, 61, 17, 89][axis]) % [101, 97, 53, 71][axis];
    let rows: Vec<String> = (0..300)
        .map(|row| format!("{},{},{},{}", value(row, 0), value(row, 1), value(row, 2), value(row, 3)))
        .collect();
    std::fs::write(&path, format!("a,b,c,d\n{}\n", rows.join("\n"))).expect("a file");
    path
}

/// A window that opens a file from the command line.
fn window_on(file: &Path) -> Window {
    let file = file.to_owned();
    Harness::builder()
        .with_size([1280.0, 800.0])
        .build_eframe(move |cc| App::new(cc, Some(file)).expect("a thread for the worker"))
}

#[track_caller]
fn until_idle(window: &mut Window) {
    until(window, "an end", |app| {
        app.session().cloud.is_some() && !app.is_busy() && app.session().activity == Default::default()
    });
}

/// A window with an open file, two compared runs (one renamed and pinned), and every other setting changed.
fn window_with_changes(data: &Path) -> Window {
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(data.to_owned()));
    until_idle(&mut window);
    press(&mut window, "Run");
    until_answered(&mut window);
    fill(&mut window, "k", "5");
    press(&mut window, "Run");
    until(&mut window, "the second run", |app| app.session().runs.runs().len() == 2 && !app.is_busy());
    let [first, second] = [0, 1].map(|at: usize| window.state().session().runs.runs()[at].id);
    for action in [
        RunsAction::Rename(Some((first, "baseline".to_owned()))),
        RunsAction::TakeName,
        RunsAction::Pin(first, true),
        RunsAction::Choose(second),
        RunsAction::Choose(first),
        RunsAction::Show(first),
    ] {
        window.state_mut().send(action);
        window.run_steps(2);
    }
    window.state_mut().send(Action::PickRow(123));
    let select = SelectAction::rows(vec![3, 4, 5, 40, 299], SelectMode::Replace, "lasso in Plane");
    window.state_mut().send(select);
    let projection = ProjectionView { kind: ProjectionKind::Pca, seed: 3 };
    window.state_mut().send(Action::SetProjection(projection));
    until(&mut window, "the projection", |app| app.session().projected.is_some());
    window.state_mut().send(ColorAction::Set(ColorView {
        by: ColorBy::Column("d".to_owned()),
        log: true,
        ..ColorView::default()
    }));
    let place = PlaneWindow { center: [3.25, -1.5], units_per_point: 0.125 };
    window.state_mut().send(Action::SetPlane(PlaneView {
        axes: [2, 0],
        window: Some(place),
        lens: false,
        ..PlaneView::default()
    }));
    window.state_mut().send(Action::SetSpace(SpaceView {
        axes: [1, 0, 2],
        yaw: 1.25,
        distance: 1.5,
        lines: false,
        ..SpaceView::default()
    }));
    window.state_mut().send(Command::Show(PaneKind::Runs));
    window.state_mut().send(Command::ToggleSelection);
    window.state_mut().send(Action::SelectRank(Some(2)));
    until_idle(&mut window);
    window
}

/// Saves with the shortcut and the dialog, like a first save.
fn save(window: &mut Window, path: &Path) {
    window.key_press_modifiers(Modifiers::COMMAND, egui::Key::S);
    window.run_steps(3);
    window.get_by_label("Save the session");
    fill(window, "File", path.to_str().expect("a plain path"));
    press(window, "Save");
    until_written(window, path);
}

#[track_caller]
fn until_written(window: &mut Window, path: &Path) {
    let said = format!("written: {}", path.display());
    // Warnings follow the message that the session was saved.
    until(window, "the session", move |app| {
        app.session()
            .log
            .entries()
            .iter()
            .rev()
            .find(|entry| entry.level == Level::Info)
            .is_some_and(|entry| entry.text == said)
    });
}

/// Everything that a session stores is equal once both windows show it.
#[track_caller]
fn assert_same(a: &mut Window, b: &mut Window) {
    // A projection is computed after the cloud is loaded; only then do the axes match.
    until_idle(a);
    until_idle(b);
    let ((a, b), (state_a, state_b)) =
        ((a.state().session(), b.state().session()), (a.state().state(), b.state().state()));
    let runs = |session: &warpscope::app::session::Session| {
        let of = |run: &warpscope::app::runs::ListedRun| {
            let record = run.run.record().expect("complete content");
            (
                run.name.clone(),
                run.pinned,
                run.run.head().clone(),
                record.neighbors.clone(),
                record.measured.clone(),
                record.samples.clone(),
            )
        };
        session.runs.runs().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(runs(a), runs(b));
    let name = |session: &warpscope::app::session::Session, id: Option<u64>| {
        id.and_then(|id| session.runs.get(id)).map(|run| run.name.clone())
    };
    assert_eq!(a.runs.chosen.map(|id| name(a, id)), b.runs.chosen.map(|id| name(b, id)));
    let shown = |session: &warpscope::app::session::Session| {
        session.record.as_ref().and_then(|record| session.runs.of_record(record)).map(|run| run.name.clone())
    };
    assert_eq!(shown(a), shown(b));
    let (cloud_a, cloud_b) = (a.cloud.as_ref().expect("a cloud"), b.cloud.as_ref().expect("a cloud"));
    assert_eq!(
        (cloud_a.fingerprint(), cloud_a.source(), cloud_a.points()),
        (cloud_b.fingerprint(), cloud_b.source(), cloud_b.points())
    );
    assert_eq!((a.picked, a.rank), (b.picked, b.rank));
    let place = |session: &warpscope::app::session::Session| {
        session
            .picked_point()
            .map(|(cloud, row)| (0..cloud.dims()).map(|axis| cloud.coordinate(row, axis)).collect::<Vec<_>>())
    };
    assert_eq!(place(a), place(b));
    let neighbors = |session: &warpscope::app::session::Session| {
        session.answered.as_ref().map(|answered| answered.neighbors().collect::<Vec<_>>())
    };
    assert_eq!(neighbors(a), neighbors(b));
    assert_eq!(a.selection, b.selection);
    assert_eq!((&a.selected, &a.timeline), (&b.selected, &b.timeline));
    assert_eq!(
        (state_a.plane, state_a.space, state_a.convergence),
        (state_b.plane, state_b.space, state_b.convergence)
    );
    assert_eq!(
        (&state_a.color, state_a.projection, &state_a.runs),
        (&state_b.color, state_b.projection, &state_b.runs)
    );
    assert_eq!(state_a.draft, state_b.draft);
    assert_eq!(Layout::from_tree(&state_a.tree), Layout::from_tree(&state_b.tree));
    assert_eq!(state_a.pane, state_b.pane);
    assert_eq!(
        (state_a.show_problem, state_a.show_selection),
        (state_b.show_problem, state_b.show_selection)
    );
}

#[test]
fn a_session_is_saved_and_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut window = window_with_changes(&data);
    save(&mut window, &path);
    assert_eq!(window.state().state().recent[0], path);
    let session = window.state().session();
    assert_eq!(
        (session.picked, session.selection.rows().len(), session.rank),
        (Some(PickedPoint::Row(123)), 5, Some(2))
    );
    let names: Vec<&str> = session.runs.runs().iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names[0], "baseline");

    let mut fresh = window_on(&path);
    until(&mut fresh, "the projection", |app| {
        app.session().projected.is_some() && app.session().runs.compared.is_some()
    });
    until_idle(&mut fresh);
    assert_same(&mut window, &mut fresh);
    let said = fresh.state().session().log.entries().to_vec();
    assert!(said.iter().any(|entry| entry.text.starts_with("session of 2 runs, recorded on ")), "{said:?}");
    assert!(said.iter().all(|entry| entry.level == Level::Info), "unexpected warning: {said:?}");
    // Undo does not go back beyond the restored session.
    fresh.state_mut().send(Command::Undo);
    fresh.run_steps(2);
    assert_same(&mut window, &mut fresh);

    // The next save needs no dialog: with the query at a position, over axes.
    fresh.state_mut().send(Action::SetProjection(ProjectionView::default()));
    let at = vec![50.5, 40.25, 0.1, 7.0];
    for action in [LiveAction::Grab, LiveAction::To(at.clone()), LiveAction::Release] {
        fresh.state_mut().send(action);
        fresh.run_steps(1);
    }
    until(&mut fresh, "an answer", |app| {
        app.session().picked == Some(PickedPoint::Coordinates) && !app.is_busy()
    });
    fresh.state_mut().send(Command::FitView);
    fresh.run_steps(2);
    fresh.key_press_modifiers(Modifiers::COMMAND, egui::Key::S);
    until_written(&mut fresh, &path);
    let mut third = window_on(&path);
    until(&mut third, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    assert_same(&mut fresh, &mut third);
    let (place, _) = third.state().session().picked_point().expect("a query");
    assert_eq!((0..4).map(|axis| place.coordinate(0, axis)).collect::<Vec<_>>(), at);
}

#[test]
fn a_session_is_drawn_without_a_display() {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    // With only a cloud and a selection but no run, closing does not ask.
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Plane);
        (state.show_problem, state.show_selection) = (false, false);
    });
    window.state_mut().send(Action::OpenPath(data));
    until_idle(&mut window);
    window.state_mut().send(Command::SelectAll);
    window.run_steps(3);
    save(&mut window, &path);
    let show = HeadlessOptions {
        file: Some(path),
        size: [640, 480],
        look: Theme::Light,
        scale: 1.0,
        ..HeadlessOptions::default()
    };
    let png = render_headless(&show, &[folder.path().join("window.png")])
        .unwrap_or_else(|error| panic!("{error:#}"));
    let picture = image::open(&png[0]).expect("a PNG").into_rgb8();
    let [r, g, b, _] = Palette::LIGHT.selected.to_array();
    assert!(picture.pixels().filter(|pixel| pixel.0 == [r, g, b]).count() > 300, "all points are selected");
}

/// The panes without the menus and the status line.
fn drawn(window: &mut Window) -> image::RgbaImage {
    until_idle(window);
    until(window, "everything to be shown", |app| app.is_drawn() && !app.is_coloring() && app.tasks() == 0);
    window.run_steps(4);
    let picture = window.render().expect("a picture");
    image::imageops::crop_imm(&picture, 0, 40, picture.width(), picture.height() - 80).to_image()
}

/// Saves a session, deletes its data file, and reopens the session. Returns both pictures.
fn saved_and_reopened(
    pane: PaneKind,
    header: &str,
    row: impl Fn(usize) -> String,
    color: ColorBy,
) -> [image::RgbaImage; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (folder.path().join("data.csv"), folder.path().join("work.warpscope"));
    let rows: Vec<String> = (0..200).map(row).collect();
    std::fs::write(&data, format!("{header}\n{}\n", rows.join("\n"))).expect("a file");
    let drawing = |file: Option<PathBuf>| {
        Harness::builder().with_size([1000.0, 700.0]).wgpu().build_eframe(move |cc| match file {
            Some(file) => App::new(cc, Some(file)).expect("a thread for the worker"),
            None => {
                let mut state = State {
                    tree: single_layout(pane),
                    pane,
                    show_problem: false,
                    hints: false,
                    look: Theme::Light,
                    ..State::default()
                };
                small(&mut state);
                state.plane.names = true;
                App::with_state(cc, state).expect("a thread for the worker")
            }
        })
    };
    let mut window = drawing(None);
    window.state_mut().send(Action::OpenPath(data.clone()));
    until_idle(&mut window);
    window.state_mut().send(ColorAction::Set(ColorView { by: color, ..ColorView::default() }));
    window.state_mut().send(Action::PickRow(77));
    until(&mut window, "an answer", |app| {
        app.session().answered.is_some() && app.session().columns.is_some() && !app.is_busy()
    });
    let before = drawn(&mut window);
    save(&mut window, &path);
    drop(window);
    std::fs::remove_file(&data).expect("it exists");
    let mut fresh = drawing(Some(path));
    fresh.state_mut().send(Action::ShowHints(false));
    fresh.state_mut().send(Action::SetLook(Theme::Light));
    until(&mut fresh, "an answer", |app| {
        app.session().answered.is_some() && app.session().columns.is_some() && !app.is_busy()
    });
    [before, drawn(&mut fresh)]
}

#[test]
fn a_session_shows_the_same_picture_without_its_file() {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    let at = |row: usize| format!("{},{}", (row * 37) % 101, (row * 61) % 97);
    let towns = |row: usize| {
        format!("{},Town {row},{},{},{},9", at(row), ["IA", "IL", "MO"][row % 3], row % 256, row * 7 % 256)
    };
    let pixels = |row: usize| {
        (0..64).map(|at| ((row * 31 + at * row) % 17).to_string()).collect::<Vec<_>>().join(",")
            + &format!(",{}", row % 4)
    };
    let header = (0..64).map(|at| format!("pixel{at},")).collect::<String>() + "label";
    let column = |name: &str| ColorBy::Column(name.to_owned());
    let towns_header = "x,y,name,state,red,green,blue";
    for (what, [before, after]) in [
        ("labels and names", saved_and_reopened(PaneKind::Plane, towns_header, towns, column("state"))),
        ("the file's colours", saved_and_reopened(PaneKind::Plane, towns_header, towns, ColorBy::FileColors)),
        ("the table", saved_and_reopened(PaneKind::Neighbors, towns_header, towns, column("state"))),
        ("an axis as a column", saved_and_reopened(PaneKind::Plane, "x,y", at, column("y"))),
        ("thumbnails", saved_and_reopened(PaneKind::Neighbors, &header, pixels, column("label"))),
    ] {
        // A glyph may differ by a shade.
        let is_other = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
            a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 4)
        };
        let different = before.pixels().zip(after.pixels()).filter(is_other).count();
        if let Some(folder) = std::env::var_os("WARPSCOPE_TEST_PICTURES").map(PathBuf::from) {
            before.save(folder.join(format!("{what}, before.png"))).expect("a PNG");
            after.save(folder.join(format!("{what}, after.png"))).expect("a PNG");
        }
        assert!(
            before.dimensions() == after.dimensions() && different == 0,
            "{what}: {different} pixels differ"
        );
    }
}

#[test]
fn sessions_restore_an_array_of_a_missing_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (folder.path().join("two.npz"), folder.path().join("work.warpscope"));
    std::fs::write(&data, two_arrays()).expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(PathBuf::from(format!("{}:second", data.display()))));
    let answered =
        |app: &App| app.session().answered.is_some() && app.session().columns.is_some() && !app.is_busy();
    until(&mut window, "an answer", answered);
    save(&mut window, &path);
    let cloud = |window: &Window| window.state().session().cloud.clone().expect("a cloud");
    let before = cloud(&window);
    assert_eq!((before.len(), before.dims()), (2, 3));
    drop(window);
    std::fs::remove_file(&data).expect("it exists");
    let mut fresh = window_on(&path);
    // The columns are read from the copy in the session.
    until(&mut fresh, "an answer", answered);
    let after = cloud(&fresh);
    assert_eq!((after.axes(), after.points()), (before.axes(), before.points()));
    assert!(fresh.state().session().file_columns().is_some_and(|known| known.columns.len() == 3));
}

#[test]
fn overwriting_an_unrelated_session_needs_confirmation() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let other = folder.path().join("other.csv");
    std::fs::write(&other, "x,y\n1,2\n3,4\n").expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(data.clone()));
    until_idle(&mut window);
    assert_eq!(window.state().title(), "points.csv – Warpscope");
    save(&mut window, &path);
    assert_eq!(window.state().title(), "points.csv – work – Warpscope");
    let written = std::fs::read(&path).expect("it exists");
    let open = |window: &mut Window, file: &Path, rows: usize| {
        window.state_mut().send(Action::OpenPath(file.to_owned()));
        until(window, "the file", |app| {
            app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == rows) && !app.is_busy()
        });
    };
    open(&mut window, &other, 2);
    assert_eq!(window.state().title(), "other.csv – Warpscope", "the session is not one of this file");
    window.key_press_modifiers(Modifiers::COMMAND, egui::Key::S);
    window.run_steps(3);
    window.get_by_label("Save the session");
    let offered = window.get_by_role_and_label(Role::TextInput, "File").value().expect("a path");
    assert!(!offered.contains("work"), "{offered}");
    press(&mut window, "Close");
    assert_eq!(std::fs::read(&path).expect("it exists"), written);
    // A session of its own data is saved without a question.
    open(&mut window, &data, 300);
    window.state_mut().send(Action::PickRow(9));
    window.run_steps(2);
    window.key_press_modifiers(Modifiers::COMMAND, egui::Key::S);
    until_written(&mut window, &path);
}

#[test]
fn opening_a_file_resets_settings_by_default() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, other) = (data(folder.path()), folder.path().join("other.csv"));
    let rows: String = (0..90).map(|row| format!("{},{}\n", row * 37 % 101, row * 61 % 97)).collect();
    std::fs::write(&other, format!("x,y\n{rows}")).expect("a file");
    let mut window = window(small);
    let open = |window: &mut Window, file: &Path, rows: usize| {
        window.state_mut().send(Action::OpenPath(file.to_owned()));
        until(window, "the file", |app| {
            app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == rows) && !app.is_busy()
        });
    };
    open(&mut window, &data, 300);
    let change = |window: &mut Window| {
        let mut draft = window.state().state().draft.clone();
        (draft.k, draft.exclude_self, draft.queries, draft.query_rows) =
            ("5".to_owned(), true, QueryKind::Rows, "200-299".to_owned());
        (draft.engine, draft.repeats) = (EngineChoice::named(EngineId::new("kdtree")), "3".to_owned());
        window.state_mut().send(Action::SetDraft(Box::new(draft)));
        window.state_mut().send(WalkAction::Show(true));
        window.run_steps(3);
    };
    change(&mut window);
    // Reopening the same file does not count as other data.
    open(&mut window, &data, 300);
    assert_eq!(window.state().state().draft.k, "5");
    open(&mut window, &other, 90);
    let state = window.state().state();
    let usual = Draft {
        data: DataKind::File,
        path: other.display().to_string(),
        query_count: "90".to_owned(),
        ..Draft::default()
    };
    assert_eq!(state.draft, Draft { generator: state.draft.generator.clone(), ..usual });
    assert!(!state.walk.shown && window.state().session().log.problem().is_none());
    let note = window.state().session().log.note().map(|note| note.text.as_str());
    assert_eq!(note, Some("k = 32 for the new data; File, Keep settings keeps 5"));
    window.get_all_by_role_and_label(Role::Button, "File").next().expect("the menu").click();
    window.run_steps(3);
    window.get_by_role_and_label(Role::CheckBox, "Keep settings").click();
    window.run_steps(3);
    change(&mut window);
    open(&mut window, &data, 300);
    let state = window.state().state();
    assert!(
        state.draft.k == "5"
            && state.draft.exclude_self
            && state.draft.query_rows == "200-299"
            && state.walk.shown,
        "{:?}",
        state.draft
    );
    assert_eq!(state.draft.engine, EngineChoice::named(EngineId::new("kdtree")));
}

#[test]
fn a_failed_load_is_reported_and_restores_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, gone) = (data(folder.path()), folder.path().join("gone.csv"));
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(data.clone()));
    until_idle(&mut window);
    let banner = "Loading failed; points.csv is still shown: cannot read: ";
    for by_hand in [false, true] {
        if by_hand {
            fill(&mut window, "Path", gone.to_str().expect("a plain path"));
            press(&mut window, "Load");
        } else {
            window.state_mut().send(Action::OpenPath(gone.clone()));
        }
        until(&mut window, "an error", |app| app.session().log.problem().is_some() && !app.is_busy());
        window.run_steps(2);
        let plane = window.get_by_role_and_label(Role::Canvas, "Plane of points").rect();
        let said = window.get_by_label_contains(banner).rect();
        assert!(plane.contains_rect(said), "{said:?} is not over {plane:?}");
        assert_eq!(window.get_by_role_and_label(Role::TextInput, "Path").value().as_deref(), data.to_str());
        press(&mut window, "Dismiss the message");
        assert!(
            window.query_by_label_contains(banner).is_none()
                && window.state().session().log.problem().is_none()
        );
    }
    assert_eq!(window.state().session().cloud.as_ref().map(|cloud| cloud.len()), Some(300));
}

#[test]
fn neighbour_pictures_wait_for_joined_columns() {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    // The column must take longer to read than everything else that the picture waits for.
    let text = "many words ".repeat(1000);
    let picture = |name: &str, header: &str, row: &dyn Fn(usize) -> String| {
        let [data, path, png] =
            ["csv", "warpscope", "png"].map(|extension| folder.path().join(name).with_extension(extension));
        std::fs::write(&data, (0..6000).fold(header.to_owned(), |text, at| text + &row(at))).expect("a file");
        let mut window = window(|state| {
            small(state);
            state.tree = single_layout(PaneKind::Neighbors);
            (state.show_problem, state.show_selection) = (false, false);
        });
        window.state_mut().send(Action::OpenPath(data));
        until_idle(&mut window);
        window.state_mut().send(Command::Run);
        until_answered(&mut window);
        save(&mut window, &path);
        let show = HeadlessOptions {
            file: Some(path),
            size: [1200, 300],
            look: Theme::Light,
            scale: 1.0,
            ..HeadlessOptions::default()
        };
        let png = render_headless(&show, &[png]).unwrap_or_else(|error| panic!("{error:#}"));
        image::open(&png[0]).expect("a PNG").into_rgb8()
    };
    let plain = |at: usize| format!("{},{}", (at * 37) % 101, (at * 61) % 97);
    let with = picture("with", "x,y,name,text\n", &|at| format!("{},town {at},{text}\n", plain(at)));
    let without = picture("without", "x,y\n", &|at| plain(at) + "\n");
    // Labels and joined texts change many pixels.
    let different = with.pixels().zip(without.pixels()).filter(|(with, without)| with != without).count();
    assert!(different > 1000, "{different} pixels differ");
}

/// Opens the path typed on the left.
fn type_and_load(window: &mut Window, path: &Path) {
    press(window, "From a file");
    fill(window, "Path", path.to_str().expect("a plain path"));
    press(window, "Load");
    until_idle(window);
}

fn choose(window: &mut Window, menu: &str, entry: &str) {
    for name in [menu, entry] {
        // The menu is on top, and an entry may have the same name as a control on a panel.
        let buttons: Vec<_> = window
            .get_all_by_role(Role::Button)
            .filter(|button| button.accesskit_node().label().is_some_and(|label| label.starts_with(name)))
            .collect();
        let at = if name == menu { 0 } else { buttons.len() - 1 };
        buttons[at].click();
        window.run_steps(4);
    }
}

#[test]
fn the_window_can_be_driven_by_accessible_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut window = window(small);
    type_and_load(&mut window, &data);
    for k in ["6", "9"] {
        fill(&mut window, "k", k);
        press(&mut window, "Run");
        until(&mut window, "the run", |app| {
            app.session().record.as_ref().is_some_and(|record| record.spec.k.to_string() == k)
                && !app.is_busy()
        });
    }
    window.get_by_role_and_label(Role::Canvas, "Plane of points").click();
    until(&mut window, "a row", |app| {
        matches!(app.session().picked, Some(PickedPoint::Row(_))) && !app.is_busy()
    });
    let clicked = window.state().session().picked;
    window.get_by_role_and_label(Role::Button, "Query, to be dragged").focus();
    window.run_steps(2);
    window.key_press(egui::Key::ArrowRight);
    until(&mut window, "another row", |app| app.session().picked != clicked && !app.is_busy());
    choose(&mut window, "Edit", "Select all");
    choose(&mut window, "View", "Show Runs");
    for k in [6, 9] {
        window
            .get_by_role_and_label(
                Role::CheckBox,
                &format!("Compare points.csv, 40 × 300, k = {k}, lockstep"),
            )
            .click();
        window.run_steps(3);
    }
    choose(&mut window, "File", "Save session as");
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    press(&mut window, "Save");
    until_written(&mut window, &path);
    let session = window.state().session();
    assert!(session.selection.rows().len() == 300 && session.runs.pair().is_some());

    let mut fresh = crate::driven::window(small);
    type_and_load(&mut fresh, &path);
    until(&mut fresh, "the comparison", |app| {
        app.session().runs.compared.is_some() && app.session().answered.is_some() && !app.is_busy()
    });
    assert_same(&mut window, &mut fresh);
}

#[test]
fn opening_a_recording_does_not_set_the_session_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.warpscope");
    let mut window = window_with_changes(&data(folder.path()));
    window.state_mut().send(Action::StartExport(warpscope::app::ExportKind::Recording(
        warpscope::app::runs::SaveScope::All,
    )));
    window.run_steps(4);
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    press(&mut window, "Save");
    until_written(&mut window, &path);
    let mut fresh = window_on(&path);
    until_answered(&mut fresh);
    assert!(fresh.state().session().file.is_none() && fresh.state().session().selection.is_empty());
    // There is no session file, so Ctrl+S opens the dialog.
    fresh.key_press_modifiers(Modifiers::COMMAND, egui::Key::S);
    fresh.run_steps(3);
    fresh.get_by_label("Save the session");
}

#[test]
fn missing_data_are_reported_and_points_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut window = window_with_changes(&data);
    save(&mut window, &path);
    for (change, how) in [(true, "their file has changed: "), (false, "their file is missing: ")] {
        if change {
            std::fs::write(&data, "a,b,c,d\n1,2,3,4\n5,6,7,8\n").expect("a file");
        } else {
            std::fs::remove_file(&data).expect("it exists");
        }
        let mut fresh = window_on(&path);
        until(&mut fresh, "a log entry", |app| {
            app.session().log.entries().iter().any(|entry| entry.text.contains(how))
        });
        until(&mut fresh, "the projection", |app| {
            app.session().projected.is_some() && app.session().runs.compared.is_some()
        });
        until(&mut fresh, "an end", |app| !app.is_busy());
        assert_same(&mut window, &mut fresh);
    }
}

/// Saves the session without the clouds' points.
fn save_small(window: &mut Window, path: &Path) {
    window.state_mut().send(Command::SaveSession);
    window.run_steps(4);
    window.get_by_label("Include the points").click();
    window.run_steps(2);
    fill(window, "File", path.to_str().expect("a plain path"));
    press(window, "Save");
    until_written(window, path);
}

#[test]
fn sessions_without_points_reload_the_file_or_report_it_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("small.warpscope"));
    let mut window = window_with_changes(&data);
    save_small(&mut window, &path);
    let mut fresh = window_on(&path);
    until(&mut fresh, "the projection", |app| {
        app.session().projected.is_some() && app.session().runs.compared.is_some()
    });
    until_idle(&mut fresh);
    assert_same(&mut window, &mut fresh);
    assert!(
        !fresh.state().session().file.as_ref().expect("its file").points,
        "the next save is without them too"
    );

    // The file has changed: it is opened as it is, and runs show what needs no points.
    std::fs::write(&data, "a,b,c,d\n1,2,3,4\n5,6,7,8\n9,1,2,3\n").expect("a file");
    let mut fresh = window_on(&path);
    until(&mut fresh, "the file", |app| app.session().cloud.is_some());
    let session = fresh.state().session();
    assert_eq!(session.cloud.as_ref().map(|cloud| cloud.len()), Some(3));
    assert!(
        session.runs.runs().len() == 2 && session.runs.runs().iter().all(|run| run.run.record().is_none())
    );
    assert!(session.picked.is_none() && session.selection.is_empty());
    let said = format!(
        "the data has changed since it was saved; query, selection and views are not restored: {}",
        data.display()
    );
    assert!(
        session.log.entries().iter().any(|entry| entry.level == Level::Warning && entry.text == said),
        "{:?}",
        session.log.entries()
    );

    std::fs::remove_file(&data).expect("it exists");
    let mut fresh = window_on(&path);
    until(&mut fresh, "the session", |app| app.session().awaited.is_some());
    fresh.run_steps(3);
    let session = fresh.state().session();
    assert!(session.cloud.is_none() && session.runs.runs().len() == 2);
    assert!(session.endings.load.is_some() && session.endings.run.is_none(), "nothing was run");
    let said = format!(
        "the session small.warpscope was saved without its points; their file is missing; press Find it… if \
         it has moved: {}",
        data.display()
    );
    assert_eq!(session.log.problem().map(|entry| &entry.text), Some(&said));
}

#[test]
fn a_session_whose_file_moved_waits_until_it_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (points, path) = (data(folder.path()), folder.path().join("small.warpscope"));
    let mut window = window_with_changes(&points);
    save_small(&mut window, &path);
    let moved = folder.path().join("elsewhere.csv");
    std::fs::rename(&points, &moved).expect("it exists");

    // Nothing of the session is applied to the data that are open.
    let other = folder.path().join("other.csv");
    std::fs::write(&other, "a,b\n1,2\n3,4\n5,6\n").expect("a file");
    let mut fresh = window_on(&other);
    until(&mut fresh, "the other file", |app| app.session().cloud.is_some() && !app.is_busy());
    let before = fresh.state().state().draft.clone();
    fresh.state_mut().send(Action::OpenPath(path));
    until(&mut fresh, "the session", |app| app.session().awaited.is_some() && !app.is_busy());
    fresh.run_steps(3);
    assert_eq!(fresh.state().session().cloud.as_ref().map(|cloud| cloud.len()), Some(3));
    assert_eq!(fresh.state().state().draft, before);

    press(&mut fresh, "Find it…");
    until(&mut fresh, "the dialog", |app| app.session().chooser.is_some());
    fresh.run_steps(3);
    fill(&mut fresh, "Path of the file", moved.to_str().expect("a plain path"));
    fresh.key_press(egui::Key::Enter);
    until(&mut fresh, "the projection", |app| {
        app.session().projected.is_some() && app.session().runs.compared.is_some()
    });
    until_idle(&mut fresh);
    let (was, session) = (window.state().session(), fresh.state().session());
    assert_eq!(
        (session.picked, session.selection.rows(), session.rank),
        (was.picked, was.selection.rows(), was.rank)
    );
    assert_eq!(fresh.state().state().draft.path, moved.display().to_string());
    assert!(session.awaited.is_none());
}

#[test]
fn data_outside_the_session_folder_are_not_loaded_automatically() {
    let (there, here) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (data, path) = (data(there.path()), here.path().join("small.warpscope"));
    let mut window = window_with_changes(&data);
    save_small(&mut window, &path);
    let waiting = || {
        let mut fresh = window_on(&path);
        until(&mut fresh, "the session", |app| app.session().awaited.is_some());
        fresh.run_steps(3);
        assert!(fresh.state().session().cloud.is_none());
        fresh
    };
    let mut fresh = waiting();
    press(&mut fresh, "Load");
    until(&mut fresh, "the projection", |app| {
        app.session().projected.is_some() && app.session().runs.compared.is_some()
    });
    until_idle(&mut fresh);
    assert_same(&mut window, &mut fresh);

    // A failed load does not end the wait.
    let mut fresh = waiting();
    let aside = there.path().join("aside");
    std::fs::rename(&data, &aside).expect("it exists");
    press(&mut fresh, "Load");
    until(&mut fresh, "the failure", |app| {
        !app.is_busy() && app.session().log.entries().iter().any(|entry| entry.text.contains("cannot read"))
    });
    std::fs::rename(&aside, &data).expect("it exists");
    press(&mut fresh, "Load");
    until(&mut fresh, "the projection", |app| {
        app.session().projected.is_some() && app.session().runs.compared.is_some()
    });
    until_idle(&mut fresh);
    assert_same(&mut window, &mut fresh);

    // Opening another file ends the wait: its data are opened as new.
    let other = here.path().join("other.csv");
    std::fs::write(&other, "a,b\n1,2\n3,4\n5,6\n").expect("a file");
    let mut fresh = waiting();
    for (path, rows) in [(&other, 3), (&data, 300)] {
        fresh.state_mut().send(Action::OpenPath(path.clone()));
        until(&mut fresh, "the file", |app| {
            app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == rows) && !app.is_busy()
        });
    }
    let session = fresh.state().session();
    assert!(session.awaited.is_none() && session.selection.is_empty(), "nothing of the session is resumed");
}

#[test]
fn an_invalid_session_still_opens_its_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut window = window_with_changes(&data);
    save(&mut window, &path);
    let recording = recording::read(&path, CloudLoadMode::Restore, &NoProgress).expect("a recording");
    let text = recording.session.expect("a session").expect("it can be read");
    let text = String::from_utf8(text).expect("text");
    let write = |text: &str| {
        warpscope::export::session(
            WindowState { session: text.as_bytes(), cloud: None },
            &recording.runs,
            true,
            &path,
            &NoProgress,
        )
        .expect("a recording")
    };

    for (wrong, why) in [
        ("{", "EOF"),
        ("", "EOF"),
        ("[1, 2]", "trailing"),
        (r#"{"schema_version": 99}"#, "saved by a newer Warpscope"),
    ] {
        write(wrong);
        let mut fresh = window_on(&path);
        until_answered(&mut fresh);
        let session = fresh.state().session();
        assert_eq!((session.runs.runs().len(), session.file.is_some()), (2, false));
        let said =
            session.log.entries().iter().find(|entry| entry.level == Level::Warning).expect("a log entry");
        assert!(
            said.text.starts_with("opened only the runs: the saved window state cannot be read: ")
                && said.text.contains(why),
            "{said:?}"
        );
    }

    // Stores numbers beyond any displayable range.
    let mut saved: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let view = &mut saved["view"];
    view["plane"] = serde_json::json!({
        "axes": [900, 1],
        "window": {"center": [1e308, -1e308], "units_per_point": -1e-308},
        "point_size": 1e38,
    });
    view["space"] = serde_json::json!({
        "axes": [0, 0, 77],
        "yaw": 1e308,
        "pitch": -1e308,
        "distance": -1e308,
        "target": [1e308, 0, 0],
        "point_size": -1e38,
    });
    view["timeline"] = serde_json::json!({"window": [1e308, -1e308], "open": [4_294_967_295_u32]});
    view["color"] = serde_json::json!({
        "by": {"Axis": 4000},
        "range": {"Typed": [1e308, -1e308]},
        "moment": 4_294_967_295_u32,
    });
    view["layout"] = serde_json::json!({"row": [
        {"share": -1e38, "of": {"pane": "Plane"}},
        {"share": 1e38, "of": {"pane": "Plane"}},
        {"share": 0.0, "of": {"pane": "Space"}},
        {"share": 1.0, "of": {"pane": "Timeline"}},
        {"share": 1.0, "of": {"pane": "Neighbors"}},
    ]});
    view["selected_records"] = serde_json::json!([[0, u64::MAX], [0, u64::MAX]]);
    view["draft"]["k"] = "no number".into();
    saved["selection"] =
        serde_json::json!({"rows": [[7, u64::MAX], [0, 1]], "queries": [[0, u64::MAX]], "by": "hand"});
    saved["rank"] = 99_999_999.into();
    saved["saved_unix"] = u64::MAX.into();
    saved["cloud"]["file"] =
        serde_json::json!({"bytes": u64::MAX, "modified": {"secs": u64::MAX, "nanos": 999_999_999}});
    for query in [
        serde_json::json!({"row": 4_000_000_000_u32}),
        serde_json::json!({"query": 4_000_000_000_u64}),
        serde_json::json!({"place": [1e308, 1.0]}),
    ] {
        for projection in ["Axes", "Random"] {
            saved["query"] = query.clone();
            saved["view"]["projection"]["kind"] = projection.into();
            write(&saved.to_string());
            let mut fresh = window_on(&path);
            until(&mut fresh, "the cloud", |app| app.session().cloud.is_some());
            fresh.run_steps(20);
            until(&mut fresh, "an end", |app| !app.is_busy());
            let (state, session) = (fresh.state().state(), fresh.state().session());
            assert!(state.plane.axes.iter().all(|&axis| axis < 4) && state.plane.window.is_none());
            assert_eq!(session.selection.rows().len(), 293, "rows 7 to 299");
            assert!(session.runs.runs().len() == 2 && session.file.is_some());
        }
    }
}

#[test]
fn the_next_start_restores_the_last_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = data(folder.path());
    // Without a session file: cloud, query, selection and views are restored, but runs are not.
    let mut before = window(small);
    before.state_mut().send(Action::OpenPath(data.clone()));
    until_idle(&mut before);
    before.state_mut().send(Action::PickRow(40));
    before.state_mut().send(SelectAction::rows(vec![1, 2], SelectMode::Replace, "rectangle in Plane"));
    until(&mut before, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    let last = before.state().session_text().expect("a cloud is open");
    let mut after = window(small);
    after.state_mut().restore_session(&last);
    until(&mut after, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    assert_same(&mut before, &mut after);

    // With a session file: its runs are restored as well, and later changes.
    let path = folder.path().join("work.warpscope");
    let mut before = window_with_changes(&data);
    save(&mut before, &path);
    before.state_mut().send(Action::PickRow(7));
    until(&mut before, "an answer", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == 7) && !app.is_busy()
    });
    before.state_mut().send(Action::SelectRank(Some(1)));
    before.run_steps(2);
    let last = before.state().session_text().expect("a cloud is open");
    let mut after = window(small);
    after.state_mut().restore_session(&last);
    until(&mut after, "the projection", |app| {
        app.session().projected.is_some() && app.session().runs.compared.is_some()
    });
    until_idle(&mut after);
    assert_same(&mut before, &mut after);
    assert_eq!(after.state().session().picked, Some(PickedPoint::Row(7)));

    // Without a stored session, or with an invalid one, the window loads the data typed on the left.
    assert!(window(small).state().session_text().is_none());
    for text in ["", "{", "[]"] {
        let mut window = window(small);
        window.state_mut().restore_session(text);
        until_idle(&mut window);
        assert_eq!(window.state().session().cloud.as_ref().map(|cloud| cloud.len()), Some(500));
    }
}

/// The same points came first from a file that no longer exists, then from the shown one.
#[test]
fn equal_points_are_restored_from_the_current_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let copy = folder.path().join("copy.csv");
    std::fs::copy(&data, &copy).expect("a file");
    let mut window = window(small);
    for (runs, file) in [(1, &copy), (2, &data)] {
        window.state_mut().send(Action::OpenPath(file.clone()));
        until_idle(&mut window);
        press(&mut window, "Run");
        until(&mut window, "the run", move |app| {
            app.session().runs.runs().len() == runs && app.session().answered.is_some() && !app.is_busy()
        });
        if runs == 1 {
            std::fs::remove_file(&copy).expect("it exists");
        }
    }
    save(&mut window, &path);
    // Each run keeps its own source.
    let recording = recording::read(&path, CloudLoadMode::Restore, &NoProgress).expect("a recording");
    let sources = |recording: &recording::Recording| {
        let of = |source: &Source| {
            if let Source::File { path, .. } = source { path.clone() } else { PathBuf::new() }
        };
        recording
            .runs
            .iter()
            .filter_map(|run| run.run.record().map(|record| of(record.cloud.source())))
            .collect::<Vec<_>>()
    };
    assert_eq!(sources(&recording), [copy.clone(), data.clone()]);

    // The run shown last is not in the file, nor is a cloud that was only opened.
    let mut before = window_on(&path);
    until_idle(&mut before);
    before.state_mut().send(Action::PickRow(40));
    before.run_steps(2);
    press(&mut before, "Run");
    until(&mut before, "the third run", |app| {
        app.session().runs.runs().len() == 3 && app.session().answered.is_some() && !app.is_busy()
    });
    let third = folder.path().join("third.csv");
    std::fs::copy(&data, &third).expect("a file");
    for shown in [&data, &third] {
        if shown == &third {
            before.state_mut().send(Action::OpenPath(third.clone()));
            until_idle(&mut before);
        }
        let last = before.state().session_text().expect("a cloud is open");
        let mut after = self::window(small);
        after.state_mut().restore_session(&last);
        until_idle(&mut after);
        assert_eq!(after.state().state().draft.path, shown.display().to_string());
        let source = after.state().session().cloud.as_ref().map(|cloud| cloud.source().clone());
        assert!(matches!(&source, Some(Source::File { path, .. }) if path == shown), "{source:?}");
        let said = after.state().session().log.entries().to_vec();
        assert!(
            said.iter().all(|entry| entry.level == Level::Info),
            "shown data are reported missing: {said:?}"
        );
    }

    // Once it is gone too, the points come from the remaining source.
    let last = before.state().session_text().expect("a cloud is open");
    std::fs::remove_file(&third).expect("it exists");
    let mut after = self::window(small);
    after.state_mut().restore_session(&last);
    until_idle(&mut after);
    assert_eq!(after.state().session().cloud.as_ref().map(|cloud| cloud.len()), Some(300));
}

#[test]
fn missing_files_are_retried_at_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut before = window_with_changes(&data);
    save(&mut before, &path);
    let last = before.state().session_text().expect("a cloud is open");
    let moved = folder.path().join("elsewhere.csv");
    std::fs::rename(&data, &moved).expect("it exists");
    let recording = std::fs::read(&path).expect("it exists");
    std::fs::write(&path, b"PK\x03\x04 and no more").expect("a file");
    let mut after = window(small);
    after.state_mut().restore_session(&last);
    assert_eq!(after.state().session_text().as_ref(), Some(&last), "closed before loading");
    until(&mut after, "both errors", |app| {
        let errors = || app.session().log.entries().iter().filter(|entry| entry.level == Level::Error);
        errors().count() == 2 && errors().any(|entry| entry.text.ends_with("points.csv")) && !app.is_busy()
    });
    assert_eq!(after.state().session_text().as_ref(), Some(&last));

    // With the data file alone, everything except the runs is restored.
    std::fs::rename(&moved, &data).expect("it exists");
    let mut after = window(small);
    after.state_mut().restore_session(&last);
    until(&mut after, "an answer", |app| {
        app.session().answered.is_some() && app.session().projected.is_some() && !app.is_busy()
    });
    let (was, session) = (before.state().session(), after.state().session());
    assert_eq!(
        (session.picked, session.selection.rows(), session.rank),
        (was.picked, was.selection.rows(), was.rank)
    );
    assert!(session.runs.runs().is_empty() && session.file.is_none());

    std::fs::write(&path, recording).expect("a file");
    let mut after = window(small);
    after.state_mut().restore_session(&last);
    until(&mut after, "the projection", |app| {
        app.session().projected.is_some() && app.session().runs.compared.is_some()
    });
    until_idle(&mut after);
    assert_same(&mut before, &mut after);
}

#[test]
fn large_selections_are_not_stored_between_starts() {
    let mut window = window(small);
    press(&mut window, "Generate");
    until_idle(&mut window);
    for (records, kept) in [(10_000_u64, 10_000), (30_000, 0)] {
        let mut draft = window.state().state().draft.clone();
        (draft.queries, draft.selected_rows) =
            (QueryKind::Selected, (0..records).map(|record| record * 2).collect());
        window.state_mut().send(Action::SetDraft(Box::new(draft)));
        window.run_steps(2);
        let last: serde_json::Value =
            serde_json::from_str(&window.state().session_text().expect("a cloud is open")).expect("JSON");
        assert_eq!(last["saved"]["view"]["selected_records"].as_array().map(Vec::len), Some(kept));
    }
}

#[test]
fn a_session_stores_a_cloud_without_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    window.state_mut().send(Action::OpenPath(data.clone()));
    until_idle(&mut window);
    window.state_mut().send(Action::PickRow(40));
    window.state_mut().send(SelectAction::rows(vec![1, 2], SelectMode::Replace, "rectangle in Plane"));
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    save(&mut window, &path);
    std::fs::remove_file(&data).expect("it exists");
    let mut fresh = window_on(&path);
    until(&mut fresh, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    until(&mut fresh, "a log entry", |app| {
        app.session().log.entries().iter().any(|entry| entry.text.contains("their file is missing: "))
    });
    assert_same(&mut window, &mut fresh);
}

#[test]
fn replaced_files_with_older_timestamps_are_detected() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut window = window_with_changes(&data);
    save(&mut window, &path);
    std::fs::write(&data, "a,b,c,d\n1,2,3,4\n5,6,7,8\n").expect("a file");
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    std::fs::File::options()
        .write(true)
        .open(&data)
        .and_then(|file| file.set_modified(long_ago))
        .expect("a time");
    let mut fresh = window_on(&path);
    until(&mut fresh, "a log entry", |app| {
        app.session().log.entries().iter().any(|entry| entry.text.contains("their file has changed: "))
    });
}

#[test]
fn saving_a_merged_session_opens_the_dialog() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut saved = window_with_changes(&data);
    save(&mut saved, &path);
    let written = std::fs::read(&path).expect("it exists");
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    for again in [false, true] {
        window.state_mut().send(Action::OpenPath(path.clone()));
        until(&mut window, "the session", |app| app.session().runs.runs().len() == 3 && !app.is_busy());
        assert!(window.state().session().file.is_none(), "{again}");
        window.key_press_modifiers(Modifiers::COMMAND, egui::Key::S);
        window.run_steps(3);
        window.get_by_label("Save the session");
        press(&mut window, "Close");
    }
    assert_eq!(std::fs::read(&path).expect("it exists"), written);
    // Without the other run, the file is the session.
    let other = window.state().session().runs.runs()[0].id;
    window.state_mut().send(RunsAction::Delete(other));
    window.state_mut().send(Action::OpenPath(path.clone()));
    until(&mut window, "the session", |app| app.session().file.is_some() && !app.is_busy());
}

#[test]
fn cancelling_a_run_does_not_cancel_a_save() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("work.warpscope");
    let mut window = window(|state| {
        small(state);
        state.draft.generator = "uniform:n=300000,d=3".to_owned();
        (state.draft.queries, state.draft.repeats) = (QueryKind::All, "1000".to_owned());
    });
    press(&mut window, "Generate");
    until_idle(&mut window);
    // An unwritable file does not become the session's file.
    let nowhere = folder.path().join("no").join("such.warpscope");
    window.key_press_modifiers(Modifiers::COMMAND, egui::Key::S);
    window.run_steps(3);
    fill(&mut window, "File", nowhere.to_str().expect("a plain path"));
    press(&mut window, "Save");
    until(&mut window, "an error", |app| {
        app.session().log.last().is_some_and(|entry| entry.level == Level::Error)
    });
    assert!(window.state().session().file.is_none() && !window.state().state().recent.contains(&nowhere));
    assert!(!window.state().session_text().expect("a cloud is open").contains("such.warpscope"));
    save(&mut window, &path);
    std::fs::remove_file(&path).expect("it exists");

    press(&mut window, "Run");
    until(&mut window, "the run", |app| matches!(app.session().activity, Activity::Running { .. }));
    window.state_mut().send(Command::SaveSession);
    window.step();
    window.state_mut().send(Command::Cancel);
    window.step();
    // The log may still end with the first save.
    until(&mut window, "the session", |_| path.exists());
    until(&mut window, "the end", |app| !app.is_busy());
    let said = window.state().session().log.entries().to_vec();
    assert!(said.iter().any(|entry| entry.text == "cancelled"), "the run was what the line named: {said:?}");

    // Closing the window does not cancel the save either.
    std::fs::remove_file(&path).expect("it exists");
    window.state_mut().send(Command::SaveSession);
    window.step();
    assert!(!path.exists(), "already written");
    drop(window);
    let recording = recording::read(&path, CloudLoadMode::Restore, &NoProgress).expect("a recording");
    assert_eq!(recording.cloud.map(|cloud| cloud.len()), Some(300_000));
}

#[derive(Debug)]
struct FakeDroppedFile(PathBuf);

impl egui::DroppedFile for FakeDroppedFile {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

fn drop_files(window: &mut Window, paths: &[&Path]) {
    window.input_mut().dropped_files = paths
        .iter()
        .map(|path| Arc::new(FakeDroppedFile(path.to_path_buf())) as egui::DroppedFileHandle)
        .collect();
    window.step();
    window.input_mut().dropped_files.clear();
}

#[test]
fn the_first_of_several_dropped_clouds_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = data(folder.path());
    let (other, path) = (folder.path().join("other.csv"), folder.path().join("work.warpscope"));
    std::fs::write(&other, "x,y\n1,2\n3,4\n").expect("a file");
    let mut saved = window_with_changes(&data);
    save(&mut saved, &path);

    let mut window = window(small);
    drop_files(&mut window, &[&other, &path, &data, folder.path()]);
    until(&mut window, "the cloud", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 2) && !app.is_busy()
    });
    let session = window.state().session();
    assert_eq!(session.runs.runs().len(), 2, "the recording's runs are in the list");
    assert!(session.record.is_none(), "the file of points came last");
    let said: Vec<&str> = session.log.entries().iter().map(|entry| entry.text.as_str()).collect();
    assert!(said.iter().any(|said| said.starts_with("opened other.csv, but not points.csv")), "{said:?}");
    let name = folder.path().file_name().expect("a name").to_string_lossy().into_owned();
    assert!(
        said.iter()
            .any(|said| *said == format!("cannot open a folder: drop the files in it instead: {name}")),
        "{said:?}"
    );

    // A single file opens as usual.
    drop_files(&mut window, &[&data]);
    until(&mut window, "the cloud", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 300)
    });
}

#[test]
fn a_query_from_a_file_is_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path, queries) =
        (data(folder.path()), folder.path().join("work.warpscope"), folder.path().join("queries.csv"));
    std::fs::write(&queries, "a,b,c,d\n1,2,3,4\n50,40,30,20\n7,7,7,7\n").expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(data));
    until_idle(&mut window);
    press(&mut window, "A file");
    fill(&mut window, "Query file", queries.to_str().expect("a plain path"));
    press(&mut window, "Run");
    until_answered(&mut window);
    press(&mut window, "Next query");
    window.state_mut().send(SelectAction::queries(vec![0, 2], SelectMode::Replace, "two merges"));
    window.state_mut().send(SelectAction::rows(vec![5, 6], SelectMode::Add, "click in Plane"));
    window.run_steps(3);
    save(&mut window, &path);
    assert_eq!(window.state().session().picked, Some(PickedPoint::Query(1)));
    assert_eq!(
        (window.state().session().selection.queries().len(), window.state().session().selection.rows().len()),
        (2, 2)
    );
    // The query's points come from the session.
    std::fs::remove_file(&queries).expect("it exists");
    let mut fresh = window_on(&path);
    until_answered(&mut fresh);
    assert_same(&mut window, &mut fresh);
}

#[test]
fn selected_queries_are_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, path) = (data(folder.path()), folder.path().join("work.warpscope"));
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(data));
    until_idle(&mut window);
    let mut draft = window.state().state().draft.clone();
    (draft.queries, draft.selected_rows) = (QueryKind::Selected, vec![1, 2, 3, 250].into());
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.run_steps(2);
    save(&mut window, &path);
    let mut fresh = window_on(&path);
    assert_same(&mut window, &mut fresh);
    assert_eq!(fresh.state().state().draft.selected_rows[..], [1, 2, 3, 250]);
    assert_eq!(fresh.state().state().draft.data, DataKind::File);
    let text = recording::read(&path, CloudLoadMode::Skip, &NoProgress)
        .expect("a recording")
        .session
        .expect("a session")
        .expect("text");
    assert!(
        SavedSession::read(&text).expect("its own text").query.is_some(),
        "the one that the file was opened with"
    );
}
