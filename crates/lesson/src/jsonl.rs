//! A recording as JSON Lines: parameters on the first line, then one step per line. `docs/lesson-steps.md` is
//! the schema.

use std::io::{self, BufRead, Write};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::describe::describe;
use super::recording::{Parameters, Recording};
use super::step::Step;
use crate::Result;
use crate::error::LessonError;

/// Latest version of the schema; see `docs/lesson-steps.md`. Earlier versions are read too.
pub const SCHEMA: u32 = 2;

/// A step's name in schema 1 and since then, as written.
const RENAMED: [&str; 2] = [r#":"left_out""#, r#":"pruned""#];

#[derive(Serialize, Deserialize)]
struct Header {
    schema: u32,
    #[serde(flatten)]
    parameters: Parameters,
}

#[derive(Serialize)]
struct StepRecord<'a> {
    /// Number of completed steps of the whole search, including this one.
    position: usize,
    level: &'a str,
    #[serde(flatten)]
    step: &'a Step,
    sentence: String,
}

#[derive(Deserialize)]
struct ParsedStepRecord {
    position: usize,
    #[serde(flatten)]
    step: Step,
}

/// Writes a range of steps, each with all its values and a sentence, in the latest schema.
///
/// # Errors
/// I/O errors of the writer.
pub fn write(recording: &Recording, range: Range<usize>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    write_as(SCHEMA, recording, range, out)
}

/// As [`write()`], in schema 1 or 2.
///
/// # Errors
/// I/O errors of the writer.
pub fn write_as(
    schema: u32,
    recording: &Recording,
    range: Range<usize>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let head = Header { schema, parameters: recording.parameters.clone() };
    writeln!(out, "{}", serde_json::to_string(&head)?)?;
    let mut state = recording.start();
    for at in 0..range.end {
        state.apply(&recording.steps()[at]);
        if at >= range.start {
            let step = recording.step(at);
            let sentence = describe(&step, &state);
            let line =
                StepRecord { position: at + 1, level: recording.level(at).name(), step: &step, sentence };
            let mut line = serde_json::to_string(&line)?;
            if schema < SCHEMA {
                line = line.replacen(RENAMED[1], RENAMED[0], 1);
            }
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Reads the output of [`write()`]: the parameters, and the steps with their positions, counted from 1.
///
/// # Errors
/// [`LessonError::Line`] with the number of the malformed line.
pub fn read(input: impl BufRead) -> Result<(Parameters, Vec<(usize, Step)>)> {
    let fail = |line: usize, why: String| LessonError::Line { line: line + 1, why };
    let mut lines = input.lines().enumerate().map(|(number, line)| {
        line.map(|line| (number, line)).map_err(|error| fail(number, error.to_string()))
    });
    let (_, head) = lines.next().ok_or_else(|| fail(0, "the file is empty".to_owned()))??;
    let head: Header = serde_json::from_str(&head).map_err(|error| fail(0, error.to_string()))?;
    if !(1..=SCHEMA).contains(&head.schema) {
        let why = format!("schema {} is not supported; this version reads 1 to {SCHEMA}", head.schema);
        return Err(fail(0, why));
    }
    let steps = lines.map(|line| {
        let (number, line) = line?;
        let line: ParsedStepRecord =
            serde_json::from_str(&line).map_err(|error| fail(number, error.to_string()))?;
        Ok::<_, LessonError>((line.position, line.step))
    });
    Ok((head.parameters, steps.collect::<Result<_, _>>()?))
}
