//! Checks up front whether a problem fits into host memory, because a failed allocation aborts the program.

use crate::Result;
use crate::knn::{EngineError, Problem, answer_bytes};
use crate::memory;

/// Copies of the answer in memory during a run: in the engine, downloaded, and reported.
const ANSWERS: u64 = 3;

/// Rejects a problem if its answers and `index` bytes (the engine's own copy of the points) exceed the
/// available memory. Accepts everything if the system does not report available memory.
///
/// # Errors
/// [`EngineError::HostMemory`].
pub fn check(problem: &Problem, index: u64) -> Result<()> {
    check_bytes(index.saturating_add(answers(problem)))
}

/// Bytes of all answers: an index and a distance per neighbour.
fn answers(problem: &Problem) -> u64 {
    ANSWERS.saturating_mul(answer_bytes(problem.q(), problem.k()))
}

/// Rejects a job that needs more than the available memory.
///
/// # Errors
/// [`EngineError::HostMemory`].
pub fn check_bytes(needed: u64) -> Result<()> {
    fits(needed, memory::available())
}

fn fits(needed: u64, free: Option<u64>) -> Result<()> {
    match free.filter(|&free| needed > free) {
        Some(free) => Err(EngineError::HostMemory { needed: needed.div_ceil(1 << 20), free: free >> 20 }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insufficient_memory_errors_report_both_sizes() {
        assert!(fits(5 << 20, Some(5 << 20)).is_ok() && fits(u64::MAX, None).is_ok());
        let message = fits((5 << 20) + 1, Some(5 << 20)).unwrap_err().to_string();
        assert_eq!(
            message,
            "the job needs 6 MiB of memory, but only 5 MiB is free; use fewer queries or points, or a \
             smaller k"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn result_memory_is_computed_from_the_problem() {
        let problem = crate::testing::problem(1, vec![1.0, 2.0, 3.0], vec![0, 1], 5);
        assert_eq!(answers(&problem), 3 * 2 * 5 * 8);
        assert!(check(&problem, 0).is_ok());
        assert!(matches!(check(&problem, 1 << 60), Err(EngineError::HostMemory { .. })));
    }
}
