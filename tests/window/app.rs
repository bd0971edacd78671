//! The window, driven by accessible names, as with a screen reader.
//!
//! Tests of logic run without drawing. Pictures need a graphics adapter, for which a software renderer is
//! enough (Debian and Ubuntu: `mesa-vulkan-drivers`).

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::driven::{Window, fill, press, small, unfold, until, until_answered, window};
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use warpscope::app::commands::{Action, Command};
use warpscope::app::session::{Activity, PickedPoint};
use warpscope::app::state::{PaneKind, State, single_layout};
use warpscope::app::tokens::Theme;
use warpscope::app::{
    App, DataKind, Draft, Entry, HeadlessOptions, Level, Log, QueryKind, Subject, check_adapter,
    render_headless,
};
use warpscope::cloud::{PointCloud, Source};
use warpscope::engines::registry;
use warpscope::knn::{AllowedValues, EngineId, Peaks};
use warpscope::run::{EngineChoice, Phase, RunRecord, Sample};

/// Rows and squared distances of the k nearest, by brute force.
fn nearest(cloud: &PointCloud, query: &[f32], k: usize) -> Vec<(f64, u32)> {
    let far = |row: usize| {
        cloud.point(row).iter().zip(query).map(|(p, q)| (f64::from(*p) - f64::from(*q)).powi(2)).sum::<f64>()
    };
    let mut all: Vec<(f64, u32)> = (0..cloud.len()).map(|row| (far(row), row as u32)).collect();
    all.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
    all.truncate(k);
    all
}

#[track_caller]
fn assert_right(window: &Window) {
    let answered = window.state().session().answered.as_ref().expect("an answer");
    let cloud = &answered.record.cloud;
    let expected = nearest(cloud, cloud.point(answered.row() as usize), answered.record.spec.k);
    let found: Vec<(u32, f32)> = answered.neighbors().collect();
    assert_eq!(found.len(), expected.len());
    for ((row, squared), (expected_squared, expected_row)) in found.into_iter().zip(expected) {
        assert_eq!(row, expected_row);
        assert!(
            (f64::from(squared) - expected_squared).abs() <= 1e-5 * expected_squared,
            "{squared} for {expected_squared}"
        );
    }
}

#[test]
fn the_first_start_shows_an_answer() {
    let mut window = Harness::builder()
        .with_size([1280.0, 800.0])
        .build_eframe(|cc| App::new(cc, None).expect("a thread for the worker"));
    until_answered(&mut window);
    let session = window.state().session();
    let record = session.record.as_ref().expect("a run");
    assert_eq!((record.summary.n, record.summary.q, record.spec.k), (20_000, 500, 32));
    let merges =
        record.summary.measure("merges").expect("the first start is answered by an engine that counts");
    assert!(merges.mean <= merges.expected.expect("theory bounds merges"));
    assert!(matches!(session.picked, Some(PickedPoint::Row(_))), "no query was picked");
    assert_right(&window);
    for pane in ["Plane", "Neighbours", "Analysis"] {
        window.get_by_role_and_label(Role::Button, pane);
    }
    press(&mut window, "Dismiss the hints");
    assert!(!window.state().state().hints);
    press(&mut window, "Measure");
    for pane in ["Plane", "Convergence", "Timings"] {
        window.get_by_role_and_label(Role::Button, pane);
    }
    press(&mut window, "Learn");
    until(&mut window, "the lesson", |app| app.session().lesson.open);
    press(&mut window, "Explore");
    assert!(!window.state().session().lesson.open);
}

#[test]
fn a_typed_path_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("three columns.csv");
    std::fs::write(&path, "name,lon,lat,height\na,1.5,2.5,100\nb,2.5,3.5,200\nc,9,9,300\n").expect("a file");
    let mut window = window(small);
    press(&mut window, "From a file");
    fill(&mut window, "Path", path.to_str().expect("a plain path"));
    press(&mut window, "Load");
    until(&mut window, "the file", |app| app.session().cloud.is_some() && app.session().columns.is_some());
    let cloud = window.state().session().cloud.clone().expect("the file");
    assert_eq!((cloud.len(), cloud.dims()), (3, 2), "lon and lat win by name");
    assert_eq!(cloud.coordinate(2, 1), 9.0);

    press(&mut window, "Columns…");
    for role in ["lon: Coordinate", "lat: Coordinate", "height: Coordinate"] {
        press(&mut window, role);
    }
    press(&mut window, "Use these");
    assert_eq!(window.state().state().draft.columns, "height");
    until(&mut window, "the column", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.dims() == 1)
    });
}

#[test]
fn file_settings_do_not_apply_to_another_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (path, other) = (path("one.csv"), path("other.csv"));
    std::fs::write(&path, "x,y,z\n1,2,3\n4,nan,6\n7,8,10\n").expect("a file");
    std::fs::write(&other, "x,y,z\n1,2,3\n4,5,6\n").expect("a file");
    let said = |window: &Window| {
        let draft = &window.state().state().draft;
        (draft.columns.clone(), draft.drop_nonfinite)
    };
    let tick = |window: &mut Window| {
        fill(window, "Columns", "0-1");
        window.get_by_role_and_label(Role::CheckBox, "Drop rows with NaN or ∞").click();
        window.run_steps(3);
    };
    let mut window = window(small);
    press(&mut window, "From a file");
    // Settings made before loading may be meant for the path that is finally typed.
    fill(&mut window, "Path", &other);
    tick(&mut window);
    fill(&mut window, "Path", &path);
    assert_eq!(said(&window), ("0-1".to_owned(), true));
    press(&mut window, "Load");
    until(&mut window, "the file", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| (cloud.len(), cloud.dims()) == (2, 2))
    });
    assert_eq!(said(&window), ("0-1".to_owned(), true));

    fill(&mut window, "Path", &other[..other.len() - 1]);
    assert_eq!(said(&window), (String::new(), false));
    tick(&mut window);
    fill(&mut window, "Path", &other);
    assert_eq!(said(&window), ("0-1".to_owned(), true), "once");
}

#[test]
fn out_of_range_numbers_clamp_the_slider() {
    let mut window = window(small);
    let at = |window: &Window| window.get_by_label("k, slider").accesskit_node().numeric_value();
    for (typed, value) in [("99999", 1024.0), ("12", 12.0), ("0", 1.0)] {
        fill(&mut window, "k", typed);
        assert_eq!(at(&window), Some(value), "{typed}");
        assert_eq!(window.state().state().draft.k, typed, "typed text was lost");
    }
}

#[test]
fn generating_a_cloud_does_not_start_a_run() {
    let mut window = window(small);
    fill(&mut window, "Spec", "sphere:n=300");
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| app.session().cloud.is_some());
    assert_eq!(
        window.state().session().cloud.as_ref().map(|cloud| (cloud.len(), cloud.dims())),
        Some((300, 3))
    );
    assert!(window.state().session().record.is_none(), "a run started unasked");
    fill(&mut window, "k", "5");
    press(&mut window, "Run");
    until_answered(&mut window);
    assert_eq!(window.state().session().record.as_ref().map(|record| record.neighbors.k), Some(5));
    assert_right(&window);
}

#[test]
fn a_run_can_be_cancelled() {
    let mut window = window(|state| {
        small(state);
        state.draft.generator = "uniform:n=200000,d=2".to_owned();
        state.draft.queries = QueryKind::All;
        state.draft.repeats = "1000".to_owned();
    });
    press(&mut window, "Run");
    until(&mut window, "the run", |app| app.is_busy() && app.session().cloud.is_some());
    press(&mut window, "Cancel");
    until(&mut window, "the end", |app| !app.is_busy());
    assert_eq!(window.state().session().log.last().map(|entry| entry.text.as_str()), Some("cancelled"));
    window.get_by_role_and_label(Role::Button, "Run");
}

#[test]
fn escape_closes_a_menu_before_it_cancels() {
    let mut window = window(|state| {
        small(state);
        state.draft.generator = "uniform:n=200000,d=2".to_owned();
        state.draft.queries = QueryKind::All;
        state.draft.repeats = "1000".to_owned();
    });
    press(&mut window, "Run");
    until(&mut window, "the run", |app| app.is_busy() && app.session().cloud.is_some());
    press(&mut window, "Edit");
    assert!(egui::Popup::is_any_open(&window.ctx));
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    assert!(!egui::Popup::is_any_open(&window.ctx) && window.state().is_busy());
    window.key_press(egui::Key::Escape);
    until(&mut window, "the end", |app| !app.is_busy());
}

#[test]
fn the_field_of_k_knows_the_number_of_rows() {
    let mut window = window(small);
    window.state_mut().send(Command::Explore);
    window.state_mut().send(Action::Load);
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    let metric = |window: &Window| window.get_by_role_and_label(Role::Button, "Angular").rect();
    let before = metric(&window);
    window.get_by_label_contains("Updates as you click");
    window.get_by_label("Answer");
    fill(&mut window, "k", "-5");
    window.get_by_label("k = -5: must be a whole number from 1 to 500.");
    assert_eq!(metric(&window), before, "nothing moves with the note");
    window.get_by_label("Answer for k = 8");
    fill(&mut window, "k", "900");
    window.get_by_label("The cloud has 500 rows: at most 500 neighbours can be found.");
    assert_eq!(metric(&window), before);
    until(&mut window, "an answer", |app| !app.is_busy());
    let answered = window.state().session().answered.clone().expect("an answer");
    assert_eq!((answered.record.neighbors.k, answered.neighbors().len()), (500, 500), "without padding");
    fill(&mut window, "k", "500");
    assert!(window.query_by_label_contains("can be found").is_none());
    until(&mut window, "an answer", |app| !app.is_busy());
    assert!(window.query_by_label("Answer for k = 8").is_none());
    assert_eq!(metric(&window), before);
}

#[test]
fn a_click_in_plane_picks_the_nearest_point() {
    let mut window = window(small);
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| app.session().cloud.is_some());
    window.get_by_role_and_label(Role::Canvas, "Plane of points").click();
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    let session = window.state().session();
    // Plane shows the whole cloud, so the middle of the pane is the middle of the cloud.
    let cloud = session.cloud.as_ref().expect("the cloud");
    let middle: Vec<f32> = cloud.axes().iter().map(|axis| ((axis.min + axis.max) / 2.0) as f32).collect();
    let Some(PickedPoint::Row(row)) = session.picked else { panic!("a row was clicked") };
    let answered = session.answered.as_ref().expect("an answer");
    assert_eq!(row, nearest(cloud, &middle, 1)[0].1);
    assert_eq!((answered.row(), answered.record.query_rows.len()), (row, 1), "a separate run");
    assert_right(&window);
}

#[test]
fn picked_rows_reuse_the_answers_of_a_run() {
    let mut window = window(|state| {
        small(state);
        state.draft.queries = QueryKind::All;
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    window.state_mut().send(Action::PickRow(123));
    window.run_steps(3);
    let session = window.state().session();
    let (record, answered) =
        (session.record.as_ref().expect("a run"), session.answered.as_ref().expect("an answer"));
    assert!(Arc::ptr_eq(record, &answered.record));
    assert_eq!(answered.row(), 123);
    assert_right(&window);

    // A different k needs a new answer.
    fill(&mut window, "k", "3");
    window.state_mut().send(Action::PickRow(77));
    until(&mut window, "an answer", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == 77) && !app.is_busy()
    });
    assert_eq!(window.state().session().answered.as_ref().map(|answered| answered.record.spec.k), Some(3));
    assert_right(&window);
    assert!(window.state().session().compared_record().is_none(), "the run asked for 8");
    window.get_by_label_contains("showing the picked query only");
    unfold(&mut window, "Search details");
    window.get_by_label("k = 3, l2, lockstep");
}

/// Generates a cloud without a window.
fn generated(spec: &str) -> Arc<PointCloud> {
    let source = Source::Generate { spec: spec.to_owned(), seed: 1 };
    Arc::new(warpscope::cloud::load(&source, false, &warpscope::progress::NoProgress).expect("a cloud"))
}

#[test]
fn runs_of_a_replaced_cloud_are_dropped() {
    let mut window = window(small);
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| app.session().cloud.is_some());
    for finished in [false, true] {
        window.state_mut().send(Command::Run);
        window.step();
        assert!(window.state().is_busy());
        if finished {
            // The answer is ready before the other cloud arrives.
            std::thread::sleep(Duration::from_secs(1));
        }
        window.state_mut().show_loaded(generated("uniform:n=5,d=2"));
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(1) {
            window.step();
            std::thread::sleep(Duration::from_millis(10));
        }
        let session = window.state().session();
        assert!(session.record.is_none() && session.picked.is_none() && session.answered.is_none());
        assert_eq!(session.cloud.as_ref().map(|cloud| cloud.len()), Some(5));
        window.state_mut().show_loaded(generated("uniform:n=500,d=2"));
    }
}

#[test]
fn typed_rows_stay_until_a_point_is_clicked() {
    let mut window = window(small);
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| app.session().cloud.is_some());
    window.state_mut().send(Action::PickRow(100));
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    press(&mut window, "Rows");
    fill(&mut window, "Row numbers", "3,5,10-12");
    press(&mut window, "Run");
    until_answered(&mut window);
    let app = window.state();
    assert_eq!(app.state().draft.query_rows, "3,5,10-12");
    assert_eq!(
        app.session().record.as_ref().map(|record| record.query_rows.clone()),
        Some(vec![3, 5, 10, 11, 12])
    );
    let answered = app.session().answered.as_ref().expect("an answer");
    assert_eq!((answered.row(), answered.record.query_rows.len()), (3, 5), "row 100 was not asked for");
    // A query of the run is still the query in the next run.
    window.state_mut().send(Action::PickQuery(3));
    window.run_steps(2);
    press(&mut window, "Run");
    until_answered(&mut window);
    assert_eq!(window.state().session().picked, Some(PickedPoint::Row(11)));
    window.state_mut().send(Action::PickRow(7));
    window.run_steps(2);
    assert_eq!(window.state().state().draft.query_rows, "7");
}

/// If frames are slow, a typed number and the Run shortcut arrive in the same frame.
#[test]
fn run_uses_a_number_typed_in_the_same_frame() {
    let mut window = window(small);
    window.get_by_role_and_label(Role::TextInput, "k").focus();
    window.run_steps(2);
    let key = |key, modifiers| egui::Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers,
    };
    window.input_mut().events.extend([
        key(egui::Key::A, egui::Modifiers::COMMAND),
        egui::Event::Text("16".to_owned()),
        key(egui::Key::Enter, egui::Modifiers::COMMAND),
    ]);
    window.step();
    until_answered(&mut window);
    assert_eq!(window.state().session().record.as_ref().map(|record| record.spec.k), Some(16));
}

#[test]
fn a_picked_row_survives_a_run() {
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    let asked = window.state().session().record.as_ref().expect("a run").query_rows.clone();
    let other = (0..).find(|row| !asked.contains(row)).expect("40 of 500 are asked for");
    assert_eq!(
        window.state().session().picked,
        Some(PickedPoint::Row(asked[0])),
        "the first query must be shown"
    );
    window.state_mut().send(Action::PickRow(other));
    until_answered(&mut window);
    press(&mut window, "Run");
    until(&mut window, "the second run", |app| app.session().runs.runs().len() == 2);
    until_answered(&mut window);
    assert_eq!(window.state().session().picked, Some(PickedPoint::Row(other)));
}

#[test]
fn running_a_position_replaces_the_picked_row() {
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    window.state_mut().send(Action::PickRow(3));
    until_answered(&mut window);
    let mut draft = window.state().state().draft.clone();
    (draft.queries, draft.query_place) = (QueryKind::Coordinates, "0.25,0.75".to_owned());
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.run_steps(2);
    press(&mut window, "Run");
    until(&mut window, "the second run", |app| app.session().runs.runs().len() == 2);
    until_answered(&mut window);
    assert_eq!(window.state().session().picked, Some(PickedPoint::Query(0)));
}

#[test]
fn small_clouds_query_every_row_by_default() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.csv");
    std::fs::write(&path, "x,y\n1,2\n3,4\n5,7\n").expect("a file");
    let mut window = window(|state| {
        small(state);
        (state.draft.query_count, state.draft.k) = ("1000".to_owned(), "2".to_owned());
    });
    press(&mut window, "From a file");
    fill(&mut window, "Path", path.to_str().expect("a plain path"));
    press(&mut window, "Run");
    until_answered(&mut window);
    let asked =
        |window: &Window| window.state().session().record.as_ref().map(|record| record.query_rows.len());
    assert_eq!((asked(&window), window.state().state().draft.query_count.as_str()), (Some(3), "3"));
    // A run that first loads another cloud does not use the number of queries of the previous one.
    for (name, rows, count) in [("smaller.csv", 2, 2), ("larger.csv", 2000, 1000)] {
        let other = folder.path().join(name);
        let lines: String = (0..rows).map(|row| format!("{row},{}\n", row * row % 101)).collect();
        std::fs::write(&other, format!("x,y\n{lines}")).expect("a file");
        fill(&mut window, "Path", other.to_str().expect("a plain path"));
        press(&mut window, "Run");
        until(&mut window, "the run", |app| {
            app.session().record.as_ref().is_some_and(|record| record.cloud.len() == rows)
        });
        until_answered(&mut window);
        assert_eq!(
            (asked(&window), window.state().state().draft.query_count.clone()),
            (Some(count), count.to_string())
        );
    }
    press(&mut window, "Generated");
    fill(&mut window, "Spec", "uniform:n=2000,d=2");
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 2000)
    });
    assert_eq!(window.state().state().draft.query_count, "1000");
}

#[test]
fn a_click_during_a_run_is_answered_once() {
    let mut window = window(|state| {
        small(state);
        state.draft.generator = "uniform:n=6000,d=2".to_owned();
        state.draft.queries = QueryKind::All;
    });
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| app.session().cloud.is_some());
    window.state_mut().send(Command::Run);
    window.step();
    window.state_mut().send(Action::PickRow(123));
    window.step();
    until_answered(&mut window);
    let session = window.state().session();
    let (record, answered) =
        (session.record.as_ref().expect("the run"), session.answered.as_ref().expect("an answer"));
    assert!(
        Arc::ptr_eq(record, &answered.record) && answered.row() == 123,
        "no second run for a query of the first"
    );
}

#[test]
fn a_click_during_loading_does_not_hide_progress() {
    let mut window = window(small);
    press(&mut window, "Generate");
    until(&mut window, "the cloud", |app| app.session().cloud.is_some());
    fill(&mut window, "Spec", "uniform:n=5000000,d=4");
    window.state_mut().send(Action::Load);
    window.step();
    window.state_mut().send(Action::PickRow(1));
    window.run_steps(2);
    let session = window.state().session();
    let there = session.cloud.as_ref().is_some_and(|cloud| cloud.len() == 5_000_000);
    assert!(there || matches!(session.activity, Activity::Loading { .. }), "{:?}", session.activity);
    window.state_mut().send(Command::Cancel);
    until(&mut window, "the end", |app| !app.is_busy());
}

#[test]
fn queries_can_come_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, queries) = (folder.path().join("data.csv"), folder.path().join("queries.csv"));
    std::fs::write(&data, "x,y\n0,0\n1,0\n0,1\n5,5\n").expect("a file");
    std::fs::write(&queries, "x,y\n4,4\n0.9,0.1\n").expect("a file");
    let path = |path: &Path| path.display().to_string();
    let (data, queries) = (path(&data), path(&queries));
    let mut window = window(move |state| {
        small(state);
        state.draft.data = DataKind::File;
        state.draft.path = data;
        state.draft.queries = QueryKind::File;
        state.draft.query_path = queries;
        state.draft.k = "1".to_owned();
    });
    press(&mut window, "Run");
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    let record = window.state().session().record.clone().expect("a run");
    assert_eq!(record.neighbors.indices, [3, 1]);
    assert_eq!(window.state().session().picked, Some(PickedPoint::Query(0)));
    press(&mut window, "Next query");
    assert_eq!(window.state().session().picked, Some(PickedPoint::Query(1)));
}

#[test]
fn exports_match_the_display() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Neighbors);
    });
    press(&mut window, "Run");
    until_answered(&mut window);

    let missing = folder.path().join("no such folder").join("a.csv");
    let path = folder.path().join("neighbours.csv");
    press(&mut window, "Export Neighbours");
    press(&mut window, "Data as CSV, TSV, Parquet or npz…");
    for path in [&missing, &path] {
        fill(&mut window, "File", path.to_str().expect("a plain path"));
        press(&mut window, "Save");
        // Written, or an error about this file, not about the previous one.
        let said = path.display().to_string();
        until(&mut window, "the file", |app| {
            app.session().log.last().is_some_and(|entry| entry.text.ends_with(&said))
        });
    }
    let log = window.state().session().log.entries();
    assert!(
        log.iter().any(|entry| entry.level == Level::Error && entry.text.starts_with("cannot write: ")),
        "{log:?}"
    );

    // Overwriting a file needs confirmation.
    std::fs::write(&path, "mine").expect("a file");
    press(&mut window, "Export Neighbours");
    press(&mut window, "Data as CSV, TSV, Parquet or npz…");
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    press(&mut window, "Save");
    window.get_by_label_contains("This file exists already.");
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), "mine");
    press(&mut window, "Save");
    until(&mut window, "the file", |_| std::fs::read_to_string(&path).is_ok_and(|text| text != "mine"));

    let answered = window.state().session().answered.clone().expect("an answer");
    let mut reader = csv::Reader::from_path(&path).expect("the file");
    assert_eq!(
        reader.headers().expect("a header"),
        &["rank", "index", "squared_distance", "distance", "x", "y"][..]
    );
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
    let expected: Vec<(u32, f32)> = answered.neighbors().collect();
    assert_eq!(rows.len(), expected.len());
    for (row, (index, squared)) in rows.iter().zip(expected) {
        assert_eq!((row[1].parse(), row[2].parse()), (Ok(index), Ok(squared)));
        assert_eq!(row[4].parse(), Ok(answered.record.cloud.coordinate(index as usize, 0)));
    }
}

#[test]
fn errors_are_shown_without_side_effects() {
    let mut window = window(small);
    press(&mut window, "From a file");
    fill(&mut window, "Path", "/there/is/no/such.csv");
    press(&mut window, "Load");
    until(&mut window, "the error", |app| {
        app.session().log.last().is_some_and(|entry| entry.level == Level::Error)
    });
    let shown = window.get_by_label_contains("Error: ").accesskit_node().label();
    let shown = shown.or_else(|| window.get_by_label_contains("Error: ").value()).expect("a text");
    assert!(shown.contains("/there/is/no/such.csv"), "{shown}");
    // A long error begins with the file's name.
    let folder = tempfile::tempdir().expect("a folder");
    let junk = folder.path().join("junk.bin");
    std::fs::write(&junk, [0, 1, 2, 3, 254, 0, 7, 0]).expect("a file");
    window.state_mut().send(Action::OpenPath(junk));
    until(&mut window, "the error", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.starts_with("junk.bin: unknown format"))
    });
    assert!(!window.state().is_busy() && window.state().session().cloud.is_none());
}

#[test]
fn invalid_fields_show_a_reason_and_block_runs() {
    let mut window = window(small);
    fill(&mut window, "k", "5000");
    assert_eq!(
        window.get_all_by_label("k = 5000: must be a whole number from 1 to 1,024.").count(),
        2,
        "at the field and next to Run"
    );
    assert!(window.get_by_role_and_label(Role::Button, "Run").accesskit_node().is_disabled());
    window.state_mut().send(Command::Run);
    window.run_steps(3);
    assert!(!window.state().is_busy());
    fill(&mut window, "k", "50");
    assert!(!window.get_by_role_and_label(Role::Button, "Run").accesskit_node().is_disabled());
}

#[test]
fn panes_without_counters_explain_why_they_are_empty() {
    let mut window = window(|state| {
        small(state);
        state.draft.engine = EngineChoice::named(EngineId::new("kdtree"));
    });
    press(&mut window, "Run");
    until(&mut window, "an answer", |app| app.session().derived.is_some() && !app.is_busy());
    assert_right(&window);
    window.get_by_label("kdtree records no max_distance history");
    press(&mut window, "Counts");
    window.get_by_label("kdtree has no counters");
}

/// Opens the combo box with this label.
fn open_list(window: &mut Window, list: &str) {
    window.get_by_role_and_label(Role::ComboBox, list).click();
    window.run_steps(6);
}

#[test]
fn engines_are_grouped_and_parameters_have_fields() {
    let mut window = window(small);
    let fastest = registry::ENGINES
        .iter()
        .find(|engine| !engine.parameters.is_empty())
        .expect("an engine with parameters");
    open_list(&mut window, "Engine");
    for (group, engines) in registry::grouped() {
        window.get_by_label(group.title());
        assert!(
            engines.iter().all(|engine| window.query_all_by_label(engine.id.as_str()).next().is_some()),
            "{group:?}"
        );
    }
    window.get_by_role_and_label(Role::Button, fastest.id.as_str()).click();
    window.run_steps(6);
    assert_eq!(window.state().state().draft.engine, EngineChoice::named(fastest.id));
    window.get_by_label("Parameters").click();
    window.run_steps(30);
    let number = |values: &AllowedValues| matches!(values, AllowedValues::Numbers(_));
    let parameter = fastest.parameters.iter().find(|parameter| number(&parameter.values)).expect("a number");
    fill(&mut window, parameter.name, "99999");
    let why = format!("“99999” is not allowed; {} may be {}.", parameter.name, parameter.values);
    assert_eq!(window.get_all_by_label(&why).count(), 2, "at the field and next to Run");
    press(&mut window, "Reset");
    fill(&mut window, parameter.name, "2");
    window.get_by_label("Parameters (1 set)");
    assert_eq!(
        window.state().state().draft.engine.to_string(),
        format!("{}:{}=2", fastest.id, parameter.name)
    );
}

#[test]
fn every_measure_of_a_run_has_a_histogram() {
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Merges);
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    window.get_by_label("Histogram of merges");
    open_list(&mut window, "Measure");
    press(&mut window, "Groups hit");
    window.run_steps(6);
    window.get_by_label("Histogram of groups hit");
    assert_eq!(window.state().state().counts.measure.as_deref(), Some("groups_hit"));
}

#[test]
fn next_query_selects_the_next_row_before_a_run() {
    let mut window = window(small);
    let row = |window: &Window| window.state().session().answered.as_ref().map(|answered| answered.row());
    press(&mut window, "Generate");
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    let first = row(&window).expect("an answer");
    window.key_press(egui::Key::N);
    until(&mut window, "the next row", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == first + 1)
    });
}

#[test]
fn shortcuts_work_except_in_text_fields() {
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    let at = |window: &Window| window.state().session().answered.as_ref().map(|answered| answered.query);
    assert_eq!(at(&window), Some(0));
    window.key_press(egui::Key::N);
    window.run_steps(3);
    assert_eq!(at(&window), Some(1));
    window.get_by_role_and_label(Role::TextInput, "Spec").focus();
    window.run_steps(2);
    window.key_press(egui::Key::N);
    window.run_steps(3);
    assert_eq!(at(&window), Some(1), "letters must go to the field");
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Num3);
    window.run_steps(3);
    window.get_by_label_contains("8 neighbours of query row");
}

#[test]
fn pane_pictures_have_the_size_of_the_pane() {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plane.png");
    // Two pixels per point, as on a high-density screen.
    let mut window: Window =
        Harness::builder().with_size([700.0, 500.0]).with_pixels_per_point(2.0).wgpu().build_eframe(|cc| {
            let mut state = State {
                look: Theme::Light,
                show_problem: false,
                tree: single_layout(PaneKind::Plane),
                ..State::default()
            };
            small(&mut state);
            App::with_state(cc, state).expect("a thread for the worker")
        });
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    press(&mut window, "Export Plane");
    press(&mut window, "Picture as PNG or SVG…");
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    press(&mut window, "Save");
    until(&mut window, "the picture", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.starts_with("written"))
    });
    let picture = image::open(&path).expect("a PNG").into_rgb8();
    let (width, height) = picture.dimensions();
    assert!((600..=960).contains(&width) && (700..=1000).contains(&height), "{width} × {height}");
    let [r, g, b, _] = warpscope::app::tokens::Palette::LIGHT.query.to_array();
    assert!(picture.pixels().filter(|pixel| pixel.0 == [r, g, b]).count() > 50, "the query is on it");

    // A click on the drawn query picks it again: pixels and points agree.
    let session = window.state().session();
    let (before, canvas) =
        (session.picked, window.get_by_role_and_label(Role::Canvas, "Plane of points").rect());
    let place = warpscope::app::plane_position(window.state(), canvas).expect("a query in sight");
    window.hover_at(place);
    window.run_steps(2);
    for pressed in [true, false] {
        window.event(egui::Event::PointerButton {
            pos: place,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        });
        window.run_steps(2);
    }
    assert_eq!(window.state().session().picked, before);
}

/// A run with constant timings.
fn record() -> Arc<RunRecord> {
    let mut window = window(|state| {
        state.draft.generator = "gaussian-mixture:n=3000,d=3,clusters=6".to_owned();
        state.draft.query_count = "300".to_owned();
        state.draft.engine = EngineChoice::named(EngineId::new("lockstep"));
        state.draft.repeats = "1".to_owned();
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    let mut record = RunRecord::clone(window.state().session().record.as_ref().expect("a run"));
    let sample = |phase, repeat, duration_ms| Sample {
        phase,
        repeat,
        chunk: 0,
        start_ms: f64::from(repeat),
        duration_ms,
    };
    record.samples = vec![sample(Phase::Upload, 0, 0.21), sample(Phase::Counted, 0, 3.4)];
    record.samples.extend(
        [2.31, 2.28, 2.52, 2.30, 2.29]
            .into_iter()
            .enumerate()
            .map(|(repeat, ms)| sample(Phase::Search, repeat as u32, ms)),
    );
    record.samples.extend((0..5).map(|repeat| sample(Phase::Download, repeat, 0.04)));
    (record.head.summary.search_ms_median, record.head.summary.distances_per_second) = (2.30, Some(3.91e8));
    record.head.peaks =
        Some(Peaks { fp32_per_second: 2.5e11, bytes_per_second: Some(1.2e10), launch_ms: None });
    Arc::new(record)
}

#[test]
fn panes_match_their_snapshots() {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    let record = record();
    let spec = &record.spec;
    let mut failures = Vec::new();
    // Engines shows what can run on this machine and predicted times; tests/window/engines.rs tests it.
    for pane in PaneKind::ALL.iter().copied().filter(|&pane| pane != PaneKind::Engines) {
        for (look, name) in
            [(Theme::Light, "light"), (Theme::Dark, "dark"), (Theme::HighContrast, "high-contrast")]
        {
            let mut window: Window =
                Harness::builder().with_size([420.0, 320.0]).wgpu().build_eframe(move |cc| {
                    let state = State {
                        look,
                        draft: Draft::from_spec(spec, &Draft::default()),
                        tree: single_layout(pane),
                        show_problem: false,
                        show_selection: false,
                        ..State::default()
                    };
                    App::with_state(cc, state).expect("a thread for the worker")
                });
            window.state_mut().show_record(Arc::clone(&record));
            until_answered(&mut window);
            if pane == PaneKind::Second {
                until(&mut window, "the projection", |app| app.session().second.projected.is_some());
            }
            let mut log = Log::default();
            for (level, text) in [
                (Level::Info, "3,000 points"),
                (Level::Warning, "no GPU"),
                (Level::Error, "cannot read: it is gone: a.csv"),
            ] {
                log.add(Subject::Other, Entry { unix: 45_296, level, text: text.to_owned() });
            }
            window.state_mut().set_log(log);
            window.state_mut().send(Action::SelectRank(Some(3)));
            window.run_steps(4);
            // The status line depends on the machine.
            window.mask(egui::Rect::from_min_max(egui::pos2(0.0, 290.0), egui::pos2(420.0, 320.0)));
            let options = egui_kittest::SnapshotOptions::new().max_failed_pixels(30);
            let title = format!("{}-{name}", pane.title().to_lowercase().replace(' ', "-"));
            if let Err(error) = window.try_snapshot_options(title, &options) {
                failures.push(error.to_string());
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_window_is_drawn_without_a_display() {
    let folder = tempfile::tempdir().expect("a folder");
    // The file's name has a character that the fonts lack.
    let data = folder.path().join("🦀 data.csv");
    let rows: Vec<String> = (0..400).map(|i| format!("{},{}", (i * 37) % 101, (i * 61) % 97)).collect();
    std::fs::write(&data, format!("x,y\n{}\n", rows.join("\n"))).expect("a file");
    let png = folder.path().join("window.png");
    let show = |file: &Path| HeadlessOptions {
        file: Some(file.to_owned()),
        size: [900, 600],
        look: Theme::Light,
        scale: 1.0,
        ..HeadlessOptions::default()
    };
    render_headless(&show(&data), std::slice::from_ref(&png)).unwrap_or_else(|error| panic!("{error:#}"));
    let picture = image::open(&png).expect("a PNG").into_rgb8();
    assert_eq!(picture.dimensions(), (900, 600));
    // Query, neighbours and points appear in their colours.
    let palette = warpscope::app::tokens::Palette::LIGHT;
    for color in [palette.query, palette.neighbor, palette.point] {
        let [r, g, b, _] = color.to_array();
        assert!(
            picture.pixels().filter(|pixel| pixel.0 == [r, g, b]).count() > 20,
            "{color:?} is not visible"
        );
    }
    let error = render_headless(&show(&folder.path().join("gone.csv")), std::slice::from_ref(&png))
        .expect_err("no such file");
    assert!(error.to_string().starts_with("cannot read: "), "{error:#}");
}

/// An engine without convergence shows no theory curve: for this many points `auto` chooses the k-d tree.
#[test]
fn the_window_is_drawn_without_a_display_for_any_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data.csv");
    let rows: Vec<String> =
        (0..100_000u32).map(|i| format!("{},{},{}", i % 317, i * 37 % 331, i * 61 % 307)).collect();
    std::fs::write(&data, format!("x,y,z\n{}\n", rows.join("\n"))).expect("a file");
    let png = folder.path().join("window.png");
    let show =
        HeadlessOptions { file: Some(data), size: [900, 600], scale: 1.0, ..HeadlessOptions::default() };
    render_headless(&show, std::slice::from_ref(&png)).unwrap_or_else(|error| panic!("{error:#}"));
    assert!(png.metadata().expect("a PNG").len() > 20_000);
}

/// 1280 × 800 pixels at scales of 100, 125 and 150 %.
#[test]
fn small_windows_show_one_pane_at_a_time() {
    for hints in [false, true] {
        for (size, one) in [
            ([1280.0, 800.0], false),
            ([1024.0, 640.0], false),
            ([1280.0 / 1.5, 800.0 / 1.5], true),
            ([1280.0, 520.0], true),
        ] {
            let mut window: Window = Harness::builder().with_size(size).build_eframe(|cc| {
                let mut state = State { hints, ..State::default() };
                small(&mut state);
                App::with_state(cc, state).expect("a thread for the worker")
            });
            window.state_mut().send(Command::Run);
            until_answered(&mut window);
            window.state_mut().send(Command::Show(PaneKind::Merges));
            window.run_steps(3);
            let shown = window.query_by_role_and_label(Role::ComboBox, "Pane").is_some();
            assert_eq!(shown, one, "one pane in {size:?}, hints: {hints}");
            let figure = window.get_by_role_and_label(Role::Canvas, "Histogram of merges").rect();
            assert!(figure.height() > 80.0, "{figure:?} in {size:?}, hints: {hints}");
            if !one {
                assert!(window.get_by_role_and_label(Role::Canvas, "Plane of points").rect().width() > 150.0);
            }
        }
    }
}

/// 1280 × 800 pixels at scales of 200 and 300 %.
#[test]
fn all_controls_are_reachable_at_a_large_scale() {
    let sized = |size: [f32; 2]| -> Window {
        let mut window: Window = Harness::builder().with_size(size).build_eframe(|cc| {
            let mut state = State { hints: false, ..State::default() };
            small(&mut state);
            state.draft.generator = "uniform:n=500,d=5".to_owned();
            App::with_state(cc, state).expect("a thread for the worker")
        });
        window.state_mut().send(Command::Run);
        until_answered(&mut window);
        window
    };
    let canvas = |window: &Window, label: &str| window.get_by_role_and_label(Role::Canvas, label).rect();
    let choose = |window: &mut Window, pane: &str| {
        window.get_by_role_and_label(Role::ComboBox, "Pane").click();
        window.run_steps(3);
        press(window, pane);
    };

    let mut window = sized([640.0, 400.0]);
    assert!(canvas(&window, "Plane of points").height() > 200.0, "{:?}", canvas(&window, "Plane of points"));
    window.get_by_label("neighbours computed in all 5 dimensions");
    assert!(window.query_by_role_and_label(Role::ComboBox, "Axis right").is_none());
    press(&mut window, "Options");
    window.get_by_role_and_label(Role::ComboBox, "Axis right");
    press(&mut window, "Options");
    assert!(window.query_by_role_and_label(Role::ComboBox, "Axis right").is_none());
    for pane in PaneKind::ALL.iter().map(|pane| pane.title()).filter(|pane| *pane != "Plane") {
        choose(&mut window, pane);
        assert_eq!(window.state().state().pane.title(), pane);
        window.get_by_role_and_label(Role::Button, &format!("Export {pane}"));
    }
    window.get_by_role_and_label(Role::Button, "Run");

    // In a narrower window, either the problem or a pane is shown.
    let mut window = sized([427.0, 267.0]);
    let rect = canvas(&window, "Plane of points");
    assert!(rect.width() > 300.0 && rect.height() > 80.0, "{rect:?}");
    assert!(window.query_by_role_and_label(Role::Button, "Run").is_none());
    press(&mut window, "Problem");
    window.get_by_role_and_label(Role::Button, "Run");
    assert!(window.query_by_role_and_label(Role::Canvas, "Plane of points").is_none());
    window.state_mut().send(Command::Show(PaneKind::Timings));
    window.run_steps(3);
    window.get_by_label_contains("Search time on");
}

/// Scrolls over something until nothing moves.
fn scroll_over(window: &mut Window, place: egui::Rect) {
    window.event(egui::Event::PointerMoved(place.center()));
    window.event(egui::Event::MouseWheel {
        source: egui::MouseWheelSource::Unknown,
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, -3_000.0),
        phase: egui::TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
    });
    window.run_steps(60);
}

#[test]
fn menus_taller_than_the_window_scroll() {
    let mut window: Window = Harness::builder().with_size([640.0, 400.0]).build_eframe(|cc| {
        let state = State { hints: false, ..State::default() };
        App::with_state(cc, state).expect("a thread for the worker")
    });
    press(&mut window, "View");
    let last = |window: &Window| window.get_by_role_and_label(Role::RadioButton, "300 %").rect();
    assert!(last(&window).top() > 400.0, "{:?}", last(&window));
    let first = window.get_by_label_contains("Fit the views").rect();
    scroll_over(&mut window, first);
    assert!(last(&window).bottom() < 395.0, "{:?}", last(&window));
    window.get_by_role_and_label(Role::RadioButton, "300 %").click();
    window.run_steps(3);
    assert_eq!(window.state().state().scale, 3.0);
}

/// 1280 × 800 pixels at scales of 200 and 300 %.
#[test]
fn dialogs_and_popups_scroll_in_small_windows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wide.csv");
    let row = |cell: &dyn Fn(usize) -> String| (0..60).map(cell).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..8).map(|row_at| row(&|at| (row_at * at).to_string())).collect();
    std::fs::write(&path, format!("{}\n{}\n", row(&|at| format!("c{at}")), rows.join("\n"))).expect("a file");
    for size in [[640.0, 400.0], [427.0, 267.0]] {
        let mut window: Window = Harness::builder().with_size(size).build_eframe(|cc| {
            let mut state = State { hints: false, problem_alone: true, ..State::default() };
            small(&mut state);
            App::with_state(cc, state).expect("a thread for the worker")
        });
        window.state_mut().send(Action::OpenPath(path.clone()));
        until(&mut window, "the columns", |app| {
            app.session().cloud.is_some() && app.session().columns.is_some()
        });
        press(&mut window, "Columns…");
        window.run_steps(3);
        let at = |window: &Window, column: &str| {
            window.query_by_role_and_label(Role::Button, column).map(|role| role.rect())
        };
        let first = at(&window, "c0: Coordinate").expect("the first column");
        assert!(
            first.top() >= 0.0 && first.bottom() < size[1] && at(&window, "c59: Coordinate").is_none(),
            "{size:?}: {first:?}"
        );
        scroll_over(&mut window, first);
        let last = at(&window, "c59: Coordinate").expect("the last column");
        let used = at(&window, "Use these").expect("the button under them");
        assert!(last.bottom() <= used.top() && used.bottom() < size[1], "{size:?}: {last:?}, {used:?}");
    }

    // Each pane's export menu opens from a button.
    let mut window: Window = Harness::builder().with_size([427.0, 120.0]).build_eframe(|cc| {
        let state = State { hints: false, tree: single_layout(PaneKind::Neighbors), ..State::default() };
        App::with_state(cc, state).expect("a thread for the worker")
    });
    press(&mut window, "Export Neighbours");
    window.run_steps(3);
    let at = |window: &Window, entry: &str| window.get_by_role_and_label(Role::Button, entry).rect();
    let first = at(&window, "Data as CSV, TSV, Parquet or npz…");
    assert!(first.top() >= 0.0 && at(&window, "Picture as PNG or SVG…").bottom() > 120.0, "{first:?}");
    scroll_over(&mut window, first);
    assert!(at(&window, "Picture as PNG or SVG…").bottom() < 120.0);
}

#[test]
fn files_with_several_clouds_prompt_for_a_choice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.npz");
    std::fs::write(&path, two_arrays()).expect("a file");
    let mut window = window(small);
    press(&mut window, "From a file");
    fill(&mut window, "Path", path.to_str().expect("a plain path"));
    press(&mut window, "Load");
    until(&mut window, "the question", |app| app.session().datasets.is_some());
    assert!(
        !window.state().session().log.entries().iter().any(|entry| entry.level == Level::Error),
        "a question is not an error"
    );

    // Closing the dialog changes nothing; when it is opened again, arrow keys choose.
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    assert!(window.state().session().datasets.is_none() && window.state().session().cloud.is_none());
    press(&mut window, "Load");
    until(&mut window, "the question", |app| app.session().datasets.is_some());
    window.get_by_role_and_label(Role::Button, "first, 3 × 2, u8");
    window.key_press(egui::Key::ArrowDown);
    window.run_steps(3);
    assert_eq!(window.state().session().datasets.as_ref().map(|dialog| dialog.selected), Some(1));
    window.key_press(egui::Key::Enter);
    until(&mut window, "the second cloud", |app| app.session().cloud.is_some());
    let cloud = window.state().session().cloud.clone().expect("the second cloud");
    assert_eq!((cloud.len(), cloud.dims(), cloud.coordinate(0, 0)), (2, 3, 7.0));
    assert!(
        window.state().state().draft.path.ends_with("two.npz:second"),
        "{}",
        window.state().state().draft.path
    );

    // Asks the same question about a file of queries, answered with the pointer.
    press(&mut window, "A file");
    fill(&mut window, "Query file", path.to_str().expect("a plain path"));
    press(&mut window, "Run");
    until(&mut window, "the question", |app| app.session().datasets.is_some());
    press(&mut window, "second, 2 × 3, u8");
    press(&mut window, "Load this one");
    until(&mut window, "an answer", |app| app.session().record.is_some() && !app.is_busy());
    assert_eq!(
        window
            .state()
            .session()
            .record
            .as_ref()
            .and_then(|record| record.query_cloud.as_ref())
            .map(|cloud| cloud.len()),
        Some(2)
    );
}

/// An archive of two arrays: `first`, 3 × 2, and `second`, 2 × 3.
pub fn two_arrays() -> Vec<u8> {
    use std::io::Write as _;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, shape, value) in [("first", "(3, 2)", 5), ("second", "(2, 3)", 7)] {
        let head = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
        let head = format!("{head:<117}\n");
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).expect("a member");
        zip.write_all(b"\x93NUMPY\x01\x00")
            .and_then(|()| zip.write_all(&(head.len() as u16).to_le_bytes()))
            .expect("a header");
        zip.write_all(head.as_bytes()).and_then(|()| zip.write_all(&[value; 6])).expect("an array");
    }
    zip.finish().expect("an archive").into_inner()
}
