//! The seven lessons: what is searched, what of it is shown, and what is asked.

use std::ops::Range;
use std::sync::Arc;

use super::cursor::Level;
use super::from_gpu::record_on_gpu;
use super::questions::{Ask, Question, questions};
use super::recorder::record;
use super::recording::{LessonError, Recording};
use super::state::Shape;
use super::step::{Part, Step};
use crate::cloud::{self, Order, PointCloud, Source};
use crate::engines::cuda::Cuda;
use crate::engines::lockstep;
use crate::knn::{Metric, Problem, Queries, Setup};
use crate::progress::Progress;

/// Questions of one kind in a lesson.
const QUESTIONS_EACH: usize = 3;

/// The number of the lesson that takes anybody's data.
pub const OWN_DATA: u32 = 7;

/// A lesson.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// 1 to 7.
    pub number: u32,
    /// A few words.
    pub title: &'static str,
    /// What to see.
    pub paragraph: &'static str,
    /// The generator of its points, without n.
    pub generator: &'static str,
    /// Points for each place of the intermediate result: n = this × K.
    pub points_per_place: u32,
    /// Seeds the generator.
    pub seed: u64,
    /// Neighbours.
    pub k: usize,
    /// Lanes.
    pub width: u32,
    /// Groups that the block stages together; `None` is as in a run.
    pub batch: Option<usize>,
    /// In what orders the points are met: a recording each.
    pub arrangements: &'static [Arrangement],
    /// Which part of the search it is about.
    pub shows: Shows,
    /// The level of detail to begin with.
    pub level: Level,
    /// What is asked.
    pub asks: &'static [Ask],
}

/// In what order points are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// As they were drawn, or stand in their file.
    AsDrawn,
    /// In random order.
    Shuffled,
    /// By distance to the query, ascending: the best case.
    NearestFirst,
    /// By distance to the query, descending: the worst case.
    FarthestFirst,
}

impl Arrangement {
    /// As it is called in titles and names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsDrawn => "as-drawn",
            Self::Shuffled => "shuffled",
            Self::NearestFirst => "nearest-first",
            Self::FarthestFirst => "farthest-first",
        }
    }
}

/// A part of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Everything.
    Whole,
    /// The sort of the first buffer.
    FirstSort,
    /// The second merge, the first that has an intermediate result to merge with, from its minimum on.
    SecondMinimum,
    /// How the last buffer that was too small for a group's candidates filled: from the merge before it to the ballot of
    /// those that had to wait.
    Overflow,
}

/// What may be chosen otherwise than a lesson has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// Neighbours.
    pub k: Option<usize>,
    /// Lanes.
    pub width: Option<u32>,
    /// Seeds the generator.
    pub seed: Option<u64>,
}

/// One of a lesson's recordings, and the positions that the lesson is about.
#[derive(Clone, Debug)]
pub struct Take {
    /// In what order the points were met.
    pub arrangement: Arrangement,
    /// The whole search.
    pub recording: Arc<Recording>,
    /// From this position to that.
    pub range: Range<usize>,
}

impl Take {
    fn new(arrangement: Arrangement, recording: Recording, shows: Shows) -> Self {
        Self { arrangement, range: shows.range(&recording), recording: Arc::new(recording) }
    }
}

/// All of them.
pub const LESSONS: [Lesson; 7] = [
    Lesson {
        number: 1,
        title: "Sorting in a warp: one key a lane",
        paragraph: "A warp is a row of threads, its lanes, that do the same thing at the same time. Here every lane holds one key, the squared distance \
            of a point to the query, in a register, its own fast memory. How the keys came there is for lesson 4; here they are sorted. \
            In each layer lane L compares its key with that of lane L ^ stride (the number that differs in one bit, that of the stride), which it \
            reads by shuffle, straight from the other's register: one of the two keeps the smaller key, the \
            other the larger. Which one is decided by the lane's number alone, never by the data. First pairs are sorted, then fours, then all, \
            neighbouring runs always in opposite directions, so that the next size finds them going up and then down, which is called bitonic.",
        generator: "uniform:d=2",
        points_per_place: 1,
        seed: 3,
        k: 8,
        width: 8,
        batch: None,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::FirstSort,
        level: Level::Layer,
        asks: &[Ask::Partner, Ask::Swaps],
    },
    Lesson {
        number: 2,
        title: "More keys than lanes: R a lane",
        paragraph: "To sort K keys with W lanes, every lane holds R = K / W consecutive ones. The network is the same, but a comparator now connects \
            two elements that may lie in the same lane: strides below R exchange two registers of one lane and cost no shuffle; from R on, every lane \
            exchanges with lane ^ (stride / R), the same register of both. Small strides are the most frequent ones: of the 15 layers of 32 keys, \
            9 need no shuffle with R = 4.",
        generator: "uniform:d=2",
        points_per_place: 1,
        seed: 5,
        k: 32,
        width: 8,
        batch: None,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::FirstSort,
        level: Level::Layer,
        asks: &[Ask::Partner, Ask::Swaps],
    },
    Lesson {
        number: 3,
        title: "Merging two sorted lists",
        paragraph: "The K smallest of two sorted lists of K are found in one go: element i of one meets element K \u{2212} 1 \u{2212} i of the other, and the \
            smaller stays. One list goes up and the other, read backwards, goes down, so that what is left is bitonic: it rises to where they cross \
            and falls from there, or the other way round. A bitonic list needs no whole sort: the layers of size K alone, strides K/2 to 1, sort it.",
        generator: "uniform:d=2",
        points_per_place: 8,
        seed: 7,
        k: 16,
        width: 8,
        batch: None,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::SecondMinimum,
        level: Level::Layer,
        asks: &[Ask::Taken, Ask::Partner, Ask::Swaps],
    },
    Lesson {
        number: 4,
        title: "The candidate buffer and the ballot",
        paragraph: "Merging costs much, so it is put off: points closer than max_distance, the squared distance of the k-th neighbour so far, are candidates and \
            wait in a buffer of K slots. All lanes vote at once, and the ballot gives every lane the same number with one bit a lane. A candidate counts \
            the voting lanes below its own, adds the slots that are taken, and knows its slot without asking anybody. When the buffer is full it is \
            merged, max_distance falls, and candidates that found no slot must vote again: some of them are no longer close enough.",
        generator: "uniform:d=2",
        points_per_place: 32,
        seed: 11,
        k: 32,
        width: 32,
        batch: None,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Overflow,
        level: Level::Layer,
        asks: &[Ask::Votes, Ask::Slot],
    },
    Lesson {
        number: 5,
        title: "The whole search",
        paragraph: "The block loads batch after batch into shared memory; the warp takes a group of points, one a lane, computes their distances and votes. \
            The first points all go into the buffer, as max_distance is still infinite. Then it falls with every merge, fewer and fewer points pass, \
            and soon most groups are done with one ballot. The data are never sorted: only the few that might matter are.",
        generator: "uniform:d=2",
        points_per_place: 64,
        seed: 13,
        k: 32,
        width: 32,
        batch: Some(8),
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Whole,
        level: Level::Merge,
        asks: &[Ask::Votes, Ask::Slot, Ask::Merges],
    },
    Lesson {
        number: 6,
        title: "Why order matters",
        paragraph: "The same points, met in three orders, give the same neighbours at a very different cost. In random order the i-th point is a candidate \
            with a probability of at most (k + K) / i, so there are at most about 3 + 2 ln(n / 2k) merges where k = K, on \
            average. Nearest first, the first merge finds all neighbours and nothing else passes. Farthest first, every point is closer than all before \
            it: each one goes into the buffer, and there are n / K merges.",
        generator: "uniform:d=2",
        points_per_place: 64,
        seed: 17,
        k: 32,
        width: 32,
        batch: None,
        arrangements: &[Arrangement::Shuffled, Arrangement::NearestFirst, Arrangement::FarthestFirst],
        shows: Shows::Whole,
        level: Level::Merge,
        asks: &[Ask::Merges],
    },
    Lesson {
        number: 7,
        title: "Your own data",
        paragraph: "Any point of any cloud can be the query. Watch how soon max_distance comes close to where it ends, how many groups are done with one \
            ballot, and whether the order of the file helps or hurts: where rows lie in the file as they lie in space, there may be far more merges, or \
            far fewer, than in random order.",
        generator: "gaussian-mixture:d=2,clusters=12",
        points_per_place: 160,
        seed: 19,
        k: 32,
        width: 32,
        batch: None,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Whole,
        level: Level::Merge,
        asks: &[Ask::Votes, Ask::Slot, Ask::Merges],
    },
];

/// A lesson by its number.
///
/// # Errors
/// [`LessonError::Number`].
pub fn lesson(number: u32) -> Result<&'static Lesson, LessonError> {
    LESSONS.iter().find(|lesson| lesson.number == number).ok_or(LessonError::Number { number, last: LESSONS.len() as u32 })
}

impl Lesson {
    /// Records its own data: one take for each of its arrangements. The query is the row in the middle.
    ///
    /// # Errors
    /// [`LessonError`], where what was chosen makes no sense.
    pub fn record(&self, choice: Choice, progress: &dyn Progress) -> Result<Vec<Take>, LessonError> {
        let (k, width) = (choice.k.unwrap_or(self.k), choice.width.unwrap_or(self.width));
        Shape::check(width, k)?;
        let capacity = width as usize * lockstep::registers_for(k, width as usize);
        let n = self.points_per_place as usize * capacity;
        let seed = choice.seed.unwrap_or(self.seed);
        let source = Source::Generate { spec: format!("{},n={n}", self.generator), seed };
        let cloud = Arc::new(cloud::load(&source, false, progress)?);
        let setup = Setup { k, metric: Metric::L2, order: Order::File, seed, exclude_self: false, drop_zero_rows: false };
        self.arrangements.iter().map(|&arrangement| self.record_cloud(&cloud, n / 2, setup, width, arrangement)).collect()
    }

    /// Records the search for a row of a cloud.
    ///
    /// # Errors
    /// [`LessonError`], where k, the width or the row make no sense, or the cloud has no such problem.
    pub fn record_cloud(&self, cloud: &Arc<PointCloud>, row: usize, setup: Setup, width: u32, arrangement: Arrangement) -> Result<Take, LessonError> {
        self.record_query(cloud, &Queries::Rows(vec![row as u32]), 0, setup, width, arrangement)
    }

    /// Records the search for one of some queries.
    ///
    /// # Errors
    /// As [`Lesson::record_cloud`].
    ///
    /// # Panics
    /// If there are not so many queries.
    pub fn record_query(
        &self,
        cloud: &Arc<PointCloud>,
        queries: &Queries,
        query: usize,
        mut setup: Setup,
        width: u32,
        arrangement: Arrangement,
    ) -> Result<Take, LessonError> {
        if arrangement == Arrangement::Shuffled {
            setup.order = Order::Shuffled;
        }
        let problem = Problem::new(cloud, queries, setup)?;
        let problem = match arrangement {
            Arrangement::AsDrawn | Arrangement::Shuffled => problem,
            Arrangement::NearestFirst => by_distance(&problem, query, |bits| bits),
            Arrangement::FarthestFirst => by_distance(&problem, query, std::cmp::Reverse),
        };
        let recording = record(Arc::new(problem), query, width, self.batch, &cloud.source().to_string())?;
        Ok(Take::new(arrangement, recording, self.shows))
    }

    /// A take with the recording that a GPU makes of the same search ([`record_on_gpu`]).
    ///
    /// # Errors
    /// Those of [`record_on_gpu`].
    pub fn on_gpu(&self, take: &Take, cuda: &mut Cuda) -> Result<Take, LessonError> {
        Ok(Take::new(take.arrangement, record_on_gpu(&take.recording, cuda)?, self.shows))
    }

    /// What to ask about a take, in the order in which it comes up.
    pub fn questions(&self, take: &Take) -> Vec<Question> {
        let mut questions = questions(&take.recording, take.range.clone(), self.asks, QUESTIONS_EACH);
        if self.arrangements.len() > 1 {
            let order = take.arrangement.name().replace('-', " ");
            questions.iter_mut().for_each(|question| question.text = format!("Points {order}: {}", question.text));
        }
        questions
    }
}

/// The problem with its points met by their distance to a query, as `by` sorts them.
fn by_distance<K: Ord>(problem: &Problem, query: usize, by: impl Fn(u32) -> K) -> Problem {
    let distances = lockstep::distances_to(problem, query, 0..problem.n());
    let mut positions: Vec<u32> = (0..problem.n() as u32).collect();
    // Distances are not negative: their bits order as they do.
    positions.sort_by_key(|&position| by(distances[position as usize].to_bits()));
    problem.rearranged(&positions)
}

impl Shows {
    /// Its positions in a recording; everything, where there is no such part.
    pub fn range(self, recording: &Recording) -> Range<usize> {
        self.part(recording).unwrap_or(0..recording.len())
    }

    fn part(self, recording: &Recording) -> Option<Range<usize>> {
        let steps = recording.steps();
        match self {
            Self::Whole => None,
            Self::FirstSort => {
                let merge = recording.range_of_merge(0)?;
                // From after the swap to before the minimum.
                let swap = merge.clone().find(|&at| steps[at] == Step::Swap)?;
                let last = merge.rev().find(|&at| matches!(steps[at], Step::Layer { part: Part::Sort, .. }))?;
                Some(swap + 1..last + 1)
            }
            Self::SecondMinimum => {
                let mut merge = recording.range_of_merge(1)?;
                let end = merge.end;
                Some(merge.find(|&at| matches!(steps[at], Step::Minimum { .. }))?..end)
            }
            Self::Overflow => {
                let again = steps.iter().rposition(|step| matches!(step, Step::FilteredAgain { .. }))?;
                let before = recording.merges.partition_point(|&at| (at as usize) < again).checked_sub(2)?;
                Some(recording.position_of_merge(before)?..again + 1)
            }
        }
    }
}
