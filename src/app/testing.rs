//! Small clouds and records for the tests of the app's parts.

pub use crate::run::testing::records::{cloud, measured, profiled_record, record, stretched};
