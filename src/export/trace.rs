//! Chrome Trace Event Format, for ui.perfetto.dev and chrome://tracing.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::tables::query_record;
use crate::knn::Profile;
use crate::run::{RunRecord, Timeline, WarpTime};

/// Process id of the host's samples.
const HOST: u32 = 1;

/// Process id of the device's multiprocessors.
const DEVICE: u32 = 2;

/// Process id of the streams of one or several devices.
const STREAMS: u32 = 3;

/// Thread ids reserved per multiprocessor; more than the resident warps of any hardware.
const TRACKS: u32 = 1024;

/// Writes a run's [`Timeline`]: one thread per host phase, one per stream of several and, for profiled runs,
/// the warps' spans, grouped by multiprocessor. Times are in microseconds since the start of the run.
///
/// # Errors
/// I/O errors of the writer.
pub fn trace(record: &RunRecord, out: &mut impl Write) -> io::Result<()> {
    let timeline = Timeline::new(record);
    let mut events = EventWriter { out, first: true };
    events.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    events.name("process_name", HOST, 0, &format!("warpscope run ({})", record.engine))?;
    for track in &timeline.phases {
        let (name, thread) = (track.phase.name(), track.phase as u32);
        events.name("thread_name", HOST, thread, name)?;
        for span in &track.spans {
            let args = json!({"repeat": span.repeat, "chunk": span.chunk});
            events.span(name, HOST, thread, [span.start_us, span.stop_us], args)?;
        }
    }
    if !timeline.lanes.is_empty() {
        events.name("process_name", STREAMS, 0, &format!("{} (host's clock)", record.device.name))?;
    }
    for (thread, track) in timeline.lanes.iter().enumerate() {
        let thread = thread as u32;
        events.name("thread_name", STREAMS, thread, &track.lane.to_string())?;
        for span in &track.spans {
            let args = span.tile.map_or(json!({}), |tile| json!({"tile": tile}));
            events.span(span.phase.name(), STREAMS, thread, span.times_us(), args)?;
        }
    }
    if let Some(profile) = record.profile.as_ref().filter(|_| !timeline.multiprocessors.is_empty()) {
        warps(record, profile, &timeline, &mut events)?;
    }
    let about = json!({
        "warpscope": record.warpscope_version,
        "device": record.device.name,
        "data": record.spec.data.to_string(),
    });
    write!(events.out, "\n],\"otherData\":{about}}}")?;
    writeln!(events.out)
}

fn warps(
    record: &RunRecord,
    profile: &Profile,
    timeline: &Timeline,
    events: &mut EventWriter<impl Write>,
) -> io::Result<()> {
    events.name("process_name", DEVICE, 0, &format!("{} (profiled build)", record.device.name))?;
    for multiprocessor in &timeline.multiprocessors {
        for (track, warps) in multiprocessor.tracks.iter().enumerate() {
            let thread = multiprocessor.sm.saturating_mul(TRACKS).saturating_add(track as u32);
            events.name("thread_name", DEVICE, thread, &timeline.unit.track(multiprocessor.sm, track))?;
            for warp in warps {
                let name = if warp.queries.len() == 1 { "query" } else { "queries" };
                events.span(
                    name,
                    DEVICE,
                    thread,
                    [warp.start_us, warp.stop_us],
                    warp_args(record, profile, warp),
                )?;
            }
        }
    }
    Ok(())
}

/// A warp's queries, and the cycles and counters of its time.
fn warp_args(record: &RunRecord, profile: &Profile, warp: &WarpTime) -> Value {
    let queries: Vec<usize> = warp.queries.clone().map(|query| query as usize).collect();
    let rows: Vec<Option<u64>> = queries.iter().map(|&query| query_record(record, query)).collect();
    let mut about = json!({"queries": queries, "rows": rows, "warp": warp.warp});
    let rows: Option<Vec<&[u64]>> = queries.iter().map(|&query| profile.cycles_of(query)).collect();
    if let Some(rows) = rows {
        let sum = |phase: usize| rows.iter().map(|cycles| cycles[phase]).sum::<u64>();
        let cycles: serde_json::Map<String, Value> =
            profile.phases.iter().enumerate().map(|(i, phase)| (phase.clone(), sum(i).into())).collect();
        about["cycles"] = cycles.into();
    }
    for (name, values) in record.measured.columns() {
        about[name] = queries.iter().map(|&query| values[query]).collect::<Vec<_>>().into();
    }
    about
}

struct EventWriter<'a, W> {
    out: &'a mut W,
    first: bool,
}

impl<W: Write> EventWriter<'_, W> {
    fn event(&mut self, event: &Value) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.first) { "" } else { "," };
        write!(self.out, "{comma}\n{event}")
    }

    fn name(&mut self, what: &str, pid: u32, tid: u32, name: &str) -> io::Result<()> {
        self.event(&json!({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}))
    }

    /// Writes a span; `times` are start and stop, in microseconds.
    fn span(&mut self, name: &str, pid: u32, tid: u32, times: [f64; 2], args: Value) -> io::Result<()> {
        let [start, stop] = times.map(|us| (us * 1e3).round());
        let (ts, dur) = (microseconds(start), microseconds(stop - start));
        self.event(
            &json!({"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}),
        )
    }
}

/// Rounds nanoseconds so that viewers that round and viewers that truncate get the same integers; otherwise
/// they would drop a span that overlaps the next one on its thread.
fn microseconds(ns: f64) -> f64 {
    let us = ns / 1e3;
    if us * 1e3 < ns { us.next_up() } else { us }
}
