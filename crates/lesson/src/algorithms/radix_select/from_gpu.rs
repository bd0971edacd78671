//! A selection by digits on a GPU: its trace as steps.

use super::recorder::Recorder;
use crate::engines::cuda::trace::PassTrace;
use crate::from_gpu::compare_told;
use crate::recording::{LessonError, Recording};
use crate::step::Step;

/// Decodes the GPU's steps and checks them against the twin's, and its answer against its own steps.
pub(crate) fn compare(trace: &PassTrace, twin: &Recording) -> Result<Vec<Step>, LessonError> {
    let mut recorder = Recorder::new(twin.shape());
    let told = trace.tell(&mut recorder);
    if told.is_ok() {
        // The trace ends with what was taken; the answer is what a sort made of it.
        recorder.finish();
    }
    compare_told(told, recorder.steps, &trace.neighbours, twin)
}
