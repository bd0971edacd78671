//! What can be recorded, a folder an algorithm. A new one is its folder and a row below.
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

use std::mem::discriminant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cursor::Level;
use crate::recording::Marks;
use crate::state::{Shape, State};
use crate::step::Step;
use crate::work::Instruction;

/// A step that one algorithm alone has.
pub trait AlgorithmStep {
    /// Changes the state.
    ///
    /// # Panics
    /// If the step names lanes, places or elements that do not exist, or its algorithm has not begun.
    fn apply(&self, state: &mut State);

    /// The cost of applying it, in keys that may move.
    fn cost(&self, shape: Shape) -> u64;

    /// What happened, in a sentence; `None` if the state after the step, `after`, is not of this algorithm.
    fn describe(&self, after: &State) -> Option<String>;

    /// The coarsest level of detail at which the player stops after it.
    fn level(&self) -> Level;

    /// Adds what can be jumped to, and the distances of candidates. `before` is the state before the step.
    fn mark(&self, _before: &State, _marks: &mut Marks) {}

    /// Memory that it holds besides itself, in bytes.
    fn bytes(&self) -> usize;

    /// What it begins, if anything.
    fn begins(&self) -> Option<Begins> {
        None
    }

    /// Whether it belongs to a merge, or to a pass.
    fn is_of_merge(&self) -> bool {
        false
    }

    /// Whether it completes a pass.
    fn ends_pass(&self) -> bool {
        false
    }

    /// The instructions that a warp executes in it, where they are counted.
    fn instructions(&self) -> &'static [Instruction] {
        &[]
    }
}

/// What a step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Points are looked at.
    Points,
    /// What was taken is merged.
    Merge,
}

/// The part of the state that one algorithm alone has.
pub trait AlgorithmState {
    /// Follows a step that algorithms have in common.
    fn follow(&mut self, _step: &Step) {}

    /// The sentence of such a step, where it is not the kernel's.
    fn describe(&self, step: &Step, after: &State) -> Option<String>;
}

macro_rules! algorithms {
    ($($(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $name:ident { $step:ty, $state:ty })+) => {
        /// A step that one algorithm alone has.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum OwnStep {
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $name($step),)+
        }

        /// The part of the state that one algorithm alone has.
        #[derive(Clone, Debug, PartialEq)]
        pub enum OwnState {
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? $name($state),)+
        }

        impl OwnStep {
            /// A step from its fields in a file; `None` if it is of no algorithm alone.
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

            /// Whether both are steps of a kind.
            pub fn is_like(&self, other: &Self) -> bool {
                match (self, other) {
                    $($(#[cfg($cfg)])? (Self::$name(a), Self::$name(b)) => discriminant(a) == discriminant(b),)+
                    _ => false,
                }
            }

            /// The step as what all algorithms' steps are.
            pub fn get(&self) -> &dyn AlgorithmStep {
                match self {
                    $($(#[cfg($cfg)])? Self::$name(step) => step,)+
                }
            }
        }

        impl OwnState {
            /// The part as what all algorithms' parts are.
            pub fn get(&self) -> &dyn AlgorithmState {
                match self {
                    $($(#[cfg($cfg)])? Self::$name(state) => state,)+
                }
            }

            /// The same, to be changed.
            pub fn get_mut(&mut self) -> &mut dyn AlgorithmState {
                match self {
                    $($(#[cfg($cfg)])? Self::$name(state) => state,)+
                }
            }
        }

        $(
            $(#[cfg($cfg)])?
            impl From<$step> for Step {
                fn from(step: $step) -> Self {
                    Self::Own(OwnStep::$name(step))
                }
            }

            $(#[cfg($cfg)])?
            impl From<$state> for OwnState {
                fn from(state: $state) -> Self {
                    Self::$name(state)
                }
            }
        )+
    };
}

algorithms! {
    /// A tree's search.
    Tree { tree::TreeStep, tree::state::Descent }
    /// Warp select.
    WarpSelect { warp_select::WarpSelectStep, warp_select::state::Queues }
    /// A selection by digits.
    RadixSelect { radix_select::RadixSelectStep, radix_select::state::Buckets }
    /// Threads with a query each.
    Heap { heap::HeapStep, heap::state::Heaps }
}
