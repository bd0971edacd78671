//! What the panes ask for of the walk through a search.

use crate::app::model::draft::Draft;

/// See the module.
#[derive(Clone, Debug)]
pub enum WalkAction {
    /// Shows the walk, or does not.
    Show(bool),
    /// Goes to a step, by its number from 0.
    Seek(usize),
    /// Takes over fields by which the picked query's answer has a walk, and answers it anew.
    Answer(Box<Draft>),
}
