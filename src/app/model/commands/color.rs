//! What the chooser and the legend ask for.

use crate::app::model::color::view::ColorView;
use crate::app::model::selection::how::How;

/// What the chooser and the legend ask for.
#[derive(Clone, Debug)]
pub enum ColorAction {
    Set(ColorView),
    /// The rows of a category are selected.
    SelectCategory(usize, How),
    /// What has a value between two, both included, is selected.
    SelectBetween(f64, f64, How),
    /// Select so many of the highest or lowest values, and those that equal the last of them.
    SelectMost {
        count: usize,
        highest: bool,
        how: How,
    },
    /// What failed or was cancelled is tried again.
    Retry,
    /// The moment moves on by itself, or stops.
    Play(bool),
}
