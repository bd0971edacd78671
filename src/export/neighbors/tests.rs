//! Files that are written in batches, and their errors.

use std::fs;
use std::sync::Arc;

use super::size::{check_free_space, digits};
use super::*;
use crate::cloud::joined::{JoinedColumn, JoinedColumns, JoinedValues};
use crate::cloud::{AutoColumns, ColumnChoice, PointCloud, Source, load_auto};
use crate::knn::Metric;
use crate::progress::NoProgress;
use crate::run::answers::read_with_distances;
use crate::run::testing::{cloud, decimals, spec};
use crate::run::{
    Arithmetic, EngineChoice, EnginePool, LoadedSpec, QueryBatches, QuerySpec, RunError, RunSpec,
};

/// Points with duplicates.
fn points(n: u32) -> Arc<PointCloud> {
    cloud(2, (0..2 * n).map(|at| f64::from(at * 37 % 53) / 8.0).collect())
}

fn spec_for(k: usize, metric: Metric) -> RunSpec {
    RunSpec {
        queries: QuerySpec::All,
        k,
        metric,
        engine: EngineChoice::named("sort".parse().unwrap()),
        ..spec()
    }
}

#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// Answers in batches and writes each; fails at a batch from `fails` on.
fn stream(
    spec: &RunSpec,
    cloud: &Arc<PointCloud>,
    part: usize,
    path: &Path,
    fails: usize,
) -> Result<Vec<PathBuf>, StreamError> {
    stream_with(FileColumns::none(), spec, cloud, part, path, fails)
}

fn stream_with(
    columns: &FileColumns,
    spec: &RunSpec,
    cloud: &Arc<PointCloud>,
    part: usize,
    path: &Path,
    fails: usize,
) -> Result<Vec<PathBuf>, StreamError> {
    let mut engines = EnginePool::default();
    let batches =
        QueryBatches::new(&engines, LoadedSpec::new(spec, cloud, None), Arithmetic::F32)?.with_limit(part);
    let size = Size { q: batches.queries(), k: batches.k(), metric: spec.metric };
    let context = Annotations { columns, provenance: &Provenance::new(spec, cloud, None) };
    in_batches(path, Goal::Nearest, size, context, |writer| {
        for range in batches.ranges() {
            let record =
                engines.answer_batch(&batches, range.clone(), None, &mut |_, _| range.start < fails)?.record;
            writer.append(AnswerBatch::of_run(&record, 0..range.len(), range.start))?;
        }
        Ok(())
    })
}

/// The formats of clouds without longitude and latitude.
fn anywhere() -> impl Iterator<Item = NeighborFormat> {
    NeighborFormat::ALL.into_iter().filter(|format| *format != NeighborFormat::GeoJson)
}

#[test]
fn geojson_has_a_feature_for_each_neighbour_at_its_position() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found.geojson");
    let cloud = decimals(&["lat", "lon"], vec![48.0, 11.0, 49.0, 12.0, -33.5, 151.0]);
    let spec = spec_for(4, Metric::Haversine);
    let record =
        EnginePool::default().answer(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
    neighbors(&record, &path).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(json["type"], "FeatureCollection");
    let features = json["features"].as_array().unwrap();
    assert_eq!(features.len(), 3 * 4);
    let (nearest, third) = (&features[1], &features[2]);
    assert_eq!(nearest["geometry"], serde_json::json!({ "type": "Point", "coordinates": [12.0, 49.0] }));
    let km = nearest["properties"]["distance_km"].as_f64().unwrap();
    assert!((km - 133.3).abs() < 0.2, "{km}");
    assert_eq!((&third["properties"]["index"], &third["properties"]["rank"]), (&2.into(), &2.into()));
    let missing = &features[3];
    assert!(missing["geometry"].is_null() && missing["properties"]["distance_km"].is_null());

    // Our own reader.
    let table = crate::export::tables::points(&cloud, None);
    let file = folder.path().join("points.geojson");
    table.write(&file).unwrap();
    let source = Source::File { path: file, columns: ColumnChoice::default() };
    let (read, _) = load_auto(&source, AutoColumns::Inferred, false, &NoProgress).unwrap();
    assert_eq!((read.len(), read.coordinate(2, 0), read.coordinate(2, 1)), (3, 151.0, -33.5));

    // Refused before and after a search.
    let plane = points(5);
    let why = check_positions(&path, &plane).unwrap_err().to_string();
    assert!(why.starts_with("GeoJSON needs points whose two columns are longitude and latitude"), "{why}");
    let record = EnginePool::default()
        .answer(LoadedSpec::new(&spec_for(2, Metric::L2), &plane, None), &mut |_, _| true)
        .unwrap();
    assert!(neighbors(&record, &path).unwrap_err().to_string().contains("GeoJSON needs points"));
}

#[test]
fn files_are_identical_for_any_batch_size() {
    let folder = tempfile::tempdir().unwrap();
    let cloud = points(40);
    for metric in [Metric::L2, Metric::Cosine, Metric::Haversine] {
        let spec = spec_for(9, metric);
        let record =
            EnginePool::default().answer(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap();
        for format in anywhere() {
            let whole =
                neighbors(&record, &folder.path().join("whole").with_extension(format.extension())).unwrap();
            for part in [1, 7, 40] {
                let written = stream(
                    &spec,
                    &cloud,
                    part,
                    &folder.path().join("batches").with_extension(format.extension()),
                    usize::MAX,
                )
                .unwrap();
                assert_eq!(written.len(), whole.len());
                for (written, whole) in written.iter().zip(&whole) {
                    if matches!(format, NeighborFormat::Parquet | NeighborFormat::Arrow) && part < 40 {
                        let read = |path| {
                            read_with_distances(path, &NoProgress)
                                .map(|(_, rows, distances)| (rows, distances.unwrap()))
                                .unwrap()
                        };
                        let (written, whole) = (read(written), read(whole));
                        assert!(
                            written.0.values.iter().eq(whole.0.values.iter())
                                && written.1.values.iter().eq(whole.1.values.iter())
                        );
                    } else {
                        assert!(
                            fs::read(written).unwrap() == fs::read(whole).unwrap(),
                            "{metric} {part} {}",
                            written.display()
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn joined_columns_match_the_rows_of_each_batch() {
    let folder = tempfile::tempdir().unwrap();
    let column = |first: u32| {
        let values = JoinedValues::Whole((first..first + 40).map(f64::from).collect());
        JoinedColumns { columns: vec![JoinedColumn { name: "x".to_owned(), values }] }
    };
    let columns = FileColumns { queries: column(100), neighbors: column(200) };
    let spec = RunSpec { queries: QuerySpec::Rows(vec![7, 3, 30, 12, 39]), ..spec_for(4, Metric::L2) };
    let path = folder.path().join("found.csv");
    stream_with(&columns, &spec, &points(40), 2, &path, usize::MAX).unwrap();
    let content = fs::read_to_string(path).unwrap();
    let mut lines = content.lines();
    assert_eq!(lines.next(), Some("query,query_row,query_x,rank,index,squared_distance,distance,x"));
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert_eq!(rows.iter().step_by(4).map(|row| row[1]).collect::<Vec<_>>(), [7.0, 3.0, 30.0, 12.0, 39.0]);
    assert!(
        rows.len() == 20 && rows.iter().all(|row| row[2] == 100.0 + row[1] && row[7] == 200.0 + row[4]),
        "{content}"
    );
}

#[test]
fn k_of_n_or_more_returns_all_points_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let n = 30;
    let cloud = points(n as u32);
    // Applies the same distance rule as the engines, but independently of them.
    let squared = |a: usize, b: usize| {
        cloud.point(a).iter().zip(cloud.point(b)).fold(0.0f32, |sum, (a, b)| (b - a).mul_add(b - a, sum))
    };
    for k in [n, n + 3] {
        for format in anywhere() {
            let path = folder.path().join("all").with_extension(format.extension());
            stream(&spec_for(k, Metric::L2), &cloud, 4, &path, usize::MAX).unwrap();
            let (_, rows, distances) = read_with_distances(&path, &NoProgress).unwrap();
            let rows: Vec<f64> = rows.values.iter().collect();
            let distances: Option<Vec<f64>> = distances.map(|distances| distances.values.iter().collect());
            assert_eq!(rows.len(), n * k, "{}", path.display());
            assert_eq!(
                distances.as_ref().map(Vec::len),
                (format != NeighborFormat::Npy).then_some(n * k),
                "{}",
                path.display()
            );
            for query in 0..n {
                let mut expected: Vec<(f32, f64)> =
                    (0..n).map(|point| (squared(query, point), point as f64)).collect();
                expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
                expected.resize(k, (f32::INFINITY, -1.0));
                for (rank, (squared, row)) in expected.into_iter().enumerate() {
                    let at = query * k + rank;
                    let distance = distances.as_ref().map_or(f64::from(squared), |distances| distances[at]);
                    assert_eq!(
                        (rows[at], distance),
                        (row, f64::from(squared)),
                        "{} {query} {rank}",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn cancelled_exports_leave_existing_files_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.csv", "a.ivecs", "a.fvecs", "a.npz"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    for name in ["a.csv", "a.ivecs", "a.npz", "new.parquet"] {
        let failed =
            stream(&spec_for(3, Metric::L2), &points(20), 5, &folder.path().join(name), 10).unwrap_err();
        assert!(matches!(failed, StreamError::Run(RunError::Cancelled)), "{failed}");
        for name in ["a.csv", "a.ivecs", "a.fvecs", "a.npz"] {
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), name);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn npy_through_a_pipe_equals_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let [file, pipe] = ["file.npy", "pipe.npy"].map(|name| folder.path().join(name));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let written = |path: &Path| stream(&spec_for(4, Metric::L2), &points(30), 7, path, usize::MAX).unwrap();
    written(&file);
    let read = std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().spawn_scoped(scope, || fs::read(&pipe).unwrap()).unwrap();
        written(&pipe);
        reader.join().unwrap()
    });
    assert!(read == fs::read(&file).unwrap() && read.len() == 128 + 30 * 4 * 8);
}

#[test]
fn file_sizes_are_estimated_before_writing() {
    let size = |q, k| Size { q, k, metric: Metric::L2 };
    assert_eq!([digits(1), digits(10), digits(11), digits(100), digits(1001)], [1, 10, 12, 190, 2894]);
    let bytes = |q, k| NeighborFormat::ALL.map(|format| size(q, k).bytes(format));
    // Each row of text is at least `9,9,9,9,9,9` and a line end; a point has no row of its own.
    assert_eq!(
        bytes(10, 10),
        [1200, 1200, 0, 3600, 2080, 10_000, 800, 880, 816]
            .map(|bytes| Some(bytes).filter(|&bytes| bytes > 0))
    );
    assert_eq!(
        [NeighborFormat::Csv, NeighborFormat::Npz].map(|format| size(1, 10).bytes(format)),
        [Some(100), Some(200)]
    );
    assert_eq!(size(usize::MAX, usize::MAX).bytes(NeighborFormat::Csv), Some(u64::MAX));
}

#[test]
fn estimated_sizes_match_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let n = 400;
    // Points all over the globe, so that distances have typical digits.
    let cloud =
        cloud(2, (0..2 * n).map(|at| f64::from(at * 7919 % 10_007) / 10_007.0 * 170.0 - 85.0).collect());
    for metric in [Metric::L2, Metric::Cosine, Metric::Haversine] {
        let record = EnginePool::default()
            .answer(LoadedSpec::new(&spec_for(n as usize, metric), &cloud, None), &mut |_, _| true)
            .unwrap();
        let size = Size { q: n as usize, k: n as usize, metric };
        for format in anywhere() {
            let written =
                neighbors(&record, &folder.path().join("found").with_extension(format.extension())).unwrap();
            let bytes = written.iter().map(|path| fs::metadata(path).unwrap().len()).sum::<u64>();
            let expected = size.expected(format, n as usize);
            let off = (bytes as f64 / expected.bytes as f64 - 1.0).abs();
            match format {
                // With so few points numbers repeat and compress; in large files they do not.
                NeighborFormat::Parquet => {
                    assert!(bytes < expected.bytes, "{metric}: {bytes} bytes, {expected:?}")
                }
                // Exact except for the headers of an archive's arrays.
                _ => assert!(
                    off < if expected.exact { 5e-3 } else { 0.15 },
                    "{metric} {format:?}: {bytes} bytes, {expected:?}"
                ),
            }
            assert_eq!(
                expected.exact,
                !matches!(format, NeighborFormat::Csv | NeighborFormat::Tsv | NeighborFormat::Parquet)
            );
            assert!(!matches!(format, NeighborFormat::Vecs | NeighborFormat::Bin) || expected.bytes == bytes);
        }
    }
    let large = Size { q: 10_000, k: 100_000, metric: Metric::L2 };
    let said = [NeighborFormat::Bin, NeighborFormat::Csv]
        .map(|format| large.expected(format, 1_000_000).to_string());
    assert_eq!(said, ["8.00 GB", "about 54.6 GB"]);
    assert_eq!(
        Size { q: usize::MAX, k: usize::MAX, ..large }.expected(NeighborFormat::Npz, usize::MAX).bytes,
        u64::MAX
    );
}

#[test]
fn files_larger_than_the_free_space_are_rejected() {
    let size = Size { q: 10_000, k: 100_000, metric: Metric::L2 };
    let refused =
        |path: &str, size, free| check_free_space(Path::new(path), size, Some(free)).unwrap_err().to_string();
    let why = "cannot write: 100,000 neighbours of each of 10,000 queries need 7630 MiB of disk space, but \
               only 1024 MiB is free; use fewer queries or a smaller k, or write to another disk: a.ivecs";
    assert_eq!(refused("a.ivecs", size, 1 << 30), why);
    assert!(
        check_free_space(Path::new("a.ivecs"), size, Some(8_000_080_000)).is_ok()
            && check_free_space(Path::new("a.ivecs"), size, None).is_ok()
    );
    assert!(check_free_space(Path::new("a.parquet"), size, Some(0)).is_ok());
    let long =
        "k = 4000000000 does not fit the 32-bit numbers of .ivecs; use .csv, .parquet or .npz: a.ivecs";
    assert_eq!(refused("a.ivecs", Size { k: 4_000_000_000, ..size }, u64::MAX), long);
}
