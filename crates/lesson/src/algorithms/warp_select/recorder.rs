//! The observer of warp select's twin that records the steps.

use std::sync::Arc;

use super::state::striped_position;
use super::{WarpSelectBaseline, WarpSelectStep};
use crate::Result;
use crate::algorithms::kernel::BufferCounts;
use crate::algorithms::kernel::recorder::record;
use crate::engines::cuda::trace::QueueTrace;
use crate::engines::lockstep::{self, Key, Lanes, PADDING, distance_of, key_of};
use crate::engines::select::{Observer, WARP_SELECT, warp_select};
use crate::from_gpu::check_trace;
use crate::knn::Problem;
use crate::recording::{Parameters, Recording};
use crate::state::Shape;
use crate::step::{AppendedCandidate, Step};

/// Number of lanes of a GPU's warp.
const GPU_WARP: usize = 32;

/// Keys of a lane's queue: as on a GPU with the same number of registers per lane in the warp's queue.
pub fn queue_length(registers: u32) -> u32 {
    warp_select::default_queue(registers as usize * GPU_WARP) as u32
}

/// Runs warp select's twin on one query with a warp of `width` lanes and records its steps. Also runs the
/// kernel's twin, for its counts. A lane's queue has the length that a GPU uses for the same number of keys
/// per lane in the warp's queue. `data` describes the source of the points.
///
/// # Errors
/// `LessonError` for widths other than 4, 8, 16 and 32, and if k is too large.
pub fn record_queues(problem: Arc<Problem>, query: usize, width: u32, data: &str) -> Result<Recording> {
    Shape::check(width, problem.k())?;
    let buffer = BufferCounts::count(&record(Arc::clone(&problem), query, width, None, data)?);
    Ok(match width {
        4 => record_width::<4>(problem, query, data, buffer),
        8 => record_width::<8>(problem, query, data, buffer),
        16 => record_width::<16>(problem, query, data, buffer),
        _ => record_width::<32>(problem, query, data, buffer),
    })
}

fn record_width<const W: usize>(
    problem: Arc<Problem>,
    query: usize,
    data: &str,
    buffer: BufferCounts,
) -> Recording {
    let shape = Shape::for_problem(&problem, W as u32);
    let queue = queue_length(shape.registers) as usize;
    let row = lockstep::distances_to(&problem, query, 0..problem.n());
    let (recorder, [merges, inserts, ..]) =
        warp_select::observe::<W, _>(&row, problem.k(), queue, Recorder::<W>::new(shape, queue));
    let keys_merged = recorder
        .steps
        .iter()
        .map(|step| {
            if let Some(WarpSelectStep::Exchanged { taken }) = step.warp_select() { taken.count() } else { 0 }
        })
        .sum();
    let parameters = Parameters::new(&WARP_SELECT, shape, &problem, query, data);
    let baseline = WarpSelectBaseline { length: queue as u32, merges, inserts, keys_merged, buffer };
    Recording::new(parameters, problem, query, recorder.steps).with_baseline(baseline)
}

/// Records the steps of a search that it observes.
pub(crate) struct Recorder<const W: usize> {
    pub steps: Vec<Step>,
    /// The warp's queue after the last step, by element.
    warp_queue: Vec<Key>,
    points_seen: u32,
    n: u32,
    max_distance: f32,
}

impl<const W: usize> Recorder<W> {
    /// `queue` is the number of keys of a lane's queue.
    pub fn new(shape: Shape, queue: usize) -> Self {
        Self {
            steps: vec![WarpSelectStep::Queues { length: queue as u32 }.into()],
            warp_queue: vec![PADDING; shape.capacity() as usize],
            points_seen: 0,
            n: shape.n,
            max_distance: f32::INFINITY,
        }
    }
}

impl<const W: usize> Observer<W> for Recorder<W> {
    fn inserted(&mut self, first: usize, distances: &[f32], lane_queue: &[Lanes<Key, W>]) {
        let mut placed = Vec::new();
        for (lane, &distance) in distances.iter().enumerate() {
            let key = key_of(distance, (first + lane) as u32);
            let place = lane_queue.iter().position(|register| register[lane] == key);
            placed.extend(place.map(|place| AppendedCandidate {
                lane: lane as u32,
                slot: place as u32,
                key,
            }));
        }
        // Distances of groups without insertions are recomputed on request.
        let mut kept = Vec::new();
        if !placed.is_empty() {
            kept.extend(distances);
            kept.resize(W, f32::INFINITY);
        }
        self.points_seen = (first as u32).saturating_add(W as u32).min(self.n);
        self.steps.extend([
            Step::Group { base: first as u32, distances: kept },
            WarpSelectStep::Inserted { placed }.into(),
        ]);
    }

    fn checked(&mut self, largest: &Lanes<Key, W>, limit: Key) {
        let broken = (0..).zip(largest).fold(0, |lanes, (lane, &key)| lanes | u32::from(key < limit) << lane);
        self.steps.push(WarpSelectStep::Checked { broken }.into());
    }

    fn drained(&mut self) {
        self.steps.push(WarpSelectStep::Drained.into());
    }

    fn sorted(&mut self, _lane_queue: &[Lanes<Key, W>]) {
        self.steps.push(WarpSelectStep::QueuesSorted.into());
    }

    fn exchanged(&mut self, warp_queue: &[Lanes<Key, W>], _lane_queue: &[Lanes<Key, W>]) {
        let at = |element: u32| {
            let (lane, register) = striped_position(W as u32, element);
            warp_queue[register as usize][lane as usize]
        };
        let taken = (0..self.warp_queue.len() as u32)
            .filter(|&element| at(element) != self.warp_queue[element as usize])
            .collect();
        self.steps.push(WarpSelectStep::Exchanged { taken }.into());
    }

    fn merged(&mut self, warp_queue: &[Lanes<Key, W>]) {
        self.warp_queue = warp_queue.as_flattened().to_vec();
        self.steps.push(WarpSelectStep::WarpQueueSorted.into());
    }

    fn descended(&mut self, _lane_queue: &[Lanes<Key, W>]) {
        self.steps.push(WarpSelectStep::QueuesDescend.into());
    }

    fn limited(&mut self, limit: Key) {
        let before = std::mem::replace(&mut self.max_distance, distance_of(limit));
        self.steps.push(Step::MaxDistance {
            points_seen: self.points_seen,
            before,
            max_distance: self.max_distance,
        });
    }

    fn finished(&mut self) {
        self.steps.push(Step::Finished);
    }
}

// Warp select on a GPU: its trace as steps.

/// Decodes the GPU's steps and checks them against the twin's, and its answer against its own steps.
pub(crate) fn compare(trace: &QueueTrace, twin: &Recording, length: u32) -> Result<Vec<Step>> {
    let mut recorder = Recorder::new(twin.shape(), length as usize);
    let decoded = trace.replay(&mut recorder);
    check_trace(decoded, recorder.steps, &trace.neighbours, twin)
}
