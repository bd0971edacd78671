//! Reads written files back, each format according to its own definition.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::knn::{EngineId, Measurements, Metric, NONE};
use crate::run::compare::SavedRun;
use crate::run::testing::{cloud, plain, spec, stream_spans};
use crate::run::{LoadedSpec, Phase, QuerySpec, RunFile, RunRecord, RunSpec, execute, stats};
use crate::text::ExactFloat;

/// Records 0, 2, 3, 4 of a file whose record 1 was dropped. The queries are records 4 and 0; k exceeds the
/// number of points.
fn record() -> RunRecord {
    let data = cloud(2, vec![0.0, 0.5, f64::NAN, 0.0, 3.0, 0.5, 0.0, 4.5, 0.1, 0.5]);
    let spec = RunSpec { queries: QuerySpec::Rows(vec![4, 0]), k: 5, profile: true, ..spec() };
    execute(LoadedSpec::new(&spec, &data, None), &mut plain(), &mut |_, _| true).unwrap()
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The content of [`record`] that every format must have.
fn expected() -> (Vec<i64>, Vec<f32>) {
    let record = record();
    let records = [0, 2, 3, 4];
    let indices = record
        .neighbors
        .indices
        .iter()
        .map(|&row| if row == NONE { -1 } else { records[row as usize] })
        .collect();
    (indices, record.neighbors.squared_distances.clone())
}

#[test]
fn the_fixture_record_has_the_expected_neighbours() {
    let (indices, distances) = expected();
    assert_eq!(indices, [4, 0, 2, 3, -1, 0, 4, 2, 3, -1]);
    assert_eq!((distances[0], distances[7], distances[9]), (0.0, 9.0, f32::INFINITY));
}

#[test]
fn csv_neighbours_round_trip_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.csv");
    assert_eq!(neighbors(&record(), &path).unwrap(), std::slice::from_ref(&path));
    let rows = rows(&std::fs::read_to_string(&path).unwrap());
    assert_eq!(rows[0], ["query", "query_row", "rank", "index", "squared_distance", "distance"]);
    let (indices, distances) = expected();
    assert_eq!(rows.len(), 1 + indices.len());
    for (at, row) in rows[1..].iter().enumerate() {
        assert_eq!([0, 1, 2].map(|column| row[column].parse()), [Ok(at / 5), Ok([4, 0][at / 5]), Ok(at % 5)]);
        assert_eq!((row[3].parse(), row[4].parse()), (Ok(indices[at]), Ok(distances[at])));
        assert_eq!(row[5].parse::<f64>(), Ok(f64::from(distances[at]).sqrt()));
    }
    assert_eq!(rows[10], ["1", "0", "4", "-1", "inf", "inf"]);
}

#[test]
fn small_and_large_floats_round_trip_exactly() {
    for value in [
        0.0f32,
        1.0,
        0.1,
        1e-45,
        f32::MIN_POSITIVE,
        1.234_567_9e-7,
        3.402_823_5e38,
        16_777_217.0,
        f32::INFINITY,
    ] {
        let text = ExactFloat(value).to_string();
        assert_eq!(text.parse::<f32>().unwrap().to_bits(), value.to_bits(), "{text}");
        assert!(text.len() <= 17, "{text}");
    }
    assert_eq!(ExactFloat(f32::INFINITY).to_string(), "inf");
}

fn words<const N: usize>(path: &Path) -> Vec<[u8; N]> {
    std::fs::read(path).unwrap().as_chunks::<N>().0.to_vec()
}

#[test]
fn ivecs_and_fvecs_prefix_every_row_with_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.ivecs");
    let beside = folder.path().join("found.fvecs");
    assert_eq!(neighbors(&record(), &path).unwrap(), [path.clone(), beside.clone()]);
    let (indices, distances) = expected();
    let vectors = |words: Vec<[u8; 4]>| {
        assert_eq!(words.len(), 2 * 6);
        words
            .chunks(6)
            .flat_map(|row| {
                assert_eq!(i32::from_le_bytes(row[0]), 5);
                row[1..].to_vec()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        vectors(words(&path)).into_iter().map(|word| i64::from(i32::from_le_bytes(word))).collect::<Vec<_>>(),
        indices
    );
    assert_eq!(vectors(words(&beside)).into_iter().map(f32::from_le_bytes).collect::<Vec<_>>(), distances);
}

#[test]
fn ibin_and_fbin_start_with_row_and_column_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.IBIN");
    neighbors(&record(), &path).unwrap();
    let (indices, distances) = expected();
    let (ids, values) = (words::<4>(&path), words::<4>(&folder.path().join("found.fbin")));
    for head in [&ids[..2], &values[..2]] {
        assert_eq!([u32::from_le_bytes(head[0]), u32::from_le_bytes(head[1])], [2, 5]);
    }
    assert_eq!(ids[2..].iter().map(|word| i64::from(i32::from_le_bytes(*word))).collect::<Vec<_>>(), indices);
    assert_eq!(values[2..].iter().map(|word| f32::from_le_bytes(*word)).collect::<Vec<_>>(), distances);
}

#[test]
fn npz_contains_matrices_and_query_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.npz");
    neighbors(&record(), &path).unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(archive.len(), 4);
    let mut array = |name: &str, dtype: &str, shape: &str| {
        let mut bytes = Vec::new();
        archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
        let length = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
        let head = String::from_utf8(bytes[10..length].to_vec()).unwrap();
        assert!(
            head.contains(&format!("'descr': '{dtype}'")) && head.contains(&format!("'shape': {shape}")),
            "{head}"
        );
        bytes.split_off(length)
    };
    let (indices, distances) = expected();
    let found = array("indices.npy", "<i8", "(2, 5)")
        .as_chunks::<8>()
        .0
        .iter()
        .map(|word| i64::from_le_bytes(*word))
        .collect::<Vec<_>>();
    assert_eq!(found, indices);
    let rows = array("query_rows.npy", "<i8", "(2,)")
        .as_chunks::<8>()
        .0
        .iter()
        .map(|word| i64::from_le_bytes(*word))
        .collect::<Vec<_>>();
    assert_eq!(rows, [4, 0]);
    let found = array("distances.npy", "<f8", "(2, 5)")
        .as_chunks::<8>()
        .0
        .iter()
        .map(|word| f64::from_le_bytes(*word))
        .collect::<Vec<_>>();
    assert_eq!(found, distances.iter().map(|&squared| f64::from(squared).sqrt()).collect::<Vec<_>>());
    let found = array("squared_distances.npy", "<f4", "(2, 5)")
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| f32::from_le_bytes(*word))
        .collect::<Vec<_>>();
    assert_eq!(found, distances);
}

#[test]
fn every_format_exports_the_same_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let record = record();
    for (queries, about) in [(0..2, "all"), (1..2, "one")] {
        let table: Vec<[String; 6]> = rows(&text(|out| tables::neighbors(&record, queries.clone()).csv(out)))
            [1..]
            .iter()
            .map(|row| std::array::from_fn(|at| row[at].clone()))
            .collect();
        assert_eq!(table.len(), 5 * queries.len());
        assert_eq!(table[0][0], queries.start.to_string(), "queries keep their numbers in the run");
        let (indices, distances) = expected();
        let found = queries.start * 5..queries.end * 5;
        assert_eq!(
            table.iter().map(|row| row[3].parse().unwrap()).collect::<Vec<i64>>(),
            indices[found.clone()]
        );
        assert_eq!(table.iter().map(|row| row[4].parse().unwrap()).collect::<Vec<f32>>(), distances[found]);
        for format in NeighborFormat::ALL.into_iter().filter(|format| *format != NeighborFormat::GeoJson) {
            let path = folder.path().join(about).with_extension(format.extension());
            let written = neighbors_of(&record, queries.clone(), &path).unwrap();
            assert_eq!(written, format.files(&path));
            assert!(written.iter().all(|path| path.is_file()));
            let (_, given) = crate::run::answers::read(&path, &crate::progress::NoProgress).unwrap();
            assert_eq!((given.rows(), given.columns.len()), (queries.len(), 5), "{}", path.display());
            assert!(
                given.values.iter().zip(&table).all(|(value, row)| Ok(value) == row[3].parse::<f64>()),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn single_query_exports_are_read_as_answers() {
    let folder = tempfile::tempdir().unwrap();
    let record = record();
    for format in table::TableFormat::ALL {
        let path = folder.path().join("pane").with_extension(format.extension());
        tables::neighbors_of_query(&record, 1).write(&path).unwrap();
        let (_, given) = crate::run::answers::read(&path, &crate::progress::NoProgress).unwrap();
        assert_eq!((given.rows(), given.columns.len()), (1, 5), "{}", path.display());
        assert_eq!(given.values.iter().collect::<Vec<_>>(), [0.0, 4.0, 2.0, 3.0, -1.0], "{}", path.display());
    }
}

#[test]
fn unknown_extensions_are_rejected_without_writing() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["found", "found.txt", "found.xlsx"] {
        let message = neighbors(&record(), &folder.path().join(name)).unwrap_err().to_string();
        assert!(
            message.contains(".csv, .tsv, .parquet, .arrow, .npz, .geojson, .npy, .ivecs or .ibin")
                && message.ends_with(name),
            "{message}"
        );
        assert!(
            NeighborFormat::ALL.iter().all(|format| message.contains(&format!(".{}", format.extension()))),
            "{message}"
        );
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn run_folders_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("a/b");
    let mut record = record();
    record.head.fallback = Some("why".to_owned());
    // Imprecise parsers get these floats wrong by one bit.
    (record.head.summary.search_ms_min, record.head.axes[0].origin) = (0.000_219, 4_918_360.743_875_1);
    record.head.summary.search_ms_median = 0.000_218_999_999_999_999_98;
    let written = super::folder(&record, &dir).unwrap();
    assert!(written.iter().all(|path| path.is_file()) && written.contains(&dir.join("neighbors.npz")));
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), written.len());

    let file: RunFile = serde_json::from_slice(&std::fs::read(dir.join("run.json")).unwrap()).unwrap();
    assert_eq!(file, record.head);
    assert_eq!((file.schema_version, file.dropped_rows, file.fallback.as_deref()), (2, 1, Some("why")));
    assert_eq!(file.spec, record.spec);

    let timings = std::fs::read_to_string(dir.join("timings.csv")).unwrap();
    assert_eq!(timings.lines().next(), Some("engine,phase,repeat,chunk,start_ms,duration_ms"));
    assert_eq!(timings.lines().count(), 1 + record.samples.len());
    let saved = SavedRun::read(&dir).unwrap();
    assert_eq!(saved.phases[&(EngineId::new("lockstep"), Phase::Search)], stats::search_ms(&record.samples));
    assert_eq!(saved.file, Some(file));

    assert_eq!(
        std::fs::read_to_string(dir.join("merges.csv")).unwrap(),
        "query,row,merges,candidates,groups_hit\n0,4,2,0,1\n1,0,2,1,1\n"
    );
    assert_eq!(
        std::fs::read_to_string(dir.join("convergence.csv")).unwrap(),
        "query,merge,points_seen,max_squared_distance\n0,0,32,4\n0,1,4,1\n1,0,32,4\n1,1,4,1\n"
    );
}

#[test]
fn panes_export_their_contents() {
    let mut record = record();
    record.measured = Measurements::new([("merges".to_owned(), vec![2, 5])]);
    assert_eq!(
        text(|out| tables::convergence(&record).csv(out)).lines().last(),
        Some("1,4,4,1"),
        "the last of more merges than are recorded"
    );

    let neighbors = rows(&text(|out| tables::neighbors_of_query(&record, 1).csv(out)));
    assert_eq!(neighbors[0], ["rank", "index", "squared_distance", "distance", "c0", "c1"]);
    assert_eq!(neighbors[3], ["2", "2", "9", "3", "3", "0.5"]);
    assert_eq!(neighbors[5], ["4", "-1", "inf", "inf", "", ""]);
    record.head.spec.metric = Metric::Angular;
    assert_eq!(rows(&text(|out| tables::neighbors_of_query(&record, 1).csv(out)))[0][3], "angle");
}

#[test]
fn haversine_tables_add_a_distance_in_km() {
    let mut record = record();
    record.head.spec.metric = Metric::Haversine;
    // A squared chord of 4 is the antipode; a missing neighbour has no distance.
    record.neighbors.squared_distances[1] = 4.0;
    let half = "20015.11";
    let of_query = rows(&text(|out| tables::neighbors_of_query(&record, 0).csv(out)));
    assert_eq!(of_query[0][3], "distance_km");
    assert!(of_query[2][3].starts_with(half), "{of_query:?}");
    let all = rows(&text(|out| tables::neighbors(&record, 0..record.neighbors.queries()).csv(out)));
    assert_eq!(all[0], ["query", "query_row", "rank", "index", "squared_distance", "distance_km"]);
    assert!(all[2][5].starts_with(half), "{all:?}");
    assert_eq!(all.last().unwrap()[3..], ["-1", "inf", "inf"]);
}

#[test]
fn engines_without_counters_export_empty_tables() {
    let record = RunRecord { measured: Measurements::default(), convergence: Default::default(), ..record() };
    assert_eq!(text(|out| tables::counters(&record).csv(out)).lines().count(), 1);
    assert_eq!(text(|out| tables::convergence(&record).csv(out)).lines().count(), 1);
}

#[test]
fn engine_specific_measures_go_to_a_separate_file() {
    let place = tempfile::tempdir().unwrap();
    let other = RunRecord {
        measured: Measurements::new([
            ("visited".to_owned(), vec![7, 8]),
            ("distance_evals".to_owned(), vec![70, 80]),
        ]),
        ..record()
    };
    let names =
        |record: &RunRecord| super::folder(record, place.path()).unwrap()[1].file_name().unwrap().to_owned();
    assert_eq!(names(&other), "counters.csv");
    assert_eq!(
        std::fs::read_to_string(place.path().join("counters.csv")).unwrap(),
        "query,row,visited,distance_evals\n0,4,7,70\n1,0,8,80\n"
    );
    // The next run replaces the counter file of the previous one.
    assert_eq!(names(&record()), "merges.csv");
    assert!(place.path().join("merges.csv").exists() && !place.path().join("counters.csv").exists());
}

#[test]
fn run_folders_limit_neighbors_and_remove_stale_files() {
    let place = tempfile::tempdir().unwrap();
    let found = place.path().join("neighbors.npz");
    let count = record().neighbors.indices.len();
    assert!(super::folder::folder_with(&record(), count, place.path()).unwrap().contains(&found));
    assert!(found.exists());
    assert!(!super::folder::folder_with(&record(), count - 1, place.path()).unwrap().contains(&found));
    assert!(!found.exists(), "a file of the run before");
    std::fs::remove_file(place.path().join("run.json")).unwrap();
    std::fs::write(&found, "mine").unwrap();
    assert!(matches!(
        super::check_folder(place.path()),
        Err(super::ExportError::NoRun { file: "timings.csv", .. })
    ));
    for file in ["timings.csv", "merges.csv", "convergence.csv", "trace.json"] {
        std::fs::remove_file(place.path().join(file)).unwrap();
    }
    let refused = super::check_folder(place.path()).unwrap_err().to_string();
    assert!(
        refused.starts_with(
            "cannot write: neighbors.npz in the folder was not written by a run (there is no run.json); "
        ),
        "{refused}"
    );
    super::folder::folder_with(&record(), count - 1, place.path()).unwrap();
    assert_eq!(std::fs::read(&found).unwrap(), b"mine", "a file that no run wrote");
}

#[test]
fn streams_have_tracks_in_the_trace_and_rows_in_the_table() {
    let mut record = record();
    record.stream_spans = stream_spans();
    let trace: serde_json::Value = serde_json::from_str(&text(|out| super::trace(&record, out))).unwrap();
    let events: Vec<_> =
        trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["pid"] == 3).collect();
    let tracks: Vec<_> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| (event["tid"].as_u64().unwrap(), event["args"]["name"].as_str().unwrap()))
        .collect();
    assert_eq!((tracks.len(), tracks[1], tracks[4]), (5, (1, "GPU 0, stream 1"), (4, "CPU")));
    let search = events.iter().find(|event| event["name"] == "search" && event["tid"] == 1).unwrap();
    assert_eq!(
        (&search["ts"], &search["dur"], &search["args"]),
        (&3500.0.into(), &1500.0.into(), &serde_json::json!({"tile": 2}))
    );
    let merge = events.iter().find(|event| event["name"] == "merge").unwrap();
    assert_eq!((&merge["tid"], &merge["args"]), (&4.into(), &serde_json::json!({})));

    let table = rows(&text(|out| super::tables::timeline(&record).csv(out)));
    let column = |name: &str| table[0].iter().position(|heading| heading == name).unwrap();
    let [track, start, phase, tile] = ["track", "start_us", "phase", "tile"].map(column);
    let of = |lane: &str| -> Vec<[&str; 3]> {
        table
            .iter()
            .filter(|row| row[track] == lane)
            .map(|row| [start, phase, tile].map(|at| &*row[at]))
            .collect()
    };
    assert_eq!(of("GPU 0, stream 1"), [["2000", "copy", "2"], ["3500", "search", "2"]]);
    assert_eq!(of("CPU"), [["9000", "merge", ""]]);
    assert_eq!(of("warp").len(), 2, "{table:?}");
}

/// Viewers store whole nanoseconds, truncated or rounded, and drop spans that overlap then.
#[test]
fn rounded_trace_spans_do_not_overlap() {
    let mut record = record();
    for run in 0..500 {
        for sample in &mut record.samples {
            sample.start_ms = f64::from(run) * 7.123_456_7;
        }
        let profile = record.profile.as_mut().unwrap();
        for (at, span) in profile.spans.iter_mut().enumerate() {
            // Each span starts when the previous one ends.
            (span.sm, span.start_ns, span.stop_ns) = (0, 4_000 + at as u64 * 777, 4_777 + at as u64 * 777);
        }
        let trace = text(|out| super::trace(&record, out));
        // serde_json sometimes parses a number to an adjacent float, so the text is parsed here.
        let number = |line: &str, key: &str| -> f64 {
            let after = line.split(&format!("\"{key}\":")).nth(1).unwrap();
            after.split([',', '}']).next().unwrap().parse().unwrap()
        };
        let warps = trace.lines().filter(|line| line.contains("\"ph\":\"X\"") && line.contains("\"pid\":2"));
        let times: Vec<[f64; 2]> =
            warps.map(|line| ["ts", "dur"].map(|key| number(line, key) * 1e3)).collect();
        for whole in [f64::trunc, f64::round] {
            let [first, second] = [0, 1].map(|at| times[at].map(whole));
            assert!((first[1] - 777.0).abs() <= 1.0 && (second[1] - 777.0).abs() <= 1.0, "{times:?}");
            assert_eq!(first[0] + first[1], second[0], "{times:?}");
        }
    }
}

#[test]
fn trace_threads_have_no_overlapping_spans() {
    let mut record = record();
    // Both warps on one multiprocessor at the same time, in the same slot.
    let profile = record.profile.as_mut().unwrap();
    for (at, span) in profile.spans.iter_mut().enumerate() {
        (span.sm, span.start_ns, span.stop_ns) = (3, 5_000_000 + at as u64 * 100, 5_000_400);
    }
    let trace: serde_json::Value = serde_json::from_str(&text(|out| super::trace(&record, out))).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut threads: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let span = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        threads
            .entry((event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap()))
            .or_default()
            .push(span);
    }
    let names = |pid: u64| {
        events.iter().filter(|event| event["name"] == "thread_name" && event["pid"] == pid).count()
    };
    assert_eq!(threads.keys().filter(|(pid, _)| *pid == 2).count(), 2, "two tracks of SM 3");
    assert_eq!(names(2), 2);
    assert_eq!(threads.keys().filter(|(pid, _)| *pid == 1).count(), names(1), "every host phase has a name");
    let device: Vec<_> =
        threads.iter().filter(|((pid, _), _)| *pid == 2).flat_map(|(_, spans)| spans.clone()).collect();
    assert!((device[1].0 - device[0].0 - 0.1).abs() < 1e-6, "{device:?}");
    assert!((device[0].1 - 0.4).abs() < 1e-6);
    let query = events.iter().find(|event| event["name"] == "query").unwrap();
    assert_eq!(
        (&query["args"]["rows"], &query["args"]["cycles"]["merge"]),
        (&serde_json::json!([4]), &serde_json::json!(5))
    );

    // Two queries of one warp, which ends when the later query ends.
    let profile = record.profile.as_mut().unwrap();
    for (at, span) in profile.spans.iter_mut().enumerate() {
        (span.start_ns, span.stop_ns) = (5_000_000, 5_000_400 + at as u64);
    }
    let trace: serde_json::Value = serde_json::from_str(&text(|out| super::trace(&record, out))).unwrap();
    let warps: Vec<_> = trace["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["ph"] == "X" && event["pid"] == 2)
        .collect();
    assert_eq!(
        (warps.len(), &warps[0]["name"], &warps[0]["args"]["queries"]),
        (1, &"queries".into(), &serde_json::json!([0, 1]))
    );
    assert!((warps[0]["dur"].as_f64().unwrap() - 0.401).abs() < 1e-6);
    let record = Arc::new(RunRecord { profile: None, ..record });
    assert!(!text(|out| super::trace(&record, out)).contains("\"pid\":2"));
}

#[cfg(unix)]
#[test]
fn missing_folders_are_named_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no/a.csv");
    let message = super::write(&path, |_| Ok(())).unwrap_err().to_string();
    assert_eq!(super::check(&path).unwrap_err().to_string(), message);
    assert!(
        message.starts_with("cannot write: ") && message.ends_with(&format!(": {}", path.display())),
        "{message}"
    );
    assert!(message.contains("there is no folder") && !message.contains(".warpscope-"), "{message}");
    assert!(super::write(folder.path(), |_| Ok(())).unwrap_err().to_string().contains("it is a folder"));
}

#[cfg(unix)]
#[test]
fn pipes_accept_only_sequential_formats() {
    let folder = tempfile::tempdir().unwrap();
    for (extension, fits) in [
        ("csv", true),
        ("parquet", true),
        ("arrow", true),
        ("npy", true),
        ("npz", false),
        ("NPZ", false),
        ("ivecs", false),
        ("warpscope", false),
    ] {
        let pipe = folder.path().join("pipe").with_extension(extension);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let checked = super::check(&pipe).map_err(|why| why.to_string());
        let why = |why: &String| {
            why.starts_with(&format!(
                "cannot write: .{} needs a regular file, not a pipe",
                extension.to_lowercase()
            ))
        };
        assert!(if fits { checked.is_ok() } else { checked.as_ref().is_err_and(why) }, "{checked:?}");
        std::fs::remove_file(&pipe).unwrap();
    }
    std::os::unix::fs::symlink("/dev/null", folder.path().join("null.npz")).unwrap();
    super::check(&folder.path().join("null.npz")).unwrap();
}
