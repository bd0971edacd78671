// Longer than other files, because all tests use the same few recordings.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use super::super::testing::{BruteForceEngine, Script, cloud, queries_to, spec, stream_spans};
use super::*;
use crate::cloud::formats::{self, ColumnData, FormatError};
use crate::cloud::{ColumnChoice, Order, PointCloud, Source, load};
use crate::knn::{EngineId, Measurements, Metric};
use crate::progress::{NoProgress, Progress};
use crate::run::{LoadedSpec, QuerySpec, RunRecord, RunSpec, execute};

/// A run of the plain engine.
fn run(
    spec: &RunSpec,
    cloud: &Arc<PointCloud>,
    queries: Option<&Arc<PointCloud>>,
    kind: EngineId,
) -> RecordedRun {
    let mut engine = BruteForceEngine { kind, script: Script::default() };
    let record =
        Arc::new(execute(LoadedSpec::new(spec, cloud, queries), &mut engine, &mut |_, _| true).unwrap());
    RecordedRun { name: record.title(), pinned: false, run: LoadedRun::Whole(record) }
}

fn bytes(runs: &[RecordedRun], points: bool) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let storage = if points { CloudStorage::Points } else { CloudStorage::Sources { folder: Path::new("") } };
    write(runs, storage, &mut out, &NoProgress).unwrap();
    out.into_inner()
}

fn read_bytes(bytes: &[u8], loading: CloudLoadMode) -> Result<Recording, RecordingError> {
    read_in(tempfile::tempdir().unwrap().path(), bytes, loading)
}

/// Reads a recording from a folder.
fn read_in(folder: &Path, bytes: &[u8], loading: CloudLoadMode) -> Result<Recording, RecordingError> {
    let path = folder.join("a.warpscope");
    std::fs::write(&path, bytes).unwrap();
    read(&path, loading, &NoProgress)
}

fn assert_same_cloud(a: &PointCloud, b: &PointCloud) {
    let bits = |cloud: &PointCloud| cloud.points().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let records = |cloud: &PointCloud| cloud.records().map(Iterator::collect::<Vec<_>>);
    assert_eq!((bits(a), a.axes(), records(a), a.dropped()), (bits(b), b.axes(), records(b), b.dropped()));
    assert_eq!(
        (a.source(), a.fingerprint(), a.is_faithful()),
        (b.source(), b.fingerprint(), b.is_faithful())
    );
    for row in 0..a.len() {
        for axis in 0..a.dims() {
            assert_eq!(a.coordinate(row, axis).to_bits(), b.coordinate(row, axis).to_bits());
        }
    }
}

fn assert_same(a: &RunRecord, b: &RunRecord) {
    assert_eq!(a.head, b.head);
    assert_eq!((&a.query_rows, &a.measured, &a.convergence), (&b.query_rows, &b.measured, &b.convergence));
    assert_eq!((&a.neighbors, &a.profile, &a.samples), (&b.neighbors, &b.profile, &b.samples));
    assert_eq!(a.stream_spans, b.stream_spans);
    assert_same_cloud(&a.cloud, &b.cloud);
    assert_eq!(a.query_cloud.is_some(), b.query_cloud.is_some());
    if let (Some(a), Some(b)) = (&a.query_cloud, &b.query_cloud) {
        assert_same_cloud(a, b);
    }
}

fn record(recorded: &RecordedRun) -> &Arc<RunRecord> {
    recorded.run.record().unwrap_or_else(|| panic!("{recorded:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn runs_round_trip(
        values in prop::collection::vec(
            prop_oneof![8 => -1e3f64..1e3, 1 => Just(4_918_340.364), 1 => Just(f64::NAN)],
            4..120,
        ),
        dims in 1usize..4,
        (k, repeats, kdtree, profile, foreign, angular, shuffled) in (
            1usize..40,
            1u32..4,
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
        ),
    ) {
        let mut values = values;
        // One row is always complete, and every row has a direction.
        values.truncate(values.len() / dims * dims);
        values[..dims].fill(1.5);
        let data = cloud(dims, values);
        let queries = queries_to(&data, (0..5 * dims).map(|at| at as f64 + 0.1).collect());
        let spec = RunSpec {
            queries: if foreign {
                QuerySpec::File { path: "queries.csv".into(), columns: Default::default() }
            } else {
                QuerySpec::All
            },
            k,
            repeats,
            profile,
            metric: if angular { Metric::Angular } else { Metric::L2 },
            order: if shuffled { Order::Shuffled } else { Order::File },
            drop_nonfinite: true,
            ..spec()
        };
        let kind = if kdtree { EngineId::new("kdtree") } else { EngineId::new("lockstep") };
        let mut recorded = run(&spec, &data, foreign.then_some(&queries), kind);
        recorded.name = "Bändchen \"1\"".to_owned();
        recorded.pinned = profile;
        let back = read_bytes(&bytes(std::slice::from_ref(&recorded), true), CloudLoadMode::Restore).unwrap();
        prop_assert_eq!(back.runs.len(), 1);
        prop_assert_eq!((&back.runs[0].name, back.runs[0].pinned), (&recorded.name, recorded.pinned));
        assert_same(record(&back.runs[0]), record(&recorded));
    }
}

#[test]
fn haversine_runs_round_trip() {
    let data =
        cloud(2, (0..60).flat_map(|at| [f64::from(at) * 6.1 - 180.0, f64::from(at) * 3.0 - 90.0]).collect());
    let queries = queries_to(&data, vec![179.9, 89.9, -180.0, 0.1]);
    let asked = RunSpec { metric: Metric::Haversine, ..spec() };
    let of_file = RunSpec {
        queries: QuerySpec::File { path: "queries.csv".into(), columns: Default::default() },
        ..asked.clone()
    };
    for (spec, queries) in [(asked, None), (of_file, Some(&queries))] {
        let recorded = run(&spec, &data, queries, EngineId::new("lockstep"));
        assert_eq!((record(&recorded).summary.d, record(&recorded).cloud.dims()), (3, 2));
        let back = read_bytes(&bytes(std::slice::from_ref(&recorded), true), CloudLoadMode::Restore).unwrap();
        assert_same(record(&back.runs[0]), record(&recorded));
    }
}

#[test]
fn stream_spans_round_trip_and_invalid_ones_are_rejected() {
    let mut record = RunRecord::clone(record(&several()[1]));
    let recorded = |record: &RunRecord| RecordedRun {
        name: "streams".to_owned(),
        pinned: false,
        run: LoadedRun::Whole(Arc::new(record.clone())),
    };
    let absent = bytes(&[recorded(&record)], true);
    record.stream_spans = stream_spans();
    let written = bytes(&[recorded(&record)], true);
    let names = |bytes: &[u8]| {
        let archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        archive.file_names().filter(|name| name.as_ref().unwrap().contains("stream_")).count()
    };
    assert_eq!((names(&absent), names(&written)), (0, 2));
    let back = read_bytes(&written, CloudLoadMode::Restore).unwrap();
    assert_same(self::record(&back.runs[0]), &record);
    record.stream_spans[2].duration_ms = f64::NAN;
    let why = read_bytes(&bytes(&[recorded(&record)], true), CloudLoadMode::Restore).unwrap_err().to_string();
    assert!(why.contains("duration NaN ms"), "{why}");
}

/// Two runs over one cloud, one of them with counters, and one run over another cloud.
fn several() -> Vec<RecordedRun> {
    let (one, other) = (
        cloud(2, (0..80).map(|at| f64::from(at * at % 37)).collect()),
        cloud(1, vec![1.0, 2.0, 4.0, 8.0, 4_918_340.364]),
    );
    let profiled = RunSpec { profile: true, ..spec() };
    vec![
        run(&spec(), &one, None, EngineId::new("kdtree")),
        run(&profiled, &one, None, EngineId::new("lockstep")),
        run(&spec(), &other, None, EngineId::new("lockstep")),
    ]
}

#[test]
fn clouds_are_written_once_and_restored_as_shared() {
    let runs = several();
    let written = bytes(&runs, true);
    let archive = zip::ZipArchive::new(Cursor::new(&written)).unwrap();
    let names = archive.file_names().map(|name| name.unwrap().into_owned());
    let clouds: Vec<String> =
        names.filter(|name| name.starts_with("clouds/") && name.ends_with("points.npy")).collect();
    assert_eq!(clouds.len(), 2, "{clouds:?}");
    let back = read_bytes(&written, CloudLoadMode::Restore).unwrap();
    for (back, run) in back.runs.iter().zip(&runs) {
        assert_same(record(back), record(run));
    }
    assert!(Arc::ptr_eq(&record(&back.runs[0]).cloud, &record(&back.runs[1]).cloud));
    assert!(!Arc::ptr_eq(&record(&back.runs[0]).cloud, &record(&back.runs[2]).cloud));
}

fn showing(shown: WindowState<'_>) -> Extras<'_> {
    Extras { shown: Some(shown), ..Extras::default() }
}

#[test]
fn the_compared_pair_of_runs_round_trips() {
    let written = |compared| {
        let mut out = Cursor::new(Vec::new());
        write_with(
            Extras { compared, ..Extras::default() },
            &several(),
            CloudStorage::Points,
            &mut out,
            &NoProgress,
        )
        .unwrap();
        read_bytes(&out.into_inner(), CloudLoadMode::Skip).unwrap().compared
    };
    assert_eq!(written(Some([2, 0])), Some([2, 0]));
    for none in [None, Some([1, 1]), Some([0, 3]), Some([usize::MAX, 0])] {
        assert_eq!(written(none), None, "{none:?}");
    }
}

#[test]
fn the_window_session_is_stored_with_the_runs() {
    let mut out = Cursor::new(Vec::new());
    write_with(
        showing(WindowState { session: b"{\"anything\": 1}", cloud: None }),
        &several(),
        CloudStorage::Points,
        &mut out,
        &NoProgress,
    )
    .unwrap();
    let mut written = out.into_inner();
    for loading in [CloudLoadMode::Skip, CloudLoadMode::Restore] {
        let back = read_bytes(&written, loading).unwrap();
        assert_eq!((back.runs.len(), back.session), (3, Some(Ok(b"{\"anything\": 1}".to_vec()))));
    }
    assert!(read_bytes(&bytes(&several(), true), CloudLoadMode::Skip).unwrap().session.is_none());
    // A session also stores the cloud that the window showed, which no run searched.
    let runs = several();
    let cloud = record(&runs[2]).cloud.clone();
    let mut with_cloud = Cursor::new(Vec::new());
    write_with(
        showing(WindowState { session: b"{}", cloud: Some(&cloud) }),
        &runs[..1],
        CloudStorage::Points,
        &mut with_cloud,
        &NoProgress,
    )
    .unwrap();
    let with_cloud = with_cloud.into_inner();
    let back = read_bytes(&with_cloud, CloudLoadMode::Restore).unwrap().cloud.expect("the cloud is there");
    assert_eq!(
        (back.fingerprint(), back.source(), back.points()),
        (cloud.fingerprint(), cloud.source(), cloud.points())
    );
    assert!(read_bytes(&with_cloud, CloudLoadMode::Skip).unwrap().cloud.is_none());
    // A damaged session is lost, but the runs are not.
    let name = written.windows(12).position(|window| window == b"session.json").unwrap();
    written[name + 12 + 3] ^= 0x55;
    let back = read_bytes(&written, CloudLoadMode::Skip).unwrap();
    assert!(back.runs.len() == 3 && matches!(back.session, Some(Err(_))), "{:?}", back.session);
}

#[test]
fn recordings_without_points_reload_them_from_the_source() {
    let generated = Source::Generate { spec: "uniform:n=50,d=2".to_owned(), seed: 3 };
    let data = Arc::new(crate::cloud::load(&generated, false, &NoProgress).unwrap());
    let whole = run(&RunSpec { data: generated, ..spec() }, &data, None, EngineId::new("lockstep"));
    let written = bytes(std::slice::from_ref(&whole), false);
    assert!(written.len() < bytes(std::slice::from_ref(&whole), true).len());
    let back = read_bytes(&written, CloudLoadMode::Restore).unwrap();
    assert_same(record(&back.runs[0]), record(&whole));
    // Lists the clouds that were just read, so that they need not be read again to check for changes.
    assert_eq!(back.sources, [data.fingerprint().clone()]);
    let held = read_bytes(&bytes(std::slice::from_ref(&whole), true), CloudLoadMode::Restore).unwrap();
    assert!(held.sources.is_empty());

    // A point given by coordinates is not stored either; it is rebuilt from the spec.
    let at = run(
        &RunSpec { queries: QuerySpec::At(vec![0.5, 0.25]), ..record(&whole).spec.clone() },
        &data,
        None,
        EngineId::new("lockstep"),
    );
    assert_same(
        record(
            &read_bytes(&bytes(std::slice::from_ref(&at), false), CloudLoadMode::Restore).unwrap().runs[0],
        ),
        record(&at),
    );

    // The points of these runs cannot be generated again.
    let lost = &several()[1];
    let back = read_bytes(&bytes(std::slice::from_ref(lost), false), CloudLoadMode::Restore).unwrap();
    let LoadedRun::WithoutClouds { run, source_paths, why } = &back.runs[0].run else { panic!("{back:?}") };
    assert!(
        why.starts_with("the recording has no points, and its source cannot be read: generator `test`"),
        "{why}"
    );
    assert_eq!(
        (&run.head, &run.samples, &run.measured),
        (lost.run.head(), &record(lost).samples, &record(lost).measured)
    );
    // Saving a run without clouds keeps it without clouds.
    let again = read_bytes(&bytes(&back.runs, true), CloudLoadMode::Restore).unwrap();
    assert!(matches!(
        &again.runs[0].run,
        LoadedRun::WithoutClouds { run: back, source_paths: kept, .. } if back == run && kept == source_paths
    ));
}

#[test]
fn changed_sources_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "x,y\n1,2\n3,4\n5,7\n").unwrap();
    let source = Source::File { path: path.clone(), columns: Default::default() };
    let data = Arc::new(crate::cloud::load(&source, false, &NoProgress).unwrap());
    let written = bytes(
        &[run(&RunSpec { data: source, k: 2, ..spec() }, &data, None, EngineId::new("lockstep"))],
        false,
    );
    let why = || match read_in(folder.path(), &written, CloudLoadMode::Restore).unwrap().runs.remove(0).run {
        LoadedRun::Whole(_) => None,
        LoadedRun::WithoutClouds { why, .. } => Some(why),
    };
    assert_eq!(why(), None);
    // The error does not quote the content of a different file.
    for other in ["x,y\n1,2\n3,4\n5,8\n", "root:secret\nx;y\n"] {
        std::fs::write(&path, other).unwrap();
        let expected = format!(
            "the recording has no points, and this file does not match it; restore the original: {}",
            path.display()
        );
        assert_eq!(why(), Some(expected));
    }
}

#[test]
fn points_are_loaded_only_from_the_recordings_folder() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(here.path().join("data")).unwrap();
    let path = here.path().join("data/a.csv");
    std::fs::write(&path, "x,y\n1,2\n3,4\n5,7\n").unwrap();
    // As typed in another working directory; the path does not exist from here.
    let typed = Source::File { path: "typed/elsewhere/a.csv".into(), columns: Default::default() };
    let found = Source::File { path: path.clone(), columns: Default::default() };
    let data = Arc::new(crate::cloud::load(&found, false, &NoProgress).unwrap());
    let whole = run(&RunSpec { data: found, k: 2, ..spec() }, &data, None, EngineId::new("lockstep"));
    let mut written = Cursor::new(Vec::new());
    write(&[whole], CloudStorage::Sources { folder: here.path() }, &mut written, &NoProgress).unwrap();
    let written = retyped(&written.into_inner(), &path, &typed);

    let open = |folder: &Path| {
        std::fs::write(folder.join("a.warpscope"), &written).unwrap();
        read(&folder.join("a.warpscope"), CloudLoadMode::Restore, &NoProgress).unwrap().runs.remove(0).run
    };
    let source_in = |folder: &Path| match open(folder) {
        LoadedRun::Whole(record) => {
            assert_eq!(record.spec.data, *record.cloud.source(), "a repeated run finds it too");
            record.cloud.source().to_string()
        }
        LoadedRun::WithoutClouds { why, .. } => why,
    };
    let nowhere = format!("open it separately, or record the run with its points: {}", path.display());
    assert!(source_in(there.path()).ends_with(&nowhere), "its absolute path is outside the folder");
    // The recording and the data move together.
    std::fs::create_dir(there.path().join("data")).unwrap();
    std::fs::copy(&path, there.path().join("data/a.csv")).unwrap();
    std::fs::write(&path, "x,y\n1,2\n3,4\n5,8\n").unwrap();
    assert_eq!(
        source_in(there.path()),
        there.path().join("data/a.csv").display().to_string(),
        "relative to the recording"
    );
    std::fs::rename(there.path().join("data/a.csv"), there.path().join("a.csv")).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(source_in(there.path()), there.path().join("a.csv").display().to_string(), "next to it");
    std::fs::remove_file(there.path().join("a.csv")).unwrap();
    assert!(source_in(there.path()).ends_with(&nowhere));
}

/// The points are included, so the named file is not needed. Otherwise a recording from someone else could
/// read labels or names from any file.
#[test]
fn recorded_points_load_without_the_source_file() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = here.path().join("a.csv");
    std::fs::write(&path, "x,y\n1,2\n3,4\n5,7\n").unwrap();
    let source = Source::File { path: path.clone(), columns: Default::default() };
    let data = Arc::new(crate::cloud::load(&source, false, &NoProgress).unwrap());
    let whole = run(&RunSpec { data: source, k: 2, ..spec() }, &data, None, EngineId::new("lockstep"));
    // A missing file is not copied.
    std::fs::remove_file(&path).unwrap();
    let written = bytes(&[whole], true);
    std::fs::write(&path, "x,y\n1,2\n3,4\n5,7\n").unwrap();
    let file_in = |folder: &Path| {
        let recording = read_in(folder, &written, CloudLoadMode::Restore).unwrap();
        record(&recording.runs[0]).cloud.file().map(Path::to_owned)
    };
    assert_eq!((file_in(here.path()), file_in(there.path())), (Some(path), None));
}

/// An unpacked archive may contain a link next to the recording.
#[cfg(unix)]
#[test]
fn symlinks_out_of_the_folder_are_not_followed() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = here.path().join("a.csv");
    std::fs::write(&path, "x,y\n1,2\n3,4\n5,7\n").unwrap();
    let source = Source::File { path: path.clone(), columns: Default::default() };
    let data = Arc::new(crate::cloud::load(&source, false, &NoProgress).unwrap());
    let written = bytes(
        &[run(&RunSpec { data: source, k: 2, ..spec() }, &data, None, EngineId::new("lockstep"))],
        false,
    );
    let is_whole = || {
        matches!(
            read_in(there.path(), &written, CloudLoadMode::Restore).unwrap().runs[0].run,
            LoadedRun::Whole(_)
        )
    };
    std::os::unix::fs::symlink(&path, there.path().join("a.csv")).unwrap();
    assert!(!is_whole());
    std::fs::remove_file(there.path().join("a.csv")).unwrap();
    std::fs::copy(&path, there.path().join("a.csv")).unwrap();
    assert!(is_whole());
}

#[test]
fn paths_of_missing_files_survive_saving_again() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = here.path().join("a.csv");
    std::fs::write(&path, "x,y\n1,2\n3,4\n5,7\n").unwrap();
    let content = std::fs::read(&path).unwrap();
    let source = Source::File { path: path.clone(), columns: Default::default() };
    let data = Arc::new(crate::cloud::load(&source, false, &NoProgress).unwrap());
    let whole = run(&RunSpec { data: source, k: 2, ..spec() }, &data, None, EngineId::new("lockstep"));
    let mut written = Cursor::new(Vec::new());
    write(&[whole], CloudStorage::Sources { folder: here.path() }, &mut written, &NoProgress).unwrap();
    std::fs::remove_file(&path).unwrap();

    let recording = there.path().join("a.warpscope");
    std::fs::write(&recording, written.into_inner()).unwrap();
    let open = || read(&recording, CloudLoadMode::Restore, &NoProgress).unwrap().runs;
    for storage in [CloudStorage::Sources { folder: there.path() }, CloudStorage::Points] {
        let runs = open();
        assert!(runs[0].run.record().is_none());
        assert_eq!(runs[0].run.source_paths()[0], [Path::new("a.csv"), &path]);
        let mut again = Cursor::new(Vec::new());
        write(&runs, storage, &mut again, &NoProgress).unwrap();
        std::fs::write(&recording, again.into_inner()).unwrap();
        assert_eq!(open()[0].run.source_paths(), runs[0].run.source_paths(), "{storage:?}");
    }
    // Next to the recording, it is found again after the second saving.
    std::fs::write(there.path().join("a.csv"), content).unwrap();
    assert!(open()[0].run.record().is_some());
}

/// Replaces the path in a recording, as if the source had been typed differently.
fn retyped(recording: &[u8], path: &Path, typed: &Source) -> Vec<u8> {
    let Source::File { path: typed, .. } = typed else { panic!("a file") };
    alter(recording, |json| {
        let name = |path: &Path| format!("\"path\": {}", serde_json::to_string(path).unwrap());
        let retyped = json.replace(&name(path), &name(typed));
        assert_ne!(retyped, json);
        retyped
    })
}

#[test]
fn runs_with_equal_names_are_numbered_when_saved_and_read() {
    let mut runs = several();
    runs.iter_mut().for_each(|run| run.name = "twin".to_owned());
    let names = |recording: &Recording| recording.runs.iter().map(|run| run.name.clone()).collect::<Vec<_>>();
    let written = bytes(&runs, true);
    let recording = read_bytes(&written, CloudLoadMode::Skip).unwrap();
    assert_eq!(names(&recording), ["twin", "twin (2)", "twin (3)"]);
    let picked = recording.pick(Some("twin (2)"), Path::new("a.warpscope")).unwrap();
    assert!(std::ptr::eq(picked, &recording.runs[1]));
    // A file with duplicate names and control characters is cleaned when it is read.
    let careless = alter(&written, |json| json.replace("twin (2)", "twin").replace("twin (3)", "tw\\nin"));
    assert_eq!(names(&read_bytes(&careless, CloudLoadMode::Skip).unwrap()), ["twin", "twin (2)", "tw in"]);
}

#[test]
fn any_flipped_byte_is_detected() {
    let whole = bytes(&several(), true);
    let mut archive = zip::ZipArchive::new(Cursor::new(&whole)).unwrap();
    for at in 0..archive.len() {
        let (name, start, size) = {
            let member = archive.by_index(at).unwrap();
            (
                member.name().unwrap().into_owned(),
                member.data_start().unwrap() as usize,
                member.compressed_size() as usize,
            )
        };
        let mut flipped = whole.clone();
        flipped[start + size / 2] ^= 1;
        for loading in [CloudLoadMode::Skip, CloudLoadMode::Restore] {
            let message = read_bytes(&flipped, loading).map(drop).expect_err(&name).to_string();
            assert!(
                message.starts_with(&format!("damaged: {name}: ")) && message.ends_with("a.warpscope"),
                "{message}"
            );
        }
    }
}

#[test]
fn a_run_is_picked_by_name_or_number() {
    let mut runs = several();
    runs[2].name = "1".to_owned();
    let recording = Recording {
        written_by: String::new(),
        points: true,
        runs,
        compared: None,
        session: None,
        cloud: None,
        sources: Vec::new(),
    };
    let path = Path::new("a.warpscope");
    let number = |asked| {
        recording
            .pick(asked, path)
            .map(|run| recording.runs.iter().position(|other| std::ptr::eq(run, other)).unwrap())
    };
    assert_eq!(number(Some("1")).unwrap(), 2, "a name goes before a number");
    assert_eq!(number(Some("2")).unwrap(), 1);
    for asked in [None, Some("0"), Some("4"), Some("gone")] {
        let message = number(asked).unwrap_err().to_string();
        assert!(
            message.contains("#2 test, 40 × 40, k = 3, lockstep") && message.ends_with("a.warpscope"),
            "{message}"
        );
    }
    let split = |text: &str| split_run(Path::new(text));
    assert_eq!(split("x/a.warpscope"), Some((PathBuf::from("x/a.warpscope"), None)));
    assert_eq!(
        split("a.warpscope#k = 3, #1"),
        Some((PathBuf::from("a.warpscope"), Some("k = 3, #1".to_owned())))
    );
    assert_eq!(split("a.csv"), None);
}

#[test]
fn writing_and_reading_can_be_cancelled() {
    let stop = AtomicBool::new(true);
    assert!(write(&several(), CloudStorage::Points, &mut Cursor::new(Vec::new()), &stop).is_err());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.warpscope");
    std::fs::write(&path, bytes(&several(), true)).unwrap();
    assert!(matches!(read(&path, CloudLoadMode::Restore, &stop), Err(RecordingError::Cancelled)));
    stop.store(false, Ordering::Relaxed);
    assert!(read(&path, CloudLoadMode::Restore, &stop).is_ok());
}

#[test]
fn progress_never_decreases() {
    struct ProgressLog(std::sync::Mutex<Vec<(u64, u64)>>);
    impl Progress for ProgressLog {
        fn update(&self, done: u64, total: u64) {
            self.0.lock().unwrap().push((done, total));
        }
        fn cancelled(&self) -> bool {
            false
        }
    }
    let ear = ProgressLog(Default::default());
    write(&several(), CloudStorage::Points, &mut Cursor::new(Vec::new()), &ear).unwrap();
    let heard = ear.0.lock().unwrap();
    assert!(
        heard.is_sorted() && heard.last().is_some_and(|(done, total)| done <= total && done * 2 > *total),
        "{heard:?}"
    );
}

/// A recording whose JSON was changed.
fn altered(change: impl Fn(String) -> String) -> Vec<u8> {
    alter(&bytes(&several(), true), change)
}

fn alter(recording: &[u8], change: impl Fn(String) -> String) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(recording)).unwrap();
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).unwrap();
        let name = member.name().unwrap().into_owned();
        let mut content = Vec::new();
        std::io::copy(&mut member, &mut content).unwrap();
        if name == manifest::NAME {
            content = change(String::from_utf8(content).unwrap()).into_bytes();
        }
        out.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut out, &content).unwrap();
    }
    out.finish().unwrap().into_inner()
}

#[test]
fn invalid_recordings_are_rejected_in_one_sentence() {
    let read = |bytes: &[u8]| read_bytes(bytes, CloudLoadMode::Restore).map(drop).unwrap_err().to_string();
    let whole = bytes(&several(), true);
    let mut flipped = whole.clone();
    flipped[300] ^= 0x55;
    let replace = |from: &'static str, to: &'static str| {
        altered(move |json| {
            assert!(json.contains(from), "{from} is not in {json}");
            json.replacen(from, to, 1)
        })
    };
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("a.npy", zip::write::SimpleFileOptions::default()).unwrap();
    let other_zip = zip.finish().unwrap().into_inner();
    let cases: [(Vec<u8>, &str); 13] = [
        (Vec::new(), "not a recording: the file is empty: "),
        (b"x,y\n1,2\n".to_vec(), "not a recording: it is not a zip archive: "),
        (other_zip, "not a recording: the archive has no recording.json: "),
        (whole[..whole.len() / 2].to_vec(), "damaged: zip archive: "),
        (flipped, "damaged: "),
        (
            replace("\"warpscope recording\"", "\"something else\""),
            "not a recording: recording.json does not identify it as a recording: ",
        ),
        (
            replace("\"schema_version\": 2", "\"schema_version\": 7"),
            "a newer recording: its schema is version 7, but this program reads up to 2; open it with \
             Warpscope ",
        ),
        (replace("\"clouds\": [", "\"clouds\": [7, "), "damaged: recording.json: "),
        (
            replace("\"rows\": 40", "\"rows\": 4000000000"),
            "damaged: clouds/0/points.npy: it is too small for an array of shape [4000000000, 2]: ",
        ),
        (
            replace("\"rows\": 40", "\"rows\": 41"),
            "damaged: clouds/0/points.npy: expected type <f4 and shape [41, 2]: ",
        ),
        (
            replace("\"origin\": 0.0", "\"origin\": 1.0"),
            "damaged: cloud 0: the points are not those that the fingerprint names: ",
        ),
        (replace("\"k\": 3", "\"k\": 0"), "damaged: run 1: k = 0: must be at least 1: "),
        (replace("\"cloud\": 0", "\"cloud\": 9"), "damaged: run 1: there is no cloud 9: "),
    ];
    for (content, expected) in cases {
        let message = read(&content);
        assert!(
            message.starts_with(expected)
                && message.ends_with("a.warpscope")
                && !message.contains(char::is_control),
            "{message}"
        );
    }
    let gone = super::read(Path::new("/no/such.warpscope"), CloudLoadMode::Skip, &NoProgress)
        .unwrap_err()
        .to_string();
    assert!(gone.starts_with("cannot read: ") && gone.ends_with("/no/such.warpscope"), "{gone}");
}

#[test]
fn inconsistent_arrays_are_rejected() {
    let whole = run(
        &RunSpec { profile: true, ..spec() },
        &cloud(1, (0..20).map(f64::from).collect()),
        None,
        EngineId::new("lockstep"),
    );
    let refused = |change: &dyn Fn(&mut RunRecord)| {
        let mut changed = RunRecord::clone(record(&whole));
        change(&mut changed);
        let changed = RecordedRun { run: LoadedRun::Whole(Arc::new(changed)), ..whole.clone() };
        read_bytes(&bytes(&[changed], true), CloudLoadMode::Restore).map(drop).map_err(|why| why.to_string())
    };
    refused(&|_| ()).unwrap();
    type Damage<'a> = &'a dyn Fn(&mut RunRecord);
    let cases: [(Damage<'_>, &str); 7] = [
        (&|record| record.query_rows[3] = 20, "query row 20 is out of range: the cloud has 20 rows"),
        (&|record| record.neighbors.indices[5] = 20, "neighbour 20 is out of range: the cloud has 20 rows"),
        (&|record| record.neighbors.squared_distances[5] = f32::NAN, "invalid squared distance NaN"),
        (&|record| record.samples[2].repeat = u32::MAX, "repeat 4294967295 of"),
        (&|record| record.samples[2].duration_ms = f64::NAN, "invalid sample: start "),
        (
            &|record| record.measured = one_merge_less(&record.measured),
            "a query has more history than merges",
        ),
        (&|record| record.convergence.starts.swap(1, 3), "the convergence history is not in order"),
    ];
    for (change, expected) in cases {
        let message = refused(change).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

/// The same counters with only one merge for the first query.
fn one_merge_less(measured: &Measurements) -> Measurements {
    let columns = measured.columns().map(|(name, values)| (name.to_owned(), values.to_vec()));
    Measurements::new(columns.map(|(name, mut values)| {
        if name == "merges" {
            values[0] = 1;
        }
        (name, values)
    }))
}

#[test]
fn truncated_recordings_are_rejected() {
    let whole = bytes(&several(), true);
    for length in (0..whole.len()).step_by(whole.len() / 150) {
        assert!(
            read_bytes(&whole[..length], CloudLoadMode::Restore).is_err(),
            "{length} of {} bytes",
            whole.len()
        );
    }
}

fn intact_recording() -> &'static [u8] {
    static WHOLE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    WHOLE.get_or_init(|| bytes(&several(), true))
}

/// Reads arbitrary content, and uses the result as panes do.
fn try_to_read(content: &[u8]) {
    match read_bytes(content, CloudLoadMode::Restore) {
        Err(why) => assert!(!why.to_string().contains(char::is_control), "{why}"),
        Ok(recording) => {
            for recorded in &recording.runs {
                let run = crate::run::compare::SavedRun::from_run(recorded.run.clone(), Path::new("a"));
                let _ = crate::run::compare::compare(&run, &run);
                let _ = super::super::stats::search_ms(recorded.run.samples());
                let convergence = recorded.run.convergence();
                for query in 0..convergence.queries() {
                    let _ = convergence.for_query(query);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_recordings_do_not_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        tail in any::<bool>(),
    ) {
        let mut content = intact_recording().to_vec();
        // Half of the cases damage the directory at the end, where most can go wrong.
        let start = if tail { content.len() - 2000 } else { 0 };
        for (at, byte) in damage {
            let at = start + at.index(content.len() - start);
            content[at] = byte;
        }
        try_to_read(&content);
    }

    #[test]
    fn altered_numbers_do_not_panic(
        at in any::<prop::sample::Index>(),
        number in prop::sample::select(
            &["0", "-1", "1e300", "4294967295", "18446744073709551615", "null", "\"x\"", "[]"][..],
        ),
    ) {
        // Replaces one of the numbers in the JSON.
        let content = altered(|json| {
            let starts: Vec<usize> = json
                .match_indices(": ")
                .map(|(at, _)| at + 2)
                .filter(|&at| json[at..].starts_with(|c: char| c.is_ascii_digit()))
                .collect();
            let start = starts[at.index(starts.len())];
            let end = start + json[start..].find([',', '\n', '}']).unwrap();
            format!("{}{number}{}", &json[..start], &json[end..])
        });
        try_to_read(&content);
    }
}

/// A cloud of two columns of a file, the file, and a run over the cloud.
fn labelled(folder: &Path) -> (PathBuf, Arc<PointCloud>, RecordedRun) {
    let path = folder.join("towns.csv");
    let rows: String =
        (0..50).map(|row| format!("{},{},Town {row}\n", row * 37 % 101, row * 61 % 97)).collect();
    std::fs::write(&path, format!("x,y,name\n{rows}")).unwrap();
    let source = Source::File {
        path: path.clone(),
        columns: ColumnChoice::Named(vec!["x".to_owned(), "y".to_owned()]),
    };
    let cloud = Arc::new(load(&source, false, &NoProgress).unwrap());
    let recorded =
        run(&RunSpec::new(source, QuerySpec::Count(5), 3), &cloud, None, EngineId::new("lockstep"));
    (path, cloud, recorded)
}

fn names(cloud: &PointCloud) -> Result<ColumnData, FormatError> {
    formats::column(cloud.file().expect("a file"), "name", &NoProgress)
}

#[test]
fn extra_columns_are_restored_without_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, cloud, recorded) = labelled(folder.path());
    let before = names(&cloud).unwrap();
    let mut out = Cursor::new(Vec::new());
    assert_eq!(
        write(&[recorded.clone(), recorded.clone()], CloudStorage::Points, &mut out, &NoProgress).unwrap(),
        [""; 0]
    );
    let without = read_in(folder.path(), &bytes(&[recorded], false), CloudLoadMode::Restore).unwrap();
    assert_eq!(record(&without.runs[0]).cloud.file(), Some(&*path), "no copy without points");
    std::fs::remove_file(&path).unwrap();
    let recording = read_bytes(out.get_ref(), CloudLoadMode::Restore).unwrap();
    let copy = record(&recording.runs[1]).cloud.file().unwrap().to_owned();
    assert_eq!(copy.file_name(), path.file_name(), "the name determines the format");
    assert_eq!(names(&record(&recording.runs[1]).cloud).unwrap(), before);
    // When saved again, the copy is made from the first copy.
    let mut again = Cursor::new(Vec::new());
    assert_eq!(write(&recording.runs, CloudStorage::Points, &mut again, &NoProgress).unwrap(), [""; 0]);
    drop(recording);
    assert!(!copy.exists(), "it is no longer used");
    assert_eq!(
        names(&record(&read_bytes(again.get_ref(), CloudLoadMode::Restore).unwrap().runs[0]).cloud).unwrap(),
        before
    );
    assert_eq!(read_bytes(again.get_ref(), CloudLoadMode::Skip).unwrap().runs.len(), 2);
}

#[test]
fn files_that_cannot_be_included_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (path, cloud, recorded) = labelled(folder.path());
    let large = write::file_of_cloud(&cloud, 100, &NoProgress).unwrap_err();
    assert!(large.contains("a recording can include at most 1.07 GB of data files"), "{large}");
    assert_eq!(write::file_of_cloud(&cloud, 10_000, &NoProgress), Ok(Some(std::fs::read(&path).unwrap())));
    let save = || {
        write(
            std::slice::from_ref(&recorded),
            CloudStorage::Points,
            &mut Cursor::new(Vec::new()),
            &NoProgress,
        )
        .unwrap()
    };
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap().replace("37,61", "38,61")).unwrap();
    assert!(save()[0].contains("it has changed since its points were read"), "{:?}", save());
    std::fs::remove_file(&path).unwrap();
    assert!(save()[0].starts_with("the file's other columns were not saved: cannot read: "), "{:?}", save());
}
