//! XYZ files of chemistry: the number of atoms, a comment line, then an element with x, y, z per line;
//! repeated for each frame of a trajectory. The frames are the file's datasets.

use std::io::BufRead;

use super::cell::{Cell, words};
use super::datasets::{self, DatasetInfo};
use super::limits::{MAX_COLUMNS, MAX_DATASETS};
use super::{
    ColumnKind, ColumnRequest, Input, RecordPicker, Records, Result, Sheet, SheetColumn, cell, columns,
    unpacked,
};

/// Whether a text begins with a number, any line, and an element with three numbers.
pub(super) fn sniff(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    let (Some(count), Some(_), Some(atom)) = (lines.next(), lines.next(), lines.next()) else { return false };
    let atom: Vec<&[u8]> = words(atom).collect();
    !count.is_empty() && count.iter().all(u8::is_ascii_digit) && count != b"0" && is_atom(&atom)
}

/// An element symbol of one to three letters, optionally with a number, and at least three numbers.
fn is_atom(fields: &[&[u8]]) -> bool {
    let [element, numbers @ ..] = fields else { return false };
    let letters = element.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    (1..=3).contains(&letters)
        && element[letters..].iter().all(u8::is_ascii_digit)
        && numbers.len() >= 3
        && numbers[..3].iter().all(|field| matches!(Cell::parse(field), Cell::Number(_)))
}

/// The size of a frame: its atoms, and the fields of the first.
struct FrameSize {
    atoms: u64,
    width: usize,
}

/// Lists the frames, named by number, up to the limit.
pub(super) fn datasets(input: &Input<'_>) -> Result<Vec<DatasetInfo>> {
    Ok(entries(&frames(input)?))
}

fn frames(input: &Input<'_>) -> Result<Vec<FrameSize>> {
    let mut text = Lines::open(input)?;
    let mut frames = Vec::new();
    while let Some(atoms) = text.frame()? {
        let mut width = 0;
        for at in 0..atoms {
            let line = text.atom(at, atoms)?;
            width = if at == 0 { words(line).count() } else { width };
        }
        if width > MAX_COLUMNS {
            let what = format!("frame {}, {width} columns", frames.len());
            return Err(input.unsupported(what, format!("at most {MAX_COLUMNS} are supported")));
        }
        input.reserve_for(&mut frames, 1, "the frames")?;
        frames.push(FrameSize { atoms, width });
    }
    Ok(frames)
}

fn entries(frames: &[FrameSize]) -> Vec<DatasetInfo> {
    let entry = |(at, &FrameSize { atoms, width }): (usize, &FrameSize)| {
        DatasetInfo::new(at.to_string(), atoms, width as u64, true, "atoms")
    };
    frames.iter().take(MAX_DATASETS).enumerate().map(entry).collect()
}

/// The frame named in the path, or the only one.
fn choose(frames: &[FrameSize], input: &Input<'_>) -> Result<usize> {
    // Frames beyond the listed ones can be selected by number too.
    match input.dataset().map(str::parse) {
        Some(Ok(at)) if at < frames.len() => Ok(at),
        None if frames.len() > MAX_DATASETS => {
            let why = format!("choose one with FILE:NUMBER; frames: {}", frames.len());
            Err(input.unsupported("too many frames to list", why))
        }
        _ => datasets::choose(&entries(frames), input),
    }
}

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let frames = frames(input)?;
    let chosen = choose(&frames, input)?;
    let mut text = Lines::open(input)?;
    text.skip(chosen)?;
    let atoms = text.frame()?.unwrap_or(0);
    let width = frames[chosen].width;
    input.claim((width * 3 * size_of::<SheetColumn>()) as u64, "the columns")?;
    let mut columns: Vec<SheetColumn> = names(width).into_iter().map(SheetColumn::numeric).collect();
    columns[0].kind = ColumnKind::Text;
    let mut selected = request.resolve(&columns, input)?;
    let mut texts = request.texts(&mut selected);
    let mut values = Vec::new();
    for at in 0..atoms {
        text.atom(at, atoms)?;
        let line = &text.line;
        let context = || format!("line {}, atom {at}", text.number);
        let count = words(line).count();
        if count != width {
            return Err(input.malformed(context(), format!("expected {width} fields, found {count}")));
        }
        let found: Vec<&[u8]> = words(line).collect();
        if at == 0 {
            columns[0].example = Some((0, cell::excerpt(found[0])));
        }
        if let Some(texts) = &mut texts {
            texts.push(&cell::text(found[0]), "element", input)?;
        }
        input.reserve(&mut values, selected.len())?;
        for &column in &selected {
            let bad =
                || input.malformed(context(), format!("`{}` is not a number", cell::excerpt(found[column])));
            values.push(cell::value(found[column]).ok_or_else(bad)?);
        }
    }
    columns[0].texts = texts;
    let frame =
        if frames.len() > 1 { format!(", frame {chosen} of {}", frames.len()) } else { String::new() };
    Ok(Sheet::new(input, format!("XYZ, atoms{frame}"), columns, selected, atoms, values))
}

/// Reads all columns of some atoms.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    let frames = frames(input)?;
    let chosen = choose(&frames, input)?;
    let FrameSize { atoms: rows, width } = frames[chosen];
    input.check_records(wanted, rows)?;
    let mut text = Lines::open(input)?;
    text.skip(chosen)?;
    text.frame()?;
    let mut picked = RecordPicker::new(wanted);
    for at in 0..picked.end() {
        let line = text.atom(at, rows)?;
        picked.offer(at, || {
            let mut cells: Vec<columns::Cell> = words(line).take(width).map(columns::cell_of).collect();
            cells.resize(width, columns::Cell::Missing);
            cells
        });
    }
    Ok(picked.into_records(names(width)))
}

/// The column names for a number of columns.
fn names(width: usize) -> Vec<String> {
    let name = |at: usize| {
        ["element", "x", "y", "z"].get(at).map_or_else(|| format!("d{at}"), |&name| name.to_owned())
    };
    (0..width).map(name).collect()
}

/// Reads a text line by line.
struct Lines<'i, 'p> {
    input: &'i Input<'p>,
    text: Box<dyn BufRead + 'p>,
    line: Vec<u8>,
    number: u64,
}

impl<'i, 'p> Lines<'i, 'p> {
    fn open(input: &'i Input<'p>) -> Result<Self> {
        Ok(Self { input, text: unpacked::text(input)?.0, line: Vec::new(), number: 0 })
    }

    fn next(&mut self) -> Result<bool> {
        self.line.clear();
        self.number += 1;
        Ok(self.input.read_line(&mut *self.text, b'\n', &mut self.line)? > 0)
    }

    /// Reads the number of atoms of the next frame and skips its comment; `None` at the end.
    fn frame(&mut self) -> Result<Option<u64>> {
        while self.next()? {
            let line = self.line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let count = std::str::from_utf8(line)
                .ok()
                .and_then(|line| line.parse().ok())
                .filter(|&count: &u64| count > 0);
            let text = cell::excerpt(line);
            let number = self.number;
            let count = count.ok_or_else(|| {
                let more = if number > 1 {
                    ", which should follow a frame; does it have more atoms than declared?"
                } else {
                    ""
                };
                self.input
                    .malformed(format!("line {number}"), format!("`{text}` is not a number of atoms{more}"))
            })?;
            self.next()?;
            return Ok(Some(count));
        }
        Ok(None)
    }

    /// Skips a number of frames.
    fn skip(&mut self, frames: usize) -> Result<()> {
        for _ in 0..frames {
            let atoms = self.frame()?.unwrap_or(0);
            (0..atoms).try_for_each(|at| self.atom(at, atoms).map(|_| ()))?;
        }
        Ok(())
    }

    /// Reads atom `at` of `atoms`.
    fn atom(&mut self, at: u64, atoms: u64) -> Result<&[u8]> {
        if !self.next()? || self.line.trim_ascii().is_empty() {
            return Err(self
                .input
                .malformed("cut short", format!("a frame declares {atoms} atoms but has {at}")));
        }
        Ok(&self.line)
    }
}
