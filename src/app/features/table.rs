//! The table of features. The order is that in which they are asked for what they want in a frame, and in which dialogs are drawn.

use crate::app::context::feature::Feature;
use crate::app::features::{
    analysis, chooser, color, columns, contest, datasets, export, lesson, live, manual, opening, picking, projection, quit, row_names, runs, saved,
    selection, shortcuts, unusable, walk, why,
};

/// A new feature is a folder and a row here.
pub static FEATURES: &[&Feature] = &[
    &opening::apply::FEATURE,
    &live::apply::FEATURE,
    &picking::apply::FEATURE,
    &row_names::apply::FEATURE,
    &lesson::apply::FEATURE,
    &projection::apply::FEATURE,
    &analysis::apply::FEATURE,
    &color::apply::FEATURE,
    &walk::apply::FEATURE,
    &why::apply::FEATURE,
    &selection::apply::FEATURE,
    &contest::apply::FEATURE,
    &runs::apply::FEATURE,
    &saved::apply::FEATURE,
    &export::apply::FEATURE,
    &chooser::apply::FEATURE,
    &quit::apply::FEATURE,
    &datasets::apply::FEATURE,
    &unusable::apply::FEATURE,
    &columns::apply::FEATURE,
    &shortcuts::apply::FEATURE,
    &manual::apply::FEATURE,
];
