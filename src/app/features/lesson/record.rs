//! Records a lesson on the CPU twin, and on a GPU on request.

use std::sync::Arc;
use std::time::Duration;

use super::state::session::{ExplorerProblem, FaultChoice, LessonDraft, OpenCloudQuery};
use crate::engines::cuda::Cuda;
use crate::knn::{ProblemParameters, Queries};
use crate::lesson::LessonError;
use crate::lesson::fault::{Fault, faults_known_after};
use crate::lesson::lessons::{Lesson, Overrides, Take};
use crate::lesson::own_data::UserData;
use crate::progress::Progress;

pub struct RecordingResult {
    /// Takes of the GPU, or else of the twin.
    pub takes: Vec<Take>,
    /// Why the requested GPU did not record it.
    pub fallback_reason: Option<String>,
    /// The settings recorded.
    pub draft: LessonDraft,
    /// How long the twin took to record.
    pub took: Duration,
}

/// Records a lesson with its own or chosen data.
///
/// # Errors
/// If the lesson cannot be recorded with these settings.
pub fn record(
    lesson: &Lesson,
    choice: Overrides,
    own: Option<OpenCloudQuery>,
    setup: ProblemParameters,
    progress: &dyn Progress,
) -> Result<Vec<Take>, LessonError> {
    match own {
        None => lesson.record(choice, progress),
        Some(own) => {
            let width = choice.width.unwrap_or(lesson.width);
            let asked = UserData {
                cloud: &own.cloud,
                queries: &own.queries,
                query: own.query,
                arrangement: own.arrangement(),
            };
            lesson.record_own(asked, setup, width, &choice.edits)
        }
    }
}

/// The search of the lesson on the user's own data: of a query in a file, or else of a row of the cloud.
pub fn own(cloud: Arc<crate::cloud::PointCloud>, row: usize, question: ExplorerProblem) -> OpenCloudQuery {
    let order = question.order;
    match question.query {
        Some(query) => {
            OpenCloudQuery { cloud, queries: Queries::Cloud(query.queries), query: query.row as usize, order }
        }
        None => OpenCloudQuery { cloud, queries: Queries::Rows(vec![row as u32]), query: 0, order },
    }
}

/// The GPU's takes, or the twin's with the reason. A GPU that cannot record is not an error; one that
/// disagrees with its twin is.
pub fn or_twin(
    by_gpu: Result<Vec<Take>, LessonError>,
    by_twin: Vec<Take>,
) -> Result<(Vec<Take>, Option<String>), LessonError> {
    match by_gpu {
        Ok(takes) => Ok((takes, None)),
        Err(LessonError::Engine(why)) => {
            Ok((by_twin, Some(format!("the GPU cannot record the lesson, its twin did: {why}"))))
        }
        Err(error) => Err(error),
    }
}

/// Records the same searches on the GPU and compares them with the twin's.
pub fn on_gpu(lesson: &Lesson, takes: &[Take]) -> Result<Vec<Take>, LessonError> {
    let mut cuda = Cuda::open()?;
    takes.iter().map(|take| lesson.on_gpu(take, &mut cuda)).collect()
}

/// Records takes with a chosen fault, a hidden one, or none.
///
/// # Errors
/// If the fault cannot be injected.
pub fn inject_fault(
    lesson: &Lesson,
    takes: Vec<Take>,
    choice: FaultChoice,
) -> Result<Vec<Take>, LessonError> {
    let with =
        |fault: Fault| takes.iter().map(|take| lesson.with_fault(take, fault)).collect::<Result<Vec<_>, _>>();
    match choice {
        FaultChoice::None => Ok(takes),
        FaultChoice::Chosen(fault) => with(fault),
        FaultChoice::Hunt { draw, .. } => {
            // A fault without consequences cannot be found.
            let known = faults_known_after(lesson);
            for row in known.iter().cycle().skip(draw as usize % known.len()).take(known.len()) {
                let tried = with(row.fault)?;
                if tried.iter().all(|take| take.broken_at().is_some()) {
                    return Ok(tried);
                }
            }
            Ok(takes)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::app::features::lesson::state::player::tests::player;
    use crate::knn::{EngineError, EngineId};
    use crate::lesson::fault::FAULTS;

    #[test]
    fn recording_falls_back_to_the_cpu_without_a_gpu() {
        let takes = player("sort").takes;
        let why =
            EngineError::Unavailable { engine: EngineId::new("cuda"), why: "NVRTC is missing".to_owned() };
        let (by_twin, fallback_reason) = or_twin(Err(why.into()), takes.clone()).expect("the twin's takes");
        assert!(Arc::ptr_eq(&by_twin[0].recording, &takes[0].recording));
        assert!(fallback_reason.is_some_and(|why| why.ends_with("NVRTC is missing")));
        let by_gpu = Err(LessonError::WrongAnswer { rank: 3 });
        let error = or_twin(by_gpu, takes).expect_err("a wrong answer is an error");
        assert!(matches!(error, LessonError::WrongAnswer { rank: 3 }));
    }

    #[test]
    fn the_chosen_fault_is_injected() {
        let player = player("buffer");
        let made = |choice| {
            let takes =
                inject_fault(player.lesson, player.takes.clone(), choice).expect("a lesson of the kernel");
            takes[0].recording.parameters.fault
        };
        assert_eq!(made(FaultChoice::None), None);
        assert_eq!(made(FaultChoice::Chosen(Fault::Stale)), Some(Fault::Stale));
    }

    /// In every lesson of the kernel, any draw gives a fault that can be found.
    #[test]
    fn bug_hunts_always_break_a_step() {
        for id in ["sort", "merge", "buffer"] {
            let player = player(id);
            let mut found = HashSet::new();
            for draw in 0..FAULTS.len() as u64 {
                let hunt = FaultChoice::Hunt { draw, guess: None };
                let takes =
                    inject_fault(player.lesson, player.takes.clone(), hunt).expect("a lesson of the kernel");
                assert!(takes[0].broken_at().is_some(), "lesson {id}, {draw}");
                found.insert(takes[0].recording.parameters.fault);
            }
            assert!(found.len() > 1, "lesson {id}: {found:?}");
        }
    }
}
