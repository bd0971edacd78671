//! A recording as JSON Lines: parameters on the first line, then one step a line. `docs/lesson-steps.md` is the schema.

use std::io::{self, BufRead, Write};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::describe::describe;
use super::recording::{LessonError, Parameters, Recording};
use super::state::State;
use super::step::Step;

/// The version of the schema.
pub const SCHEMA: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Head {
    schema: u32,
    #[serde(flatten)]
    parameters: Parameters,
}

#[derive(Serialize)]
struct Line<'a> {
    /// Steps of the whole search that are done after it: 1 for the first.
    position: usize,
    level: &'a str,
    #[serde(flatten)]
    step: &'a Step,
    sentence: String,
}

#[derive(Deserialize)]
struct ReadLine {
    position: usize,
    #[serde(flatten)]
    step: Step,
}

/// Writes the steps of a range, with all their values and a sentence each.
///
/// # Errors
/// The writer's.
pub fn write(recording: &Recording, range: Range<usize>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Head { schema: SCHEMA, parameters: recording.parameters.clone() })?;
    writeln!(out)?;
    let mut state = State::new(recording.shape());
    for at in 0..range.end {
        state.apply(&recording.steps()[at]);
        if at >= range.start {
            let step = recording.step(at);
            let sentence = describe(&step, &state);
            serde_json::to_writer(&mut *out, &Line { position: at + 1, level: recording.level(at).name(), step: &step, sentence })?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Reads what [`write()`] wrote: the parameters, and the steps with their positions, 1 for
/// the first of the search.
///
/// # Errors
/// [`LessonError::Line`].
pub fn read(input: impl BufRead) -> Result<(Parameters, Vec<(usize, Step)>), LessonError> {
    let fail = |line: usize, why: String| LessonError::Line { line: line + 1, why };
    let mut lines = input.lines().enumerate().map(|(number, line)| line.map(|line| (number, line)).map_err(|error| fail(number, error.to_string())));
    let (_, head) = lines.next().ok_or_else(|| fail(0, "the file is empty".to_owned()))??;
    let head: Head = serde_json::from_str(&head).map_err(|error| fail(0, error.to_string()))?;
    if head.schema != SCHEMA {
        return Err(fail(0, format!("schema {} is not {SCHEMA}, which this version reads", head.schema)));
    }
    let steps = lines.map(|line| {
        let (number, line) = line?;
        let line: ReadLine = serde_json::from_str(&line).map_err(|error| fail(number, error.to_string()))?;
        Ok::<_, LessonError>((line.position, line.step))
    });
    Ok((head.parameters, steps.collect::<Result<_, _>>()?))
}
