//! Background work: the table of running tasks ([`table`]), and a thread with progress, cancellation and one
//! result ([`task`]). The kinds of task are defined in the `apply` modules of features.

pub mod table;
pub mod task;
