//! Errors worded for the window: remedies name fields of the left panel instead of command-line options.

use crate::cloud::{CloudError, Hint};
use crate::knn::{EngineError, ProblemError};
use crate::run::RunError;

/// The checkbox that drops rows.
macro_rules! leave_out {
    () => {
        "“Drop rows with NaN or ∞” on the left"
    };
}

fn remedy(hint: Hint) -> &'static str {
    match hint {
        Hint::LeaveRowsOut => concat!("tick ", leave_out!()),
        Hint::WholeColumns => {
            "type the file's path on the left, and COLUMNS under Columns to avoid such values"
        }
        Hint::OtherColumns => "type the file's path on the left and other columns under Columns",
        Hint::AsManyColumns => "type the data's columns on the left",
        Hint::GlobeColumns => {
            "type the file's path on the left, and a longitude and a latitude under Columns"
        }
    }
}

/// Words an error about a cloud or a point.
pub fn cloud_error(error: &CloudError) -> String {
    error.message(remedy)
}

/// Words an error of a run.
pub fn run_error(error: &RunError) -> String {
    match error {
        RunError::Cloud(error) => cloud_error(error),
        RunError::Problem(ProblemError::Zero { whose, record }) => {
            format!(
                "{whose} row {record} is a zero vector, which has no direction under this metric; use the l2 \
                 metric, or {}",
                leave_out!()
            )
        }
        RunError::Problem(ProblemError::Globe(error)) => error.message(remedy),
        RunError::Engine(EngineError::Memory { needed, free, device }) => format!(
            "the job needs {needed} MiB on {device}, but only {free} MiB is free; use fewer queries or \
             points, or choose engine lockstep on the left"
        ),
        RunError::Engine(EngineError::MemoryRefused { free, device }) => {
            format!(
                "{device} has only {free} MiB of memory left, too little for the job; use fewer queries or \
                 points, or choose engine lockstep on the left"
            )
        }
        RunError::Engine(EngineError::DeviceLost { device, why }) => format!(
            "{device}: {why}; save the session and restart Warpscope to use the GPU again. CPU engines still \
             work"
        ),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::GlobeError;

    #[test]
    fn errors_do_not_mention_command_line_options() {
        let origin = "a.csv".to_owned();
        let said = [
            cloud_error(&CloudError::NonFinite {
                row: 3,
                line: None,
                column: "x".to_owned(),
                value: f64::NAN,
                unusable: Box::default(),
                origin: origin.clone(),
            }),
            cloud_error(&CloudError::Dimensions { queries: 3, data: 2, origin }),
            run_error(&ProblemError::Globe(GlobeError::Columns { columns: 3 }).into()),
            run_error(&ProblemError::Zero { whose: "data", record: 4 }.into()),
            run_error(&EngineError::Memory { needed: 2, free: 1, device: "a GPU".to_owned() }.into()),
            run_error(&EngineError::MemoryRefused { free: 1, device: "a GPU".to_owned() }.into()),
        ];
        for said in said {
            assert!(!said.contains("--") && said.contains("on the left"), "{said}");
        }
    }
}
