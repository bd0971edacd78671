//! The structure of a lesson: texts, data, the shown range of the search, and questions. The lessons are in
//! [`super::story`].

use std::ops::Range;
use std::sync::Arc;

pub use super::algorithms::SearchAlgorithm;
use super::algorithms::heap::HeapStep;
use super::algorithms::kernel::recorder::record_faulty;
use super::cursor::Level;
use super::edits::{Edits, MAX_KEYS, data_from_keys};
use super::from_gpu::record_on_gpu;
use super::picture::grid::PanelGrid;
use super::questions::ideas::IdeaQuestion;
use super::questions::pool::{TakeQuestion, pool, round};
use super::questions::{Question, Rng, Topic};
use super::recording::Recording;
use super::state::Shape;
use super::step::{SortPass, Step};
pub use super::story::{LESSONS, OWN_DATA};
use super::{fault, memory, sizes};
use crate::Result;
use crate::cloud::{self, Order, Source};
use crate::engines::cuda::Cuda;
use crate::engines::lockstep::{self, Fault};
use crate::error::LessonError;
use crate::knn::{Metric, Problem, ProblemParameters, Queries};
use crate::own_data::UserData;
use crate::progress::Progress;

/// A lesson's data, range and questions.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// Its number, from 1.
    pub number: u32,
    /// A short name that stays when lessons are renumbered.
    pub id: &'static str,
    /// The title, a few words long.
    pub title: &'static str,
    /// What a reader can do after it, in one line. Here and in the texts below, `{k}`, `{K}` and so on are
    /// sizes: see [`Lesson::fill_in`].
    pub goal: &'static str,
    /// The ids of prerequisite lessons.
    pub prerequisites: &'static [&'static str],
    /// The question that it opens with.
    pub opening: &'static str,
    /// Its idea, shown beside the pictures.
    pub paragraph: &'static str,
    /// What to remember, in one line.
    pub summary: &'static str,
    /// How long it takes, and whether it is on the short route.
    pub minutes: LessonDuration,
    /// Whether it can use the reader's own cloud.
    pub own_data: bool,
    /// The generator of the points, without n.
    pub generator: &'static str,
    /// Points per element of the intermediate result: n = this × K.
    pub points_per_element: u32,
    /// Seed of the generator.
    pub seed: u64,
    /// Number of neighbours, k.
    pub k: usize,
    /// Number of lanes, W.
    pub width: u32,
    /// Number of groups per batch; `None` for the default of a run.
    pub batch: Option<usize>,
    /// How the neighbours are searched.
    pub search: SearchAlgorithm,
    /// The processing orders, one recording each.
    pub arrangements: &'static [Arrangement],
    /// The range of the search that is shown.
    pub shows: SearchRange,
    /// Its panels, in the order in which the story needs them.
    pub grid: PanelGrid,
    /// The initial level of detail.
    pub level: Level,
    /// The kinds of questions about its steps.
    pub topics: &'static [Topic],
    /// The questions about its ideas.
    pub ideas: &'static [IdeaQuestion],
}

/// How long a lesson takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonDuration {
    /// On the 20-minute route.
    OnRoute(u32),
    /// Off the route, for later.
    OffRoute(u32),
}

impl LessonDuration {
    /// The minutes, on or off the route.
    pub fn count(self) -> u32 {
        let (Self::OnRoute(minutes) | Self::OffRoute(minutes)) = self;
        minutes
    }

    /// Whether it is on the route.
    pub fn is_route(self) -> bool {
        matches!(self, Self::OnRoute(_))
    }
}

/// The processing order of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// In the order of the generator or file.
    AsDrawn,
    /// In the order of the file, compared with other orders of the same points.
    FileOrder,
    /// In random order, as the theory assumes.
    Shuffled,
    /// By distance to the query, ascending: the best case.
    NearestFirst,
    /// By distance to the query, descending: the worst case.
    FarthestFirst,
}

impl Arrangement {
    /// The name in titles and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsDrawn => "as-drawn",
            Self::FileOrder => "file-order",
            Self::Shuffled => "shuffled",
            Self::NearestFirst => "nearest-first",
            Self::FarthestFirst => "farthest-first",
        }
    }
}

/// A range of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchRange {
    /// The whole search, from start to end.
    Whole,
    /// The whole search as points and a shrinking circle, without the warp.
    Circle,
    /// The sort of the first buffer.
    FirstSort,
    /// The second merge, the first with an intermediate result: from the full buffer on.
    SecondMerge,
    /// The second merge from its minimum on.
    SecondMinimum,
    /// How the last buffer that overflowed within a group was filled. Starts after the preceding merge, at
    /// the first ballot whose candidates all have slots; ends with the second vote of the candidates without
    /// one.
    Overflow,
    /// Per-thread heaps: from the first point that some lanes insert while others wait.
    Waiting,
}

/// Overrides of a lesson's parameters.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Number of neighbours, k.
    pub k: Option<usize>,
    /// Number of lanes, W.
    pub width: Option<u32>,
    /// Seed of the generator.
    pub seed: Option<u64>,
    /// Changes by hand.
    pub edits: Edits,
}

/// One of a lesson's recordings, with the range that the lesson shows.
#[derive(Clone, Debug)]
pub struct Take {
    /// The processing order of this recording.
    pub arrangement: Arrangement,
    /// The recording of the whole search.
    pub recording: Arc<Recording>,
    /// The first and last position shown.
    pub range: Range<usize>,
}

impl Take {
    fn new(arrangement: Arrangement, recording: Recording, shows: SearchRange) -> Self {
        Self { arrangement, range: shows.range(&recording), recording: Arc::new(recording) }
    }

    /// A take of the range that a lesson shows, which opens with the lesson's question.
    fn opened(lesson: &Lesson, arrangement: Arrangement, recording: Recording) -> Self {
        let question = lesson.fill_in(lesson.opening, recording.shape());
        let range = lesson.shows.range(&recording);
        Self::new(arrangement, recording.with_opening(range, question), lesson.shows)
    }

    /// The position after the step that breaks an invariant, if an injected fault breaks one.
    pub fn broken_at(&self) -> Option<usize> {
        self.recording.consequences()?.broken.as_ref().map(|broken| broken.position)
    }

    /// Marks the comparators that decide differently than in an earlier recording; `None` removes the marks.
    pub fn mark_changed_comparators(&mut self, before: Option<&Recording>) {
        if before.is_some() || self.recording.changed_comparators().is_some() {
            Arc::make_mut(&mut self.recording).mark_changed_comparators(before);
        }
    }
}

/// Looks up a lesson by its number.
///
/// # Errors
/// [`LessonError::Name`] if there is none.
pub fn lesson(number: u32) -> Result<&'static Lesson> {
    named(&number.to_string())
}

/// Earlier ids of lessons, with their current ones.
const RENAMED: [(&str, &str); 2] = [("yours", "own-data"), ("not-looking", "pruning")];

/// Looks up a lesson by its number or its id, current or earlier.
///
/// # Errors
/// [`LessonError::Name`] if there is none.
pub fn named(name: &str) -> Result<&'static Lesson> {
    let number = name.parse::<u32>().ok();
    let id = RENAMED.iter().find(|(earlier, _)| *earlier == name).map_or(name, |(_, id)| id);
    LESSONS.iter().find(|lesson| Some(lesson.number) == number || lesson.id == id).ok_or_else(|| {
        LessonError::Name {
            name: name.to_owned(),
            last: LESSONS.len() as u32,
            ids: LESSONS.map(|lesson| lesson.id).join(", "),
        }
    })
}

impl Lesson {
    /// A text of this lesson, such as [`Lesson::paragraph`], with the sizes of a search filled in.
    pub fn fill_in(&self, text: &str, shape: Shape) -> String {
        sizes::fill_in(text, shape)
    }

    /// The sizes of a search of the lesson's own data.
    pub fn shape(&self) -> Shape {
        let registers = lockstep::registers_for(self.k, self.width as usize) as u32;
        Shape {
            width: self.width,
            registers,
            k: self.k as u32,
            n: self.points_per_element * self.width * registers,
        }
    }

    /// The next lesson; from a lesson on the short route, the next one on it.
    pub fn next(&self) -> Option<&'static Self> {
        let mut later = LESSONS[self.number as usize..].iter();
        let on_route = later.clone().find(|lesson| self.minutes.is_route() && lesson.minutes.is_route());
        on_route.or_else(|| later.next())
    }

    /// Records the lesson's own data: one take per arrangement. The query is the middle row.
    ///
    /// # Errors
    /// [`LessonError`] if the overrides are invalid.
    pub fn record(&self, overrides: Overrides, progress: &dyn Progress) -> Result<Vec<Take>> {
        let (k, width) = (overrides.k.unwrap_or(self.k), overrides.width.unwrap_or(self.width));
        Shape::check(width, k)?;
        if self.search == SearchAlgorithm::Tree {
            Shape::check_tree(width)?;
        }
        let capacity = width as usize * lockstep::registers_for(k, width as usize);
        let seed = overrides.seed.unwrap_or(self.seed);
        let (cloud, queries, query) = match &overrides.edits.keys {
            Some(keys) => {
                self.check_keys(keys.len(), k, width)?;
                data_from_keys(keys)?
            }
            None => {
                let n = self.points_per_element as usize * capacity;
                let source = Source::Generate { spec: format!("{},n={n}", self.generator), seed };
                (Arc::new(cloud::load(&source, false, progress)?), Queries::Rows(vec![n as u32 / 2]), 0)
            }
        };
        let setup = ProblemParameters {
            k,
            metric: Metric::L2,
            order: Order::File,
            seed,
            exclude_self: false,
            drop_zero_rows: false,
        };
        let own = |&arrangement| UserData { cloud: &cloud, queries: &queries, query, arrangement };
        let record = |arrangement| self.record_edited(own(arrangement), setup, width, &overrides.edits, None);
        self.arrangements.iter().map(record).collect()
    }

    /// How many keys can be typed instead of points; `None` if the lesson is not about sorting or merging a
    /// few keys.
    pub fn keys(&self, k: usize, width: u32) -> Option<usize> {
        let capacity = width as usize * lockstep::registers_for(k, width as usize);
        let keys = match self.shows {
            SearchRange::FirstSort => capacity,
            // The first half is sorted and merged before the second comes.
            SearchRange::SecondMinimum => 2 * capacity,
            SearchRange::Whole
            | SearchRange::Circle
            | SearchRange::Overflow
            | SearchRange::Waiting
            | SearchRange::SecondMerge => {
                return None;
            }
        };
        (keys <= MAX_KEYS).then_some(keys)
    }

    /// Checks the number of typed keys.
    ///
    /// # Errors
    /// [`LessonError::NoKeys`], [`LessonError::KeyCount`].
    pub fn check_keys(&self, given: usize, k: usize, width: u32) -> Result<()> {
        match self.keys(k, width) {
            None => Err(LessonError::NoKeys { lesson: self.id, k, width, most: MAX_KEYS }),
            Some(needed) if needed != given => {
                Err(LessonError::KeyCount { given, lesson: self.id, needed, k, width })
            }
            Some(_) => Ok(()),
        }
    }

    /// Records the search for a query, with changes by hand. `note` is a remark on the data that the
    /// recording includes.
    ///
    /// # Errors
    /// [`LessonError`] if k, the width or the row is invalid, or the setup or the changes do not apply to the
    /// cloud.
    ///
    /// # Panics
    /// If the query number is out of range.
    pub fn record_edited(
        &self,
        own: UserData<'_>,
        mut setup: ProblemParameters,
        width: u32,
        edits: &Edits,
        note: Option<&str>,
    ) -> Result<Take> {
        let arrangement = own.arrangement;
        let (cloud, queries, query) = &edits.apply(own.cloud, own.queries, own.query, setup.metric)?;
        let query = *query;
        if arrangement == Arrangement::Shuffled {
            setup.order = Order::Shuffled;
        }
        // Remove the row from the points: an engine would search for k + 1 neighbours, and the picture would
        // show that k.
        let exclude = std::mem::take(&mut setup.exclude_self);
        let problem = Problem::new(cloud, queries, setup)?;
        let excluded = exclude && matches!(queries, Queries::Rows(_)) && problem.n() > 1;
        let problem = if excluded { without_row(&problem, problem.query_row(query))? } else { problem };
        let notes: Vec<&str> =
            note.into_iter().chain(excluded.then_some("without the query's own row")).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let problem = match arrangement {
            Arrangement::AsDrawn | Arrangement::FileOrder | Arrangement::Shuffled => problem,
            Arrangement::NearestFirst => by_distance(&problem, query, |bits| bits)?,
            Arrangement::FarthestFirst => by_distance(&problem, query, std::cmp::Reverse)?,
        };
        let (problem, data) = (Arc::new(problem), edits.describe(cloud.source(), note.as_deref()));
        let recording = self.search.record(problem, query, width, self.batch, &data)?;
        let recording = match own.queries {
            _ if !edits.is_moved() => recording,
            Queries::Rows(_) => recording.with_map_around(own.cloud.points()),
            Queries::Cloud(queries) => {
                recording.with_map_around(own.cloud.points()).with_map_around(queries.point(own.query))
            }
        };
        Ok(Take::opened(self, arrangement, recording))
    }

    /// Repeats a take on a GPU ([`record_on_gpu`]).
    ///
    /// # Errors
    /// The same as those of [`record_on_gpu`].
    pub fn on_gpu(&self, take: &Take, cuda: &mut Cuda) -> Result<Take> {
        Ok(Take::opened(self, take.arrangement, record_on_gpu(&take.recording, cuda)?))
    }

    /// Checks that the lesson's search supports faults.
    ///
    /// # Errors
    /// [`LessonError::NoFaults`] unless it is the kernel's.
    pub fn check_has_faults(&self) -> Result<()> {
        if self.search == SearchAlgorithm::Kernel {
            Ok(())
        } else {
            Err(LessonError::NoFaults { lesson: self.id })
        }
    }

    /// Repeats a take with an injected fault; shows the whole search.
    ///
    /// # Errors
    /// [`LessonError::NoFaults`] unless the lesson shows the kernel's search.
    pub fn with_fault(&self, take: &Take, fault: Fault) -> Result<Take> {
        self.check_has_faults()?;
        let recording = &take.recording;
        let width = recording.shape().width;
        let faulty = record_faulty(
            fault,
            recording.problem().clone(),
            recording.query(),
            width,
            self.batch,
            &recording.parameters.data,
        )?;
        Ok(Take::new(take.arrangement, faulty, SearchRange::Whole))
    }

    /// The same lesson on data that show a fault's effect.
    pub fn with_data_for(&self, fault: Fault) -> Self {
        Self { generator: fault::row(fault).generator.unwrap_or(self.generator), ..*self }
    }

    /// The questions about a take, drawn with the lesson's seed; none about a faulty search.
    pub fn questions(&self, take: &Take) -> Vec<Question> {
        self.pool(std::slice::from_ref(take), self.seed).into_iter().map(|(_, question)| question).collect()
    }

    /// The pool of questions about takes, drawn with a seed.
    pub fn pool(&self, takes: &[Take], seed: u64) -> Vec<TakeQuestion> {
        pool(self, takes, seed)
    }

    /// A round of questions about takes, in order, drawn with a seed.
    pub fn round(&self, takes: &[Take], seed: u64) -> Vec<TakeQuestion> {
        round(&self.pool(takes, seed), &mut Rng::new(seed))
    }
}

/// The problem without a row of its cloud.
fn without_row(problem: &Problem, row: u32) -> Result<Problem> {
    check_copy(problem)?;
    let positions: Vec<u32> =
        (0..problem.n() as u32).filter(|&position| problem.row(position) != row).collect();
    Ok(problem.rearranged(&positions))
}

/// Checks that the memory suffices for a copy of a problem's points, with three more numbers per point.
fn check_copy(problem: &Problem) -> Result<()> {
    Ok(memory::check(4 * problem.n() as u64 * (problem.dims() as u64 + 3))?)
}

/// The problem with its points sorted by distance to a query, with `by` as the key.
fn by_distance<K: Ord>(problem: &Problem, query: usize, by: impl Fn(u32) -> K) -> Result<Problem> {
    check_copy(problem)?;
    let distances = lockstep::distances_to(problem, query, 0..problem.n());
    let mut positions: Vec<u32> = (0..problem.n() as u32).collect();
    // Distances are not negative, so their bits have the same order.
    positions.sort_by_key(|&position| by(distances[position as usize].to_bits()));
    Ok(problem.rearranged(&positions))
}

impl SearchRange {
    /// The positions of this range in a recording; the whole recording if it has no such range.
    pub fn range(self, recording: &Recording) -> Range<usize> {
        self.find(recording).unwrap_or(0..recording.len())
    }

    fn find(self, recording: &Recording) -> Option<Range<usize>> {
        let steps = recording.steps();
        match self {
            Self::Whole | Self::Circle => None,
            Self::FirstSort => {
                let merge = recording.range_of_merge(0)?;
                // From after the swap to before the minimum.
                let swap = merge.clone().find(|&at| steps[at] == Step::Swap)?;
                let last =
                    merge.rev().find(|&at| matches!(steps[at], Step::Layer { pass: SortPass::Sort, .. }))?;
                Some(swap + 1..last + 1)
            }
            Self::SecondMerge => recording.range_of_merge(1),
            Self::SecondMinimum => {
                let mut merge = recording.range_of_merge(1)?;
                let end = merge.end;
                Some(merge.find(|&at| matches!(steps[at], Step::Minimum { .. }))?..end)
            }
            Self::Overflow => {
                let again = steps.iter().rposition(|step| matches!(step, Step::FilteredAgain { .. }))?;
                let before = recording.merges.partition_point(|&at| (at as usize) < again).checked_sub(2)?;
                let start = recording.position_of_merge(before)?;
                let group = |at: usize| (start..at).rev().find(|&at| matches!(steps[at], Step::Group { .. }));
                // From the position after the group's distances.
                let has_slots = |at: usize| {
                    matches!(steps[at], Step::Appended { .. })
                        && !matches!(steps.get(at + 1), Some(Step::BufferFull | Step::FilteredAgain { .. }))
                };
                let simple = (start..again).filter(|&at| has_slots(at)).find_map(group);
                Some(simple.map_or(start, |at| at + 1)..again + 1)
            }
            Self::Waiting => {
                let all = u32::MAX >> (32 - recording.shape().width);
                let waits = |step: &Step| {
                    matches!(
                        step.heap(),
                        Some(HeapStep::Branched { lanes }) if *lanes != 0 && *lanes != all
                    )
                };
                Some(steps.iter().position(waits)?..steps.len())
            }
        }
    }
}
