//! The tables, one function each, onto any writer: the app's panes use them too.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::cloud::PointCloud;
use crate::knn::{Convergence, Metric, NONE};
use crate::run::{RunRecord, Timeline};

/// A float as it reads back exactly: shortest, `inf` for infinity, an exponent where digits would be many.
pub(super) struct Exact<T>(pub T);

macro_rules! exact {
    ($float:ty) => {
        impl std::fmt::Display for Exact<$float> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let size = self.0.abs();
                if size == 0.0 || size.is_infinite() || (1e-5..1e16).contains(&size) { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
            }
        }
    };
}
exact!(f32);
exact!(f64);

/// A neighbour's record number; −1 where there is none.
pub(super) fn index(record: &RunRecord, row: u32) -> i64 {
    if row == NONE { -1 } else { record.cloud.record(row as usize) as i64 }
}

/// A query's record number in its own file.
pub fn query_record(record: &RunRecord, query: usize) -> u64 {
    query_cloud(record).record(record.query_rows[query] as usize)
}

fn query_cloud(record: &RunRecord) -> &PointCloud {
    record.query_cloud.as_ref().unwrap_or(&record.cloud)
}

/// `query,rank,index,squared_distance`: all neighbours, queries by their number in the run.
///
/// # Errors
/// The writer's.
pub fn neighbors(record: &RunRecord, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "query,rank,index,squared_distance")?;
    for query in 0..record.neighbors.queries() {
        let (rows, squared_distances) = record.neighbors.of(query);
        for (rank, (&row, &squared_distance)) in rows.iter().zip(squared_distances).enumerate() {
            writeln!(out, "{query},{rank},{},{}", index(record, row), Exact(squared_distance))?;
        }
    }
    Ok(())
}

/// `rank,index,squared_distance,distance` (or `angle`, in radians) and the file's coordinates: the neighbours of one
/// query. Where there is no neighbour, coordinates are empty.
///
/// # Errors
/// The writer's.
pub fn neighbors_of_query(record: &RunRecord, query: usize, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let measure = if record.spec.metric == Metric::Angular { "angle" } else { "distance" };
    let head = ["rank", "index", "squared_distance", measure].into_iter();
    table.write_record(head.chain(record.axes.iter().map(|axis| axis.name.as_str())))?;
    let (rows, squared_distances) = record.neighbors.of(query);
    for (rank, (&row, &squared_distance)) in rows.iter().zip(squared_distances).enumerate() {
        let distance = if row == NONE { f64::INFINITY } else { record.spec.metric.distance(squared_distance) };
        let mut fields = vec![rank.to_string(), index(record, row).to_string(), Exact(squared_distance).to_string(), Exact(distance).to_string()];
        fields.extend((0..record.axes.len()).map(|axis| match row {
            NONE => String::new(),
            row => Exact(record.cloud.coordinate(row as usize, axis)).to_string(),
        }));
        table.write_record(fields)?;
    }
    table.flush()
}

/// `engine,phase,repeat,chunk,start_ms,duration_ms`: every sample, raw.
///
/// # Errors
/// The writer's.
pub fn timings(record: &RunRecord, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "engine,phase,repeat,chunk,start_ms,duration_ms")?;
    for sample in &record.samples {
        let (start, duration) = (Exact(sample.start_ms), Exact(sample.duration_ms));
        writeln!(out, "{},{},{},{},{start},{duration}", record.engine, sample.phase.name(), sample.repeat, sample.chunk)?;
    }
    Ok(())
}

/// `track,start_us,duration_us,repeat,chunk,sm,warp,query,row`: all that the host timed, and every query's warp where the
/// run was profiled, in microseconds since the run began. What a line has not is empty.
///
/// # Errors
/// The writer's.
pub fn timeline(record: &RunRecord, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let timeline = Timeline::of(record);
    writeln!(out, "track,start_us,duration_us,repeat,chunk,sm,warp,query,row")?;
    for track in &timeline.phases {
        for span in &track.spans {
            let (start, duration) = (Exact(span.start_us), Exact(span.stop_us - span.start_us));
            writeln!(out, "{},{start},{duration},{},{},,,,", track.phase.name(), span.repeat, span.chunk)?;
        }
    }
    for multiprocessor in &timeline.multiprocessors {
        for warp in multiprocessor.tracks.iter().flatten() {
            let (start, duration) = (Exact(warp.start_us), Exact(warp.stop_us - warp.start_us));
            for query in warp.queries.clone() {
                let row = query_record(record, query as usize);
                writeln!(out, "warp,{start},{duration},,,{},{},{query},{row}", multiprocessor.sm, warp.warp)?;
            }
        }
    }
    Ok(())
}

/// `query,row,merges,candidates,groups_hit`, of each query; `row` is its number in its file. Only the header for engines
/// without counters.
///
/// # Errors
/// The writer's.
pub fn merges(record: &RunRecord, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "query,row,merges,candidates,groups_hit")?;
    for (query, counters) in record.counters.iter().enumerate() {
        let row = query_record(record, query);
        writeln!(out, "{query},{row},{},{},{}", counters.merges, counters.candidates, counters.groups_hit)?;
    }
    Ok(())
}

/// `merges,queries`: how many queries merged so often, without gaps between the least and the most.
///
/// # Errors
/// The writer's.
pub fn merges_histogram(record: &RunRecord, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "merges,queries")?;
    let mut counts = BTreeMap::<u32, u64>::new();
    for counters in &record.counters {
        *counts.entry(counters.merges).or_default() += 1;
    }
    if let (Some((&least, _)), Some((&most, _))) = (counts.first_key_value(), counts.last_key_value()) {
        for merges in least..=most {
            writeln!(out, "{merges},{}", counts.get(&merges).copied().unwrap_or(0))?;
        }
    }
    Ok(())
}

/// `query,merge,points_seen,max_squared_distance`: after each merge that was kept, of every query. A merge's number
/// counts from 0; where there were more than are kept, the last entry's is that of the last merge.
///
/// # Errors
/// The writer's.
pub fn convergence(record: &RunRecord, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    convergence_of(record, 0..record.convergence.queries(), out)
}

/// As [`convergence`], of one query.
///
/// # Errors
/// The writer's.
pub fn convergence_of_query(record: &RunRecord, query: usize, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    convergence_of(record, query..query + 1, out)
}

fn convergence_of(record: &RunRecord, queries: std::ops::Range<usize>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "query,merge,points_seen,max_squared_distance")?;
    for query in queries {
        let (points_seen, max_squared_distance) = record.convergence.of(query);
        let merges = record.counters[query].merges;
        for (entry, (seen, distance)) in points_seen.iter().zip(max_squared_distance).enumerate() {
            let merge = Convergence::merge_of_entry(entry, points_seen.len(), merges);
            writeln!(out, "{query},{merge},{seen},{}", Exact(*distance))?;
        }
    }
    Ok(())
}
