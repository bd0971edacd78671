//! The algorithms that can be recorded, one folder each. A new algorithm is a folder and a row below.
//!
//! | folder | holds |
//! |---|---|
//! | [`kernel`] | the search of the kernel |
//! | [`tree`] | the search of the index |
//! | [`warp_select`] | warp select |
//! | [`radix_select`] | a selection by digits |
//! | [`heap`] | threads with a query each |

pub mod heap;
pub mod kernel;
pub mod radix_select;
pub mod tree;
pub mod warp_select;

use std::io::{self, Write};
use std::mem::discriminant;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cursor::Level;
use super::lessons::Take;
use super::meter::Meter;
use super::picture::cloud::max_distance_words;
use super::picture::legend::{Entry, buffer_entries};
use super::picture::{Film, Scene, View};
use super::questions::{Question, QuestionPicker, Topic};
use super::recording::{Marks, Recording};
use super::state::{Shape, State};
use super::step::Step;
use super::work::Instruction;
use crate::Result;
use crate::engines::cuda::Cuda;
use crate::error::LessonError;
use crate::knn::{Descriptor, Problem};

/// A step that only one algorithm has.
pub trait AlgorithmStep {
    /// Changes the state.
    ///
    /// # Panics If the step names lanes, slots or elements that do not exist, or its algorithm has not begun.
    fn apply(&self, state: &mut State);

    /// The cost of applying it, in keys that may move.
    fn cost(&self, shape: Shape) -> u64;

    /// The coarsest level of detail at which the player stops after it.
    fn level(&self) -> Level;

    /// Adds jump marks, and the distances of candidates. `before` is the state before the step.
    fn mark(&self, _before: &State, _marks: &mut Marks) {}

    /// Its heap memory in bytes.
    fn bytes(&self) -> usize {
        0
    }

    /// What it begins, if anything.
    fn begins(&self) -> Option<PhaseStart> {
        None
    }

    /// Whether it belongs to a merge or a pass.
    fn is_in_merge(&self) -> bool {
        false
    }

    /// Whether it completes a pass.
    fn ends_pass(&self) -> bool {
        false
    }

    /// The instructions that a warp executes in it, if they are counted.
    fn instructions(&self) -> &'static [Instruction] {
        &[]
    }
}

/// What a step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseStart {
    /// Points are evaluated.
    Points,
    /// Inserted keys are merged.
    Merge,
}

/// The part of the state that only one algorithm has.
pub trait AlgorithmState {
    /// Updates the state for a step that algorithms share.
    fn apply_shared(&mut self, _step: &Step) {}

    /// Describes a step in a sentence, its own or a shared one; `None` to use the kernel's sentence.
    fn describe(&self, step: &Step, after: &State) -> Option<String>;
}

/// The questions of an algorithm.
pub(crate) trait AlgorithmQuestions {
    /// Whether the step at a position suits a kind of question.
    fn suits(&self, topic: Topic, at: usize, recording: &Recording) -> bool {
        kernel::questions::suits(topic, at, recording)
    }

    /// Whether a step answers a yes/no question with yes.
    fn is_yes(&self, _step: &Step) -> bool {
        true
    }

    /// A question about a step, or about the whole search; `None` if it would have no clear answer.
    fn question(&self, pick: &mut QuestionPicker<'_>) -> Option<Question> {
        kernel::questions::kernel_question(pick)
    }

    /// Data that a printed question needs because it has no interactive picture: `step` is the last step,
    /// `state` the state after it.
    fn printed_data(&self, topic: Topic, step: &Step, state: &State) -> String;

    /// Why the answer to a question is right; `None` to use the general explanation.
    fn why(&self, _question: &Question, _recording: &Recording) -> Option<String> {
        None
    }
}

/// The pictures and tables of an algorithm.
pub(crate) trait AlgorithmPictures {
    /// Draws the account panel in a size in points.
    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene;

    /// What the colours of points mean, with counts.
    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        buffer_entries(view)
    }

    /// The caption of the bound in the panel of the points; `bound` is its distance.
    fn caption(&self, view: &View<'_>, bound: &str) -> String {
        max_distance_words(view, bound)
    }

    /// Writes the table of a take's counts.
    ///
    /// # Errors
    /// I/O errors of the writer.
    fn write_table(&self, film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()>;
}

/// An algorithm with its baseline. Defaults are those of a search with a candidate buffer.
pub(crate) trait Algorithm: AlgorithmQuestions + AlgorithmPictures {
    /// The algorithm as pseudocode.
    fn code(&self) -> &'static Pseudocode;

    /// The name of a round, singular and plural.
    fn round_names(&self) -> [&'static str; 2] {
        ["merge", "merges"]
    }

    /// Names of the marks: a hit, the end of a round, a change of the bound; `None` for missing ones.
    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [Some("Ballot hit"), Some("Merge"), Some("max_distance")]
    }

    /// The initial state, as the end of a sentence.
    fn initial_words(&self) -> &'static str {
        "none is known yet, and max_distance is infinite"
    }

    /// Additional sizes, in words.
    fn sizes(&self) -> String {
        String::new()
    }

    /// The level of detail of a ballot.
    fn ballot_level(&self) -> Level {
        Level::Layer
    }

    /// Memory of its part of the state, in bytes.
    fn state_bytes(&self, _shape: Shape) -> usize {
        0
    }

    /// The cost of the query with each strategy, if it is counted.
    fn meter(&self, _recording: &Recording) -> Option<Meter> {
        None
    }

    /// Repeats the twin's search on a GPU, and compares.
    ///
    /// # Errors
    /// The same as those of [`record_on_gpu`](crate::record_on_gpu).
    fn record_on_gpu(&self, _twin: &Recording, _cuda: &mut Cuda) -> Result<Recording> {
        Err(LessonError::TwinOnly)
    }
}

macro_rules! algorithms {
    ($(
        $(#[doc = $doc:literal])+
        $(#[cfg($cfg:meta)])?
        $name:ident { $as_step:ident: $step:ty, $as_state:ident: $state:ty, $baseline:ty, $record:path }
    )+) => {
        /// A step that only one algorithm has.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum SpecificStep {
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $name($step),)+
        }

        /// The part of the state that only one algorithm has.
        #[derive(Clone, Debug, PartialEq)]
        pub enum SpecificState {
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $name($state),)+
        }

        /// The recorded algorithm with its baseline.
        #[derive(Clone, Debug)]
        pub enum Baseline {
            /// The kernel: theory.
            Kernel(kernel::TheoryBaseline),
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $name(Arc<$baseline>),)+
        }

        /// What is recorded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SearchAlgorithm {
            /// The kernel: evaluates every point and collects candidates in a buffer.
            Kernel,
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $name,)+
        }

        impl SearchAlgorithm {
            /// Records one query with a warp of `width` lanes. `batch` is the number of groups that the
            /// kernel stages at a time, `None` for the default of a run; `data` describes the source of the
            /// points.
            ///
            /// # Errors
            /// [`LessonError`] for widths and k that the algorithm does not support.
            pub fn record(
                self,
                problem: Arc<Problem>,
                query: usize,
                width: u32,
                batch: Option<usize>,
                data: &str,
            ) -> Result<Recording> {
                match self {
                    Self::Kernel => kernel::recorder::record(problem, query, width, batch, data),
                    $($(#[cfg($cfg)])? Self::$name => $record(problem, query, width, data),)+
                }
            }
        }

        /// The engines whose twins record, with the twins' names.
        pub(crate) const TWINS: &[(&Descriptor, &str)] =
            &[kernel::TheoryBaseline::TWIN, $($(#[cfg($cfg)])? <$baseline>::TWIN),+];

        impl Baseline {
            /// The algorithm as a trait object.
            pub(crate) fn algorithm(&self) -> &dyn Algorithm {
                match self {
                    Self::Kernel(theory) => theory,
                    $($(#[cfg($cfg)])? Self::$name(baseline) => &**baseline,)+
                }
            }
        }

        impl SpecificStep {
            /// Reads a step from its fields in a file; `None` for a shared step.
            pub(crate) fn read(fields: &Value) -> serde_json::Result<Option<Self>> {
                let unknown = format!("unknown variant `{}`", fields["step"].as_str().unwrap_or_default());
                $(
                    $(#[cfg($cfg)])?
                    match <$step>::deserialize(fields) {
                        Ok(step) => return Ok(Some(Self::$name(step))),
                        Err(error) if error.to_string().starts_with(&unknown) => {}
                        Err(error) => return Err(error),
                    }
                )+
                Ok(None)
            }

            /// Whether both are of the same kind.
            pub fn is_same_kind(&self, other: &Self) -> bool {
                match (self, other) {
                    $(
                        $(#[cfg($cfg)])?
                        (Self::$name(a), Self::$name(b)) => discriminant(a) == discriminant(b),
                    )+
                    _ => false,
                }
            }

            /// The step as a trait object.
            pub fn get(&self) -> &dyn AlgorithmStep {
                match self {
                    $($(#[cfg($cfg)])? Self::$name(step) => step,)+
                }
            }
        }

        impl SpecificState {
            /// The part as a trait object.
            pub fn get(&self) -> &dyn AlgorithmState {
                match self {
                    $($(#[cfg($cfg)])? Self::$name(state) => state,)+
                }
            }

            /// The part as a mutable trait object.
            pub fn get_mut(&mut self) -> &mut dyn AlgorithmState {
                match self {
                    $($(#[cfg($cfg)])? Self::$name(state) => state,)+
                }
            }
        }

        /// Accessors of the steps that only one algorithm has.
        impl Step {
            $(
                $(#[doc = $doc])+
                $(#[cfg($cfg)])?
                pub fn $as_step(&self) -> Option<&$step> {
                    if let Self::Own(SpecificStep::$name(step)) = self { Some(step) } else { None }
                }
            )+
        }

        /// Accessors of the state that only one algorithm has; `None` in other searches, and before its first
        /// step.
        impl State {
            $(
                $(#[doc = $doc])+
                $(#[cfg($cfg)])?
                pub fn $as_state(&self) -> Option<&$state> {
                    if let Some(SpecificState::$name(state)) = &self.own { Some(state) } else { None }
                }
            )+
        }

        $(
            $(#[cfg($cfg)])?
            impl From<$step> for Step {
                fn from(step: $step) -> Self {
                    Self::Own(SpecificStep::$name(step))
                }
            }

            $(#[cfg($cfg)])?
            impl From<$baseline> for Baseline {
                fn from(baseline: $baseline) -> Self {
                    Self::$name(Arc::new(baseline))
                }
            }

            $(#[cfg($cfg)])?
            impl From<$state> for SpecificState {
                fn from(state: $state) -> Self {
                    Self::$name(state)
                }
            }
        )+
    };
}

algorithms! {
    /// The tree search.
    Tree { tree: tree::TreeStep, descent: tree::state::Descent, tree::TreeBaseline, tree::recorder::record_tree }
    /// Warp select.
    WarpSelect {
        warp_select: warp_select::WarpSelectStep,
        queues: warp_select::state::Queues,
        warp_select::WarpSelectBaseline,
        warp_select::recorder::record_queues
    }
    /// Radix select.
    RadixSelect {
        radix_select: radix_select::RadixSelectStep,
        buckets: radix_select::state::Buckets,
        radix_select::RadixSelectBaseline,
        radix_select::recorder::record_digits
    }
    /// Per-thread heaps.
    Heap { heap: heap::HeapStep, heaps: heap::state::Heaps, heap::HeapBaseline, heap::recorder::record_heaps }
    /// An algorithm for tests.
    #[cfg(test)]
    Dummy {
        dummy: crate::tests::dummy::DummyStep,
        compared: crate::tests::dummy::DummyState,
        crate::tests::dummy::DummyBaseline,
        crate::tests::dummy::record_dummy
    }
}

impl From<kernel::TheoryBaseline> for Baseline {
    fn from(theory: kernel::TheoryBaseline) -> Self {
        Self::Kernel(theory)
    }
}

// An algorithm as pseudocode, and the matching lines of `cuda/`.

/// A line of pseudocode with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Indentation level, from 0.
    pub depth: usize,
    /// The text without indentation.
    pub text: &'static str,
    /// A file by its path below `cuda/`, and a text that occurs exactly once in it, on the matching line.
    pub source: Option<(&'static str, &'static str)>,
}

impl CodeLine {
    fn read(row: &'static str) -> Self {
        let (code, source) = match row.split_once(" | ") {
            Some((code, source)) => (code, source.split_once(" | ")),
            None => (row, None),
        };
        let text = code.trim();
        let source = source.map(|(file, search)| (file.trim_end(), search));
        Self { depth: (code.len() - code.trim_start().len()) / 2, text, source }
    }
}

/// An algorithm in two parts.
#[derive(Clone, Debug)]
pub struct Pseudocode {
    /// All lines; an empty one before the second part.
    pub lines: Vec<CodeLine>,
    /// The index of the second part's first line.
    pub second_part: usize,
    /// The titles of the whole and of each part.
    pub titles: [&'static str; 3],
    line_of: fn(&Step) -> Option<usize>,
}

impl Pseudocode {
    /// Reads a table with a row per line: the text, indented by two spaces per level, and for lines with a
    /// source its file and the text that occurs there, separated by ` | `. An empty row begins the second
    /// part. `line_of` numbers the rows from 0.
    pub(crate) fn new(
        titles: [&'static str; 3],
        table: &'static str,
        line_of: fn(&Step) -> Option<usize>,
    ) -> Self {
        let lines: Vec<CodeLine> = table.lines().map(CodeLine::read).collect();
        let second_part = lines.iter().take_while(|line| !line.text.is_empty()).count() + 1;
        Self { lines, second_part, titles, line_of }
    }

    /// Index of the line that a step executes; `None` for a step of another algorithm.
    pub fn line_of(&self, step: &Step) -> Option<usize> {
        (self.line_of)(step)
    }
}
