//! Files of every version open for ever, with their original values. `tests/data/versions` has a folder for
//! each version with recordings, a session, a run's folder and the window's state, as that version wrote
//! them, and their expected values in `values.json`.
//!
//! Never change a folder. Write a new one before a version's first release and whenever a format changes:
//!
//! ```sh
//! WARPSCOPE_KEEP=tests/data/versions/NAME cargo test --test file_versions -- --ignored write_version_fixtures
//! ```
//!
//! Files from before these folders are in `tests/first_version.rs`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use warpscope::cloud::{self, ColumnChoice, Source, formats};
use warpscope::export;
use warpscope::knn::{Metric, Profile, WarpSpan, warp};
use warpscope::progress::NoProgress;
use warpscope::run::compare::SavedRun;
use warpscope::run::recording::{self, CloudLoadMode, RecordedRun};
use warpscope::run::{
    EnginePool, LoadedRun, LoadedSpec, Phase, QuerySpec, RunFile, RunRecord, RunSpec, Sample,
};

/// The folders of all versions.
fn versions() -> Vec<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/versions");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(place).expect("it exists").map(|entry| entry.expect("a folder").path()).collect();
    // Sorted as numbers: 0.9.0 comes before 0.10.0.
    folders.sort_by_key(|folder| {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        name.split('.').map(|part| part.parse::<u32>().expect("a version")).collect::<Vec<_>>()
    });
    assert!(!folders.is_empty());
    folders
}

/// All values in the files of a folder.
fn values(folder: &Path) -> Value {
    let mut all = serde_json::Map::new();
    for name in ["runs.warpscope", "session.warpscope"] {
        all.insert(name.to_owned(), of_recording(&folder.join(name)));
    }
    all.insert("folder".to_owned(), of_folder(&folder.join("folder")));
    #[cfg(feature = "gui")]
    all.insert("state.json".to_owned(), window::of_state(folder));
    // Through text, so that numbers on both sides are converted alike.
    serde_json::from_str(&Value::Object(all).to_string()).expect("its own text")
}

fn of_recording(path: &Path) -> Value {
    let recording =
        recording::read(path, CloudLoadMode::Restore, &NoProgress).unwrap_or_else(|error| panic!("{error}"));
    let session = recording
        .session
        .map(|text| serde_json::from_slice::<Value>(&text.expect("it is read")).expect("JSON"));
    #[cfg(feature = "gui")]
    let session = session.map(|text| window::of_session(&text));
    json!({
        "written by": recording.written_by,
        "points": recording.points,
        "runs": recording.runs.iter().map(of_run).collect::<Vec<_>>(),
        "session": session,
        "cloud": recording.cloud.map(|cloud| cloud.fingerprint().clone()),
    })
}

fn of_run(recorded: &RecordedRun) -> Value {
    let LoadedRun::Whole(run) = &recorded.run else {
        panic!("{}: points are missing from the file", recorded.name)
    };
    let points = |cloud: &Arc<cloud::PointCloud>| {
        let rows = (0..cloud.len())
            .map(|row| (0..cloud.dims()).map(|axis| cloud.coordinate(row, axis)).collect::<Vec<f64>>());
        json!({
            "fingerprint": cloud.fingerprint(),
            "dropped": cloud.dropped(),
            "points": rows.collect::<Vec<_>>(),
        })
    };
    let measured = |(name, values): (&str, &[u32])| json!({ "name": name, "values": values });
    let of_query = |query: usize| {
        let (seen, far) = run.convergence.for_query(query);
        json!({ "points seen": seen, "max squared distance": far })
    };
    let sample = |sample: &Sample| {
        json!([sample.phase.name(), sample.repeat, sample.chunk, sample.start_ms, sample.duration_ms])
    };
    json!({
        "name": recorded.name,
        "pinned": recorded.pinned,
        "run.json": run.head,
        "cloud": points(&run.cloud),
        "query cloud": run.query_cloud.as_ref().map(points),
        "query rows": run.query_rows,
        "neighbors": run.neighbors.indices,
        // JSON has no infinity.
        "squared distances": run.neighbors.squared_distances.iter().map(f32::to_string).collect::<Vec<_>>(),
        "measured": run.measured.columns().map(measured).collect::<Vec<_>>(),
        "counted by": run.convergence.counted_by,
        "convergence": (0..run.convergence.queries()).map(of_query).collect::<Vec<_>>(),
        "profile": run.profile.as_ref().map(|profile| {
            json!({ "phases": profile.phases, "cycles": profile.cycles, "spans": profile.spans })
        }),
        "samples": run.samples.iter().map(sample).collect::<Vec<_>>(),
    })
}

fn of_folder(path: &Path) -> Value {
    let saved = SavedRun::read(path).unwrap_or_else(|error| panic!("{error}"));
    assert!(saved.neighbors.is_some());
    let array = |name| -> Vec<f64> {
        let path = formats::path_of(&path.join("neighbors.npz"), name);
        formats::read(&path, &ColumnChoice::Default, &NoProgress)
            .unwrap_or_else(|error| panic!("{error}"))
            .values
            .iter()
            .collect()
    };
    let phases = saved.phases.iter().map(|((engine, phase), ms)| json!([engine, phase.name(), ms]));
    json!({
        "run.json": saved.file,
        "phases": phases.collect::<Vec<_>>(),
        "neighbors": { "indices": array("indices"), "squared_distances": array("squared_distances") },
    })
}

/// Checks that found values equal the old ones; there may be additional keys.
#[track_caller]
fn assert_has(found: &Value, kept: &Value, at: &str) {
    match (found, kept) {
        (Value::Object(found), Value::Object(kept)) => {
            // Files that are read have the latest schema.
            for (key, value) in kept.iter().filter(|(key, _)| *key != "schema_version") {
                let found = found.get(key).unwrap_or_else(|| panic!("{at}: {key} is gone"));
                assert_has(found, value, &format!("{at} / {key}"));
            }
        }
        (Value::Array(found), Value::Array(kept)) => {
            assert_eq!(found.len(), kept.len(), "{at}");
            for (index, (found, kept)) in found.iter().zip(kept).enumerate() {
                assert_has(found, kept, &format!("{at} / {index}"));
            }
        }
        _ => assert_eq!(found, kept, "{at}"),
    }
}

#[test]
fn files_of_every_version_open_with_recorded_values() {
    for folder in versions() {
        let text = fs::read_to_string(folder.join("values.json")).expect("it exists");
        let mut kept: Value = serde_json::from_str(&text).expect("JSON");
        if !cfg!(feature = "gui") {
            let all = kept.as_object_mut().expect("a list of files");
            all.remove("state.json").expect("it was stored");
            // Only the window reads the session.
            all["session.warpscope"]
                .as_object_mut()
                .expect("a recording")
                .remove("session")
                .expect("it was stored");
        }
        assert_has(&values(&folder), &kept, &folder.display().to_string());
    }
}

/// A recording with the text of a member changed.
fn changed(recording: &Path, member: &str, change: impl Fn(&mut Value)) -> tempfile::TempPath {
    let mut archive =
        zip::ZipArchive::new(fs::File::open(recording).expect("it exists")).expect("an archive");
    let (file, path) = tempfile::Builder::new().suffix(".warpscope").tempfile().expect("a file").into_parts();
    let mut out = zip::ZipWriter::new(file);
    for at in 0..archive.len() {
        let mut read = archive.by_index(at).expect("a member");
        let (name, mut bytes) = (read.name().expect("a name").into_owned(), Vec::new());
        read.read_to_end(&mut bytes).expect("its bytes");
        if name == member {
            let mut value: Value = serde_json::from_slice(&bytes).expect("JSON");
            change(&mut value);
            bytes = value.to_string().into_bytes();
        }
        out.start_file(name, zip::write::SimpleFileOptions::default()).expect("a member");
        out.write_all(&bytes).expect("its bytes");
    }
    out.finish().expect("an archive");
    path
}

/// A version's run folder with another `run.json`.
fn changed_folder(folder: &Path, change: impl Fn(&mut Value)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(folder).expect("it exists") {
        let path = entry.expect("a file").path();
        fs::copy(&path, copy.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    let json = copy.path().join("run.json");
    let mut value: Value = serde_json::from_slice(&fs::read(&json).expect("it exists")).expect("JSON");
    change(&mut value);
    fs::write(&json, value.to_string()).expect("a file");
    copy
}

fn raise(value: &mut Value) {
    value["schema_version"] = json!(value["schema_version"].as_u64().expect("a version") + 2);
    value["warpscope_version"] = json!("9.1.0");
}

#[test]
fn newer_file_versions_are_refused_with_a_remedy() {
    let folder = versions().pop().expect("one");
    let newer = changed(&folder.join("runs.warpscope"), "recording.json", raise);
    assert_eq!(
        recording::read(&newer, CloudLoadMode::Restore, &NoProgress).expect_err("it is newer").to_string(),
        format!(
            "a newer recording: its schema is version 3, but this program reads up to 2; open it with \
             Warpscope 9.1.0 or later: {}",
            newer.display()
        )
    );
    let newer = changed_folder(&folder.join("folder"), raise);
    assert_eq!(
        SavedRun::read(newer.path()).expect_err("it is newer").to_string(),
        format!(
            "a newer run: its schema is version 3, but this program reads up to 2; open it with Warpscope \
             9.1.0 or later: {}",
            newer.path().join("run.json").display()
        )
    );
    // Only the window reads a newer session; its runs are read anyway.
    let newer = changed(&folder.join("session.warpscope"), "session.json", raise);
    let opened = recording::read(&newer, CloudLoadMode::Restore, &NoProgress).expect("its runs");
    assert!(!opened.runs.is_empty());
    #[cfg(feature = "gui")]
    assert_eq!(
        warpscope::app::saved::SavedSession::read(&opened.session.expect("it has one").expect("text"))
            .expect_err("it is newer"),
        "saved by a newer Warpscope (schema 3; this version reads up to 1); open it with that version"
    );
}

/// The rule of `docs/recording.md`: additional keys and arrays do not change the version, and older readers
/// ignore them.
#[test]
fn unknown_keys_are_ignored() {
    let folder = versions().pop().expect("one");
    let add = |value: &mut Value| {
        value
            .as_object_mut()
            .expect("an object")
            .insert("of a later version".to_owned(), json!({ "a": [1, 2] }))
    };
    let runs = folder.join("runs.warpscope");
    let later = changed(&runs, "recording.json", |value| {
        add(value);
        add(&mut value["clouds"][0]);
        add(&mut value["clouds"][0]["cloud"]);
        add(&mut value["runs"][0]);
        add(&mut value["runs"][0]["run"]);
        add(&mut value["runs"][0]["run"]["spec"]);
    });
    assert_eq!(of_recording(&later), of_recording(&runs));
    let session = folder.join("session.warpscope");
    let later = changed(&session, "session.json", |value| {
        add(value);
        add(&mut value["view"]);
        add(&mut value["view"]["draft"]);
    });
    let kept = of_recording(&session);
    // Without the window, the session is ignored.
    assert_has(&of_recording(&later), &kept, "session");
    let later = changed_folder(&folder.join("folder"), |value| {
        add(value);
        add(&mut value["spec"]);
    });
    assert_eq!(of_folder(later.path()), of_folder(&folder.join("folder")));
}

/// Runs a spec over a cloud.
fn run(change: impl FnOnce(&mut RunSpec), data: &Path, queries: Option<&Path>) -> RunRecord {
    let file = |path: &Path| Source::File { path: path.to_owned(), columns: ColumnChoice::Default };
    let load = |path: &Path| Arc::new(cloud::load(&file(path), true, &NoProgress).expect("a cloud"));
    let of_file = |path: &Path| QuerySpec::File { path: path.to_owned(), columns: ColumnChoice::Default };
    let asked = queries.map_or_else(|| QuerySpec::Rows(vec![0, 3, 7, 20]), of_file);
    let mut spec =
        RunSpec { warmup: 1, repeats: 2, drop_nonfinite: true, ..RunSpec::new(file(data), asked, 4) };
    change(&mut spec);
    let query_cloud = queries.map(load);
    EnginePool::default()
        .execute(LoadedSpec::new(&spec, &load(data), query_cloud.as_ref()), &mut |_, _| true)
        .expect("a run")
}

#[test]
#[ignore = "writes what this version keeps, see above"]
fn write_version_fixtures() {
    let Some(folder) = std::env::var_os("WARPSCOPE_KEEP") else {
        panic!("set WARPSCOPE_KEEP to the folder to write")
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    if !cfg!(feature = "gui") {
        panic!("sessions and state need the window: omit --no-default-features");
    }
    assert!(!folder.exists(), "the folder exists and must not be changed: {}", folder.display());
    fs::create_dir_all(&folder).expect("a folder");
    let place = tempfile::tempdir().expect("a folder");
    // Names without folders, so that files do not depend on this machine.
    std::env::set_current_dir(place.path()).expect("it exists");
    let (data, queries) = (PathBuf::from("points.csv"), PathBuf::from("queries.csv"));
    // Far from zero, so that an origin is stored, and with a row that is dropped.
    let row = |row: i32| format!("{}.25,{}.5,{}\n", 40_000_000 + row * 37 % 53, row * row % 29, row % 5);
    let rows: String = (0..40).map(|at| if at == 30 { "1,nan,2\n".to_owned() } else { row(at) }).collect();
    fs::write(&data, format!("east,north,class\n{rows}")).expect("a file");
    fs::write(&queries, format!("east,north,class\n{}{}", row(100), row(217))).expect("a file");

    let engine =
        |name: &'static str| move |spec: &mut RunSpec| spec.engine = name.parse().expect("an engine");
    let counted = run(engine("lockstep"), &data, None);
    let mut profiled = counted.clone();
    profiled.head.spec.profile = true;
    profiled.samples.push(Sample {
        phase: Phase::Profiled,
        repeat: 0,
        chunk: 0,
        start_ms: 9.5,
        duration_ms: 0.25,
    });
    let span = |query: u64| WarpSpan {
        start_ns: 1_000 * query,
        stop_ns: 1_000 * query + 700,
        sm: query as u32 % 2,
        warp: 3,
    };
    let asked = profiled.query_rows.len() as u64;
    let (cycles, spans) = (
        (0..asked).flat_map(|query| [1, 2, 3, 4, 5, 6].map(|cycles| cycles + 10 * query)),
        (0..asked).map(span),
    );
    profiled.profile =
        Some(Profile { cycles: cycles.collect(), spans: spans.collect(), ..Profile::new(&warp::PHASES) });
    let angular = |spec: &mut RunSpec| {
        (spec.engine, spec.metric, spec.exclude_self) =
            ("kdtree".parse().expect("an engine"), Metric::Angular, true)
    };
    let recorded = |name: &str, run: RunRecord| RecordedRun {
        name: name.to_owned(),
        pinned: name == "counted",
        run: LoadedRun::Whole(Arc::new(run)),
    };
    let runs = [
        recorded("counted", counted.clone()),
        recorded("profiled", profiled),
        recorded("angular", run(angular, &data, None)),
        recorded("of a query file", run(|spec| spec.k = 50, &data, Some(&queries))),
    ];
    export::recording(&runs, true, &folder.join("runs.warpscope"), &NoProgress).expect("a recording");
    fs::create_dir(folder.join("folder")).expect("a folder");
    export::folder(&counted, &folder.join("folder")).expect("a run's folder");
    #[cfg(feature = "gui")]
    window::write(&folder, &data);
    #[cfg(feature = "gui")]
    fs::write(folder.join("values.json"), format!("{}\n", values(&folder))).expect("a file");
    assert_eq!(
        RunFile::read(&fs::read(folder.join("folder/run.json")).expect("it exists")),
        Ok(counted.head)
    );
}

/// Files that only the window writes and reads.
#[cfg(feature = "gui")]
#[path = "common/window.rs"]
mod driven;

#[cfg(feature = "gui")]
mod window {
    use super::*;
    use crate::driven::{press, small, until, until_answered};
    use egui_kittest::Harness;
    use warpscope::app::commands::Action;
    use warpscope::app::runs::RunsAction;
    use warpscope::app::saved::SavedSession;
    use warpscope::app::selection::{SelectAction, SelectMode};
    use warpscope::app::state::{PlaneView, PlaneWindow, State};
    use warpscope::app::{
        App, ColorAction, ColorBy, ColorView, DataKind, ProjectionKind, ProjectionView, settings,
    };

    /// Only the parts that the program reads.
    pub fn of_session(text: &Value) -> Value {
        let session = SavedSession::read(text.to_string().as_bytes()).unwrap_or_else(|why| panic!("{why}"));
        serde_json::to_value(session).expect("plain data")
    }

    /// The result of starting with the folder's `state.json`.
    pub fn of_state(folder: &Path) -> Value {
        // A start writes to its folder.
        let place = tempfile::tempdir().expect("a folder");
        fs::copy(folder.join("state.json"), place.path().join("state.json")).expect("it was stored");
        let startup = settings::begin(place.path());
        assert!(startup.warnings.is_empty(), "{:?}", startup.warnings);
        let (state, last) = startup.found.expect("it is read");
        let mut state = serde_json::to_value(state).expect("plain data");
        // The pane tree is rebuilt at each start, in the same order, and now belongs to the other workspace.
        let fields = state.as_object_mut().expect("fields");
        let tree = fields.remove("other_tree").expect("the panes");
        let panes =
            tree["tiles"]["tiles"].as_object().expect("tiles").values().filter_map(|tile| tile.get("Pane"));
        let mut panes: Vec<String> = panes.map(Value::to_string).collect();
        panes.sort_unstable();
        json!({
            "state": state,
            "panes": panes,
            "last": last.map(|last| serde_json::from_str::<Value>(&last).expect("JSON")),
        })
    }

    /// A session, and the state saved by its window.
    pub fn write(folder: &Path, data: &Path) {
        let place = tempfile::tempdir().expect("a folder");
        // After the first start, the fields on the left name the shown file.
        let mut state = State::default();
        small(&mut state);
        (state.draft.data, state.draft.path) =
            (DataKind::File, fs::canonicalize(data).expect("it exists").display().to_string());
        (state.draft.k, state.draft.query_count, state.draft.drop_nonfinite) =
            ("5".to_owned(), "12".to_owned(), true);
        let mut before = settings::begin(place.path());
        before.settings.write(&state, None).expect("a writable folder");
        before.start.over();
        let begun = settings::begin(place.path());
        let mut window = Harness::builder()
            .with_size([1280.0, 800.0])
            .build_eframe(move |cc| App::begin(cc, None, Some(begun)).expect("a thread for the worker"));
        until(&mut window, "the cloud", |app| app.session().cloud.is_some() && !app.is_busy());
        press(&mut window, "Run");
        until_answered(&mut window);
        let first = window.state().session().runs.runs()[0].id;
        for action in [
            RunsAction::Rename(Some((first, "a run".to_owned()))),
            RunsAction::TakeName,
            RunsAction::Pin(first, true),
        ] {
            window.state_mut().send(action);
            window.run_steps(2);
        }
        let center = PlaneWindow { center: [3.5, -1.5], units_per_point: 0.125 };
        for action in [
            Action::PickRow(12),
            SelectAction::rows(vec![3, 4, 5, 20], SelectMode::Replace, "lasso in Plane").into(),
            Action::SetProjection(ProjectionView { kind: ProjectionKind::Random, seed: 3 }),
            ColorAction::Set(ColorView {
                by: ColorBy::Column("class".to_owned()),
                log: true,
                ..ColorView::default()
            })
            .into(),
            Action::SetPlane(PlaneView {
                axes: [1, 0],
                window: Some(center),
                lens: false,
                ..PlaneView::default()
            }),
            Action::SetScale(1.25),
            Action::SelectRank(Some(2)),
            Action::ShowHints(false),
        ] {
            window.state_mut().send(action);
            window.run_steps(2);
        }
        until(&mut window, "an end", |app| !app.is_busy() && app.session().activity == Default::default());
        let path = folder.join("session.warpscope");
        let session =
            SavedSession::new(window.state().state(), window.state().session()).text().expect("a session");
        let shown =
            recording::WindowState { session: &session, cloud: window.state().session().cloud.as_ref() };
        let runs = window.state().session().runs.runs().iter();
        let runs: Vec<RecordedRun> = runs
            .map(|run| RecordedRun { name: run.name.clone(), pinned: run.pinned, run: run.run.clone() })
            .collect();
        export::session(shown, &runs, true, &path, &NoProgress).expect("a session");
        window.state_mut().save_settings();
        fs::copy(place.path().join("state.json"), folder.join("state.json")).expect("it was stored");
    }
}
