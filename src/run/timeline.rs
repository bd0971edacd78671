//! A run over time: the phases timed by the host, what each of several devices and streams did and, if
//! profiled, every warp on its multiprocessor.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use super::{Phase, RunRecord};
use crate::knn::{DeviceId, Lane, MAX_STREAM_SPANS, StreamPhase, StreamSpan};

/// The hardware unit of a row of warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnitKind {
    /// A multiprocessor of a GPU, by its number (`%smid`).
    #[default]
    Multiprocessor,
    /// A thread of the CPU's pool, which answers queries, or blocks of them, one after the other.
    Thread,
}

impl UnitKind {
    /// A unit's name in labels and files.
    pub fn name(self, number: u32) -> String {
        match self {
            Self::Multiprocessor => format!("SM {number}"),
            Self::Thread => format!("thread {number}"),
        }
    }

    /// The name of a track. A thread has a single track.
    pub fn track(self, number: u32, track: usize) -> String {
        match self {
            Self::Multiprocessor => format!("{}, warp {track}", self.name(number)),
            Self::Thread => self.name(number),
        }
    }
}

/// See the module documentation. Times are in microseconds since the start of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Phases timed by the host, a track per phase, in the order of a run.
    pub phases: Vec<PhaseTrack>,
    /// The times before and between phases, in which the host prepares points and queries, starts the device
    /// or runs warm-up passes.
    pub untimed: Vec<[f64; 2]>,
    /// Lanes by device, the CPU last; empty unless the run used several devices or streams.
    pub lanes: Vec<LaneTrack>,
    /// The kind of unit of each entry of [`Self::multiprocessors`].
    pub unit: UnitKind,
    /// The warps of the profiled build by multiprocessor, ascending; empty without a profile. On a CPU, by
    /// the threads that answered.
    pub multiprocessors: Vec<UnitTracks>,
    /// The end of the last span.
    pub end_us: f64,
}

/// All spans of one lane, by start time.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneTrack {
    pub lane: Lane,
    pub spans: Vec<StreamSpan>,
}

/// All spans of one phase, by start time.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseTrack {
    pub phase: Phase,
    /// Chunks of queries, or a single span.
    pub spans: Vec<PhaseSpan>,
}

/// One span on a track, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseSpan {
    /// Start, by the host's clock.
    pub start_us: f64,
    /// The start plus the duration by the device's clock.
    pub stop_us: f64,
    /// The repeat, from 0.
    pub repeat: u32,
    /// The chunk of queries within the repeat, from 0.
    pub chunk: u32,
}

/// The warps of one multiprocessor, or the queries of one thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitTracks {
    /// Index of the multiprocessor (`%smid`), or of the thread.
    pub sm: u32,
    /// Warps of a track do not overlap; each warp is on the first free track.
    pub tracks: Vec<Vec<WarpTime>>,
    /// Start times of warps, ascending.
    starts: Vec<f64>,
    /// End times of warps, ascending.
    stops: Vec<f64>,
}

/// A warp's time and its queries.
#[derive(Clone, Debug, PartialEq)]
pub struct WarpTime {
    /// Start by the device's clock, aligned so that the first span begins with the profiled pass on the host.
    pub start_us: f64,
    /// End of its last query, by the same clock.
    pub stop_us: f64,
    /// Queries of the run; a warp may own several consecutive ones, which start together.
    pub queries: Range<u32>,
    /// The warp's slot on the multiprocessor.
    pub warp: u32,
}

impl Timeline {
    /// The timeline of a run.
    pub fn new(record: &RunRecord) -> Self {
        let mut tracks: BTreeMap<Phase, Vec<PhaseSpan>> = BTreeMap::new();
        for sample in &record.samples {
            let start_us = sample.start_ms * 1e3;
            let span = PhaseSpan {
                start_us,
                stop_us: start_us + sample.duration_ms * 1e3,
                repeat: sample.repeat,
                chunk: sample.chunk,
            };
            tracks.entry(sample.phase).or_default().push(span);
        }
        let phases: Vec<PhaseTrack> = tracks
            .into_iter()
            .map(|(phase, mut spans)| {
                spans.sort_by(|a, b| a.start_us.total_cmp(&b.start_us));
                PhaseTrack { phase, spans }
            })
            .collect();
        let untimed = untimed(&phases);
        let lanes = lanes(&record.stream_spans);
        let multiprocessors = multiprocessors(record, &phases);
        let of_lanes = record.stream_spans.iter().map(|span| span.times_us()[1]);
        let of_phases = phases.iter().flat_map(|track| &track.spans).map(|span| span.stop_us);
        let of_warps =
            multiprocessors.iter().filter_map(|multiprocessor| multiprocessor.stops.last().copied());
        // Only GPUs report cycles.
        let threads = record.device.id == Some(DeviceId::Cpu)
            && record.profile.as_ref().is_some_and(|profile| profile.phases.is_empty());
        let unit = if threads { UnitKind::Thread } else { UnitKind::Multiprocessor };
        let end_us = of_phases.chain(of_lanes).chain(of_warps).fold(0.0, f64::max);
        Self { phases, untimed, lanes, unit, multiprocessors, end_us }
    }

    /// The phases in the lanes.
    pub fn lane_phases(&self) -> impl Iterator<Item = StreamPhase> {
        let occurs = |phase| self.lanes.iter().flat_map(|track| &track.spans).any(|span| span.phase == phase);
        StreamPhase::ALL.into_iter().filter(move |&phase| occurs(phase))
    }

    /// Whether the lanes end early, because no more spans were stored.
    pub fn lanes_are_cut(&self) -> bool {
        self.lanes.iter().map(|track| track.spans.len()).sum::<usize>() >= MAX_STREAM_SPANS
    }

    /// The largest number of simultaneous warps on a multiprocessor.
    pub fn max_warps(&self) -> usize {
        self.multiprocessors.iter().map(|multiprocessor| multiprocessor.tracks.len()).max().unwrap_or(0)
    }

    /// The position of a query's warp: index in [`Self::multiprocessors`], track, and index on the track.
    pub fn position_of(&self, query: u32) -> Option<(usize, usize, usize)> {
        self.multiprocessors.iter().enumerate().find_map(|(at, multiprocessor)| {
            let tracks = multiprocessor.tracks.iter().enumerate();
            tracks
                .filter_map(|(track, warps)| {
                    Some((at, track, warps.iter().position(|warp| warp.queries.contains(&query))?))
                })
                .next()
        })
    }
}

fn lanes(spans: &[StreamSpan]) -> Vec<LaneTrack> {
    let mut tracks: BTreeMap<(bool, Lane), Vec<StreamSpan>> = BTreeMap::new();
    for span in spans {
        tracks.entry((span.lane.device == DeviceId::Cpu, span.lane)).or_default().push(*span);
    }
    let track = |((_, lane), mut spans): (_, Vec<StreamSpan>)| {
        spans.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms));
        LaneTrack { lane, spans }
    };
    tracks.into_iter().map(track).collect()
}

/// The times from the start of the run to the end of its last phase that no phase covers.
fn untimed(phases: &[PhaseTrack]) -> Vec<[f64; 2]> {
    let mut spans: Vec<&PhaseSpan> = phases.iter().flat_map(|track| &track.spans).collect();
    spans.sort_by(|a, b| a.start_us.total_cmp(&b.start_us));
    let mut end = 0.0;
    let mut gaps = Vec::new();
    for span in spans {
        if span.start_us > end {
            gaps.push([end, span.start_us]);
        }
        end = span.stop_us.max(end);
    }
    gaps
}

impl UnitTracks {
    /// The number of warps running at a time.
    pub fn active(&self, at_us: f64) -> usize {
        let before = |times: &[f64]| times.partition_point(|&time| time <= at_us);
        before(&self.starts) - before(&self.stops)
    }

    /// The start of its first warp and the end of its last one.
    pub fn extent_us(&self) -> Option<[f64; 2]> {
        Some([*self.starts.first()?, *self.stops.last()?])
    }
}

/// Lays out the warps of a multiprocessor one by one, by start time.
#[derive(Default)]
struct TrackAllocator {
    multiprocessor: UnitTracks,
    /// Tracks whose last warp is still running when the newest one starts, by end time.
    busy: BinaryHeap<Reverse<BusyTrack>>,
    /// Tracks without a running warp, lowest first.
    free: BinaryHeap<Reverse<usize>>,
    /// Number of heap operations, for tests.
    #[cfg(test)]
    steps: usize,
}

/// A busy track and the end of its last warp.
struct BusyTrack {
    stop_us: f64,
    track: usize,
}

impl Ord for BusyTrack {
    fn cmp(&self, other: &Self) -> Ordering {
        self.stop_us.total_cmp(&other.stop_us).then(self.track.cmp(&other.track))
    }
}

impl PartialOrd for BusyTrack {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BusyTrack {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for BusyTrack {}

impl TrackAllocator {
    /// Puts a warp on the first free track. Each warp costs a constant number of heap operations, so the time
    /// does not become quadratic if a file claims that all warps overlap.
    fn push(&mut self, warp: WarpTime) {
        while self.busy.peek().is_some_and(|Reverse(busy)| busy.stop_us <= warp.start_us) {
            self.free.extend(self.busy.pop().map(|Reverse(busy)| Reverse(busy.track)));
            self.step();
        }
        let track = self.free.pop().map_or(self.multiprocessor.tracks.len(), |Reverse(track)| track);
        self.step();
        if track == self.multiprocessor.tracks.len() {
            self.multiprocessor.tracks.push(Vec::new());
        }
        self.busy.push(Reverse(BusyTrack { stop_us: warp.stop_us, track }));
        self.multiprocessor.starts.push(warp.start_us);
        self.multiprocessor.stops.push(warp.stop_us);
        self.multiprocessor.tracks[track].push(warp);
    }

    fn step(&mut self) {
        #[cfg(test)]
        {
            self.steps += 1;
        }
    }
}

fn multiprocessors(record: &RunRecord, phases: &[PhaseTrack]) -> Vec<UnitTracks> {
    let spans = record.profile.as_ref().map_or(&[][..], |profile| &profile.spans);
    let Some(first_ns) = spans.iter().map(|span| span.start_ns).min() else { return Vec::new() };
    let profiled = phases.iter().find(|track| track.phase == Phase::Profiled);
    let began_us = profiled.and_then(|track| track.spans.first()).map_or(0.0, |span| span.start_us);
    let at_us = |ns: u64| began_us + (ns - first_ns) as f64 / 1e3;
    let queries: Vec<u32> = (0..spans.len() as u32).collect();
    let of_one_warp = |&a: &u32, &b: &u32| {
        let (a, b) = (&spans[a as usize], &spans[b as usize]);
        (a.start_ns, a.sm, a.warp) == (b.start_ns, b.sm, b.warp)
    };
    let mut warps: Vec<(u32, WarpTime)> = queries
        .chunk_by(of_one_warp)
        .map(|queries| {
            let (first, last) = (queries[0], queries[queries.len() - 1]);
            let span = &spans[first as usize];
            let stop_ns = queries
                .iter()
                .map(|&query| spans[query as usize].stop_ns)
                .max()
                .unwrap_or(0)
                .max(span.start_ns);
            let time = WarpTime {
                start_us: at_us(span.start_ns),
                stop_us: at_us(stop_ns),
                queries: first..last + 1,
                warp: span.warp,
            };
            (span.sm, time)
        })
        .collect();
    warps.sort_by(|(_, a), (_, b)| a.start_us.total_cmp(&b.start_us));
    let mut by_sm: BTreeMap<u32, TrackAllocator> = BTreeMap::new();
    for (sm, warp) in warps {
        by_sm
            .entry(sm)
            .or_insert_with(|| TrackAllocator {
                multiprocessor: UnitTracks { sm, ..UnitTracks::default() },
                ..TrackAllocator::default()
            })
            .push(warp);
    }
    let mut multiprocessors: Vec<UnitTracks> =
        by_sm.into_values().map(|layout| layout.multiprocessor).collect();
    for multiprocessor in &mut multiprocessors {
        multiprocessor.stops.sort_by(f64::total_cmp);
    }
    multiprocessors
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{BruteForceEngine, Script, spec, squares, stream_spans};
    use super::super::{RunSpec, execute};
    use super::*;
    use crate::knn::{EngineId, Profile, WarpSpan};
    use crate::run::LoadedSpec;

    fn record(spans: Vec<WarpSpan>) -> RunRecord {
        let mut engine = BruteForceEngine { kind: EngineId::new("lockstep"), script: Script::default() };
        let spec = RunSpec { profile: true, ..spec() };
        let mut record =
            execute(LoadedSpec::new(&spec, &squares(spans.len()), None), &mut engine, &mut |_, _| true)
                .unwrap();
        record.profile = Some(Profile { spans, ..Profile::default() });
        record
    }

    fn span(start_ns: u64, stop_ns: u64, sm: u32, warp: u32) -> WarpSpan {
        WarpSpan { start_ns, stop_ns, sm, warp }
    }

    #[test]
    fn timeline_phases_match_the_samples() {
        let record = record(vec![span(0, 1, 0, 0)]);
        let timeline = Timeline::new(&record);
        let count: usize = timeline.phases.iter().map(|track| track.spans.len()).sum();
        assert_eq!(count, record.samples.len());
        for sample in &record.samples {
            let track = timeline.phases.iter().find(|track| track.phase == sample.phase).expect("its track");
            let span = track
                .spans
                .iter()
                .find(|span| (span.repeat, span.chunk) == (sample.repeat, sample.chunk))
                .expect("its span");
            assert_eq!(span.start_us, sample.start_ms * 1e3);
            assert!((span.stop_us - span.start_us - sample.duration_ms * 1e3).abs() < 1e-9);
            assert!(span.stop_us <= timeline.end_us);
        }
    }

    #[test]
    fn phases_and_untimed_spans_cover_the_run_without_overlap() {
        let timeline = Timeline::new(&record(vec![span(0, 1, 0, 0)]));
        let phases = timeline.phases.iter().flat_map(|track| &track.spans);
        let mut all: Vec<[f64; 2]> = phases.map(|span| [span.start_us, span.stop_us]).collect();
        assert!(!timeline.untimed.is_empty(), "the points are prepared before the upload");
        all.extend(&timeline.untimed);
        all.sort_by(|a, b| a[0].total_cmp(&b[0]));
        // Warps may end later than the phases.
        let end = timeline.phases.iter().flat_map(|track| &track.spans).map(|span| span.stop_us);
        let (end, mut reached) = (end.fold(0.0, f64::max), 0.0);
        for [start, stop] in &all {
            assert!(*start <= reached + 1e-9, "a gap before {start}: {all:?}");
            reached = reached.max(*stop);
        }
        assert_eq!(reached, end);
        for [start, stop] in &timeline.untimed {
            let inside = |span: &&PhaseSpan| span.start_us < *stop && *start < span.stop_us;
            assert!(!timeline.phases.iter().flat_map(|track| &track.spans).any(|span| inside(&span)));
        }
    }

    #[test]
    fn each_stream_has_a_lane_with_its_spans_in_order() {
        let mut record = record(vec![span(0, 1, 0, 0)]);
        assert_eq!(Timeline::new(&record).lanes, []);
        record.stream_spans = stream_spans();
        let mut timeline = Timeline::new(&record);
        let names: Vec<String> = timeline.lanes.iter().map(|track| track.lane.to_string()).collect();
        assert_eq!(
            names,
            ["GPU 0, stream 0", "GPU 0, stream 1", "GPU 1, stream 0", "GPU 1, stream 1", "CPU"]
        );
        for track in &timeline.lanes {
            assert!(track.spans.is_sorted_by(|a, b| a.times_us()[1] <= b.times_us()[0]), "{track:?}");
        }
        assert_eq!(timeline.lanes.iter().map(|track| track.spans.len()).sum::<usize>(), 9);
        assert!(timeline.end_us >= 10_500.0, "{} µs", timeline.end_us);
        let phases: Vec<_> = timeline.lane_phases().collect();
        assert_eq!(phases, [StreamPhase::Copy, StreamPhase::Search, StreamPhase::Merge]);
        assert!(!timeline.lanes_are_cut());
        timeline.lanes[0].spans = vec![record.stream_spans[0]; MAX_STREAM_SPANS];
        assert!(timeline.lanes_are_cut());
    }

    #[test]
    fn warps_use_the_first_free_track_and_list_their_queries() {
        // Queries 0 and 1 share a warp; 2 runs in parallel; 3 follows 2 on its track; 4 is on another
        // multiprocessor.
        let spans = vec![
            span(100, 300, 1, 0),
            span(100, 400, 1, 0),
            span(150, 250, 1, 1),
            span(250, 500, 1, 1),
            span(120, 900, 0, 0),
        ];
        let timeline = Timeline::new(&record(spans));
        let [other, first] = &timeline.multiprocessors[..] else { panic!("{:?}", timeline.multiprocessors) };
        assert_eq!((other.sm, first.sm), (0, 1));
        let queries: Vec<Vec<_>> = first
            .tracks
            .iter()
            .map(|track| track.iter().map(|warp| (warp.queries.start, warp.queries.end)).collect())
            .collect();
        assert_eq!(queries, [vec![(0, 2)], vec![(2, 3), (3, 4)]]);
        let began = timeline
            .phases
            .iter()
            .find(|track| track.phase == Phase::Profiled)
            .expect("it was profiled")
            .spans[0]
            .start_us;
        let warp = &first.tracks[0][0];
        assert!(
            (warp.start_us - began).abs() < 1e-6 && (warp.stop_us - began - 0.3).abs() < 1e-6,
            "it ends with the later of its queries"
        );
        assert_eq!(timeline.max_warps(), 2);
        assert_eq!([0.02, 0.06, 0.16, 0.35, 0.45].map(|us| first.active(began + us)), [1, 2, 2, 1, 0]);
        assert_eq!(timeline.position_of(3), Some((1, 1, 1)));
        assert_eq!(timeline.position_of(9), None);
    }

    #[test]
    fn overlapping_warps_are_laid_out_in_linear_time() {
        const COUNT: u32 = 60_000;
        let warp = |at: u32, start_us: f64, stop_us: f64| WarpTime {
            start_us,
            stop_us,
            queries: at..at + 1,
            warp: at,
        };
        let mut layout = TrackAllocator::default();
        for at in 0..COUNT {
            layout.push(warp(at, f64::from(at), 1e6 + f64::from(at)));
        }
        assert_eq!((layout.multiprocessor.tracks.len(), layout.steps), (COUNT as usize, COUNT as usize));
        // By then all tracks are free, and the first one is used.
        layout.push(warp(COUNT, 2e6, 3e6));
        assert_eq!((layout.multiprocessor.tracks[0].len(), layout.steps), (2, 2 * COUNT as usize + 1));
        // Of two free tracks the lower one is used, even if the other became free earlier.
        let mut layout = TrackAllocator::default();
        for (at, (start, stop)) in [(0.0, 9.0), (1.0, 5.0), (2.0, 20.0), (10.0, 30.0)].into_iter().enumerate()
        {
            layout.push(warp(at as u32, start, stop));
        }
        assert_eq!(layout.multiprocessor.tracks.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1]);
    }

    #[test]
    fn timelines_without_a_profile_have_no_multiprocessors() {
        let mut record = record(vec![span(0, 1, 0, 0)]);
        record.profile = None;
        let timeline = Timeline::new(&Arc::new(record));
        assert!(timeline.multiprocessors.is_empty() && timeline.max_warps() == 0 && timeline.end_us > 0.0);
    }
}
