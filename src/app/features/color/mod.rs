//! What colours points: values worked out on a thread, their chooser and their legend.

pub mod bar;
pub mod column;
pub mod counters;
pub mod legend;
pub mod query;
pub mod request;
pub mod work;
