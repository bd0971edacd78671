//! Chrome Trace Event Format: for ui.perfetto.dev and chrome://tracing.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::tables::query_record;
use crate::knn::{Profile, WarpPhase};
use crate::run::{Phase, RunRecord};

/// The process of what the host timed.
const HOST: u32 = 1;

/// The process of the device's multiprocessors.
const DEVICE: u32 = 2;

/// Threads of one multiprocessor; no hardware has as many warps on one.
const TRACKS: u32 = 1024;

/// Writes a run as a trace: one thread per host phase and, when it was profiled, the warps' spans, multiprocessor by
/// multiprocessor. Times are microseconds since the run began.
///
/// # Errors
/// The writer's.
pub fn trace(record: &RunRecord, out: &mut impl Write) -> io::Result<()> {
    let mut events = Events { out, first: true };
    events.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    events.name("process_name", HOST, 0, &format!("warpscope run ({})", record.engine))?;
    let mut phases: Vec<Phase> = record.samples.iter().map(|sample| sample.phase).collect();
    phases.sort_unstable();
    phases.dedup();
    for phase in phases {
        events.name("thread_name", HOST, phase as u32, phase.name())?;
    }
    for sample in &record.samples {
        let args = json!({"repeat": sample.repeat, "chunk": sample.chunk});
        events.span(sample.phase.name(), HOST, sample.phase as u32, sample.start_ms * 1e3, sample.duration_ms * 1e3, args)?;
    }
    if let Some(profile) = &record.profile {
        let began =
            record.samples.iter().filter(|sample| sample.phase == Phase::Profiled).map(|sample| sample.start_ms).fold(f64::INFINITY, f64::min);
        warps(record, profile, if began.is_finite() { began * 1e3 } else { 0.0 }, &mut events)?;
    }
    let about = json!({"warpscope": record.version, "device": record.device.name, "data": record.spec.data.to_string()});
    write!(events.out, "\n],\"otherData\":{about}}}")?;
    writeln!(events.out)
}

/// Spans on the device's clock, of which the first is laid where the host began the profiled pass.
fn warps(record: &RunRecord, profile: &Profile, began_us: f64, events: &mut Events<impl Write>) -> io::Result<()> {
    let Some(first_ns) = profile.spans.iter().map(|span| span.start_ns).min() else { return Ok(()) };
    events.name("process_name", DEVICE, 0, &format!("{} (profiled build)", record.device.name))?;
    // A warp may own several queries: they are neighbours, and began together.
    let queries: Vec<usize> = (0..profile.spans.len()).collect();
    let of_one_warp = |&a: &usize, &b: &usize| {
        let (a, b) = (&profile.spans[a], &profile.spans[b]);
        (a.start_ns, a.sm, a.warp) == (b.start_ns, b.sm, b.warp)
    };
    let mut warps: Vec<&[usize]> = queries.chunk_by(of_one_warp).collect();
    warps.sort_by_key(|queries| profile.spans[queries[0]].start_ns);
    // The spans of a thread must not overlap: each goes to the first track of its multiprocessor that is free.
    let mut tracks: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for queries in warps {
        let span = &profile.spans[queries[0]];
        let stop_ns = queries.iter().map(|&query| profile.spans[query].stop_ns).max().unwrap_or(span.stop_ns).max(span.start_ns);
        let free_from = tracks.entry(span.sm).or_default();
        let track = free_from.iter().position(|&free| free <= span.start_ns).unwrap_or(free_from.len());
        let thread = span.sm.saturating_mul(TRACKS).saturating_add(track as u32);
        if track == free_from.len() {
            free_from.push(0);
            events.name("thread_name", DEVICE, thread, &format!("SM {}, warp {track}", span.sm))?;
        }
        free_from[track] = stop_ns;
        let rows: Vec<Option<u64>> = queries.iter().map(|&query| query_record(record, query)).collect();
        let mut args = json!({"queries": queries, "rows": rows, "warp": span.warp});
        if profile.cycles.len() == profile.spans.len() {
            let sum = |phase: usize| queries.iter().map(|&query| profile.cycles[query][phase]).sum::<u64>();
            let cycles: serde_json::Map<String, Value> =
                WarpPhase::ALL.iter().enumerate().map(|(i, phase)| (phase.name().to_owned(), sum(i).into())).collect();
            args["cycles"] = cycles.into();
        }
        let merges: Option<Vec<u32>> = queries.iter().map(|&query| record.counters.get(query).map(|counters| counters.merges)).collect();
        if let Some(merges) = merges {
            args["merges"] = merges.into();
        }
        let (start, duration) = ((span.start_ns - first_ns) as f64 / 1e3, (stop_ns - span.start_ns) as f64 / 1e3);
        events.span(if queries.len() == 1 { "query" } else { "queries" }, DEVICE, thread, began_us + start, duration, args)?;
    }
    Ok(())
}

struct Events<'a, W> {
    out: &'a mut W,
    first: bool,
}

impl<W: Write> Events<'_, W> {
    fn event(&mut self, event: &Value) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.first) { "" } else { "," };
        write!(self.out, "{comma}\n{event}")
    }

    fn name(&mut self, what: &str, pid: u32, tid: u32, name: &str) -> io::Result<()> {
        self.event(&json!({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}))
    }

    fn span(&mut self, name: &str, pid: u32, tid: u32, ts: f64, dur: f64, args: Value) -> io::Result<()> {
        self.event(&json!({"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}))
    }
}
