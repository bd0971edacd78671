//! Searches over tiles write the same bytes as a search over resident points.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpscope::cloud::formats::open_blocks;
use warpscope::cloud::{AutoColumns, ColumnChoice, PointCloud, Source, TiledCloud, load, load_queries};
use warpscope::export::answers::Annotations;
use warpscope::export::provenance::Provenance;
use warpscope::export::{ExportError, FileColumns, Size, in_batches};
use warpscope::knn::{EngineId, Goal, Metric, Radius, Unit};
use warpscope::progress::NoProgress;
use warpscope::run::{
    AnswerBatch, Arithmetic, BatchError, BatchSearch, EngineChoice, EnginePool, LoadedSpec, QueryBatches,
    QuerySpec, RunError, RunSpec, TilePlan, TiledSearch,
};

/// Bytes of a `.npy` array in C order.
fn npy(kind: &str, columns: usize, data: &[u8], width: usize) -> Vec<u8> {
    let rows = data.len() / width / columns;
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn f64s(columns: usize, values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    npy("<f8", columns, &values.into_iter().flat_map(f64::to_le_bytes).collect::<Vec<_>>(), 8)
}

fn f32s(columns: usize, values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    let data: Vec<u8> = values.into_iter().flat_map(|value| (value as f32).to_le_bytes()).collect();
    npy("<f4", columns, &data, 4)
}

/// Repeatable numbers from 0 to 1.
fn random(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    })
}

/// What to write with an answer, and how to compute it.
enum Search<'a> {
    Resident(&'a mut EnginePool, &'a QueryBatches),
    Tiled(&'a mut EnginePool, &'a TiledSearch),
}

/// The bytes of the answer as `.csv` and as `.npz`.
fn written(spec: &RunSpec, cloud: &PointCloud, q: usize, search: &mut Search<'_>) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let provenance = Provenance::new(spec, cloud, None);
    ["csv", "npz"].map(|extension| {
        let path = folder.path().join("answer").with_extension(extension);
        let size = Size { q, k: spec.k, metric: spec.metric };
        let context = Annotations { columns: FileColumns::none(), provenance: &provenance };
        in_batches(&path, Goal::Nearest, size, context, |writer| match search {
            Search::Resident(engines, batches) => batches.ranges().try_for_each(|range| {
                let answer = engines
                    .answer_batch(batches, range.clone(), None, &mut |_, _| true)
                    .unwrap_or_else(|why| panic!("{why}"));
                let batch = AnswerBatch::of_run(&answer.record, 0..range.len(), range.start);
                writer.append(batch.with_distances(answer.distances.as_deref()))
            }),
            Search::Tiled(engines, tiled) => {
                let mut append = |batch: AnswerBatch<'_>| -> Result<(), RunError> {
                    writer.append(batch).unwrap();
                    Ok(())
                };
                tiled
                    .for_each(engines, false, &mut |_, _| true, &mut append)
                    .unwrap_or_else(|why| panic!("{why}"));
                Ok::<(), ExportError>(())
            }
        })
        .unwrap();
        fs::read(path).unwrap()
    })
}

/// Compares the files of a search over resident points with those over tiles of several sizes.
fn compare(name: &str, path: &Path, spec: &RunSpec, queries: Option<&Path>, arithmetic: Arithmetic) {
    let source = Source::File { path: path.to_owned(), columns: ColumnChoice::Default };
    let cloud = Arc::new(load(&source, false, &NoProgress).unwrap());
    let query_source =
        queries.map(|path| Source::File { path: path.to_owned(), columns: ColumnChoice::Default });
    let of = |data: &PointCloud| {
        query_source.as_ref().map(|source| Arc::new(load_queries(source, data, false, &NoProgress).unwrap()))
    };
    let mut engines = EnginePool::default();
    let queries_of = of(&cloud);
    let loaded = LoadedSpec::new(spec, &cloud, queries_of.as_ref());
    let batches = QueryBatches::new(&engines, loaded, arithmetic).unwrap();
    let expected = written(spec, &cloud, batches.queries(), &mut Search::Resident(&mut engines, &batches));
    let n = cloud.len();
    let sizes = [(1, 40, 7), (31, 17, 5), (33, 1000, 1000), (n - 1, 50, 1000)];
    // Tiles of one point are many, so they are searched in one file that has most ties.
    let skipped = usize::from(spec.k != 5 || name != "grid.npy");
    for (tile, block, batch) in sizes.into_iter().skip(skipped) {
        let (blocks, _) =
            open_blocks(path, &ColumnChoice::Default, AutoColumns::AllNumeric, &NoProgress).unwrap().unwrap();
        let tiled = Arc::new(TiledCloud::scan(blocks, source.clone(), false, &NoProgress).unwrap());
        let plan = TilePlan { tile, block, searched: batch, ranked: batch, why: "a test".to_owned() };
        let queries = of(tiled.header());
        let search =
            TiledSearch::new(spec, &tiled, queries.as_ref(), arithmetic, plan, &mut |_, _| true).unwrap();
        assert_eq!((search.queries(), search.k()), (batches.queries(), batches.k()));
        let found =
            written(spec, tiled.header(), search.queries(), &mut Search::Tiled(&mut engines, &search));
        assert!(found == expected, "{name}, {spec:?}, {arithmetic:?}, tiles of {tile}");
    }
}

fn spec(path: &Path, k: usize, engine: &'static str) -> RunSpec {
    let data = Source::File { path: path.to_owned(), columns: ColumnChoice::Default };
    RunSpec { engine: EngineChoice::named(EngineId::new(engine)), ..RunSpec::new(data, QuerySpec::All, k) }
}

fn file(folder: &Path, name: &str, content: Vec<u8>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn l2_answers_of_tiles_equal_those_of_resident_points() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name, content| file(folder.path(), name, content);
    // Millimetres over 200 km: f32 merges points that are 6 mm apart, so that many lists must be widened.
    let scan = |at: i32| 5e5 + f64::from(at * 7919 % 97) * 1e-3 + if at % 31 == 0 { 2e5 } else { 0.0 };
    let grid = |at: usize| (at * 7 % 5) as f64;
    let bytes: Vec<u8> = random(5).take(4 * 70).map(|value| (value * 9.0) as u8).collect();
    let big_ann = [&70_u32.to_le_bytes()[..], &4_u32.to_le_bytes(), &bytes].concat();
    let vectors = bytes.chunks(4).take(66).flat_map(|row| [&4_i32.to_le_bytes()[..], row].concat());
    for (path, engine) in [
        (file("f32.npy", f32s(3, random(1).take(3 * 70))), "bvh"),
        (file("f64.npy", f64s(2, random(2).take(2 * 70))), "kdtree"),
        (file("scan.npy", f64s(2, (0..140).map(scan))), "bvh"),
        (file("grid.npy", f32s(2, (0..2 * 80).map(grid))), "bvh"),
        (file("equal.npy", f64s(1, std::iter::repeat_n(0.1, 65))), "lockstep"),
        (file("bytes.u8bin", big_ann), "lockstep"),
        (file("bytes.bvecs", vectors.collect()), "sort"),
    ] {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        for (k, exclude_self) in [(1, false), (5, true), (40, false)] {
            let spec = RunSpec { exclude_self, ..spec(&path, k, engine) };
            compare(&name, &path, &spec, None, Arithmetic::File);
        }
        compare(&name, &path, &spec(&path, 4, engine), None, Arithmetic::F32);
        // More neighbours than points.
        compare(
            &name,
            &path,
            &RunSpec { exclude_self: true, ..spec(&path, 150, engine) },
            None,
            Arithmetic::File,
        );
    }
}

#[test]
fn answers_under_other_metrics_and_to_other_queries_are_equal_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name, content| file(folder.path(), name, content);
    let vectors =
        file("vectors.npy", f32s(5, random(3).take(5 * 70).map(|value| (value * 8.0).round() + 1.0)));
    let degrees = random(4).take(2 * 70).map(|value| (value * 40.0).round() * 2.0);
    let places = file("places.npy", f64s(2, degrees));
    let far = file("far.npy", f64s(2, random(6).take(2 * 30).map(|value| value * 70.0)));
    for (path, metric, engine, point) in [
        (&vectors, Metric::Cosine, "bvh", vec![0.3, 0.1, 0.2, 0.7, 5.0]),
        (&vectors, Metric::Angular, "lockstep", vec![1.0; 5]),
        (&places, Metric::Haversine, "bvh", vec![20.1, 40.0]),
        (&places, Metric::L2, "kdtree", vec![20.0, 40.0]),
    ] {
        let spec = RunSpec { metric, ..spec(path, 6, engine) };
        compare("all", path, &spec, None, Arithmetic::File);
        compare(
            "all but the own row",
            path,
            &RunSpec { exclude_self: true, k: 5, ..spec.clone() },
            None,
            Arithmetic::File,
        );
        compare("all in f32", path, &spec, None, Arithmetic::F32);
        let rows = QuerySpec::Rows(vec![69, 3, 3, 50, 0]);
        compare(
            "rows",
            path,
            &RunSpec { queries: rows, exclude_self: true, ..spec.clone() },
            None,
            Arithmetic::File,
        );
        compare(
            "sample",
            path,
            &RunSpec { queries: QuerySpec::Count(40), ..spec.clone() },
            None,
            Arithmetic::File,
        );
        compare("a point", path, &RunSpec { queries: QuerySpec::At(point), ..spec }, None, Arithmetic::File);
    }
    let queries = QuerySpec::File { path: far.clone(), columns: ColumnChoice::Default };
    for metric in [Metric::L2, Metric::Haversine] {
        let spec = RunSpec { metric, queries: queries.clone(), ..spec(&places, 6, "bvh") };
        compare("a file", &places, &spec, Some(&far), Arithmetic::File);
    }
}

/// Receives batches of neighbours within a radius.
type Take<'a> = dyn FnMut(AnswerBatch<'_>) -> Result<(), BatchError> + 'a;

/// The bytes of all neighbours within a radius: one after the other as `.csv`, and at once as `.npz`.
fn written_within(
    (goal, spec, cloud): (Goal, &RunSpec, &PointCloud),
    q: usize,
    search: &dyn Fn(bool, &mut Take<'_>) -> Result<(), BatchError>,
) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let provenance = Provenance::new(spec, cloud, None);
    ["csv", "npz"].map(|extension| {
        let path = folder.path().join("answer").with_extension(extension);
        let size = Size { q, k: 0, metric: spec.metric };
        let context = Annotations { columns: FileColumns::none(), provenance: &provenance };
        in_batches(&path, goal, size, context, |writer| {
            let mut next = 0;
            let mut take = |batch: AnswerBatch<'_>| {
                assert_eq!(batch.first, next);
                next += batch.query_count();
                writer.append(batch).unwrap();
                Ok(())
            };
            search(extension == "npz", &mut take).unwrap_or_else(|why| panic!("{why}"));
            Ok::<(), ExportError>(())
        })
        .unwrap();
        fs::read(path).unwrap()
    })
}

/// Compares the files of radius searches over resident points with those over tiles of several sizes.
fn compare_within(path: &Path, spec: &RunSpec, radius: Radius, own_first: bool) {
    let source = Source::File { path: path.to_owned(), columns: ColumnChoice::Default };
    let load_source = |source: &Source| Arc::new(load(source, false, &NoProgress).unwrap());
    let (cloud, goal) = (load_source(&source), Goal::Within(radius));
    let query_cloud = match &spec.queries {
        QuerySpec::File { path, columns } => {
            let source = Source::File { path: path.clone(), columns: columns.clone() };
            Some(Arc::new(load_queries(&source, &cloud, false, &NoProgress).unwrap()))
        }
        _ => None,
    };
    let loaded = LoadedSpec::new(spec, &cloud, query_cloud.as_ref());
    let resident = BatchSearch::new(&EnginePool::default(), goal, loaded, Arithmetic::File).unwrap();
    let BatchSearch::Within(within) = &resident else { panic!("a radius") };
    let expected = written_within((goal, spec, &cloud), resident.queries(), &|at_once, take| {
        within.for_each((at_once, own_first), &NoProgress, take)
    });
    for (tile, block, batch) in [(1, 40, 1), (31, 17, 5), (33, 1000, 1000), (cloud.len() - 1, 50, 30)] {
        // Tiles of one point are many, so they are searched in one file that has most ties.
        if tile == 1 && !(own_first && path.ends_with("grid.npy")) {
            continue;
        }
        let (mut blocks, _) =
            open_blocks(path, &ColumnChoice::Default, AutoColumns::AllNumeric, &NoProgress).unwrap().unwrap();
        if tile == 31 {
            blocks.store(path.parent().unwrap(), &NoProgress).unwrap();
        }
        let tiled = Arc::new(TiledCloud::scan(blocks, source.clone(), false, &NoProgress).unwrap());
        let plan = TilePlan { tile, block, searched: batch, ranked: batch, why: "a test".to_owned() };
        let (spec, file) = (RunSpec { k: 1, ..spec.clone() }, Arithmetic::File);
        let search = TiledSearch::new(&spec, &tiled, query_cloud.as_ref(), file, plan, &mut |_, _| true);
        let mut search = search.unwrap();
        search.radius = Some(radius);
        assert_eq!((search.queries(), search.k()), (resident.queries(), 0));
        let found = written_within((goal, &spec, tiled.header()), search.queries(), &|at_once, take| {
            let mut go_on = |_: &str, share: f32| (0.0..=1.0).contains(&share);
            let answer = search.for_each_within(radius, (at_once, own_first), &mut go_on, take)?;
            assert_eq!(answer.stats.tiles, cloud.len().div_ceil(tile));
            // No tile is searched if all queries are far from all points.
            assert_eq!((answer.index, answer.stats.tiles_read > 0), (answer.engine != "none", answer.index));
            Ok(())
        });
        assert!(found == expected, "{}, {spec:?}, {radius:?}, tiles of {tile}", path.display());
    }
}

#[test]
fn radius_answers_of_tiles_equal_those_of_resident_points() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name, content| file(folder.path(), name, content);
    let scan = |at: i32| 5e5 + f64::from(at * 7919 % 97) * 1e-3 + if at % 31 == 0 { 2e5 } else { 0.0 };
    let scan = file("scan.npy", f64s(2, (0..140).map(scan)));
    let grid = file("grid.npy", f32s(2, (0..2 * 80).map(|at| (at * 7 % 5) as f64)));
    let tenths = file("tenths.npy", f64s(1, (0..70).map(|at| f64::from(at * 37 % 70) / 10.0)));
    let degrees = random(4).take(2 * 70).map(|value| (value * 40.0).round() * 2.0);
    let places = file("places.npy", f64s(2, degrees));
    let vectors =
        file("vectors.npy", f32s(5, random(3).take(5 * 70).map(|value| (value * 8.0).round() + 1.0)));
    let far = file("far.npy", f64s(2, random(6).take(2 * 30).map(|value| value * 70.0)));
    for (path, metric, engine, lengths) in [
        (&scan, Metric::L2, "bvh", ["0", "0.006", "1e6"]),
        (&grid, Metric::L2, "kdtree", ["0", "1", "2.5"]),
        (&tenths, Metric::L2, "bvh", ["0.1", "0.3", "7"]),
        (&places, Metric::Haversine, "bvh", ["0", "300", "30000"]),
        (&vectors, Metric::Cosine, "kdtree", ["0", "0.05", "1"]),
        (&vectors, Metric::Angular, "bvh", ["0.01", "0.3", "3.2"]),
    ] {
        let unit = Unit::of(metric).iter().find(|unit| unit.name.is_empty() || unit.name == "km").unwrap();
        let all = RunSpec { metric, ..spec(path, 1, engine) };
        let [small, open, large] = lengths.map(|length| unit.radius(length, metric).unwrap());
        compare_within(path, &all, small, true);
        let open = Radius { open: true, ..open };
        compare_within(path, &RunSpec { exclude_self: true, ..all.clone() }, open, false);
        let queries = QuerySpec::Rows(vec![69, 3, 3, 50, 0]);
        compare_within(path, &RunSpec { queries, exclude_self: true, ..all }, large, false);
    }
    let unit = &Unit::of(Metric::L2)[0];
    for queries in [
        QuerySpec::File { path: far, columns: ColumnChoice::Default },
        QuerySpec::At(vec![20.1, 40.0]),
        QuerySpec::At(vec![-500.0, 40.0]),
    ] {
        let radius = unit.radius("9", Metric::L2).unwrap();
        compare_within(&places, &RunSpec { queries, ..spec(&places, 1, "bvh") }, radius, false);
    }
}
