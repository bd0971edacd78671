//! The list of runs in the window: names, pins, comparison, recordings saved and reopened.

use std::path::Path;
use std::sync::Arc;

use crate::driven::{Window, fill, press, small, until, until_answered, window};
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use warpscope::app::commands::{Action, Command};
use warpscope::app::runs::RunsAction;
use warpscope::app::state::{PaneKind, State, single_layout};
use warpscope::app::{App, Level, QueryKind};
use warpscope::knn::EngineId;
use warpscope::run::{EngineChoice, QuerySpec, RunRecord};

const FIRST: &str = "uniform, 40 × 500, k = 8, lockstep";
const SECOND: &str = "uniform, 40 × 500, k = 8, kdtree";

fn names(window: &Window) -> Vec<String> {
    window.state().session().runs.runs().iter().map(|run| run.name.clone()).collect()
}

fn shown(window: &Window) -> Arc<RunRecord> {
    window.state().session().record.clone().expect("a run is shown")
}

/// A window that shows only Runs, with one run by lockstep and one by the k-d tree.
fn two_runs() -> Window {
    let mut window = window(|state: &mut State| {
        small(state);
        state.tree = single_layout(PaneKind::Runs);
        state.show_selection = false;
        state.draft.repeats = "4".to_owned();
    });
    window.get_by_label("No runs yet");
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    let mut draft = window.state().state().draft.clone();
    draft.engine = EngineChoice::named(EngineId::new("kdtree"));
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.state_mut().send(Command::Run);
    until(&mut window, "the second run", |app| app.session().runs.runs().len() == 2 && !app.is_busy());
    window
}

fn check(window: &mut Window, name: &str) {
    window.get_by_role_and_label(Role::CheckBox, name).click();
    window.run_steps(3);
}

fn focus_run(window: &mut Window, name: &str) {
    window.get_by_role_and_label(Role::Button, name).focus();
    window.run_steps(2);
}

fn key(window: &mut Window, key: egui::Key) {
    window.key_press(key);
    window.run_steps(3);
}

#[test]
fn runs_are_listed_shown_renamed_pinned_and_deleted() {
    let mut window = two_runs();
    assert_eq!(names(&window), [FIRST, SECOND]);
    assert_eq!(shown(&window).engine, EngineId::new("kdtree"));
    press(&mut window, FIRST);
    assert_eq!(shown(&window).engine, EngineId::new("lockstep"));
    assert_eq!(
        window.state().state().draft.engine,
        EngineChoice::named(EngineId::new("lockstep")),
        "the fields ask what is shown"
    );

    // The newest run is on top.
    focus_run(&mut window, FIRST);
    key(&mut window, egui::Key::ArrowUp);
    assert_eq!(shown(&window).engine, EngineId::new("kdtree"));
    key(&mut window, egui::Key::ArrowDown);
    assert_eq!(shown(&window).engine, EngineId::new("lockstep"));

    key(&mut window, egui::Key::F2);
    fill(&mut window, "Name of the run", "baseline");
    key(&mut window, egui::Key::Enter);
    assert_eq!(names(&window), ["baseline", SECOND]);
    press(&mut window, "Rename");
    fill(&mut window, "Name of the run", "never mind");
    key(&mut window, egui::Key::Escape);
    assert_eq!(names(&window), ["baseline", SECOND]);

    check(&mut window, "Pin baseline");
    assert!(
        window.state().session().runs.runs()[0].pinned && !window.state().session().runs.runs()[1].pinned
    );

    focus_run(&mut window, "baseline");
    key(&mut window, egui::Key::Delete);
    assert_eq!(names(&window), [SECOND]);
    press(&mut window, "Undo delete");
    assert_eq!(names(&window), ["baseline", SECOND]);
    assert!(window.state().session().runs.runs()[0].pinned);
}

#[test]
fn runs_are_sorted_by_clicks_on_headings() {
    let mut window = two_runs();
    let above = |window: &Window| {
        let top = |name: &str| window.get_by_role_and_label(Role::Button, name).rect().top();
        if top(FIRST) < top(SECOND) { FIRST } else { SECOND }
    };
    assert_eq!(above(&window), SECOND, "newest first by default");
    press(&mut window, "engine");
    assert_eq!(above(&window), SECOND, "kdtree before lockstep");
    press(&mut window, "engine, sorted ascending");
    assert_eq!(above(&window), FIRST);
    press(&mut window, "engine, sorted descending");
    assert_eq!(above(&window), SECOND);
    press(&mut window, "k");
    assert_eq!(above(&window), SECOND, "where both are equal, as before");
    // Arrow keys follow the shown order.
    press(&mut window, "engine");
    press(&mut window, "engine, sorted ascending");
    press(&mut window, FIRST);
    key(&mut window, egui::Key::ArrowDown);
    assert_eq!(shown(&window).engine, EngineId::new("kdtree"));
}

#[test]
fn a_recording_of_two_compared_runs_opens_their_comparison() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.warpscope");
    let mut window = two_runs();
    // The newer run is A.
    check(&mut window, &format!("Compare {SECOND}"));
    check(&mut window, &format!("Compare {FIRST}"));
    until(&mut window, "the comparison", |app| app.session().runs.compared.is_some());
    window.state_mut().send(Action::StartExport(warpscope::app::ExportKind::Recording(
        warpscope::app::runs::SaveScope::Compared,
    )));
    window.run_steps(3);
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    press(&mut window, "Save");
    until(&mut window, "the file", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.starts_with("written"))
    });
    drop(window);

    let compared = |path: std::path::PathBuf| {
        let mut other = crate::driven::window(small);
        other.state_mut().send(Action::OpenPath(path));
        until(&mut other, "the runs", |app| {
            app.session().runs.runs().len() == 2 && app.session().record.is_some() && !app.is_busy()
        });
        other
    };
    let mut other = compared(path.clone());
    until(&mut other, "the comparison", |app| app.session().runs.compared.is_some());
    let pair = other.state().session().runs.pair().expect("two are compared").map(|run| run.name.clone());
    assert_eq!(pair, [SECOND, FIRST]);
    other.get_by_label("The same neighbours, to the bit (40 queries, 8 ranks each).");

    let mut one = path.into_os_string();
    one.push("#1");
    let alone = compared(one.into());
    assert!(alone.state().session().runs.pair().is_none(), "one run was requested");
}

#[test]
fn two_runs_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = two_runs();
    check(&mut window, &format!("Compare {FIRST}"));
    window.get_by_label("Choose another run as B to compare.");
    check(&mut window, &format!("Compare {SECOND}"));
    until(&mut window, "the comparison", |app| app.session().runs.compared.is_some());
    window.get_by_label("The same neighbours, to the bit (40 queries, 8 ranks each).");
    window.get_all_by_label("lockstep | kdtree").next().expect("below each phase");
    let compared = window.state().session().runs.compared.clone().expect("a comparison");
    let phases: Vec<_> = compared.comparison.phases.iter().map(|phase| phase.phase.name()).collect();
    assert_eq!(phases, ["search", "download"], "the twin has an upload, the tree an index");
    assert_eq!(compared.comparison.phases[0].a.repeats, 4);
    // One engine counts merges; both have distances, which are equal.
    for (figure, text) in [
        ("Merges per query", "A"),
        ("k-th distances", "A"),
        ("Convergence", "A"),
        ("Search, each chunk", "A"),
    ] {
        press(&mut window, figure);
        window.get_all_by_label(text).next().expect("the head of the comparison");
    }
    press(&mut window, "Swap A and B");
    until(&mut window, "the comparison", |app| app.session().runs.compared.is_some());
    window.get_all_by_label("kdtree | lockstep").next().expect("below each phase");

    window.state_mut().send(Action::StartExport(warpscope::app::ExportKind::Data(PaneKind::Runs)));
    window.run_steps(3);
    let path = folder.path().join("comparison.csv");
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    press(&mut window, "Save");
    until(&mut window, "the file", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.starts_with("written"))
    });
    let compared = window.state().session().runs.compared.clone().expect("a comparison");
    let mut reader = csv::Reader::from_path(&path).expect("the file");
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
    assert_eq!((&rows[0][0], &rows[0][1]), ("phase_ms", "search"));
    assert_eq!(rows[0][2].parse(), Ok(compared.comparison.phases[0].a.median), "what is on screen, exactly");
    assert!(rows.iter().any(|row| &row[0] == "parameter"
        && &row[1] == "engine"
        && &row[2] == "kdtree"
        && &row[12] == "differs"));
    assert!(rows.iter().any(|row| &row[0] == "answers" && &row[1] == "other_rows" && &row[2] == "0"));

    press(&mut window, "Stop comparing");
    assert!(window.state().session().runs.compared.is_none());
    window.get_by_label("Choose two under A, B to compare them.");
}

#[test]
fn runs_of_different_jobs_are_not_ranked() {
    let mut window = two_runs();
    let mut draft = window.state().state().draft.clone();
    draft.k = "9".to_owned();
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.state_mut().send(Command::Run);
    until(&mut window, "the third run", |app| app.session().runs.runs().len() == 3 && !app.is_busy());
    let third = names(&window).remove(2);
    check(&mut window, &format!("Compare {SECOND}"));
    check(&mut window, &format!("Compare {third}"));
    until(&mut window, "the comparison", |app| app.session().runs.compared.is_some());
    window.get_by_label("These are different jobs (k), so neither is called faster.");
    assert!(window.query_all_by_label("different job").next().is_some(), "in the place of the verdict");
    for verdict in ["faster", "slower", "no difference shown"] {
        assert!(window.query_all_by_label(verdict).next().is_none(), "{verdict}");
    }
}

/// A position is typed, run, recorded and reopened; it is never taken for a row.
#[test]
fn query_positions_are_recorded_as_positions() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("place.warpscope");
    let mut window = window(|state: &mut State| {
        small(state);
        state.tree = single_layout(PaneKind::Runs);
    });
    press(&mut window, "Place");
    let missing = "A coordinate is missing; write a place as its coordinates, for example 0.5,-1.";
    assert!(window.query_all_by_label(missing).next().is_some(), "at the field and by the button");
    fill(&mut window, "Coordinates", "0.25,0.75");
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    let as_a_place = |window: &Window| {
        assert_eq!(shown(window).spec.queries, QuerySpec::At(vec![0.25, 0.75]));
        assert_eq!(
            (window.state().state().draft.queries, window.state().state().draft.query_place.as_str()),
            (QueryKind::Coordinates, "0.25,0.75")
        );
        window.get_by_label("not a row of the cloud");
        assert!(window.query_all_by_label("Row").next().is_none(), "unexpected value");
    };
    as_a_place(&window);
    save_all(&mut window, &path);
    drop(window);
    let mut fresh = crate::driven::window(|state: &mut State| state.tree = single_layout(PaneKind::Runs));
    fresh.state_mut().send(Action::OpenPath(path));
    until_answered(&mut fresh);
    as_a_place(&fresh);
    assert_eq!(
        fresh.get_by_role_and_label(Role::TextInput, "Coordinates").value().as_deref(),
        Some("0.25,0.75")
    );
}

fn save_all(window: &mut Window, path: &Path) {
    press(window, "Save recording");
    press(window, "All runs…");
    fill(window, "File", path.to_str().expect("a plain path"));
    press(window, "Save");
    until(window, "the recording", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.starts_with("written"))
    });
}

#[test]
fn a_recording_opens_unchanged_in_another_window() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.warpscope");
    let mut window = two_runs();
    window.state_mut().send(RunsAction::Pin(1, true));
    window.run_steps(2);
    // A file name that could not be reopened is refused in its field.
    press(&mut window, "Save recording");
    press(&mut window, "The shown run…");
    fill(&mut window, "File", folder.path().join("run.zip").to_str().expect("a plain path"));
    press(&mut window, "Save");
    window.get_by_label("The name of a recording must end in .warpscope.");
    press(&mut window, "Close");
    save_all(&mut window, &path);
    let kept: Vec<Arc<RunRecord>> = window
        .state()
        .session()
        .runs
        .runs()
        .iter()
        .map(|run| Arc::clone(run.run.record().expect("complete content")))
        .collect();
    drop(window);

    let file = path.clone();
    let mut fresh = egui_kittest::Harness::builder()
        .with_size([1280.0, 800.0])
        .build_eframe(move |cc| App::new(cc, Some(file)).expect("a thread for the worker"));
    until_answered(&mut fresh);
    let session = fresh.state().session();
    assert_eq!(names(&fresh), [FIRST, SECOND]);
    assert_eq!(session.runs.runs().iter().map(|run| run.pinned).collect::<Vec<_>>(), [true, false]);
    for (run, kept) in session.runs.runs().iter().zip(&kept) {
        let record = run.run.record().expect("complete content");
        assert_eq!(
            (&record.neighbors, &record.samples, &record.summary),
            (&kept.neighbors, &kept.samples, &kept.summary)
        );
        assert_eq!(
            (&record.measured, &record.convergence, &record.device),
            (&kept.measured, &kept.convergence, &kept.device)
        );
        assert_eq!(
            (record.cloud.points(), record.cloud.fingerprint()),
            (kept.cloud.points(), kept.cloud.fingerprint())
        );
    }
    assert!(Arc::ptr_eq(
        &session.runs.runs()[0].run.record().unwrap().cloud,
        &session.runs.runs()[1].run.record().unwrap().cloud
    ));
    assert_eq!(shown(&fresh).engine, EngineId::new("lockstep"), "the first is shown");
    assert!(session.log.entries().iter().any(
        |entry| entry.text.starts_with("2 runs, recorded on ") && entry.text.ends_with("runs.warpscope")
    ));

    // The recording answers its own queries; other points are searched here, and a note says so.
    let record = shown(&fresh);
    fresh.state_mut().send(Action::PickRow(record.query_rows[7]));
    fresh.run_steps(3);
    let answered = fresh.state().session().answered.clone().expect("an answer");
    assert!(Arc::ptr_eq(&answered.record, &record) && answered.query == 7);
    let other = (0..500).find(|row| !record.query_rows.contains(row)).expect("not every row was asked for");
    fresh.state_mut().send(Action::PickRow(other));
    until(&mut fresh, "an answer", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == other) && !app.is_busy()
    });
    assert!(
        fresh
            .state()
            .session()
            .log
            .entries()
            .iter()
            .any(|entry| entry.text.starts_with("this point is not in the recording; "))
    );
    assert_eq!(names(&fresh).len(), 2, "picking a point must not add a run");

    // Opening the recording again adds no duplicates.
    fresh.state_mut().send(Action::OpenPath(path));
    until(&mut fresh, "the recording", |app| !app.is_busy());
    assert_eq!(names(&fresh).len(), 2);
}

#[test]
fn recordings_of_unavailable_engines_can_be_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gpu.warpscope");
    let mut window = two_runs();
    // The run pretends to be from a machine with a GPU.
    let mut record =
        RunRecord::clone(window.state().session().runs.runs()[0].run.record().expect("complete content"));
    (record.head.engine, record.head.spec.engine) =
        (EngineId::new("cuda"), EngineChoice::named(EngineId::new("cuda")));
    record.head.device.name = "NVIDIA H200".to_owned();
    let recorded = warpscope::run::recording::RecordedRun {
        name: "on the server".to_owned(),
        pinned: false,
        run: warpscope::run::LoadedRun::Whole(Arc::new(record)),
    };
    warpscope::export::recording(&[recorded], true, &path, &warpscope::progress::NoProgress)
        .expect("a recording");
    until(&mut window, "the engines", |app| {
        app.session().engines.iter().all(|status| status.device.is_some())
    });
    if window
        .state()
        .session()
        .engines
        .iter()
        .any(|status| status.id == EngineId::new("cuda") && matches!(status.device, Some(Ok(_))))
    {
        return;
    }
    window.state_mut().send(Action::OpenPath(path));
    until(&mut window, "the recording", |app| !app.is_busy() && app.session().runs.runs().len() == 3);
    let record = shown(&window);
    assert_eq!((record.engine, record.device.name.as_str()), (EngineId::new("cuda"), "NVIDIA H200"));
    window.state_mut().send(Action::PickRow(record.query_rows[3]));
    window.run_steps(3);
    assert!(
        window
            .state()
            .session()
            .answered
            .as_ref()
            .is_some_and(|answered| Arc::ptr_eq(&answered.record, &record)),
        "no engine is needed"
    );
    let other = (0..500).find(|row| !record.query_rows.contains(row)).expect("not every row was asked for");
    window.state_mut().send(Action::PickRow(other));
    until(&mut window, "an answer", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == other) && !app.is_busy()
    });
    let answered = window.state().session().answered.clone().expect("an answer");
    assert_eq!(answered.record.engine, EngineId::new("lockstep"));
    let said =
        "this point is not in the recording; searched on this machine, engine auto (cuda cannot run here)";
    assert!(window.state().session().log.entries().iter().any(|entry| entry.text == said));
}

#[test]
fn unreadable_files_are_reported_and_removed_from_recent_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = two_runs();
    let (broken, gone) = (folder.path().join("broken.warpscope"), folder.path().join("gone.warpscope"));
    std::fs::write(&broken, "PK\u{3}\u{4}, and nothing more").expect("a file");
    for (path, why) in [(broken, "damaged: zip archive: "), (gone, "cannot read: ")] {
        window.state_mut().send(Action::OpenPath(path));
        until(&mut window, "the error", |app| {
            app.session()
                .log
                .last()
                .is_some_and(|entry| entry.level == Level::Error && entry.text.starts_with(why))
                && !app.is_busy()
        });
        assert_eq!(names(&window), [FIRST, SECOND]);
    }
    let error = window.get_by_label_contains("Error: cannot read: ").accesskit_node().label();
    assert!(error.is_none_or(|error| error.contains("gone.warpscope")));
}
