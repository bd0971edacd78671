//! The definitions of all tables, for every format and for the app's panes.

use std::io::{self, Write};
use std::ops::Range;
use std::rc::Rc;

use super::answers::{self, FileColumns};
use super::provenance::Provenance;
use super::table::Table;
use crate::cloud::PointCloud;
use crate::knn::{Convergence, warp};
use crate::run::answers::recall::Recall;
use crate::run::compare::{Comparison, PhaseComparison};
use crate::run::{AnswerBatch, QuerySpec, RunFile, RunRecord, Timeline};
use crate::text::ExactFloat;

/// A query's record number in its own file; `None` for a query given by coordinates.
pub fn query_record(record: &RunRecord, query: usize) -> Option<u64> {
    let cloud = record.query_cloud.as_ref().unwrap_or(&record.cloud);
    let is_place = matches!(record.spec.queries, QuerySpec::At(_));
    (!is_place).then(|| cloud.record(record.query_rows[query] as usize))
}

/// `row` and the cloud's axes, for all points or for `rows`: record numbers and the file's coordinates.
pub fn points<'a>(cloud: &'a PointCloud, rows: Option<&'a [u32]>) -> Table<'a> {
    let of = move |at: usize| rows.map_or(at, |rows| rows[at] as usize);
    let table = Table::new(rows.map_or(cloud.len(), <[u32]>::len))
        .with("row", move |at| cloud.record(of(at)))
        .located(cloud, move |at| of(at) as u32);
    let axes = cloud.axes().iter().enumerate();
    axes.fold(table, |table, (axis, named)| {
        table.with(named.name.as_str(), move |at| cloud.coordinate(of(at), axis))
    })
}

/// [`answers::table`] of a range of queries, numbered as in the run.
pub fn neighbors(record: &RunRecord, queries: Range<usize>) -> Table<'_> {
    answers::table(
        AnswerBatch::of_run(record, queries.clone(), queries.start),
        FileColumns::none(),
        &Provenance::of_run(record),
    )
}

/// [`answers::query_table`] of one query.
pub fn neighbors_of_query(record: &RunRecord, query: usize) -> Table<'_> {
    answers::query_table(AnswerBatch::of_run(record, query..query + 1, query), FileColumns::none())
}

/// `engine,phase,repeat,chunk,start_ms,duration_ms`: every raw sample.
pub fn timings(record: &RunRecord) -> Table<'_> {
    let samples = &record.samples;
    Table::new(samples.len())
        .with("engine", |_| record.engine.to_string())
        .with("phase", |row| samples[row].phase.name())
        .with("repeat", |row| samples[row].repeat)
        .with("chunk", |row| samples[row].chunk)
        .with("start_ms", |row| samples[row].start_ms)
        .with("duration_ms", |row| samples[row].duration_ms)
}

/// A row of the timeline: a sample on the host, a phase of a stream, or a query's warp.
#[derive(Default)]
struct Span {
    track: String,
    times_us: [f64; 2],
    repeat_and_chunk: Option<(u32, u32)>,
    /// Multiprocessor, warp, query, and the query's row.
    warp: Option<(u32, u32, u32, Option<u64>)>,
    phase: Option<&'static str>,
    tile: Option<u32>,
}

/// `track,start_us,duration_us,repeat,chunk,sm,warp,query,row,phase,tile`: every sample on the host, what
/// each of several streams did and, for profiled runs, every query's warp, in microseconds since the start of
/// the run. Values that do not apply are missing.
pub fn timeline<'a>(record: &RunRecord) -> Table<'a> {
    let timeline = Timeline::new(record);
    let mut spans = Vec::new();
    for track in &timeline.phases {
        spans.extend(track.spans.iter().map(|span| Span {
            track: track.phase.name().to_owned(),
            times_us: [span.start_us, span.stop_us],
            repeat_and_chunk: Some((span.repeat, span.chunk)),
            ..Span::default()
        }));
    }
    for span in timeline.lanes.iter().flat_map(|track| &track.spans) {
        spans.push(Span {
            track: span.lane.to_string(),
            times_us: span.times_us(),
            phase: Some(span.phase.name()),
            tile: span.tile,
            ..Span::default()
        });
    }
    for multiprocessor in &timeline.multiprocessors {
        for warp in multiprocessor.tracks.iter().flatten() {
            spans.extend(warp.queries.clone().map(|query| Span {
                track: "warp".to_owned(),
                times_us: [warp.start_us, warp.stop_us],
                warp: Some((multiprocessor.sm, warp.warp, query, query_record(record, query as usize))),
                ..Span::default()
            }));
        }
    }
    let spans = Rc::new(spans);
    Table::new(spans.len())
        .with("track", cell(&spans, |span| span.track.clone()))
        .with("start_us", cell(&spans, |span| span.times_us[0]))
        .with("duration_us", cell(&spans, |span| span.times_us[1] - span.times_us[0]))
        .with("repeat", cell(&spans, |span| span.repeat_and_chunk.map(|(repeat, _)| repeat)))
        .with("chunk", cell(&spans, |span| span.repeat_and_chunk.map(|(_, chunk)| chunk)))
        .with("sm", cell(&spans, |span| span.warp.map(|(sm, ..)| sm)))
        .with("warp", cell(&spans, |span| span.warp.map(|(_, warp, ..)| warp)))
        .with("query", cell(&spans, |span| span.warp.map(|(_, _, query, _)| query)))
        .with("row", cell(&spans, |span| span.warp.and_then(|(.., row)| row)))
        .with("phase", cell(&spans, |span| span.phase))
        .with("tile", cell(&spans, |span| span.tile))
}

/// A column's value of each row, which shares the rows with other columns.
fn cell<T>(spans: &Rc<Vec<Span>>, value: fn(&Span) -> T) -> impl Fn(usize) -> T + use<T> {
    let spans = Rc::clone(spans);
    move |at| value(&spans[at])
}

/// `query,row` and a column per measure; `row` is the query's record number. For engines without counters
/// there are no rows, and the columns of the warp-per-query search.
pub fn counters(record: &RunRecord) -> Table<'_> {
    let counted = &record.measured;
    let table = Table::new(counted.queries())
        .with("query", |query| query as u32)
        .with("row", |query| query_record(record, query));
    if counted.is_empty() {
        return warp::MEASURES.iter().fold(table, |table, measure| table.with(measure.name, |_| 0u32));
    }
    counted.columns().fold(table, |table, (name, values)| table.with(name, |query| values[query]))
}

/// `query,row`, `recall_at_K` for each K, and the flaws of the query's answers; `row` is the query's record
/// number.
pub fn recall<'a>(recall: &'a Recall, rows: Option<&'a [u64]>) -> Table<'a> {
    let table = Table::new(recall.queries()).with("query", |query| query as u64);
    let table = match rows {
        Some(rows) => table.with("row", |query| rows[query]),
        None => table,
    };
    let ks = recall.ks().iter().enumerate();
    ks.fold(table, |table, (at, k)| {
        table.with(format!("recall_at_{k}"), move |query| recall.recall(query, at))
    })
    .with("missing", |query| recall.flaws_of(query).missing)
    .with("duplicates", |query| recall.flaws_of(query).duplicates)
    .with("out_of_range", |query| recall.flaws_of(query).out_of_range)
    .with("own", |query| recall.flaws_of(query).own)
}

/// The file of [`counters`] in a run's folder: `merges.csv` if it has the columns of the warp-per-query
/// search, as existing scripts expect.
pub fn counters_file(record: &RunRecord) -> &'static str {
    let names = record.measured.columns().map(|(name, _)| name);
    let of_warp = record.measured.is_empty() || names.eq(warp::MEASURES.iter().map(|measure| measure.name));
    if of_warp { MERGES } else { COUNTERS }
}

/// The file of counters of the warp-per-query search, in a run's folder.
pub const MERGES: &str = "merges.csv";
/// The file of any other engine's counters, in a run's folder.
pub const COUNTERS: &str = "counters.csv";

/// `query,merge,points_seen,max_squared_distance`: every recorded merge of every query, numbered from 0. If
/// there were more merges than recorded, the last entry is the last merge.
pub fn convergence(record: &RunRecord) -> Table<'_> {
    let Convergence { starts, points_seen, max_squared_distance, counted_by } = &record.convergence;
    let merges = record.measured.column(counted_by).unwrap_or_default();
    // The last query whose entries begin at or before this one.
    let query_of = move |entry: usize| starts.partition_point(|&start| start <= entry as u64) - 1;
    let merge = move |row: usize| {
        let query = query_of(row);
        let (start, stop) = (starts[query] as usize, starts[query + 1] as usize);
        Convergence::merge_number(
            row - start,
            stop - start,
            merges.get(query).map_or((stop - start) as u32, |&merges| merges),
        )
    };
    Table::new(points_seen.len())
        .with("query", move |row| query_of(row) as u32)
        .with("merge", merge)
        .with("points_seen", move |row| points_seen[row])
        .with("max_squared_distance", move |row| max_squared_distance[row])
}

/// `name,pinned,started_unix,engine,device,n,q,d,k,metric,order,exclude_self,seed,warmup,repeats,`
/// `search_ms_median,search_ms_min,search_ms_max,distances_per_second,mean_NAME…,fingerprint`: a row per run,
/// with the mean of each measure that any of them counted.
///
/// # Errors
/// I/O errors of the writer.
pub fn runs<'a>(
    runs: impl IntoIterator<Item = (&'a str, bool, &'a RunFile)>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let runs: Vec<_> = runs.into_iter().collect();
    let mut measures: Vec<&str> = Vec::new();
    for measure in runs.iter().flat_map(|(.., run)| &run.summary.measures) {
        if !measures.contains(&measure.name.as_str()) {
            measures.push(&measure.name);
        }
    }
    let (spec, summary) = (|at: usize| &runs[at].2.spec, |at: usize| &runs[at].2.summary);
    let table = Table::new(runs.len())
        .with("name", |at| runs[at].0)
        .with("pinned", |at| runs[at].1.to_string())
        .with("started_unix", |at| runs[at].2.started_unix)
        .with("engine", |at| runs[at].2.engine.to_string())
        .with("device", |at| runs[at].2.device.name.as_str())
        .with("n", |at| summary(at).n)
        .with("q", |at| summary(at).q)
        .with("d", |at| summary(at).d)
        .with("k", |at| spec(at).k as u64)
        .with("metric", |at| spec(at).metric.to_string())
        .with("order", |at| spec(at).order.name())
        .with("exclude_self", |at| spec(at).exclude_self.to_string())
        .with("seed", |at| spec(at).seed)
        .with("warmup", |at| spec(at).warmup)
        .with("repeats", |at| spec(at).repeats)
        .with("search_ms_median", |at| summary(at).search_ms_median)
        .with("search_ms_min", |at| summary(at).search_ms_min)
        .with("search_ms_max", |at| summary(at).search_ms_max)
        .with("distances_per_second", |at| summary(at).distances_per_second);
    let mean = |at: usize, name: &str| summary(at).measure(name).map(|measure| measure.mean);
    let means = measures
        .iter()
        .fold(table, |table, &name| table.with(format!("mean_{name}"), move |at| mean(at, name)));
    means.with("fingerprint", |at| runs[at].2.fingerprint.to_string()).csv(out)
}

/// `what,name,a,b,difference,ratio,a_lower_quartile,a_upper_quartile,b_lower_quartile,`
/// `b_upper_quartile,a_repeats,b_repeats,verdict,ratio_lower,ratio_upper,a_excluded,b_excluded`: one row per
/// phase (`phase_ms`: medians and quartiles in milliseconds), per parameter and, if both runs had the same
/// queries, for the answers (`queries` of both, and those with `other_rows` and `other_distances`).
///
/// # Errors
/// I/O errors of the writer.
pub fn comparison(comparison: &Comparison, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    struct Row<'a> {
        what: &'static str,
        name: &'a str,
        a: String,
        b: String,
        phase: Option<&'a PhaseComparison>,
        verdict: String,
    }
    let exact = |value: f64| ExactFloat(value).to_string();
    let mut rows = Vec::new();
    rows.extend(comparison.phases.iter().map(|phase| Row {
        what: "phase_ms",
        name: phase.phase.name(),
        a: exact(phase.a.median),
        b: exact(phase.b.median),
        phase: Some(phase),
        verdict: phase.text(),
    }));
    rows.extend(comparison.parameters.iter().map(|parameter| Row {
        what: "parameter",
        name: &parameter.name,
        a: parameter.a.clone(),
        b: parameter.b.clone(),
        phase: None,
        verdict: if parameter.differs() { "differs" } else { "" }.to_owned(),
    }));
    if let Some(answers) = &comparison.answers {
        let counts = [
            ("queries", answers.queries),
            ("other_rows", answers.other_rows),
            ("other_distances", answers.other_distances),
        ];
        let row = |(name, count): (_, u64)| Row {
            what: "answers",
            name,
            a: count.to_string(),
            b: String::new(),
            phase: None,
            verdict: String::new(),
        };
        rows.extend(counts.map(row));
    }
    let phase = |at: usize| rows[at].phase;
    Table::new(rows.len())
        .with("what", |at| rows[at].what)
        .with("name", |at| rows[at].name)
        .with("a", |at| rows[at].a.as_str())
        .with("b", |at| rows[at].b.as_str())
        .with("difference", |at| phase(at).map(|phase| phase.delta_ms))
        .with("ratio", |at| phase(at).and_then(|phase| phase.ratio))
        .with("a_lower_quartile", |at| phase(at).map(|phase| phase.a.lower_quartile))
        .with("a_upper_quartile", |at| phase(at).map(|phase| phase.a.upper_quartile))
        .with("b_lower_quartile", |at| phase(at).map(|phase| phase.b.lower_quartile))
        .with("b_upper_quartile", |at| phase(at).map(|phase| phase.b.upper_quartile))
        .with("a_repeats", |at| phase(at).map(|phase| phase.a.repeats as u64))
        .with("b_repeats", |at| phase(at).map(|phase| phase.b.repeats as u64))
        .with("verdict", |at| rows[at].verdict.as_str())
        .with("ratio_lower", |at| phase(at).and_then(|phase| Some(phase.interval?.lower)))
        .with("ratio_upper", |at| phase(at).and_then(|phase| Some(phase.interval?.upper)))
        .with("a_excluded", |at| phase(at).map(|phase| phase.a.excluded as u64))
        .with("b_excluded", |at| phase(at).map(|phase| phase.b.excluded as u64))
        .csv(out)
}
