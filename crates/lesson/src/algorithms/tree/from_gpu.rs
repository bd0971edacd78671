//! The search of a tree on a GPU: its trace as steps.

use super::recorder::Recorder;
use crate::engines::cuda::trace::TreeTrace;
use crate::from_gpu::compare_told;
use crate::recording::{LessonError, Recording};
use crate::step::Step;

/// Decodes the GPU's steps and checks them against the twin's, and its answer against its own steps.
pub(crate) fn compare(trace: &TreeTrace, twin: &Recording) -> Result<Vec<Step>, LessonError> {
    let mut recorder = Recorder::new(twin.shape().capacity());
    let told = trace.tell(&mut recorder);
    compare_told(told, recorder.steps, &trace.neighbours, twin)
}
