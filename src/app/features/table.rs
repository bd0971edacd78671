//! The table of features. The order is that in which they are asked for what they want in a frame, and in which dialogs are drawn.

use crate::app::context::feature::Feature;
use crate::app::features::{analysis, color, manual, picking, projection, row_names, selection, walk};

/// A new feature is a folder and a row here.
pub static FEATURES: &[&Feature] = &[
    &picking::apply::FEATURE,
    &row_names::apply::FEATURE,
    &projection::apply::FEATURE,
    &analysis::apply::FEATURE,
    &color::apply::FEATURE,
    &walk::apply::FEATURE,
    &selection::apply::FEATURE,
    &manual::apply::FEATURE,
];
