//! The table of features. The order is that in which they are asked for what they want in a frame, and in which dialogs are drawn.

use crate::app::context::feature::Feature;
use crate::app::features::{analysis, color, contest, live, manual, picking, projection, row_names, selection, walk, why};

/// A new feature is a folder and a row here.
pub static FEATURES: &[&Feature] = &[
    &live::apply::FEATURE,
    &picking::apply::FEATURE,
    &row_names::apply::FEATURE,
    &projection::apply::FEATURE,
    &analysis::apply::FEATURE,
    &color::apply::FEATURE,
    &walk::apply::FEATURE,
    &why::apply::FEATURE,
    &selection::apply::FEATURE,
    &contest::apply::FEATURE,
    &manual::apply::FEATURE,
];
