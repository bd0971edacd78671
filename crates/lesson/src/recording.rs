//! One query's search as a list of steps, with random access.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::algorithms::kernel::TheoryBaseline;
use super::algorithms::kernel::recorder::candidates_without_buffer;
use super::algorithms::tree::TreeBaseline;
use super::algorithms::{Algorithm, Baseline, Pseudocode, TWINS};
use super::align::ChangedComparators;
use super::cursor::Level;
use super::fault::Consequences;
use super::meter::Meter;
use super::state::{Shape, State, step_cost};
use super::step::Step;
use crate::engines::lockstep::{self, Fault, distance_of};
use crate::knn::{Descriptor, Problem};

/// Maximum number of keys that may move between two keyframes: 0.2 ms of work, of the 16 ms in a frame.
const KEYFRAME_WORK: u64 = 1 << 18;

/// The parameters of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The sizes W, R, k and n.
    #[serde(flatten)]
    pub shape: Shape,
    /// Capacity of the buffer, K = W·R.
    pub capacity: u32,
    /// Number of dimensions, d.
    pub dims: u32,
    /// The query's coordinates, as the engine uses them.
    pub query: Vec<f32>,
    /// The query's row in its cloud.
    pub query_row: u32,
    /// The source of the points.
    pub data: String,
    /// The recorder: an engine whose twin ran, or a GPU by its name.
    pub recorded_on: String,
    /// The injected fault, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

impl Parameters {
    /// The parameters of a search by an engine's twin.
    pub fn new(twin: &Descriptor, shape: Shape, problem: &Problem, query: usize, data: &str) -> Self {
        Self {
            shape,
            capacity: shape.capacity(),
            dims: problem.dims() as u32,
            query: problem.query(query).to_vec(),
            query_row: problem.query_row(query),
            data: data.to_owned(),
            recorded_on: twin.id.to_string(),
            fault: None,
        }
    }

    /// The device in words; for a GPU, with a note that its steps were verified.
    pub fn recorder_name(&self) -> String {
        let twin = TWINS.iter().find(|(engine, _)| engine.id.as_str() == self.recorded_on);
        match twin {
            Some((_, name)) if self.fault.is_some() => format!("the CPU, by {name}, with an injected fault"),
            Some((_, name)) => format!("the CPU, by {name}"),
            None => format!("{}, every step equal to its twin's", self.recorded_on),
        }
    }
}

/// How a lesson begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The range of the search that it shows.
    pub range: Range<usize>,
    /// The question that takes the place of the first sentence.
    pub question: String,
}

/// Quantiles of the positive squared distances of all candidates; zeros if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DistanceQuantiles {
    /// The 1/64 quantile of the distances.
    pub low: f32,
    /// The median of the distances.
    pub middle: f32,
    /// The largest of the distances.
    pub high: f32,
}

impl DistanceQuantiles {
    fn from_distances(mut distances: Vec<f32>) -> Self {
        distances.sort_unstable_by(f32::total_cmp);
        let Some(&high) = distances.last() else { return Self::default() };
        Self { low: distances[distances.len() / 64], middle: distances[distances.len() / 2], high }
    }
}

/// The jump marks of a recording, and the distances of its candidates.
#[derive(Default)]
pub struct Marks {
    /// The index of the current step.
    number: u32,
    hits: Vec<u32>,
    merges: Vec<u32>,
    changes: Vec<u32>,
    /// Squared distances of candidates.
    pub distances: Vec<f32>,
}

impl Marks {
    /// Marks a step with candidates.
    pub fn hit(&mut self) {
        self.hits.push(self.number);
    }

    /// Marks a step that completes a round, and may have changed the bound.
    pub fn merge(&mut self, changes: bool) {
        self.merges.push(self.number);
        if changes {
            self.changes.push(self.number);
        }
    }
}

/// A saved state to replay from.
#[derive(Clone, Debug)]
struct Keyframe {
    /// Number of completed steps.
    position: usize,
    state: State,
}

/// One query's search. Positions count completed steps: 0 is before the first, [`Recording::len`] after the
/// last.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The parameters that it was recorded with.
    pub parameters: Parameters,
    problem: Arc<Problem>,
    query: usize,
    steps: Vec<Step>,
    keyframes: Vec<Keyframe>,
    /// Indices of ballots with candidates, ascending; in warp select, of groups with an insertion; for
    /// per-thread heaps, of branches that a lane takes.
    pub(super) hits: Vec<u32>,
    /// Indices of steps that complete a merge; in radix select, a pass; for per-thread heaps, an insertion of
    /// lane 0.
    pub(super) merges: Vec<u32>,
    /// The subset of those that change `max_distance`.
    pub(super) changes: Vec<u32>,
    /// Range of the positive squared distances of candidates.
    span: DistanceQuantiles,
    overview: Overview,
    baseline: Baseline,
    /// Computed on first use.
    meter: OnceLock<Option<Arc<Meter>>>,
    /// Computed on first use.
    candidates_without_buffer: OnceLock<Vec<u32>>,
    changed_comparators: Option<ChangedComparators>,
    consequences: Option<Arc<Consequences>>,
    opening: Option<Opening>,
}

impl Recording {
    /// Replaces the baseline, which is theory by default.
    pub fn with_baseline(self, baseline: impl Into<Baseline>) -> Self {
        Self { baseline: baseline.into(), ..self }
    }

    /// Extends the map to further points, row-major, so that it does not move when a point does.
    pub fn with_map_around(mut self, points: &[f32]) -> Self {
        self.overview.widen(points, self.problem.dims());
        self
    }

    /// Opens with a question at the start of the range that a lesson shows.
    pub fn with_opening(self, range: Range<usize>, question: String) -> Self {
        Self { opening: Some(Opening { range, question }), ..self }
    }

    /// How the lesson opens; `None` if it shows something else, such as a fault.
    pub fn opening(&self) -> Option<&Opening> {
        self.opening.as_ref()
    }

    /// Marks the comparators that decide differently than in an earlier recording; `None` removes the marks.
    pub fn mark_changed_comparators(&mut self, before: Option<&Self>) {
        self.changed_comparators = before.map(|before| ChangedComparators::between(before, self));
    }

    /// The comparators that decide differently than in the earlier recording.
    pub fn changed_comparators(&self) -> Option<&ChangedComparators> {
        self.changed_comparators.as_ref()
    }

    /// Adds the effect of the fault.
    pub(super) fn with_consequences(self, consequences: Consequences) -> Self {
        Self { consequences: Some(Arc::new(consequences)), ..self }
    }

    /// The effect of the injected fault, if any.
    pub fn consequences(&self) -> Option<&Consequences> {
        self.consequences.as_deref()
    }

    /// The state before the first step.
    pub fn start(&self) -> State {
        State { fault: self.parameters.fault, ..State::new(self.shape()) }
    }

    /// The algorithm and its baseline.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// Replays the steps of a search once, to collect keyframes and marks.
    ///
    /// # Panics
    /// If a step names lanes, slots or elements that a warp of this shape does not have.
    pub fn new(parameters: Parameters, problem: Arc<Problem>, query: usize, steps: Vec<Step>) -> Self {
        let mut marks = Marks::default();
        let mut state = State { fault: parameters.fault, ..State::new(parameters.shape) };
        let mut keyframes = vec![Keyframe { position: 0, state: state.clone() }];
        let mut since = 0;
        for (at, step) in steps.iter().enumerate() {
            marks.number = at as u32;
            match step {
                Step::Ballot { mask } | Step::FilteredAgain { mask, .. } if *mask != 0 => marks.hit(),
                Step::MaxDistance { before, max_distance, .. } => marks.merge(before != max_distance),
                Step::Appended { placed } => {
                    marks.distances.extend(placed.iter().map(|candidate| distance_of(candidate.key)))
                }
                Step::Own(step) => step.get().mark(&state, &mut marks),
                _ => {}
            }
            state.apply(step);
            since += step_cost(step, parameters.shape);
            if since >= KEYFRAME_WORK {
                keyframes.push(Keyframe { position: at + 1, state: state.clone() });
                since = 0;
            }
        }
        let Marks { hits, merges, changes, mut distances, .. } = marks;
        distances.retain(|distance| *distance > 0.0 && distance.is_finite());
        let span = DistanceQuantiles::from_distances(distances);
        let overview = Overview::new(&problem, query);
        Self {
            parameters,
            problem,
            query,
            steps,
            keyframes,
            hits,
            merges,
            changes,
            span,
            overview,
            baseline: TheoryBaseline.into(),
            meter: OnceLock::new(),
            candidates_without_buffer: OnceLock::new(),
            changed_comparators: None,
            consequences: None,
            opening: None,
        }
    }

    /// The sizes of the search.
    pub fn shape(&self) -> Shape {
        self.parameters.shape
    }

    /// The number of steps in the whole search.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Always false: a search ends with a step that says so.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The stored steps; groups without candidates lack their distances (see [`Recording::step`]).
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The step from position `at` to `at` + 1, with all its values.
    pub fn step(&self, at: usize) -> Cow<'_, Step> {
        match &self.steps[at] {
            Step::Group { base, distances } if distances.is_empty() => {
                Cow::Owned(Step::Group { base: *base, distances: self.distances(*base) })
            }
            step => Cow::Borrowed(step),
        }
    }

    /// The squared distances of a group's points, one per lane, infinite past the last point.
    pub fn distances(&self, base: u32) -> Vec<f32> {
        let (first, width) = (base as usize, self.shape().width as usize);
        let mut distances =
            lockstep::distances_to(&self.problem, self.query, first..(first + width).min(self.problem.n()));
        distances.resize(width, f32::INFINITY);
        distances
    }

    /// The problem with its points, and their rows by position.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// The searched tree, if any.
    pub fn index(&self) -> Option<&Arc<TreeBaseline>> {
        if let Baseline::Tree(index) = &self.baseline { Some(index) } else { None }
    }

    /// The cost of the query with each strategy; `None` for the tree search and the selections. The other
    /// strategies are recorded on first use.
    pub fn meter(&self) -> Option<&Arc<Meter>> {
        self.meter.get_or_init(|| self.algorithm().meter(self).map(Arc::new)).as_ref()
    }

    /// Positions of the points that are candidates if the kernel merges each at once, ascending. Recorded on
    /// first use.
    pub fn candidates_without_buffer(&self) -> &[u32] {
        self.candidates_without_buffer.get_or_init(|| candidates_without_buffer(&self.problem, self.query))
    }

    /// The algorithm that was recorded.
    pub(crate) fn algorithm(&self) -> &dyn Algorithm {
        self.baseline.algorithm()
    }

    /// The name of a round, singular and plural.
    pub fn round_names(&self) -> [&'static str; 2] {
        self.algorithm().round_names()
    }

    /// Names of the marks: a hit, the end of a round, a change of the bound; `None` for missing ones.
    pub fn mark_names(&self) -> [Option<&'static str>; 3] {
        self.algorithm().mark_names()
    }

    /// The algorithm that was recorded, as pseudocode.
    pub fn code(&self) -> &'static Pseudocode {
        self.algorithm().code()
    }

    /// The index of the query in the problem.
    pub fn query(&self) -> usize {
        self.query
    }

    /// The coarsest level of detail at which the player stops after a step.
    pub fn level(&self, at: usize) -> Level {
        match &self.steps[at] {
            Step::Batch { .. } | Step::Finished => Level::Search,
            Step::MaxDistance { .. } => Level::Merge,
            Step::BufferFull
            | Step::Padded { .. }
            | Step::Swap
            | Step::Minimum { .. }
            | Step::Appended { .. } => Level::Stage,
            // The last layer completes a sort.
            Step::Layer { layer, .. } if layer.size == self.shape().capacity() && layer.stride == 1 => {
                Level::Stage
            }
            Step::Ballot { .. } => self.algorithm().ballot_level(),
            Step::Layer { .. } | Step::FilteredAgain { .. } => Level::Layer,
            Step::Group { .. } | Step::Positions { .. } => Level::Lane,
            Step::Own(step) => step.get().level(),
        }
    }

    /// The number of merges in the whole search.
    pub fn merges(&self) -> usize {
        self.merges.len()
    }

    /// The position after the `merge`-th merge (0-based), which is the `merge`-th point of the convergence
    /// curve.
    pub fn position_of_merge(&self, merge: usize) -> Option<usize> {
        self.merges.get(merge).map(|&at| at as usize + 1)
    }

    /// The convergence curve: points seen and `max_distance` after each merge.
    pub fn convergence(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.merges.iter().filter_map(|&at| match self.steps[at as usize] {
            Step::MaxDistance { points_seen, max_distance, .. } => Some((points_seen, max_distance)),
            _ => None,
        })
    }

    /// The positions from before the `merge`-th merge begins (its buffer is full or padded) to after it is
    /// done.
    pub fn range_of_merge(&self, merge: usize) -> Option<Range<usize>> {
        let end = self.position_of_merge(merge)?;
        let start = self.steps[..end]
            .iter()
            .rposition(|step| matches!(step, Step::BufferFull | Step::Padded { .. }))?;
        Some(start..end)
    }

    /// The range of the squared distances of all candidates, for the colour scale.
    pub fn span(&self) -> DistanceQuantiles {
        self.span
    }

    /// Uses the colour scale of another recording, so that both can be compared shape by shape.
    #[cfg(test)]
    pub fn with_scale_of(mut self, other: &Self) -> Self {
        self.span = other.span;
        self
    }

    /// The extent and the sample of points for drawing.
    pub fn overview(&self) -> &Overview {
        &self.overview
    }

    /// The last keyframe at or before a position, and its position.
    pub(super) fn keyframe(&self, position: usize) -> (usize, &State) {
        let after = self.keyframes.partition_point(|keyframe| keyframe.position <= position);
        let keyframe = &self.keyframes[after - 1];
        (keyframe.position, &keyframe.state)
    }

    /// Memory of steps and keyframes in bytes, without the points.
    pub fn bytes(&self) -> usize {
        let of_step = |step: &Step| match step {
            Step::Group { distances, .. } => size_of_val(&**distances),
            Step::Positions { slots } => size_of_val(&**slots),
            Step::Appended { placed } => size_of_val(&**placed),
            Step::Layer { swapped: elements, .. } | Step::Minimum { taken: elements } => elements.bytes(),
            Step::Own(step) => step.get().bytes(),
            _ => 0,
        };
        let shape = self.shape();
        let of_state =
            size_of::<Keyframe>() + 2 * 8 * shape.capacity() as usize + self.algorithm().state_bytes(shape);
        size_of_val(&*self.steps)
            + self.steps.iter().map(of_step).sum::<usize>()
            + self.keyframes.len() * of_state
    }
}

// The extent of all points and a sample for drawing, computed once because there may be many.

/// Maximum number of points drawn.
const MAX_DRAWN: usize = 20_000;

/// Seed of the sample.
const SAMPLE_SEED: u64 = 0x5eed;

/// The extent of the points on the first two axes, and the points that are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// The smallest coordinates, including the query's; 0 on a missing axis.
    pub low: [f32; 2],
    /// The largest coordinates, including the query's; 0 on a missing axis.
    pub high: [f32; 2],
    /// All points, or a random sample of 20,000, ascending.
    pub points: Vec<u32>,
}

impl Overview {
    /// Computes the extent and the sample for a problem and one query.
    pub fn new(problem: &Problem, query: usize) -> Self {
        let (dims, query) = (problem.dims(), problem.query(query));
        let low = [query[0], query.get(1).copied().unwrap_or(0.0)];
        let mut overview = Self { low, high: low, points: sample(problem.n()) };
        overview.widen(problem.points(), dims);
        overview
    }

    /// Extends it to further points, row-major.
    pub fn widen(&mut self, points: &[f32], dims: usize) {
        for point in points.chunks_exact(dims) {
            for ((low, high), &value) in self.low.iter_mut().zip(&mut self.high).zip(point) {
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
    }
}

/// All points, or a random sample of [`MAX_DRAWN`].
fn sample(n: usize) -> Vec<u32> {
    if n <= MAX_DRAWN {
        return (0..n as u32).collect();
    }
    // Each point gets a pseudo-random number; those with the smallest numbers are drawn.
    let mixed = |point: u32| {
        let mut bits = (u64::from(point) ^ SAMPLE_SEED).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    // A threshold slightly above the expected one leaves few numbers to sort.
    let limit = (MAX_DRAWN as f64 * 1.1 / n as f64 * u64::MAX as f64) as u64;
    let mut chosen: Vec<(u64, u32)> =
        (0..n as u32).map(|point| (mixed(point), point)).filter(|(number, _)| *number < limit).collect();
    if chosen.len() > MAX_DRAWN {
        chosen.select_nth_unstable(MAX_DRAWN - 1);
        chosen.truncate(MAX_DRAWN);
    }
    let mut points: Vec<u32> = chosen.into_iter().map(|(_, point)| point).collect();
    points.sort_unstable();
    points
}
