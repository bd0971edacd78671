//! Work in the background: the table of what is under way ([`table`]), a thread with progress, cancel and one result
//! ([`task`]), and reading and generating clouds ([`loader`]). Which kinds of task there are is said in `shell/tasks.rs`.

pub mod loader;
pub mod table;
pub mod task;
