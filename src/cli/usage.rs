//! Wrong usage, told from a job that fails: the one place that knows which is which.
//!
//! Wrong usage is what was typed and would be refused whatever files hold and whatever machine this is. clap refuses most of it;
//! the rest is here.

use std::ffi::OsStr;

use clap::error::ErrorKind;
use clap::{Arg, Command};

use crate::cloud::CloudError;
use crate::draw::raster::SizeError;
use crate::export::figure::FigureError;
use crate::knn::ProblemError;
use crate::lesson::LessonError;
use crate::lesson::moments::MomentError;
use crate::run::presets::PresetError;
use crate::run::{BatchError, RunError};

/// Flags that make no sense, or none together, in the command line's own words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// clap's refusal of a value, for a reason of ours.
pub fn invalid(command: &Command, argument: Option<&Arg>, value: &OsStr, why: &str) -> clap::Error {
    let name = argument.map_or_else(String::new, ToString::to_string);
    let what = format!("invalid value '{}' for '{name}': {why}", value.to_string_lossy());
    clap::Error::raw(ErrorKind::ValueValidation, format!("{what}\n")).with_cmd(command)
}

/// Whether an error is wrong usage.
pub fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<Usage>()
        || error.is::<PresetError>()
        || error.is::<FigureError>()
        || error.is::<SizeError>()
        || error.downcast_ref().is_some_and(of_problem)
        || error.downcast_ref().is_some_and(of_cloud)
        || error.downcast_ref().is_some_and(of_run)
        || error.downcast_ref().is_some_and(of_batches)
        || error.downcast_ref().is_some_and(of_lesson)
        || error.downcast_ref().is_some_and(of_moments)
}

fn of_problem(why: &ProblemError) -> bool {
    matches!(why, ProblemError::K { .. } | ProblemError::NoNeighbours | ProblemError::NoQueries | ProblemError::Origin { .. })
}

fn of_cloud(why: &CloudError) -> bool {
    matches!(why, CloudError::Generate { .. })
}

fn of_run(why: &RunError) -> bool {
    match why {
        RunError::Problem(why) => of_problem(why),
        RunError::Cloud(why) => of_cloud(why),
        _ => false,
    }
}

fn of_batches(why: &BatchError) -> bool {
    matches!(why, BatchError::Run(why) if of_run(why))
}

fn of_lesson(why: &LessonError) -> bool {
    match why {
        LessonError::Width { .. }
        | LessonError::K { .. }
        | LessonError::Name { .. }
        | LessonError::GpuWidth { .. }
        | LessonError::TreeWidth { .. }
        | LessonError::Key { .. }
        | LessonError::KeyCount { .. }
        | LessonError::NoKeys { .. }
        | LessonError::Place { .. } => true,
        LessonError::Cloud(why) => of_cloud(why),
        LessonError::Problem(why) => of_problem(why),
        _ => false,
    }
}

/// A step that the search does not have is none here: how many there are, the search says. Where no file is searched, `lesson` and `gui` make it one.
fn of_moments(why: &MomentError) -> bool {
    matches!(why, MomentError::Backwards { .. } | MomentError::None { .. })
}
