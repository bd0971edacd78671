//! What the panes ask for of the walk through a search.

/// See the module.
#[derive(Clone, Copy, Debug)]
pub enum WalkAction {
    /// Shows the walk, or does not.
    Show(bool),
    /// Goes to a step, by its number from 0.
    Seek(usize),
}
