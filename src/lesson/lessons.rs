//! The lessons: the data, the range of the search that is shown, and the questions.

use std::ops::Range;
use std::sync::Arc;

use super::bucket_recorder::record_digits;
use super::cursor::Level;
use super::fault;
use super::from_gpu::record_on_gpu;
use super::questions::{Ask, Question, questions};
use super::queue_recorder::record_queues;
use super::recorder::{record, record_faulty};
use super::recording::{LessonError, Recording};
use super::state::Shape;
use super::step::{Pass, Step};
use super::tree_recorder::record_tree;
use crate::cloud::{self, Order, PointCloud, Source};
use crate::engines::cuda::Cuda;
use crate::engines::lockstep::{self, Fault};
use crate::knn::{Metric, Problem, Queries, Setup};
use crate::progress::Progress;

/// Maximum number of questions of one kind in a lesson.
const QUESTIONS_EACH: usize = 3;

/// Number of the lesson that uses the user's own data.
pub const OWN_DATA: u32 = 7;

/// A lesson's data, range and questions.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// Its place among the lessons, from 1.
    pub number: u32,
    /// A short name that stays when lessons change places.
    pub id: &'static str,
    /// The title, a few words long.
    pub title: &'static str,
    /// The introduction shown beside the pictures.
    pub paragraph: &'static str,
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
    pub search: Search,
    /// The processing orders, one recording each.
    pub arrangements: &'static [Arrangement],
    /// The range of the search that is shown.
    pub shows: Shows,
    /// The initial level of detail.
    pub level: Level,
    /// The kinds of questions, in order.
    pub asks: &'static [Ask],
}

/// The processing order of the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// In the order of the generator or file.
    AsDrawn,
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
            Self::Shuffled => "shuffled",
            Self::NearestFirst => "nearest-first",
            Self::FarthestFirst => "farthest-first",
        }
    }
}

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The kernel, which looks at every point and keeps candidates in a buffer.
    Kernel,
    /// The index's search.
    Tree,
    /// Warp select.
    Queues,
    /// A selection by digits.
    Digits,
}

/// A range of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The whole search, from start to end.
    Whole,
    /// The sort of the first buffer.
    FirstSort,
    /// The second merge from its minimum on; the first one that has an intermediate result to merge with.
    SecondMinimum,
    /// How the last buffer that overflowed within a group was filled: from the preceding merge to the ballot
    /// of the waiting candidates.
    Overflow,
}

/// Overrides of a lesson's parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// Number of neighbours, k.
    pub k: Option<usize>,
    /// Number of lanes, W.
    pub width: Option<u32>,
    /// Seed of the generator.
    pub seed: Option<u64>,
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
    fn new(arrangement: Arrangement, recording: Recording, shows: Shows) -> Self {
        Self { arrangement, range: shows.range(&recording), recording: Arc::new(recording) }
    }

    /// The position after the step that breaks an invariant, if a mistake was made on purpose and one does.
    pub fn broken_at(&self) -> Option<usize> {
        self.recording.consequences()?.broken.as_ref().map(|broken| broken.position)
    }
}

/// All lessons, in order of their numbers.
pub const LESSONS: [Lesson; 10] = [
    Lesson {
        number: 1,
        id: "sort",
        title: "Sorting in a warp: one key a lane",
        paragraph: "A warp is a row of threads, its lanes, that do the same thing at the same time. Here every lane holds one key, the squared distance \
            of a point to the query, in a register, its own fast memory. How the keys came there is for lesson 4; here they are sorted. \
            In each layer lane L compares its key with that of lane L ^ stride (the number that differs in one bit, that of the stride), which it \
            reads by shuffle, straight from the other's register: one of the two keeps the smaller key, the \
            other the larger. Which one is decided by the lane's number alone, never by the data. First pairs are sorted, then fours, then all, \
            neighbouring runs always in opposite directions, so that the next size finds them going up and then down, which is called bitonic.",
        generator: "uniform:d=2",
        points_per_element: 1,
        seed: 3,
        k: 8,
        width: 8,
        batch: None,
        search: Search::Kernel,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::FirstSort,
        level: Level::Layer,
        asks: &[Ask::Partner, Ask::Swaps],
    },
    Lesson {
        number: 2,
        id: "wide",
        title: "More keys than lanes: R a lane",
        paragraph: "To sort K keys with W lanes, every lane holds R = K / W consecutive ones. The network is the same, but a comparator now connects \
            two elements that may lie in the same lane: strides below R exchange two registers of one lane and cost no shuffle; from R on, every lane \
            exchanges with lane ^ (stride / R), the same register of both. Small strides are the most frequent ones: of the 15 layers of 32 keys, \
            9 need no shuffle with R = 4.",
        generator: "uniform:d=2",
        points_per_element: 1,
        seed: 5,
        k: 32,
        width: 8,
        batch: None,
        search: Search::Kernel,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::FirstSort,
        level: Level::Layer,
        asks: &[Ask::Partner, Ask::Swaps],
    },
    Lesson {
        number: 3,
        id: "merge",
        title: "Merging two sorted lists",
        paragraph: "The K smallest of two sorted lists of K are found in one go: element i of one meets element K \u{2212} 1 \u{2212} i of the other, and the \
            smaller stays. One list goes up and the other, read backwards, goes down, so that what is left is bitonic: it rises to where they cross \
            and falls from there, or the other way round. A bitonic list needs no whole sort: the layers of size K alone, strides K/2 to 1, sort it.",
        generator: "uniform:d=2",
        points_per_element: 8,
        seed: 7,
        k: 16,
        width: 8,
        batch: None,
        search: Search::Kernel,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::SecondMinimum,
        level: Level::Layer,
        asks: &[Ask::Taken, Ask::Partner, Ask::Swaps],
    },
    Lesson {
        number: 4,
        id: "buffer",
        title: "The candidate buffer and the ballot",
        paragraph: "Merging costs much, so it is put off: points closer than max_distance, the squared distance of the k-th neighbour so far, are candidates and \
            wait in a buffer of K slots. All lanes vote at once, and the ballot gives every lane the same number with one bit a lane. A candidate counts \
            the voting lanes below its own, adds the slots that are taken, and knows its slot without asking anybody. When the buffer is full it is \
            merged, max_distance falls, and candidates that found no slot must vote again: some of them are no longer close enough.",
        generator: "uniform:d=2",
        points_per_element: 32,
        seed: 11,
        k: 32,
        width: 32,
        batch: None,
        search: Search::Kernel,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Overflow,
        level: Level::Layer,
        asks: &[Ask::Votes, Ask::Slot],
    },
    Lesson {
        number: 5,
        id: "search",
        title: "The whole search",
        paragraph: "The block loads batch after batch into shared memory; the warp takes a group of points, one a lane, computes their distances and votes. \
            The first points all go into the buffer, as max_distance is still infinite. Then it falls with every merge, fewer and fewer points pass, \
            and soon most groups are done with one ballot. The data are never sorted: only the few that might matter are.",
        generator: "uniform:d=2",
        points_per_element: 64,
        seed: 13,
        k: 32,
        width: 32,
        batch: Some(8),
        search: Search::Kernel,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Whole,
        level: Level::Merge,
        asks: &[Ask::Votes, Ask::Slot, Ask::Merges],
    },
    Lesson {
        number: 6,
        id: "order",
        title: "Why order matters",
        paragraph: "The same points, met in three orders, give the same neighbours at a very different cost. In random order the i-th point is a candidate \
            with a probability of at most (k + K) / i, so there are at most about 3 + 2 ln(n / 2k) merges where k = K, on \
            average. Nearest first, the first merge finds all neighbours and nothing else passes. Farthest first, every point is closer than all before \
            it: each one goes into the buffer, and there are n / K merges.",
        generator: "uniform:d=2",
        points_per_element: 64,
        seed: 17,
        k: 32,
        width: 32,
        batch: None,
        search: Search::Kernel,
        arrangements: &[Arrangement::Shuffled, Arrangement::NearestFirst, Arrangement::FarthestFirst],
        shows: Shows::Whole,
        level: Level::Merge,
        asks: &[Ask::Merges],
    },
    Lesson {
        number: 7,
        id: "yours",
        title: "Your own data",
        paragraph: "Any point of any cloud can be the query. Watch how soon max_distance comes close to where it ends, how many groups are done with one \
            ballot, and whether the order of the file helps or hurts: where rows lie in the file as they lie in space, there may be far more merges, or \
            far fewer, than in random order.",
        generator: "gaussian-mixture:d=2,clusters=12",
        points_per_element: 160,
        seed: 19,
        k: 32,
        width: 32,
        batch: None,
        search: Search::Kernel,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Whole,
        level: Level::Merge,
        asks: &[Ask::Votes, Ask::Slot, Ask::Merges],
    },
    Lesson {
        number: 8,
        id: "not-looking",
        title: "Not looking everywhere",
        paragraph: "Brute force looks at every point. An index knows where points lie: they are in order along a curve, so that neighbours on it are near, \
            every 32 are a leaf with a box around them, and every 32 boxes are a node. The warp begins in the leaf where the query itself would be; \
            its points give a first k-th neighbour. Then it goes down from the root, with a child's box in every lane: the query clamped to \
            the box is the nearest place where a point in it could be. If even that place is not nearer than the k-th neighbour so far, no point of \
            the box can be a neighbour, and it is left out without a look at its points. Nothing is lost, not even among equal distances. The nearest box is visited first, \
            because what is found early lets more be left out.",
        generator: "uniform:d=2",
        points_per_element: 64,
        seed: 23,
        k: 32,
        width: 32,
        batch: None,
        search: Search::Tree,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Whole,
        level: Level::Stage,
        asks: &[Ask::Leaves, Ask::Order, Ask::Child, Ask::Visited, Ask::Votes],
    },
    Lesson {
        number: 9,
        id: "warp-select",
        title: "A queue in every lane",
        paragraph: "Warp select has no shared buffer. Every lane has a short queue of its own in registers, the largest key first: it drops that key for a \
            smaller one, and asks nobody. The warp's queue ascends and has the K smallest that are known. Every neighbour among the points seen must be in \
            one of the queues, and a lane's largest key must not be below the k-th of the warp's queue, since it falls out next. As soon as one lane \
            breaks that, the queues of all lanes are sorted as one list and merged, though most of them hold little that matters. That is why the \
            kernel of lesson 4 is better off with a buffer that all lanes share: only what is below the k-th goes into it, and it is merged when it is \
            full, so that a merge brings more and there are fewer. The account counts both for the same points.",
        generator: "uniform:d=2",
        points_per_element: 32,
        seed: 29,
        k: 32,
        width: 8,
        batch: None,
        search: Search::Queues,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Whole,
        level: Level::Stage,
        asks: &[Ask::Merges, Ask::Takes, Ask::Breaks],
    },
    Lesson {
        number: 10,
        id: "radix-select",
        title: "Buckets that close in",
        paragraph: "To find the k smallest of many distances, the k-th alone has to be found. The bits of a distance, read as a number, have the same order, \
            since distances are not negative. So a first digit, here of 4 bits, puts every point into one of 16 buckets. They are counted, the counts are added \
            up, and where the sum reaches k, there is the k-th: what lies before that bucket is a neighbour for sure, what lies behind it is none, and \
            the next digit is read of its own points alone. Digits cost nothing to tell, but where distances begin with the same bits, a pass tells nothing \
            apart, like the first one here. Sample selection sorts a few distances and takes them as the borders of buckets: these hold about as many \
            points each wherever the distances lie, but every point has to look for its bucket among the borders. Both read distances several times, and \
            a buffer reads them once; but neither cares how large k is.",
        generator: "uniform:d=2",
        points_per_element: 128,
        seed: 33,
        k: 32,
        width: 16,
        batch: None,
        search: Search::Digits,
        arrangements: &[Arrangement::AsDrawn],
        shows: Shows::Whole,
        level: Level::Layer,
        asks: &[Ask::Bucket, Ask::Left],
    },
];

/// Looks up a lesson by its number.
///
/// # Errors
/// [`LessonError::Name`] if there is none.
pub fn lesson(number: u32) -> Result<&'static Lesson, LessonError> {
    named(&number.to_string())
}

/// Looks up a lesson by its number or its id.
///
/// # Errors
/// [`LessonError::Name`] if there is none.
pub fn named(name: &str) -> Result<&'static Lesson, LessonError> {
    let number = name.parse::<u32>().ok();
    LESSONS.iter().find(|lesson| Some(lesson.number) == number || lesson.id == name).ok_or_else(|| LessonError::Name {
        name: name.to_owned(),
        last: LESSONS.len() as u32,
        ids: LESSONS.map(|lesson| lesson.id).join(", "),
    })
}

impl Lesson {
    /// Records the lesson's own data: one take per arrangement. The query is the middle row.
    ///
    /// # Errors
    /// [`LessonError`] if the overrides are invalid.
    pub fn record(&self, choice: Choice, progress: &dyn Progress) -> Result<Vec<Take>, LessonError> {
        let (k, width) = (choice.k.unwrap_or(self.k), choice.width.unwrap_or(self.width));
        Shape::check(width, k)?;
        if self.search == Search::Tree {
            Shape::check_tree(width)?;
        }
        let capacity = width as usize * lockstep::registers_for(k, width as usize);
        let n = self.points_per_element as usize * capacity;
        let seed = choice.seed.unwrap_or(self.seed);
        let source = Source::Generate { spec: format!("{},n={n}", self.generator), seed };
        let cloud = Arc::new(cloud::load(&source, false, progress)?);
        let setup = Setup { k, metric: Metric::L2, order: Order::File, seed, exclude_self: false, drop_zero_rows: false };
        self.arrangements.iter().map(|&arrangement| self.record_cloud(&cloud, n / 2, setup, width, arrangement)).collect()
    }

    /// Records the search for a row of a cloud.
    ///
    /// # Errors
    /// [`LessonError`] if k, the width or the row is invalid, or the setup does not apply to the cloud.
    pub fn record_cloud(&self, cloud: &Arc<PointCloud>, row: usize, setup: Setup, width: u32, arrangement: Arrangement) -> Result<Take, LessonError> {
        self.record_query(cloud, &Queries::Rows(vec![row as u32]), 0, setup, width, arrangement)
    }

    /// Records the search for one of several queries.
    ///
    /// # Errors
    /// The same as those of [`Lesson::record_cloud`].
    ///
    /// # Panics
    /// If the query number is out of range.
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
        let (problem, data) = (Arc::new(problem), cloud.source().to_string());
        let recording = match self.search {
            Search::Kernel => record(problem, query, width, self.batch, &data)?,
            Search::Tree => record_tree(problem, query, width, &data)?,
            Search::Queues => record_queues(problem, query, width, &data)?,
            Search::Digits => record_digits(problem, query, width, &data)?,
        };
        Ok(Take::new(arrangement, recording, self.shows))
    }

    /// Repeats a take on a GPU ([`record_on_gpu`]).
    ///
    /// # Errors
    /// The same as those of [`record_on_gpu`].
    pub fn on_gpu(&self, take: &Take, cuda: &mut Cuda) -> Result<Take, LessonError> {
        Ok(Take::new(take.arrangement, record_on_gpu(&take.recording, cuda)?, self.shows))
    }

    /// Checks that the lesson's search can make a mistake on purpose.
    ///
    /// # Errors
    /// [`LessonError::Unbreakable`] unless it is the kernel's.
    pub fn check_breakable(&self) -> Result<(), LessonError> {
        if self.search == Search::Kernel { Ok(()) } else { Err(LessonError::Unbreakable { lesson: self.number, last: OWN_DATA }) }
    }

    /// Repeats a take with a mistake made on purpose; the whole search is shown.
    ///
    /// # Errors
    /// [`LessonError::Unbreakable`] unless the lesson shows the kernel's search.
    pub fn broken(&self, take: &Take, fault: Fault) -> Result<Take, LessonError> {
        self.check_breakable()?;
        let recording = &take.recording;
        let width = recording.shape().width;
        let faulty = record_faulty(fault, recording.problem().clone(), recording.query(), width, self.batch, &recording.parameters.data)?;
        Ok(Take::new(take.arrangement, faulty, Shows::Whole))
    }

    /// The same lesson on data in which a mistake matters.
    pub fn with_data_for(&self, fault: Fault) -> Self {
        Self { generator: fault::row(fault).generator.unwrap_or(self.generator), ..*self }
    }

    /// The questions about a take, in order of their positions. None are asked about a search with a mistake.
    pub fn questions(&self, take: &Take) -> Vec<Question> {
        if take.recording.parameters.fault.is_some() {
            return Vec::new();
        }
        let mut questions = questions(&take.recording, take.range.clone(), self.asks, QUESTIONS_EACH);
        if self.arrangements.len() > 1 {
            let order = take.arrangement.name().replace('-', " ");
            questions.iter_mut().for_each(|question| question.text = format!("Points {order}: {}", question.text));
        }
        questions
    }
}

/// The problem with its points sorted by distance to a query, with `by` as the key.
fn by_distance<K: Ord>(problem: &Problem, query: usize, by: impl Fn(u32) -> K) -> Problem {
    let distances = lockstep::distances_to(problem, query, 0..problem.n());
    let mut positions: Vec<u32> = (0..problem.n() as u32).collect();
    // Distances are not negative, so their bits have the same order.
    positions.sort_by_key(|&position| by(distances[position as usize].to_bits()));
    problem.rearranged(&positions)
}

impl Shows {
    /// The positions of this range in a recording; the whole recording if it has no such range.
    pub fn range(self, recording: &Recording) -> Range<usize> {
        self.find(recording).unwrap_or(0..recording.len())
    }

    fn find(self, recording: &Recording) -> Option<Range<usize>> {
        let steps = recording.steps();
        match self {
            Self::Whole => None,
            Self::FirstSort => {
                let merge = recording.range_of_merge(0)?;
                // From after the swap to before the minimum.
                let swap = merge.clone().find(|&at| steps[at] == Step::Swap)?;
                let last = merge.rev().find(|&at| matches!(steps[at], Step::Layer { pass: Pass::Sort, .. }))?;
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
