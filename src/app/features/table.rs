//! The table of features. In this order they are asked who carries out an action, what they want in a frame, and what dialogs they draw:
//! the lesson is before what it takes commands from while it is open.

use crate::app::context::feature::Feature;

/// A new feature is a folder and a row here.
pub static FEATURES: &[&Feature] = &[
    &crate::app::features::opening::apply::FEATURE,
    &crate::app::features::running::apply::FEATURE,
    &crate::app::features::live::apply::FEATURE,
    &crate::app::features::picking::apply::FEATURE,
    &crate::app::features::row_names::apply::FEATURE,
    &crate::app::features::lesson::apply::FEATURE,
    &crate::app::features::history::apply::FEATURE,
    &crate::app::features::projection::apply::FEATURE,
    &crate::app::features::analysis::apply::FEATURE,
    &crate::app::features::color::apply::FEATURE,
    &crate::app::features::walk::apply::FEATURE,
    &crate::app::features::why::apply::FEATURE,
    &crate::app::features::selection::apply::FEATURE,
    &crate::app::features::contest::apply::FEATURE,
    &crate::app::features::runs::apply::FEATURE,
    &crate::app::features::saved::apply::FEATURE,
    &crate::app::features::export::apply::FEATURE,
    &crate::app::features::chooser::apply::FEATURE,
    &crate::app::features::quit::apply::FEATURE,
    &crate::app::features::datasets::apply::FEATURE,
    &crate::app::features::unusable::apply::FEATURE,
    &crate::app::features::columns::apply::FEATURE,
    &crate::app::features::shortcuts::apply::FEATURE,
    &crate::app::features::manual::apply::FEATURE,
];
