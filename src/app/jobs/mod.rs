//! Background work: the table of running tasks ([`table`]), a thread with progress, cancellation and one
//! result ([`task`]). The kinds of task are in the `apply` of the features.

pub mod table;
pub mod task;
