//! The table of features. Actions, updates and dialogs go through it in this order: while open, the lesson
//! takes over commands of later features.

use crate::app::context::app::Feature;

/// A new feature is a folder and a row here.
pub static FEATURES: &[&Feature] = &[
    &super::opening::apply::FEATURE,
    &super::running::apply::FEATURE,
    &super::live::apply::FEATURE,
    &super::picking::apply::FEATURE,
    &super::row_names::apply::FEATURE,
    &super::lesson::apply::FEATURE,
    &super::history::apply::FEATURE,
    &super::projection::apply::FEATURE,
    &super::analysis::apply::FEATURE,
    &super::second::apply::FEATURE,
    &super::color::apply::FEATURE,
    &super::points_table::apply::FEATURE,
    &super::walk::apply::FEATURE,
    &super::why::apply::FEATURE,
    &super::selection::apply::FEATURE,
    &super::engine_comparison::apply::FEATURE,
    &super::runs::apply::FEATURE,
    &super::saved::apply::FEATURE,
    &super::export::apply::FEATURE,
    &super::chooser::apply::FEATURE,
    &super::quit::apply::FEATURE,
    &super::datasets::apply::FEATURE,
    &super::unusable::apply::FEATURE,
    &super::columns::apply::FEATURE,
    &super::shortcuts::apply::FEATURE,
    &super::manual::apply::FEATURE,
];
